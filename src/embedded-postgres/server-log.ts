// The server's log file: opened for writing, kept small, and read after a failed start.
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';

const MAX_BYTES = 5_000_000;
const TAIL_BYTES = 4_000;

/** Opens the log for appending, truncated if it has grown large. `start` is its length in bytes. The caller closes it. */
export function openLog(path: string): { readonly descriptor: number; readonly start: number } {
  const descriptor = openSync(path, 'a', 0o600);
  if (fstatSync(descriptor).size > MAX_BYTES) ftruncateSync(descriptor);
  return { descriptor, start: fstatSync(descriptor).size };
}

/** The end of what was written after byte `start`. */
export function readTail(path: string, start: number): string {
  const descriptor = openSync(path, 'r');
  try {
    const end = fstatSync(descriptor).size;
    const buffer = Buffer.alloc(Math.min(TAIL_BYTES, Math.max(0, end - start)));
    readSync(descriptor, buffer, 0, buffer.length, end - buffer.length);
    return buffer.toString();
  } finally {
    closeSync(descriptor);
  }
}
