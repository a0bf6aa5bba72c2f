// Compares the jobs of some feeds with what their site shows now. Changes nothing on the site; of the mappings, only notes which jobs it shows.
import type { RateLimiter } from '../../flow/rate-limiter.ts';
import { type AcceptedFields, compareShown, type ShownRules, showsOwnForm } from '../../plan/compare-shown.ts';
import { type CreateOnlyFields, updatableFields } from '../../plan/desired-change.ts';
import { type Message, messageOf, plural, reword } from '../../plan/message.ts';
import { fieldOf } from '../../plan/same-meaning.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { StateTable } from '../../posting/places.ts';
import type { Fields } from '../../posting/posting.ts';
import { explainOtherContent, isMadeOfTitle, tellOtherReference } from '../../site/contradiction.ts';
import {
  type SiteClient,
  type SiteJob,
  shownUnlessDeleted,
  statesDeletion,
  withRevealedFields,
} from '../../site/exchange.ts';
import { provenByValues } from '../../store/change/candidate-owners.ts';
import { databaseTime } from '../../store/change/site-search.ts';
import type {
  ForeignJob,
  JobSelection,
  JobToAsk,
  MappedJob,
  Verification,
  VerifiedJob,
} from '../../store/mapping/verification.ts';
import {
  type AddressProof,
  checkOthers,
  explainHidden,
  noteShownJobs,
  showsOther,
} from '../../store/mapping/visible-jobs.ts';
import type { Database } from '../../store/postgres/database.ts';
import { hasShownReferences } from '../../store/site/kept-values.ts';
import { crossStep } from '../../telemetry/times.ts';
import { adoptRules } from './match-jobs.ts';

/**
 * - `gone`: the site says that the posting's job does not exist.
 * - `changed`: the job shows other values than the site accepted.
 * - `foreign`: the posting's job shows another posting's reference, or another job shows the posting's reference.
 */
export interface Finding {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly finding: 'gone' | 'changed' | 'foreign';
  readonly fields: Readonly<Record<string, ShownChange>>;
  /** Of another job with the posting's reference: the posting's own job; `null`: it has none. */
  readonly ownJobId?: SiteJobId | null;
  /** What else there is to know. */
  readonly message?: string;
  /** The state of the posting's change, if it has one. */
  readonly state?: string;
}

/** What was found about one feed. */
export interface FeedCounts {
  /** Its mapped jobs. */
  jobs: number;
  /** Jobs that show what the site accepted. */
  same: number;
  changed: number;
  gone: number;
  foreign: number;
  /** Jobs that can't be told now: they are being sent, or are marked to be sent again. */
  waiting: number;
  /** Jobs that exist, but nothing is known of what they should show: they were imported and not sent yet. */
  unknown: number;
  /** Jobs for which the site gave no clear answer. */
  unasked: number;
  /** How many jobs could not be compared in a field, by field. */
  readonly hidden: Map<string, number>;
}

export const noCounts = (): FeedCounts => ({
  jobs: 0,
  same: 0,
  changed: 0,
  gone: 0,
  foreign: 0,
  waiting: 0,
  unknown: 0,
  unasked: 0,
  hidden: new Map(),
});

function countHidden({ hidden }: FeedCounts, names: readonly string[]): void {
  for (const name of names) hidden.set(name, (hidden.get(name) ?? 0) + 1);
}

/** The site and the feeds that are verified. */
export interface VerifySubject {
  readonly db: Database;
  readonly site: SiteName;
  readonly feeds: readonly FeedName[];
  readonly referenceField: string | undefined;
  readonly stateField: string;
  readonly states: StateTable;
  /** Only these fields are compared; `undefined`: all. */
  readonly only: ReadonlySet<string> | undefined;
  /** Fields that are set only on create, by feed: they are not compared. */
  readonly createOnly: ReadonlyMap<FeedName, CreateOnlyFields>;
  /** `list`: reads the list, and asks only for jobs that it does not show as they should be. */
  readonly selection: { readonly kind: 'list' } | JobSelection;
  readonly client: Pick<SiteClient, 'list' | 'probe' | 'readDenial'>;
  /** Asks the site for one job, within its rate limit. @throws if the site gives no clear answer. */
  readonly ask: (id: SiteJobId) => Promise<SiteJob | undefined>;
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
  /** Whether what is gone or changed is kept, to be set again. */
  readonly keepsDrift: boolean;
  /** Whether fields that can be compared only after they were sent once more are kept as well. */
  readonly makesKnown?: boolean;
  /** Whether the caller gives postings the jobs that show their references. */
  readonly bindsJobs?: boolean;
  /** Which of that is kept; absent: all. A job that is gone is asked about with each of its fields, or all of them together. */
  readonly isSetAgain?: (finding: 'changed' | 'gone', field: string) => boolean;
  readonly onFinding: (finding: Finding) => Promise<void>;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export type VerifyProgress =
  | { readonly what: 'listed'; readonly done: number }
  /** `job`: the last one that was compared. */
  | { readonly what: 'asked'; readonly done: number; readonly all: number; readonly job: MappedJob };

export interface VerifyEnd {
  readonly counts: ReadonlyMap<FeedName, FeedCounts>;
  /** Why not all jobs could be compared; `undefined`: they were. */
  readonly failure: Message | undefined;
}

/** One run. */
export interface Verifying {
  readonly verification: Verification;
  readonly subject: VerifySubject;
  readonly rules: JobRules;
  readonly since: Date;
  readonly countsOf: (feed: FeedName) => FeedCounts;
  readonly progress: {
    /** Jobs of ours that the site shows: they prove that it is the right site. */
    seen: number;
    /** Jobs that seem gone, while no job of ours has been seen. */
    readonly unproven: { readonly job: VerifiedJob; readonly finding: Finding }[];
    /** Jobs that show another title and no reference, until it is told whose they are. */
    readonly retitled: { readonly job: VerifiedJob; readonly shown: SiteJob; readonly differing: readonly string[] }[];
  };
  /** How often a job showed a field as it should be, although the list shows it with another value; negative: never again. */
  readonly refuted: Map<string, number>;
}

/** After this many jobs that seem gone, with none seen, it is probably another site. */
const MOST_UNPROVEN = 10;
/** Of so many jobs with other titles it is told at once whose they are: each time, all postings of the site may be read. */
const MOST_RETITLED = 2_000;
/** The command stops after this many jobs in a row for which the site gave no clear answer. */
const MOST_UNASKED = 5;
/** After this many jobs that show a field as it should be, the list's value of the field is not believed any more. */
const MOST_REFUTED = 5;

/** Hands over each finding as soon as it is certain. */
export async function verifySite(verification: Verification, subject: VerifySubject): Promise<VerifyEnd> {
  const { db, feeds, referenceField, signal } = subject;
  const jobs = await verification.countJobs();
  const counts = new Map(feeds.map((feed) => [feed, { ...noCounts(), jobs: jobs.get(feed) ?? 0 }]));
  const verifying: Verifying = {
    verification,
    subject,
    rules: { ...(await adoptRules(db, subject)), only: subject.only },
    since: await databaseTime(db),
    countsOf: (feed) => counts.get(feed) as FeedCounts,
    progress: { seen: 0, unproven: [], retitled: [] },
    refuted: new Map(),
  };
  const unread = await selectJobs(verifying);
  const failure = (await askAll(verifying, unread)) ?? (await proveGone(verifying, unread));
  signal.throwIfAborted();
  if (subject.selection.kind === 'list' && referenceField !== undefined) await findForeign(verifying, referenceField);
  crossStep('jobs-verified');
  return { counts, failure: failure ?? unread };
}

/** Returns why the list could not be read to its end; the jobs that it did show are compared. */
async function selectJobs({ subject, verification, since, ...rest }: Verifying): Promise<Message | undefined> {
  const { selection } = subject;
  if (selection.kind !== 'list') {
    await verification.addSelected(selection);
    return undefined;
  }
  const unread = await readJobs({ subject, verification, since, ...rest });
  if (unread === undefined) await verification.addUnlisted(since);
  return unread === undefined ? undefined : `${unread}. Jobs that it did not show were not compared`;
}

/** Returns why it stopped; `undefined`: it did not. */
async function askAll(verifying: Verifying, unread: Message | undefined): Promise<Message | undefined> {
  const failure = await askEach(verifying, unread);
  await tellRetitled(verifying);
  return failure;
}

async function askEach(verifying: Verifying, unread: Message | undefined): Promise<Message | undefined> {
  const { verification, subject, progress, countsOf } = verifying;
  const all = await verification.orderJobs();
  let done = 0;
  let unasked = 0;
  for await (const job of verification.jobsToAsk()) {
    subject.signal.throwIfAborted();
    const failure = await askOne(verifying, job);
    subject.onProgress?.({ what: 'asked', done: ++done, all, job });
    unasked = failure === undefined ? 0 : unasked + 1;
    if (failure !== undefined) {
      countsOf(job.feed).unasked++;
      if (unasked >= MOST_UNASKED) return `site ${subject.site} does not answer: ${failure}`;
    }
    if (progress.retitled.length >= MOST_RETITLED) await tellRetitled(verifying);
    const unproven = progress.unproven.length < MOST_UNPROVEN ? undefined : await proveGone(verifying, unread);
    if (unproven !== undefined) return unproven;
  }
  return undefined;
}

/** Returns why the site gave no clear answer; `undefined`: it did, or none is needed. */
async function askOne(verifying: Verifying, job: JobToAsk): Promise<string | undefined> {
  const { verification, subject, rules, progress, countsOf } = verifying;
  const counts = countsOf(job.feed);
  if (isRefuted(verifying, job)) {
    counts.same++;
    countHidden(counts, job.differing ?? []);
    return undefined;
  }
  const before = await verification.jobNow(job);
  if (before === undefined || before.isOpen) {
    counts.waiting++;
    return undefined;
  }
  let shown: SiteJob | undefined;
  try {
    shown = await subject.ask(job.siteJobId);
  } catch (error) {
    subject.signal.throwIfAborted();
    if (!(await isDeniedAndUnlisted(subject, job))) return (error as Error).message;
  }
  const now = await verification.jobNow(job);
  if (now === undefined || !isUntouched(before, now)) {
    counts.waiting++;
    return undefined;
  }
  const judged = judgeJob(now.accepted, shown, true, { ...rules, createOnly: subject.createOnly.get(now.feed) });
  if (judged.kind === 'foreign' && judged.isByTitle && shown !== undefined)
    progress.retitled.push({ job: now, shown, differing: job.differing ?? [] });
  else await record(verifying, now, judged, job.differing);
  return undefined;
}

/** Whether the list lacks the job, and the site says in its own words, instead of 404, that it has no such job. */
async function isDeniedAndUnlisted(
  { db, site, selection, client, rateLimiter, signal, ask }: VerifySubject,
  { siteJobId, differing }: JobToAsk,
): Promise<boolean> {
  if (selection.kind !== 'list' || differing !== undefined) return false;
  // It asks for another job, too.
  await rateLimiter.take(signal);
  await rateLimiter.take(signal);
  if ((await client.readDenial(siteJobId, signal).catch(() => undefined)) === undefined) return false;
  // A site in trouble, or without a show action, says the same of every job.
  return (await showsOther({ db, site, ask }, siteJobId)) === true;
}

/** Tells whose the jobs are that show another title and no reference. */
async function tellRetitled(verifying: Verifying): Promise<void> {
  const { verification, subject, rules, progress, countsOf } = verifying;
  const retitled = progress.retitled.splice(0);
  if (retitled.length === 0) return;
  const pairs = retitled.map(({ job, shown }) => ({
    key: job.key,
    fields: job.accepted?.fields ?? {},
    shown: withRevealedFields(shown),
  }));
  const { db, site, referenceField } = subject;
  const showsReferences = await hasShownReferences(db, site, referenceField);
  const proven = await provenByValues(db, site, { ...rules, showsReferences }, pairs);
  for (const [at, { job: before, shown, differing }] of retitled.entries()) {
    const now = await verification.jobNow(before);
    if (now === undefined || !isUntouched(before, now)) {
      countsOf(before.feed).waiting++;
      continue;
    }
    const jobRules = { ...rules, createOnly: subject.createOnly.get(now.feed) };
    await record(verifying, now, judgeJob(now.accepted, shown, true, jobRules, proven[at]), differing);
  }
}

const isUntouched = (before: VerifiedJob, now: VerifiedJob): boolean =>
  !now.isOpen && now.lastRequest === before.lastRequest && now.contentHash.equals(before.contentHash);

/** Whether the list is known to show all fields differently in which it differs. */
const isRefuted = ({ refuted }: Verifying, { differing = [] }: JobToAsk): boolean =>
  differing.length > 0 && differing.every((name) => (refuted.get(name) ?? 0) >= MOST_REFUTED);

async function record(
  verifying: Verifying,
  job: VerifiedJob,
  judged: JobJudgement,
  differing: readonly string[] = [],
): Promise<void> {
  const { countsOf, progress, refuted, subject, verification } = verifying;
  const counts = countsOf(job.feed);
  const { feed, key, siteJobId, state } = job;
  const about = { feed, key, siteJobId, ...(state === undefined ? {} : { state }) };
  switch (judged.kind) {
    case 'unknown':
      counts.unknown++;
      return;
    case 'gone': {
      if ((await explainHidden(subject, siteJobId)) !== undefined) {
        counts.unasked++;
        return;
      }
      const finding: Finding = { ...about, finding: 'gone', fields: {} };
      if (progress.seen > 0) return report(verifying, job, finding);
      progress.unproven.push({ job, finding });
      return;
    }
    case 'foreign':
      return report(verifying, job, { ...about, finding: 'foreign', fields: judged.fields, message: judged.message });
    case 'compared': {
      progress.seen++;
      await noteShownJobs(subject.db, subject.site, [siteJobId]);
      await reportProven(verifying);
      countHidden(counts, judged.hidden);
      for (const name of differing) {
        const isChanged = Object.hasOwn(judged.changed, name);
        refuted.set(name, isChanged ? Number.NEGATIVE_INFINITY : (refuted.get(name) ?? 0) + 1);
      }
      const unknown = subject.makesKnown === true ? judged.unknown : [];
      if (Object.keys(judged.changed).length > 0)
        return report(verifying, job, { ...about, finding: 'changed', fields: judged.changed }, unknown);
      counts.same++;
      if (unknown.length > 0) await verification.keepDrift({ ...job, names: unknown, finding: 'unknown' });
      return;
    }
    default:
      return judged satisfies never;
  }
}

async function report(
  { subject, verification, countsOf }: Verifying,
  job: VerifiedJob,
  finding: Finding,
  further: readonly string[] = [],
): Promise<void> {
  const { finding: kind, fields } = finding;
  countsOf(finding.feed)[kind]++;
  if (subject.keepsDrift && kind !== 'foreign') {
    const { isSetAgain = () => true } = subject;
    const found = Object.keys(kind === 'gone' ? (job.accepted?.fields ?? {}) : fields);
    const names = found.filter((name) => isSetAgain(kind, name));
    if (names.length > 0) await verification.keepDrift({ ...job, names: [...names, ...further], finding: kind });
  }
  await subject.onFinding(finding);
}

/** The site is the right one, so the jobs that seemed gone are gone. */
async function reportProven(verifying: Verifying): Promise<void> {
  for (const { job, finding } of verifying.progress.unproven.splice(0)) await report(verifying, job, finding);
}

/**
 * Reports the jobs that seem gone, if the site is the right one; otherwise returns why that is not proven. What a list that could not be
 * read would have shown is not made up for by a probe.
 */
async function proveGone(verifying: Verifying, unread: Message | undefined): Promise<Message | undefined> {
  const { progress, subject } = verifying;
  if (progress.unproven.length === 0) return undefined;
  const { db, site, ask, client, rateLimiter, signal } = subject;
  const proof = await checkOthers(
    {
      db,
      site,
      ask,
      async probe() {
        await rateLimiter.take(signal);
        const probed = await client.probe(signal);
        return { ...probed, found: probed.found && unread === undefined };
      },
    },
    new Set(progress.unproven.map(({ job }) => job.siteJobId)),
    signal,
  );
  signal.throwIfAborted();
  if (proof.kind !== 'proven') return describeUnproven(site, progress.unproven.length, proof);
  progress.seen++;
  await reportProven(verifying);
  return undefined;
}

function describeUnproven(site: SiteName, asked: number, proof: Exclude<AddressProof, { kind: 'proven' }>): Message {
  const words = `site ${site} has none of the ${plural(asked, 'job')} of ours that it was asked for`;
  if (proof.kind === 'unknown') return reword(proof.message, (text) => `${words}: ${text}`);
  return messageOf(`${words}: check base_url and the token`, [
    { words: 'if the site was really emptied, run', action: { kind: 'resume_site', site, because: 'emptied' } },
  ]);
}

/** Jobs whose texts are held in memory before they are compared. */
const COMPARED_AT_ONCE = 200;

/**
 * Reads each page once, which is enough to compare: no job counts as changed or gone by the list alone. To make a job that is gone
 * again, the list must be proven whole, so that it shows whether another job has the reference of its posting. Returns why the list
 * was not read to its end; `undefined`: it was.
 */
async function readJobs(verifying: Verifying): Promise<string | undefined> {
  const { subject } = verifying;
  let waiting: SiteJob[] = [];
  let done = 0;
  const compare = async () => {
    const jobs = waiting;
    waiting = [];
    done += jobs.length;
    subject.onProgress?.({ what: 'listed', done });
    await compareListed(verifying, jobs);
  };
  const take = (siteJob: SiteJob): void | Promise<void> => {
    waiting.push(siteJob);
    return waiting.length < COMPARED_AT_ONCE ? undefined : compare();
  };
  const beforePage = async (stop?: AbortSignal) => {
    await compare();
    await subject.rateLimiter.take(stop);
  };
  const listing = await subject.client.list(take, subject.signal, beforePage, 0, !subject.keepsDrift);
  subject.signal.throwIfAborted();
  await compare();
  return listing.kind === 'listed' ? undefined : listing.message;
}

async function compareListed(
  { verification, subject, rules, progress, countsOf }: Verifying,
  jobs: readonly SiteJob[],
) {
  if (jobs.length === 0) return;
  await noteShownJobs(
    subject.db,
    subject.site,
    jobs.map(({ siteJobId }) => siteJobId),
  );
  const { referenceField } = subject;
  await verification.addListed(
    jobs.map((siteJob) => ({ siteJobId: siteJob.siteJobId, reference: openReference(siteJob, referenceField) })),
  );
  const accepted = await verification.acceptedOf(jobs.map(({ siteJobId }) => siteJobId));
  const differing: (MappedJob & { readonly differing: readonly string[] })[] = [];
  for (const siteJob of jobs) {
    const job = accepted.get(siteJob.siteJobId);
    if (job === undefined) continue;
    const judged = judgeJob(job.accepted, siteJob, false, { ...rules, createOnly: subject.createOnly.get(job.feed) });
    const counts = countsOf(job.feed);
    const changed = judged.kind === 'compared' ? Object.keys(judged.changed) : [];
    if (judged.kind === 'unknown') counts.unknown++;
    else if (judged.kind === 'compared' && changed.length === 0 && !(subject.makesKnown && judged.unknown.length > 0)) {
      counts.same++;
      progress.seen++;
      countHidden(counts, judged.hidden);
    } else differing.push({ ...job, differing: changed });
  }
  await verification.addDiffering(differing);
}

/** A reference that contains the token is not stored. Deleted jobs that a site goes on listing are nobody's, and may be many. */
function openReference(siteJob: SiteJob, referenceField: string | undefined): string | undefined {
  if (referenceField === undefined || statesDeletion(siteJob)) return undefined;
  const reference = fieldOf(siteJob.fields, referenceField);
  return reference === fieldOf(withRevealedFields(siteJob).fields, referenceField) ? reference : undefined;
}

/** Asks for each such job of the list, as lists may be outdated. */
async function findForeign(verifying: Verifying, referenceField: string): Promise<void> {
  const { verification, subject, countsOf } = verifying;
  for await (const { ownJobId, isDeleted, ...job } of await verification.foreignJobs(referenceField)) {
    subject.signal.throwIfAborted();
    const counts = countsOf(job.feed);
    try {
      if (!(await isForeign(verifying, { ownJobId, isDeleted, ...job }))) continue;
    } catch {
      subject.signal.throwIfAborted();
      counts.unasked++;
      continue;
    }
    counts.foreign++;
    // An update that does not find such a job gets the new address by the list.
    const isLookedUp = subject.bindsJobs !== true && ownJobId !== undefined && isMadeOfTitle(ownJobId);
    if (subject.keepsDrift && !isLookedUp) await verification.dropGone(job);
    const own = ownJobId === undefined ? 'which has no job of its own' : `whose own job is ${ownJobId}`;
    const message = isDeleted
      ? 'it was deleted for this posting, and is on the site again: delete it there if it is not to stay'
      : `another job shows the reference of the posting, ${own}`;
    await subject.onFinding({ ...job, finding: 'foreign', fields: {}, message, ownJobId: ownJobId ?? null });
  }
}

/** Whether the site has the job, not as a deleted one, and it is not one of ours under another ID: many sites also find job 12 as `12-nurse`. */
async function isForeign({ verification, subject }: Verifying, job: ForeignJob): Promise<boolean> {
  const shown = shownUnlessDeleted(await subject.ask(job.siteJobId));
  if (shown === undefined) return false;
  for (const id of new Set([shown.siteJobId, idOf(shown)])) if (await verification.isOwned(id)) return false;
  const own = job.ownJobId === undefined ? undefined : await subject.ask(job.ownJobId);
  return own === undefined || idOf(own) !== idOf(shown);
}

const idOf = ({ siteJobId, ownId = siteJobId }: SiteJob) => ownId;

// Decides what the answer of a site says about the job of a posting.

/** A value as the site accepted it, and as it shows it now; `null`: not at all. */
interface ShownChange {
  readonly from: string | null;
  readonly to: string | null;
}

interface JobRules extends ShownRules {
  /** Fields that are left to the site: they may show anything. */
  readonly createOnly?: CreateOnlyFields;
}

type JobJudgement =
  | { readonly kind: 'gone' }
  /** It is not the posting's job, so it must not be changed. */
  | {
      readonly kind: 'foreign';
      readonly fields: Readonly<Record<string, ShownChange>>;
      readonly message: string;
      /** Only its title says so: another value may prove that it is the posting's nevertheless. */
      readonly isByTitle: boolean;
    }
  | {
      readonly kind: 'compared';
      readonly changed: Readonly<Record<string, ShownChange>>;
      readonly hidden: readonly string[];
      /** Those of the hidden ones that could be compared if they were sent once more. */
      readonly unknown: readonly string[];
    }
  /** It exists, and nothing is known of what it should show. */
  | { readonly kind: 'unknown' };

/**
 * | the site                                                                   | judgement |
 * | -------------------------------------------------------------------------- | --------- |
 * | says that the job does not exist                                           | gone      |
 * | shows a job, but what it accepted is not known                             | unknown   |
 * | shows another reference                                                    | foreign   |
 * | shows no reference to compare, another title, and nothing that proves it   | foreign   |
 * | anything else                                                              | compared  |
 * @param known what the site last accepted; `undefined`: not known.
 * What the job showed after our last write is its own reference and title, whatever it looks like.
 * @param shown `undefined`: the job does not exist.
 * @param isWhole whether it is shown with all its fields, and not by a list.
 * @param isProven whether a value that only this posting has proves that the job is its own
 */
function judgeJob(
  known: AcceptedFields | undefined,
  shown: SiteJob | undefined,
  isWhole: boolean,
  rules: JobRules,
  isProven = false,
): JobJudgement {
  if (shown === undefined) return { kind: 'gone' };
  if (known === undefined) return { kind: 'unknown' };
  const { referenceField, learnt, createOnly } = rules;
  const accepted = updatableFields(known.fields, createOnly);
  const compared = withRevealedFields(shown);
  const isItsForm = (name: string): boolean => showsOwnForm(known.forms, name, fieldOf(compared.fields, name));
  const expected = { fields: accepted, referenceField, learnt };
  if (tellOtherReference(compared, expected) !== undefined && !isItsForm(referenceField ?? '')) {
    const fields = changesOf(accepted, shown, [referenceField ?? '']);
    const message = 'its job shows the reference of another posting';
    return { kind: 'foreign', fields, message, isByTitle: false };
  }
  const isTold = isProven || hasReference(accepted, compared.fields, referenceField) || isItsForm('title');
  if (!isTold && explainOtherContent(compared, expected) !== undefined) {
    const fields = changesOf(accepted, shown, ['title']);
    const message = 'its job shows another title, and neither a reference nor another value that tells whose it is';
    return { kind: 'foreign', fields, message, isByTitle: true };
  }
  const { changed, hidden, unknown } = compareShown(
    { fields: accepted, forms: known.forms },
    { ...compared, isWhole },
    rules,
  );
  return { kind: 'compared', changed: changesOf(accepted, shown, changed), hidden, unknown };
}

/** Whether the reference tells that the job is the posting's. */
function hasReference(accepted: Fields, shown: Fields, referenceField: string | undefined): boolean {
  if (referenceField === undefined) return false;
  return [accepted, shown].every((fields) => (fieldOf(fields, referenceField) ?? '').trim() !== '');
}

/** The values of these fields, in the form that may be stored and shown. */
const changesOf = (accepted: Fields, { fields }: SiteJob, names: readonly string[]): Record<string, ShownChange> =>
  Object.fromEntries(
    names.map((name) => [name, { from: fieldOf(accepted, name) ?? null, to: fieldOf(fields, name) ?? null }]),
  );
