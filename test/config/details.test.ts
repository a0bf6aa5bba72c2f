// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// Loading how the details of postings are requested, from the feed or its format.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { whyRefused } from './why-refused.ts';

const folder = temporaryFolder();

const FORMAT = 'type: json, records: jobs, key: id, fields: { title: t, location-state: s }';
const DETAILS = 'details: { url: "jobs/{id}" }';
const ONE = 'source: https://ats.example.com/jobs';

async function load(lines: string[], { source = ONE, format = FORMAT } = {}) {
  const text = [
    'sites:',
    '  board: { base_url: https://jobs.example.com, token: "${TOKEN}" }',
    'feeds:',
    '  acme:',
    `    ${source}`,
    `    format: { ${format} }`,
    '    site: board',
    ...lines.map((line) => `    ${line}`),
  ];
  writeFileSync(join(folder, 'jobmirror.yaml'), text.join('\n'));
  const config = await loadConfig({ env: { TOKEN: 'zq-0123456789' }, cwd: folder });
  const feed = config.feeds.get(feedName('acme'));
  if (feed === undefined) throw new Error('no feed');
  const [setup] = feedSetups(config, ['acme']);
  return { ...feed, interpretation: setup?.interpretation.toString('hex') };
}

test('has defaults, and the limits of the feed', async () => {
  const { source } = await load([DETAILS, 'limits: { requests_per_second: 3, attempts: 2, max_record_bytes: 1000 }']);
  expect(source.details).toEqual({
    request: { url: 'jobs/{id}', body: undefined, accept: 'application/json, */*;q=0.5' },
    document: { format: 'json', recordPath: '', lenient: false },
    name: 'detail',
    match: [],
    ignore: [],
    concurrency: 4,
    refreshMs: undefined,
    requestsPerSecond: 3,
    limits: {
      maxPageBytes: 1000,
      sizeSetting: 'limits.max_record_bytes',
      firstByteTimeoutMs: 60_000,
      minBytesPerSecond: 1024,
    },
    retry: { attempts: 2, firstDelayMs: 1_000, maxDelayMs: 60_000 },
    totalTimeoutMs: 3_600_000,
  });
});

test('of the feed come before those of the format, and apply to web addresses only', async () => {
  const format = `${FORMAT}, ${DETAILS}`;
  expect((await load([], { format })).source.details?.request.url).toBe('jobs/{id}');
  expect((await load(['details: { url: "/{id}" }'], { format })).source.details?.request.url).toBe('/{id}');
  expect((await load(['details: null'], { format })).source.details).toBeUndefined();
  expect((await load([], { format, source: 'source: acme.json' })).source.details).toBeUndefined();
});

test('may leave out what tells other postings apart, and accept pages without a posting that are skipped', async () => {
  const details = 'details: { url: "{id}", format: json-ld, ignore: ["a[b=c]/d", "*[x=y]"], empty_pages: true }';
  const { source } = await load([details, 'key: "a[b=e]/d"', 'skip: [{ t: x }, { detail/page/empty: true }]']);
  expect(source.details?.document.acceptsEmptyPages).toBe(true);
});

test('of pages with postings may not be empty because pages of the list may', async () => {
  const format = 'type: json-ld, key: page/address, fields: { title: t, location-state: s }';
  const more = ['details: { url: "{+page/address}", format: json-ld }', 'expect: { empty_pages: true }'];
  const { source } = await load(more, { format });
  expect(source).toMatchObject({ acceptsEmptyPages: true, details: { document: { format: 'json-ld' } } });
  expect(source.details?.document).not.toHaveProperty('acceptsEmptyPages');
});

test('decide how records are read, except how often and how many at a time', async () => {
  const of = async (details: string) => (await load([`details: { ${details} }`])).interpretation;
  const plain = await of('url: "jobs/{id}"');
  expect(await of('url: "jobs/{id}", concurrency: 1, refresh_days: 7')).toBe(plain);
  const others = ['url: "job/{id}"', 'url: "jobs/{id}", records: job', 'url: "jobs/{id}", match: { id: id }'];
  const found = new Set([plain]);
  for (const other of others) found.add(await of(other));
  expect(found.size).toBe(4);
});

test.each<[string[], { source?: string; format?: string }, RegExp]>([
  [[DETAILS], { source: 'source: acme.json' }, /details: work only with http and https sources/],
  [['details: { url: "https://x.example/{id}" }'], {}, /details\.url.*another origin than the source/],
  [['details: { url: "jobs/{id/}" }'], {}, /details\.url.*the path "id\/"/],
  [['details: { url: "{source:site}" }'], {}, /details\.url.*needs the parameter site/],
  [['details: { url: "{id}", format: xml }'], {}, /details\.records.*is missing/],
  [['details: { url: "{id}", name: "a/b" }'], {}, /details\.name.*must be a name/],
  [[DETAILS, 'key: [id, detail/id]'], {}, /key.*detail\/id is in the detail, but the key must be in the list/],
  [[DETAILS], { source: 'sources: [https://a.example.com/1, https://a.example.com/2]' }, /is relative to one source/],
  [
    ['details: { url: "/jobs/{id}" }'],
    { source: 'sources: [https://a.example.com/1, https://b.example.com/2]' },
    /details: would all be requested from https:\/\/a\.example\.com, .* https:\/\/b\.example\.com; make a feed of each/,
  ],
  [['details: { url: "jobs/{ref}", ignore: id }'], {}, /details\.ignore: id leaves out id, which the key is made of/],
  [['details: { url: "jobs/{a/b}", ignore: [c, a] }'], {}, /a leaves out a\/b, which the request of the detail needs/],
  [
    ['details: { url: x, body: { of: ["{a[b=c]/d}"] }, ignore: "*/d" }'],
    {},
    /\*\/d leaves out a\[b=c\]\/d, which the request/,
  ],
  [['details: { url: "{id}", empty_pages: true }'], {}, /empty_pages: works only with format: json-ld/],
  [
    ['details: { url: "{id}", format: json-ld, empty_pages: true }', 'skip: { detail/page/empty: true, t: x }'],
    {},
    /details\.empty_pages: needs skip: \{ detail\/page\/empty: true \}/,
  ],
  [
    ['details: { url: "{id}", format: json-ld }', 'expect: { empty_pages: true }'],
    {},
    /expect\.empty_pages: is for pages of the list; .*set empty_pages in details/,
  ],
])('%j is refused', async (lines, options, message) => {
  expect(await whyRefused(load(lines, options))).toMatch(message);
});
