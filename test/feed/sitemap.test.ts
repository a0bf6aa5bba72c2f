// Sitemaps as sources: one of them, an index with several, compressed ones, and what makes the reading incomplete.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readFeed } from '../../src/feed/read-feed.ts';
import type { SourceConfig } from '../../src/feed/source/sources.ts';
import { collect, sourceOf } from './collect.ts';
import { serveWeb, type WebServer } from './web-server.ts';

const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const sitemap = (...paths: readonly string[]): string =>
  `<?xml version="1.0"?><urlset ${NAMESPACE}>${paths.map((path) => `<url><loc>https://a.example${path}</loc></url>`).join('')}</urlset>`;
const index = (...addresses: readonly string[]): string =>
  `<?xml version="1.0"?><sitemapindex ${NAMESPACE}>${addresses.map((address) => `<sitemap><loc> ${address} </loc></sitemap>`).join('')}</sitemapindex>`;

let server: WebServer;
let pages: Record<string, string | Buffer | ((response: ServerResponse) => void)>;
beforeEach(async () => {
  pages = {};
  server = await serveWeb(({ path }, response) => {
    const page = pages[path];
    if (typeof page === 'function') page(response);
    else response.writeHead(page === undefined ? 404 : 200).end(page);
  });
});
afterEach(() => server.close());

async function readSitemap(only?: string, limits: object = {}) {
  const base = sourceOf({ location: `${server.origin}/sitemap.xml`, recordPath: 'urlset/url' });
  if (base.from.kind !== 'http') throw new Error('no web address');
  const from: SourceConfig = {
    kind: 'pages',
    http: base.from,
    paging: { by: 'sitemap', parameter: '', first: 0, path: '', end: 'empty_page', total: 'every_page', only },
    content: { format: 'xml', recordPath: 'urlset/url', totalPaths: [], maxRecordBytes: 1e6 },
    limits: {
      maxPages: 10,
      maxPageBytes: 1e6,
      requestsPerSecond: 1e5,
      firstByteTimeoutMs: 5_000,
      minBytesPerSecond: 1,
      ...limits,
    },
    retry: { attempts: 2, firstDelayMs: 1, maxDelayMs: 5 },
  };
  const sink = collect();
  const reading = await readFeed({ ...base, from }, sink, { signal: new AbortController().signal });
  const found = sink.records.map((record) => /https:\/\/a\.example([^<]*)/.exec(record)?.[1]);
  return { reading, found, asked: server.requests.map(({ path }) => path) };
}

test('a sitemap is a list of its entries', async () => {
  pages['/sitemap.xml'] = sitemap('/1', '/2');
  expect(await readSitemap()).toMatchObject({ reading: { kind: 'read', shortfalls: [] }, found: ['/1', '/2'] });
});

test('an index leads to its sitemaps, each of which is read once', async () => {
  pages = {
    '/sitemap.xml': index('/one.xml', `${server.origin}/two.xml.gz`, '/one.xml', '/more.xml'),
    '/one.xml': sitemap('/1'),
    '/two.xml.gz': gzipSync(sitemap('/2')),
    '/more.xml': index('/three.xml', '/sitemap.xml'),
    '/three.xml': sitemap('/3', '/1'),
  };
  const { reading, found, asked } = await readSitemap();
  expect(reading).toMatchObject({ kind: 'read', shortfalls: [] });
  // The same entry in two sitemaps is no sign of a list that moved.
  expect(reading).not.toHaveProperty('pages');
  expect(found).toEqual(['/1', '/2', '/3', '/1']);
  expect(asked).toEqual(['/sitemap.xml', '/one.xml', '/two.xml.gz', '/more.xml', '/three.xml']);
});

test('only some sitemaps of an index are read, if so configured', async () => {
  pages = { '/sitemap.xml': index('/news.xml', '/jobs-1.xml'), '/jobs-1.xml': sitemap('/1') };
  expect(await readSitemap('/jobs-\\d')).toMatchObject({ reading: { shortfalls: [] }, found: ['/1'] });
});

test('a sitemap that is busy is asked for again', async () => {
  let busy = true;
  pages = {
    '/sitemap.xml': index('/one.xml'),
    '/one.xml': (response) => {
      response.writeHead(busy ? 503 : 200).end(busy ? '' : sitemap('/1'));
      busy = false;
    },
  };
  expect(await readSitemap()).toMatchObject({ reading: { shortfalls: [] }, found: ['/1'] });
});

describe('what makes it incomplete', () => {
  test.each<[string, () => typeof pages, RegExp]>([
    ['a sitemap that fails', () => ({ '/sitemap.xml': index('/gone.xml', '/one.xml') }), /sitemap \/gone\.xml: .*404/],
    [
      'one at another origin',
      () => ({ '/sitemap.xml': index('https://b.example/x.xml', '/one.xml') }),
      /another origin/,
    ],
    ['an entry that is no address', () => ({ '/sitemap.xml': index('http://[', '/one.xml') }), /no[nt].* an? address/],
    [
      'an entry without one',
      () => ({ '/sitemap.xml': index('/one.xml').replace('</sitemapindex>', '<sitemap/></sitemapindex>') }),
      /1 of its entries/,
    ],
    [
      'an index that is cut',
      () => ({ '/sitemap.xml': index('/one.xml').replace('</sitemapindex>', '') }),
      /sitemap \/sitemap\.xml: /,
    ],
    [
      'a sitemap that is cut',
      () => ({ '/sitemap.xml': index('/one.xml'), '/one.xml': sitemap('/1').replace('</urlset>', '') }),
      /./,
    ],
    [
      'a page instead of a sitemap',
      () => ({ '/sitemap.xml': index('/one.xml', '/x'), '/x': '<html><title>Sorry</title></html>' }),
      /HTML where/,
    ],
  ])('%s', async (_, make, message) => {
    pages = { '/one.xml': sitemap('/1'), ...make() };
    const { reading, found } = await readSitemap();
    expect(found).toEqual(['/1']);
    expect(reading.kind === 'read' ? reading.shortfalls.join('; ') : '').toMatch(message);
  });

  test('an index with more sitemaps than allowed', async () => {
    pages = { '/sitemap.xml': index('/one.xml', '/two.xml'), '/one.xml': sitemap('/1'), '/two.xml': sitemap('/2') };
    const { reading } = await readSitemap(undefined, { maxPages: 2 });
    expect(reading).toMatchObject({ shortfalls: [expect.stringMatching(/more than 2 sitemaps; raise max_pages/)] });
  });

  test('one that is empty, or fails as a whole, is no feed', async () => {
    pages['/sitemap.xml'] = index();
    expect((await readSitemap()).reading).toMatchObject({ kind: 'failed', message: 'the source has no documents' });
    pages = {};
    expect((await readSitemap()).reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(/404/) });
  });
});
