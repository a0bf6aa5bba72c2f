// Opening the embedded server is stopped halfway, as by SIGTERM: it ends at once and leaves no server or partial cluster.
// @module-tag slow
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { runSql } from '../support/sql.ts';
import { copiedFolder, newDataFolder, postmasterPid, withoutSync } from './data-folder.ts';

// Each test starts several servers one after another, possibly on a busy machine.

const stopped = new Error('stopped by SIGTERM');

/** Opens the server and stops that once a notice matches. */
async function openUntil(dataDir: string, notice: RegExp, settings: Record<string, string> = {}): Promise<unknown> {
  const stopping = new AbortController();
  const onNotice = (text: string) => notice.test(text) && stopping.abort(stopped);
  const options = { settings: { ...withoutSync.settings, ...settings }, onNotice, signal: stopping.signal };
  try {
    const server = await openEmbeddedServer(dataDir, options);
    await server.leave();
    return 'opened';
  } catch (error) {
    return error;
  }
}

async function opensAgain(dataDir: string): Promise<void> {
  const server = await openEmbeddedServer(dataDir, withoutSync);
  expect(await runSql(server.url(), 'select 1 as one')).toEqual([{ one: 1 }]);
  await server.leave();
}

describe('an opening that is stopped', () => {
  it('before it begins, or while the cluster is created: initdb ends, and no files are left', async () => {
    const dataDir = newDataFolder();
    const signal = AbortSignal.abort(stopped);
    await expect(openEmbeddedServer(dataDir, { ...withoutSync, signal })).rejects.toBe(stopped);
    expect(readdirSync(join(dataDir, 'postgres')).filter((name) => !name.startsWith('lock-'))).toEqual([]);
    expect(await openUntil(dataDir, /Preparing/)).toBe(stopped);
    expect(readdirSync(join(dataDir, 'postgres')).filter((name) => !name.startsWith('lock-'))).toEqual([]);
    await opensAgain(dataDir);
  });

  it('while the started server is not ready: the server is stopped', async () => {
    const dataDir = await copiedFolder();
    // Simulates a long crash recovery: this server recovers forever.
    const forever = { recovery_target_name: 'never', hot_standby: 'off' };
    writeFileSync(join(dataDir, 'postgres', 'cluster', 'data', 'standby.signal'), '');
    expect(await openUntil(dataDir, /Waiting for Postgres/, forever)).toBe(stopped);
    expect(postmasterPid(dataDir)).toBeUndefined();
  });
});
