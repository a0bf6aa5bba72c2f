// Reading over HTTP: requests, accepted responses, redirects, and time limits.
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { versionOf } from '../../src/feed/source/http/request-resource.ts';
import { boundVersion } from '../../src/feed/source/request-digest.ts';
import type { Network } from '../../src/feed/source/source.ts';
import { freePort } from '../support/free-port.ts';
import { read, sourceOf } from './collect.ts';
import { headOf, type RawServer, respond, serveRaw } from './raw-server.ts';

const feed = Buffer.from('<source><job>1</job></source>');
const servers: RawServer[] = [];
const serve = async (...parameters: Parameters<typeof serveRaw>) => {
  const server = await serveRaw(...parameters);
  servers.push(server);
  return server;
};
const serveFeed = (headers: string[] = [], host?: string) =>
  serve((socket) => respond(socket, 'Content-Length', feed, feed.length, headers), host);
const serveStatus = (line: string, ...headers: string[]) =>
  serve((socket) => void socket.end(headOf(`HTTP/1.1 ${line}`, 'Content-Length: 0', ...headers)));
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

const secret = (value: string) => ({ reveal: () => value });

describe('conditional requests', () => {
  const request = '0123456789abcdef';
  const bound = (address: string, headers: Parameters<typeof versionOf>[1]) =>
    boundVersion(versionOf(new URL(address), headers), request);

  it('return a version only for a complete reading', async () => {
    const server = await serve((socket, path) =>
      respond(socket, 'Content-Length', feed, path === '/whole' ? 99 : feed.length - 1, [
        'ETag: "a"',
        'Last-Modified: Tue, 03 Mar 2026 10:00:00 GMT',
      ]),
    );
    const whole = await read({ location: `${server.origin}/whole` }, { request });
    const headers = { etag: '"a"', 'last-modified': 'Tue, 03 Mar 2026 10:00:00 GMT' };
    expect(whole.reading).toMatchObject({ version: bound(`${server.origin}/whole`, headers) });
    const cut = await read({ location: `${server.origin}/cut` }, { request });
    expect(cut.reading).toMatchObject({ kind: 'read', records: 1 });
    expect(cut.reading).toHaveProperty('version', undefined);
  });

  it('send them back and end with 304', async () => {
    const server = await serveStatus('304 Not Modified');
    const times = { 'last-modified': 'Tue, 03 Mar 2026 10:00:00 GMT', date: 'Tue, 03 Mar 2026 10:00:01 GMT' };
    const version = bound(server.origin, { etag: 'W/"a"', ...times });
    expect((await read({ location: server.origin }, { version, request })).reading).toEqual({ kind: 'not_modified' });
    expect(server.requests[0]).toMatch(/if-none-match: W\/"a"/i);
    expect(server.requests[0]).toMatch(/if-modified-since: Tue, 03/i);
    // Sources that use the npm package `fresh`, as Express does, answer no 304 to it.
    expect(server.requests[0]).not.toMatch(/no-cache/i);
  });

  it('get past a cache that takes its copy for fresh because the feed had not changed for long', async () => {
    // As Squid does, RFC 9111, 4.2.2 and 5.2.1.4.
    const cache = await serve((socket) => {
      if (/^cache-control: max-age=0/im.test(cache.requests.at(-1) ?? ''))
        return respond(socket, 'Content-Length', feed, feed.length, ['ETag: "2"']);
      return void socket.end(headOf('HTTP/1.1 304 Not Modified', 'ETag: "1"', 'Age: 86400', 'Content-Length: 0'));
    });
    const known = { version: bound(cache.origin, { etag: '"1"' }), request };
    expect((await read({ location: cache.origin }, known)).reading).toMatchObject({ kind: 'read', records: 1 });
    // The headers of the feed say otherwise.
    const headers = { 'Cache-Control': secret('max-stale') };
    expect((await read({ location: cache.origin, headers }, known)).reading).toEqual({ kind: 'not_modified' });
    expect(cache.requests.at(-1)?.match(/^cache-control: .*/gim)).toEqual(['cache-control: max-stale']);
  });

  it('do not send back a time at which the feed may have changed again', async () => {
    const modified = 'Last-Modified: Tue, 03 Mar 2026 10:00:00 GMT';
    const versionFrom = async (...headers: string[]) => {
      const server = await serveFeed([modified, ...headers]);
      const { reading } = await read({ location: server.origin }, { request });
      return reading.kind === 'read' ? reading.version : undefined;
    };
    expect(await versionFrom('Date: Tue, 03 Mar 2026 10:00:01 GMT')).toMatch(/"lastModified":"Tue, 03 Mar/);
    // Last-Modified counts whole seconds, and this one had not passed.
    expect(await versionFrom('Date: Tue, 03 Mar 2026 10:00:00 GMT')).toBeUndefined();
    expect(await versionFrom()).toBeUndefined();
    const marked = await versionFrom('Date: Tue, 03 Mar 2026 10:00:00 GMT', 'ETag: "a"');
    expect(marked).toContain('"etag":');
    expect(marked).not.toContain('lastModified');
  });

  it('send them only to the address that sent them, wherever redirects lead', async () => {
    let target = '/monday.xml';
    const server = await serve((socket, path) => {
      if (path === '/feed.xml') return void socket.end(headOf('HTTP/1.1 302 Found', `Location: ${target}`));
      return respond(socket, 'Content-Length', feed, feed.length, ['ETag: "1"']);
    });
    const first = await read({ location: `${server.origin}/feed.xml` }, { request });
    const version = first.reading.kind === 'read' ? first.reading.version : undefined;
    expect(version).toBe(bound(`${server.origin}/monday.xml`, { etag: '"1"' }));
    const conditional = async (location: string) => {
      const before = server.requests.length;
      await read({ location: `${server.origin}${location}` }, { version, request });
      return server.requests.slice(before).map((head) => [head.split(' ')[1], /if-none-match/i.test(head)]);
    };
    expect(await conditional('/feed.xml')).toEqual([
      ['/feed.xml', false],
      ['/monday.xml', true],
    ]);
    target = '/tuesday.xml';
    expect(await conditional('/feed.xml')).toEqual([
      ['/feed.xml', false],
      ['/tuesday.xml', false],
    ]);
    expect(await conditional('/monday.xml?again')).toEqual([['/monday.xml?again', false]]);
  });

  it('use the configured Accept header', async () => {
    const server = await serveFeed();
    await read({ location: server.origin, headers: { Accept: secret('application/vnd.jobs+xml') } });
    expect(server.requests[0]?.match(/^accept: .*/gim)).toEqual(['accept: application/vnd.jobs+xml']);
  });

  it('send nothing of a version that belongs to another request, or to none', async () => {
    const server = await serveFeed(['ETag: "1"']);
    const version = bound(server.origin, { etag: '"1"' });
    for (const other of [{ version, request: 'fedcba9876543210' }, { version }, { version: `${request} 1`, request }]) {
      expect((await read({ location: server.origin }, other)).reading).toMatchObject({ kind: 'read', records: 1 });
    }
    expect(server.requests).toHaveLength(3);
    expect(server.requests.join()).not.toMatch(/if-none-match/i);
  });

  it.each([
    [undefined],
    [bound('https://elsewhere.example/', {})],
    [bound('https://elsewhere.example/', { etag: '"a"' })],
  ])('refuse a 304 to an unconditional request (%s)', async (version) => {
    const server = await serveStatus('304 Not Modified');
    const { reading } = await read({ location: server.origin }, { version, request });
    expect(reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/304 Not Modified to an unconditional/),
    });
  });
});

describe('responses that are not a feed', () => {
  const cases: Record<string, [string, RegExp]> = {
    '404': ['404 Not Found', /\/jobs\?… answered 404 Not Found; check its address/],
    '401': ['401 Unauthorized', /401 Unauthorized; check the credentials/],
    '503': ['503 Service Unavailable', /503 Service Unavailable; it may work again later/],
    '204': ['204 No Content', /answered 204 No Content; an empty list/],
    '206': ['206 Partial Content', /answered 206 Partial Content; it sends a part of the list/],
    'a redirect without a target': ['302 Found', /without a valid Location/],
  };
  it.each(Object.entries(cases))('%s', async (_, [line, message]) => {
    const server = await serveStatus(line);
    const { reading } = await read({ location: `${server.origin}/jobs?key=s3cret` });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) });
    expect(JSON.stringify(reading)).not.toContain('s3cret');
  });

  it('an HTML page with status 200', async () => {
    const server = await serve((socket) =>
      respond(socket, 'chunked', Buffer.from('<!doctype html><html><title>Login</title>'), 1e9),
    );
    const { reading } = await read({ location: server.origin });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(/HTML where .* "Login"/) });
  });

  it('an empty body', async () => {
    const server = await serveStatus('200 OK');
    expect((await read({ location: server.origin })).reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/empty/),
    });
  });

  it('a content encoding that was not requested', async () => {
    const server = await serveFeed(['Content-Encoding: br']);
    expect((await read({ location: server.origin })).reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/"br"/),
    });
    expect(server.requests[0]).toMatch(/accept-encoding: gzip\r\n/i);
  });

  it('a port that nothing listens on', async () => {
    const { reading } = await read({ location: `http://127.0.0.1:${await freePort()}/a` });
    expect(reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/127\.0\.0\.1:\d+\/a can't be reached: .*ECONNREFUSED/),
    });
  });
});

describe('a document that says that another page follows', () => {
  const jobs = '[{"id":1,"next":"/2","has_more":true}]';
  it.each<[string, string, ('xml' | 'json' | 'json-ld')?, string[]?]>([
    ['a Link header', jobs, 'json', ['Link: </jobs?page=1>; rel="prev", </jobs?page=3>; rel="next"']],
    ['a Link header that cannot be read', jobs, 'json', ['Link: </jobs?page=3; rel="next"']],
    ['an address', `{"jobs":${jobs},"next":"https://a.example/jobs?page=2"}`],
    ['an address among links', `{"links":{"prev":null,"next":{"href":"/jobs?page=2"}},"jobs":${jobs}}`],
    ['an address of OData', `{"@odata.nextLink":"https://a.example/x?$skiptoken=1","jobs":${jobs}}`],
    [
      'an address of OData 2',
      `{"d":{"jobs":${jobs},"__next":"https://a.example/odata/v2/JobRequisition?$skiptoken=1"}}`,
    ],
    ['an address with a parameter in brackets', `{"found":{"jobs":${jobs},"next":"/jobs?page%5Bnumber%5D=2"}}`],
    ['a page of Spring', `{"jobs":${jobs},"totalPages":3,"totalElements":5,"number":0}`],
    ['a page of Spring that is not the last', `{"jobs":${jobs},"last":false,"number":0}`],
    ['a page of Spring Boot 3.3', `{"jobs":${jobs},"page":{"size":2,"number":0,"totalElements":5,"totalPages":3}}`],
    ['attributes', '<r page="1" pages="3"><job/></r>', 'xml'],
    ['an attribute with an address', '<r next="/feed?page=2"><job/></r>', 'xml'],
    ['a group without its second page', '<r><c page="1" pages="2"><job/></c></r>', 'xml'],
    ['a flag', `{"jobs":${jobs},"info":{"count":200,"more_records":true}}`],
    ['a link of Atom', '<feed><link rel="next" href="/feed?page=2"/><job/></feed>', 'xml'],
    ['an element', '<page><job/><next>/feed?page=2</next></page>', 'xml'],
    ['an address in a wrapper of paging', `{"data":{"jobs":${jobs},"paging":{"next":"/jobs?page=2"}}}`],
    ['an address beside the list', `{"data":{"jobs":${jobs},"next":"/jobs/2"}}`],
    ['an address of a page in a group', `{"found":{"jobs":${jobs},"next":"/jobs?page=2"}}`],
    ['a link to a page in a group', '<r><g><link rel="next" href="/g?page=2"/></g><job/></r>', 'xml'],
    ['a flag in a group', `{"found":{"jobs":${jobs},"meta":{"has_more":true}}}`],
    ['a flag beside its own address', `{"next":"/?#a","has_more":true,"jobs":${jobs}}`],
    ['an address of a page in info', `{"info":{"next":"/jobs?page=2"},"jobs":${jobs}}`],
    ['a flag as a number', `{"has_more":1,"jobs":${jobs}}`],
    ['a flag behind many counts', `{"meta":{"counts":"${'a'.repeat(9_000)}","has_more":true},"jobs":${jobs}}`],
    ['an odd list of links', `{"links":[{"rel":{"toString":1}},{"rel":["self","Next"],"href":"/2"}],"jobs":${jobs}}`],
    ['a list of links', `{"links":[{"rel":"self","href":"/"},{"href":"/jobs?page=2","rel":"next"}],"jobs":${jobs}}`],
    ['a relation in another case', '<feed><link rel="Next" href="/feed?page=2"/><job/></feed>', 'xml'],
    ['several relations', '<feed><link rel="last next" href="/feed?page=2"/><job/></feed>', 'xml'],
    ['the first of three pages', `{"current_page":1,"total_pages":3,"jobs":${jobs}}`],
    ['the first of three pages, from 0', `{"meta":{"page":0,"pages":3},"jobs":${jobs}}`],
    ['the first of three pages in a group', `{"jobs":${jobs},"meta":{"pagination":{"page":"1","last_page":"3"}}}`],
    ['as many records as it says that a page has', `{"page":"1","size":"1","maxErgebnisse":9,"jobs":${jobs}}`],
    ['as many records as it says that a page has, in XML', '<r start="0" per-page="1"><job/></r>', 'xml'],
    ['the first of three pages in XML', '<r><page>1</page><page_count>3</page_count><job/></r>', 'xml'],
  ])('is not complete: %s', async (_what, document, format = 'json', headers = []) => {
    const bytes = Buffer.from(document);
    const server = await serve((socket) => respond(socket, 'Content-Length', bytes, bytes.length, headers));
    const outer = /^\{"(data|found|d)"/.exec(document);
    const inner = document.startsWith('[') ? '' : outer === null ? 'jobs' : `${outer[1]}/jobs`;
    const recordPath = format === 'xml' ? (document.startsWith('<r><c') ? 'r/c/job' : '*/job') : inner;
    const { reading } = await read({ location: server.origin, format, recordPath });
    expect(reading).toMatchObject({ kind: 'read', records: 1, version: undefined });
    expect(reading).toMatchObject({ shortfalls: [expect.stringMatching(/set pages, .* or total, if/)] });
  });

  it.each<[string, string]>([
    ['WordPress', 'X-WP-Total: 12'],
    ['json-server', 'X-Total-Count: 12'],
    ['the gem api-pagination', 'Total: 12'],
    ['Yii', 'X-Pagination-Total-Count: 12'],
    ['PostgREST', 'Content-Range: 0-0/12'],
    ['Dojo', 'Content-Range: items 0-0/12'],
    ['ASP.NET', 'X-Pagination: {"TotalCount":12,"PageSize":1}'],
  ])('is not complete by its total in a header: %s', async (_what, header) => {
    const server = await serve((socket) => respond(socket, 'Content-Length', Buffer.from(jobs), jobs.length, [header]));
    const source = { location: server.origin, format: 'json', recordPath: '' } as const;
    const { reading } = await read(source);
    const name = header.slice(0, header.indexOf(':')).toLowerCase();
    const why = `the header ${name} states 12 records, but what was read has 1; set pages, so that the whole list is read, or set expect: { cap: none }`;
    expect(reading).toMatchObject({ shortfalls: [expect.stringContaining(why)], version: undefined });
    expect((await read({ ...source, listsAll: true })).reading).toMatchObject({ shortfalls: [] });
  });

  it.each([
    'X-Total-Count: 1',
    'X-WP-TotalPages: 12',
    'Content-Range: bytes 0-0/12',
    'Content-Range: 0-0/*',
    'Total: many',
  ])('may be complete with the header %s', async (header) => {
    const bytes = Buffer.from(jobs);
    const server = await serve((socket) => respond(socket, 'Content-Length', bytes, bytes.length, [header]));
    const { reading } = await read({ location: server.origin, format: 'json', recordPath: '' });
    expect(reading).toMatchObject({ records: 1, shortfalls: [] });
  });

  it.each<[string, string, ('xml' | 'json' | 'json-ld')?, string[]?]>([
    ['its end', `{"jobs":${jobs},"next":null,"has_more":false,"links":{"next":null,"self":"/jobs"}}`],
    ['a Link header to the page before', jobs, 'json', ['Link: </jobs?page=1>; rel="prev"']],
    ['other texts', `{"next":"Apply now","next_steps":"/apply","meta":{"more":"/about"},"jobs":${jobs}}`],
    ['its own address', `{"next":"/?#top","links":{"next":"/#top"},"jobs":${jobs}}`],
    ['its own address in a Link header', jobs, 'json', ['Link: </#a>; rel="next"']],
    ['its own address in Atom', '<feed><link rel="next" href=""/><job/></feed>', 'xml'],
    ['the last page of Spring', `{"jobs":${jobs},"last":true,"totalPages":1,"number":0,"links":{"last":false}}`],
    ['a number beside pages', `{"jobs":${jobs},"pages":3,"number":1}`],
    ['the numbers of two groups', '<r><c><pages>2</pages></c><c><page>1</page></c><job/></r>', 'xml'],
    ['all pages', '<r><c page="1" pages="2"/><c page="2" pages="2"/><job/></r>', 'xml'],
    ['a page that is not full', `{"page":1,"size":2,"jobs":${jobs}}`],
    ['a full page and its total', `{"start":0,"limit":1,"total":1,"jobs":${jobs}}`],
    ['the last page, which is full', `{"page":{"number":1,"limit":1},"next_page_url":null,"jobs":${jobs}}`],
    ['a size that is no limit', `{"start":0,"limit":25,"size":1,"isLastPage":true,"jobs":${jobs}}`],
    ['its only page', `{"current_page":1,"total_pages":1,"meta":{"page":0,"pages":1},"jobs":${jobs}}`],
    ['the page of another thing', `{"info":{"next":"/about"},"company":{"next":"/about"},"jobs":${jobs}}`],
    ['the next one of several groups', '<r><dept><next>/dept/2</next></dept><job/></r>', 'xml'],
    ['a long name among links', `{"meta":{"${'n'.repeat(200_000)}":1},"jobs":${jobs}}`],
    ['odd punctuation among links', `{"jobs":${jobs},"links":{"self":"/",},"info":[1,]}`],
    ['many links', `{"links":{"a":"${'a'.repeat(90_000)}","next":"/2"},"jobs":${jobs}}`],
    ['another element', '<page><link rel="self" href="/feed"/><more>/about</more><job/></page>', 'xml'],
    [
      'the next posting after the page of one',
      '<!doctype html><html><script type="application/ld+json">{"@type":"JobPosting","title":"Nurse"}</script></html>',
      'json-ld',
      ['Link: </jobs/2>; rel="next"'],
    ],
  ])('is complete at %s', async (_what, document, format = 'json', headers = []) => {
    const bytes = Buffer.from(document);
    const server = await serve((socket) => respond(socket, 'Content-Length', bytes, bytes.length, headers));
    const recordPath = format === 'xml' ? '*/job' : document.startsWith('[') ? '' : 'jobs';
    const { reading } = await read({ location: server.origin, format, recordPath });
    expect(reading).toMatchObject({ kind: 'read', records: 1, shortfalls: [] });
  });
});

it.each([
  ['limit=2', 2, 1],
  ['jobRecordsPerPage=2', 2, 1],
  ['%24top=2', 2, 1],
  ['page%5Bsize%5D=2', 2, 1],
  ['limit=3', 2, 0],
  ['limit=0&max=all&location=2', 2, 0],
])('an address with %s and %i records lacks %i times what may follow', async (query, count, lacks) => {
  const bytes = Buffer.from(JSON.stringify(Array.from({ length: count }, (_, id) => ({ id }))));
  const server = await serve((socket) => respond(socket, 'Content-Length', bytes, bytes.length));
  const { reading } = await read({ location: `${server.origin}/?${query}`, format: 'json', recordPath: '' });
  expect(reading).toMatchObject({
    records: count,
    shortfalls: Array(lacks).fill(expect.stringMatching(/its address asks for \(.*=2\).*set pages/)),
  });
});

it.each([
  ['of a list', 'jobs', '[{"next":"/dept/2","links":{"next":"/dept/2"},"jobs":[{"id":1}]}]'],
  ['around the list', 'company/jobs', '{"company":{"next":"/about","meta":{"next":"/about"},"jobs":[{"id":1}]}}'],
  [
    'that is the next page',
    'jobs',
    '[{"page":1,"pages":2,"more":true,"jobs":[{"id":1}]},{"page":2,"pages":2,"jobs":[]}]',
  ],
  ['from 0', 'jobs', '[{"page":1,"pages":2,"jobs":[{"id":1}]},{"page":0,"pages":2,"next":"/?page=1","jobs":[]}]'],
  [
    'in an outline',
    'jobs',
    '[{"meta":{"page":1,"pages":2,"next":"/?page=2"},"jobs":[{"id":1}]},{"meta":{"page":2,"pages":2},"jobs":[]}]',
  ],
  ['that is the only one', 'jobs', '[{"page":1,"jobs":[{"id":1}]},{"pages":2,"next":1,"jobs":[]}]'],
])('takes what follows a group %s for no page', async (_, recordPath, document) => {
  const bytes = Buffer.from(document);
  const server = await serve((socket) => respond(socket, 'Content-Length', bytes, bytes.length));
  const { reading } = await read({ location: server.origin, format: 'json', recordPath });
  expect(reading).toMatchObject({ kind: 'read', records: 1, shortfalls: [] });
});

it.each([
  '[{"jobs":[{"id":1}],"meta":{"page":1,"pages":2}}]',
  '[{"page":1,"pages":2,"jobs":[{"id":1}]},{"page":2,"pages":2,"jobs":[]},{"page":1,"pages":2,"jobs":[]}]',
  '[{"page":1,"pages":3,"jobs":[{"id":1}]},{"page":2,"pages":3,"jobs":[]}]',
  '[{"next":"/?page=2","jobs":[{"id":1}]},{"page":1,"pages":1,"jobs":[]}]',
  '[{"page":2,"pages":2,"next":"/?page=3","jobs":[{"id":1}]},{"page":1,"pages":2,"jobs":[]}]',
  '{"page":1,"hits":[{"page":1,"pages":1,"jobs":[{"id":1}]}],"pages":2}',
  '{"hits":[{"jobs":[{"id":1}],"hasMore":true}]}',
  '{"hits":[{"jobs":[{"id":1}]},{"jobs":[],"links":[{"rel":"next","href":"/jobs?page=2"}]}]}',
])('takes a page of a group that is not read for one: %s', async (document) => {
  const bytes = Buffer.from(document);
  const server = await serve((socket) => respond(socket, 'Content-Length', bytes, bytes.length));
  const recordPath = document.startsWith('[') ? 'jobs' : 'hits/jobs';
  const { reading } = await read({ location: server.origin, format: 'json', recordPath });
  expect(reading).toMatchObject({
    kind: 'read',
    records: 1,
    shortfalls: [
      expect.stringMatching(
        document.startsWith('{"page"') ? /not read; set pages/ : /not read; get a document with all/,
      ),
    ],
  });
});

it.each([
  ['a total', 'total', 1, true],
  ['a total that may be a cap', 'total', 5, false],
  ['a count, which may be that of the page', 'count', 1, false],
])('with a next page, %s that is met shows whether the list is complete', async (_, name, count, isComplete) => {
  const jobs = Array.from({ length: count }, (_each, id) => ({ id }));
  const bytes = Buffer.from(JSON.stringify({ [name]: count, next: '/jobs?page=2', jobs }));
  const server = await serve((socket) => respond(socket, 'Content-Length', bytes, bytes.length));
  const { reading } = await read({ location: server.origin, format: 'json', recordPath: 'jobs', totalPaths: [name] });
  const lacks = [
    expect.stringMatching(/^the document says at next .* set pages, .*; the total that is met may be that of the page/),
  ];
  expect(reading).toMatchObject({ records: count, shortfalls: isComplete ? [] : lacks });
});

describe('gzip', () => {
  const once = gzipSync(feed);
  it.each([
    ['with its header', once, ['Content-Encoding: gzip']],
    ['as a file, without a header', once, []],
    ['a compressed file, compressed again in transfer', gzipSync(once), ['Content-Encoding: gzip']],
    ['with a header, but a plain body', feed, ['Content-Encoding: gzip']],
  ])('%s', async (_, body, headers) => {
    const server = await serve((socket) => respond(socket, 'Content-Length', body, body.length, headers));
    const { reading } = await read({ location: server.origin });
    expect(reading).toMatchObject({ kind: 'read', records: 1, shortfalls: [], bytes: feed.length });
  });
});

it('reports its progress against the compressed length', async () => {
  const body = gzipSync(feed);
  const server = await serve((socket) => respond(socket, 'Content-Length', body, body.length));
  const seen: unknown[] = [];
  await read({ location: server.origin }, { onProgress: (progress) => seen.push(progress) });
  expect(seen.at(-1)).toEqual({
    bytes: feed.length,
    compressedBytes: body.length,
    records: 1,
    totalCompressedBytes: body.length,
  });
});

describe('redirects', () => {
  /** 127.0.0.1 acts as a public address, 127.0.0.2 as a private one; every name resolves to one of them. */
  const network = (names: Record<string, string> = {}): Network => ({
    isPrivate: (address) => address === '127.0.0.2',
    lookup: (hostname, options, callback) => {
      const address = names[hostname] ?? '127.0.0.2';
      if (options.all) callback(null, [{ address, family: 4 }]);
      else callback(null, address, 4);
    },
  });
  const redirectTo = (location: string) => serveStatus('302 Found', `Location: ${location}`);

  it('are followed, including relative ones', async () => {
    const server = await serve((socket, path) => {
      if (path === '/new/feed') respond(socket, 'Content-Length', feed, feed.length);
      else socket.end(headOf('HTTP/1.1 301 Moved Permanently', 'Location: new/feed', 'Content-Length: 0'));
    });
    expect((await read({ location: `${server.origin}/old` })).reading).toMatchObject({ kind: 'read', records: 1 });
  });

  it('end after the limit', async () => {
    const server = await redirectTo('/again');
    const { reading } = await read({ location: server.origin, maxRedirects: 3 });
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(/again after 3 redirects/) });
    expect(server.requests).toHaveLength(4);
  });

  it.each([['ftp://127.0.0.1/'], ['file:///etc/passwd']])('to %s are refused', async (target) => {
    const server = await redirectTo(target);
    expect((await read({ location: server.origin })).reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/only|redirects to/),
    });
  });

  it('from a public host to a private address are refused before connecting', async () => {
    const inside = await serveFeed([], '127.0.0.2');
    const port = new URL(inside.origin).port;
    for (const target of [inside.origin, `http://inside.example:${port}/`]) {
      const server = await redirectTo(target);
      const { reading } = await read({ location: server.origin }, { network: network() });
      expect(reading).toMatchObject({
        kind: 'failed',
        message: expect.stringMatching(/address that is not public; .*allow_private_redirects/),
      });
    }
    expect(inside.requests).toEqual([]);
  });

  it('to a private address are followed if allowed, or if the configured host itself is private', async () => {
    const inside = await serveFeed([], '127.0.0.2');
    const server = await redirectTo(inside.origin);
    const allowed = await read({ location: server.origin, allowPrivateRedirects: true }, { network: network() });
    expect(allowed.reading).toMatchObject({ kind: 'read', records: 1 });
    const privateAtFirst = await read(
      { location: server.origin },
      { network: { ...network(), isPrivate: () => true } },
    );
    expect(privateAtFirst.reading).toMatchObject({ kind: 'read', records: 1 });
  });

  it('to a name that resolves to another address the second time are refused (DNS rebinding)', async () => {
    const server = await serveStatus('302 Found', 'Location: /again');
    let lookups = 0;
    const rebinding: Network = {
      ...network(),
      lookup: (hostname, options, callback) =>
        network({ [hostname]: lookups++ === 0 ? '127.0.0.1' : '127.0.0.2' }).lookup(hostname, options, callback),
    };
    const { reading } = await read(
      { location: `http://feed.example:${new URL(server.origin).port}` },
      { network: rebinding },
    );
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(/not public/) });
    expect(server.requests).toHaveLength(1);
  });

  it('carry headers and credentials only within the same origin', async () => {
    const elsewhere = await serveFeed();
    const server = await serve((socket, path) => {
      const location = path === '/first' ? '/second' : elsewhere.origin;
      socket.end(headOf('HTTP/1.1 307 Temporary Redirect', `Location: ${location}`, 'Content-Length: 0'));
    });
    const location = `${server.origin.replace('://', '://user:p%40ss@')}/first`;
    const { reading } = await read({ location, headers: { 'X-Api-Key': secret('k3y') } });
    expect(reading).toMatchObject({ kind: 'read', records: 1 });
    expect(server.requests).toHaveLength(2);
    for (const request of server.requests) {
      expect(request).toMatch(/x-api-key: k3y/i);
      expect(request).toContain(Buffer.from('user:p@ss').toString('base64'));
    }
    expect(elsewhere.requests[0]).not.toMatch(/k3y|authorization/i);
  });
});

describe('reading time', () => {
  const head = headOf('HTTP/1.1 200 OK', 'Connection: close');

  it('is limited until the first byte', async () => {
    const server = await serve((socket) => void socket.write(head));
    const { reading } = await read({ location: server.origin, limits: { firstByteTimeoutMs: 50 } });
    expect(reading).toMatchObject({ kind: 'failed', message: 'no data arrived within 0.05 s' });
  });

  it('may be longer after the first byte', async () => {
    const server = await serve((socket) => {
      socket.write(Buffer.concat([head, feed.subarray(0, 20)]));
      setTimeout(() => socket.end(feed.subarray(20)), 4_500);
    });
    const { reading } = await read({ location: server.origin, limits: { firstByteTimeoutMs: 4_000 } });
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [] });
  });

  it('is limited for the response head', async () => {
    const server = await serve(() => undefined);
    const { reading } = await read({ location: server.origin, limits: { firstByteTimeoutMs: 50 } });
    expect(reading).toMatchObject({ kind: 'failed', message: 'no data arrived within 0.05 s' });
  });

  it('is limited in total', async () => {
    const server = await serve((socket) => void socket.write(Buffer.concat([head, feed.subarray(0, 20)])));
    const { reading } = await read({ location: server.origin, limits: { totalTimeoutMs: 4_000 } });
    expect(reading).toMatchObject({
      kind: 'read',
      records: 1,
      shortfalls: ['reading took longer than 4 s', expect.anything()],
    });
  });

  it('is limited by a minimum rate', async () => {
    const server = await serve((socket) => {
      socket.write(head);
      // Never a whole record.
      const drip = setInterval(() => socket.write(' '), 10);
      socket.on('close', () => clearInterval(drip));
    });
    const { reading } = await read(
      { location: server.origin, limits: { minBytesPerSecond: 10_000 } },
      { rateWindowMs: 60 },
    );
    expect(reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/only \d+ bytes arrived in 0\.06 s/),
    });
  });

  it('spent by the reader does not count against the source', async () => {
    const server = await serveFeed();
    const drains: Promise<void>[] = [];
    const { readFeed } = await import('../../src/feed/read-feed.ts');
    const reading = await readFeed(
      sourceOf({ location: server.origin, limits: { minBytesPerSecond: 10 } }),
      {
        take: () => undefined,
        drain: () => {
          const pause = new Promise<void>((resolve) => setTimeout(resolve, 1_000));
          drains.push(pause);
          return pause;
        },
      },
      { signal: new AbortController().signal, threadsFromBytes: Number.POSITIVE_INFINITY, rateWindowMs: 400 },
    );
    expect(drains.length).toBeGreaterThan(0);
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [] });
  });

  it('ends with the abort reason', async () => {
    const server = await serve(
      (socket) => void socket.write(Buffer.concat([head, Buffer.from(`<source>${' '.repeat(2_000)}`)])),
    );
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = read(
      { location: server.origin },
      { signal: controller.signal, onProgress: () => controller.abort(reason) },
    );
    await expect(reading).rejects.toBe(reason);
  });
});
