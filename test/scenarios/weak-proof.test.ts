// Feeds whose end only a proxy may have proven: a delete needs two answers that cannot be the same cached one.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { serveWeb, type WebServer } from '../feed/web-server.ts';
import { zipOf } from '../feed/zip-writer.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const CSV = `{
      type: csv, key: id,
      fields: { number: id, title: title, location-state: { from: state, as: us_state } }
    }`;
const LINES = CSV.replace('csv', 'jsonl');

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `j${at + 1}`);
const table = (list: readonly string[]): string =>
  `id,title,state\n${list.map((id) => `${id},Nurse ${id},MA\n`).join('')}`;
const lines = (list: readonly string[]): string =>
  list.map((id) => `${JSON.stringify({ id, title: `Nurse ${id}`, state: 'MA' })}\n`).join('');

let mirror: Mirror;
let source: WebServer;
let answer: (response: ServerResponse) => void;
beforeEach(async () => {
  source = await serveWeb((_request, response) => answer(response));
});
afterEach(async () => {
  await mirror.close();
  await source.close();
});

const open = async (format = CSV, settings: Record<string, string> = {}) => {
  mirror = await openMirror({
    feed: {
      source: `${source.origin}/jobs`,
      format,
      delete_guard: '{ percent: 100, count: 100 }',
      ...settings,
    },
  });
};

/** Sends in chunks, as a server or proxy does that does not know the length. */
const inChunks =
  (content: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(200, headers);
    response.write(content);
    response.end();
  };
const withLength =
  (content: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-length': Buffer.byteLength(content), ...headers }).end(content);

/** The last weakly proven pull was longer ago. */
const later = async (minutes: number): Promise<void> => {
  await mirror.query(`update feed_state set weak_at = weak_at - make_interval(mins => $1)`, [minutes]);
};
const keys = async (): Promise<string[]> => [...(await mirror.siteJobs()).keys()].sort();

const WEAK = /its end is proven only weakly/;

it.each([
  ['a table', CSV, table],
  ['JSON Lines', LINES, lines],
])('%s in chunks deletes only after an hour, and says so', async (_, format, write) => {
  await open(format);
  answer = inChunks(write(ids(8)));
  expect(await mirror.sync()).toMatchObject({ complete: true, created: 8, weak: expect.stringMatching(WEAK) });
  answer = inChunks(write(ids(4)));
  expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 0, gone: 4, grace: 4 });
  expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 0, gone: 4, grace: 4 });
  await later(50);
  expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 0, gone: 4, grace: 4 });
  await later(10);
  expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 4, gone: 4, grace: 0 });
  expect(await keys()).toEqual(ids(4));
});

it('half a feed from a cache deletes nothing, and the whole one changes nothing', async () => {
  await open();
  answer = inChunks(table(ids(8)));
  await mirror.sync();
  answer = inChunks(table(ids(4)));
  for (let pull = 0; pull < 3; pull++) expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 4 });
  answer = inChunks(table(ids(8)));
  expect(await mirror.sync()).toMatchObject({ deleted: 0, gone: 0, unchanged: 8, requests: 0 });
  // The count starts anew.
  answer = inChunks(table(ids(4)));
  await later(120);
  expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 4 });
});

it('a posting that is missing later needs two answers of its own', async () => {
  await open();
  answer = inChunks(table(ids(8)));
  await mirror.sync();
  answer = inChunks(table(ids(7)));
  expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 1 });
  await later(59);
  answer = inChunks(table(ids(6)));
  expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 2 });
  await later(2);
  expect(await mirror.sync()).toMatchObject({ deleted: 1, grace: 1 });
  expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 1 });
  await later(61);
  expect(await mirror.sync()).toMatchObject({ deleted: 1, grace: 0 });
  expect(await keys()).toEqual(ids(6));
});

describe('without a wait', () => {
  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['another ETag', { etag: '"a"' }, { etag: '"b"' }],
    [
      'another Last-Modified',
      { 'last-modified': 'Mon, 02 Nov 2026 13:00:00 GMT' },
      { 'last-modified': 'Mon, 02 Nov 2026 13:05:00 GMT' },
    ],
    ['a younger Age', { age: '300' }, { age: '2' }],
    ['an Age that it cannot have reached', { age: '3' }, { age: '4000' }],
  ])('%s is another answer', async (_, first, second) => {
    await open();
    answer = inChunks(table(ids(8)), { ...first, date: 'Mon, 02 Nov 2026 14:00:00 GMT' });
    await mirror.sync();
    answer = inChunks(table(ids(4)), first);
    expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 4 });
    expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 4 });
    answer = inChunks(table(ids(4)), second);
    expect(await mirror.sync()).toMatchObject({ deleted: 4, grace: 0 });
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['the same ETag, compressed', { etag: '"a"' }, { etag: 'W/"a-gzip"' }],
    ['an ETag that was not there', {}, { etag: '"a"' }],
    ['an Age that has grown', { age: '3' }, { age: '10' }],
  ])('%s is none', async (_, first, second) => {
    await open();
    answer = inChunks(table(ids(8)));
    await mirror.sync();
    answer = inChunks(table(ids(4)), first);
    await mirror.sync();
    answer = inChunks(table(ids(4)), second);
    expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 4 });
  });
});

describe('the source itself proves the end', () => {
  it.each<[string, (list: readonly string[]) => (response: ServerResponse) => void, string?]>([
    ['by a length', (list) => withLength(table(list))],
    [
      "by the length of one of Apache's files",
      (list) => withLength(table(list), { server: 'Apache', 'accept-ranges': 'bytes' }),
    ],
    ['by a length of a compressed file', (list) => withLength(gzipSync(table(list)))],
    ['by a compressed file in chunks', (list) => inChunks(gzipSync(table(list)))],
    ['of XML, in chunks', (list) => inChunks(xml(list)), 'xml'],
  ])('%s', async (_, write, format) => {
    await open(format === 'xml' ? XML : CSV);
    answer = write(ids(8));
    expect(await mirror.sync()).toMatchObject({ created: 8, complete: true });
    answer = write(ids(4));
    const report = await mirror.sync();
    expect(report).toMatchObject({ deleted: 4, complete: true });
    expect(report).not.toHaveProperty('weak');
  });
});

describe('a proxy may have proven the end', () => {
  it.each<[string, (content: string) => (response: ServerResponse) => void]>([
    ['by gzip that it added', (content) => inChunks(gzipSync(content), { 'content-encoding': 'gzip' })],
    ['by the length of what it compressed', (content) => withLength(gzipSync(content), { 'content-encoding': 'gzip' })],
    ['by the length of what it had in its cache', (content) => withLength(content, { age: '7' })],
    [
      'by the length that lighttpd counted',
      (content) => withLength(content, { server: 'lighttpd/1.4.69', 'accept-ranges': 'bytes' }),
    ],
    ['by the length that Apache counted', (content) => withLength(content, { server: 'Apache/2.4.71 (Debian)' })],
    ['by the length of what it relayed', (content) => withLength(content, { via: '1.1 varnish' })],
    [
      'by closing',
      (content) => (response) =>
        void response.writeHead(200, { connection: 'close', 'transfer-encoding': 'identity' }).end(content),
    ],
  ])('%s', async (_, write) => {
    await open();
    answer = write(table(ids(8)));
    expect(await mirror.sync()).toMatchObject({ created: 8, complete: true, weak: expect.stringMatching(WEAK) });
    answer = write(table(ids(4)));
    await mirror.sync();
    expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 4 });
  });
});

it('counts from its first pull, whatever was counted before', async () => {
  await open();
  answer = inChunks(table(ids(8)));
  await mirror.sync();
  await mirror.query(`update mapping set missing_pulls = 1 where key = 'j8'`);
  answer = inChunks(table(ids(7)));
  expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 1 });
  await later(61);
  expect(await mirror.sync()).toMatchObject({ deleted: 1 });
});

it('needs every one of several answers to be another one', async () => {
  let marks = ['"a"', '"x"'];
  const list = { a: ids(4), b: ['k1', 'k2'] };
  await source.close();
  source = await serveWeb(({ path }, response) => {
    const isFirst = path === '/a';
    inChunks(table(isFirst ? list.a : list.b), { etag: (isFirst ? marks[0] : marks[1]) as string })(response);
  });
  mirror = await openMirror({
    feed: {
      source: undefined as unknown as string,
      sources: `["${source.origin}/a", "${source.origin}/b"]`,
      format: CSV,
      delete_guard: '{ percent: 100, count: 100 }',
    },
  });
  await mirror.sync();
  list.b = ['k1'];
  expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 1 });
  marks = ['"b"', '"x"'];
  expect(await mirror.sync()).toMatchObject({ deleted: 0, grace: 1 });
  marks = ['"c"', '"y"'];
  expect(await mirror.sync()).toMatchObject({ deleted: 1, grace: 0 });
});

const XML = `{
      type: xml, records: jobs/job, key: id,
      fields: { number: id, title: title, location-state: { from: state, as: us_state } }
    }`;
const xml = (list: readonly string[]): string =>
  `<jobs>${list.map((id) => `<job><id>${id}</id><title>Nurse ${id}</title><state>MA</state></job>`).join('')}</jobs>`;

describe('a source that returns older copies of the feed', () => {
  const copy = (titles: Record<string, string>): string =>
    `<jobs>${Object.entries(titles)
      .map(([id, title]) => `<job><id>${id}</id><title>${title}</title><state>MA</state></job>`)
      .join('')}</jobs>`;
  const rest = { j1: 'Nurse', j2: 'Cook', j3: 'Driver' };
  const copies: Record<string, string> = {
    A: copy({ ...rest, x: 'Porter', e: 'Clerk' }),
    B: copy({ ...rest, y: 'Baker', e: 'Head clerk' }),
    C: copy({ ...rest, y: 'Baker', e: 'Head clerk', z: 'Smith' }),
  };
  const pull = async (
    names: string,
    headers: Record<string, string> = {},
    pack = (content: string | Buffer) => content,
  ) => {
    const reports = [];
    for (const name of names) {
      answer = withLength(pack(copies[name] as string), headers);
      reports.push(await mirror.sync());
    }
    return reports;
  };
  const sums = (reports: Awaited<ReturnType<typeof pull>>) =>
    (['created', 'updated', 'deleted'] as const).map((count) =>
      reports.reduce((sum, report) => sum + report[count], 0),
    );

  const CACHED = { 'x-cache': 'HIT' };
  const zipped = (content: string | Buffer) => zipOf([{ name: 'jobs.xml', content }]);
  it.each([
    ['each in turn', CACHED, 'ABABABABABAB', [7, 3, 1]],
    ['twice each', CACHED, 'AABBAABBAABBAABB', [8, 3, 2]],
    ['in any order', CACHED, 'ABBABAABAABABBBAABAB', [7, 3, 1]],
    ['each in turn, without a sign of a cache', {}, 'ABABABABABAB', [9, 3, 3]],
    ['each in turn, as archives', CACHED, 'ABABABABABAB', [7, 3, 1], zipped],
  ])('%s: soon deletes and changes nothing any more', async (_, headers, order, expected, pack = undefined) => {
    await open(XML);
    expect(sums(await pull(order, headers, pack))).toEqual(expected);
    expect(sums(await pull(order, headers, pack))).toEqual([0, 0, 0]);
    // The newest copy counts at once for what it changes, and for what is gone once it has come often enough.
    const [first, ...others] = await pull('CCCCCCCC', headers);
    expect(first).toMatchObject({ created: 1, deleted: 0 });
    expect(sums(others)[2]).toBe(1);
    expect(await keys()).toEqual(['e', 'j1', 'j2', 'j3', 'y', 'z']);
  });

  it('is planned as it is mirrored', async () => {
    await open(XML);
    await pull('ABABA', CACHED);
    for (const name of 'BA') {
      await mirror.stopEngine();
      answer = withLength(copies[name] as string, CACHED);
      expect((await runProgram(mirror, 'plan', 'acme', '--json')).json()).toEqual([]);
      expect(sums(await pull(name, CACHED))).toEqual([0, 0, 0]);
    }
    await mirror.stopEngine();
    answer = withLength(copy({ ...rest, e: 'Chief clerk' }), CACHED);
    expect((await runProgram(mirror, 'plan', 'acme', '--json')).json()).toMatchObject([
      { key: 'e', operation: 'update' },
    ]);
  });

  it('and has really been changed back is mirrored one pull later', async () => {
    await open(XML);
    const [, , third, fourth, fifth] = await pull('ABAAB', CACHED);
    expect(third).toMatchObject({ created: 1, updated: 1, deleted: 0, grace: 1 });
    expect(third?.message).toContain('the source has returned to what it had in pull');
    expect(fourth).toMatchObject({ deleted: 1, grace: 0 });
    expect(fourth?.message).toBeUndefined();
    expect(fifth?.message).toContain('returns older copies of the feed in turn');
  });

  it('and whose older copy a person has undone deletes nothing by that one', async () => {
    await open(XML);
    await pull('ABA', CACHED);
    for (const args of [
      ['undo', '3', '--yes'],
      ['feeds', 'resume', 'acme'],
    ]) {
      await mirror.stopEngine();
      expect((await runProgram(mirror, ...args)).status).toBe(0);
    }
    const [fourth, fifth] = await pull('AB', CACHED);
    expect(fourth).toMatchObject({ deleted: 0, grace: 1 });
    expect(fifth).toMatchObject({ deleted: 0, grace: 1 });
    expect(await keys()).toEqual(['e', 'j1', 'j2', 'j3', 'x', 'y']);
  });

  it.each([
    ['no header tells of a cache', [{}, {}, {}]],
    [
      'by its headers, the source has made it anew',
      [9, 10, 11].map((hour) => ({
        ...CACHED,
        'last-modified': `Mon, 07 Sep 2026 ${`${hour}`.padStart(2, '0')}:00:00 GMT`,
      })),
    ],
  ])('and has really been changed back is mirrored at once if %s', async (_, headers) => {
    await open(XML);
    for (const [at, name] of ['A', 'B'].entries()) await pull(name, headers[at]);
    const [third] = await pull('A', headers[2]);
    expect(third).toMatchObject({ created: 1, updated: 1, deleted: 1, grace: 0 });
  });

  it('by its own word', async () => {
    await open(XML);
    await pull('A', { 'last-modified': 'Mon, 07 Sep 2026 10:00:00 GMT' });
    const [first, second] = await pull('BB', { 'last-modified': 'Mon, 07 Sep 2026 09:00:00 GMT' });
    expect(first).toMatchObject({ created: 1, updated: 1, deleted: 0, grace: 1 });
    expect(first?.message).toContain('by its headers, the source has sent an older copy of the feed than before');
    expect(second).toMatchObject({ deleted: 1 });
    const [cached] = await pull('A', { age: '0' }).then(() => pull('C', { age: '500' }));
    expect(cached).toMatchObject({ deleted: 0, grace: 1 });
  });
});
