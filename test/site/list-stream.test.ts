// Lists of any size: read as they arrive, in little memory, yielding to other work, and within limits.
// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readXml } from '../../src/site/xml/xml-tree.ts';
import { listen } from '../support/listen.ts';

/** A list of results of `entry`, ended by `end`. */
interface BigList {
  readonly entry: (at: number) => string;
  readonly count: number;
  readonly end?: string;
  readonly isPacked?: boolean;
  /** A cache says that it has just asked the site: the list is read once. */
  readonly isCopy?: boolean;
}

interface BigSite extends AsyncDisposable {
  readonly url: URL;
}

/** A site whose list at `/0` is the first of `lists`, and so on. */
async function openBigSite(lists: readonly BigList[]): Promise<BigSite> {
  const server = createServer((request, response) => {
    // Read a second time, it has a query.
    const list = lists[Number(/\d+/.exec(request.url ?? '')?.[0])] as BigList;
    response.on('error', () => {});
    response.writeHead(200, {
      'content-type': 'application/xml',
      ...(list.isPacked ? { 'content-encoding': 'gzip' } : {}),
      ...(list.isCopy ? { age: '1' } : {}),
    });
    const body = Readable.from(pieces(list));
    body.on('error', () => {});
    if (list.isPacked) body.pipe(createGzip({ level: 1 })).pipe(response);
    else body.pipe(response);
  });
  const port = await listen(server);
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function* pieces({ entry, count, end = '</jobs>' }: BigList): Generator<string> {
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
  const reports = [];
  for (let list = 0; list < Number(process.argv[2]); list++) {
    const site = createSiteClient({
      baseUrl: new URL(process.argv[1]), listPath: '/' + list, token: { reveal: () => 'a-token-of-the-test' },
      timeoutMs: 600_000, concurrency: 1,
    });
    let jobs = 0;
    let loopTurns = 0;
    let jobsOfTurn = 0;
    let most = 0;
    const timer = setInterval(() => { loopTurns++; most = Math.max(most, jobs - jobsOfTurn); jobsOfTurn = jobs; }, 1);
    const listing = await site.list(() => { jobs++; }, undefined, undefined, 60_000);
    clearInterval(timer);
    await site.close();
    reports.push({ listing, jobs, loopTurns, most, peak: process.resourceUsage().maxRSS / 1024 });
  }
  console.log(JSON.stringify(reports));
`;

interface MemoryReport {
  readonly listing: { readonly kind: string; readonly message?: string };
  readonly jobs: number;
  /** How often a timer fired meanwhile, and the most jobs between two firings. */
  readonly loopTurns: number;
  readonly most: number;
  /** The most memory that the process has had so far, in MiB. */
  readonly peak: number;
}

/** MiB for all objects of the reading process, which needs about 12 of them to start, and some for each job it has seen. */
const HEAP = { forLongJobs: 32, forManyJobs: 48 };

/** Reads the lists, one after the other, in a separate process with a small heap. */
async function readInSmallMemory(lists: readonly BigList[], heap = HEAP.forManyJobs): Promise<readonly MemoryReport[]> {
  await using site = await openBigSite(lists);
  const node = [`--max-old-space-size=${heap}`, '--input-type=module', '-e', program];
  const child = spawn(process.execPath, [...node, site.url.href, String(lists.length)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
  const isReadAsItArrives = async (isPacked: boolean): Promise<void> => {
    const entry = (at: number) => `<job><id>${at}</id><title>t${at}</title><description>${text}</description></job>`;
    const [report] = await readInSmallMemory([{ entry, count: 28_000, isPacked, isCopy: true }], HEAP.forLongJobs);
    expect(report).toMatchObject({ listing: { kind: 'listed', pages: 1 }, jobs: 28_000 });
    expect(report?.peak).toBeLessThan(400);
    expect(report?.loopTurns).toBeGreaterThan(100);
    expect(report?.most).toBeLessThan(5_000);
  };
  it('is read as it arrives (compressed: false)', () => isReadAsItArrives(false));
  // This one uses all that a release of Node can change: the sockets, gunzip and the heap.
  it('is read as it arrives (compressed: true)', { tags: 'every-node' }, () => isReadAsItArrives(true));

  it('of minimal jobs', async () => {
    const [report] = await readInSmallMemory([{ entry: (at) => `<job id="${at}"/>`, count: 300_000 }]);
    expect(report).toMatchObject({ listing: { kind: 'listed' }, jobs: 300_000 });
    expect(report?.peak).toBeLessThan(400);
    expect(report?.loopTurns).toBeGreaterThan(100);
  });

  it('is abandoned if it consists of something else than jobs', async () => {
    const kinds: readonly (readonly [name: string, list: BigList, why: string])[] = [
      [
        'elements that are not jobs',
        { entry: () => '<a/>', count: 20_000_000 },
        'besides its jobs it has more than 2000 elements',
      ],
      [
        'one job of elements',
        { entry: (at) => (at === 0 ? '<job><id>1</id>' : '<a/>'), count: 20_000_000, end: '</job></jobs>' },
        'a job in it has more than 2000 elements',
      ],
      [
        'one job of text',
        { entry: (at) => (at === 0 ? '<job><id>1</id><b>' : text), count: 60_000, end: '</b></job></jobs>' },
        'more than 2097152 characters',
      ],
      [
        'one comment',
        { entry: (at) => (at === 0 ? '<!--' : text), count: 60_000, end: '--></jobs>' },
        'more than 2097152 characters',
      ],
      [
        'one attribute',
        { entry: (at) => (at === 0 ? '<job a="' : text), count: 60_000, end: '"/></jobs>' },
        'more than 2097152 characters',
      ],
      [
        'attributes',
        { entry: (at) => (at === 0 ? '<job' : ` a${at}=""`), count: 5_000_000, end: '/></jobs>' },
        'more than 500 attributes',
      ],
      ['depth', { entry: () => '<a>', count: 20_000_000 }, 'more than 100 deep'],
      [
        'one name',
        { entry: (at) => (at === 0 ? '<' : 'abcdefgh'), count: 10_000_000, end: '/></jobs>' },
        'more than 2097152 characters',
      ],
    ];
    const reports = await readInSmallMemory(kinds.map(([_name, list]) => list));
    expect(kinds.map(([name], at) => [name, reports[at]?.listing])).toEqual(
      kinds.map(([name, _list, why]) => [
        name,
        { kind: 'unreadable', message: expect.stringContaining(why), changed: false },
      ]),
    );
    expect(reports.at(-1)?.peak).toBeLessThan(400);
  });
});

describe('an answer that is not a list', () => {
  it('with too many elements for a tree is not parsed', () => {
    expect(readXml(`<job><id>1</id>${'<a/>'.repeat(1_900)}</job>`)?.name).toBe('job');
    expect(readXml(`<job><id>1</id>${'<a/>'.repeat(2_100)}</job>`)).toBeUndefined();
    expect(readXml(`<job ${Array.from({ length: 600 }, (_, at) => `a${at}=""`).join(' ')}/>`)).toBeUndefined();
  });
});
