// Names the person who acts, for the audit log.
import { userInfo } from 'node:os';

/** The given name, or the operating system user's. */
export function actorName(given: string | undefined): string {
  if (given !== undefined) return given;
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user ID without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
