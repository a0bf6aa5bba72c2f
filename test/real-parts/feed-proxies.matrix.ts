// Real proxies in front of a feed whose source fails: behind none of them is a job deleted without proof.
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
import { listen } from '../support/listen.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { modesOf, PROXIES, preparePackages, type RunningProxy, startProxy } from './proxies.ts';
import { cellKey, writeSection } from './seen.ts';

/** A table does not show its end, so that it is the hardest case. */
const table = (count: number): string =>
  `id,title,state\n${Array.from({ length: count }, (_, at) => `j${at + 1},Nurse j${at + 1},MA\n`).join('')}`;
const FORMAT =
  '{ type: csv, key: id, fields: { number: id, title: title, location-state: { from: state, as: us_state } } }';

const [ALL, PART] = [8, 4];
const half = table(PART);
const head = (...lines: readonly string[]): string =>
  ['HTTP/1.1 200 OK', 'Content-Type: text/csv', ...lines, '', ''].join('\r\n');
const whole = (count: number, ...lines: readonly string[]): string =>
  head('Cache-Control: no-store', `Content-Length: ${table(count).length}`, ...lines) + table(count);
const inChunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
/** Bytes as the characters of the same number, as the others are. */
const zipped = (text: string): string => gzipSync(text).toString('latin1');
const page = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';

interface Fault {
  readonly name: string;
  /** What the source sends instead of the feed. */
  readonly bytes: string;
  readonly end?: 'reset' | 'stall';
  /** The bytes arrive in equal pieces in this time. */
  readonly dripMs?: number;
  /** What the first request of a pull gets instead, and then the end of its connection. */
  readonly first?: string;
}
const cutZip = zipped(table(ALL)).slice(0, -20);
const FAULTS: readonly Fault[] = [
  { name: 'no length, closed', bytes: head('Connection: close') + half },
  { name: 'no length, reset', bytes: head('Connection: close') + half, end: 'reset' },
  { name: 'HTTP/1.0, closed', bytes: `${head().replace('1.1', '1.0')}${half}` },
  { name: 'chunks, closed', bytes: head('Transfer-Encoding: chunked') + inChunk(half) },
  { name: 'chunks, reset', bytes: head('Transfer-Encoding: chunked') + inChunk(half), end: 'reset' },
  { name: 'length, closed', bytes: head(`Content-Length: ${table(ALL).length}`) + half },
  { name: 'length, reset', bytes: head(`Content-Length: ${table(ALL).length}`) + half, end: 'reset' },
  {
    name: 'half, with ETag and date',
    bytes: head('ETag: "2"', 'Last-Modified: Mon, 02 Nov 2026 13:00:00 GMT', 'Connection: close') + half,
  },
  { name: 'stalls', bytes: head('Transfer-Encoding: chunked') + inChunk(half), end: 'stall' },
  { name: 'Content-Length: 0', bytes: head('Content-Length: 0') },
  {
    name: '502 page with 200',
    bytes: `${head(`Content-Length: ${page.length}`).replace('text/csv', 'text/html')}${page}`,
  },
  { name: 'no answer', bytes: '' },
  { name: 'gzip of half, closed', bytes: head('Content-Encoding: gzip', 'Connection: close') + zipped(half) },
  { name: 'gzip cut, closed', bytes: head('Content-Encoding: gzip', 'Connection: close') + cutZip },
  {
    name: 'gzip cut, length of the whole',
    bytes: head('Content-Encoding: gzip', `Content-Length: ${zipped(table(ALL)).length}`) + cutZip,
  },
  {
    name: 'gzip cut, length of the half',
    bytes: head('Content-Encoding: gzip', `Content-Length: ${cutZip.length}`) + cutZip,
  },
  {
    name: 'gzip cut, last chunk',
    bytes: `${head('Content-Encoding: gzip', 'Transfer-Encoding: chunked')}${inChunk(cutZip)}0\r\n\r\n`,
  },
  {
    name: '206 with half, not asked for',
    bytes: `${head(
      `Content-Range: bytes 0-${half.length - 1}/${table(ALL).length}`,
      `Content-Length: ${half.length}`,
    ).replace('200 OK', '206 Partial Content')}${half}`,
  },
  {
    name: 'half, to be kept for an hour',
    bytes: head('Cache-Control: public, max-age=3600', 'Connection: close') + half,
  },
  {
    name: 'cut at first, then all',
    first: head(`Content-Length: ${table(ALL).length}`) + half,
    bytes: whole(ALL),
  },
  { name: 'no answer at first, then half', first: '', bytes: head('Connection: close') + half },
  {
    name: '503 at first, then half',
    first: 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    bytes: head('Connection: close') + half,
  },
  { name: 'drips for 2 s', bytes: head('Connection: close') + half, dripMs: 2_000 },
  { name: 'drips for longer than allowed', bytes: head('Connection: close') + half, dripMs: 8_000 },
];
const VALIDATORS = ['ETag: "1"', 'ETag: W/"1"'] as const;

const columns = (['plain', 'gzip', 'cache'] as const).flatMap((mode) =>
  PROXIES.filter((name) => modesOf(name).includes(mode)).map((name) => ({
    name,
    mode,
    title: `${name}${mode === 'plain' ? '' : `, ${mode}`}`,
  })),
);
const cells = new Map<string, string>();
let versions: Readonly<Record<string, string>>;

/** By path: what the source sends to whoever asks. */
const answers = new Map<string, (socket: Socket, request: string) => void>();
let source: Server;
beforeAll(async () => {
  versions = preparePackages();
  source = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const request = data.toString('latin1');
      answers.get(request.split(' ')[1] ?? '')?.(socket, request);
    });
  });
  await listen(source);
});
afterAll(() => {
  source.close();
});

/** After each column, so that a run which is ended leaves those before. */
function write(): void {
  writeSection({
    title: 'In front of the feed',
    law: `The source has ${ALL} postings, sends ${PART} of them in the way that a row states, twice, and then all again: nothing is deleted. \`incomplete\`: what was read is mirrored; \`weak\`: the missing postings are counted, and deleted only after another answer; \`failed\`: nothing was read. In the rows of ETags the feed is asked for again unchanged, and then lacks one posting, which is proven: that one is deleted.`,
    versions,
    rows: [...FAULTS.map(({ name }) => name), ...VALIDATORS],
    columns: columns.map(({ title }) => title),
    cells,
  });
}

const PIECES = 20;

/** Answers the requests of one pull. */
function send({ bytes, end, first, dripMs }: Omit<Fault, 'name'>): (socket: Socket) => void {
  let requests = 0;
  return (socket) => {
    if (first !== undefined && requests++ === 0) return void socket.end(first, 'latin1');
    if (dripMs !== undefined) return void drip(socket, bytes, dripMs);
    if (end === undefined) return void socket.end(bytes, 'latin1');
    socket.write(bytes, 'latin1');
    if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 100);
  };
}

async function drip(socket: Socket, bytes: string, ms: number): Promise<void> {
  const size = Math.ceil(bytes.length / PIECES);
  for (let start = 0; start < bytes.length && !socket.destroyed; start += size) {
    socket.write(bytes.slice(start, start + size), 'latin1');
    await pause(ms / PIECES);
  }
  socket.end();
}

function describePull({ status, complete, weak, seen, grace }: PullReportJson): string {
  if (seen === 0) return status === 'failed' ? 'failed' : status;
  if (!complete) return 'incomplete';
  return weak === undefined ? `whole, ${seen} seen` : `weak, ${seen} seen, ${grace} missing`;
}

describe.each(columns)('$title', ({ name, mode, title }) => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy(name, (source.address() as { port: number }).port, mode);
  });
  afterAll(async () => {
    await proxy.close();
    write();
  });

  async function mirrored(path: string, live: (mirror: Mirror) => Promise<void>): Promise<void> {
    const mirror = await openMirror({
      feed: {
        source: `${proxy.url}${path}`,
        format: FORMAT,
        limits: '{ attempts: 2, total_timeout_seconds: 5, first_byte_timeout_seconds: 4 }',
        delete_guard: '{ percent: 100, count: 100 }',
      },
    });
    try {
      await live(mirror);
    } finally {
      await mirror.close();
    }
  }

  it.concurrent.each(FAULTS)('$name', async (fault) => {
    const path = `/${FAULTS.indexOf(fault)}`;
    await mirrored(path, async (mirror) => {
      answers.set(path, send({ bytes: whole(ALL) }));
      expect(await mirror.sync()).toMatchObject({ created: ALL, complete: true });
      const reports: PullReportJson[] = [];
      for (const _ of [1, 2]) {
        answers.set(path, send(fault));
        const report = await mirror.sync();
        expect(report).toMatchObject({ deleted: 0 });
        reports.push(report);
      }
      const [first, second] = reports as [PullReportJson, PullReportJson];
      expect((await mirror.siteJobs()).size).toBe(ALL);
      const [one, other] = [describePull(first), describePull(second)];
      cells.set(cellKey(fault.name, title), one === other ? one : `${one}; then ${other}`);
      if (mode === 'cache') return;
      answers.set(path, send({ bytes: whole(ALL) }));
      expect(await mirror.sync()).toMatchObject({ complete: true, unchanged: ALL, deleted: 0, gone: 0 });
    });
  });

  it.concurrent.each(VALIDATORS)('not modified: %s', async (validator) => {
    const path = `/validator-${VALIDATORS.indexOf(validator)}`;
    await mirrored(path, async (mirror) => {
      let count = ALL;
      let version = validator;
      let notModified = 0;
      answers.set(path, (socket, request) => {
        const tag = version.slice('ETag: '.length).replace('W/', '');
        if (/^if-none-match:/im.test(request) && request.includes(tag)) {
          notModified++;
          socket.end(`HTTP/1.1 304 Not Modified\r\n${version}\r\nConnection: close\r\n\r\n`);
        } else socket.end(whole(count, version, 'Connection: close'));
      });
      expect(await mirror.sync()).toMatchObject({ created: ALL, complete: true });
      const again = await mirror.sync();
      expect(again).toMatchObject({ deleted: 0, created: 0, updated: 0 });
      count = ALL - 1;
      version = validator.replace('1', '2') as typeof validator;
      const changed = await mirror.sync();
      expect(changed.deleted + changed.grace).toBe(1);
      cells.set(
        cellKey(validator, title),
        `${notModified > 0 ? '304' : '200'}; then ${changed.deleted === 1 ? 'deleted' : 'counted as missing'}`,
      );
    });
  });
});
