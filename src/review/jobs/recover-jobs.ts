// Finds what a lost or outdated database does not know of a feed's jobs: jobs with references of its postings, jobs that are gone,
// and jobs that show something else than it recorded; and records all of that. Sends nothing but requests to show jobs.
import type { Message } from '../../plan/message.ts';
import { fieldOf } from '../../plan/same-meaning.ts';
import type { PostingKey, SiteJobId } from '../../posting/identifiers.ts';
import { withRevealedFields } from '../../site/exchange.ts';
import { ownerOfReference } from '../../store/change/candidate-owners.ts';
import { markDrifted } from '../../store/change/mark-drifted.ts';
import { replaceJob } from '../../store/change/restored-database.ts';
import type { RefusedAdoption } from '../../store/mapping/adopt-jobs.ts';
import type { JobMatching, MatchCounts, StrayJob } from '../../store/mapping/job-matching.ts';
import type { Verification } from '../../store/mapping/verification.ts';
import { crossStep } from '../../telemetry/times.ts';
import { type AdoptSubject, adoptRules, matchJobs } from './match-jobs.ts';
import { adoptedContentOf, adoptSure } from './proposals.ts';
import { type Finding, type VerifySubject, verifySite } from './verify-site.ts';

/** A posting whose recorded job is gone, or is another posting's now, and the only job that shows its reference. */
export interface Replaced {
  readonly key: PostingKey;
  readonly from: SiteJobId;
  readonly to: SiteJobId;
}

/** A job that no posting has. */
export interface Stray extends Pick<StrayJob, 'siteJobId' | 'url' | 'createdAt' | 'isSinceBackup'> {
  readonly reference: string | undefined;
  readonly title: string | undefined;
}

/** What the database does not know. */
export interface Recovery {
  /** Postings without a job; certain matches are bound. */
  readonly matches: MatchCounts;
  readonly since: Date;
  readonly replaced: readonly Replaced[];
  /** Jobs that are gone or differ, and are marked to be set again. */
  readonly differing: number;
  /** Other jobs with the reference of a posting whose own job is there: of another installation, or made by hand. */
  readonly second: readonly Finding[];
  /**
   * Jobs that no posting has. Those that were made since a backup, for postings that have left the feed since, are a person's to end; of
   * others it is not known whether they ever were the feed's.
   */
  readonly strays: readonly Stray[];
  /** Jobs that show the reference of another posting, with no other job that is certainly the posting's. */
  readonly unclear: readonly Finding[];
}

export interface RecoverSubject {
  readonly adopting: AdoptSubject;
  /** `undefined`: the feed has no jobs in the database. */
  readonly verifying: Omit<VerifySubject, 'onFinding'> | undefined;
  readonly matching: JobMatching;
  readonly verification: Verification;
}

export type RecoverEnd =
  | ({ readonly kind: 'found' } & Recovery)
  | { readonly kind: 'failed'; readonly message: Message };

/** @param onFinding receives what is gone or changed. */
export async function findLost(
  { adopting, verifying, matching, verification }: RecoverSubject,
  onFinding: (finding: Finding) => Promise<void>,
): Promise<RecoverEnd> {
  const gone = new Map<PostingKey, Finding>();
  const lost = new Map<PostingKey, Finding>();
  const others = new Map<PostingKey, (Finding & { readonly ownJobId: SiteJobId })[]>();
  let differing = 0;
  if (verifying !== undefined) {
    const { failure } = await verifySite(verification, {
      ...verifying,
      async onFinding(finding) {
        const { key, ownJobId } = finding;
        if (finding.finding === 'gone') gone.set(key, finding);
        else if (finding.finding === 'changed') differing++;
        else if (ownJobId === undefined) lost.set(key, finding);
        else if (ownJobId !== null) others.set(key, [...(others.get(key) ?? []), { ...finding, ownJobId }]);
        if (finding.finding === 'changed') await onFinding(finding);
      },
    });
    if (failure !== undefined) return { kind: 'failed', message: failure };
  }
  const end = await matchJobs(matching, adopting);
  if (end.kind === 'failed') return end;
  const replaced: Replaced[] = [];
  const second: Finding[] = [];
  for (const [key, found] of others) {
    const [only] = found;
    if (only === undefined || !(gone.has(key) || lost.has(key))) second.push(...found);
    else if (found.length === 1 && !(await matching.mayBeOthers(only.siteJobId))) {
      replaced.push({ key, from: only.ownJobId, to: only.siteJobId });
      lost.delete(key);
    } else {
      for (const each of found) lost.set(key, each);
    }
    gone.delete(key);
  }
  for (const finding of gone.values()) await onFinding(finding);
  const matches = await matching.count();
  const { since } = end;
  return {
    kind: 'found',
    matches,
    since,
    replaced,
    differing: differing + gone.size,
    second,
    strays: await straysOf(matching, adopting),
    unclear: [...lost.values()],
  };
}

/** Where the site shows references, only jobs that show one: others are made by hand. */
async function straysOf(
  matching: JobMatching,
  { feed, referenceField, byReference }: AdoptSubject,
): Promise<readonly Stray[]> {
  const strays: Stray[] = [];
  for await (const { siteJobId, url, createdAt, fields, isSinceBackup } of matching.strays(feed)) {
    const reference = fieldOf(fields, referenceField ?? '')?.trim() || undefined;
    if (byReference === true && reference === undefined) continue;
    strays.push({ siteJobId, url, createdAt, isSinceBackup, reference, title: fieldOf(fields, 'title') });
  }
  return strays;
}

/** What was recorded. */
export interface Recovered {
  readonly bound: number;
  readonly replaced: number;
  readonly marked: number;
  /** Those that changed since they were found, with the reason. */
  readonly refused: readonly RefusedAdoption[];
}

const MARKED_AT_ONCE = 200;

/** Each posting is recorded wholly or not at all: a command that is stopped leaves the rest to the next one. */
export async function recordFound(
  { adopting, verifying, matching, verification }: RecoverSubject,
  { since, replaced }: Recovery,
  { actor, checkLock }: { readonly actor: string; readonly checkLock: () => void },
): Promise<Recovered> {
  const { feed, signal } = adopting;
  const refused: RefusedAdoption[] = [];
  for (const each of replaced) {
    signal.throwIfAborted();
    checkLock();
    const message = await replace({ adopting, verifying, matching, verification }, each, { actor, since });
    if (message !== undefined) refused.push({ key: each.key, message });
  }
  const adopted = await adoptSure(matching, adopting, { actor, since, checkLock });
  let marked = 0;
  for (let after = 0; ; ) {
    const { jobs, last } = await verification.driftAfter(feed, after, MARKED_AT_ONCE);
    if (jobs.length === 0) break;
    signal.throwIfAborted();
    checkLock();
    const left = await markDrifted(verification.session, feed, actor, jobs);
    crossStep('differences-marked');
    marked += jobs.length - left.length;
    refused.push(...left);
    after = last;
  }
  const replacedCount = replaced.length - refused.filter(({ key }) => replaced.some((each) => each.key === key)).length;
  return { bound: adopted.adopted, replaced: replacedCount, marked, refused: [...refused, ...adopted.refused] };
}

/** Reads the job once more: what it shows is what its mapping records. */
async function replace(
  { adopting, verifying, matching, verification }: RecoverSubject,
  { key, from, to }: Replaced,
  { actor, since }: { readonly actor: string; readonly since: Date },
): Promise<string | undefined> {
  const { db, feed, site, referenceField } = adopting;
  const shown = await verifying?.ask(to);
  if (shown === undefined) return `job ${to} is gone meanwhile`;
  if (shown.ownId !== undefined && shown.ownId !== to) return `job ${to} is job ${shown.ownId} under another ID`;
  const reference = fieldOf(withRevealedFields(shown).fields, referenceField ?? '')?.trim();
  if (referenceField === undefined || !reference) return `job ${to} shows no reference any more`;
  const accepted = (await verification.acceptedOf([from])).get(from)?.accepted?.fields;
  const owner = await ownerOfReference(db, { feed, key, site }, referenceField, reference);
  if (owner !== undefined) return `job ${to} shows the reference of ${owner}`;
  const taken = adoptedContentOf(
    accepted ?? {},
    { ...withRevealedFields(shown), kept: shown.fields },
    await adoptRules(db, adopting),
  );
  const message = await replaceJob(
    matching.session,
    { feed, site, actor, since },
    { key, from, to, url: shown.url, ...taken },
  );
  crossStep('job-replaced');
  return message;
}
