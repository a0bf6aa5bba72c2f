// A single document over HTTP is requested again after failures that pass, until some of it has arrived.
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { readFeed } from '../../src/feed/read-feed.ts';
import type { SourceConfig } from '../../src/feed/source/sources.ts';
import { collect, generousLimits, sourceOf } from './collect.ts';
import { serveWeb, type WebServer } from './web-server.ts';

let server: WebServer;
afterEach(() => server.close());

const FEED = '<source><job><id>1</id></job></source>';
type Answer = (response: ServerResponse, asked: number) => unknown;

async function read(answer: Answer, limits: object = {}, several = false) {
  let asked = 0;
  server = await serveWeb((_, response) => void answer(response, ++asked));
  const { from, ...source } = sourceOf({ location: `${server.origin}/feed.xml?secret` });
  if (from.kind !== 'http') throw new Error('no web address');
  const http = { ...from, retry: { attempts: 3, firstDelayMs: 10, maxDelayMs: 10_000 } };
  const config: SourceConfig = several
    ? { kind: 'several', members: [http], limits: { firstByteTimeoutMs: 10_000, minBytesPerSecond: 1 } }
    : http;
  const sink = collect();
  const { signal } = new AbortController();
  const reading = await readFeed({ ...source, from: config, limits: { ...generousLimits, ...limits } }, sink, {
    signal,
  });
  return { reading, records: sink.records, requests: server.requests.length };
}

const whole = (response: ServerResponse) => response.end(FEED);
const READ = { reading: { kind: 'read', shortfalls: [] }, records: ['<job><id>1</id></job>'] };

describe('a document is requested again', () => {
  it.each<[string, Answer]>([
    ['after 503', (response) => response.writeHead(503).end()],
    ['after 429', (response) => response.writeHead(429, { 'retry-after': '0' }).end()],
    ['after a connection that was closed', (response) => response.destroy()],
    [
      'after a response without its body',
      (response) => {
        response.writeHead(200, { 'content-length': FEED.length }).flushHeaders();
        setImmediate(() => response.destroy());
      },
    ],
  ])('%s', async (_, failing) => {
    const answer: Answer = (response, asked) => (asked < 3 ? failing(response, asked) : whole(response));
    expect(await read(answer)).toMatchObject({ ...READ, requests: 3 });
  });

  it('as one of several sources too', async () => {
    const answer: Answer = (response, asked) => (asked < 3 ? response.writeHead(502).end() : whole(response));
    expect(await read(answer, {}, true)).toMatchObject({ ...READ, requests: 3 });
  });

  it('after the wait that it asks for, during which the limit on the first byte does not count', async () => {
    const times: number[] = [];
    const answer: Answer = (response, asked) => {
      times.push(performance.now());
      return asked === 1 ? response.writeHead(503, { 'retry-after': '5' }).end() : whole(response);
    };
    expect(await read(answer, { firstByteTimeoutMs: 4_000 })).toMatchObject({ ...READ, requests: 2 });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(4_990);
  });
});

describe('a document is not requested again', () => {
  it.each<[string, Answer, number, RegExp]>([
    [
      'that does not exist',
      (response) => response.writeHead(404).end(),
      1,
      /answered 404 Not Found; check its address/,
    ],
    ['that is refused', (response) => response.writeHead(403).end(), 1, /answered 403/],
    [
      'if it asks for too long a wait',
      (response) => response.writeHead(503, { 'retry-after': '60' }).end(),
      1,
      /answered 503 .*; it asks to wait 60 s/,
    ],
    ['more often than configured', (response) => response.writeHead(500).end(), 3, /answered 500/],
  ])('%s', async (_, answer, requests, message) => {
    const result = await read(answer);
    expect(result).toMatchObject({ reading: { kind: 'failed' }, records: [], requests });
    expect(JSON.stringify(result.reading)).toMatch(message);
    expect(JSON.stringify(result.reading)).not.toContain('secret');
  });

  it('once some of it has arrived: then it is not complete', async () => {
    const answer: Answer = (response) => {
      response.writeHead(200, { 'content-length': 1000 }).write(FEED.slice(0, 35));
      // Enough time for it to arrive: nothing shows that before the end.
      setTimeout(() => response.destroy(), 2_000);
    };
    const { reading, records, requests } = await read(answer);
    expect([requests, records]).toEqual([1, ['<job><id>1</id></job>']]);
    expect(reading).toMatchObject({
      kind: 'read',
      shortfalls: expect.arrayContaining([expect.stringMatching(/broke off/)]),
    });
  });

  it('after the limit on the first byte', async () => {
    const { reading, requests } = await read(() => undefined, { firstByteTimeoutMs: 4_000 });
    expect([requests, reading]).toMatchObject([
      1,
      { kind: 'failed', message: expect.stringMatching(/no data arrived within 4 s/) },
    ]);
  });
});
