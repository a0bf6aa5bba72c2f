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
  const check = () => {
    const suspectsNow = new Set<number>();
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      if (!Number.isInteger(pid)) continue;
      for (const find of search('a command line', readProcess(pid, 'cmdline'))) finds.set(find.around, find);
      if (given().has(pid)) continue;
      const found = search(`the environment of ${readProcess(pid, 'cmdline')}`, readProcess(pid, 'environ'));
      if (found.length === 0) continue;
      suspectsNow.add(pid);
      if (suspects.has(pid)) for (const find of found) finds.set(find.where, find);
    }
    suspects = suspectsNow;
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
