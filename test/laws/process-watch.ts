// Watches the system's process list continuously, as any user of the machine can.
import { readdirSync, readFileSync } from 'node:fs';
import type { Find } from './canary.ts';

export interface ProcessWatch {
  /** Everything that was seen, once each. */
  stop(): readonly Find[];
}

const CHECK_EVERY_MS = 150;
/** On a busy machine a check takes long: the test gets at least this many times as long until the next one. */
const SHARE_OF_TEST = 3;

/**
 * Searches the command lines of all processes that start from now on, and the environments of all of them except those of
 * `given()`, which were given the secret. Processes that are older than a secret can't have got it from their parents, and
 * reading those of a busy machine would take longer than the rest.
 */
export function watchProcesses(
  search: (where: string, content: Buffer) => Find[],
  given: () => ReadonlySet<number>,
): ProcessWatch {
  const finds = new Map<string, Find>();
  const older = new Set(readdirSync('/proc'));
  /** What was searched last: most processes keep both for as long as they live. */
  let searched = new Map<string, { readonly content: Buffer; readonly found: Find[] }>();
  const check = () => {
    const searchedNow = new Map<string, { readonly content: Buffer; readonly found: Find[] }>();
    const findIn = (pid: number, file: 'cmdline' | 'environ', where: () => string): Find[] => {
      const content = readProcess(pid, file);
      const last = searched.get(`${pid} ${file}`);
      const found = last?.content.equals(content) ? last.found : search(where(), content);
      searchedNow.set(`${pid} ${file}`, { content, found });
      return found;
    };
    const names = new Set(readdirSync('/proc'));
    // A later process may have the number of one that has ended.
    for (const name of older) if (!names.has(name)) older.delete(name);
    for (const name of names) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || older.has(name)) continue;
      for (const find of findIn(pid, 'cmdline', () => 'a command line')) finds.set(find.around, find);
      if (given().has(pid)) continue;
      const where = () => `the environment of ${readProcess(pid, 'cmdline')}`;
      if (findIn(pid, 'environ', where).length === 0 || isJustForked(pid)) continue;
      // It may have run its program since it was read.
      for (const find of search(where(), readProcess(pid, 'environ'))) finds.set(find.where, find);
    }
    searched = searchedNow;
  };
  const checkAgain = () => {
    const from = performance.now();
    check();
    timer = setTimeout(checkAgain, Math.max(CHECK_EVERY_MS, SHARE_OF_TEST * (performance.now() - from)));
  };
  let timer = setTimeout(checkAgain, CHECK_EVERY_MS);
  return {
    stop() {
      clearTimeout(timer);
      return [...finds.values()];
    },
  };
}

/** Until it runs its program, a forked process has its parent's command line and environment, on a busy machine for long. */
function isJustForked(pid: number): boolean {
  const parent = Number(/\) \S+ (\d+)/.exec(readProcess(pid, 'stat').toString())?.[1]);
  return Number.isNaN(parent) || readProcess(pid, 'cmdline').equals(readProcess(parent, 'cmdline'));
}

/** Empty if the process has ended or belongs to another user. */
function readProcess(pid: number, file: 'cmdline' | 'environ' | 'stat'): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return Buffer.alloc(0);
  }
}
