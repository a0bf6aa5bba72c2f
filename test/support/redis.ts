// Starts private Redis servers from the `redis-server` on PATH; without one, explains why tests are skipped.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** A private server that stores nothing on disk unless told to with `CONFIG SET`. */
export interface PrivateRedis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Shuts it down and removes its folder. */
  stop(): Promise<void>;
  /** `kill -9`, and waits until it is gone. To bring one back at the same address, call `start` with its port. */
  kill(): Promise<void>;
}

export interface RedisForTests {
  readonly available: boolean;
  /** Title suffix for a suite that needs Redis, giving the reason for a skip. */
  readonly note: string;
  /** Starts a server on `port`, or on a free one. If it does not start, throws its output. */
  start(port?: number): Promise<PrivateRedis>;
}

/**
 * Redis for tests on this machine.
 * @throws Error if there is none and `JOBMIRROR_REQUIRE_ALL=1` forbids skipping (as in CI).
 */
export function redisForTests(): RedisForTests {
  const available = spawnSync('redis-server', ['--version']).status === 0;
  if (!available && process.env.JOBMIRROR_REQUIRE_ALL === '1') {
    throw new Error(
      'JOBMIRROR_REQUIRE_ALL=1, but no redis-server on PATH: install it (Debian: apt-get install redis-server)',
    );
  }
  return { available, note: available ? '' : ' (skipped: no redis-server on PATH)', start: startRedis };
}

/** Tries another free port if somebody takes the chosen one before the server does. */
async function startRedis(port?: number): Promise<PrivateRedis> {
  if (port !== undefined) return startAt(port);
  for (;;) {
    try {
      return await startAt(await freePort());
    } catch (error) {
      if (!`${error}`.includes('Address already in use')) throw error;
    }
  }
}

async function startAt(port: number): Promise<PrivateRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-redis-'));
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', [...settings, '--maxmemory-policy', 'noeviction'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  // Kill it even if a test forgets to.
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('exit', () => process.off('exit', endWithUs));
  await ready(child).catch(async (error) => {
    await rm(folder, { recursive: true });
    throw error;
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** Resolves once the server accepts connections. Keeps reading its output, so the pipe never fills, and to its end if it fails. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      if (said.length < 10_000) said += chunk.toString();
      if (said.includes('Ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`redis-server ended with status ${code}: ${said}`)));
  });
}
