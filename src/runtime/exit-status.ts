// The exit statuses of commands, which scripts rely on (docs/reference.md, "Exit status").

export const ExitStatus = {
  /** Everything is mirrored. */
  done: 0,
  /**
   * The command could not do its work: configuration, source or site unreachable, feed not readable or not complete.
   */
  failed: 1,
  /** Mirrored, but something waits for review. */
  review: 2,
} as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];

/** The combined status of several results: a failure outweighs entries that wait. */
export function worstStatus(statuses: readonly ExitStatus[]): ExitStatus {
  if (statuses.includes(ExitStatus.failed)) return ExitStatus.failed;
  return statuses.includes(ExitStatus.review) ? ExitStatus.review : ExitStatus.done;
}

/** An error whose message tells its user everything needed: no stack is shown. */
export class UserError extends Error {
  override name = 'UserError';
}
