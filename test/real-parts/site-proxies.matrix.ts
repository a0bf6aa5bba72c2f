// Real proxies in front of a site whose answers get lost: behind none of them is a job made twice, or a change lost.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, createServer as createRelay, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { PROXIES, preparePackages, type RunningProxy, startProxy } from './proxies.ts';
import { cellKey, writeSection } from './seen.ts';

type Ending = 'close' | 'reset' | 'half an answer' | '502' | '413' | '408';

interface Fault {
  readonly name: string;
  /** Only one request of this method has it; without one, all answers are of this form. */
  readonly method?: 'POST' | 'PUT' | 'DELETE';
  readonly ending: Ending | 'closed after it' | 'HTTP/1.0' | 'too long' | 'half sent';
  /** How long the description of one posting is. */
  readonly length?: number;
}

const LOST = (['close', 'reset', 'half an answer', '502'] as const).flatMap((ending) =>
  (['POST', 'PUT', 'DELETE'] as const).map((method) => ({ name: `${method} done, then ${ending}`, method, ending })),
);
const FAULTS: readonly Fault[] = [
  ...LOST,
  { name: 'POST answered 413', method: 'POST', ending: '413' },
  { name: 'POST answered 408', method: 'POST', ending: '408' },
  { name: 'the proxy takes 100 KB, a POST has 200 KB', method: 'POST', ending: 'too long', length: 200_000 },
  { name: 'the proxy takes 100 KB, a POST has 3 MB', method: 'POST', ending: 'too long', length: 3_000_000 },
  { name: 'half of a POST arrives, the proxy waits a second', method: 'POST', ending: 'half sent' },
  { name: 'each connection closed after one answer', ending: 'closed after it' },
  { name: 'the site speaks HTTP/1.0', ending: 'HTTP/1.0' },
];

/** Of one cell: where its site is, what happens to it, and which requests that change something its site has done. */
interface Cell {
  target: string;
  readonly fault: Fault;
  isArmed: boolean;
  readonly done: string[];
}
const cellsByPath = new Map<string, Cell>();

const isOfProxy = ({ ending }: Fault): boolean => ending === 'too long' || ending === 'half sent';

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = incoming;
  const [, name = '', rest = ''] = /^\/([^/]+)(.*)$/.exec(url) ?? [];
  const cell = cellsByPath.get(name);
  const body = await buffer(incoming);
  if (cell === undefined) return void outgoing.writeHead(404).end();
  const { fault } = cell;
  const hits = cell.isArmed && fault.method === method && !isOfProxy(fault);
  if (hits) cell.isArmed = false;
  const refusal = hits && (fault.ending === '413' || fault.ending === '408') ? Number(fault.ending) : undefined;
  if (refusal !== undefined) return void outgoing.writeHead(refusal, { connection: 'close' }).end();
  const { authorization, 'content-type': type } = headers;
  const got = await request(cell.target + rest, {
    method: method as 'GET',
    headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
    ...(body.length === 0 ? {} : { body }),
  });
  const text = Buffer.from(await got.body.arrayBuffer());
  if (method !== 'GET') cell.done.push(`${method} ${got.statusCode}`);
  const socket = outgoing.socket as Socket;
  if (hits && fault.ending === '502')
    return void outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<html></html>');
  if (hits && fault.ending === 'close') return void socket.end();
  if (hits && fault.ending === 'reset') return void socket.resetAndDestroy();
  const passed = Object.fromEntries(
    ['content-type', 'location', 'link'].flatMap((each) =>
      got.headers[each] === undefined ? [] : [[each, String(got.headers[each])]],
    ),
  );
  if (hits || fault.ending === 'HTTP/1.0') {
    const lines = Object.entries({ ...passed, ...(hits ? { 'content-length': String(text.length + 100) } : {}) });
    socket.write(
      `HTTP/1.${hits ? 1 : 0} ${got.statusCode} ${got.statusCode < 300 ? 'OK' : 'Error'}\r\n${lines.map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n`,
    );
    return void socket.end(hits ? text.subarray(0, text.length / 2) : text);
  }
  outgoing.writeHead(got.statusCode, { ...passed, 'content-length': text.length });
  outgoing.end(text, () => {
    if (fault.ending === 'closed after it') socket.end();
  });
}

interface Relay {
  readonly url: string;
  close(): Promise<void>;
}

/** In front of the proxy: half of the body of one POST does not get through, until the proxy or the mirror ends the connection. */
async function startHalfSending(cell: Cell, port: number): Promise<Relay> {
  const server = createRelay((mirror) => {
    const proxy = connect(port, '127.0.0.1').on('error', () => mirror.destroy());
    let text = '';
    let isHeld = false;
    mirror
      .on('error', () => proxy.destroy())
      .on('close', () => proxy.destroy())
      .on('data', (data) => {
        if (isHeld) return;
        if (!cell.isArmed || !`${text}${data.toString('latin1')}`.startsWith('POST ')) return void proxy.write(data);
        text += data.toString('latin1');
        const [head = '', body] = text.split(/(?<=\r\n\r\n)/);
        const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1]);
        if (body === undefined || body.length < length / 2) return;
        cell.isArmed = false;
        isHeld = true;
        proxy.write(head + body.slice(0, length / 2), 'latin1');
      });
    proxy.pipe(mirror);
  });
  await listen(server);
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    async close() {
      server.close();
    },
  };
}

const cells = new Map<string, string>();
let versions: Readonly<Record<string, string>>;
let front: Server;
beforeAll(async () => {
  versions = preparePackages();
  front = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await listen(front);
});
afterAll(() => {
  front.close();
});

/** After each column, so that a run which is ended leaves those before. */
function write(): void {
  writeSection({
    title: 'In front of the site',
    law: 'Six postings are mirrored; then one changes, one leaves and one comes. One request has the fault of the row. Each posting has exactly one job in the end, as the feed has it; one whose create was refused with 413 may have none, and is in review then; one that is longer than the proxy allows has none, and is in review. A cell has what became of the requests for the posting, as jobmirror judged them, and how often the site answered it, also with 404.',
    versions,
    rows: FAULTS.map(({ name }) => name),
    columns: PROXIES,
    cells,
  });
}

/** Pulls until nothing is open; doubts are resolved after the time that a late answer may take. */
async function settle(mirror: Mirror): Promise<PullReportJson> {
  let report = await mirror.sync();
  for (let pull = 1; pull < 20 && report.pending + report.pending_deletes + report.in_doubt > 0; pull++)
    report = await mirror.sync();
  return report;
}

describe.each(PROXIES)('%s', (name) => {
  let plain: RunningProxy;
  let limited: RunningProxy;
  beforeAll(async () => {
    const { port } = front.address() as { port: number };
    plain = await startProxy(name, port);
    limited = await startProxy(name, port, 'limits');
  });
  afterAll(async () => {
    await plain.close();
    await limited.close();
    write();
  });

  it.concurrent.each(FAULTS)('$name', async (fault) => {
    const path = `${name}-${FAULTS.indexOf(fault)}`;
    const cell: Cell = { target: '', fault, isArmed: fault.method === 'POST', done: [] };
    const proxy = isOfProxy(fault) ? limited : plain;
    const relay = fault.ending === 'half sent' ? await startHalfSending(cell, proxy.port) : undefined;
    const mirror = await openMirror({
      site: { base_url: `${(relay ?? proxy).url}/${path}` },
      // Larger than what the proxies take.
      sandbox: { maxBodyBytes: 10_000_000 },
    });
    try {
      cell.target = mirror.sandbox.url;
      cellsByPath.set(path, cell);
      const [p1 = posting('p1'), p2 = posting('p2'), p3 = posting('p3'), ...others] = postings(6);
      const long = fault.length === undefined ? p3 : { ...p3, description: 'x'.repeat(fault.length) };
      await mirror.writeFeed(feedXml([p1, p2, long, ...others]));
      const first = await settle(mirror);
      const isRefused = fault.ending === '413' || fault.length !== undefined;
      expect(first).toMatchObject({ in_doubt: 0, pending: 0 });
      // A refusal that does not say what is wrong with the job may be tried again.
      expect(first.rejected).toBeLessThanOrEqual(isRefused ? 1 : 0);
      expect(cell.isArmed).toBe(fault.length !== undefined);
      cell.isArmed ||= fault.method === 'PUT' || fault.method === 'DELETE';
      const list = [posting('p1', { description: '<p>Other work</p>' }), long, ...others, posting('p7')];
      await mirror.writeFeed(feedXml(list));
      expect(await settle(mirror)).toMatchObject({ in_doubt: 0, pending: 0, pending_deletes: 0 });
      const jobs = await mirror.sandbox.inspect.jobs();
      const shown = jobs.map(({ fields }) => `${fields.number} ${fields.description}`).sort();
      const wanted = list.map(({ key, description }) => `${key} ${description ?? `<p>Work ${key}</p>`}`).sort();
      const missing = wanted.filter((each) => !shown.includes(each));
      // The refused one may have been any of the first six, also the one that left.
      if (fault.length !== undefined) expect(missing).toEqual([`p3 ${long.description}`]);
      else if (isRefused) expect(missing.length).toBeLessThanOrEqual(1);
      else expect(missing).toEqual([]);
      expect(shown).toEqual(wanted.filter((each) => !missing.includes(each)));
      const inReview = await mirror.query<{ key: string }>(
        `select key from change where state in ('rejected', 'failed') order by key`,
      );
      expect(missing.map((each) => each.split(' ')[0])).toEqual(inReview.map(({ key }) => key));
      const rows = await mirror.query<{ outcomes: string }>(
        `select string_agg(outcome, ', ' order by at) as outcomes from request
          where operation = $1 group by key having count(*) > 1 or bool_or(outcome not in ('created', 'accepted', 'gone'))`,
        [{ POST: 'create', PUT: 'update', DELETE: 'delete' }[fault.method ?? 'POST']],
      );
      const made = { POST: 7, PUT: 1, DELETE: 1 }[fault.method ?? 'POST'];
      const done = cell.done.filter((each) => each.startsWith(fault.method ?? 'POST')).length;
      cells.set(
        cellKey(fault.name, name),
        `${rows.map(({ outcomes }) => outcomes).join('; ') || 'as usual'}${done > made ? `; done ${done - made + 1} times` : ''}`,
      );
    } finally {
      await mirror.close();
      await relay?.close();
      cellsByPath.delete(path);
    }
  });
});
