// Reads from the site the jobs that a create in doubt may have made, and compares each with what was sent. Decides nothing.
import type { RateLimiter } from '../flow/rate-limiter.ts';
import type { Likeness } from '../plan/adopt/compare-job.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import type { SiteClient } from '../site/exchange.ts';
import { ownedJobIds } from '../store/change/candidate-owners.ts';
import type { Doubt } from '../store/change/doubt.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type JudgedSite, judgeOf } from './judge-shown.ts';

/** How long the site may take for all candidates of a page. */
const MOST_MS = 10_000;

export interface CandidateSite extends JudgedSite {
  readonly client: Pick<SiteClient, 'show'>;
  readonly rateLimiter: RateLimiter;
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

const RANKS: readonly Likeness[] = ['match', 'perhaps', 'resembles', 'other'];

/**
 * Compares the jobs with what was sent.
 * @param isNamed a person named them; otherwise the closest come first, and those that show exactly what another open create has sent are
 * left out
 */
export async function compareCandidates(
  db: Queryable,
  doubt: Doubt,
  ids: readonly SiteJobId[],
  { client, rateLimiter, ...judged }: CandidateSite,
  isNamed: boolean,
): Promise<DoubtCandidate[]> {
  const signal = AbortSignal.timeout(MOST_MS);
  const { judge } = await judgeOf(db, doubt, judged);
  const owned = await ownedJobIds(db, doubt.attempt.site, ids);
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
      const { likeness, differing, equalTo } = await judge(shown);
      if (!isNamed && equalTo !== undefined) continue;
      candidates.push({
        kind: 'shown',
        siteJobId: id,
        fields: shown.fields,
        url: shown.url,
        createdAt: shown.createdAt,
        // Certain as it may be, a job with another value is not what was sent.
        likeness: likeness === 'match' && differing.size > 0 ? 'perhaps' : likeness,
        differing,
        owned: owned.has(id),
      });
    } catch (error) {
      const message = signal.aborted ? 'the site takes too long' : (error as Error).message;
      candidates.push({ kind: 'unchecked', siteJobId: id, message });
    }
  }
  return isNamed ? candidates : candidates.sort((a, b) => rankOf(a) - rankOf(b));
}

/** The likeliest first, and of these the one with the fewest other values; then those that are not shown. */
const rankOf = (candidate: DoubtCandidate): number =>
  candidate.kind === 'shown'
    ? RANKS.indexOf(candidate.likeness) + candidate.differing.size / (candidate.differing.size + 1)
    : RANKS.length;
