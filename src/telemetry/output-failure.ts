// Records that standard output or standard error can no longer be written, and notifies listeners.

/** Thrown by a command whose output can no longer be delivered. */
export class OutputFailedError extends Error {
  override name = 'OutputFailedError';
  readonly code: string | undefined;

  constructor(cause: NodeJS.ErrnoException) {
    super(`standard output can't be written: ${cause.message}`, { cause });
    this.code = cause.code;
  }
}

let failed: NodeJS.ErrnoException | undefined;
const listeners = new Set<() => void>();

/** Why standard output can no longer be written; `undefined` if it can. */
export const outputFailure = (): NodeJS.ErrnoException | undefined => failed;

/** Calls `listener` once when either stream fails, at once if one already has. Returns a function that removes it. */
export function onOutputFailure(listener: () => void): () => void {
  if (failed !== undefined) listener();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Handles the streams' errors: otherwise a closed pipe (EPIPE), a lost terminal (EIO) or a full disk (ENOSPC) would end
 * the process in the middle of its work.
 */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (stream === process.stdout) failed ??= error;
      for (const listener of listeners) listener();
    });
  }
}
