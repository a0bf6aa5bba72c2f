// Finds process limits that are too low to run with.
import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

/** Loading opens some 60 files at a time; each connection, file and worker thread adds one. */
const MIN_OPEN_FILES = 256;
/** With less, a pull of a large feed spends its time on garbage collection. */
const MIN_HEAP_MIB = 96;

/** A message about the first limit to raise; `undefined` if all are high enough. */
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

/** `undefined` if the system has no /proc; reaching the limit is then reported when it happens. */
function openFilesLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
