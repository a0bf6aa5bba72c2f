// Remembers that standard output or standard error can't be written any more, and tells whoever runs to stop.

/** Thrown by a command whose results nobody can get any more. */
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

/** Why standard output can't be written any more; `undefined`: it can. */
export const outputFailure = (): NodeJS.ErrnoException | undefined => failed;

/** Has `listener` called once either stream has failed, at once where it has already. Gives a function that takes it off. */
export function onOutputFailure(listener: () => void): () => void {
  if (failed !== undefined) listener();
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Without a listener, a reader that goes away (EPIPE), a terminal that is gone (EIO) or a full disk (ENOSPC) would end
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
