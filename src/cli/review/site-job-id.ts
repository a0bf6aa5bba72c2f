// Reads the ID of a job on a site from what a person writes.
import { siteJobIdText } from '../../operations/scalars.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import { UserError } from '../../runtime/exit-status.ts';

/** Accepts an ID, or a URL as other commands print it. @throws {UserError} if it is neither */
export function siteJobIdOf(text: string): SiteJobId {
  const read = siteJobIdText.safeParse(text);
  if (read.success) return read.data;
  throw new UserError(`"${text}" can't be the ID of a job`);
}
