// Pages as feeds: over HTTP, several of them, in other encodings, and cut.
import { Readable } from 'node:stream';
import iconv from 'iconv-lite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readFeed } from '../../../src/feed/read-feed.ts';
import { startClock } from '../../../src/feed/reading-clock.ts';
import type { SingleConfig } from '../../../src/feed/source/sources.ts';
import { firstOf, leavesOut } from '../../support/extent.ts';
import { collect, isComplete, read, sourceOf } from '../collect.ts';
import { serveWeb, type WebServer } from '../web-server.ts';

const posting = (title: string): string =>
  `<script type="application/ld+json">{"@type":"JobPosting","title":"${title}"}</script>`;
const page = (body: string): string => `<!doctype html><html><body>${body}</body></html>`;

let server: WebServer;
let answer: { status?: number; headers?: Record<string, string>; body: string | Buffer };
let requests: { headers: NodeJS.Dict<string | string[]> }[] = [];
beforeEach(async () => {
  requests = [];
  server = await serveWeb((request, response) => {
    requests.push(request);
    response.writeHead(answer.status ?? 200, { 'Content-Type': 'text/html', ...answer.headers });
    response.end(answer.body);
  });
});
afterEach(() => server.close());

const readPage = (settings: object = {}, context: object = {}) =>
  read({ location: `${server.origin}/jobs/1`, format: 'json-ld', recordPath: '', ...settings }, context);

test('a page is a feed', async () => {
  answer = { body: page(posting('Nurse')) };
  const { reading, records } = await readPage();
  expect(isComplete(reading)).toBe(true);
  expect(records).toEqual([`{"page":{"address":"${server.origin}/jobs/1"},"@type":"JobPosting","title":"Nurse"}`]);
});

test('a page is always requested, as postings expire while it stays the same', async () => {
  answer = { body: page(posting('Nurse')), headers: { ETag: '"1"' } };
  const { reading } = await readPage({}, { request: 'r' });
  const version = reading.kind === 'read' ? reading.version : undefined;
  expect(version).toBeDefined();
  await readPage({}, { request: 'r', version });
  expect(requests[1]?.headers['if-none-match']).toBeUndefined();
});

test("a posting expires by the reading's clock and the source's, also in a thread", async () => {
  const now = Date.now();
  const hourMs = 3_600_000;
  const dated = (date: number, age?: string) => ({
    headers: { Date: new Date(date).toUTCString(), ...(age === undefined ? {} : { Age: age }) },
    body: page(posting('Nurse').replace('}', `,"validThrough":"${new Date(now - hourMs).toISOString()}"}`)),
  });
  const cases: [object, number, { readonly isExpired: boolean; readonly isCertain: boolean }][] = [
    [dated(now), now, { isExpired: true, isCertain: true }],
    [dated(now - 2 * hourMs), now - 2 * hourMs, { isExpired: false, isCertain: true }],
    [dated(now - 2 * hourMs), now, { isExpired: true, isCertain: false }],
    [dated(now), now - 2 * hourMs, { isExpired: true, isCertain: false }],
    // A cache has kept it for two hours.
    [dated(now - 2 * hourMs, '7200'), now, { isExpired: true, isCertain: true }],
    [dated(now - 2 * hourMs, 'x'), now, { isExpired: true, isCertain: false }],
    // A clock that was never set says nothing.
    [dated(0), now, { isExpired: true, isCertain: true }],
  ];
  for (const [at, [answered, time, expected]] of cases.entries()) {
    answer = answered as typeof answer;
    for (const threadsFromBytes of leavesOut(at, 1, 21) ? [1_000_000] : [1_000_000, 50]) {
      const { reading, records } = await readPage({}, { clock: startClock(time), threadsFromBytes });
      const isExpired = records[0]?.includes('"expired":true') === true;
      expect({ isExpired, isCertain: isComplete(reading) }).toEqual(expected);
    }
  }
});

test('an error page and one that is cut are not complete', async () => {
  answer = { body: page('<h1>Something went wrong</h1>') };
  expect(isComplete((await readPage()).reading)).toBe(false);
  answer = { body: page(posting('Nurse')).slice(0, -20) };
  expect(isComplete((await readPage()).reading)).toBe(false);
  answer = { status: 503, body: '' };
  expect((await readPage()).reading.kind).toBe('failed');
});

test('a relative address starts from the requested one, whatever the page states about itself', async () => {
  const job = (url: string) => `<script type="application/ld+json">{"@type":"JobPosting","url":"${url}"}</script>`;
  const canonical = '<link rel="canonical" href="https://www.acme.example/other/1">';
  const addressesOf = (records: readonly string[]) =>
    records.map((record) => (JSON.parse(record) as { page: { address: string } }).page.address);
  const location = `${server.origin}/jobs/1?token=zq-secret`;
  const expected = [`${server.origin}/jobs/4`, `${server.origin}/jobs/5`];
  for (const [at, more] of ['', canonical].entries()) {
    answer = { body: page(`${more}${job('4')}${job('/jobs/5')}`) };
    expect(addressesOf((await readPage({ location })).records)).toEqual(expected);
    if (leavesOut(at, 1, 2)) continue;
    // Split in a thread.
    expect(addressesOf((await readPage({ location }, { threadsFromBytes: 50 })).records)).toEqual(expected);
  }
  answer = { body: '[{"@type":"JobPosting","url":"4"},{"@type":"JobPosting","url":"/jobs/5"}]' };
  expect(addressesOf((await readPage({ location })).records)).toEqual(expected);
});

test('a posting without an address has that of the request, whatever the page states about itself', async () => {
  const stated = '<link rel="canonical" href="https://www.acme.example/1"><meta property="og:url" content="/1">';
  const pagesOf = ({ records }: { readonly records: readonly string[] }) =>
    records.map((record) => (JSON.parse(record) as { page?: object }).page);
  const from = {
    ...sourceOf({ location: `${server.origin}/job?id=7&token=zq-secret` }).from,
    publicAddress: `${server.origin}/job?id=7`,
  } as SingleConfig;
  const source = { ...sourceOf({ location: '-', format: 'json-ld', recordPath: '' }), from };
  for (const [at, body] of [page(posting('Nurse')), page(stated + posting('Nurse'))].entries()) {
    answer = { body };
    for (const threadsFromBytes of leavesOut(at, 1, 2) ? [1_000_000] : [1_000_000, 50]) {
      const sink = collect();
      await readFeed(source, sink, { signal: new AbortController().signal, threadsFromBytes });
      expect(pagesOf(sink)).toEqual([{ address: `${server.origin}/job?id=7` }]);
    }
  }
  // A document is no page of its postings.
  answer = { body: '[{"@type":"JobPosting","title":"Nurse"}]' };
  expect(pagesOf(await readPage())).toEqual([undefined]);
});

test('a relative address starts from that of its own document', async () => {
  const body = '[{"@type":"JobPosting","url":"4"}]';
  answer = { body };
  const { from, ...settings } = sourceOf({ location: `${server.origin}/a/`, format: 'json-ld', recordPath: '' });
  const members = [from, { ...from, url: `${server.origin}/b/` }, { kind: 'stdin' }] as SingleConfig[];
  const limits = { firstByteTimeoutMs: 30_000, minBytesPerSecond: 1 };
  const source = { ...settings, from: { kind: 'several', members, limits } as const };
  for (const threadsFromBytes of firstOf([40, 1_000, 1], 2)) {
    const sink = collect();
    const stdin = Readable.from([Buffer.from(body)]);
    const reading = await readFeed(source, sink, { signal: new AbortController().signal, threadsFromBytes, stdin });
    expect(reading).toMatchObject({ kind: 'read', records: 3 });
    const addresses = sink.records.map((record) => (JSON.parse(record) as { page: { address: string } }).page.address);
    expect(addresses).toEqual([`${server.origin}/a/4`, `${server.origin}/b/4`, '4']);
  }
});

describe('the encoding', () => {
  const text = (meta: string): string =>
    `<!DOCTYPE html>\n<html><head>${meta}</head>${posting('Pfleger in Zürich')}</html>`;
  test.each([
    ['of the page', '<meta charset="windows-1252">', {}],
    ['of the page, in the old form', '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">', {}],
    ['of the header', '<meta charset="utf-8">', { 'Content-Type': 'text/html; charset=windows-1252' }],
  ])('%s', async (_, meta, headers) => {
    answer = { body: iconv.encode(text(meta), 'windows-1252'), headers };
    const [record = '{}'] = (await readPage()).records;
    expect(JSON.parse(record)).toMatchObject({ title: 'Pfleger in Zürich' });
  });
});
