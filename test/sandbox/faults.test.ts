// Every fault over HTTP: what the client sees, and what the site has afterwards.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { faultTable, readFault } from '../../src/sandbox/interface/fault-table.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, basic, jobOf, nurse, openTestSandbox, rootOf, type TestSandbox } from './test-sandbox.ts';

let site: TestSandbox;
let token: string;

beforeAll(async () => {
  // Nobody else takes the port while the sandbox refuses connections.
  site = await openTestSandbox({ port: await freePort() });
  token = site.token;
});
afterEach(async () => {
  await site.sandbox.setFaults([]);
  await site.sandbox.requests.idle();
  for (const job of await site.sandbox.inspect.jobs()) await site.sandbox.inspect.removeJob(job.id);
});
afterAll(() => site.end());

/** Sets faults from text, as the command line does. */
const set = (...texts: string[]): Promise<void> => site.sandbox.setFaults(texts.map(readFault));

/** Sends a create; returns the response, or the error code. */
const create = (timeoutMs?: number): Promise<Answer | string> =>
  site
    .send('POST', '/jobs.xml', { token, body: jobOf(nurse), timeoutMs })
    .catch((error: { code?: string }) => error.code ?? String(error));

/** The number of jobs on the site once no request is in flight. */
async function made(): Promise<number> {
  await site.sandbox.requests.idle();
  return site.sandbox.inspect.count();
}

/** Waits until the site has received this many requests since its start. */
async function arrived({ sandbox }: TestSandbox, count: number): Promise<void> {
  while (sandbox.requests.total() < count) await new Promise(setImmediate);
}

/** A create as it is sent over a connection. */
const requestOf = (body: string): string =>
  `POST /jobs.xml HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(token)}\r\nContent-Type: application/xml\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

const BROKEN = /^(ECONNRESET|UND_ERR_SOCKET|EPIPE)$/;

describe('connections', () => {
  it('latency: the answer is the site’s', async () => {
    await set('latency=ms:30');
    expect(await create()).toMatchObject({ status: 201 });
    expect(site.sandbox.requests.recent().at(-1)).toMatchObject({ faults: ['latency'], status: 201 });
  });

  it.each([
    ['reset-before', 0],
    ['reset-during', 1],
    ['reset-after', 1],
    ['cut', 1],
  ])('%s: the connection breaks, %d jobs are created', async (fault, jobs) => {
    await set(fault);
    expect(await create()).toMatch(BROKEN);
    expect(await made()).toBe(jobs);
    const last = site.sandbox.requests.recent().at(-1);
    expect([last?.faults, last?.processed, last?.status]).toEqual([[fault], jobs === 1 ? 201 : undefined, undefined]);
  });

  it.each(['reset-during', 'timeout-late=ms:0'])('%s: first receives a long request completely', async (fault) => {
    await set(fault);
    const ended = site.sandbox.requests.next(({ faults }) => faults.length > 0);
    const socket = connect(site.sandbox.port, '127.0.0.1');
    socket.on('error', () => undefined);
    // Once the system has taken all of it, it arrives, even if the connection is closed.
    const request = requestOf(jobOf({ ...nurse, description: 'x'.repeat(900_000) }));
    await new Promise<void>((resolve) => socket.write(request, () => resolve()));
    socket.destroy();
    expect(await ended).toMatchObject({ processed: 201 });
    expect(await made()).toBe(1);
  });

  it.each([
    ['reset-before', 0],
    ['reset-during', 1],
    ['reset-after', 1],
  ])('%s: the request also ends if its client has just closed its side, %d jobs are created', async (fault, jobs) => {
    await set(fault);
    const socket = connect(site.sandbox.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume().end(requestOf(jobOf(nurse)));
    await new Promise((resolve) => socket.once('close', resolve));
    expect(await made()).toBe(jobs);
  });

  it('cut: sends half of the response', async () => {
    await set('cut');
    const socket = connect(site.sandbox.port, '127.0.0.1');
    socket.write(requestOf(jobOf(nurse)));
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    await once(socket, 'close');
    expect(received).toContain('HTTP/1.1 201 Created');
    expect(received).toContain('<job>');
    expect(received).not.toContain('</job>');
  });

  it.each([
    ['timeout', 0],
    ['timeout-made', 1],
    ['timeout-late=ms:0', 1],
  ])('%s: no response comes, %d jobs are created', async (fault, jobs) => {
    await set(fault);
    const before = site.sandbox.requests.total();
    expect(await create(100)).toBe('UND_ERR_HEADERS_TIMEOUT');
    // The client may give up before the site has read the request.
    await arrived(site, before + 1);
    expect(await made()).toBe(jobs);
  });

  it('timeout-late: the job is created only once the client is gone', async () => {
    await set('timeout-late=ms:0');
    const before = site.sandbox.requests.total();
    const socket = connect(site.sandbox.port, '127.0.0.1');
    socket.write(requestOf(jobOf(nurse)));
    await arrived(site, before + 1);
    // Meanwhile another request is answered completely: there is still no job.
    await site.sandbox.setFaults([]);
    await site.send('GET', '/jobs.xml');
    expect(await site.sandbox.inspect.count()).toBe(0);
    const ended = site.sandbox.requests.next(({ faults }) => faults.includes('timeout-late'));
    socket.destroy();
    expect(await ended).toMatchObject({ processed: 201 });
    expect(await site.sandbox.inspect.count()).toBe(1);
  });

  it('refuse: refuses new connections at once, closes open ones, and reopens the same port when removed', async () => {
    await create();
    await set('refuse');
    expect(await create()).toMatch(/^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/);
    expect(await create()).toBe('ECONNREFUSED');
    await set();
    expect(await create()).toMatchObject({ status: 201 });
  });

  it('refuse with a condition: the affected request is still answered', async () => {
    await set('refuse=after:1');
    expect(await create()).toMatchObject({ status: 201 });
    expect(await create()).toMatchObject({ status: 201 });
    await site.sandbox.requests.idle();
    expect(await create()).toMatch(/^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/);
    expect(await create()).toBe('ECONNREFUSED');
  });

  it('refuse: a request in flight is still answered, and its connection is not reused', async () => {
    await set('latency=ms:50');
    const before = site.sandbox.requests.total();
    const underWay = create();
    await arrived(site, before + 1);
    await set('refuse');
    expect(await underWay).toMatchObject({ status: 201 });
    await site.sandbox.requests.idle();
    expect(await create()).toMatch(/^(ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET)$/);
  });

  it('refuse with a time: ends by itself', async () => {
    await set('refuse=ms:2000');
    expect(await create()).toBe('ECONNREFUSED');
    await expect.poll(create, { interval: 20 }).toMatchObject({ status: 201 });
  });
});

describe('statuses', () => {
  it.each([
    ['500', 500, 0],
    ['500=made:yes', 500, 1],
    ['502', 502, 0],
    ['502=made:yes', 502, 1],
    ['504', 504, 0],
    ['504=made:yes', 504, 1],
    ['503', 503, 0],
    ['429', 429, 0],
    ['401', 401, 0],
    ['403', 403, 0],
    ['404', 404, 0],
  ])('%s: status %d, %d jobs are created', async (fault, status, jobs) => {
    await set(fault);
    const answer = (await create()) as Answer;
    expect(answer.status).toBe(status);
    expect(rootOf(answer).name).toBe('error');
    expect(await made()).toBe(jobs);
  });

  it.each([
    ['429', '1'],
    ['429=seconds:7', '7'],
    ['429=retry-after:none', undefined],
    ['503', undefined],
    ['503=retry-after:seconds,seconds:3', '3'],
  ])('%s: Retry-After is %s', async (fault, expected) => {
    await set(fault);
    expect(((await create()) as Answer).headers['retry-after']).toBe(expected);
  });

  it.each(['429', '503'])('%s with a date', async (fault) => {
    await set(`${fault}=retry-after:date,seconds:60`);
    const before = Date.now();
    const date = String(((await create()) as Answer).headers['retry-after']);
    expect(date).toBe(new Date(date).toUTCString());
    expect(Date.parse(date)).toBeGreaterThanOrEqual(before + 60_000);
    expect(Date.parse(date)).toBeLessThan(Date.now() + 61_001);
  });

  it('401: names the scheme', async () => {
    await set('401');
    expect(((await create()) as Answer).headers['www-authenticate']).toMatch(/^Basic/);
  });
});

describe('bodies', () => {
  it('malformed: 201, and XML that ends in the middle', async () => {
    await set('malformed');
    const answer = (await create()) as Answer;
    expect(answer.status).toBe(201);
    expect(answer.text).toContain('<job>');
    expect(() => rootOf(answer)).toThrow();
    expect(await made()).toBe(1);
  });

  it('empty: 201, with Location and nothing in it', async () => {
    await set('empty');
    const answer = (await create()) as Answer;
    expect([answer.status, answer.text]).toEqual([201, '']);
    expect(answer.headers.location).toBeDefined();
    expect(await made()).toBe(1);
  });

  it('huge: has the requested length', async () => {
    await set('huge=bytes:3000000');
    const answer = (await create()) as Answer;
    expect(rootOf(answer).children[0]?.text).toHaveLength(3_000_000);
    expect(await made()).toBe(1);
  });

  it('huge: ends when the client closes the connection', async () => {
    await set('huge=bytes:1000000000');
    const socket = connect(site.sandbox.port, '127.0.0.1');
    socket.write('GET /jobs.xml HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    socket.destroy();
    await site.sandbox.requests.idle();
    const last = site.sandbox.requests.recent().at(-1);
    expect([last?.faults, last?.status]).toEqual([['huge'], undefined]);
  });

  it('slow: the whole response, in pieces', async () => {
    await set('slow=ms:40');
    const answer = (await create()) as Answer;
    expect([answer.status, rootOf(answer).name]).toEqual([201, 'job']);
  });

  it.each([
    ['html', 502, 0],
    ['html=status:200', 200, 0],
    ['html=status:500,made:yes', 500, 1],
  ])('%s: a page, %d jobs', async (fault, status, jobs) => {
    await set(fault);
    const answer = (await create()) as Answer;
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toMatch(/^text\/html/);
    expect(answer.text).toMatch(/^<!DOCTYPE html>/);
    expect(await made()).toBe(jobs);
  });

  it.each([
    ['redirect-https', 301, /^https:\/\/127\.0\.0\.1:\d+\/jobs\.xml$/],
    ['redirect-host', 302, /^http:\/\/elsewhere\.invalid\/jobs\.xml$/],
    ['redirect-host=to:http://127.0.0.1:9,status:307', 307, /^http:\/\/127\.0\.0\.1:9\/jobs\.xml$/],
  ])('%s', async (fault, status, location) => {
    await set(fault);
    const answer = (await create()) as Answer;
    expect(answer.status).toBe(status);
    expect(answer.headers.location).toMatch(location);
    expect(await made()).toBe(0);
  });

  it.each(['malformed', 'empty', 'huge=bytes:10', 'slow=ms:0'])('%s on a response without body', async (fault) => {
    site.sandbox.setSettings({ deleteStatus: 204 });
    const id = await site.create(nurse);
    await set(fault);
    expect((await site.send('DELETE', `/jobs/${id}.xml`, { token })).status).toBeLessThan(300);
    expect(await made()).toBe(0);
  });
});

describe('conditions', () => {
  const statuses = async (count: number): Promise<number[]> => {
    const seen: number[] = [];
    for (let at = 0; at < count; at += 1) seen.push(((await create()) as Answer).status);
    return seen;
  };

  it('after and count', async () => {
    await set('503=after:2,count:2');
    expect(await statuses(6)).toEqual([201, 201, 503, 503, 201, 201]);
  });

  it('rate: strikes the same requests each time, at about the given rate', async () => {
    await set('503=rate:0.3');
    const first = await statuses(30);
    await set('503=rate:0.3');
    expect(await statuses(30)).toEqual(first);
    expect(first.filter((status) => status === 503).length).toBeGreaterThan(4);
    expect(first.filter((status) => status === 503).length).toBeLessThan(15);
  });

  it('on: strikes only these operations, and does not count others', async () => {
    await set('503=on:update+delete,after:1');
    const id = await site.create(nurse);
    const put = () => site.send('PUT', `/jobs/${id}.xml`, { token, body: jobOf({ title: 'x' }) });
    expect([(await put()).status, (await put()).status]).toEqual([200, 503]);
    expect((await site.send('GET', '/jobs.xml')).status).toBe(200);
    expect((await site.send('DELETE', `/jobs/${id}.xml`, { token })).status).toBe(503);
  });

  it('several at once: the first in the table is outermost', async () => {
    await set('500=made:yes', 'latency=ms:1', 'reset-after=count:1');
    expect(await create()).toMatch(BROKEN);
    expect(await create()).toMatchObject({ status: 500 });
    expect(await made()).toBe(2);
    expect(
      site.sandbox.requests
        .recent()
        .slice(-2)
        .map(({ faults }) => faults),
    ).toEqual([
      ['latency', 'reset-after', '500'],
      ['latency', '500'],
    ]);
  });

  it('does not affect pages', async () => {
    await set('500');
    expect((await site.send('GET', '/jobs')).status).toBe(200);
  });
});

describe('closing', () => {
  it('ends hanging requests and delays without creating a job', async () => {
    const other = await openTestSandbox();
    await other.sandbox.setFaults([readFault('timeout-late=ms:60000,count:1'), readFault('latency=ms:60000,after:1')]);
    const send = () =>
      other
        .send('POST', '/jobs.xml', { token: other.token, body: jobOf(nurse) })
        .catch((error: { code: string }) => error.code);
    const answers = [send(), send()];
    await arrived(other, 2);
    await other.end();
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/ECONNRESET|UND_ERR/);
  });
});

describe('as text', () => {
  it('parses each fault by its name', () => {
    for (const { name } of faultTable) expect(readFault(name)).toEqual({ name });
  });

  it('parses parameters and conditions', () => {
    expect(readFault('429=retry-after:date,seconds:5,on:create+update,after:3,count:2,rate:0.5')).toEqual({
      name: '429',
      retryAfter: 'date',
      seconds: 5,
      on: ['create', 'update'],
      after: 3,
      count: 2,
      rate: 0.5,
    });
    expect(readFault('500=made:yes')).toEqual({ name: '500', made: true });
  });

  it.each([
    ['gremlins', /no fault 'gremlins': there are latency, refuse, /],
    ['latency=speed:1', /latency has no parameter 'speed': it takes ms, on, after, count, rate/],
    ['500=seconds:1', /500 has no parameter 'seconds'/],
    ['latency=ms:-1', /ms '-1' is not one of 0 to/],
    ['latency=ms:', /ms '' is not/],
    ['500=made:maybe', /made 'maybe' is not one of yes, no/],
    ['500=made:toString', /made 'toString' is not/],
    ['500=rate:2', /rate '2' is not one of 0 to 1/],
    ['500=on:patch', /on 'patch' is not one of show, create/],
    ['redirect-host=to:elsewhere', /to 'elsewhere' is not one of http/],
  ])('refuses %s', (text, message) => {
    expect(() => readFault(text)).toThrow(message);
  });
});
