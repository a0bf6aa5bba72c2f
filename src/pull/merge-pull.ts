// Ends a pull after reading: checks completeness, finds gone postings, applies the delete guard and commits the
// backlog.
import type { FeedReading } from '../feed/feed-reading.ts';
import { type GuardVerdict, judgeDeletes, unreadableHold } from '../plan/delete-guard.ts';
import type { Reason } from '../plan/desired-change.ts';
import { matchUnreadable, type UnreadableEntry } from '../plan/match-unreadable.ts';
import {
  clearUnseen,
  collectMissing,
  collectMissingChanges,
  extendGrace,
  markAbsent,
  markUnseen,
  markUnseenToo,
} from '../store/change/mark-missing.ts';
import {
  countMaybeMade,
  countStillOpen,
  countUnmappedAbsent,
  deleteLoad,
  dropUnsent,
  extendMaybeMadeGrace,
  type MaybeMadeCounts,
  mergeChanges,
  mergePendingSame,
  withdrawMaybeMade,
} from '../store/change/merge-planned.ts';
import { holdWaitingDeletes, protectUnreadable, releaseUnreadableHolds } from '../store/change/protect-unreadable.ts';
import { readFeedState, refuseOvertaken } from '../store/feed/feed-state.ts';
import { seizeFeed } from '../store/locks/advisory-locks.ts';
import { commitPull, type PullFindings } from '../store/pull/pull-commit.ts';
import { takeOver } from '../store/pull/pull-takeover.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import {
  clearRecordProblems,
  noteRecordProblems,
  noteUnreadable,
  type UnreadableRecords,
  unreadableEntries,
} from '../store/pull/record-problems.ts';
import { holdFound } from '../store/site/site-search.ts';
import { crossStep } from '../telemetry/steps.ts';
import type { FeedSetup } from './feed-setup.ts';
import type { RecordPlanner } from './record-planner.ts';
import { MAX_PROBLEMS } from './unusable-records.ts';

type Read = Extract<FeedReading, { kind: 'read' }>;

/** Merges and commits. Returns whether the feed was proven complete; only then may anything be deleted (law 3). */
export async function mergePull(
  setup: FeedSetup,
  pullTx: PullTransaction,
  recordPlanner: RecordPlanner,
  reading: Read,
): Promise<{ readonly complete: boolean }> {
  const { session, subject } = pullTx;
  const { findings, holdReason, unreadable, whole, keyRule } = await prepareMerge(
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
  let room = whole ? MAX_PROBLEMS : MAX_PROBLEMS - unreadable.entries;
  const recorded = unreadable.found.filter(({ entry }) => entry !== undefined || room-- > 0);
  await noteUnreadable(session, subject.feed, subject.pull, recorded);
  if (whole && problems.all) {
    const records = unreadable.found.map((each) => each.records);
    await clearRecordProblems(session, subject.feed, { unreadable: records, others: problems.recorded });
  }
  await pullTx.notes.merge(setup.lenient === true);
  // A later "not modified" must mean "as in the last complete pull, with no grace period to count down".
  const version = findings.complete && findings.grace === 0 ? reading.version : undefined;
  await commitPull(pullTx, findings, { version, holdReason, keyRule });
  return { complete: findings.complete };
}

/** Merges the planned changes in the pull's transaction, which is not committed yet. */
export async function prepareMerge(
  setup: FeedSetup,
  pullTx: PullTransaction,
  recordPlanner: RecordPlanner,
  reading: Read,
): Promise<Merge> {
  const { ledger } = recordPlanner;
  await seizeFeed(pullTx.session, pullTx.subject.feed);
  const keyRule = keyRuleOf(setup);
  const ruleOfJobs = (await readFeedState(pullTx.session, pullTx.subject.feed))?.keyRule ?? keyRule;
  const unreadable = await recogniseUnreadable(pullTx, recordPlanner, ruleOfJobs !== keyRule);
  const otherShortfalls = [...reading.shortfalls, ...tooFewShortfall(ledger.seen, setup.minRecords)];
  const shortfalls = [...unreadableShortfall(unreadable), ...otherShortfalls];
  const complete = shortfalls.length === 0;
  await takeOver(pullTx);
  await mergeChanges(pullTx);
  // Changes accepted while the feed streamed are no longer open: the site has them.
  const pendingSameOpen = await mergePendingSame(pullTx);
  const gone = complete
    ? await removeGone(setup, pullTx, recordPlanner, unreadable)
    : await keepUnseen(pullTx, recordPlanner, unreadable);
  const stillOpen = ledger.openRecords === 0 ? 0 : await countStillOpen(pullTx, (hash) => ledger.hasSeenChange(hash));
  if (setup.referenceField !== undefined) {
    await holdFound(pullTx.session, setup.feed, setup.site, setup.referenceField);
  }
  const findings: PullFindings = {
    complete,
    shortfalls,
    seen: ledger.seen,
    unchanged: ledger.unchanged + (ledger.openRecords - stillOpen) + (ledger.pendingSame - pendingSameOpen),
    duplicates: ledger.duplicates,
    unreadable: ledger.unreadable,
    gone: gone.missing,
    grace: gone.grace,
    bytes: reading.bytes,
  };
  // All live jobs are known to have keys under this rule: every one was seen, and no unreadable record hides one.
  const proven = complete && (findings.unreadable === 0 || findings.gone === 0);
  return {
    findings,
    holdReason: gone.holdReason,
    unreadable,
    whole: otherShortfalls.length === 0,
    keyRule: proven ? keyRule : ruleOfJobs,
  };
}

/** Equal for two pulls that read the same key from the same record. */
const keyRuleOf = ({ mapping, source }: FeedSetup): string =>
  JSON.stringify([mapping.key.paths, source.encoding ?? null]);

/** The result of a pull that is merged but not yet committed. */
interface Merge {
  readonly findings: PullFindings;
  readonly holdReason: string | undefined;
  readonly unreadable: Unreadable;
  /** The feed was read to its proven end: postings that were not seen are not in it. */
  readonly whole: boolean;
  /** The key rule that all live jobs are known to have been read with. */
  readonly keyRule: string;
}

interface Unreadable {
  /** Each with its existing review entry, if any. */
  readonly found: readonly { readonly records: UnreadableRecords; readonly entry: UnreadableEntry | undefined }[];
  /** Number of existing review entries. */
  readonly entries: number;
  /** Records that no reviewer has discarded. With any of them the feed is not proven complete. */
  readonly open: number;
  /** Those beyond the limit of review entries per pull, which nobody can discard. */
  readonly leftOut: number;
  /** Records that could be any posting, even after a reviewer discarded their entries. */
  readonly withoutKey: number;
  /** The key rule has changed since the live jobs were created, so every unreadable record could be any posting. */
  readonly rekeyed: boolean;
}

async function recogniseUnreadable(
  { session, subject }: PullTransaction,
  recordPlanner: RecordPlanner,
  rekeyed: boolean,
): Promise<Unreadable> {
  const { records, leftOut } = recordPlanner.unusable.unreadable();
  const entries = records.length === 0 ? [] : await unreadableEntries(session, subject.feed);
  const marks = records.map(({ key, recordHash, shape, fault }) => ({
    key,
    bytes: recordHash.toString('hex'),
    shape: shape.toString('hex'),
    fault,
  }));
  const matches = matchUnreadable(marks, entries);
  const found = records.map((each, at) => ({ records: each, entry: matches[at] }));
  const open = found.filter(({ entry }) => entry?.discarded !== true);
  const withoutKey = records.filter(({ key }) => key === undefined);
  const countOf = (list: readonly UnreadableRecords[]) => list.reduce((sum, { count }) => sum + count, 0);
  return {
    found,
    entries: entries.length,
    open: countOf(open.map((each) => each.records)) + leftOut.records,
    leftOut: leftOut.records,
    withoutKey: rekeyed ? countOf(records) + leftOut.records : countOf(withoutKey) + leftOut.withoutKey,
    rekeyed,
  };
}

interface Gone {
  readonly missing: number;
  readonly grace: number;
  readonly holdReason: string | undefined;
}

/** In a feed that is not proven complete nothing is gone; changes it did not show are only marked as unseen. */
async function keepUnseen(pullTx: PullTransaction, { ledger }: RecordPlanner, unreadable: Unreadable): Promise<Gone> {
  const hasSeenChange = (hash: Buffer) => ledger.hasSeenChange(hash);
  await protectUnreadable(pullTx, hasSeenChange);
  await collectMissingChanges(pullTx, 'all', hasSeenChange);
  await markUnseen(pullTx);
  return { missing: 0, grace: 0, holdReason: await holdForUnreadable(pullTx, unreadable) };
}

/** Plans the deletes that follow from a complete feed; held if there are too many or one may be a mistake. */
async function removeGone(
  setup: FeedSetup,
  pullTx: PullTransaction,
  { ledger }: RecordPlanner,
  unreadable: Unreadable,
): Promise<Gone> {
  const { missingPulls } = setup.guard;
  const hasSeen = (hash: Buffer) => ledger.hasSeen(hash);
  await clearUnseen(pullTx);
  await protectUnreadable(pullTx, (hash) => ledger.hasSeenChange(hash));
  await collectMissingChanges(pullTx, 'unmapped', hasSeen);
  // A record without a key may be the posting of a create that was not sent yet, so keep those changes.
  if (unreadable.withoutKey > 0) await markUnseenToo(pullTx);
  else await dropUnsent(pullTx);

  const waitingHold = await holdForUnreadable(pullTx, unreadable);
  if (unreadable.withoutKey === 0) await releaseUnreadableHolds(pullTx);
  const { missing, inGrace, due } = await collectMissing(pullTx, ledger.missingRecords(), hasSeen, missingPulls);
  if (inGrace > 0) await extendGrace(pullTx, missingPulls);

  let reason: Reason | undefined;
  // A create in flight or in doubt may have created its job, so the guard counts its delete too.
  const maybeMade = unreadable.withoutKey > 0 ? NONE_MADE : await countMaybeMade(pullTx, missingPulls);
  if (due + maybeMade.due > 0) {
    const load = { ...(await deleteLoad(pullTx)), added: due + maybeMade.due, emptied: ledger.seen === 0 };
    reason = holdReason(judgeDeletes(setup.guard, load), unreadable);
    if (due > 0) await markAbsent(pullTx, missingPulls, reason);
    await mergeChanges(pullTx);
    if (maybeMade.due > 0) await withdrawMaybeMade(pullTx, missingPulls, reason);
  }
  if (maybeMade.inGrace > 0) await extendMaybeMadeGrace(pullTx, missingPulls);
  const unmade = await countUnmappedAbsent(pullTx);
  return {
    missing: missing + unmade + maybeMade.inGrace,
    grace: inGrace + maybeMade.inGrace,
    holdReason: reason?.message ?? waitingHold,
  };
}

const NONE_MADE: MaybeMadeCounts = { inGrace: 0, due: 0 };

/** Why the deletes of a pull are held. Those held only for unreadable records are checked again once there are none. */
function holdReason(verdict: GuardVerdict, { withoutKey, rekeyed }: Unreadable): Reason | undefined {
  const unreadable = withoutKey === 0 ? [] : [unreadableHold(withoutKey, rekeyed)];
  if (verdict.kind === 'hold') {
    return { kind: 'guard', message: [verdict.reason, ...unreadable].join('; '), problems: [] };
  }
  return unreadable[0] === undefined ? undefined : { kind: 'unreadable', message: unreadable[0], problems: [] };
}

/** Holds pending deletes if an unreadable record could be any posting. Returns the reason if anything is held. */
async function holdForUnreadable(
  pullTx: PullTransaction,
  { withoutKey, rekeyed }: Unreadable,
): Promise<string | undefined> {
  if (withoutKey === 0) return undefined;
  const message = unreadableHold(withoutKey, rekeyed);
  const held = await holdWaitingDeletes(pullTx, { kind: 'unreadable', message, problems: [] });
  return held === 0 ? undefined : message;
}

function unreadableShortfall({ open: count, leftOut }: Unreadable): string[] {
  if (count === 0) return [];
  const records = count === 1 ? '1 record could' : `${count} records could`;
  if (count === leftOut) {
    return [
      `${records} not be read and may be a posting that seems to be gone; only the first ${MAX_PROBLEMS} problems get a ` +
        "review entry, so these records can't be discarded: fix the feed",
    ];
  }
  return [`${records} not be read and may be a posting that seems to be gone; see: jobmirror review list`];
}

function tooFewShortfall(seen: number, minRecords: number | undefined): string[] {
  if (minRecords === undefined || seen >= minRecords) return [];
  const records = seen === 1 ? '1 record' : `${seen} records`;
  return [`the feed has ${records}, fewer than the configured minimum of ${minRecords}`];
}
