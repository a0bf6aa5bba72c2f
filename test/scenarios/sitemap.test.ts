// A sitemap whose pages describe a posting each: which pages are requested, and what becomes of their postings.
// @module-tag slow
import { readFile, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { respond } from '../feed/raw-server.ts';
import { serveWeb, type WebServer } from '../feed/web-server.ts';
import { checkCounts } from '../laws/laws.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

interface Page {
  readonly lastmod: string;
  readonly title?: string;
  readonly validThrough?: string;
}

let mirror: Mirror;
let source: WebServer;
let pages: Map<string, Page>;
let isBroken: boolean;
/** The page whose connection is closed in its middle, without a length that would show it. */
let cut: string | undefined;

const entry = (path: string, { lastmod }: Page): string =>
  `<url><loc>${source.origin}${path}</loc><lastmod>${lastmod}</lastmod></url>`;
const sitemap = (of: (path: string) => boolean): string =>
  `<urlset>${[...pages].flatMap(([path, page]) => (of(path) ? [entry(path, page)] : [])).join('')}</urlset>`;
const html = ({ title, validThrough }: Page): string => {
  const place = { address: { addressRegion: 'TX', addressCountry: 'US' } };
  const posting = { '@type': 'JobPosting', title, description: 'Work', validThrough, jobLocation: place };
  const script = title === undefined ? '' : `<script type="application/ld+json">${JSON.stringify(posting)}</script>`;
  return `<html><body>${script}</body></html>`;
};

const ANSWERS: Readonly<Record<string, () => string>> = {
  '/sitemap.xml': () =>
    `<sitemapindex><sitemap><loc>${source.origin}/a.xml</loc></sitemap><sitemap><loc>${source.origin}/b.xml</loc></sitemap></sitemapindex>`,
  '/a.xml': () => sitemap((path) => path.endsWith('1')),
  '/b.xml': () => sitemap((path) => !path.endsWith('1')),
};

beforeEach(async () => {
  isBroken = false;
  cut = undefined;
  source = await serveWeb(({ path }, response) => {
    const page = pages.get(path);
    const body = ANSWERS[path]?.() ?? (page === undefined ? undefined : html(page));
    if (body !== undefined && path === cut)
      respond(response.socket as Socket, 'close-delimited', Buffer.from(body), 12);
    else if (body === undefined || (isBroken && path === '/b.xml')) response.writeHead(500).end();
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end(body);
  });
  pages = new Map([
    ['/about', { lastmod: '1' }],
    ['/jobs/1', { lastmod: '1', title: 'Nurse' }],
    ['/jobs/2', { lastmod: '1', title: 'Cook' }],
    ['/jobs/3', { lastmod: '1', title: 'Driver', validThrough: '2999-12-31' }],
    ['/jobs/4', { lastmod: '1', title: 'Clerk', validThrough: '2001-12-31' }],
  ]);
  mirror = await openMirror({
    feed: {
      source: `${source.origin}/sitemap.xml`,
      format: 'schema-org-sitemap',
      skip: '{ loc: { not_matches: "/jobs/" } }',
      fields: '{ contact-web-address: null, contact-email-address: { value: a@example.com } }',
      limits: '{ requests_per_second: 1000, attempts: 1 }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
    },
  });
});
afterEach(async () => {
  await mirror.close();
  await source.close();
});

/** The report of a pull, and which pages it requested. */
async function sync() {
  const before = source.requests.length;
  const report = checkCounts(await mirror.sync());
  return {
    ...report,
    asked: source.requests
      .slice(before)
      .flatMap(({ path }) => (path.endsWith('.xml') ? [] : [path]))
      .sort(),
  };
}

const titles = async () => [...(await mirror.siteJobs()).values()].map(({ title }) => title).sort();

it('requests the pages that are new or whose entries have changed, and mirrors their postings', async () => {
  expect(await sync()).toMatchObject({
    complete: true,
    created: 3,
    skipped: 2,
    asked: ['/jobs/1', '/jobs/2', '/jobs/3', '/jobs/4'],
  });
  expect(await titles()).toEqual(['Cook', 'Driver', 'Nurse']);
  expect(await sync()).toMatchObject({ complete: true, unchanged: 3, skipped: 2, requests: 0, asked: [] });
  pages.set('/jobs/2', { lastmod: '2', title: 'Head cook' });
  pages.set('/jobs/3', { lastmod: '2', title: 'Driver', validThrough: '2020-01-01' });
  pages.delete('/jobs/1');
  expect(await sync()).toMatchObject({ complete: true, updated: 1, deleted: 2, asked: ['/jobs/2', '/jobs/3'] });
  expect(await titles()).toEqual(['Head cook']);
});

it('deletes nothing while a page lacks its posting, or a sitemap fails', async () => {
  await sync();
  pages.delete('/jobs/1');
  pages.set('/jobs/2', { lastmod: '2' });
  expect(await sync()).toMatchObject({ complete: false, unreadable: 1, deleted: 0, asked: ['/jobs/2'] });
  pages.set('/jobs/2', { lastmod: '1', title: 'Cook' });
  isBroken = true;
  expect(await sync()).toMatchObject({ complete: false, deleted: 0 });
  expect(await titles()).toEqual(['Cook', 'Driver', 'Nurse']);
  isBroken = false;
  expect(await sync()).toMatchObject({ complete: true, deleted: 1 });
});

async function acceptEmptyPages(): Promise<void> {
  const written = await readFile(mirror.configPath, 'utf8');
  await mirror.stopEngine();
  const details = '{ url: "{+loc}", format: json-ld, empty_pages: true }';
  await writeFile(mirror.configPath, written.replace('    source:', `    details: ${details}\n    source:`));
}

it('takes a page without a posting as gone where that is normal', async () => {
  await sync();
  await acceptEmptyPages();
  pages.set('/jobs/2', { lastmod: '2' });
  expect(await sync()).toMatchObject({ complete: true, deleted: 1, skipped: 3, unreadable: 0 });
  expect(await titles()).toEqual(['Driver', 'Nurse']);
});

it('does not take a page that was cut before its posting for one without', async () => {
  await sync();
  await acceptEmptyPages();
  pages.set('/jobs/2', { lastmod: '2', title: 'Cook' });
  cut = '/jobs/2';
  expect(await sync()).toMatchObject({ complete: false, deleted: 0, skipped: 2, unreadable: 1 });
  cut = undefined;
  expect(await sync()).toMatchObject({ complete: true, deleted: 0, unchanged: 3, asked: ['/jobs/2'] });
  expect(await titles()).toEqual(['Cook', 'Driver', 'Nurse']);
});

it('notices a change that the sitemap does not show, once the page is due again', async () => {
  const written = await readFile(mirror.configPath, 'utf8');
  const details = '{ url: "{+loc}", format: json-ld, refresh_days: 0.00000001 }';
  await writeFile(mirror.configPath, written.replace('    source:', `    details: ${details}\n    source:`));
  await sync();
  pages.set('/jobs/1', { lastmod: '1', title: 'Nurse', validThrough: '2020-01-01' });
  expect(await sync()).toMatchObject({ complete: true, deleted: 1, skipped: 3, unchanged: 2 });
  expect(await titles()).toEqual(['Cook', 'Driver']);
});
