// Reads the ID of a job on a site from what a person writes.
import type { SiteJobId } from '../posting/identifiers.ts';
import { UserError } from '../runtime/exit-status.ts';
import { readJobId, readJobUrl } from '../site/http/job-address.ts';

/** Accepts an ID, or a URL as other commands print it. @throws {UserError} if it is neither */
export function siteJobIdOf(text: string): SiteJobId {
  const id = isUrl(text) ? idInUrl(text) : readJobId(text);
  if (id === undefined) throw new UserError(`"${text}" can't be the ID of a job`);
  return id;
}

const isUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

function idInUrl(text: string): SiteJobId | undefined {
  const { siteJobId, guessedId } = readJobUrl(text, new URL(text));
  return siteJobId ?? guessedId;
}
