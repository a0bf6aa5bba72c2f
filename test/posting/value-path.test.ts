import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedPathError, parseValuePath, textsAt } from '../../src/posting/paths/value-path.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { recordTree } from './record-tree.ts';

const personio: RecordTree = {
  '@id': '77',
  'Place (City/State)': 'Lansing, MI',
  '@graph': { 'a b': 'inner' },
  office: 'Berlin',
  jobDescriptions: {
    jobDescription: [
      { name: 'Intro', value: 'Join us' },
      { name: ' Tasks ', value: 'Build pipelines' },
      { name: { '@lang': 'en', '#text': 'Profile' }, value: ['Five years', 'of SQL'] },
    ],
  },
  'joblisting:state': 'Michigan',
  location: { '@xml:lang': 'en', '#text': 'Lansing' },
  'atom:link': { '@href': 'https://example.com/atom', '@rel': 'self' },
  link: ['https://example.com/1', { '@rel': 'alternate', '#text': 'https://example.com/2' }],
  empty: '',
  nested: { '#markup': '<only><children>deep</children></only>', only: { children: 'deep' } },
  'a:tag': 'first',
  other: { '#text': 'no tag' },
  'b:tag': ['second', { '@lang': 'en', '#text': 'third' }],
  mixed: { '#markup': 'before <b>bold</b> after', b: 'bold' },
};

describe('textsAt', () => {
  const cases: [name: string, path: string, texts: string[]][] = [
    ['an element', 'office', ['Berlin']],
    ['an attribute of the record', '@id', ['77']],
    ['a name in quotes', "'Place (City/State)'", ['Lansing, MI']],
    ['a name in double quotes, and a step after it', '"@graph"/"a b"', ['inner']],
    ['an attribute of an element', 'link/@rel', ['alternate']],
    ['the text beside attributes', 'location', ['Lansing']],
    ['the text of an element and of those in it', 'mixed', ['before bold after']],
    ['repeated elements in order', 'link', ['https://example.com/1', 'https://example.com/2']],
    [
      'repeated elements on the way',
      'jobDescriptions/jobDescription/value',
      ['Join us', 'Build pipelines', 'Five years', 'of SQL'],
    ],
    ['a condition on a child', 'jobDescriptions/jobDescription[name=Tasks]/value', ['Build pipelines']],
    [
      'a condition on a child with attributes',
      'jobDescriptions/jobDescription[name=Profile]/value',
      ['Five years', 'of SQL'],
    ],
    ['a condition on an attribute', "link[@rel='alternate']", ['https://example.com/2']],
    [
      'a condition with a nested path',
      'jobDescriptions/jobDescription[name/@lang="en"]/value',
      ['Five years', 'of SQL'],
    ],
    ['two conditions', 'jobDescriptions/jobDescription[name=Tasks][value=Join us]/value', []],
    ['any element', 'nested/*/children', ['deep']],
    ['any element, excluding attributes', 'location/*', []],
    ['a name without a prefix matches one with a prefix', 'state', ['Michigan']],
    ['a name with its prefix', 'joblisting:state', ['Michigan']],
    ['a name without a prefix matches several with prefixes', 'tag', ['first', 'second', 'third']],
    [
      'any element, in order',
      'jobDescriptions/*/*',
      ['Intro', 'Join us', ' Tasks ', 'Build pipelines', 'Profile', 'Five years', 'of SQL'],
    ],
    ['another prefix', 'other:state', []],
    ['the exact name before a prefixed one', 'link/@href', []],
    ['an attribute without a prefix matches one with a prefix', 'location/@lang', ['en']],
    ['an attribute is not an element', 'id', []],
    ['an empty element', 'empty', ['']],
    ['an element with children only', 'nested', ['deep']],
    ['a missing element', 'office/street', []],
    ['constructor', 'constructor', []],
    ["the name of an object's constructor", 'constructor/name', []],
    ['__proto__', '__proto__', []],
    ['toString of an element', 'nested/toString', []],
  ];
  test.each(cases)('%s: %s', (_name, path, texts) => {
    expect(textsAt(parseValuePath(path), personio)).toEqual(texts);
  });

  test('an element named __proto__ is an ordinary element', () => {
    const record = JSON.parse('{"__proto__": {"title": "odd"}}') as RecordTree;
    expect(textsAt(parseValuePath('__proto__/title'), record)).toEqual(['odd']);
  });

  test('lists nested 100,000 deep are followed', () => {
    let record: RecordTree = 'bottom';
    for (let depth = 0; depth < 100_000; depth += 1) record = [record];
    expect(textsAt(parseValuePath('a'), { a: record })).toEqual(['bottom']);
  });

  test('any path on any tree returns texts', () => {
    const path = fc.constantFrom(
      'a',
      '*',
      '*/*',
      '@a',
      'a/@b',
      'a[b=c]/d',
      'constructor',
      '__proto__',
      '*[a=b]',
      'x:a',
    );
    fc.assert(
      fc.property(path, recordTree, (source, record) => {
        for (const text of textsAt(parseValuePath(source), record)) expect(typeof text).toBe('string');
      }),
    );
  });
});

describe('parseValuePath', () => {
  test.each([
    '',
    '/',
    'a/',
    '/a',
    'a//b',
    '@',
    '@a/b',
    'a[',
    'a[b',
    'a[b]',
    'a[=c]',
    'a]',
    'a{b}',
    '**',
    'a*',
    "a[b='c]",
    '.. /[',
    'a[@b/c=d]',
  ])('refuses %j and shows a valid path', (source) => {
    expect(() => parseValuePath(source)).toThrow(MalformedPathError);
    expect(() => parseValuePath(source)).toThrow(/a path looks like/);
  });

  test('parses any text or throws its own error', () => {
    const characters = fc.constantFrom(...'ab/@*[]={}\'" :.');
    fc.assert(
      fc.property(fc.string({ unit: characters }), (source) => {
        try {
          parseValuePath(source);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedPathError);
        }
      }),
    );
  });
});
