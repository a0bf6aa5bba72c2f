// GET /healthz over real HTTP: its responses, timeouts and shutdown.
import { afterEach, describe, expect, it } from 'vitest';
import { type Health, type HttpServer, healthRoutes, startHttpServer } from '../../../src/runtime/http/serve.ts';

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(check: () => Promise<Health>, checkTimeoutMs?: number): Promise<string> {
  server = await startHttpServer({ host: '127.0.0.1', port: 0, routes: healthRoutes({ check, checkTimeoutMs }) });
  return server.url;
}

describe('GET /healthz', () => {
  it.each([
    ['a healthy process', async () => ({ ok: true, feeds: 2 }), 200, { ok: true, feeds: 2 }],
    ['an unhealthy one', async () => ({ ok: false, database: 'down' }), 503, { ok: false, database: 'down' }],
    [
      'a check that throws, without revealing why',
      async () => {
        throw new Error('postgres://user:password@db');
      },
      503,
      { ok: false, error: 'the check failed' },
    ],
  ])('answers for %s', async (_name, check, status, body) => {
    const response = await fetch(`${await start(check)}/healthz`);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual(body);
  });

  it('does not wait forever', async () => {
    const response = await fetch(`${await start(() => new Promise(() => {}), 5)}/healthz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ ok: false, error: 'no result after 5 ms' });
  });

  it('shares one check among concurrent requests, and runs a new one afterwards', async () => {
    let checks = 0;
    let finish: (health: Health) => void = () => {};
    const url = await start(() => {
      checks++;
      return new Promise((resolve) => {
        finish = resolve;
      });
    }, 60_000);
    const together = Array.from({ length: 5 }, () => fetch(`${url}/healthz`));
    // The 404 comes at once; all earlier connections have been accepted by then and share the running check.
    await fetch(`${url}/`);
    finish({ ok: true });
    expect((await Promise.all(together)).map((response) => response.status)).toEqual([200, 200, 200, 200, 200]);
    expect(checks).toBe(1);
  });
});

describe('everything else', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/healthz/more'],
    ['POST', '/healthz'],
    ['DELETE', '/healthz'],
  ])('%s %s is 404', async (method, path) => {
    const url = await start(async () => ({ ok: true }));
    expect((await fetch(url + path, { method })).status).toBe(404);
  });

  it('a query is ignored, and HEAD answers without a body', async () => {
    const url = await start(async () => ({ ok: true }));
    const response = await fetch(`${url}/healthz?from=probe`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });
});

it('reports a port in use', async () => {
  const url = new URL(await start(async () => ({ ok: true })));
  const routes = healthRoutes({ check: async () => ({ ok: true }) });
  const second = startHttpServer({ host: url.hostname, port: Number(url.port), routes });
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

it('closes even while a request is waiting for its check', async () => {
  let begun: () => void = () => {};
  const checkBegan = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const url = await start(() => {
    begun();
    return new Promise(() => {});
  });
  const waiting = expect(fetch(`${url}/healthz`)).rejects.toThrow();
  await checkBegan;
  await server?.close();
  server = undefined;
  await waiting;
});
