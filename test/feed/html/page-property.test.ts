// Compares the splitters of pages with JSON.parse, on generated and real pages in random chunks.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatOf } from '../../../src/feed/format/formats.ts';
import { generated } from '../../support/extent.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../../support/shared-feeds.ts';
import { cutInto, splitAs } from '../collect.ts';

const text = fc
  .array(fc.constantFrom('a', '"', '\\', '{', ']', ':', ' ', 'é🚀', '<p>', '<!--', '&amp;', "'", '\n', 'JobPosting'), {
    maxLength: 5,
  })
  .map((parts) => parts.join(''));
const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 400 })), {
  minLength: 1,
  maxLength: 5,
});

const { node } = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.constantFrom(1, null, true, 'JobPosting', {}, []),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.record(
      {
        '@type': fc.constantFrom(
          'JobPosting',
          ['Thing', 'https://schema.org/JobPosting'],
          'ItemList',
          ['Place'],
          'jobPosting',
        ),
        title: text,
        '@graph': tie('node'),
        item: tie('node'),
      },
      { requiredKeys: [] },
    ),
  ),
}));

/** `<` in a script must be written so that no tag ends it; how much else is escaped is free. */
const scriptJson = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

const isPosting = (value: object): boolean =>
  [Reflect.get(value, '@type') ?? []]
    .flat()
    .some((type) => type === 'JobPosting' || type === 'https://schema.org/JobPosting');

/** The postings in a parsed value, by a plain walk. */
function postingsIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(postingsIn);
  return isPosting(value) ? [value] : Object.values(value).flatMap(postingsIn);
}

const filler = fc.constantFrom(
  '<p>text & more</p>',
  '<!-- <script type="application/ld+json">{"@type":"JobPosting"}</script> -->',
  '<script>var x = "<script type=\'application/ld+json\'>"; if (1 < 2) {}</script>',
  '<style>a > b {}</style>',
  '<br/><img alt="</html>" src=x>',
  '<title>é & <b></title>',
  '',
);
const page = fc.array(
  fc.tuple(
    filler,
    node.filter((value) => typeof value === 'object' && value !== null),
  ),
  { maxLength: 4 },
);
const pageText = (parts: readonly (readonly [string, unknown])[]): string =>
  `<!doctype html><html><body>${parts
    .map(([before, value]) => `${before}<script type="application/ld+json">\n${scriptJson(value)}\n</script>`)
    .join('')}</body></html>\n`;

describe('JSON-LD in generated pages', () => {
  it('yields the postings that JSON.parse finds, whatever the chunks', () => {
    fc.assert(
      fc.property(page, sizes, (parts, chunks) => {
        const { records, refusal, shortfalls } = splitAs('json-ld', pageText(parts), {}, chunks, false);
        const expected = parts.flatMap(([, value]) => postingsIn(value));
        expect(refusal).toBeUndefined();
        expect(shortfalls).toEqual(expected.length === 0 ? [expect.stringMatching(/has no JobPosting/)] : []);
        expect(records.map((record) => JSON.parse(record))).toEqual(expected);
      }),
      { numRuns: generated(300) },
    );
  });

  it('is never complete if it is cut, and yields no other postings', () => {
    fc.assert(
      fc.property(
        page,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        sizes,
        (parts, share, chunks) => {
          const whole = Buffer.from(pageText(parts));
          const cut = whole.subarray(0, Math.floor(share * (whole.length - '</html>\n'.length)));
          const { records, refusal, shortfalls } = splitAs('json-ld', cut, {}, chunks, false);
          expect([...shortfalls, refusal ?? []].flat()).not.toEqual([]);
          const expected = parts.flatMap(([, value]) => postingsIn(value)).map((posting) => scriptJson(posting));
          expect(records).toEqual(expected.slice(0, records.length));
        },
      ),
      { numRuns: generated(300) },
    );
  });
});

it.each(['</body></html>', '</html>'])('a page that is cut before %s is not complete', (end) => {
  const whole = pageText([['', { '@type': 'JobPosting', title: 'Nurse' }]]);
  const { records, shortfalls } = splitAs('json-ld', whole.slice(0, whole.lastIndexOf(end)), {}, [7], false);
  expect([records.length, shortfalls]).toEqual([1, [expect.stringMatching(/may have been cut/)]]);
});

describe('the position of a record', () => {
  const positionsIn = (format: 'html' | 'json-ld', document: string, chunks: readonly number[]): string[] => {
    const bytes = Buffer.from(document);
    const found: string[] = [];
    const record = (_buffer: Buffer, start: number): void =>
      void found.push(bytes.toString('utf8', splitter.origin + start, splitter.origin + start + 7));
    const options = {
      recordPath: 'jobs',
      totalPaths: [],
      maxRecordBytes: 1e6,
      script: { attributes: {}, variable: 'x' },
    };
    const splitter = formatOf(format).createSplitter(options, { record, oversized: () => undefined });
    for (const chunk of cutInto(bytes, chunks)) splitter.push(Buffer.from(chunk));
    splitter.finish(true);
    return found;
  };

  it.each([
    [
      'json-ld',
      '<html><link rel=canonical href="https://a.example"><script type="application/ld+json"> [{"a":1,"@type":"JobPosting"}, {"@graph": [{"b":2,"@type":"JobPosting"}]}]</script>é<script type="application/ld+json">{"c":3,"@type":"JobPosting"}</script></html>',
    ],
    [
      'json-ld',
      ' {"@graph": [{"a":1,"@type":"JobPosting"}, {"b":2,"@type":"JobPosting"}], "é": {"c":3,"@type":"JobPosting"}}',
    ],
    ['json-ld', ' [{"a":1,"@type":"JobPosting"}, {"é": {"b":2,"@type":"JobPosting"}}, {"c":3,"@type":"JobPosting"}]'],
    [
      'html',
      '<html>é<p>a</p><script>é = 1; window.x = {"jobs": [{"a":1, "é": "é"}, {"b":2},{"c":3}]};</script></html>',
    ],
  ] as const)('is that of its bytes: %s', (format, document) => {
    fc.assert(
      fc.property(sizes, (chunks) => {
        expect(positionsIn(format, document, chunks).map((text) => text.slice(0, 6))).toEqual([
          '{"a":1',
          '{"b":2',
          '{"c":3',
        ]);
      }),
    );
  });
});

describe('JSON in a script of generated pages', () => {
  const jobs = fc.array(fc.record({ id: fc.nat(), title: text }), { maxLength: 5 });
  const space = fc.constantFrom('', ' ', '\n  ');

  it.each([
    ['a variable', { attributes: {}, variable: 'app.state' }, 'window.stat = {}; app.state ='],
    ['an ID', { attributes: { id: 'x' } }, ''],
  ])('yields the elements of the list at %s, whatever the chunks', (_, script, before) => {
    fc.assert(
      fc.property(jobs, filler, space, sizes, (list, other, gap, chunks) => {
        const json = scriptJson({ other: [1], data: { jobs: list } });
        const document = `<html>${other}<script id="x">${gap}${before}${gap}${json}${gap};</script>${other}</html>`;
        const result = splitAs('html', document, { script, recordPath: 'data/jobs' }, chunks, false);
        expect(result).toMatchObject({ refusal: undefined, shortfalls: [] });
        expect(result.records.map((record) => JSON.parse(record))).toEqual(list);
      }),
      { numRuns: generated(200) },
    );
  });
});

describe.skipIf(!hasSharedFeeds)(`real pages${sharedFeedsNote}`, () => {
  const files = ['json-ld/zonos-devops.html', 'json-ld/zonos-corporate.html', 'json/jsonld.html', 'json/jsonld.json'];
  it.each(files)('%s yields the same records, whatever the chunks, and is never complete if it is cut', (file) => {
    const whole = readFileSync(sharedFeed(file));
    const expected = splitAs('json-ld', whole);
    expect(expected.records.length).toBeGreaterThan(0);
    for (const chunk of [1, 7, 1_000]) expect(splitAs('json-ld', whole, {}, [chunk])).toEqual(expected);
    for (let at = 0; at < whole.length - 1; at += 211) {
      const { refusal, shortfalls } = splitAs('json-ld', whole.subarray(0, at), {}, [1e9], false);
      expect([...shortfalls, refusal ?? []].flat()).not.toEqual([]);
    }
  });
});
