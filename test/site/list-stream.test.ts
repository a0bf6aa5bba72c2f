// Lists of any size: read as they arrive, in little memory, yielding to other work, and within limits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readXml } from '../../src/site/xml/xml-tree.ts';

interface BigSite extends AsyncDisposable {
  readonly url: URL;
}

/** A site whose list is `begin`, `count` results of `entry`, and `end`. */
async function openBigSite(
  entry: (at: number) => string,
  count: number,
  packed = false,
  end = '</jobs>',
): Promise<BigSite> {
  const server = createServer((_request, response) => {
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': 'application/xml', ...(packed ? { 'content-encoding': 'gzip' } : {}) });
    const body = Readable.from(pieces(entry, count, end));
    body.on('error', () => {});
    if (packed) body.pipe(createGzip()).pipe(response);
    else body.pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function* pieces(entry: (at: number) => string, count: number, end: string): Generator<string> {
  yield `<jobs total="${count}">`;
  for (let at = 0; at < count; ) {
    let piece = '';
    for (; at < count && piece.length < 32_768; at++) piece += entry(at);
    yield piece;
  }
  yield end;
}

const client = new URL('../../dist/src/site/http/client.js', import.meta.url).href;
const program = `
  import { createSiteClient } from ${JSON.stringify(client)};
  const site = createSiteClient({
    baseUrl: new URL(process.argv[1]), listPath: '/jobs.xml', token: { reveal: () => 'a-token-of-the-test' },
    timeoutMs: 600_000, concurrency: 1,
  });
  let jobs = 0;
  let loopTurns = 0;
  let jobsOfTurn = 0;
  let most = 0;
  const timer = setInterval(() => { loopTurns++; most = Math.max(most, jobs - jobsOfTurn); jobsOfTurn = jobs; }, 1);
  const listing = await site.list(() => { jobs++; });
  clearInterval(timer);
  await site.close();
  console.log(JSON.stringify({ listing, jobs, loopTurns, most, peak: process.resourceUsage().maxRSS / 1024 }));
`;

interface MemoryReport {
  readonly listing: { readonly kind: string; readonly message?: string };
  readonly jobs: number;
  /** How often a timer fired meanwhile, and the most jobs between two firings. */
  readonly loopTurns: number;
  readonly most: number;
  /** MiB. */
  readonly peak: number;
}

/** Reads the list in a separate process with a small heap. */
async function readInSmallMemory(site: BigSite): Promise<MemoryReport> {
  const arguments_ = ['--max-old-space-size=48', '--input-type=module', '-e', program, site.url.href];
  const child = spawn(process.execPath, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  await once(child, 'close');
  expect(child.exitCode).toBe(0);
  return JSON.parse(printed);
}

const text = 'A description of some length, as postings have them. '.repeat(20);

describe('a list larger than the memory', { timeout: 300_000 }, () => {
  it.for([false, true])('is read as it arrives (compressed: %s)', async (packed) => {
    const entry = (at: number) => `<job><id>${at}</id><title>t${at}</title><description>${text}</description></job>`;
    await using site = await openBigSite(entry, 110_000, packed);
    const report = await readInSmallMemory(site);
    expect(report).toMatchObject({ listing: { kind: 'listed', pages: 1 }, jobs: 110_000 });
    expect(report.peak).toBeLessThan(400);
    expect(report.loopTurns).toBeGreaterThan(100);
    expect(report.most).toBeLessThan(20_000);
  });

  it('of minimal jobs', async () => {
    await using site = await openBigSite((at) => `<job id="${at}"/>`, 1_500_000);
    const report = await readInSmallMemory(site);
    expect(report).toMatchObject({ listing: { kind: 'listed' }, jobs: 1_500_000 });
    expect(report.peak).toBeLessThan(500);
    expect(report.loopTurns).toBeGreaterThan(100);
  });

  it.for<readonly [name: string, entry: (at: number) => string, count: number, end: string, why: string]>([
    [
      'elements that are not jobs',
      () => '<a/>',
      20_000_000,
      '</jobs>',
      'besides its jobs it has more than 2000 elements',
    ],
    [
      'one job of elements',
      (at: number) => (at === 0 ? '<job><id>1</id>' : '<a/>'),
      20_000_000,
      '</job></jobs>',
      'a job in it has more than 2000 elements',
    ],
    [
      'one job of text',
      (at: number) => (at === 0 ? '<job><id>1</id><b>' : text),
      60_000,
      '</b></job></jobs>',
      'more than 2097152 characters',
    ],
    ['one comment', (at: number) => (at === 0 ? '<!--' : text), 60_000, '--></jobs>', 'more than 2097152 characters'],
    [
      'one attribute',
      (at: number) => (at === 0 ? '<job a="' : text),
      60_000,
      '"/></jobs>',
      'more than 2097152 characters',
    ],
    [
      'attributes',
      (at: number) => (at === 0 ? '<job' : ` a${at}=""`),
      5_000_000,
      '/></jobs>',
      'more than 500 attributes',
    ],
    ['depth', () => '<a>', 20_000_000, '</jobs>', 'more than 100 deep'],
    [
      'one name',
      (at: number) => (at === 0 ? '<' : 'abcdefgh'),
      10_000_000,
      '/></jobs>',
      'more than 2097152 characters',
    ],
  ])('is abandoned if it consists of %s', async ([_name, entry, count, end, why]) => {
    await using site = await openBigSite(entry, count, false, end);
    const report = await readInSmallMemory(site);
    expect(report.listing).toEqual({ kind: 'unreadable', message: expect.stringContaining(why), changed: false });
    expect(report.peak).toBeLessThan(400);
  });
});

describe('an answer that is not a list', () => {
  it('with too many elements for a tree is not parsed', () => {
    expect(readXml(`<job><id>1</id>${'<a/>'.repeat(1_900)}</job>`)?.name).toBe('job');
    expect(readXml(`<job><id>1</id>${'<a/>'.repeat(2_100)}</job>`)).toBeUndefined();
    expect(readXml(`<job ${Array.from({ length: 600 }, (_, at) => `a${at}=""`).join(' ')}/>`)).toBeUndefined();
  });
});
