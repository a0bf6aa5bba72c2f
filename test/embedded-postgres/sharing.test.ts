// Several processes share one server: joining, leaving, and being killed at any moment.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { generated } from '../support/extent.ts';
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

/** A data folder on which a process was killed while it created the cluster. */
async function halfMadeCluster(): Promise<string> {
  for (;;) {
    const dataDir = newDataFolder();
    const area = join(dataDir, 'postgres');
    const isMade = () => existsSync(homeOf(dataDir));
    const killed = startMember(dataDir);
    await killed.noticed(/Preparing/);
    while (!isMade() && !readdirSync(area).some((name) => name.startsWith('half-made-'))) await delay(1);
    await killed.kill('SIGKILL');
    // If this process stood still meanwhile, the cluster is complete.
    if (!isMade()) return dataDir;
  }
}

const started = 'select pg_postmaster_start_time()::text as start';

/** The server notices only with a delay that a member was killed. */
const untilAlone = (url: string) =>
  expect
    .poll(() => runSql(url, `select count(*)::int as members from pg_locks where locktype = 'advisory' and granted`))
    .toEqual([{ members: 1 }]);

describe('members of one server', () => {
  it('that start at the same time create one cluster and one server, also after one was killed while it created the cluster; the last to leave stops it', async () => {
    const dataDir = await halfMadeCluster();
    const area = join(dataDir, 'postgres');
    const members = [startMember(dataDir), startMember(dataDir)];
    const urls = await Promise.all(members.map((member) => member.joined()));
    expect(new Set(urls).size).toBe(1);
    expect(members.flatMap((member) => member.notices).filter((text) => text.includes('Preparing'))).toHaveLength(1);
    expect(readdirSync(area).filter((name) => !name.startsWith('lock-'))).toEqual(['cluster']);
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

  it('find their data again after a stop, and may leave twice', { tags: 'slow' }, async () => {
    const dataDir = await copiedFolder();
    const first = await openEmbeddedServer(dataDir);
    expect(await runSql(first.url(), 'show fsync')).toEqual([{ fsync: 'on' }]);
    await runSql(first.url(), 'create table mark ()');
    await first.leave();
    const second = await openEmbeddedServer(dataDir, withoutSync);
    expect(await runSql(second.url(), 'select * from mark')).toEqual([]);
    expect(second.url()).toBe(first.url());
    await second.leave();
    await expect(second.leave()).resolves.toBeUndefined();
  });

  it('come and go in any order without ever connecting to a stopping server', { tags: 'slow' }, async () => {
    const dataDir = await copiedFolder();
    const visit = async () => {
      const server = await openEmbeddedServer(dataDir, withoutSync);
      await runSql(server.url(), 'select 1');
      await server.leave();
    };
    const visitor = async () => {
      for (let round = 0; round < generated(4); round++) await visit();
    };
    await Promise.all([visitor(), visitor(), visitor()]);
    expect(postmasterPid(dataDir)).toBeUndefined();
  });
});

describe('a member killed with -9', () => {
  it('that started the server does not disturb the others; as the only one it leaves a server that the next one uses and stops', {
    tags: 'slow',
  }, async () => {
    const dataDir = await copiedFolder();
    const starter = startMember(dataDir);
    const [before] = await runSql(await starter.joined(), started);
    const other = startMember(dataDir);
    const url = await other.joined();
    await starter.kill('SIGKILL');
    await runSql(url, 'select 1');
    await other.kill('SIGKILL');
    const next = await openEmbeddedServer(dataDir, withoutSync);
    expect(await runSql(next.url(), started)).toEqual([before]);
    await untilAlone(next.url());
    await next.leave();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it('while starting the server leaves one that the next member uses', { tags: 'slow' }, async () => {
    const dataDir = await copiedFolder();
    const killed = startMember(dataDir);
    while (!existsSync(join(homeOf(dataDir), 'data', 'postmaster.pid'))) await delay(1);
    await killed.kill('SIGKILL');
    const next = await openEmbeddedServer(dataDir, withoutSync);
    await untilAlone(next.url());
    await next.leave();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });
});

describe('a server killed with -9', () => {
  it('is restarted by its members, at the same address and with its data', { tags: 'slow' }, async () => {
    const dataDir = await copiedFolder();
    const member = startMember(dataDir);
    const notices: string[] = [];
    const onNotice = (text: string) => void notices.push(text);
    const [url, own] = await Promise.all([member.joined(), openEmbeddedServer(dataDir, { ...withoutSync, onNotice })]);
    await runSql(url, 'create table mark ()');
    await killServer(dataDir);
    await member.noticed(/is back\./);
    await vi.waitFor(() => expect(notices).toContainEqual(expect.stringMatching(/is back\./)), { timeout: 60_000 });
    expect(await runSql(url, 'select * from mark')).toEqual([]);
    await member.leave();
    expect(postmasterPid(dataDir)).toBeDefined();
    await own.leave();
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it('together with its members is restarted by the next one', { tags: 'slow' }, async () => {
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
  it('survives Ctrl-C in the process group that started it, and has none of our secrets in its environment', {
    tags: 'slow',
  }, async () => {
    const dataDir = await copiedFolder();
    const member = startMember(dataDir, { ownGroup: true, env: { BOARD_TOKEN: 'canary' } });
    const url = await member.joined();
    const pid = postmasterPid(dataDir) ?? 0;
    if (process.platform === 'linux') expect(environmentOf(pid)).not.toContain('canary');
    process.kill(-(member.process.pid ?? 0), 'SIGINT');
    await member.kill('SIGINT');
    const next = await openEmbeddedServer(dataDir, withoutSync);
    expect(postmasterPid(dataDir)).toBe(pid);
    expect(next.url()).toBe(url);
    await next.leave();
  });
});
