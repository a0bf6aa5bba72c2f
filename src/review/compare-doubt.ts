// A create in doubt for a person to compare: what was sent, which jobs it may have made, what the site shows of these, and how far they
// are what was sent. Decides nothing.
import type { Config } from '../config/config.ts';
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { differingValues, LIKENESSES, type Likeness } from '../plan/match/compare-job.ts';
import type { AdoptRules } from '../plan/match/job-features.ts';
import { type PlaceRules, UNKNOWN_PLACES } from '../plan/match/likeness.ts';
import { type OpenCreate, windowFrom } from '../plan/match/open-contents.ts';
import { fieldOf } from '../plan/same-meaning.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { type SiteClient, type SiteJob, withRevealedFields } from '../site/exchange.ts';
import { ownedJobIds } from '../store/change/candidate-owners.ts';
import { CreateMatching } from '../store/change/create-matching.ts';
import { candidatesOf, type Doubt } from '../store/change/doubt.ts';
import { findChange, type OpenChangeRow } from '../store/change/open-change.ts';
import { doubtOf } from '../store/change/resolve-doubt.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { hasShownReferences } from '../store/site/kept-values.ts';
import { tokenOfChange } from './seen.ts';

/** Jobs that are read from the site at once. */
export const MOST_COMPARED = 5;

export interface ShownDoubt {
  readonly change: OpenChangeRow;
  readonly version: string;
  readonly sent: Fields;
  readonly startedAt: Date;
  /** The jobs that it may have made, as far as they are known. */
  readonly candidateIds: readonly SiteJobId[];
  readonly referenceField: string | undefined;
  /** Whether the site has a list, which is searched for the job. */
  readonly hasList: boolean;
}

/** `undefined`: the entry is not, or no longer, a create in doubt. */
export async function readDoubt(
  db: Database,
  { sites }: Pick<Config, 'sites'>,
  id: number,
): Promise<ShownDoubt | undefined> {
  const change = await findChange(db, id);
  const doubt = await doubtOf(db, id);
  if (change === undefined || doubt === undefined) return undefined;
  const options = sites.get(change.site)?.options;
  return {
    change,
    version: tokenOfChange(change),
    sent: doubt.attempt.accepted.fields,
    startedAt: doubt.startedAt,
    candidateIds: await candidatesOf(db, id),
    referenceField: options?.referenceField,
    hasList: options?.listPath !== undefined,
  };
}

/**
 * Compares with the named jobs; if none is named, with those that the create may have made.
 *
 * @param site `undefined`: it is not configured
 */
export async function compareDoubt(
  db: Database,
  { change, candidateIds }: ShownDoubt,
  named: readonly SiteJobId[],
  site: CandidateSite | undefined,
): Promise<DoubtCandidate[]> {
  const ids = (named.length === 0 ? candidateIds : named).slice(0, MOST_COMPARED);
  if (site === undefined) {
    const message = 'its site is not configured';
    return ids.map((siteJobId) => ({ kind: 'unchecked', siteJobId, message }));
  }
  const doubt = await doubtOf(db, change.id);
  return doubt === undefined ? [] : compareCandidates(db, doubt, ids, site, named.length > 0);
}

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

/**
 * Compares the jobs with what was sent.
 * @param isNamed a person named them; otherwise the closest come first, and those that show exactly what another open create has sent are
 * left out
 */
async function compareCandidates(
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
    ? LIKENESSES.indexOf(candidate.likeness) + candidate.differing.size / (candidate.differing.size + 1)
    : LIKENESSES.length;

export interface JudgedJob {
  readonly likeness: Likeness;
  /** Another open create that has sent exactly what the job shows, while this one has sent something else. */
  readonly equalTo: Pick<OpenCreate, 'feed' | 'key' | 'entry'> | undefined;
  /** Names of the sent fields that the job shows with another value. */
  readonly differing: ReadonlySet<string>;
}

export interface DoubtJudge {
  readonly rules: AdoptRules;
  judge(shown: SiteJob): Promise<JudgedJob>;
}

/** What the comparison needs to know of the site. */
export interface JudgedSite {
  readonly referenceField: string | undefined;
  /** Default: places count as the same only if they are spelled alike. */
  readonly places?: PlaceRules;
}

/** For one doubt that a person asks about: a job that was made later than it could have arrived may be of the next try. */
export async function judgeOf(
  db: Queryable,
  doubt: Doubt,
  { referenceField, places = UNKNOWN_PLACES }: JudgedSite,
): Promise<DoubtJudge> {
  const { site } = doubt.attempt;
  const showsReferences = await hasShownReferences(db, site, referenceField);
  const matching = await CreateMatching.open(db, site, { referenceField, showsReferences, ...places }, [doubt]);
  const isReferenceShared = (await matching.sharingReference([doubt])).has(doubt);
  const window = doubt.found ? undefined : windowFrom(doubt.startedAt);
  return {
    rules: matching.rules,
    async judge(shown) {
      const job = withRevealedFields(shown);
      const compared = matching.contents.compare(matching.contents.look(job));
      const comparison = matching.compareWith(doubt, job);
      const shared = (await matching.sharedOf(new Map([[doubt, comparison.identities]]))).get(doubt);
      return {
        likeness: matching.likeness(doubt, shown, compared, { window, isReferenceShared, shared }),
        equalTo: compared.equalTo(matching.contentOf(doubt))?.creates[0],
        differing: differingValues(doubt.attempt.accepted.fields, job, comparison, matching.rules),
      };
    },
  };
}

// Words for a create in doubt beside the jobs that it may have made, on pages and in the terminal.

export const LIKENESS_WORDS: Readonly<Record<Likeness, string>> = {
  match: 'It is what was sent',
  perhaps: 'It may be what was sent',
  resembles: 'It is similar, but differs',
  other: 'It seems to be another job',
};

/** A field of what was sent, beside what each of the jobs shows. */
export interface FieldBeside {
  readonly name: string;
  readonly sent: string | undefined;
  readonly shown: readonly { readonly value: string | undefined; readonly differs: boolean }[];
}

export function fieldsBeside(sent: Fields, jobs: readonly ShownCandidate[]): FieldBeside[] {
  const names = new Set([...Object.keys(sent), ...jobs.flatMap(({ fields }) => Object.keys(fields))]);
  return [...names].map((name) => ({
    name,
    sent: fieldOf(sent, name),
    shown: jobs.map(({ fields, differing }) => ({ value: fieldOf(fields, name), differs: differing.has(name) })),
  }));
}

export const OWNED_BY_ANOTHER = 'It belongs to another posting, or is about to be deleted.';

export const noCandidateKnown = ({ hasList }: Pick<ShownDoubt, 'hasList'>): string =>
  hasList
    ? "None is known so far: the site's list was not read since, or it showed none. That does not prove that none was made."
    : 'None is known so far: the site has no list to search (list_path). Look for the job on the site, and decide.';

/** Why the site shows no such job; one sentence. */
export const describeAbsent = (candidate: Exclude<DoubtCandidate, { kind: 'shown' }>): string =>
  candidate.kind === 'absent'
    ? `The site says that it has no job ${candidate.siteJobId}.`
    : `Job ${candidate.siteJobId} could not be checked, so it may exist or not: ${candidate.message}.`;
