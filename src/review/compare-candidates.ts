// Reads from the site the jobs that a create in doubt may have made, and compares each with what was sent. Decides nothing.
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { type Likeness, likeness } from '../plan/match-doubt.ts';
import { compareValues, fieldOf } from '../plan/same-value.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { type SiteClient, toCompare } from '../site/exchange.ts';
import { ownedJobIds } from '../store/change/candidate-owners.ts';
import type { Doubt } from '../store/change/doubt.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { learntRewrites } from '../store/site/value-rewrites.ts';

/** How long the site may take for all candidates of a page. */
const MOST_MS = 10_000;
const CLOCK_SKEW_MS = 5 * 60_000;
const END_OF_TIME = new Date(8.64e15);

export interface CandidateSite {
  readonly client: Pick<SiteClient, 'show'>;
  readonly rateLimiter: RateLimiter;
  readonly referenceField: string | undefined;
}

export interface ShownCandidate {
  readonly kind: 'shown';
  readonly siteJobId: SiteJobId;
  /** Safe to show. */
  readonly fields: Fields;
  readonly url: string | undefined;
  readonly createdAt: Date | undefined;
  readonly likeness: Likeness;
  /** Names of the sent fields that the job shows with another value. */
  readonly differing: ReadonlySet<string>;
  /** It is the job of a posting of ours, or about to be deleted. */
  readonly owned: boolean;
}

export type DoubtCandidate =
  | ShownCandidate
  /** The site says that it has no such job. */
  | { readonly kind: 'absent'; readonly siteJobId: SiteJobId }
  /** The site did not tell. */
  | { readonly kind: 'unchecked'; readonly siteJobId: SiteJobId; readonly message: string };

export async function compareCandidates(
  db: Queryable,
  doubt: Doubt,
  ids: readonly SiteJobId[],
  { client, rateLimiter, referenceField }: CandidateSite,
): Promise<DoubtCandidate[]> {
  const signal = AbortSignal.timeout(MOST_MS);
  const { site, accepted } = doubt.attempt;
  const options = { referenceField, learnt: await learntRewrites(db, site) };
  const sent = {
    fields: accepted.fields,
    notBefore: new Date(doubt.startedAt.getTime() - CLOCK_SKEW_MS),
    notAfter: END_OF_TIME,
  };
  const owned = await ownedJobIds(db, site, ids);
  const candidates: DoubtCandidate[] = [];
  for (const id of ids) {
    try {
      await rateLimiter.take(signal);
      signal.throwIfAborted();
      const shown = await client.show(id, signal);
      if (shown === undefined) {
        candidates.push({ kind: 'absent', siteJobId: id });
        continue;
      }
      const compared = toCompare(shown);
      candidates.push({
        kind: 'shown',
        siteJobId: id,
        fields: shown.fields,
        url: shown.url,
        createdAt: shown.createdAt,
        likeness: likeness(sent, compared, options),
        differing: differingNames(accepted.fields, compared.fields),
        owned: owned.has(id),
      });
    } catch (error) {
      const message = signal.aborted ? 'the site takes too long' : (error as Error).message;
      candidates.push({ kind: 'unchecked', siteJobId: id, message });
    }
  }
  return candidates;
}

function differingNames(sent: Fields, shown: Fields): Set<string> {
  const names = Object.entries(sent).flatMap(([name, value]) => {
    const says = fieldOf(shown, name);
    return says !== undefined && compareValues(value, says) === undefined ? [name] : [];
  });
  return new Set(names);
}
