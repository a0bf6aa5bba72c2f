// After tests whose timers are stepped, those of the HTTP client keep working in the same process.
import { request } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { serveWeb, type WebServer } from '../feed/web-server.ts';
import { stepTimers } from './stepped-timers.ts';

let server: WebServer;
afterEach(() => server.close());

it('limits of requests are those of the real clock once timers are no longer stepped', {
  timeout: 60_000,
}, async () => {
  server = await serveWeb((_request, response) => response.end('here'));
  const stop = stepTimers();
  const { body } = await request(server.origin, { headersTimeout: 60_000 });
  expect(await body.text()).toBe('here');
  stop();
  await server.close();
  server = await serveWeb(() => undefined);
  await expect(request(server.origin, { headersTimeout: 1_100 })).rejects.toThrow('Headers Timeout');
});
