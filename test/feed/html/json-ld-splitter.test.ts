// schema.org postings in JSON-LD: where they are found, what each gets from its page, and what counts as complete.
import { describe, expect, test } from 'vitest';
import { JsonLdSplitter } from '../../../src/feed/format/json-ld-format.ts';
import { collect, splitAs } from '../collect.ts';

const ld = (json: unknown): string =>
  `<script type="application/ld+json">${typeof json === 'string' ? json : JSON.stringify(json)}</script>`;
const page = (...parts: readonly string[]): string => `<html><body>${parts.join('')}</body></html>`;
const split = (document: string, settings: object = {}, proven = false) =>
  splitAs('json-ld', document, settings, [3], proven);

const posting = (title: string, more: object = {}): object => ({ '@type': 'JobPosting', title, ...more });
const titlesIn = ({ records }: { readonly records: readonly string[] }): readonly string[] =>
  records.map((record) => (JSON.parse(record) as { title: string }).title);

describe('postings are found', () => {
  const item = (title: string) => ({ '@type': 'ListItem', item: posting(title) });
  test.each<[string, string, readonly string[]]>([
    ['alone', ld(posting('a')), ['a']],
    ['in a list', ld([posting('a'), { '@type': 'Organization' }, posting('b')]), ['a', 'b']],
    ['in a graph', ld({ '@context': 'https://schema.org', '@graph': [{ '@type': 'WebPage' }, posting('a')] }), ['a']],
    ['in mainEntity', ld({ '@type': 'WebPage', mainEntity: posting('a') }), ['a']],
    ['in an item list', ld({ '@type': 'ItemList', itemListElement: [item('a'), posting('b')] }), ['a', 'b']],
    ['in several scripts', ld(posting('a')) + ld({ '@type': 'BreadcrumbList' }) + ld(posting('b')), ['a', 'b']],
    ['with a list of types', ld(posting('a', { '@type': ['Thing', 'JobPosting'] })), ['a']],
    ['with a full type', ld(posting('a', { '@type': 'https://schema.org/JobPosting' })), ['a']],
    ['with http', ld(posting('a', { '@type': 'http://schema.org/JobPosting' })), ['a']],
    ['with a prefix', ld(posting('a', { '@type': 'schema:JobPosting' })), ['a']],
    ['with escapes', ld('{"\\u0040type": "Job\\u0050osting", "title": "a"}'), ['a']],
    ['with the type at the end', ld('{"title": "a", "x": {"@type": "Place"}, "@type": "JobPosting"}'), ['a']],
    ['once, with another one inside', ld(posting('a', { relatedTo: posting('b') })), ['a']],
    ['in a script with parameters', ld(posting('a')).replace('ld+json', 'LD+JSON; charset=utf-8'), ['a']],
    ['in a comment for old browsers', ld(`<!-- ${JSON.stringify(posting('a'))} -->`), ['a']],
    ['beside a broken script without any', ld('{"@type": "Organization", "name": "a "b""}') + ld(posting('a')), ['a']],
    ['beside other types', ld({ '@type': 'JobPostings', x: { '@type': 'NotJobPosting' } }) + ld(posting('a')), ['a']],
  ])('%s', (_, body, titles) => {
    const result = split(page(body));
    expect(result).toMatchObject({ refusal: undefined, shortfalls: [] });
    expect(titlesIn(result)).toEqual(titles);
  });
});

describe('broken scripts', () => {
  test('are found in linear time, whatever follows their JSON', () => {
    const text = `${JSON.stringify(posting('a'))}${' '.repeat(1_000_000)}x`;
    // Each character again for every other one would take hours.
    const { records, shortfalls } = splitAs('json-ld', page(ld(text), ld(posting('b'))), { maxRecordBytes: 1e7 });
    expect(records.map(({ length }) => length)).toEqual([text.length, JSON.stringify(posting('b')).length]);
    expect(shortfalls).toEqual([]);
  });

  test('are found in linear time, whatever white space is in them', () => {
    const blank = ' '.repeat(4_000);
    const scripts = [`${blank}x`, `<!--${blank}x`, `//${blank}x`].map((text) => ld(text).repeat(500));
    // Each character again for every other one of its script would take a minute.
    const { records, shortfalls } = splitAs(
      'json-ld',
      page(...scripts, ld(`${blank}${blank}${JSON.stringify(posting('a'))}`)),
    );
    expect(records).toEqual([JSON.stringify(posting('a'))]);
    expect(shortfalls).toEqual([]);
  });

  test('are one unreadable record each, and leave the others', () => {
    const broken = '{"@type": "JobPosting", "title": "a "b" c"}';
    const { records, shortfalls } = split(page(ld(posting('x')), ld(broken), ld(posting('y'))));
    expect(records).toEqual([JSON.stringify(posting('x')), broken, JSON.stringify(posting('y'))]);
    expect(shortfalls).toEqual([]);
  });

  test('may hide a posting in an escape', () => {
    const broken = '{"@type": "Job\\u0050osting", "title": "a "b" c"}';
    expect(split(page(ld(broken)))).toMatchObject({ records: [broken] });
  });

  test('isolate a fault that leaves the structure in its place', () => {
    const text = `[{"@type":"JobPosting","title":"a"},{"@type":"JobPosting","title":"line\nbreak"},{"@type":"JobPosting","title":"c"}]`;
    expect(split(page(ld(text))).records.map((record) => record.includes('\n'))).toEqual([false, true, false]);
  });

  test('have a fault inside of a posting, which concerns only that one', () => {
    const deep = `${'['.repeat(100)}1${']'.repeat(100)}`;
    const postings = [
      `{"@type":"JobPosting","title":"a","x":{"y":[{z:1}]}}`,
      `{"@type":"JobPosting","title":"b","x":${deep}}`,
      `{"@type":"JobPosting","title":"c","x":{"@type":"JobPosting","title":"d"}}`,
    ];
    expect(split(page(ld(`[${postings.join(',')}]`))).records).toEqual(postings);
    const outside = `{"x":${deep},"@graph":[${postings[2]}]}`;
    expect(split(page(ld(outside))).records).toEqual([outside]);
  });

  test('have two values', () => {
    const text = `${JSON.stringify(posting('a'))}${JSON.stringify(posting('b'))}`;
    expect(split(page(ld(text))).records).toEqual([text]);
  });
});

describe('page', () => {
  const canonical = '<link rel="alternate canonical" href="https://a.example/jobs/1?a=1&amp;b=2">';
  const addressOf = (document: string): unknown =>
    split(document).records.map((record) => (JSON.parse(record) as { page?: { address?: string } }).page?.address);

  test.each<[string, string, readonly (string | undefined)[]]>([
    ['is not there without an address', ld(posting('a')), [undefined]],
    [
      'has the address of the posting',
      canonical + ld(posting('a', { url: 'https://b.example/2' })),
      ['https://b.example/2'],
    ],
    ['has the address of the page', canonical + ld(posting('a')), ['https://a.example/jobs/1?a=1&b=2']],
    ['has it even if it comes later', ld(posting('a')) + canonical, ['https://a.example/jobs/1?a=1&b=2']],
    [
      'has that of og:url',
      `<meta property="og:url" content="https://a.example/3">${ld(posting('a'))}`,
      ['https://a.example/3'],
    ],
    ['has a relative one in full', canonical + ld(posting('a', { url: '/jobs/4' })), ['https://a.example/jobs/4']],
    ['has a relative one as it is', ld(posting('a', { url: '/jobs/4' })), ['/jobs/4']],
  ])('%s', (_, body, addresses) => expect(addressOf(page(body))).toEqual(addresses));

  test('says which postings have expired', () => {
    const now = Date.UTC(2026, 10, 23, 12);
    const expiredAt = (validThrough: unknown, datePosted?: unknown): boolean => {
      const sink = collect();
      const options = { recordPath: '', totalPaths: [], maxRecordBytes: 1e6, time: { now } };
      const splitter = new JsonLdSplitter(options, sink);
      splitter.push(Buffer.from(page(ld(posting('a', { validThrough, datePosted })))));
      splitter.finish(true);
      return (JSON.parse(sink.records[0] ?? '{}') as { page?: { expired?: boolean } }).page?.expired === true;
    };
    const cases: [unknown, boolean][] = [
      ['2026-11-23T11:59:59Z', true],
      ['2026-11-23T12:00:01Z', false],
      ['2026-11-23T13:30:00+02:00', true],
      ['2026-11-23T13:30:00+0100', false],
      ['2026-11-23T06:30:00-05', true],
      ['2026-11-23 11:59', false],
      ['2026-11-22T23:59:00', true],
      ['2026-11-23', false],
      ['2026-11-22', true],
      ['2026-02-31', false],
      ['23.11.2025', false],
      ['', false],
      [null, false],
      [['2025-01-01'], true],
    ];
    for (const [validThrough, expired] of cases)
      expect([validThrough, expiredAt(validThrough)]).toEqual([validThrough, expired]);
    // What programs write for no date.
    for (const none of ['0001-01-01T00:00:00', '1900-01-01', '1970-01-01T00:00:00Z', '1999-12-31']) {
      expect([none, expiredAt(none)]).toEqual([none, false]);
    }
    const [day, time] = ['2026-11-20', '2026-11-20T08:00:00Z'];
    const posted: [unknown, unknown, boolean][] = [
      [day, '2026-11-21', false],
      [time, '2026-11-21T09:00:00+01:00', false],
      [time, day, true],
      [day, '2026-10-01', true],
      [day, 'yesterday', true],
      [day, null, true],
    ];
    for (const [validThrough, datePosted, expired] of posted) {
      expect([validThrough, datePosted, expiredAt(validThrough, datePosted)]).toEqual([
        validThrough,
        datePosted,
        expired,
      ]);
    }
  });
});

describe('what is complete', () => {
  test.each<[string, string, readonly string[]]>([
    [
      'a page without a posting',
      '<html><title>Robot check</title></html>',
      ['the page has no JobPosting in JSON-LD; the page\'s title is "Robot check"'],
    ],
    [
      'a page that is cut',
      page(ld(posting('a'))).replace('</html>', ''),
      ['the page may have been cut: it does not end with </html>, and the source declares no length'],
    ],
    ['a document without a posting', '{"@type": "Organization"}', ['the document has no JobPosting']],
    ['an empty list', '[]', ['the document has no JobPosting']],
    ['a list in an empty list', '[[]]', ['the document has no JobPosting']],
    ['a list', JSON.stringify([posting('a')]), []],
    ['a graph', JSON.stringify({ '@graph': [posting('a')] }), []],
    [
      'a list that is cut',
      '[{"@type": "JobPosting"}, ',
      ['the document ends before its outermost list or object is closed'],
    ],
  ])('%s', (_, document, shortfalls) => expect(split(document)).toMatchObject({ refusal: undefined, shortfalls }));

  test('pages without a posting, if they are normal', () => {
    for (const empty of ['<html></html>', '[]', '[[]]', '{}']) {
      expect(split(empty, { acceptsEmptyPages: true })).toMatchObject({ shortfalls: [], refusal: undefined });
    }
  });

  test.each([
    ['nothing', ' \n', 'the page is empty'],
    ['text', 'Error 500', 'this is not an HTML feed; it starts with "Error 500"'],
    ['an object that is cut', '{"@graph": [{"@type": "JobPosting"', /quotes or brackets do not match/],
    ['something after an object', '{"@graph": []} x', /"," or "\]" is expected/],
  ])('%s is refused', (_, document, refusal) => {
    const result = split(document, {}, true);
    expect(result.refusal).toEqual(typeof refusal === 'string' ? refusal : expect.stringMatching(refusal));
    expect(result.records.every((record) => !record.endsWith('}'))).toBe(true);
  });
});

test('a script with millions of names and values takes little memory', () => {
  const many = '"a":1,"b":[{}],'.repeat(750_000);
  const document = page(ld(`{${many}"c":${JSON.stringify(posting('a'))}}`));
  const heapBefore = process.memoryUsage().heapUsed;
  expect(titlesIn(splitAs('json-ld', document, {}, [1e6]))).toEqual(['a']);
  const grown = process.memoryUsage().heapUsed - heapBefore;
  expect(grown).toBeLessThan(125e6);
});

test('a script that is too long is oversized', () => {
  const long = ld(posting('a', { description: 'x'.repeat(33 * 1024 * 1024) }));
  const { records, oversized } = splitAs('json-ld', page(ld(posting('b')), long), {}, [1e6]);
  expect(records).toHaveLength(1);
  expect(oversized).toEqual([{ head: expect.stringMatching(/^\{"@type":"JobPosting"/), length: expect.any(Number) }]);
});

test('a posting above the limit is oversized', () => {
  const { oversized } = split(page(ld([posting('a', { description: 'x'.repeat(500) })])), { maxRecordBytes: 300 });
  expect(oversized).toHaveLength(1);
});
