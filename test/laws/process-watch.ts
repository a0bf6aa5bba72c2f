// Watches the system's process list continuously, as any user of the machine can.
import { readdirSync, readFileSync } from 'node:fs';
import type { Find } from './canary.ts';

export interface ProcessWatch {
  /** Everything that was seen, once each. */
  stop(): readonly Find[];
}

const CHECK_EVERY_MS = 50;

/**
 * Searches the command lines of all processes, and the environments of all except those of `given()`, which were given the
 * secret.
 */
export function watchProcesses(
  search: (where: string, content: Buffer) => Find[],
  given: () => ReadonlySet<number>,
): ProcessWatch {
  const finds = new Map<string, Find>();
  /** A process that is just being forked still has its parent's environment: a find counts when it is seen twice. */
  let suspects = new Set<number>();
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
    const suspectsNow = new Set<number>();
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      if (!Number.isInteger(pid)) continue;
      for (const find of findIn(pid, 'cmdline', () => 'a command line')) finds.set(find.around, find);
      if (given().has(pid)) continue;
      const found = findIn(pid, 'environ', () => `the environment of ${readProcess(pid, 'cmdline')}`);
      if (found.length === 0) continue;
      suspectsNow.add(pid);
      if (suspects.has(pid)) for (const find of found) finds.set(find.where, find);
    }
    suspects = suspectsNow;
    searched = searchedNow;
  };
  const timer = setInterval(check, CHECK_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return [...finds.values()];
    },
  };
}

/** Empty if the process has ended or belongs to another user. */
function readProcess(pid: number, file: 'cmdline' | 'environ'): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return Buffer.alloc(0);
  }
}
