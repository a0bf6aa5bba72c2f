import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BACKUP_MAGIC, frameHead } from '../../src/store/backup/backup-frames.ts';
import { checkBackup, readBackup } from '../../src/store/backup/read-backup.ts';
import { canListOpenFiles, isFileOpen } from '../support/open-files.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-read-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A backup that has only its header. */
async function writeHeader(migrations: readonly string[]): Promise<string> {
  const path = join(folder, `${migrations}.backup`);
  const header = Buffer.from(JSON.stringify({ jobmirror: '1.0.0', migrations }));
  await writeFile(
    path,
    Buffer.concat([BACKUP_MAGIC, gzipSync(Buffer.concat([frameHead('H', header.length), header]))]),
  );
  return path;
}

const { signal } = new AbortController();

const warnings: string[] = [];
const note = ({ message }: Error) => void (/garbage collection/.test(message) && warnings.push(message));
beforeAll(() => void process.on('warning', note));
afterAll(() => void process.off('warning', note));

/** Garbage collection also closes a file that was left open, and warns of it. */
async function expectClosed(path: string): Promise<void> {
  await expect.poll(() => isFileOpen(path)).toBe(false);
  await setTimeout(10);
  expect(warnings).toEqual([]);
}

it.skipIf(!canListOpenFiles)('closes the file of a newer version', async () => {
  const path = await writeHeader(['9001_later.sql']);
  await expect(checkBackup(path, signal)).rejects.toThrow('update jobmirror');
  await expectClosed(path);
});

it.skipIf(!canListOpenFiles)('closes the file if a part of it can’t be taken', async () => {
  const path = await writeHeader(['0100_schema.sql']);
  const taken = readBackup(path, () => Promise.reject(new Error('no room')), signal);
  await expect(taken).rejects.toThrow('no room');
  await expectClosed(path);
});
