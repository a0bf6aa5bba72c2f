// The server's log file: opened for the server to write to, kept small, and read when a start failed.
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';

const MAX_BYTES = 5_000_000;
const TAIL_BYTES = 4_000;

/** Opens the log to append to (the caller closes it), emptied where it has grown large. `start` is its length now. */
export function openLog(path: string): { readonly descriptor: number; readonly start: number } {
  const descriptor = openSync(path, 'a', 0o600);
  if (fstatSync(descriptor).size > MAX_BYTES) ftruncateSync(descriptor);
  return { descriptor, start: fstatSync(descriptor).size };
}

/** The last lines that were written from byte `start` on. */
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
