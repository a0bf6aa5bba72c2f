// Adopts the site jobs that a search found for a feed, where their posting is certain: each is checked on the site, and adopted as if
// it had been named alone.
import { createHash } from 'node:crypto';
import type { FeedName, PostingKey, SiteJobId } from '../posting/identifiers.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { type FoundEntry, foundEntries } from '../store/review/found-entries.ts';
import type { CandidateSite } from './compare-candidates.ts';
import { resolveEntry } from './resolve-entry.ts';

/** An entry that a person must decide, with the reason. */
export interface LeftEntry {
  readonly entry: number;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly message: string;
}

export interface FoundJobsOfFeed {
  /** Their posting is certain. */
  readonly sure: readonly FoundEntry[];
  readonly left: readonly LeftEntry[];
  /** Another one if others are certain. */
  readonly mark: string;
}

export async function readFoundJobs(db: Queryable, feed: FeedName, referenceField: string): Promise<FoundJobsOfFeed> {
  const found = await foundEntries(db, feed, referenceField);
  const sure = found.filter(({ ambiguous }) => ambiguous === undefined);
  const left = found.flatMap(({ ambiguous: message, ...one }) => (message === undefined ? [] : [{ ...one, message }]));
  const mark = createHash('sha256');
  for (const { entry, siteJobId } of sure) mark.update(`${entry} ${siteJobId}\n`);
  return { sure, left, mark: mark.digest('hex').slice(0, MARK_LENGTH) };
}

const MARK_LENGTH = 20;

export interface AdoptedFound {
  readonly adopted: readonly FoundEntry[];
  /** The site shows something else than the search did. */
  readonly refused: readonly LeftEntry[];
  /** Not reached before `signal` was aborted. */
  readonly todo: number;
}

/** Keeps to the site's rate. What was adopted stays so when it is stopped. */
export async function adoptFoundJobs(
  db: Database,
  sure: readonly FoundEntry[],
  { client, rateLimiter, referenceField }: CandidateSite,
  {
    actor,
    signal,
    onProgress,
  }: { readonly actor: string; readonly signal: AbortSignal; readonly onProgress?: (checked: number) => void },
): Promise<AdoptedFound> {
  const adopted: FoundEntry[] = [];
  const refused: LeftEntry[] = [];
  for (const one of sure) {
    await rateLimiter.take(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) break;
    const { entry, key, siteJobId } = one;
    const verdict = { kind: 'exists', siteJobId, anyway: false, exactly: true } as const;
    const report = await resolveEntry(db, entry, verdict, { actor, site: { client, referenceField } });
    if (report.kind === 'recorded') adopted.push(one);
    else refused.push({ entry, key, siteJobId, message: report.message });
    onProgress?.(adopted.length + refused.length);
  }
  return { adopted, refused, todo: sure.length - adopted.length - refused.length };
}
