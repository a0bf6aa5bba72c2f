// The network and the site at their worst: when nothing was sent, when the outcome is unknown, what is limited, what is
// never followed.
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Exchange, SiteClient, SiteRequest } from '../../src/site/exchange.ts';
import { deadlineIn } from '../../src/site/http/trouble.ts';
import { listen } from '../support/listen.ts';
import {
  anyTime,
  closedUrl,
  create,
  openClient,
  openRawSite,
  openSite,
  type Reply,
  remove,
  update,
} from './scripted-site.ts';
import { certificate, key } from './tls-identity.ts';

const xml = { 'content-type': 'application/xml' };
const job = '<job><id>12</id></job>';
const all = [create, update, remove];

describe('certainly not sent: unreachable', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('refused connection', async () => {
    await using client = openClient(await closedUrl());
    for (const request of all) {
      const { outcome, response } = await client.send(request, anyTime);
      expect(outcome).toEqual({
        kind: 'unreachable',
        message: expect.stringMatching(/^Not sent: the connection was refused.*ECONNREFUSED/),
      });
      expect(response).toBeUndefined();
    }
  });

  it('a host name that does not exist', async () => {
    await using client = openClient(new URL('http://no-such-host.invalid'));
    expect((await client.send(create, anyTime)).outcome).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/host name/),
    });
  });

  it('a TLS handshake with a server that does not speak TLS', async () => {
    await using site = await openRawSite((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    await using client = openClient(new URL(site.url.href.replace('http:', 'https:')));
    const { outcome } = await client.send(create, anyTime);
    const inWords = /no encrypted connection could be agreed on \(\w+: [ \w]+\)$/;
    expect(outcome).toMatchObject({ kind: 'unreachable', message: expect.stringMatching(inWords) });
  });

  it('a TLS handshake that is reset', async () => {
    await using site = await openRawSite((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await using client = openClient(new URL(site.url.href.replace('http:', 'https:')));
    expect((await client.send(create, anyTime)).outcome.kind).toBe('unreachable');
  });

  it('a TLS handshake that never ends', async () => {
    await using site = await openRawSite(() => {});
    await using client = openClient(new URL(site.url.href.replace('http:', 'https:')), { timeoutMs: 200 });
    expect((await client.send(create, anyTime)).outcome).toEqual({
      kind: 'unreachable',
      message: 'Not sent: no complete answer within 200 ms',
    });
  });

  it('past its notAfter', async () => {
    await using site = await openSite([201, xml, job]);
    await using client = openClient(site.url);
    const { outcome } = await client.send(create, { notAfter: deadlineIn(-1) });
    expect(outcome).toEqual({ kind: 'unreachable', message: 'Not sent: its send deadline had passed' });
    expect((await client.send(create, { notAfter: deadlineIn(60_000) })).outcome.kind).toBe('created');
    expect((await client.send(create, { notAfter: deadlineIn(-1) })).outcome.kind).toBe('unreachable');
    expect(site.got).toHaveLength(1);
  });

  it('cancelled before it started', async () => {
    await using site = await openSite([201, xml, job]);
    await using client = openClient(site.url);
    expect((await client.send(create, { ...anyTime, signal: AbortSignal.abort() })).outcome.kind).toBe('unreachable');
    expect(site.got).toHaveLength(0);
  });

  // One connection, used by a request whose answer the site delays, so the next request has to wait.
  async function whileConnectionIsTaken(act: (client: SiteClient) => Promise<Exchange>, free: () => void) {
    const arrivals = new EventEmitter();
    await using site = await openSite((got, response) => {
      if (got.method !== 'PUT') return [201, xml, job];
      arrivals.emit('held', response);
      return undefined;
    });
    await using client = openClient(site.url, { concurrency: 1 });
    const arrived = once(arrivals, 'held') as Promise<ServerResponse[]>;
    const first = client.send(update, anyTime);
    const [held] = await arrived;
    const acted = act(client);
    free();
    held?.writeHead(200).end();
    const { outcome } = await acted;
    expect((await first).outcome.kind).toBe('accepted');
    expect((await client.send(remove, anyTime)).outcome.kind).toBe('accepted');
    return { outcome, methods: site.got.map((got) => got.method) };
  }

  it('cancelled while it waits for a connection: not sent later either', async () => {
    const stop = new AbortController();
    const { outcome, methods } = await whileConnectionIsTaken(
      (client) => client.send(create, { ...anyTime, signal: stop.signal }),
      () => stop.abort(),
    );
    expect(outcome).toEqual({ kind: 'unreachable', message: 'Not sent: the request was cancelled' });
    expect(methods).toEqual(['PUT', 'DELETE']);
  });

  const hour = 3_600_000;
  it.each([
    ['as after a process was suspended', () => vi.advanceTimersByTime(hour)],
    ['while the machine slept, and its steady clock with it', () => vi.setSystemTime(Date.now() + hour)],
    [
      'and the clock was set back by a day',
      () => {
        vi.advanceTimersByTime(hour);
        vi.setSystemTime(Date.now() - 24 * hour);
      },
    ],
  ])('its deadline passes before it gets a connection, %s: not sent', async (_name, pass) => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const { outcome, methods } = await whileConnectionIsTaken(
      (client) => client.send(create, { notAfter: deadlineIn(1000) }),
      pass,
    );
    expect(outcome).toEqual({ kind: 'unreachable', message: 'Not sent: its send deadline had passed' });
    expect(methods).toEqual(['PUT', 'DELETE']);
  });

  it('several addresses, all refused', async () => {
    const { port } = await closedUrl();
    await using client = openClient(new URL(`http://localhost:${port}`));
    expect((await client.send(create, anyTime)).outcome).toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching(/refused.*ECONNREFUSED: connect ECONNREFUSED/),
    });
  });

  it('after close', async () => {
    const client = openClient(await closedUrl());
    await client.close();
    expect((await client.send(create, anyTime)).outcome.kind).toBe('unreachable');
  });
});

describe('started, but no status came back: unknown, sent once', () => {
  const moments: readonly [name: string, treat: (socket: Socket) => void][] = [
    ['reset at the first byte of the request', (socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['closed at the first byte of the request', (socket) => socket.once('data', () => socket.end())],
    ['reset after the request', (socket) => afterRequest(socket, () => socket.resetAndDestroy())],
    ['closed after the request', (socket) => afterRequest(socket, () => socket.end())],
    ['closed in the status line', (socket) => afterRequest(socket, () => socket.end('HTTP/1.1 20'))],
    [
      'closed in the headers',
      (socket) => afterRequest(socket, () => socket.end('HTTP/1.1 201 Created\r\nLocation: /jobs/1')),
    ],
    [
      'closed after an early hint',
      (socket) => afterRequest(socket, () => socket.end('HTTP/1.1 103 Early Hints\r\nLocation: /jobs/9\r\n\r\n')),
    ],
    ['not HTTP', (socket) => afterRequest(socket, () => socket.end('SSH-2.0-x\r\n'))],
    ['silence', (socket) => socket.resume()],
  ];
  it.each(moments)('%s', async (name, treat) => {
    const fails = async (request: SiteRequest) => {
      await using site = await openRawSite(treat);
      await using client = openClient(site.url, { timeoutMs: name === 'silence' ? 4_000 : 30_000 });
      const { outcome, response } = await client.send(request, anyTime);
      const words = name === 'not HTTP' ? /^No answer: the answer is not HTTP\/1\.1/ : /^No answer: (?!.*undefined)/;
      expect(outcome).toEqual({ kind: 'unknown', message: expect.stringMatching(words) });
      expect(response).toBeUndefined();
      expect(site.usedConnections()).toBe(1);
    };
    await Promise.all(all.map(fails));
  });

  it('a kept-alive connection that dies when reused: unknown, and never resent automatically', async () => {
    let requests = 0;
    await using site = await openRawSite((socket) =>
      afterRequest(socket, () => {
        requests++;
        if (requests > 1) socket.resetAndDestroy();
        else socket.write('HTTP/1.1 201 Created\r\nLocation: /jobs/1\r\nContent-Length: 0\r\n\r\n');
      }),
    );
    await using client = openClient(site.url, { concurrency: 1 });
    expect((await client.send(create, anyTime)).outcome.kind).toBe('created');
    expect((await client.send(create, anyTime)).outcome.kind).toBe('unknown');
    expect([requests, site.connections()]).toEqual([2, 1]);
  });

  it('a kept-alive connection that the server has closed meanwhile: a new connection, no doubt', async () => {
    let ended: Promise<unknown> | undefined;
    await using site = await openRawSite((socket) => {
      afterRequest(socket, () => socket.end('HTTP/1.1 201 Created\r\nLocation: /jobs/1\r\nContent-Length: 0\r\n\r\n'));
      ended = once(socket, 'close');
    });
    await using client = openClient(site.url, { concurrency: 1 });
    for (let round = 0; round < 5; round++) {
      expect((await client.send(create, anyTime)).outcome.kind).toBe('created');
      await ended;
    }
    expect(site.connections()).toBe(5);
  });

  it('cancelled while it waits for the answer', async () => {
    const stop = new AbortController();
    await using site = await openRawSite((socket) => afterRequest(socket, () => stop.abort()));
    await using client = openClient(site.url);
    expect((await client.send(create, { ...anyTime, signal: stop.signal })).outcome).toEqual({
      kind: 'unknown',
      message: 'No answer: the request was cancelled',
    });
  });
});

describe('an answer that is cut off after its headers', () => {
  const head = 'HTTP/1.1 201 Created\r\nLocation: /jobs/12\r\nContent-Type: application/xml\r\n';
  it.each([
    ['closed before its length', (socket: Socket) => socket.end(`${head}Content-Length: 500\r\n\r\n<job><id>12`)],
    [
      'reset in a chunk',
      (socket: Socket) =>
        socket.write(`${head}Transfer-Encoding: chunked\r\n\r\nff\r\n<job>`, () => socket.resetAndDestroy()),
    ],
    ['silent from then on', (socket: Socket) => void socket.write(`${head}Content-Length: 500\r\n\r\n<job>`)],
    ['one byte at a time, forever', (socket: Socket) => trickle(socket, `${head}Transfer-Encoding: chunked\r\n\r\n`)],
  ])('%s: the Location proves the job; an update is unknown', async (name, answer) => {
    await using site = await openRawSite((socket) => afterRequest(socket, () => answer(socket)));
    await using client = openClient(site.url, { timeoutMs: /forever|silent/.test(name) ? 4_000 : 30_000 });
    const [created, updated] = await Promise.all([client.send(create, anyTime), client.send(update, anyTime)]);
    expect(created.outcome).toMatchObject({ kind: 'created', siteJob: { siteJobId: '12' } });
    expect(updated.outcome.kind).toBe('unknown');
  });
});

it('an informational answer (103) is ignored', async () => {
  await using site = await openRawSite((socket) =>
    afterRequest(socket, () =>
      socket.end(
        'HTTP/1.1 103 Early Hints\r\nLocation: /jobs/9\r\n\r\nHTTP/1.1 201 Created\r\nLocation: /jobs/12\r\nContent-Length: 0\r\n\r\n',
      ),
    ),
  );
  await using client = openClient(site.url);
  expect((await client.send(create, anyTime)).outcome).toMatchObject({ kind: 'created', siteJob: { siteJobId: '12' } });
});

it('a list that is being read counts as one of the requests at the same time', async () => {
  const answers: ServerResponse[] = [];
  await using site = await openSite((request, response) => {
    if (request.method === 'GET') response.writeHead(200, xml).write('<jobs total="1">');
    else response.writeHead(201, { ...xml, location: '/jobs/12' }).end(job);
    answers.push(response);
  });
  await using client = openClient(site.url, { listPath: '/jobs.xml', concurrency: 1 });
  const listing = client.list(() => undefined, undefined, undefined, 60_000);
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  const created = client.send(create, anyTime);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(answers).toHaveLength(1);
  answers[0]?.end('<job><id>1</id></job></jobs>');
  expect(await listing).toMatchObject({ kind: 'listed' });
  expect((await created).outcome).toMatchObject({ kind: 'created' });
});

describe('a list whose connection ends while it waits to be read', () => {
  const entry = (at: number) => `<job><id>${at}</id><description>${'text '.repeat(20_000)}</description></job>`;
  const list = `<jobs total="4">${[1, 2, 3, 4].map(entry).join('')}</jobs>`;
  const part = list.slice(0, -20);
  const framings: readonly [name: string, head: string, body: string, destroys: boolean, expected: object][] = [
    ['stated length', `Content-Length: ${list.length}\r\n`, list, false, { kind: 'listed' }],
    ['no length', '', list, false, { kind: 'listed' }],
    ['cut off', `Content-Length: ${list.length}\r\n`, part, false, { kind: 'unreadable' }],
    [
      'chunks cut off',
      'Transfer-Encoding: chunked\r\n',
      `${part.length.toString(16)}\r\n${part}`,
      false,
      { kind: 'unreadable' },
    ],
    ['reset', `Content-Length: ${list.length}\r\n`, part, true, { kind: 'unreadable' }],
  ];
  it.each(framings)('%s', async (_name, head, body, destroys, expected) => {
    await using site = await openRawSite((socket) =>
      afterRequest(socket, () => {
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nAge: 1\r\nConnection: close\r\n${head}\r\n${body}`,
        );
        if (destroys) setTimeout(() => socket.resetAndDestroy(), 100);
        else socket.end();
      }),
    );
    await using client = openClient(site.url, { listPath: '/jobs.xml' });
    const slowly = () => new Promise<void>((resolve) => setTimeout(resolve, 200));
    expect(await client.list(slowly as () => void, undefined, undefined, 60_000)).toMatchObject(expected);
  });
});

describe('bodies are limited', () => {
  const huge: readonly [name: string, reply: Reply][] = [
    ['plain', [201, { ...xml, location: '/jobs/12' }, `<job>${'x'.repeat(1_200_000)}</job>`]],
    [
      'gzip',
      [201, { ...xml, location: '/jobs/12', 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(10_000_000, 'x'))],
    ],
  ];
  it.each(huge)('%s', async (_name, reply) => {
    await using site = await openSite(reply);
    await using client = openClient(site.url);
    expect((await client.send(create, anyTime)).outcome).toMatchObject({
      kind: 'created',
      siteJob: { siteJobId: '12', fields: {} },
    });
    const { outcome, response } = await client.send(update, anyTime);
    expect(outcome).toEqual({ kind: 'unknown', message: expect.stringContaining('larger than 1048576 bytes') });
    expect(response?.body.length).toBeLessThanOrEqual(65_536);
  });

  it('corrupt gzip, unknown content encoding', async () => {
    let reply: Reply = [200, { 'content-encoding': 'gzip' }, 'no gzip'];
    await using site = await openSite(() => reply);
    await using client = openClient(site.url);
    expect((await client.send(create, anyTime)).outcome).toMatchObject({
      message: 'The site answered 200 (the answer cannot be decompressed)',
    });
    reply = [200, { 'content-encoding': 'constructor' }, job];
    expect((await client.send(create, anyTime)).outcome).toMatchObject({
      message: expect.stringContaining('unknown content encoding: constructor'),
    });
  });
});

describe('redirects are never followed, and credentials are not sent elsewhere', () => {
  it.each([301, 302, 303, 307, 308])('%i', async (status) => {
    await using other = await openRawSite(() => {});
    for (const location of [new URL('/jobs.xml', other.url).href, other.url.href.replace('http:', 'https:')]) {
      await using site = await openSite([status, { location }]);
      await using client = openClient(site.url, { listPath: '/jobs.xml' });
      for (const request of all) {
        const { outcome } = await client.send(request, anyTime);
        expect(outcome).toEqual({ kind: 'misconfigured', message: expect.stringContaining(new URL(location).origin) });
      }
      expect((await client.list(() => {})).kind).toBe('unreadable');
      expect(await client.probe()).toMatchObject({ kind: 'misconfigured', mayResume: false });
      expect(site.got).toHaveLength(5);
    }
    expect(other.connections()).toBe(0);
  });
});

describe('HTTPS by the scheme of the base URL (section 1)', () => {
  afterEach(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  });

  it('is used, and an unknown certificate is refused before anything is sent', async () => {
    let requests = 0;
    const server = createTlsServer({ cert: certificate, key }, (_request, response) => {
      requests++;
      response.writeHead(201, { location: '/jobs/12' }).end();
    });
    const port = await listen(server);
    const url = new URL(`https://127.0.0.1:${port}`);
    try {
      await using strict = openClient(url);
      expect((await strict.send(create, anyTime)).outcome).toMatchObject({
        kind: 'unreachable',
        message: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      });
      expect(requests).toBe(0);
      // Node.js reads this at each connection; the only way to trust a certificate within a running Node.js 20 process.
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
      await using trusting = openClient(url);
      expect((await trusting.send(create, anyTime)).outcome).toMatchObject({
        kind: 'created',
        siteJob: { url: new URL('/jobs/12', url).href },
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

/** Calls back each time a complete request has arrived on a connection. */
function afterRequest(socket: Socket, then: () => void): void {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
    const [head, body] = text.split('\r\n\r\n');
    const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1] ?? 0);
    if (body === undefined || Buffer.byteLength(body) < length) return;
    text = '';
    then();
  });
}

function trickle(socket: Socket, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
  socket.on('close', () => clearInterval(timer));
}
