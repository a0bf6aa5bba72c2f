// Lists of several pages over HTTP: how one page leads to the next, and when the end is proven.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { FeedReading } from '../../src/feed/feed-reading.ts';
import { readFeed } from '../../src/feed/read-feed.ts';
import { nextLink, nextUrl } from '../../src/feed/source/pages/next-address.ts';
import { FeedReadingError } from '../../src/feed/source/source.ts';
import type { HttpCredentials, Paging, SourceConfig } from '../../src/feed/source/sources.ts';
import { collect, generousLimits, sourceOf } from './collect.ts';
import { sendJson, serveWeb, type WebRequest, type WebServer } from './web-server.ts';
import { zipOf } from './zip-writer.ts';

type PagesConfig = Extract<SourceConfig, { kind: 'pages' }>;
type Answer = (request: WebRequest, response: ServerResponse) => void;

const servers: WebServer[] = [];
const serve = async (...parameters: Parameters<typeof serveWeb>) => {
  const server = await serveWeb(...parameters);
  servers.push(server);
  return server;
};
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));
const secret = (text: string) => ({ reveal: () => text });

interface Settings {
  readonly paging: Partial<Paging> & Pick<Paging, 'by'>;
  readonly content?: Partial<PagesConfig['content']>;
  readonly limits?: Partial<PagesConfig['limits']>;
  readonly retry?: Partial<PagesConfig['retry']>;
  readonly credentials?: HttpCredentials;
}

function configOf(address: string, { paging, content, limits, retry, credentials }: Settings): PagesConfig {
  const { from } = sourceOf({ location: address, credentials });
  if (from.kind !== 'http') throw new Error('no web address');
  return {
    kind: 'pages',
    http: from,
    paging: {
      parameter: paging.by,
      first: paging.by === 'page' ? 1 : 0,
      path: 'next',
      end: 'empty_page',
      total: 'every_page',
      ...paging,
    },
    content: {
      format: 'json',
      recordPath: 'jobs',
      totalPaths: ['total'],
      maxRecordBytes: 1e6,
      lenient: false,
      ...content,
    },
    limits: {
      maxPages: 100,
      maxPageBytes: 1e6,
      requestsPerSecond: Number.POSITIVE_INFINITY,
      firstByteTimeoutMs: 10_000,
      minBytesPerSecond: 1,
      ...limits,
    },
    retry: { attempts: 3, firstDelayMs: 1, maxDelayMs: 20, ...retry },
  };
}

/** Reads the list at an address. */
async function readPages(address: string, settings: Settings, signal = new AbortController().signal) {
  const from = configOf(address, settings);
  const { format, recordPath, table } = from.content;
  const sink = collect();
  const source = { from, format, recordPath, table, totalPaths: [], limits: generousLimits };
  const reading = await readFeed(source, sink, { signal, request: 'asked' });
  return { reading, records: sink.records };
}

const job = (number: number) => ({ id: number });
const jobs = (from: number, count: number) => Array.from({ length: count }, (_, at) => job(from + at));
const json = (from: number, count: number) => jobs(from, count).map((each) => JSON.stringify(each));
const shortfallsOf = (reading: FeedReading) =>
  reading.kind === 'read' ? reading.shortfalls : [JSON.stringify(reading)];
const paths = ({ requests }: WebServer) => requests.map(({ path }) => path);

/** 5 jobs, at most 2 on a page, by the method that the query asks for. */
const list = jobs(1, 5);
const answerList: Answer = ({ query, path, body }, response) => {
  const asked = body === '' ? Object.fromEntries(query) : JSON.parse(body);
  const offset = Number(asked.offset ?? asked.cursor ?? 2 * (Number(asked.page ?? 1) - 1));
  const page = list.slice(offset, offset + 2);
  const next = offset + 2 < list.length ? offset + 2 : null;
  const link =
    next === null ? '' : `</first>; rel="first", <${path.split('?')[0]}?cursor=${next}>; title="a, b"; rel=next`;
  const address = next === null ? null : `?cursor=${next}`;
  const extra = asked.total === undefined ? {} : { total: list.length };
  const headers: Record<string, string> = link === '' ? {} : { link };
  const around = {
    meta: { links: [{ rel: 'next', href: address }] },
    others: { self: '/', ...(next === null ? {} : { next: { href: address } }) },
    ...(next === null ? {} : { paging: { next: { link: address } } }),
  };
  sendJson(response, { jobs: page, next, ...around, more: next !== null, ...extra }, 200, headers);
};

describe('a list', () => {
  it.each([
    [5, []],
    [6, [expect.stringContaining('the header x-total-count states 6 records, but what was read has 5; check pages')]],
  ])('whose pages state a total of %i in a header', async (total, shortfalls) => {
    const { origin } = await serve((request, response) => {
      response.setHeader('X-Total-Count', total);
      answerList(request, response);
    });
    const { reading } = await readPages(origin, { paging: { by: 'link' } });
    expect(reading).toMatchObject({ kind: 'read', records: 5, shortfalls });
  });

  it('that is read to its proven end does not count as one whose total nothing states', async () => {
    const { origin } = await serve(answerList);
    expect((await readPages(origin, { paging: { by: 'link' } })).reading).not.toHaveProperty('uncounted');
  });

  it.each<[string, Settings['paging'], string, string[]]>([
    ['by the Link header', { by: 'link' }, '/', ['/', '/?cursor=2', '/?cursor=4']],
    [
      'by addresses in the pages',
      { by: 'next', path: 'meta/links[rel=next]/href' },
      '/jobs?q=a%20b',
      ['/jobs?q=a%20b', '/jobs?cursor=2', '/jobs?cursor=4'],
    ],
    ['by cursors', { by: 'cursor' }, '/?q=1', ['/?q=1', '/?q=1&cursor=2', '/?q=1&cursor=4']],
    [
      'by numbers, up to an empty page that is asked for twice',
      { by: 'page', size: { value: 2, parameter: 'limit' } },
      '/',
      ['/?limit=2&page=1', '/?limit=2&page=2', '/?limit=2&page=3', '/?limit=2&page=4', '/?limit=2&page=4'],
    ],
    [
      'by numbers, up to a short page',
      { by: 'page', end: 'short_page', size: { value: 2 } },
      '/',
      ['/?page=1', '/?page=2', '/?page=3'],
    ],
    [
      'by links in the pages, of which the last has only others',
      { by: 'next', path: 'others/next/href' },
      '/?others',
      ['/?others', '/?cursor=2', '/?cursor=4'],
    ],
    [
      'by addresses that the last page has no place for',
      { by: 'next', path: 'paging/next/link' },
      '/?paging',
      ['/?paging', '/?cursor=2', '/?cursor=4'],
    ],
    ['by numbers, up to the total', { by: 'page' }, '/?total', ['/?total&page=1', '/?total&page=2', '/?total&page=3']],
    ['by numbers, as long as more follow', { by: 'page', more: 'more' }, '/', ['/?page=1', '/?page=2', '/?page=3']],
    // The source may send fewer records than asked for: the offset is their number.
    [
      'by offsets',
      { by: 'offset', size: { value: 100, parameter: 'limit' } },
      '/?total',
      ['/?total&limit=100&offset=0', '/?total&limit=100&offset=2', '/?total&limit=100&offset=4'],
    ],
    [
      'by offsets of its own',
      { by: 'offset', parameter: 'offset', first: 2, more: 'more' },
      '/?offset=9',
      ['/?offset=2', '/?offset=4'],
    ],
  ])('%s is read to its end, and has no version', async (_, paging, path, requested) => {
    const server = await serve(answerList);
    const { reading, records } = await readPages(`${server.origin}${path}`, { paging });
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [], version: undefined });
    expect(records).toEqual(json(paging.first ? 3 : 1, paging.first ? 3 : 5));
    expect(paths(server)).toEqual(requested);
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('is asked for with POST if there is a body, whose placeholders are filled in', async () => {
    const server = await serve(answerList);
    const bodies = async (paging: Settings['paging']) => {
      server.requests.length = 0;
      const { reading, records } = await readPages(server.origin, { paging });
      expect([shortfallsOf(reading), records]).toEqual([[], json(1, 5)]);
      expect(server.requests.every(({ method, path }) => method === 'POST' && path === '/')).toBe(true);
      expect(server.requests[0]?.headers['content-type']).toBe('application/json');
      return server.requests.map(({ body }) => JSON.parse(body));
    };
    expect(
      await bodies({
        by: 'offset',
        size: { value: 20 },
        more: 'more',
        body: { offset: '{offset}', limit: '{size}', q: [] },
      }),
    ).toEqual([0, 2, 4].map((offset) => ({ offset, limit: 20, q: [] })));
    expect(await bodies({ by: 'cursor', body: { cursor: '{cursor}', filter: { text: 'from {cursor}' } } })).toEqual([
      { filter: { text: 'from ' } },
      { cursor: '2', filter: { text: 'from 2' } },
      { cursor: '4', filter: { text: 'from 4' } },
    ]);
  });

  it('may be in another format, compressed, and in any encoding', async () => {
    const page = (number: number) =>
      `<?xml version="1.0" encoding="ISO-8859-1"?><jobs total="2"><job>é${number}</job></jobs>`;
    const server = await serve(({ query }, response) => {
      response.writeHead(200).end(gzipSync(Buffer.from(page(Number(query.get('page'))), 'latin1')));
    });
    const content = { format: 'xml', recordPath: 'jobs/job', totalPaths: ['jobs/@total'] } as const;
    const { reading, records } = await readPages(server.origin, { paging: { by: 'page' }, content });
    expect([shortfallsOf(reading), records]).toEqual([[], ['<job>é1</job>', '<job>é2</job>']]);
  });

  it.each<[string, Settings['paging'], (next: number | null) => string]>([
    [
      'addresses',
      { by: 'next', path: 'jobs/next' },
      (next) => `<next type="a"> ${next ? `?cursor=${next}&amp;x=1` : ''} </next>`,
    ],
    [
      'links with a namespace',
      { by: 'next', path: 'jobs/link[@rel=next]/@href' },
      (next) => `<a:link rel="self" href="/"/>${next ? `<a:link rel="next" href="?cursor=${next}&amp;x=1"/>` : ''}`,
    ],
    ['cursors', { by: 'cursor', path: 'jobs/meta/cursor' }, (next) => `<meta><cursor>${next ?? ''}</cursor></meta>`],
    ['cursors and flags', { by: 'cursor', path: 'jobs/c', more: 'jobs/@more' }, (next) => `<c>${next ?? 'x'}</c>`],
    ['numbers and flags', { by: 'page', more: 'jobs/@more' }, () => ''],
  ])('may be XML with %s in the pages', async (_, paging, place) => {
    const server = await serve(({ query }, response) => {
      const at = Number(query.get('cursor') ?? 2 * (Number(query.get('page') ?? 1) - 1));
      const records = list.slice(at, at + 2).map(({ id }) => `<job><id>${id}</id><cursor>no &</cursor></job>`);
      const next = at + 2 < list.length ? at + 2 : null;
      response.end(
        `<?xml version="1.0"?><!-- a --><jobs xmlns:a="x" more="${next !== null}">${place(next)}${records.join('\n')}</jobs>\n`,
      );
    });
    const content = { format: 'xml', recordPath: 'jobs/job', totalPaths: [] } as const;
    const { reading, records } = await readPages(server.origin, { paging, content });
    expect(shortfallsOf(reading)).toEqual([]);
    expect([records.length, server.requests.length]).toEqual([5, 3]);
  });

  it.each<[string, string, number]>([
    ['another page that has one', '/?cursor=a', 2],
    ['a page that is shorter than asked for', '/?limit=2', 1],
  ])('has a proven end at a page without a place for the next one by %s', async (_, path, pages) => {
    const server = await serve(({ query }, response) => {
      const next = query.get('cursor') === 'a' ? { paging: { next: { after: 'b' } } } : {};
      sendJson(response, { jobs: jobs(query.get('cursor') === 'a' ? 2 : 1, 1), ...next });
    });
    const paging = { by: 'cursor', path: 'paging/next/after' } as const;
    const { reading } = await readPages(`${server.origin}${path}`, { paging });
    expect([shortfallsOf(reading), server.requests.length]).toEqual([[], pages]);
  });

  it.each<[string, Settings['paging'], 0 | 1]>([
    ['a cursor', { by: 'cursor' }, 0],
    ['a cursor', { by: 'cursor' }, 1],
    ['a flag', { by: 'page', more: 'more' }, 0],
    ['a flag', { by: 'page', more: 'more' }, 1],
  ])('asks twice for an empty page that follows by %s, and may then have %#', async (_, paging, then) => {
    const answers = [[1], [], then === 0 ? [] : [2]];
    const server = await serve((_request, response) => {
      const [own = []] = answers.splice(0, 1);
      sendJson(response, { jobs: own.map(job), next: own[0] === 1 ? 'a' : null, more: own[0] === 1 });
    });
    const { reading } = await readPages(server.origin, { paging });
    expect(server.requests).toHaveLength(3);
    expect(shortfallsOf(reading)).toEqual(then === 0 ? [] : [expect.stringMatching(/was empty at first/)]);
  });

  it('in XML has no proven end without a place for it', async () => {
    const server = await serve((_, response) => response.end('<jobs><job>1</job></jobs>'));
    const content = { format: 'xml', recordPath: 'jobs/job', totalPaths: [] } as const;
    const settings = { paging: { by: 'next', path: 'jobs/meta/next' }, content } as const;
    expect(shortfallsOf((await readPages(server.origin, settings)).reading)).toEqual([
      expect.stringMatching(/the page has no meta, where the link or cursor/),
    ]);
  });

  it.each([
    ['/?a=b%20c&finder=findReqs;siteNumber=CX_1&z', '/?a=b%20c&finder=findReqs;siteNumber=CX_1,limit=2,offset=2&z'],
    ['/?finder=find;offset=9,limit=7,x=%C3%A9', '/?finder=find;offset=2,limit=2,x=%C3%A9'],
    ['/?finder=find%3Boffset%3D9', '/?finder=find;offset=2,limit=2'],
    ['/?finder=', '/?finder=limit=2,offset=2'],
    ['/?finder:offset=9&finder=a', '/?finder:offset=2&finder=a;limit=2'],
  ])('may have its offset inside a parameter: %s', async (path, second) => {
    const server = await serve((request, response) => {
      const offset = Number(/offset=(\d+)/.exec(request.path)?.[1]);
      sendJson(response, { jobs: list.slice(offset, offset + 2), more: offset + 2 < list.length });
    });
    const size = { value: 2, parameter: 'finder:limit' };
    const paging = { by: 'offset', parameter: 'finder:offset', size, more: 'more' } as const;
    const { records } = await readPages(`${server.origin}${path}`, { paging });
    expect(records).toHaveLength(5);
    expect(decodeURIComponent(paths(server)[1] ?? '')).toBe(decodeURIComponent(second));
  });

  it('may be a table, with a header on each page and its end proven by the transport', async () => {
    const server = await serve(({ query }, response) => {
      const number = Number(query.get('page'));
      const rows = number > 2 ? '' : `\n${2 * number - 1},a\n${2 * number},b`;
      response.writeHead(200).end(`id,title${rows}`);
    });
    const table = { skipRows: 0, allowMissingCells: false, keyPaths: ['id'] };
    const content = { format: 'csv', recordPath: '', totalPaths: [], table } as const;
    const { reading, records } = await readPages(server.origin, { paging: { by: 'page' }, content });
    expect(shortfallsOf(reading)).toEqual([]);
    expect(records).toHaveLength(4);
  });

  it('is followed past a page with a broken record', async () => {
    const server = await serve(({ query }, response) => {
      const isFirst = !query.has('cursor');
      const bad = isFirst ? '{"id": "\\x"}' : '{"id": 4}';
      response.writeHead(200).end(`{"jobs": [\n{"id": 1},\n${bad},\n{"id": 3}\n], "next": ${isFirst ? '"b"' : null}}`);
    });
    const { records } = await readPages(server.origin, { paging: { by: 'cursor' } });
    expect(records).toHaveLength(6);
    expect(paths(server)).toEqual(['/', '/?cursor=b']);
  });

  it('keeps its credentials within the origin, and no message shows them', async () => {
    const server = await serve(({ query }, response) => {
      if (query.get('cursor') === '2') response.writeHead(403).end();
      else sendJson(response, { jobs: jobs(1, 1), next: 2 });
    });
    const credentials: HttpCredentials = {
      authorization: { kind: 'bearer', token: secret('t0ken') },
      query: { name: 'key', value: secret('s3cret') },
    };
    const { reading } = await readPages(server.origin, { paging: { by: 'cursor' }, credentials });
    expect(shortfallsOf(reading)).toEqual([
      `page 2: ${server.origin}/?… answered 403 Forbidden; check the credentials or headers of the feed`,
    ]);
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/?key=s3cret', 'Bearer t0ken'],
      ['/?cursor=2&key=s3cret', 'Bearer t0ken'],
    ]);
  });
});

describe('a list is not complete', () => {
  /** Answers with these pages, one after the other; the last one again and again. */
  const pagesOf = (pages: readonly object[]): Answer => {
    let at = 0;
    return (_request, response) => sendJson(response, pages[Math.min(at++, pages.length - 1)]);
  };
  const page = (from: number, count: number, extra: object = {}) => ({ jobs: jobs(from, count), ...extra });

  it.each<[string, Settings['paging'], readonly object[], RegExp, number]>([
    [
      'if its total changes',
      { by: 'page' },
      [page(1, 2, { total: 5 }), page(3, 2, { total: 4 })],
      /the total changed from 5 to 4 on page 2/,
      4,
    ],
    [
      'if its total changes back',
      { by: 'cursor' },
      [page(1, 1, { total: 3, next: 'a' }), page(2, 1, { total: 2, next: 'b' }), page(3, 1, { total: 3 })],
      /the total changed from 3 to 2 on page 2; the total changed from 2 to 3 on page 3/,
      3,
    ],
    [
      'if a page states no total',
      { by: 'cursor' },
      [page(1, 1, { total: 2, next: 'a' }), page(2, 1)],
      /page 2 states no total, although the first page states 2/,
      2,
    ],
    [
      'if only a later page states a total',
      { by: 'cursor' },
      [page(1, 1, { next: 'a' }), page(2, 1, { total: 2 })],
      /page 2 states a total of 2, which the first page does not/,
      2,
    ],
    [
      'if it ends before its total',
      { by: 'cursor' },
      [page(1, 2, { total: 4, next: 'a' }), page(3, 1, { total: 4 })],
      /states a total of 4 records, and its pages have 3/,
      3,
    ],
    [
      'if it has more than its total',
      { by: 'cursor' },
      [page(1, 2, { total: 3, next: 'a' }), page(3, 2, { total: 3 })],
      /states a total of 3 records, and its pages have 4/,
      4,
    ],
    [
      'if its total is 0 after the first page, unless that is known',
      { by: 'page' },
      [page(1, 1, { total: 2 }), page(2, 1, { total: 0 })],
      /the total changed from 2 to 0 on page 2/,
      2,
    ],
    [
      'if a page before its total is empty',
      { by: 'page' },
      [page(1, 2, { total: 4 }), page(3, 0, { total: 4 })],
      /states a total of 4 records, and its pages have 2/,
      2,
    ],
    [
      'if a page was empty only once',
      { by: 'page' },
      [page(1, 2), page(3, 0), page(3, 2), page(5, 0)],
      /page 3 was empty at first, and had records when it was asked for again/,
      4,
    ],
    [
      'if a page repeats another',
      { by: 'page' },
      [page(1, 2), page(3, 2), page(1, 2)],
      /page 3 has the same records as page 1: the source repeats pages/,
      4,
    ],
    [
      'if its links go round',
      { by: 'next' },
      [page(1, 1, { next: '/a' }), page(2, 1, { next: '/b' }), page(3, 1, { next: '/a' })],
      /page 3 leads back to a page that was already read/,
      3,
    ],
    [
      'if a link leads to another origin',
      { by: 'next' },
      [page(1, 1, { next: 'http://elsewhere.example/jobs?key=k' })],
      /said to be at another origin, http:\/\/elsewhere.example\/jobs\?…, which gets no credentials/,
      1,
    ],
    ['if a link is no address', { by: 'next' }, [page(1, 1, { next: 'http://' })], /is not an address/, 1],
    [
      'if a page has no place for the link',
      { by: 'next', path: 'meta/next' },
      [page(1, 1)],
      /the page has no meta, where the link or cursor of the next page should be \(meta\/next\)/,
      1,
    ],
    [
      'if a cursor cannot be read exactly',
      { by: 'cursor' },
      [{ jobs: jobs(1, 1), next: 2 ** 60 }],
      /\(next\) is neither a text nor a whole number that can be read exactly/,
      1,
    ],
    [
      'if a page does not say whether more follow',
      { by: 'page', more: 'meta/more' },
      [page(1, 1)],
      /does not say at meta\/more whether more pages follow/,
      1,
    ],
    [
      'if more pages follow, but it is not said where',
      { by: 'cursor', more: 'more' },
      [page(1, 1, { more: true })],
      /page 1 says that more pages follow, but not where/,
      1,
    ],
  ])('%s', async (_, paging, pages, message, count) => {
    const server = await serve(pagesOf(pages));
    const { reading, records } = await readPages(server.origin, { paging });
    expect(shortfallsOf(reading)).toEqual([expect.stringMatching(message)]);
    expect(records).toHaveLength(count);
  });

  it.each<[string, Partial<Paging>, number, number, RegExp | undefined]>([
    [
      'at a known cap',
      { cap: 30 },
      30,
      30,
      /has 30 records, and the source lists at most 30, .*sources, .*expect: \{ cap: none \}/,
    ],
    ['beyond a known cap', { cap: 30 }, 35, 35, /has 35 records, and the source lists at most 30/],
    ['below a known cap', { cap: 2_000 }, 1_000, 1_000, undefined],
    ['at a round number that the last page meets', {}, 1_000, 1_000, /ends at exactly 1000 records, a round number/],
    ['at a larger round number', {}, 5_000, 5_000, /ends at exactly 5000 records/],
    ['at a round number without a total', {}, 2_000, 0, /ends at exactly 2000 records/],
    ['at a round number that is known to be right', { cap: 'none' }, 1_000, 1_000, undefined],
    ['at another number', {}, 1_001, 1_001, undefined],
    ['at a small number', {}, 100, 100, undefined],
    [
      'at a known cap of a list that is asked for with POST',
      { cap: 30, body: { offset: '{offset}' } },
      30,
      30,
      /pages\.body/,
    ],
  ])('that ends %s', async (_, paging, count, total, message) => {
    const server = await serve(({ query, body }, response) => {
      const offset = body === '' ? Number(query.get('offset')) : JSON.parse(body).offset;
      const size = Math.max(0, Math.min(500, count - offset));
      sendJson(response, { jobs: jobs(offset, size), ...(total === 0 ? {} : { total }) });
    });
    const { reading, records } = await readPages(server.origin, { paging: { by: 'offset', ...paging } });
    expect(shortfallsOf(reading)).toEqual(message === undefined ? [] : [expect.stringMatching(message)]);
    expect(records).toHaveLength(count);
  });

  it.each<[string, Settings['paging'], readonly object[]]>([
    [
      'the total is 0 after the first page',
      { by: 'page', total: 'first_page' },
      [page(1, 1, { total: 2 }), page(2, 1, { total: 0 })],
    ],
    [
      'only the first page states the total',
      { by: 'cursor', total: 'first_page' },
      [page(1, 1, { total: 2, next: 'a' }), page(2, 1)],
    ],
    ['the last page has no place for the link', { by: 'next', path: 'meta/next' }, [page(1, 1, { total: 1 })]],
    [
      'the list of links has none to a next page',
      { by: 'next', path: 'a[rel=next]/href' },
      [page(1, 1, { a: [{ rel: 'x' }] })],
    ],
    ['there are no records at all', { by: 'page' }, [page(1, 0)]],
    ['the total is 0', { by: 'offset' }, [page(1, 0, { total: 0 })]],
  ])('unless it is known that %s', async (_, paging, pages) => {
    const server = await serve(pagesOf(pages));
    expect(shortfallsOf((await readPages(server.origin, { paging })).reading)).toEqual([]);
  });

  it('if it has a zip archive as a page', async () => {
    const archive = zipOf([{ name: 'a.json', content: JSON.stringify(page(1, 2)) }]);
    const server = await serve((_request, response) => void response.writeHead(200).end(archive));
    const { reading } = await readPages(server.origin, { paging: { by: 'page' } });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringContaining('the page is a zip archive') });
  });

  it('if it never ends', async () => {
    let at = 0;
    const server = await serve((_request, response) => sendJson(response, page(++at, 1, { next: at })));
    const { reading } = await readPages(server.origin, { paging: { by: 'cursor' }, limits: { maxPages: 7 } });
    expect(shortfallsOf(reading)).toEqual(['the list did not end within 7 pages; if it is that long, raise max_pages']);
    expect(server.requests).toHaveLength(7);
  });

  it.each<[string, Answer, RegExp]>([
    ['an HTML page', (_request, response) => void response.writeHead(200).end('<html><title>Login</title>'), /HTML/],
    [
      'a page that is cut',
      (_request, response) => void response.writeHead(200).end('{"jobs": [{"id": 7}'),
      /page 2: the document ends/,
    ],
    ['a page of other data', (_request, response) => sendJson(response, { error: 'gone' }), /page 2: .*jobs/],
    [
      '404',
      (_request, response) => void response.writeHead(404).end(),
      /page 2: .* answered 404 Not Found; check its address/,
    ],
    [
      'broken gzip',
      (_request, response) => void response.writeHead(200).end(gzipSync('{}').subarray(0, 12)),
      /page 2: the gzip data ends/,
    ],
    [
      'a page that is too large',
      (_request, response) => void response.writeHead(200).end(' '.repeat(1_000_001)),
      /page 2: a page is larger than the limit of 1000000/,
    ],
    [
      'a bomb',
      (_request, response) => void response.writeHead(200).end(gzipSync(' '.repeat(2_000_000))),
      /page 2: a page is larger than the limit/,
    ],
  ])('if a later page is %s', async (_, answer, message) => {
    const server = await serve((request, response) => {
      if (request.query.get('page') === '1') sendJson(response, page(1, 2));
      else answer(request, response);
    });
    const { reading, records } = await readPages(server.origin, { paging: { by: 'page' } });
    expect(shortfallsOf(reading).join('\n')).toMatch(message);
    expect(reading).toMatchObject({ kind: 'read' });
    expect(records.slice(0, 2)).toEqual(json(1, 2));
  });
});

describe('an address of the next page', () => {
  const start = new URL('https://ats.example/jobs?a=1');
  it.each([
    ['/jobs?page=2', 'https://ats.example/jobs?page=2'],
    ['?page=2#top', 'https://ats.example/jobs?page=2'],
    ['http://ats.example/jobs?page=2', 'https://ats.example/jobs?page=2'],
    ['http://ats.example:8080/jobs', undefined],
    ['https://ats.example.evil/jobs', undefined],
    ['https://user@ats.example:444/', undefined],
    ['//other.example/jobs', undefined],
    ['file:///etc/passwd', undefined],
    ['http://[', undefined],
  ])('%s', (link, expected) => {
    const address = () => nextUrl(link, start, start).href;
    if (expected === undefined) expect(address).toThrow(FeedReadingError);
    else expect(address()).toBe(expected);
  });

  it.each([
    ['<a>; rel="next"', 'a'],
    ['<a>; rel=prev, <b>;rel=next', 'b'],
    ['<a>; title="x, y; rel=next"; rel=prev, <b>; rel="last NEXT"', 'b'],
    ['<a?b=1,2;3>; rel=next', 'a?b=1,2;3'],
    ['<a>; rel=prev', undefined],
    ['<a>; title="<b>; rel=next"', undefined],
    ['<a>; title="say \\"next\\""; rel=next', 'a'],
    ["<a>; rel='next'", 'a'],
    ["<a>; rel='last next'", 'a'],
    ['<a>; rel="prev"; title=b c', undefined],
    [`<a>; rel="prev"; title='go to next page'`, undefined],
    ['', undefined],
  ])('in the header Link: %s', (header, expected) => {
    expect(nextLink(header)).toBe(expected);
  });

  it.each(['a; rel="next"', '<a>;; rel="next"', '<a>; title=b c; rel=next'])(
    'in the header Link, which does not prove the end of a list: %s',
    (header) => {
      expect(() => nextLink(header)).toThrow(FeedReadingError);
    },
  );
});

describe('a page', () => {
  const whole = JSON.stringify({ jobs: jobs(1, 2) });
  const failing = (times: number, fail: Answer): Answer => {
    let left = times;
    return (request, response) => {
      if (left-- > 0) fail(request, response);
      else response.writeHead(200).end(whole);
    };
  };
  it.each<[string, Answer]>([
    ['503', (_request, response) => void response.writeHead(503).end()],
    ['429 with a wait', (_request, response) => void response.writeHead(429, { 'retry-after': '0' }).end()],
    ['500', (_request, response) => void response.writeHead(500).end()],
    ['a reset connection', (_request, response) => void response.socket?.destroy()],
    [
      'half a body',
      (_request, response) => {
        response.writeHead(200, { 'content-length': whole.length });
        response.write(whole.slice(0, 9), () => response.socket?.destroy());
      },
    ],
  ])('is asked for again after %s, and its records come once', async (_, fail) => {
    const server = await serve(failing(2, fail));
    const { reading, records } = await readPages(server.origin, { paging: { by: 'cursor' } });
    expect([shortfallsOf(reading), records]).toEqual([[], json(1, 2)]);
    expect(server.requests).toHaveLength(3);
  });

  it('is asked for as often as allowed', async () => {
    const server = await serve(failing(9, (_request, response) => void response.writeHead(502).end()));
    const { reading } = await readPages(server.origin, { paging: { by: 'cursor' } });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringContaining('502 Bad Gateway') });
    expect(server.requests).toHaveLength(3);
  });

  it.each<[string, Answer, RegExp]>([
    ['400', (_request, response) => void response.writeHead(400).end(), /400 Bad Request$/],
    [
      'a longer wait than allowed',
      (_request, response) => void response.writeHead(429, { 'retry-after': '300' }).end(),
      /429 Too Many Requests; it may work again later; it asks to wait 300 s$/,
    ],
  ])('is not asked for again after %s', async (_, fail, message) => {
    const server = await serve(failing(9, fail));
    const { reading } = await readPages(server.origin, { paging: { by: 'cursor' } });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) });
    expect(server.requests).toHaveLength(1);
  });

  it('that hangs is asked for again, within its own time limit', async () => {
    const server = await serve(failing(1, () => undefined));
    const { reading } = await readPages(server.origin, {
      paging: { by: 'cursor' },
      limits: { firstByteTimeoutMs: 4_000 },
    });
    expect(shortfallsOf(reading)).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  it('is not asked for above the rate', async () => {
    const server = await serve(answerList);
    const began = performance.now();
    await readPages(server.origin, { paging: { by: 'cursor' }, limits: { requestsPerSecond: 10 } });
    // Three requests, of which the first need not wait. Not a time limit: the rate is a lower bound.
    expect(performance.now() - began).toBeGreaterThan(195);
  });

  it('is no longer waited for once the reading is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const server = await serve(() => controller.abort(reason));
    await expect(readPages(server.origin, { paging: { by: 'cursor' } }, controller.signal)).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});
