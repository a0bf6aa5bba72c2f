// Adopts site jobs for the postings that they belong to: all certain ones, or one that a person names. Sends nothing.
import { compareJob, LEAST_SCORE } from '../plan/adopt/compare-job.ts';
import { featuresOfJob, featuresOfPosting } from '../plan/adopt/job-features.ts';
import { contentOf, formsOfTaken, type TakenJob, type TakingRules } from '../plan/adopt/taken-content.ts';
import { type Message, textOf } from '../plan/message.ts';
import { fieldOf } from '../plan/same-value.ts';
import type { PostingKey, SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';
import { describeIdInstead, idInstead } from '../site/id-instead.ts';
import type { UnmappedPosting } from '../store/backlog/unmapped-postings.ts';
import { otherOwnerOf } from '../store/change/candidate-owners.ts';
import { databaseTime } from '../store/change/site-search.ts';
import { type Adoption, adoptJobs, type RefusedAdoption } from '../store/mapping/adopt-jobs.ts';
import type { JobMatching, SureMatch } from '../store/mapping/job-matching.ts';
import { crossStep } from '../telemetry/steps.ts';
import { type AdoptSubject, adoptRules } from './match-jobs.ts';

/** Checks that the feed's pull lock is still held; throws otherwise. */
type CheckLock = () => void;

interface SureAdoption {
  readonly actor: string;
  readonly since: Date;
  readonly checkLock: CheckLock;
  /** Which of the certain matches; by default all. */
  readonly only?: (match: Pick<SureMatch, 'key' | 'siteJobId'>) => boolean;
}

/**
 * Adopts the certain matches in portions, each in a transaction of its own: a command that is stopped leaves each posting adopted
 * or as it was. Returns those that another process, or a deletion, was faster with.
 */
export async function adoptSure(
  matching: JobMatching,
  subject: AdoptSubject,
  { actor, since, checkLock, only = () => true }: SureAdoption,
): Promise<{ readonly adopted: number; readonly refused: readonly RefusedAdoption[] }> {
  const { db, feed, site, address, policy, signal, onProgress } = subject;
  const rules = await adoptRules(db, subject);
  const refused: RefusedAdoption[] = [];
  let adopted = 0;
  for (let after = -1; ; ) {
    signal.throwIfAborted();
    checkLock();
    const { matches, last } = await matching.sureAfter(after);
    if (matches.length === 0) return { adopted, refused };
    after = last;
    const chosen = matches.filter(only);
    if (chosen.length === 0) continue;
    const adoptions = chosen.map(({ key, siteJobId, url, sent, fields, types }) => ({
      key,
      siteJobId,
      url,
      // A job that shows the token is not certain.
      ...takenOf(sent, { fields, types, kept: fields }, rules),
    }));
    const left = await adoptJobs(matching.session, { feed, site, address, actor, since, policy }, adoptions);
    crossStep('jobs-adopted');
    refused.push(...left);
    adopted += chosen.length - left.length;
    onProgress?.({ what: 'adopted', done: adopted });
  }
}

export type AdoptOneEnd =
  | { readonly kind: 'adopted'; readonly score: number; readonly reasons: readonly string[] }
  /** Nothing was written. `mayInsist`: a person may adopt it anyway. */
  | { readonly kind: 'refused'; readonly message: string; readonly mayInsist: boolean };

/** A job that a person names for a posting. */
export interface NamedAdoption {
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  /** Even if it seems to be another job, or another posting's. */
  readonly anyway: boolean;
}

/** Adopts one job for a posting, as a person says, after reading the job from the site. The caller holds the feed's pull lock. */
export async function adoptOne(
  subject: AdoptSubject,
  { actor, ...named }: NamedAdoption & { readonly actor: string },
): Promise<AdoptOneEnd> {
  const read = await findUnmapped(subject, new Set([named.key]));
  if (read.kind === 'failed') return refuse(textOf(read.message));
  return adoptNamed(subject, read.found.get(named.key), named, actor);
}

/** Reads the feed, and returns those of its postings without a job that have these keys. */
export async function findUnmapped(
  subject: AdoptSubject,
  keys: ReadonlySet<PostingKey>,
): Promise<
  | { readonly kind: 'found'; readonly found: ReadonlyMap<PostingKey, UnmappedPosting> }
  | { readonly kind: 'failed'; readonly message: Message }
> {
  const found = new Map<PostingKey, UnmappedPosting>();
  const read = await subject.readPostings(async (postings) => {
    for (const posting of postings) if (keys.has(posting.key)) found.set(posting.key, posting);
  });
  return read.kind === 'failed' ? read : { kind: 'found', found };
}

export type NamedPosting = Pick<UnmappedPosting, 'key' | 'fields'>;

const refuse = (message: string, mayInsist = false) => ({ kind: 'refused', message, mayInsist }) as const;

/** Adopts the job after reading it from the site. @param found the posting, as the feed has it now */
export async function adoptNamed(
  subject: AdoptSubject,
  found: NamedPosting | undefined,
  { key, siteJobId, anyway }: NamedAdoption,
  actor: string,
): Promise<AdoptOneEnd> {
  const { db, feed, site, address, policy, client, rateLimiter, signal } = subject;
  if (found === undefined) return refuse(`feed ${feed} has no posting ${key} without a job`);
  const since = await databaseTime(db);
  await rateLimiter.take(signal);
  signal.throwIfAborted();
  const shown = await client.show(siteJobId, signal);
  if (shown === undefined) return refuse(`site ${site} has no job ${siteJobId}`);
  const instead = await idInstead(siteJobId, shown, async (id) => {
    await rateLimiter.take(signal);
    return client.show(id, signal);
  });
  if (instead !== undefined) return refuse(describeIdInstead(siteJobId, instead));
  const compared = await compareShown(subject, found, shown);
  const posting = { feed, key, site, fields: found.fields };
  const owner = await otherOwnerOf(db, posting, toCompare(shown).fields, subject.referenceField);
  if (!anyway && owner !== undefined) return refuse(`job ${siteJobId} shows the reference of ${owner}`, true);
  if (!anyway && (compared.showsOther || compared.score < LEAST_SCORE))
    return refuse(`job ${siteJobId} seems to be another job: ${compared.reasons.join(', ')}`, true);
  const session = await db.session();
  try {
    const taken = takenOf(found.fields, { ...toCompare(shown), kept: shown.fields }, await adoptRules(db, subject));
    const adoption = { key, siteJobId, url: shown.url, ...taken };
    const adoptionSubject = { feed, site, address, actor, since, policy, detail: { anyway } };
    const [refused] = await adoptJobs(session, adoptionSubject, [adoption]);
    if (refused !== undefined) return refuse(refused.message);
  } finally {
    await session.end();
  }
  crossStep('jobs-adopted');
  return { kind: 'adopted', score: compared.score, reasons: compared.reasons };
}

/** The reasons are printed, so that the job is compared in the form without the token. */
async function compareShown(subject: AdoptSubject, { key, fields }: NamedPosting, shown: SiteJob) {
  const rules = await adoptRules(subject.db, subject);
  return compareJob(featuresOfPosting(key, fields, rules), featuresOfJob(shown.fields, rules, { types: shown.types }));
}

/** What a posting takes from a job that it adopts: those of its fields that the job shows. */
export function takenOf(sent: Fields, job: TakenJob, matching: TakingRules): Pick<Adoption, 'shown' | 'forms'> {
  const { fields, uncertain } = contentOf(sent, job, matching);
  const hidden = new Set(uncertain.filter((name) => fieldOf(job.fields, name) === undefined));
  const shown = Object.fromEntries(Object.entries(fields).filter(([name]) => !hidden.has(name)));
  return { shown, forms: formsOfTaken(shown, job) };
}
