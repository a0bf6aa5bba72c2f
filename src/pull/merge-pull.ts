// Plans the records of a pull in one transaction, and ends the pull after reading: checks completeness, merges the
// planned changes with the open ones and commits the backlog.
import type { FeedReading } from '../feed/feed-reading.ts';
import type { Message } from '../plan/message.ts';
import { deletesMissing, updatesJobs } from '../plan/policy.ts';
import { type FilledSources, judgeCopy, keptMarks, nextFilled, weakPullOf } from '../plan/source-faults.ts';
import { hasPlaces } from '../posting/places.ts';
import {
  countStillOpen,
  createLost,
  leaveOutUpdates,
  leaveReturned,
  mergeChanges,
  mergePendingSame,
} from '../store/change/merge/merge-planned.ts';
import { doubtCreatesWithJobs } from '../store/change/recognise-jobs.ts';
import { type FeedStateUpdate, readFeedState, readWeakAnswer, refuseOvertaken } from '../store/feed/feed-state.ts';
import { lockOutcomes } from '../store/locks/advisory-locks.ts';
import type { Database } from '../store/postgres/database.ts';
import { commitPull, takeOver } from '../store/pull/pull-commit.ts';
import { formerCopies, type PullFindings } from '../store/pull/pull-history.ts';
import { type PullSubject, PullTransaction } from '../store/pull/pull-transaction.ts';
import { clearRecordProblems, noteRecordProblems, noteUnreadable } from '../store/pull/record-problems.ts';
import { crossStep } from '../telemetry/times.ts';
import { copyOf, type FeedSetup, listsEntries } from './feed-setup.ts';
import { recogniseUnreadable, type UnreadableInPull, unreadableShortfall } from './recognise-rekey.ts';
import type { RecordPlanner } from './record-planner.ts';
import { shortfallsOf, uncertainShortfall } from './refuse-feed.ts';
import { markUnseenChanges, removeGone } from './remove-gone.ts';
import { PULL_LIMITS } from './unusable-records.ts';

type Read = Extract<FeedReading, { kind: 'read' }>;

/** Merges and commits. Returns whether the feed was proven complete; only then may anything be deleted (law 3). */
async function mergeAndCommit(
  setup: FeedSetup,
  pullTx: PullTransaction,
  recordPlanner: RecordPlanner,
  reading: Read,
): Promise<{ readonly complete: boolean; readonly warnings: readonly string[] }> {
  const { session, subject } = pullTx;
  const { findings, unreadable, whole, keyRule, rekey, weakAnswer, filledSources } = await mergeWithoutCommit(
    setup,
    pullTx,
    recordPlanner,
    reading,
  );
  await refuseOvertaken(session, subject.feed, subject.pull);
  crossStep('changes-merged');
  const problems = recordPlanner.unusable.problems();
  await noteRecordProblems(session, subject.feed, subject.pull, problems.recorded);
  // An incomplete reading clears no entries, so the number it adds is limited here.
  let room = whole ? PULL_LIMITS.entries : PULL_LIMITS.entries - unreadable.entries;
  const recorded = unreadable.found.filter(({ entry }) => entry !== undefined || room-- > 0);
  await noteUnreadable(session, subject.feed, subject.pull, recorded);
  if (whole && problems.all) {
    const records = unreadable.found.map((each) => each.records);
    await clearRecordProblems(session, subject.feed, { unreadable: records, others: problems.recorded });
  }
  await pullTx.notes.merge(setup.lenient === true);
  await pullTx.kept.merge();
  if (findings.complete) await recordPlanner.details?.noteRead(session);
  if (whole) await recordPlanner.forgetUnseen();
  // A later "not modified" must mean "as in the last complete pull, with no grace period to count down, all details known, and no
  // keys that seem to have changed": only a pull that reads the feed finds that they have not.
  const failedDetails = recordPlanner.details?.counts.failed ?? 0;
  const isWhole = findings.grace === 0 && (findings.copy?.leftOut ?? 0) === 0;
  const nothingOpen = isWhole && failedDetails === 0 && rekey === undefined;
  const version = findings.complete && nothingOpen ? reading.version : undefined;
  const warnings = reading.advice === undefined ? recordPlanner.mistakes() : [reading.advice];
  // While postings are within their grace, the next pull compares with the same list.
  const isListKept = !findings.complete || (findings.grace > 0 && deletesMissing(setup.policy));
  const listedRecords = isListKept || !listsEntries(setup, reading) ? undefined : recordPlanner.listed;
  await commitPull(pullTx, findings, { version, keyRule, warnings, weakAnswer, filledSources, listedRecords });
  return { complete: findings.complete, warnings: warnings ?? [] };
}

/** Merges the planned changes in the pull's transaction, which is not committed yet. */
export async function mergeWithoutCommit(
  setup: FeedSetup,
  pullTx: PullTransaction,
  recordPlanner: RecordPlanner,
  reading: Read,
): Promise<Merge> {
  const { ledger } = recordPlanner;
  const { feed, pull } = pullTx.subject;
  await lockOutcomes(pullTx.session, pullTx.subject.feed);
  const keyRule = keyRuleOf(setup);
  const state = await readFeedState(pullTx.session, pullTx.subject.feed);
  const ruleOfJobs = state?.keyRule ?? keyRule;
  const unreadable = await recogniseUnreadable(pullTx, recordPlanner.unusable, ruleOfJobs !== keyRule);
  const otherShortfalls = [
    ...shortfallsOf(reading, ledger, setup),
    ...(recordPlanner.details?.shortfalls() ?? []),
    ...uncertainShortfall(recordPlanner.dated?.uncertain ?? 0, setup),
  ];
  const shortfalls = [...unreadableShortfall(unreadable), ...otherShortfalls];
  const complete = shortfalls.length === 0;
  const marks = complete ? reading.weak?.marks : undefined;
  const weak = marks && weakPullOf(await readWeakAnswer(pullTx.session, pullTx.subject.feed), marks);
  await takeOver(pullTx);
  await mergeChanges(pullTx);
  const left = updatesJobs(setup.policy) ? 0 : await leaveReturned(pullTx);
  const read = complete ? copyOf(setup, reading) : undefined;
  const copy = read && judgeCopy(read, await formerCopies(pullTx.session, feed), pull);
  // Changes accepted while the feed streamed are no longer open: the site has them.
  const pendingSameOpen = await mergePendingSame(pullTx);
  const gone = complete
    ? await removeGone(setup, pullTx, ledger, unreadable, {
        ...reading,
        weak,
        copy,
        filledBefore: state?.filledSources,
        listed: recordPlanner.listed,
      })
    : await markUnseenChanges(setup, pullTx, recordPlanner, unreadable);
  await createLost(pullTx);
  // Now, as a posting without a change of this pull would seem to be missing.
  const leftOut = copy?.isOutdated === true ? await leaveOutUpdates(pullTx) : 0;
  const stillOpen = ledger.openRecords === 0 ? 0 : await countStillOpen(pullTx, (hash) => ledger.hasSeenChange(hash));
  const { site, referenceField, places } = setup;
  await doubtCreatesWithJobs(pullTx.session, feed, site, { referenceField, ...places }, pull);
  const findings: PullFindings = {
    complete,
    shortfalls,
    seen: ledger.seen,
    unchanged:
      ledger.unchanged + left + leftOut + (ledger.openRecords - stillOpen) + (ledger.pendingSame - pendingSameOpen),
    duplicates: ledger.duplicates,
    unreadable: ledger.unreadable,
    skipped: ledger.skipped,
    expired: ledger.expired,
    gone: gone.missing,
    grace: gone.grace,
    bytes: reading.bytes,
    weak: marks && reading.weak?.reason,
    copy: copy && {
      ...copy,
      pulls: Math.max(copy.pulls, setup.guard.missingPulls),
      waiting: deletesMissing(setup.policy) ? gone.grace : 0,
      leftOut,
    },
  };
  // All live jobs are known to have keys under this rule: every one was seen, and no unreadable record hides one.
  const proven = complete && (findings.unreadable === 0 || findings.gone === 0);
  return {
    findings,
    holdReason: gone.holdReason,
    rekey: gone.rekey,
    // An incomplete pull, and one that may repeat a cached answer, leaves the answer to compare with as it is.
    weakAnswer:
      !complete || weak === 'repeated' ? undefined : marks === undefined || gone.grace === 0 ? null : keptMarks(marks),
    filledSources:
      reading.sources &&
      nextFilled(state?.filledSources, reading.sources, gone.emptied ?? Object.keys(state?.filledSources ?? {})),
    unreadable,
    whole: otherShortfalls.length === 0,
    keyRule: proven ? keyRule : ruleOfJobs,
  };
}

/** Equal for two pulls that read the same records, and the same key from each. */
const keyRuleOf = ({ mapping, source }: FeedSetup): string => {
  const { key, places, fields } = mapping;
  const { format, recordPath, table: { columns, delimiter, skipRows } = {}, script } = source;
  const ofPlaces =
    places !== undefined && hasPlaces(mapping) ? [places, places.fields?.map((name) => fields[name])] : [];
  const shape = key.as === undefined ? [] : [{ as: key.as }];
  const records = { format, recordPath, columns, delimiter, skipRows, script };
  return JSON.stringify([key.paths, ...shape, source.encoding ?? null, ...ofPlaces, records]);
};

/** The result of a pull that is merged but not yet committed. */
interface Merge {
  readonly findings: PullFindings;
  readonly holdReason: Message | undefined;
  /** Why the feed's keys seem to have changed; `undefined`: they do not. */
  readonly rekey: Message | undefined;
  /** See `FeedStateUpdate`. */
  readonly weakAnswer: FeedStateUpdate['weakAnswer'];
  /** The same. */
  readonly filledSources: FilledSources | undefined;
  readonly unreadable: UnreadableInPull;
  /** The feed was read to its proven end: postings that were not seen are not in it. */
  readonly whole: boolean;
  /** The key rule that all live jobs are known to have been read with. */
  readonly keyRule: string;
}

// Plans the records of a pull in one transaction, and commits it.

export interface CommittedPull {
  readonly kind: 'committed';
  readonly pull: number;
  readonly complete: boolean;
  /** Likely mistakes of the mapping, if this pull was the first to read the feed with it. */
  readonly warnings?: readonly string[];
}

/** Plans the records that wait, and commits the changes. */
export async function planAndCommit(
  setup: FeedSetup,
  pullTx: PullTransaction,
  recordPlanner: RecordPlanner,
  reading: Extract<FeedReading, { kind: 'read' }>,
): Promise<CommittedPull> {
  await recordPlanner.finish();
  const { complete, warnings } = await mergeAndCommit(setup, pullTx, recordPlanner, reading);
  crossStep('pull-committed');
  return { kind: 'committed', pull: pullTx.subject.pull, complete, warnings };
}

/** Opens the transaction of a pull for `work`, which ends it. An error undoes it. */
export async function inPullTransaction<T>(
  db: Database,
  subject: PullSubject,
  work: (pullTx: PullTransaction) => Promise<T>,
): Promise<T> {
  const pullTx = await PullTransaction.open(db, subject);
  try {
    return await work(pullTx);
  } catch (error) {
    await pullTx.abandon();
    throw error;
  }
}
