// A restore that ends while the rows of a table are being loaded leaves the database as it was, and its connection free.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { BACKUP_MAGIC, type FrameKind, frameHead } from '../../src/store/backup/backup-frames.ts';
import { restoreBackup } from '../../src/store/backup/restore-backup.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { readMigrations } from '../../src/store/postgres/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runSql } from '../support/sql.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-load-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 2 });
  await runSql(database.url, `insert into site_state (site) values ('before')`);
});
// A connection that is not free would be waited for in vain.
const LIMIT_MS = 20_000;
afterEach(async () => {
  await db.close();
  await database.drop();
}, LIMIT_MS);

function frame(kind: FrameKind, content: string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([frameHead(kind, bytes.length), bytes]);
}

/** A backup with one table, which ends after some of its rows. */
async function writeCut(rows: number): Promise<string> {
  const path = join(folder, `${rows}.backup`);
  const migrations = [...(await readMigrations()).keys()];
  const header = { jobmirror: '1.0.0', postgres: '17.1', installation: 'x', at: '2026-01-01T00:00:00Z', migrations };
  const frames = [
    frame('H', JSON.stringify(header)),
    frame('T', JSON.stringify({ name: 'site_state', columns: ['site'] })),
    ...Array.from({ length: rows }, (_, n) => frame('D', `site ${n}\n`)),
  ];
  await writeFile(path, Buffer.concat([BACKUP_MAGIC, gzipSync(Buffer.concat(frames))]));
  return path;
}

const restore = (path: string, signal: AbortSignal) =>
  restoreBackup(db, path, { replace: true, actor: 'tester', signal });
const left = () => runSql(database.url, 'select site from site_state');

it.each([1, 20_000])('because its file ends after %s rows', { timeout: LIMIT_MS }, async (rows) => {
  const { signal } = new AbortController();
  await expect(restore(await writeCut(rows), signal)).rejects.toThrow('it is cut: its end is missing');
  expect(await left()).toEqual([{ site: 'before' }]);
});

it('because it is stopped', { timeout: LIMIT_MS }, async () => {
  let parts = 0;
  const stopping = new AbortController();
  const { signal } = stopping;
  const throwIfAborted = () => {
    if (++parts > 1_000) stopping.abort(new Error('stopped'));
    signal.throwIfAborted();
  };
  const stopped = new Proxy(signal, { get: (_, name) => (name === 'throwIfAborted' ? throwIfAborted : undefined) });
  await expect(restore(await writeCut(20_000), stopped)).rejects.toThrow('stopped');
  expect(await left()).toEqual([{ site: 'before' }]);
});
