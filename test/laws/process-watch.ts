// Looks at the system's process list all the time, as anybody on the machine may.
import { readdirSync, readFileSync } from 'node:fs';
import type { Find } from './canary.ts';

export interface ProcessWatch {
  /** What was seen, once each. */
  stop(): readonly Find[];
}

const CHECK_EVERY_MS = 50;

/**
 * Searches the command lines of all processes, and the environments of all but those of `given()`, which were told.
 */
export function watchProcesses(
  search: (where: string, content: Buffer) => Find[],
  given: () => ReadonlySet<number>,
): ProcessWatch {
  const finds = new Map<string, Find>();
  /** A process that is just being made still has the environment of the one that makes it: seen twice, it counts. */
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

/** Empty where the process has ended, or is none of ours. */
function readProcess(pid: number, file: 'cmdline' | 'environ'): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return Buffer.alloc(0);
  }
}
