// Says which limit of the process is too low to work with.
import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

/** Loading takes some 60 files at a time, and each connection, file and worker thread one more. */
const MIN_OPEN_FILES = 256;
/** Below it, a pull of a large feed collects garbage instead of getting anywhere. */
const MIN_HEAP_MIB = 96;

/** What to raise, as a message for people; `undefined`: nothing. */
export function whatIsLacking(
  files: number | undefined = openFilesLimit(),
  heapMiB: number = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20),
): string | undefined {
  if (files !== undefined && files < MIN_OPEN_FILES) {
    return `only ${files} files may be open at a time, and ${MIN_OPEN_FILES} are needed; raise the limit: ulimit -n ${MIN_OPEN_FILES}`;
  }
  if (heapMiB < MIN_HEAP_MIB) {
    return `the heap is limited to ${heapMiB} MiB, and ${MIN_HEAP_MIB} are needed; raise the limit: node --max-old-space-size=${2 * MIN_HEAP_MIB}, or NODE_OPTIONS`;
  }
  return undefined;
}

/** `undefined` where the system has no /proc; a limit that is reached is reported there when it happens. */
function openFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
