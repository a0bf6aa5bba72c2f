// The lock has one holder at a time, even if processes are killed while holding or taking it.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { makeLockable, withLock } from '../../src/embedded-postgres/cluster-paths.ts';
import { identityOf, isAlive } from '../../src/embedded-postgres/process-identity.ts';
import { countOf } from '../support/extent.ts';
import { temporaryFolder } from './data-folder.ts';

// Each test starts several servers or processes in turn, possibly on a busy machine.

const PROGRAM = join(packageRoot, 'test/embedded-postgres/lock-process.mjs');

function lockableFolder(): string {
  const folder = temporaryFolder();
  makeLockable(folder);
  return folder;
}

/** Who entered and left the lock, in order: `[['in', '123'], ['out', '123'], …]`. */
const notesOf = (folder: string) =>
  readFileSync(join(folder, 'notes'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '));

describe('withLock', () => {
  it('passes the lock on, even within one process, and leaves one link behind', async () => {
    const folder = lockableFolder();
    let inside = 0;
    const work = async () => {
      inside += 1;
      expect(inside).toBe(1);
      await new Promise(setImmediate);
      inside -= 1;
      return 'done';
    };
    expect(await Promise.all([1, 2, 3].map(() => withLock(folder, work)))).toEqual(['done', 'done', 'done']);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('releases the lock if the work fails', async () => {
    const folder = lockableFolder();
    await expect(withLock(folder, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(withLock(folder, async () => 'free')).resolves.toBe('free');
  });

  it('takes over from an ended process whose ID is in use again', async () => {
    const folder = lockableFolder();
    symlinkSync(`${process.pid}@another-boot/1`, join(folder, 'lock-1'));
    await expect(withLock(folder, async () => 'taken over')).resolves.toBe('taken over');
  });

  it('has one holder at a time while processes are killed', async () => {
    const folder = lockableFolder();
    const rounds = countOf(undefined, 4, 2);
    const start = (times: number) => fork(PROGRAM, [folder, String(times)], { cwd: packageRoot });
    const steady = [start(60), start(60)];
    const ends = steady.map((child) => once(child, 'exit'));
    const watcher = watch(folder);
    const killed: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const victim = start(1_000_000);
      const gone = once(victim, 'exit');
      // Killed at a random point of its work with the lock.
      while (!readNotes(folder).includes(` ${victim.pid}\n`)) await once(watcher, 'change');
      victim.kill('SIGKILL');
      await gone;
      killed.push(String(victim.pid));
    }
    watcher.close();
    expect(await Promise.all(ends)).toEqual([
      [0, null],
      [0, null],
    ]);
    const notes = notesOf(folder);
    for (const [index, [what, pid]] of notes.entries()) {
      const [nextWhat, nextPid] = notes[index + 1] ?? ['in'];
      if (what === 'out') expect(nextWhat).toBe('in');
      else if (nextPid !== pid || nextWhat !== 'out') expect(killed).toContain(pid);
    }
    expect(notes.filter(([what]) => what === 'out').length).toBeGreaterThanOrEqual(120);
  });
});

function readNotes(folder: string): string {
  return readdirSync(folder).includes('notes') ? readFileSync(join(folder, 'notes'), 'utf8') : '';
}

describe('a process identity', () => {
  it('is alive for this process, and not for one that has ended', async () => {
    const child = spawn('sleep', ['600']);
    const gone = once(child, 'exit');
    const identity = identityOf(child.pid ?? 0) ?? '';
    expect(isAlive(identity)).toBe(true);
    child.kill('SIGKILL');
    await gone;
    expect(isAlive(identity)).toBe(false);
    expect(isAlive(identityOf(process.pid) ?? '')).toBe(true);
  });
});
