// Compares the jobs of some feeds with what their site shows now. Changes nothing on the site; of the mappings, only notes which jobs it shows.
import { type Message, messageOf } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import { compileStates } from '../../posting/us-states.ts';
import { type SiteJob, toCompare } from '../../site/exchange.ts';
import { provenByValues } from '../../store/change/candidate-owners.ts';
import { databaseTime } from '../../store/change/site-search.ts';
import type { JobToAsk, Verification, VerifiedJob } from '../../store/mapping/verification.ts';
import { type AddressProof, checkOthers, noteShownJobs, tellHidden } from '../../store/mapping/visible-jobs.ts';
import { hasShownReferences, learntRewrites } from '../../store/site/kept-values.ts';
import { crossStep } from '../../telemetry/steps.ts';
import { findForeign } from './find-foreign.ts';
import { countHidden, type FeedCounts, type Finding, noCounts } from './finding.ts';
import { type JobJudgement, judgeJob } from './judge-job.ts';
import { readJobs } from './read-jobs.ts';
import type { VerifyEnd, Verifying, VerifySubject } from './verifying.ts';

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
  const { db, site, feeds, referenceField, signal } = subject;
  const jobs = await verification.countJobs();
  const counts = new Map(feeds.map((feed) => [feed, { ...noCounts(), jobs: jobs.get(feed) ?? 0 }]));
  const find = compileStates(subject.states);
  const verifying: Verifying = {
    verification,
    subject,
    rules: {
      referenceField,
      stateField: subject.stateField,
      stateOf: (text) => find(text)?.name,
      learnt: await learntRewrites(db, site),
      only: subject.only,
    },
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
    return (error as Error).message;
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

/** Tells whose the jobs are that show another title and no reference. */
async function tellRetitled(verifying: Verifying): Promise<void> {
  const { verification, subject, rules, progress, countsOf } = verifying;
  const retitled = progress.retitled.splice(0);
  if (retitled.length === 0) return;
  const pairs = retitled.map(({ job, shown }) => ({
    key: job.key,
    fields: job.accepted?.fields ?? {},
    shown: toCompare(shown),
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
      if ((await tellHidden(subject, siteJobId)) !== undefined) {
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
  if (proof.kind === 'unknown') return `${words}: ${proof.message}`;
  return messageOf(`${words}: check base_url and the token`, [
    { words: 'if the site was really emptied, run', action: { kind: 'resume_site', site, because: 'emptied' } },
  ]);
}
