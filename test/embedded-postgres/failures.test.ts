// What can prevent the server from starting: each case is handled, or reported with its location and remedy.
// @module-tag slow
import { spawn } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clusterPaths } from '../../src/embedded-postgres/cluster-paths.ts';
import { replaceStalePostmasterFile } from '../../src/embedded-postgres/postmaster-file.ts';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { listen } from '../support/listen.ts';
import { runSql } from '../support/sql.ts';
import { copiedFolder, homeOf, killServer, postmasterPid, temporaryFolder, withoutSync } from './data-folder.ts';
import { startMember } from './member.ts';

// Each test starts several servers or processes in turn, possibly on a busy machine.

describe('handled', () => {
  it('a port in use by another program', async () => {
    const dataDir = await copiedFolder();
    const other = createServer();
    const port = await listen(other);
    writeFileSync(clusterPaths(homeOf(dataDir)).port, String(port));
    const server = await openEmbeddedServer(dataDir, withoutSync);
    expect(new URL(server.url()).port).not.toBe(String(port));
    await runSql(server.url(), 'select 1');
    await server.leave();
    other.close();
  });

  it('the file of a killed server whose process ID now belongs to another program of the same user', async () => {
    const dataDir = await copiedFolder();
    const member = startMember(dataDir);
    await member.joined();
    await member.kill('SIGKILL');
    await killServer(dataDir);
    const data = join(homeOf(dataDir), 'data');
    const { uid, gid } = statSync(data);
    const bystander = spawn('sleep', ['600'], { uid, gid, cwd: '/' });
    const file = join(data, 'postmaster.pid');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(bystander.pid)));
    const server = await openEmbeddedServer(dataDir, withoutSync);
    await runSql(server.url(), 'select 1');
    await server.leave();
    expect(bystander.exitCode).toBeNull();
    bystander.kill();
  });

  it('a server that comes up after the check: its file is left alone', async () => {
    const dataDir = await copiedFolder();
    const server = await openEmbeddedServer(dataDir, withoutSync);
    const file = join(homeOf(dataDir), 'data', 'postmaster.pid');
    const before = readFileSync(file, 'utf8');
    replaceStalePostmasterFile(homeOf(dataDir));
    expect(readFileSync(file, 'utf8')).toBe(before);
    await server.leave();
  });

  it('a log that has grown large', async () => {
    const dataDir = await copiedFolder();
    const log = join(homeOf(dataDir), 'server.log');
    appendFileSync(log, 'x'.repeat(6_000_000));
    await (await openEmbeddedServer(dataDir, withoutSync)).leave();
    expect(statSync(log).size).toBeLessThan(100_000);
  });
});

describe('reported', () => {
  it('settings that the server refuses, with the log of this start', async () => {
    const dataDir = await copiedFolder();
    const failed = openEmbeddedServer(dataDir, { settings: { shared_buffers: 'plenty' } });
    await expect(failed).rejects.toThrow(
      /did not start\.\nThe end of its log \(.*server\.log\)(.|\n)*"shared_buffers": "plenty"/,
    );
    expect(postmasterPid(dataDir)).toBeUndefined();
    await (await openEmbeddedServer(dataDir, withoutSync)).leave();
  });

  it('a path with a line break, whose server would never be found', async () => {
    const folder = temporaryFolder();
    const failed = openEmbeddedServer(join(folder, 'two\nlines', 'data'), withoutSync);
    await expect(failed).rejects.toThrow(/holds a line break: ".*two\\nlines/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a cluster of another major version', async () => {
    const dataDir = await copiedFolder();
    writeFileSync(join(homeOf(dataDir), 'data', 'PG_VERSION'), '16\n');
    await expect(openEmbeddedServer(dataDir, withoutSync)).rejects.toThrow(
      /was created by Postgres 16, but this jobmirror includes Postgres 18/,
    );
  });

  it('a password file that does not match the running server', async () => {
    const dataDir = await copiedFolder();
    const server = await openEmbeddedServer(dataDir, withoutSync);
    const file = join(homeOf(dataDir), 'password');
    const password = readFileSync(file);
    writeFileSync(file, 'wrong');
    await expect(openEmbeddedServer(dataDir, withoutSync)).rejects.toThrow(
      /refuses the connection(.|\n)*password authentication failed/,
    );
    writeFileSync(file, password);
    await server.leave();
  });

  it('a data folder that is a file', async () => {
    const dataDir = join(temporaryFolder(), 'file');
    writeFileSync(dataDir, '');
    await expect(openEmbeddedServer(dataDir, withoutSync)).rejects.toThrow(
      /can't use the data folder .*(ENOTDIR|EEXIST)/,
    );
  });

  it('a data folder that is gone when the member leaves', async () => {
    const dataDir = await copiedFolder();
    const server = await openEmbeddedServer(dataDir, withoutSync);
    renameSync(dataDir, `${dataDir} gone`);
    await expect(server.leave()).rejects.toThrow(/can't use the data folder .*ENOENT/);
    renameSync(`${dataDir} gone`, dataDir);
  });
});
