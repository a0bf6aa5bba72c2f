// Real proxies in front of a feed whose source fails: behind none of them is a job deleted without proof.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
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
const page = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';

interface Fault {
  readonly name: string;
  /** What the source sends instead of the feed. */
  readonly bytes: string;
  readonly end?: 'reset' | 'stall';
}
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
  }).listen(0, '127.0.0.1');
  await once(source, 'listening');
});
afterAll(() => {
  source.close();
});

/** After each column, so that a run which is ended leaves those before. */
function write(): void {
  writeSection({
    title: 'In front of the feed',
    law: `The source has ${ALL} postings, sends ${PART} of them in the way that a row states, twice, and then all again: nothing is deleted. \`incomplete\`: what was read is mirrored; \`weak\`: the missing postings are counted, and deleted only after another answer; \`failed\`: nothing was read.`,
    versions,
    rows: [...FAULTS.map(({ name }) => name), ...VALIDATORS],
    columns: columns.map(({ title }) => title),
    cells,
  });
}

const send =
  ({ bytes, end }: Pick<Fault, 'bytes' | 'end'>) =>
  (socket: Socket): void => {
    if (end === undefined) return void socket.end(bytes);
    socket.write(bytes);
    if (end === 'reset') setTimeout(() => socket.resetAndDestroy(), 100);
  };

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
      answers.set(path, send(fault));
      const first = await mirror.sync();
      const second = await mirror.sync();
      for (const report of [first, second]) expect(report).toMatchObject({ deleted: 0 });
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
