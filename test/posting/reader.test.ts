import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldMapping, FieldRule } from '../../src/posting/field-mapping.ts';
import { interpretationOf } from '../../src/posting/fingerprint.ts';
import { contentHash } from '../../src/posting/hash.ts';
import { MalformedPathError } from '../../src/posting/paths/value-path.ts';
import type { Posting, RecordTree } from '../../src/posting/posting.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { recordTree } from './record-tree.ts';
import { fromPaths, sampleSpec, stateTable } from './sample-spec.ts';

const nurse = { id: '007', title: 'Nurse', state: 'MA' };

function read(record: RecordTree, changes: Partial<FieldMapping> = {}) {
  return compileReader(sampleSpec(changes)).read(record);
}

/** The fields of a record, even if they are invalid. */
function fieldsOf(record: RecordTree, fields: Readonly<Record<string, FieldRule>>) {
  const result = read({ ...nurse, ...(record as object) }, { fields: { ...sampleSpec().fields, ...fields } });
  if (!('posting' in result)) throw new Error('unreadable');
  return { ...result.posting.fields };
}

describe('a good record', () => {
  test('becomes a posting', () => {
    const fields = { title: 'Nurse', 'location-state': 'Massachusetts' };
    expect(read(nurse)).toEqual({
      kind: 'posting',
      posting: { key: '007', fields, contentHash: contentHash(fields), notes: [] },
    });
  });

  test('keeps digits, exponents and hexadecimal numbers as written', () => {
    for (const title of ['007', '1e5', '0x10', '1.0'])
      expect(read({ ...nurse, title })).toMatchObject({ posting: { fields: { title } } });
  });

  test('uses the abbreviation if the site wants it', () => {
    const stateField = { name: 'location-state', values: 'abbreviation', allow: ['states'] } as const;
    expect(read({ ...nurse, state: 'Mass.' }, { stateField })).toMatchObject({
      posting: { fields: { 'location-state': 'MA' } },
    });
  });

  test('has its state converted for the site even without a transform', () => {
    const fields = { title: fromPaths('title'), 'location-state': fromPaths('state') };
    expect(read(nurse, { fields })).toMatchObject({
      kind: 'posting',
      posting: { fields: { 'location-state': 'Massachusetts' } },
    });
  });
});

describe('value sources', () => {
  const cases: [name: string, rule: FieldRule, record: RecordTree, value: string | undefined][] = [
    ['the first path with a text', fromPaths(['a', 'b', 'c']), { a: ' ', b: 'two', c: 'three' }, 'two'],
    ['the first text at a path', fromPaths('a'), { a: ['', 'one', 'two'] }, 'one'],
    [
      'all texts at a path',
      { source: { kind: 'paths', paths: ['a'], join: ', ' }, as: [] },
      { a: ['one', ' ', 'two '] },
      'one, two',
    ],
    [
      'a template',
      { source: { kind: 'template', template: '{city}, {@zip}!' }, as: [] },
      { city: 'Boston', '@zip': '02101' },
      'Boston, 02101!',
    ],
    [
      'a template with a part missing',
      { source: { kind: 'template', template: '{city}, {zip}' }, as: [] },
      { city: 'Boston' },
      undefined,
    ],
    ['a constant', { source: { kind: 'constant', value: 'Acme' }, as: [] }, {}, 'Acme'],
    ['a default', { ...fromPaths('a', 'upper'), default: 'none' }, { a: '' }, 'NONE'],
    [
      'a default after a transform left nothing',
      { ...fromPaths('a', 'text'), default: 'none' },
      { a: '<p></p>' },
      'none',
    ],
    ['transforms in order', fromPaths('a', 'html', 'text', 'upper'), { a: '&lt;b&gt;bold&lt;/b&gt;' }, 'BOLD'],
    ['elements inside: their text', fromPaths('a'), { a: { b: 'x', '#markup': '<p>1 &lt;</p><b>x</b>' } }, '1 <\n\nx'],
    ['elements inside, as text', fromPaths('a', 'text'), { a: { b: 'x', '#markup': 'One<br/>&lt;b&gt;' } }, 'One\n<b>'],
    [
      'elements inside, as HTML',
      fromPaths('a', 'html'),
      { a: { b: '', '#markup': '<b/>&lt;&amp;amp;' } },
      '<b></b>&lt;&amp;amp;',
    ],
    ['nothing: the field is absent', fromPaths('a'), {}, undefined],
    ['an empty element: the field is absent', fromPaths('a'), { a: ' \n ' }, undefined],
    ['line ends', fromPaths('a'), { a: ' one\r\ntwo\rthree\n' }, 'one\ntwo\nthree'],
  ];
  test.each(cases)('%s', (_name, rule, record, value) => {
    expect(fieldsOf(record, { extra: rule }).extra).toBe(value);
  });

  test.each(['{a', 'a}', '{}', '{a}{', '{a/}'])('refuses the template %j', (template) => {
    const fields = { title: { source: { kind: 'template', template }, as: [] } } as const;
    expect(() => compileReader(sampleSpec({ fields }))).toThrow(MalformedPathError);
  });
});

describe('keys', () => {
  const cases: [name: string, id: RecordTree, key: string][] = [
    ['leading zeros stay', '007', '007'],
    ['case stays', 'aB', 'aB'],
    ['surrounding spaces are removed', ' \n 41650\t', '41650'],
    ['spaces inside stay', '1903-13-DHS Prof  Dvl', '1903-13-DHS Prof  Dvl'],
    ['500 characters beyond the basic plane', '😀'.repeat(500), '😀'.repeat(500)],
    ['an address', 'https://example.com/?id=1&b=2', 'https://example.com/?id=1&b=2'],
    ['constructor', 'constructor', 'constructor'],
  ];
  test.each(cases)('%s', (_name, id, key) => {
    expect(read({ ...nurse, id })).toMatchObject({ kind: 'posting', posting: { key } });
  });

  const refusals: [name: string, record: RecordTree, message: RegExp, value?: string][] = [
    ['no key', { title: 'Nurse' }, /no key: no value found at id/],
    ['an empty key', { ...nurse, id: ' ' }, /no key: no value found at id/],
    ['501 characters', { ...nurse, id: '😀'.repeat(501) }, /longer than 500 characters/, '😀'.repeat(100)],
    ['10,000 characters', { ...nurse, id: 'x'.repeat(10_000) }, /longer than 500 characters/, 'x'.repeat(200)],
    ['a NUL', { ...nurse, id: 'a\u0000b' }, /control characters/, 'a\uFFFDb'],
    ['a line break', { ...nurse, id: 'a\nb' }, /control characters/, 'a b'],
    ['half a character', { ...nurse, id: 'a\uD83D' }, /control characters/, 'a\uFFFD'],
    ['a record that is only text', 'Nurse', /no key/],
  ];
  test.each(refusals)('%s: unreadable', (_name, record, message, value) => {
    expect(read(record)).toEqual({
      kind: 'unreadable',
      problems: [{ ...(value === undefined ? {} : { value }), message: expect.stringMatching(message) }],
    });
  });

  test('several paths form one key, and different values never give the same key', () => {
    const key = { paths: ['a', 'b'] };
    const keyOf = (a: string, b: string) => read({ ...nurse, a, b }, { key });
    expect(keyOf('x', 'y')).toMatchObject({ posting: { key: 'x|y' } });
    expect(keyOf('x|', 'y')).toMatchObject({ posting: { key: 'x%7C|y' } });
    expect(keyOf('x', '|y')).toMatchObject({ posting: { key: 'x|%7Cy' } });
    expect(keyOf('x', '')).toMatchObject({
      kind: 'unreadable',
      problems: [{ message: expect.stringContaining('at b') }],
    });
  });
});

describe('a posting that breaks the rules of the site', () => {
  test('keeps the fields as read, and every problem is collected', () => {
    const fields = { ...sampleSpec().fields, web: fromPaths('web', 'url'), note: fromPaths('note') };
    const result = read(
      { id: '1', state: 'Jalisco', web: 'example.com', note: 'too long' },
      { fields, maxLengths: { note: 5 } },
    );
    expect(result).toMatchObject({
      kind: 'invalid',
      posting: { key: '1', fields: { 'location-state': 'Jalisco', web: 'example.com', note: 'too long' } },
    });
    expect(result.kind === 'invalid' && result.problems).toEqual([
      {
        field: 'location-state',
        value: 'Jalisco',
        message: expect.stringMatching(/^"Jalisco" is not a valid U.S. state; .*Massachusetts/),
      },
      { field: 'web', value: 'example.com', message: expect.stringMatching(/^"example.com" is not a web address/) },
      { field: 'title', message: 'title is missing; the site requires it' },
      { field: 'note', value: 'too long', message: 'note has 8 characters; the site allows at most 5' },
    ]);
  });

  test('is invalid without a state', () => {
    expect(read({ id: '1', title: 'Nurse' })).toMatchObject({
      kind: 'invalid',
      problems: [
        { field: 'location-state', message: 'location-state is missing; a job must carry a valid U.S. state' },
      ],
    });
  });

  test('has its lengths counted in characters, not code units', () => {
    expect(read({ ...nurse, title: '😀'.repeat(5) }, { maxLengths: { title: 5 } }).kind).toBe('posting');
    expect(read({ ...nurse, title: '😀'.repeat(6) }, { maxLengths: { title: 5 } }).kind).toBe('invalid');
  });
});

describe("characters that XML can't carry", () => {
  test('are removed with a note, and the rest stays', () => {
    const title = 'N\u0000u\u001Brse\u0007 \u{1F600}\uFFFE\uD800\t!';
    expect(read({ ...nurse, title })).toMatchObject({
      kind: 'posting',
      posting: {
        fields: { title: 'Nurse \u{1F600}\t!' },
        notes: [{ field: 'title', message: "removed 5 characters that XML can't carry" }],
      },
    });
  });

  test('never appear in a field, key, note or problem, whatever the record', () => {
    const reader = compileReader(
      sampleSpec({
        fields: { ...sampleSpec().fields, any: fromPaths('*', 'html'), text: fromPaths('*/*', 'text', 'email') },
      }),
    );
    const record = fc.record({
      id: fc.option(recordTree, { nil: '1' }),
      title: recordTree,
      state: recordTree,
      more: recordTree,
    });
    fc.assert(
      fc.property(record, (tree) => {
        const result = reader.read(tree);
        const seen = inspect(result, { depth: 9, maxStringLength: null }) + JSON.stringify(result);
        expect(seen).not.toMatch(/\\u0000|\\x00|\\ud[89a-f]/i);
        if (!('posting' in result)) return;
        for (const text of [result.posting.key, ...Object.values(result.posting.fields)]) {
          expect(text).toMatch(/^[\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u);
        }
      }),
    );
  });
});

test('any tree gives a result, and the same one each time', () => {
  const reader = compileReader(
    sampleSpec({
      fields: { ...sampleSpec().fields, __proto__x: fromPaths('__proto__'), c: fromPaths('*/constructor') },
    }),
  );
  fc.assert(
    fc.property(recordTree, (record) => {
      const result = reader.read(record);
      expect(['posting', 'invalid', 'unreadable']).toContain(result.kind);
      expect(reader.read(record)).toEqual(result);
    }),
  );
});

test('names that are dangerous in plain objects are harmless as fields', () => {
  const { fields } = JSON.parse(
    '{"fields": {"__proto__": {"source": {"kind": "constant", "value": "x"}, "as": []}}}',
  ) as FieldMapping;
  const result = read(nurse, {
    fields: { ...sampleSpec().fields, ...fields },
    requiredFields: ['title', 'constructor'],
  });
  expect(result).toMatchObject({ kind: 'invalid', problems: [{ field: 'constructor' }, { field: '__proto__' }] });
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

describe('withFields', () => {
  const fields = { ...sampleSpec().fields, web: fromPaths('web', 'url'), body: fromPaths('body', 'text') };
  const reader = compileReader(sampleSpec({ fields }));
  const postingOf = (record: RecordTree): Posting => {
    const result = reader.read(record);
    if (!('posting' in result)) throw new Error('unreadable');
    return result.posting;
  };
  const bad = postingOf({ ...nurse, state: 'Jalisco', web: 'example.com', body: '&amp;lt;b&amp;gt;' });

  test('an edit that fixes everything gives a valid posting', () => {
    const fixed = reader.withFields(bad, { 'location-state': 'mass.', web: 'https://example.com' });
    const expected = {
      title: 'Nurse',
      'location-state': 'Massachusetts',
      web: 'https://example.com',
      body: '&lt;b&gt;',
    };
    expect(fixed).toEqual({
      kind: 'posting',
      posting: { ...bad, fields: expected, contentHash: contentHash(expected) },
    });
  });

  test('a problem that was not edited remains', () => {
    expect(reader.withFields(bad, { 'location-state': 'MA' })).toMatchObject({
      kind: 'invalid',
      problems: [{ field: 'web' }],
    });
  });

  test('an edit can break a rule, empty a field, and add one', () => {
    const good = postingOf({ ...nurse, web: 'https://example.com' });
    expect(reader.withFields(good, { title: ' ' })).toMatchObject({ kind: 'invalid', problems: [{ field: 'title' }] });
    expect({ ...reader.withFields(good, { web: '', salary: ' $20\u0000 ' }).posting.fields }).toEqual({
      title: 'Nurse',
      'location-state': 'Massachusetts',
      salary: '$20',
    });
    expect(reader.withFields(good, { 'no name': 'x' })).toMatchObject({
      kind: 'invalid',
      problems: [{ field: 'no name', message: '"no name" is not a valid site field name' }],
    });
  });

  test('without edits nothing changes', () => {
    const good = postingOf(nurse);
    expect(reader.withFields(good, {})).toEqual({ kind: 'posting', posting: good });
  });

  test('the original posting is not modified', () => {
    const before = { ...bad.fields };
    reader.withFields(bad, { title: 'Other' });
    expect({ ...bad.fields }).toEqual(before);
  });
});

describe('the fingerprint', () => {
  const fingerprintOf = (changes: Partial<FieldMapping> = {}) => compileReader(sampleSpec(changes)).fingerprint;

  test('does not depend on the order of names', () => {
    const { fields } = sampleSpec();
    const reversed = Object.fromEntries(Object.entries(fields).reverse());
    expect(fingerprintOf({ fields: reversed })).toBe(fingerprintOf());
  });

  const changes: [name: string, change: Partial<FieldMapping>][] = [
    ['the key', { key: { paths: ['@id'] } }],
    ['a path', { fields: { ...sampleSpec().fields, title: fromPaths('name') } }],
    ['the order of paths', { fields: { ...sampleSpec().fields, title: fromPaths(['a', 'title']) } }],
    ['a transform', { fields: { ...sampleSpec().fields, title: fromPaths('title', 'upper') } }],
    ['a default', { fields: { ...sampleSpec().fields, title: { ...fromPaths('title'), default: 'x' } } }],
    ['the state field', { stateField: { ...sampleSpec().stateField, values: 'abbreviation' } }],
    ['the allowed states', { stateField: { ...sampleSpec().stateField, allow: ['states'] } }],
    ['a required field', { requiredFields: ['title', 'number'] }],
    ['a maximum length', { maxLengths: { title: 255 } }],
    ['the state table', { states: { ...stateTable, countryNames: ['US'] } }],
  ];
  test.each(changes)('changes with %s', (_name, change) => {
    expect(fingerprintOf(change)).not.toBe(fingerprintOf());
  });
});

describe('the interpretation', () => {
  const { fingerprint } = compileReader(sampleSpec());
  const reading = { fingerprint, format: 'xml', recordPath: 'source/job', encoding: undefined };

  test('is sixteen bytes, the same for the same reading', () => {
    expect(interpretationOf(reading)).toHaveLength(16);
    expect(interpretationOf({ ...reading })).toEqual(interpretationOf(reading));
  });

  test.each([
    ['the mapping', { fingerprint: compileReader(sampleSpec({ key: { paths: ['@id'] } })).fingerprint }],
    ['the format', { format: 'json' }],
    ['the record path', { recordPath: '*/job' }],
    ['the encoding', { encoding: 'windows-1252' }],
  ])('changes with %s', (_name, change) => {
    expect(interpretationOf({ ...reading, ...change })).not.toEqual(interpretationOf(reading));
  });
});
