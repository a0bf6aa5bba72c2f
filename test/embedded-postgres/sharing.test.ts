// Several processes share one server: joining, leaving, and being killed at any moment.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { countOf, runsEverything } from '../support/extent.ts';
import { itInAll } from '../support/in-all.ts';
import { runSql } from '../support/sql.ts';
import {
  copiedFolder,
  environmentOf,
  homeOf,
  killServer,
  newDataFolder,
  postmasterPid,
  withoutSync,
} from './data-folder.ts';
import { startMember } from './member.ts';

// Each test starts several servers or processes in turn, possibly on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const started = 'select pg_postmaster_start_time()::text as start';

describe('members of one server', () => {
  it('that start at the same time create one cluster and one server; the last to leave stops it', async () => {
    const dataDir = newDataFolder();
    const members = Array.from({ length: countOf(undefined, 3, 2) }, () => startMember(dataDir));
    const urls = await Promise.all(members.map((member) => member.joined()));
    expect(new Set(urls).size).toBe(1);
    expect(members.flatMap((member) => member.notices).filter((text) => text.includes('Preparing'))).toHaveLength(1);
    const pid = postmasterPid(dataDir);
    const last = members.pop();
    for (const member of members) await member.leave();
    expect(postmasterPid(dataDir)).toBe(pid);
    // Enough for 22 commands at once: each may use twenty connections.
    const [limit] = await runSql<{ max_connections: string }>(urls[0] ?? '', 'show max_connections');
    expect(Number(limit?.max_connections)).toBeGreaterThanOrEqual(440);
    await last?.leave();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  itInAll('find their data again after a stop', async () => {
    const dataDir = await copiedFolder();
    const first = await openEmbeddedServer(dataDir);
    expect(await runSql(first.url(), 'show fsync')).toEqual([{ fsync: 'on' }]);
    await runSql(first.url(), 'create table mark ()');
    await first.leave();
    const second = await openEmbeddedServer(dataDir, withoutSync);
    expect(await runSql(second.url(), 'select * from mark')).toEqual([]);
    expect(second.url()).toBe(first.url());
    await second.leave();
  });

  itInAll('come and go in any order without ever connecting to a stopping server', async () => {
    const dataDir = await copiedFolder();
    const visit = async () => {
      const server = await openEmbeddedServer(dataDir, withoutSync);
      await runSql(server.url(), 'select 1');
      await server.leave();
    };
    const visitor = async () => {
      for (let round = 0; round < 4; round++) await visit();
    };
    await Promise.all([visitor(), visitor(), visitor()]);
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  itInAll('may leave twice', async () => {
    const server = await openEmbeddedServer(await copiedFolder(), withoutSync);
    await server.leave();
    await expect(server.leave()).resolves.toBeUndefined();
  });
});

describe('a member killed with -9', () => {
  itInAll('that started the server does not disturb the others, and the last of them stops it', async () => {
    const dataDir = await copiedFolder();
    const starter = startMember(dataDir);
    await starter.joined();
    const other = await openEmbeddedServer(dataDir, withoutSync);
    await starter.kill('SIGKILL');
    await runSql(other.url(), 'select 1');
    await other.leave();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  itInAll('as the only member leaves a server that the next one uses and stops', async () => {
    const dataDir = await copiedFolder();
    const killed = startMember(dataDir);
    const [before] = await runSql(await killed.joined(), started);
    await killed.kill('SIGKILL');
    const next = await openEmbeddedServer(dataDir, withoutSync);
    expect(await runSql(next.url(), started)).toEqual([before]);
    await next.leave();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  itInAll('while creating the cluster leaves nothing half done', async () => {
    const dataDir = newDataFolder();
    const killed = startMember(dataDir);
    await killed.noticed(/Preparing/);
    const area = join(dataDir, 'postgres');
    while (!readdirSync(area).some((name) => name.startsWith('half-made-'))) await delay(1);
    await killed.kill('SIGKILL');
    const next = await openEmbeddedServer(dataDir, withoutSync);
    await runSql(next.url(), 'select 1');
    expect(readdirSync(area).filter((name) => !name.startsWith('lock-'))).toEqual(['cluster']);
    await next.leave();
  });

  itInAll('while starting the server leaves one that the next member uses', async () => {
    const dataDir = await copiedFolder();
    const killed = startMember(dataDir);
    while (!existsSync(join(homeOf(dataDir), 'data', 'postmaster.pid'))) await delay(1);
    await killed.kill('SIGKILL');
    const next = await openEmbeddedServer(dataDir, withoutSync);
    await runSql(next.url(), 'select 1');
    await next.leave();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });
});

describe('a server killed with -9', () => {
  itInAll('is restarted by its members, at the same address and with its data', async () => {
    const dataDir = await copiedFolder();
    const members = [startMember(dataDir), startMember(dataDir)];
    const [url = ''] = await Promise.all(members.map((member) => member.joined()));
    await runSql(url, 'create table mark ()');
    await killServer(dataDir);
    await Promise.all(members.map((member) => member.noticed(/is back\./)));
    expect(await runSql(url, 'select * from mark')).toEqual([]);
    await members[0]?.leave();
    expect(postmasterPid(dataDir)).toBeDefined();
    await members[1]?.leave();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  itInAll('together with its members is restarted by the next one', async () => {
    const dataDir = await copiedFolder();
    const member = startMember(dataDir);
    await runSql(await member.joined(), 'create table mark ()');
    await member.kill('SIGKILL');
    await killServer(dataDir);
    const next = await openEmbeddedServer(dataDir, withoutSync);
    expect(await runSql(next.url(), 'select * from mark')).toEqual([]);
    await next.leave();
  });
});

describe('the server', () => {
  itInAll('survives Ctrl-C in the process group that started it', async () => {
    const dataDir = await copiedFolder();
    const member = startMember(dataDir, { ownGroup: true });
    const url = await member.joined();
    const pid = postmasterPid(dataDir);
    process.kill(-(member.process.pid ?? 0), 'SIGINT');
    await member.kill('SIGINT');
    const next = await openEmbeddedServer(dataDir, withoutSync);
    expect(postmasterPid(dataDir)).toBe(pid);
    expect(next.url()).toBe(url);
    await next.leave();
  });

  it.skipIf(process.platform !== 'linux' || !runsEverything)(
    'receives none of our secrets in its environment',
    async () => {
      const dataDir = await copiedFolder();
      const member = startMember(dataDir, { env: { BOARD_TOKEN: 'canary' } });
      await member.joined();
      expect(environmentOf(postmasterPid(dataDir) ?? 0)).not.toContain('canary');
      await member.leave();
    },
  );

  itInAll('of another data folder is separate', async () => {
    const [one, two] = await Promise.all([
      openEmbeddedServer(await copiedFolder(), withoutSync),
      openEmbeddedServer(await copiedFolder(), withoutSync),
    ]);
    expect(one.url()).not.toBe(two.url());
    await one.leave();
    await runSql(two.url(), 'select 1');
    await two.leave();
  });
});
