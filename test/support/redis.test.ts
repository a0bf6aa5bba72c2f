// The private Redis servers of the tests.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type PrivateRedis, redisForTests } from './redis.ts';

const redis = redisForTests();
afterEach(() => vi.unstubAllEnvs());

describe.skipIf(!redis.available)(`redisForTests${redis.note}`, () => {
  it('starts a server that answers, kills it, and brings one back at the same address', async () => {
    const first = await redis.start();
    expect(await ping(first)).toBe('+PONG\r\n');
    await first.kill();
    await expect(ping(first)).rejects.toThrow('ECONNREFUSED');
    const second = await redis.start(first.port);
    expect(await ping(second)).toBe('+PONG\r\n');
    await second.stop();
  });

  it('reports the output of a server that could not start', async () => {
    const first = await redis.start();
    await expect(redis.start(first.port)).rejects.toThrow('Address already in use');
    await first.stop();
  });
});

describe('without redis-server on PATH', () => {
  it('says so', () => {
    vi.stubEnv('PATH', '/nowhere');
    vi.stubEnv('JOBMIRROR_REQUIRE_ALL', '');
    expect(redisForTests()).toMatchObject({ available: false, note: ' (skipped: no redis-server on PATH)' });
  });

  it('throws if nothing may be skipped', () => {
    vi.stubEnv('PATH', '/nowhere');
    vi.stubEnv('JOBMIRROR_REQUIRE_ALL', '1');
    expect(() => redisForTests()).toThrow('no redis-server on PATH');
  });
});

async function ping(server: PrivateRedis): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    const [answer] = await once(socket, 'data');
    return answer;
  } finally {
    socket.destroy();
  }
}
