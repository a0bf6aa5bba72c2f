// Says who acts, for the audit.
import { userInfo } from 'node:os';

/** The name that was given, or that of the operating system's user. */
export function actorName(given: string | undefined): string {
  if (given !== undefined) return given;
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
