// Turns how a command ended into its exit status, which scripts rely on (README, "Exit status").

export const ExitStatus = {
  /** All mirrored. */
  done: 0,
  /** It could not do its work: configuration, source or site out of reach, feed not readable or not complete. */
  failed: 1,
  /** Mirrored, but something waits for review. */
  review: 2,
} as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];

/** The status for several results together: what failed outweighs what waits. */
export function worst(statuses: readonly ExitStatus[]): ExitStatus {
  if (statuses.includes(ExitStatus.failed)) return ExitStatus.failed;
  return statuses.includes(ExitStatus.review) ? ExitStatus.review : ExitStatus.done;
}

/** An error whose message says all that its user needs: no stack is shown. */
export class UserError extends Error {
  override name = 'UserError';
}
