// Postings with `validThrough` under wrong clocks: whether they have expired is decided by the database's clock and the source's.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { serveWeb, type WebServer } from '../feed/web-server.ts';
import { checkCounts } from '../laws/laws.ts';
import { firstOf, leavesOut } from '../support/extent.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const YEAR_MS = 365 * 24 * 3_600_000;
const validThrough = (years: number): string => new Date(Date.now() + years * YEAR_MS).toISOString();

interface Page {
  readonly title: string;
  readonly validThrough: string;
  readonly lastmod?: string;
}

let mirror: Mirror;
let source: WebServer;
let pages: Map<string, Page>;
let sourceShiftMs: number;

const jobPosting = ([path, { title, validThrough }]: readonly [string, Page]) => ({
  '@type': 'JobPosting',
  url: path,
  title,
  description: 'Work',
  validThrough,
  jobLocation: { address: { addressRegion: 'TX', addressCountry: 'US' } },
});
const page = (postings: unknown): string =>
  `<html><body><script type="application/ld+json">${JSON.stringify(postings)}</script></body></html>`;
const entry = ([path, { lastmod = '1' }]: readonly [string, Page]) =>
  `<url><loc>${source.origin}${path}</loc><lastmod>${lastmod}</lastmod></url>`;

function bodyOf(path: string): string {
  const detail = pages.get(path);
  if (detail !== undefined) return page(jobPosting([path, detail]));
  return path === '/sitemap.xml'
    ? `<urlset>${[...pages].map(entry).join('')}</urlset>`
    : page([...pages].map(jobPosting));
}

beforeEach(async () => {
  sourceShiftMs = 0;
  pages = new Map([
    ['/jobs/1', { title: 'Nurse', validThrough: validThrough(1) }],
    ['/jobs/2', { title: 'Cook', validThrough: validThrough(2) }],
    ['/jobs/3', { title: 'Clerk', validThrough: validThrough(-1) }],
  ]);
  source = await serveWeb(({ path }, response) => {
    response.setHeader('Date', new Date(performance.timeOrigin + performance.now() + sourceShiftMs).toUTCString());
    response.writeHead(200).end(bodyOf(path));
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await mirror.close();
  await source.close();
});

const open = async (path: string, format: string, more: Readonly<Record<string, string>> = {}): Promise<void> => {
  mirror = await openMirror({
    feed: {
      source: `${source.origin}${path}`,
      format,
      fields: '{ contact-web-address: null, contact-email-address: { value: a@example.com } }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
      ...more,
    },
  });
};

const sync = async () => checkCounts(await mirror.sync());

const titles = async () => [...(await mirror.siteJobs()).values()].map(({ title }) => title).sort();

/** The clock of this process; servers read theirs in another way. */
function shiftProcessClock(ms: number): void {
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now.call(Date) + ms);
}

interface Kind {
  readonly kind: string;
  readonly path: string;
  readonly format: string;
  readonly more: Readonly<Record<string, string>>;
}

const KINDS: readonly Kind[] = [
  { kind: 'a list', path: '/jobs', format: 'schema-org', more: {} },
  {
    kind: 'pages of a sitemap',
    path: '/sitemap.xml',
    format: 'schema-org-sitemap',
    // Each page is requested in each pull.
    more: {
      details: '{ url: "{+loc}", format: json-ld, refresh_days: 0.00000001 }',
      limits: '{ requests_per_second: 1000, attempts: 1 }',
    },
  },
];
const YEARS = [5, -5];

describe.each(KINDS)('in $kind', ({ kind, path, format, more }) => {
  const variant = KINDS.findIndex((each) => each.kind === kind);
  /** `npm test` and CI have each of the three tests below with one of the kinds. */
  const inKind = <Case>(at: number, cases: readonly Case[]) => (leavesOut(at, variant, KINDS.length) ? [] : cases);

  it.each(inKind(0, firstOf(YEARS, 1)))('the clock of the process does not count (%i years off)', async (years) => {
    await open(path, format, more);
    expect(await sync()).toMatchObject({ complete: true, created: 2, skipped: 1 });
    shiftProcessClock(years * YEAR_MS);
    pages.set('/jobs/2', { title: 'Head cook', validThrough: validThrough(2 - years), lastmod: '2' });
    expect(await sync()).toMatchObject({ complete: true, updated: 1, unchanged: 1, deleted: 0, skipped: 1 });
    expect(await titles()).toEqual(['Head cook', 'Nurse']);
  });

  it.each(inKind(1, firstOf(YEARS, 1)))(
    'nothing is deleted if the clock of the source is another (%i years off)',
    async (years) => {
      await open(path, format, more);
      await sync();
      sourceShiftMs = years * YEAR_MS;
      expect(await sync()).toMatchObject({ complete: false, created: 0, deleted: 0 });
      expect(await titles()).toEqual(['Cook', 'Nurse']);
      sourceShiftMs = 0;
      expect(await sync()).toMatchObject({ complete: true, requests: 0 });
    },
  );

  it.each(inKind(2, ['both clocks']))('a posting that has expired by %s is deleted', async () => {
    await open(path, format, more);
    await sync();
    // No posting depends on which clock is right.
    sourceShiftMs = -YEAR_MS / 2;
    pages.set('/jobs/2', { title: 'Cook', validThrough: validThrough(-1), lastmod: '2' });
    expect(await sync()).toMatchObject({ complete: true, deleted: 1, skipped: 2 });
    expect(await titles()).toEqual(['Nurse']);
  });
});

it('says which clocks differ', async () => {
  await open('/jobs', 'schema-org');
  sourceShiftMs = 5 * YEAR_MS;
  const { shortfalls } = await sync();
  expect(shortfalls.join('\n')).toMatch(
    /whether 2 postings have expired is uncertain: the source's clock says 20\d\d-\d\d-\d\d \d\d:\d\d UTC, that of the database 20/,
  );
});
