// Who may read health and metrics, which name feeds and sites; and that a flood of connections or of sign-ins keeps nobody out.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/read-secret.ts';
import { type HttpServer, startHttp } from '../../src/runtime/http/serve.ts';
import { accessTo } from '../../src/web/access.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { PASSWORD, rawRequest, type Served, type ServeOptions, serve, TOKENS } from './served.ts';

const METRICS_TOKEN = 'a-token-of-metrics';

let served: Served;
let http: HttpServer | undefined;
const mirror = openedForEach(() => openMirror());
afterEach(async () => {
  await http?.close();
  http = undefined;
  await served.close();
});

/** Health and metrics as `start` serves them. */
async function start(options: ServeOptions = {}, metricsToken?: string, host = '127.0.0.1'): Promise<void> {
  served = await serve(mirror, options);
  const config = {
    ...served.app.config,
    listen: { host, port: 0 },
    metricsToken: metricsToken === undefined ? undefined : new Secret(metricsToken),
  };
  const app = { ...served.app, config };
  http = await startHttp(app, async () => new Map(), { mayMonitor: accessTo(app.db, config).mayMonitor });
}

const ask = (path: string, headers: Readonly<Record<string, string | string[]>> = {}) =>
  rawRequest(`http://127.0.0.1:${new URL(http?.url ?? '').port}`, { path, headers });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const FORWARDED = { 'X-Forwarded-For': '203.0.113.9' };

const PATHS = ['/healthz', '/metrics'] as const;
/** What each of the two answers. */
const statuses = async (headers: Readonly<Record<string, string | string[]>> = {}) =>
  Promise.all(PATHS.map(async (path) => (await ask(path, headers)).status));

describe('health and metrics are for', () => {
  it('this machine, unless a proxy passed the request on or it names another machine', async () => {
    await start({ open: true });
    expect(await statuses()).toEqual([200, 200]);
    for (const name of ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Real-IP', 'Forwarded', 'Via']) {
      expect([name, await statuses({ [name]: 'for=203.0.113.9' })]).toEqual([name, [403, 403]]);
    }
    expect(await statuses({ Host: 'evil.example.com' })).toEqual([403, 403]);
    const { body, text } = await ask('/metrics', FORWARDED);
    expect(body.error).toMatch(/set metrics\.token/);
    expect(text).not.toContain('board');
  });

  it('who sends the token of metrics.token; metrics then need it on this machine as well', async () => {
    await start({ open: true }, METRICS_TOKEN);
    expect(await statuses()).toEqual([200, 401]);
    expect(await statuses(FORWARDED)).toEqual([401, 401]);
    expect(await statuses({ ...FORWARDED, ...bearer(METRICS_TOKEN) })).toEqual([200, 200]);
    for (const wrong of [bearer(`${METRICS_TOKEN}x`), { Authorization: `Basic ${METRICS_TOKEN}` }]) {
      expect(await statuses({ ...FORWARDED, ...wrong })).toEqual([401, 401]);
      const refused = await ask('/metrics', wrong);
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(refused.body.error).toMatch(/send the token/);
      expect(refused.text).not.toContain(METRICS_TOKEN);
    }
  });

  it('tokens and signed-in users that may read, whoever passed their request on', async () => {
    await start({ trustedProxies: ['127.0.0.1'] });
    expect(await statuses()).toEqual([200, 200]);
    expect(await statuses(FORWARDED)).toEqual([401, 401]);
    expect(await statuses({ ...FORWARDED, ...bearer(TOKENS.reader) })).toEqual([200, 200]);
    expect(await statuses({ ...FORWARDED, ...bearer('wrong') })).toEqual([401, 401]);
    const cookie = await signedIn();
    expect(await statuses({ ...FORWARDED, Cookie: cookie })).toEqual([200, 200]);
  });

  it('nobody else beyond this machine; who listens there still learns that the process works', async () => {
    await start({ open: true }, undefined, '0.0.0.0');
    expect(await statuses()).toEqual([200, 200]);
    expect(await statuses({ ...FORWARDED, ...bearer('any') })).toEqual([403, 403]);
    const ready = await ask('/readyz', FORWARDED);
    expect([ready.status, ready.body]).toEqual([200, { ok: true }]);
  });

  it('browsers only as what they are', async () => {
    await start({ open: true });
    for (const path of [...PATHS, '/readyz', '/nothing']) {
      expect([path, (await ask(path)).headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
    }
  });
});

async function signedIn(name = 'anna'): Promise<string> {
  const answer = await signIn({}, name, PASSWORD);
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

const signIn = (headers: Readonly<Record<string, string>>, name: string, password: string) =>
  rawRequest(served.url, {
    method: 'POST',
    path: '/sign-in',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: served.url, ...headers },
    body: new URLSearchParams({ name, password }).toString(),
  });

describe('of several session cookies', () => {
  const page = (cookie: string) => rawRequest(served.url, { path: '/api/v1/feeds', headers: { Cookie: cookie } });

  it('one that is no session counts as little as none', async () => {
    await start();
    const own = await signedIn();
    const stale = `jobmirror_session=${'x'.repeat(43)}`;
    expect([(await page(`${stale}; ${own}`)).status, (await page(`${own}; ${stale}`)).status]).toEqual([200, 200]);
    expect((await page(`${own}; ${own}`)).status).toBe(200);
  });

  it('two that are sessions are those of nobody', async () => {
    await start();
    const [anna, ben] = [await signedIn('anna'), await signedIn('ben')];
    expect([(await page(`${ben}; ${anna}`)).status, (await page(`${anna}; ${ben}`)).status]).toEqual([401, 401]);
    expect((await page(anna)).status).toBe(200);
  });
});

it('two Host headers are refused', async () => {
  await start({ open: true });
  const { port } = new URL(served.url);
  const answers = await Promise.all(
    [
      ['evil.example.com', `127.0.0.1:${port}`],
      [`127.0.0.1:${port}`, 'evil.example.com'],
    ].map((hosts) =>
      exchange(Number(port), ['GET / HTTP/1.1', ...hosts.map((host) => `Host: ${host}`), 'Connection: close', '', '']),
    ),
  );
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 400 /);
});

/** Sends lines as they stand. */
async function exchange(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(lines.join('\r\n'));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('utf8');
}

it('connections that send nothing keep nobody out, neither at the same address nor at another', async () => {
  await start({ open: true });
  const { port } = new URL(http?.url ?? '');
  const silent: Socket[] = [];
  try {
    // Fewer at a time than the system keeps for a server that has not accepted them yet: it forgets others without a word.
    for (let opened = 0; opened < 1_100; opened += 220) {
      const some = Array.from({ length: 220 }, (_, n) =>
        connect({ port: Number(port), host: '127.0.0.1', localAddress: `127.0.0.${1 + (n % 5)}` }),
      );
      silent.push(...some);
      for (const socket of some) socket.on('error', () => undefined);
      await Promise.all(some.map((socket) => once(socket, 'connect')));
      // They are accepted in the order in which they came.
      expect((await ask('/readyz')).status).toBe(200);
    }
    await expect.poll(() => silent.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(100);
  } finally {
    for (const socket of silent) socket.destroy();
  }
});

it('wrong sign-ins from many addresses keep nobody out', async () => {
  await start({ trustedProxies: ['127.0.0.1'], costlyPassword: true });
  const from = (n: number) => ({ 'X-Forwarded-For': `203.0.${n >> 8}.${n & 255}` });
  let hashed = 0;
  const flood = Array.from({ length: 80 }, async (_, n) => {
    const answer = await signIn(from(n), 'anna', 'wrong');
    if (answer.status === 401) hashed += 1;
    return answer;
  });
  const right = await signIn(from(999), 'anna', PASSWORD);
  expect(right.status).toBe(303);
  // It waited neither for all of them nor for those before it.
  expect(hashed).toBeLessThan(20);
  const answers = await Promise.all(flood);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 503]));
  const busy = answers.find(({ status }) => status === 503);
  expect([busy?.headers.get('retry-after'), busy?.text]).toEqual([
    '5',
    expect.stringContaining('Too many people are signing in'),
  ]);
});
