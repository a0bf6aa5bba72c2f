// A Redis at its limit, or with settings that lose a queue: the worker waits, says which setting it is, and goes on by itself.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { type Installation, openInstallation, type Running } from '../laws/installation.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { type PrivateRedis, redisForTests } from '../support/redis.ts';

const redis = redisForTests();

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function stage(): Promise<{ installation: Installation; server: PrivateRedis; client: Redis }> {
  const server = await redis.start();
  open.push({ close: () => server.stop() });
  const client = new Redis(server.url);
  open.push({ close: async () => client.disconnect() });
  const installation = await openInstallation({ queue: server.url, site: patientSite(30) });
  open.push(installation);
  return { installation, server, client };
}

/** Resolves once the process has printed a text. */
async function untilPrinted({ child }: Running, text: string): Promise<void> {
  let printed = '';
  const collect = (piece: Buffer): void => {
    printed += piece.toString();
  };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', collect);
  while (!printed.includes(text)) {
    if (child.exitCode !== null) throw new Error(`it ended without "${text}": ${printed}`);
    await Promise.race([once(child.stderr as NodeJS.ReadableStream, 'data'), once(child, 'exit'), pause(1_000)]);
  }
}

async function commandsOf(client: Redis): Promise<number> {
  return Number(/^total_commands_processed:(\d+)/m.exec(await client.info('stats'))?.[1]);
}

const OBSERVED_MS = 4_000;
/** A worker that does not wait asks some thirty thousand times a second. */
const MOST_COMMANDS = 400;

describe.skipIf(!redis.available)(`Redis${redis.note}`, () => {
  it('that is full is waited for and named, and what waits is sent once there is room', async () => {
    const { installation, client } = await stage();
    await installation.writeFeed(feedXml(postings(5)));
    await client.config('SET', 'maxmemory', '1');
    const sync = installation.spawn(['sync', '--json']);
    await untilPrinted(sync, 'maxmemory');
    const before = await commandsOf(client);
    // What it does meanwhile takes time, and ends with no event.
    await pause(OBSERVED_MS);
    expect((await commandsOf(client)) - before).toBeLessThan(MOST_COMMANDS);
    expect((await installation.siteJobs()).size).toBe(2);
    await client.config('SET', 'maxmemory', '0');
    const { status, output } = await sync.ended;
    expect(output).toContain('"created":5');
    expect(output).not.toContain('not reachable');
    expect(status).toBe(0);
  });

  it('that becomes full while a worker runs is waited for', async () => {
    const { installation, client } = await stage();
    await installation.writeFeed(feedXml(postings(3)));
    const worker = installation.spawn(['work']);
    await worker.started;
    await client.config('SET', 'maxmemory', '1');
    await untilPrinted(worker, 'maxmemory');
    const before = await commandsOf(client);
    await pause(OBSERVED_MS);
    expect((await commandsOf(client)) - before).toBeLessThan(MOST_COMMANDS);
    await client.config('SET', 'maxmemory', '0');
    expect(await installation.sync()).toMatchObject({ status: 'mirrored', created: 3 });
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ status: 0 });
  });

  it('that may remove keys, is full, or a replica, is warned about by check and at the start', async () => {
    const { installation, client } = await stage();
    await installation.writeFeed(feedXml(postings(1)));
    const check = async () => runProgram(installation, 'check');
    expect((await check()).out).not.toContain('maxmemory');
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await check()).toMatchObject({
      status: 0,
      out: expect.stringMatching(/warning: queue: Redis at .* maxmemory-policy is allkeys-lru; set it to noeviction/),
    });
    const { status, output } = await installation.spawn(['sync']).ended;
    expect(output).toContain('its maxmemory-policy is allkeys-lru; set it to noeviction');
    expect(status).toBe(0);
    await client.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
    expect((await check()).out).toMatch(/warning: queue: Redis at .* is full: it has reached its maxmemory of 1 bytes/);
    await client.replicaof('127.0.0.1', 1);
    expect((await check()).out).toMatch(
      /warning: queue: Redis at .* is a replica of another one: configure .* primary/,
    );
  });
});
