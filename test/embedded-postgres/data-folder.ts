// Gives a test a data folder with an awkward path, and ensures that no server outlives the test.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inject, onTestFinished } from 'vitest';
import { clusterPaths } from '../../src/embedded-postgres/cluster-paths.ts';
import { readPostmaster } from '../../src/embedded-postgres/postmaster-file.ts';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { freePort } from '../support/free-port.ts';

/** Options for servers that must survive kills but not power cuts: waiting for the disk takes most of the start-up time. */
export const withoutSync = { settings: { fsync: 'off' } };

export const asRoot: boolean = process.getuid?.() === 0;

/** A folder for this test, removed at its end; mode 0711 lets the server's user enter, 0700 does not. */
export function temporaryFolder(mode: 0o711 | 0o700 = 0o711): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmirror Prüfung '));
  chmodSync(folder, mode);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A data folder that does not exist yet. A server still running on it when the test ends is killed. */
export function newDataFolder(mode?: 0o711 | 0o700): string {
  const dataDir = join(temporaryFolder(mode), 'mein Ordner', '.jobmirror');
  onTestFinished(() => {
    const pid = postmasterPid(dataDir);
    if (pid) process.kill(pid, 'SIGKILL');
  });
  return dataDir;
}

/** The cluster that is copied, once a test of this process has asked for a copy. */
let original: Promise<string> | undefined;

async function createCluster(): Promise<string> {
  const folder = mkdtempSync(join(inject('runFolder'), 'cluster-'));
  chmodSync(folder, 0o711);
  await (await openEmbeddedServer(folder, withoutSync)).leave();
  return folder;
}

/**
 * Copies a cluster to a new data folder, which takes a tenth of the processor time of creating one. It is empty, and its server
 * was started and stopped.
 */
export async function copiedFolder(): Promise<string> {
  original ??= createCluster();
  const dataDir = newDataFolder();
  mkdirSync(dirname(dataDir));
  // Keeps the owners.
  execFileSync('cp', ['-a', await original, dataDir]);
  writeFileSync(clusterPaths(homeOf(dataDir)).port, String(await freePort()));
  return dataDir;
}

export const homeOf = (dataDir: string): string => join(dataDir, 'postgres', 'cluster');

/** The process ID of the server that runs on the data folder. */
export const postmasterPid = (dataDir: string): number | undefined => readPostmaster(homeOf(dataDir))?.pid;

/** Kills the server, and waits until it is gone. */
export async function killServer(dataDir: string): Promise<void> {
  const pid = postmasterPid(dataDir);
  if (!pid) throw new Error('no server runs');
  process.kill(pid, 'SIGKILL');
  while (postmasterPid(dataDir) === pid) await delay(10);
}

/** The environment that a process was started with, as others on the machine can read it. */
export const environmentOf = (pid: number): string => readFileSync(`/proc/${pid}/environ`, 'utf8');
