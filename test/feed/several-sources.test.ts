// Several sources as one feed, and the files of a folder.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readFeed } from '../../src/feed/read-feed.ts';
import { kindOf, type SingleConfig, type SourceConfig } from '../../src/feed/source/sources.ts';
import { collect, generousLimits, sourceOf } from './collect.ts';
import { serveWeb, type WebServer } from './web-server.ts';
import { zipOf } from './zip-writer.ts';

let folder: string;
let server: WebServer;
/** What each address has before its posting. */
let pages: Readonly<Record<string, string>> = {};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-several-'));
  server = await serveWeb(({ path }, response) => {
    if (path === '/hang') return;
    if (path.startsWith('/total/')) response.setHeader('X-Total', path.replace(/\D+(\d+).*/, '$1'));
    if (path in pages) {
      response.end(`<source>${pages[path]}<job>1</job></source>`);
      return;
    }
    const page = '<!DOCTYPE html><html><title>Sign in</title><body>'.padEnd(2000);
    if (path === '/page') response.writeHead(200).end(page);
    else if (path === '/endless') response.writeHead(200).write(page);
    else if (path === '/index') response.writeHead(200).end('<sitemapindex></sitemapindex>');
    else if (path === '/gone') response.writeHead(404).end();
    else if (path === '/cut') {
      response.writeHead(200, { 'content-length': 99 }).write(feed(90, 2));
      // What has arrived is lost unless it was read before the connection breaks off. Nothing shows that.
      setTimeout(() => response.destroy(), 2_000);
    } else response.writeHead(200, { etag: '"1"' }).end(feed(Number(path.slice(1)), 2));
  });
});
afterEach(async () => {
  pages = {};
  rmSync(folder, { recursive: true });
  await server.close();
});

const feed = (from: number, count: number) =>
  `<source>${Array.from({ length: count }, (_, at) => `<job>${from + at}</job>`).join('\n')}</source>`;
const write = (name: string, content: string, minutesAgo = 0) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  const time = Date.now() / 1000 - 60 * minutesAgo;
  utimesSync(path, time, time);
  return path;
};
const idsOf = (records: readonly string[]) => records.map((record) => Number(/\d+/.exec(record)?.[0]));

/** @param during is called with the number of records so far, whenever some have arrived. */
async function readFrom(from: SourceConfig, during: (records: number) => void = () => undefined) {
  const sink = collect();
  const source = { from, format: 'xml' as const, recordPath: 'source/job', totalPaths: [], limits: generousLimits };
  const take: typeof sink.take = (batch) => {
    sink.take(batch);
    during(sink.records.length);
  };
  const reading = await readFeed(
    source,
    { take, drain: sink.drain },
    { signal: new AbortController().signal, request: 'r' },
  );
  const problems = reading.kind === 'read' ? reading.shortfalls : [JSON.stringify(reading)];
  return { reading, ids: idsOf(sink.records), problems };
}

describe('several sources', () => {
  const several = (...locations: string[]) => within(60_000, locations);
  const within = (firstByteTimeoutMs: number, locations: string[]): SourceConfig => ({
    kind: 'several',
    members: locations.map((location) => {
      const { from } = sourceOf({ location });
      if (from.kind === 'several') throw new Error('one source');
      return from;
    }),
    limits: { firstByteTimeoutMs, minBytesPerSecond: 1 },
  });

  it('are one feed, complete if each of them is, and without a version', async () => {
    const { reading, ids } = await readFrom(
      several(`${server.origin}/1`, write('a.xml', feed(3, 2)), `${server.origin}/5`),
    );
    expect(ids).toEqual([1, 2, 3, 4, 5, 6]);
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [], version: undefined });
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined]);
  });

  it.each([
    [2, 0],
    [3, 1],
  ])(
    'that are the pages of a list of %i postings, by a header, are complete if they have them all',
    async (total, missing) => {
      pages = { [`/total/${total}?page=1`]: '', [`/total/${total}?page=2`]: '' };
      const from = several(...Object.keys(pages).map((path) => server.origin + path));
      expect((await readFrom(from)).reading).toMatchObject({ records: 2, shortfalls: { length: missing } });
    },
  );

  it.each<[string, Record<string, string>, number]>([
    ['that page 1 leads to', { '/list?page=1&a=b': '<next>/list?a=b&amp;page=2</next>', '/list?a=b&page=2': '' }, 0],
    ['after a flag', { '/list?page=1': '<more>true</more>', '/list?page=2': '<more>false</more>' }, 0],
    ['whose number is the last', { '/list?p=1': '<r/><page>1</page><pages>2</pages>', '/list?p=2': '' }, 0],
    [
      'with their numbers in the path',
      { '/j/1': '<page>1</page><pages>2</pages>', '/j/2': '<page>2</page><pages>2</pages>' },
      0,
    ],
    ['from 0', { '/j?page=0': '<page>0</page><pages>2</pages>', '/j?page=1': '<page>1</page><pages>2</pages>' }, 0],
    [
      'of Spring',
      {
        '/j?page=0': '<number>0</number><totalPages>2</totalPages><last>false</last>',
        '/j?page=1': '<number>1</number><totalPages>2</totalPages><last>true</last>',
      },
      0,
    ],
    ['of a slice', { '/j?page=0': '<last>false</last>', '/j?page=1': '<last>true</last>' }, 0],
    ['without the last one', { '/j/1': '<page>1</page><pages>3</pages>', '/j/2': '<page>2</page><pages>3</pages>' }, 1],
    [
      'of two lists',
      { '/1?page=1': '<page>1</page><pages>2</pages>', '/2?page=2': '<page>2</page><pages>2</pages>' },
      1,
    ],
    [
      'of two lists in the path',
      { '/1/1': '<page>1</page><pages>2</pages>', '/2/2': '<page>2</page><pages>2</pages>' },
      1,
    ],
    ['that lead to another', { '/list?page=1': '<next>?page=2</next>', '/list?page=2': '<next>?page=3</next>' }, 1],
    ['before a flag', { '/list?page=2': '', '/list?page=1': '<more>true</more>' }, 1],
    [
      'of a list whose path has a number elsewhere',
      { '/v1/j': '<page>1</page><pages>2</pages>', '/v/j?page=2': '<page>2</page><pages>2</pages>' },
      1,
    ],
    ...['paged', 'pg', '$skip', 'from', 'start_row', 'job_offset', 'firstResult', 'page[number]'].map(
      (name): [string, Record<string, string>, number] => [
        `by ${name}`,
        { [`/j?${name}=0`]: '<more>true</more>', [`/j?${name}=9`]: '<more>false</more>' },
        0,
      ],
    ),
    ['of other lists', { '/list?dept=1': '<more>true</more>', '/list?dept=2': '', '/other?dept=1': '' }, 1],
  ])('are pages %s', async (_, answers, missing) => {
    pages = answers;
    const { problems } = await readFrom(several(...Object.keys(pages).map((path) => server.origin + path)));
    expect(problems).toEqual(
      Array(missing).fill(expect.stringMatching(/another page follows, .* set pages, so [^,]*$/)),
    );
  });

  it('compare each address of a page once', async () => {
    const paths = Array.from({ length: 40 }, (_, at) => `/list${at}?page=1`);
    pages = Object.fromEntries(paths.map((path, at) => [path, at < 20 ? '<more>true</more>' : '']));
    const parse = vi.spyOn(URL, 'canParse');
    const { problems } = await readFrom(several(...paths.map((path) => server.origin + path)));
    expect([problems.length, parse.mock.calls.length < 20 * 20]).toEqual([20, true]);
    parse.mockRestore();
  });

  it.each([
    ['is gone', '/gone', /^source 2 \(http:\S+\/gone\): http:\S+ answered 404 Not Found; check its address$/],
    ['breaks off', '/cut', /^source 2 \(http:\S+\/cut\): the connection broke off before the end/],
    ['is a web page', '/page', /^source 2 \(http:\S+\/page\): HTML where an XML feed was expected.*"Sign in"/],
    [
      'is a web page without an end',
      '/endless',
      /^source 2 \(http:\S+\/endless\): HTML where an XML feed was expected/,
    ],
    ['hangs', '/hang', /^source 2 \(http:\S+\/hang\): no data arrived within 4 s$/],
  ])('are not complete if one %s, and the others are read', async (_, path, message) => {
    const locations = [`${server.origin}/1`, server.origin + path, `${server.origin}/3`];
    const { ids, problems } = await readFrom(within(path === '/hang' ? 4_000 : 60_000, locations));
    expect(problems[0]).toMatch(message);
    expect(ids).toEqual(path === '/cut' ? [1, 2, 90, 91, 3, 4] : [1, 2, 3, 4]);
  });

  it('are not complete if one is an index without sitemaps, of which a single source would fail', async () => {
    const { from } = sourceOf({ location: `${server.origin}/index` });
    if (from.kind !== 'http') throw new Error('no web address');
    const sitemaps: SingleConfig = {
      kind: 'pages',
      http: from,
      paging: { by: 'sitemap', parameter: '', first: 0, path: '', end: 'empty_page', total: 'every_page' },
      content: { format: 'xml', recordPath: 'source/job', totalPaths: [], maxRecordBytes: 1e6 },
      limits: {
        maxPages: 10,
        maxPageBytes: 1e6,
        requestsPerSecond: 1e5,
        firstByteTimeoutMs: 5_000,
        minBytesPerSecond: 1,
      },
      retry: { attempts: 1, firstDelayMs: 1, maxDelayMs: 1 },
    };
    expect((await readFrom(sitemaps)).reading).toMatchObject({ message: 'the source has no documents' });
    const both = several(`${server.origin}/1`);
    if (both.kind !== 'several') throw new Error('one source');
    const { ids, problems } = await readFrom({ ...both, members: [...both.members, sitemaps] });
    expect(ids).toEqual([1, 2]);
    expect(problems).toEqual([expect.stringMatching(/^source 2 \(http:\S+\/index\): the source has no documents$/)]);
  });

  it('are read also after an archive with a file that is no feed', async () => {
    const files = [
      { name: 'about.html', content: '<html></html>' },
      { name: 'jobs.xml', content: feed(3, 2) },
    ];
    writeFileSync(join(folder, 'jobs.zip'), zipOf(files));
    const { ids, problems } = await readFrom(
      several(`${server.origin}/1`, join(folder, 'jobs.zip'), `${server.origin}/5`),
    );
    expect(ids).toEqual([1, 2, 3, 4, 5, 6]);
    expect(problems).toEqual([expect.stringMatching(/^source 2 \(\S+\), about\.html: HTML/)]);
  });

  it.each([1, Number.POSITIVE_INFINITY])(
    'of which one is no feed are read by a thread too (from %d bytes)',
    async (from) => {
      const sink = collect();
      const source = {
        from: several(
          `${server.origin}/1`,
          write('page.html', '<html></html>'),
          write('b.json', '[]'),
          `${server.origin}/3`,
        ),
        ...{ format: 'xml' as const, recordPath: 'source/job', totalPaths: [], limits: generousLimits },
      };
      const { signal } = new AbortController();
      const reading = await readFeed(source, sink, { signal, threadsFromBytes: from });
      expect(idsOf(sink.records)).toEqual([1, 2, 3, 4]);
      expect(reading).toMatchObject({
        kind: 'read',
        shortfalls: [expect.stringMatching(/^source 2 .*HTML/), expect.stringMatching(/^source 3 .*JSON where an XML/)],
      });
    },
  );

  it('fail if none of them is a feed', async () => {
    const { reading } = await readFrom(several(`${server.origin}/page`, `${server.origin}/page`));
    expect(reading).toMatchObject({ kind: 'failed', message: expect.stringMatching(/^source 1 .*HTML/) });
  });

  it('fail with all reasons if none can be read', async () => {
    const { reading } = await readFrom(several(`${server.origin}/gone`, join(folder, 'nowhere.xml')));
    expect(reading).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/^source 1 .*404 Not Found.*; source 2 \(\/.*\): there is no file/),
    });
  });

  it('are requested within the rate limit, which is no time that the source takes', async () => {
    const source = several(...[1, 3, 5].map((id) => `${server.origin}/${id}`));
    if (source.kind !== 'several') throw new Error('one source');
    const begin = performance.now();
    // A request each 300 ms, and 200 ms for the first byte of each document.
    const { ids, problems } = await readFrom({
      ...source,
      limits: { ...source.limits, requestsPerSecond: 1000 / 300 },
    });
    expect({ ids, problems }).toEqual({ ids: [1, 2, 3, 4, 5, 6], problems: [] });
    expect(performance.now() - begin).toBeGreaterThanOrEqual(2 * 300 - 10);
  });

  it('are described one by one, without secrets', () => {
    const config = several('https://a.example/x?key=s3cret', '/b.xml');
    const { placeOf, publicConfig, request } = kindOf(config);
    expect(placeOf(config)).toBe('https://a.example/x?…, /b.xml');
    expect(JSON.stringify(publicConfig(config))).not.toContain('s3cret');
    expect(JSON.stringify(request(config))).not.toBe(
      JSON.stringify(request(several('https://a.example/x?key=2', '/b.xml'))),
    );
  });
});

describe('the files of a folder', () => {
  const files = (pick: 'newest' | 'all', pattern = '*.xml'): SourceConfig => ({ kind: 'files', folder, pattern, pick });

  it('are one feed in the order of their names', async () => {
    write('b.xml', feed(3, 1));
    write('a.xml', feed(1, 2));
    write('.hidden.xml', feed(7, 1));
    write('c.xml.part', feed(8, 1));
    mkdirSync(join(folder, 'folder.xml'));
    symlinkSync(write('linked', feed(4, 1)), join(folder, 'd.xml'));
    expect(await readFrom(files('all'))).toMatchObject({
      ids: [1, 2, 3, 4],
      problems: [],
      reading: { version: undefined },
    });
    expect((await readFrom(files('all', '?.xml'))).ids).toEqual([1, 2, 3, 4]);
    expect((await readFrom(files('all', '[ab].xml'))).problems[0]).toMatch(/no file in .* matches \[ab\]\.xml/);
  });

  it('or the newest of them', async () => {
    write('b.xml', feed(1, 1), 10);
    write('c.xml', feed(2, 1), 5);
    write('a.xml', feed(3, 1), 20);
    write('newer.txt', feed(4, 1));
    expect(await readFrom(files('newest'))).toMatchObject({ ids: [2], problems: [] });
  });

  it('are not there', async () => {
    expect((await readFrom(files('newest'))).reading).toMatchObject({
      kind: 'failed',
      message: `no file in ${folder} matches *.xml`,
    });
    const nowhere = { kind: 'files', folder: join(folder, 'nowhere'), pattern: '*', pick: 'all' } as const;
    expect((await readFrom(nowhere)).problems[0]).toMatch(/the folder .*nowhere can't be read: ENOENT/);
  });

  it('are not complete if one is a link to a file that is not there', async () => {
    write('a.xml', feed(1, 2), 9);
    symlinkSync(join(folder, 'nowhere'), join(folder, 'b.xml'));
    expect(await readFrom(files('all'))).toMatchObject({
      ids: [1, 2],
      problems: [expect.stringMatching(/there is no file .*b\.xml/)],
    });
    expect((await readFrom(files('newest'))).problems[0]).toMatch(/there is no file .*b\.xml/);
    utimesSync(join(folder, 'a.xml'), Date.now() / 1000 + 60, Date.now() / 1000 + 60);
    expect(await readFrom(files('newest'))).toMatchObject({ ids: [1, 2], problems: [] });
  });

  it('are refused if there are too many, whatever else is among them', async () => {
    mkdirSync(join(folder, 'archive.xml'));
    for (let at = 0; at <= 10_000; at++) writeFileSync(join(folder, `jobs-${at}.xml`), '');
    expect((await readFrom(files('newest'))).problems[0]).toMatch(/more than 10000 files in .* match/);
  });

  it.each<[string, 'newest' | 'all', () => void, RegExp | undefined]>([
    ['appears', 'all', () => void write('0.xml', feed(9, 1)), /changed while it was being read: 0.xml appeared/],
    ['disappears', 'all', () => rmSync(join(folder, 'a.xml')), /a.xml disappeared/],
    ['disappears before it is read', 'all', () => rmSync(join(folder, 'b.xml')), /there is no file/],
    [
      'changes after it was read',
      'all',
      () => appendFileSync(join(folder, 'a.xml'), ' '),
      /a.xml changed|the file changed/,
    ],
    [
      'is replaced by an equal one',
      'all',
      () => renameSync(write('x', feed(1, 2), 9), join(folder, 'a.xml')),
      /a.xml changed|the file changed/,
    ],
    ['that does not match appears', 'all', () => void write('x.txt', ''), undefined],
    ['that is newer appears', 'newest', () => void write('c.xml', feed(9, 1), -1), /c.xml appeared/],
    ['that is older appears', 'newest', () => void write('c.xml', feed(9, 1), 99), undefined],
  ])('are not complete if one %s (%s)', async (_, pick, change, message) => {
    write('a.xml', feed(1, 2), 9);
    write('b.xml', feed(3, 2), 5);
    let isChanged = false;
    const { problems } = await readFrom(files(pick), () => {
      if (!isChanged) change();
      isChanged = true;
    });
    if (message === undefined) expect(problems).toEqual([]);
    else expect(problems.join('\n')).toMatch(message);
  });
});
