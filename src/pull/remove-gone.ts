// Finds the postings that a pull did not see, and plans their deletes unless they have to wait for a person.

import type { FeedReading } from '../feed/feed-reading.ts';
import {
  heldBecause,
  holdReason,
  isCutShort,
  isPushedOut,
  judgeDeletes,
  mayBeCapped,
  mayBeNewest,
  stillHeldReason,
  unreadableHold,
} from '../plan/delete-guard.ts';
import { messageOfReason } from '../plan/desired-change.ts';
import type { Message } from '../plan/message.ts';
import { deletesMissing, NEVER_DUE, pullsBeforeDue } from '../plan/policy.ts';
import {
  type ComparedSources,
  compareSources,
  type FilledSources,
  type JudgedCopy,
  steadiness,
  type WeakPull,
} from '../plan/source-faults.ts';
import { hasPlaces } from '../posting/places.ts';
import {
  addExpired,
  clearUnseen,
  collectExpiredGone,
  collectMissing,
  collectMissingChanges,
  countDueAmong,
  countMissingAgain,
  deleteLoad,
  extendGrace,
  forgetExpiry,
  forgetGone,
  keepOtherVersions,
  leaveOutExpired,
  markAbsent,
  markUnseen,
  markUnseenToo,
  noteExpired,
  recordsBefore,
  recordsOfGone,
  refreshExpired,
} from '../store/change/merge/mark-missing.ts';
import {
  countMaybeMade,
  countUnmappedAbsent,
  dropUnsent,
  extendMaybeMadeGrace,
  mergeChanges,
  NONE_MADE,
  withdrawMaybeMade,
} from '../store/change/merge/merge-planned.ts';
import {
  anyHeldDelete,
  countHeldByGuard,
  holdWaitingDeletes,
  protectUnreadable,
  releaseHolds,
  rewordHolds,
  sourcesOfHolds,
  withdrawDeletes,
} from '../store/change/merge/protect-unreadable.ts';
import { countNewPostings } from '../store/change/rekey/collect-rekey.ts';
import { readListedRecords } from '../store/feed/feed-state.ts';
import { forgetUnexpired } from '../store/pull/posting-expiry.ts';
import { sizesBefore } from '../store/pull/pull-history.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import { type FeedSetup, listsEntries } from './feed-setup.ts';
import type { PullLedger } from './pull-ledger.ts';
import type { UnreadableInPull } from './recognise-rekey.ts';
import { comparedFields, recogniseRekey, recogniseTwins } from './recognise-rekey.ts';
import type { RecordPlanner } from './record-planner.ts';

/** Postings that the site has, or may have, but the feed no longer has. */
export interface GonePostings {
  readonly missing: number;
  readonly grace: number;
  readonly holdReason: Message | undefined;
  /** Why the feed's keys seem to have changed; `undefined`: they do not. */
  readonly rekey: Message | undefined;
  /** The empty sources that may be why deletes wait; `undefined`: not known. */
  readonly emptied: readonly string[] | undefined;
}

/** What a complete pull has read, apart from the records. */
interface FeedAsRead extends Pick<Extract<FeedReading, { kind: 'read' }>, 'sources' | 'uncounted' | 'listsEntries'> {
  readonly weak: WeakPull | undefined;
  /** What was read; absent: it is not compared with others. */
  readonly copy: JudgedCopy | undefined;
  readonly filledBefore: FilledSources | undefined;
  /** See `RecordIntake`. */
  readonly listed: readonly Buffer[] | undefined;
}

/** In a feed that is not proven complete nothing is gone; changes it did not show are only marked as unseen. */
export async function markUnseenChanges(
  setup: FeedSetup,
  pullTx: PullTransaction,
  { ledger, unusable }: Pick<RecordPlanner, 'ledger' | 'unusable'>,
  unreadable: UnreadableInPull,
): Promise<GonePostings> {
  const hasSeenChange = (hash: Buffer) => ledger.hasSeenChange(hash);
  await refreshExpired(pullTx);
  if (setup.expireAfterDays === undefined) await forgetExpiry(pullTx);
  await protectUnreadable(pullTx, hasSeenChange);
  await collectMissingChanges(pullTx, 'all', hasSeenChange);
  await markUnseen(pullTx);
  const holdReason = await holdForUnreadable(pullTx, unreadable);
  ledger.unchanged += await keepOtherVersions(pullTx, unusable.duplicatesOf);
  const { rekey, all } = await recogniseUnproven(setup, pullTx, ledger);
  return { missing: 0, grace: 0, holdReason: holdReason ?? (all ? rekey : undefined), rekey, emptied: undefined };
}

/** Creates are sent from an incomplete pull, too; those that may be postings which it only did not show wait. */
async function recogniseUnproven(
  setup: FeedSetup,
  pullTx: PullTransaction,
  ledger: PullLedger,
): Promise<{ readonly rekey: Message | undefined; readonly all: boolean }> {
  if ((await countNewPostings(pullTx)) === 0) return { rekey: undefined, all: false };
  if (setup.expireAfterDays !== undefined) await collectExpiredGone(pullTx, (hash) => ledger.hasSeenExpired(hash));
  if (pullTx.nothingKnown && pullTx.endedGone === 0) return { rekey: undefined, all: false };
  const before = graceOf(setup);
  await collectMissing(pullTx, ledger.missingRecords(), (hash) => ledger.hasSeen(hash), before);
  const verdict = await recogniseRekey(setup, pullTx, false);
  if (!verdict.all) return { rekey: await recogniseTwins(setup, pullTx, false, verdict), all: false };
  if (verdict.note !== undefined) await holdWaitingDeletes(pullTx, heldBecause('rekey', verdict.note));
  return { rekey: verdict.note, all: true };
}

/** @param weak what the pull proves if a proxy may have cut the feed. @param pulls see `JudgedCopy` */
function graceOf({ guard, policy }: FeedSetup, weak?: WeakPull, pulls = 1): number {
  if (!deletesMissing(policy) || (weak !== undefined && weak !== 'another')) return NEVER_DUE;
  return pullsBeforeDue(Math.max(weak === undefined ? 1 : 2, guard.missingPulls, pulls));
}

/** Plans the deletes that follow from a complete feed; held if there are too many or one may be a mistake. */
export async function removeGone(
  setup: FeedSetup,
  pullTx: PullTransaction,
  ledger: PullLedger,
  unreadable: UnreadableInPull,
  read: FeedAsRead,
): Promise<GonePostings> {
  const { weak, sources = [], filledBefore } = read;
  let before = graceOf(setup, weak);
  const counts = weak !== 'repeated';
  const hasSeen = (hash: Buffer) => ledger.hasSeen(hash);
  await clearUnseen(pullTx);
  await protectUnreadable(pullTx, (hash) => ledger.hasSeenChange(hash));
  await collectMissingChanges(pullTx, 'unmapped', hasSeen);
  // A record without a key may be the posting of a create that was not sent yet, so keep those changes.
  const newest = await sizeOfNewest(setup, pullTx, ledger, before + 1, read);
  if (unreadable.withoutKey > 0) await markUnseenToo(pullTx);
  else {
    const skipped = ledger.skippedKeys;
    await dropUnsent(pullTx, newest === undefined ? undefined : { ...comparedFields(setup), skipped });
  }

  const waitingHold = await holdForUnreadable(pullTx, unreadable);
  const compared = compareSources(filledBefore, sources, setup.guard);
  if (unreadable.withoutKey === 0) {
    const kinds = [
      'unreadable',
      'restored',
      'empty_source',
      ...(newest === undefined ? (['newest'] as const) : []),
    ] as const;
    const isCompared = filledBefore !== undefined && sources.length > 0;
    await releaseHolds(pullTx, kinds, isCompared ? await stillEmpty(setup, pullTx, compared) : []);
  }
  if (!deletesMissing(setup.policy)) await withdrawDeletes(pullTx);
  let found = await collectMissing(pullTx, ledger.missingRecords(), hasSeen, before);
  await leaveOutExpired(pullTx);
  if (setup.expireAfterDays !== undefined) await collectExpiredGone(pullTx, (hash) => ledger.hasSeenExpired(hash));
  const verdict = await recogniseRekey(setup, pullTx, true);
  const { note: rekey } = verdict;
  if (rekey !== undefined) await holdWaitingDeletes(pullTx, heldBecause('rekey', rekey));
  else if ((found.missing > 0 || pullTx.expiredSeen.exists) && unreadable.withoutKey === 0) {
    await releaseHolds(pullTx, ['rekey']);
    found = await countMissingAgain(pullTx, before);
  }
  const expired = await addExpired(pullTx);
  if (pullTx.expiredSeen.exists) found = await countMissingAgain(pullTx, before);

  const emptied = compared.emptied(found.missing);
  const judge = async (due: number) => {
    // A create in flight or in doubt may have created its job, so the guard counts its delete too.
    const maybeMade = unreadable.withoutKey > 0 ? NONE_MADE : await countMaybeMade(pullTx, before);
    const added = due + maybeMade.due;
    const byGuard = await countHeldByGuard(pullTx);
    if (added + byGuard.held === 0) return { maybeMade, added, byGuard };
    // The reason is about all that the guard holds, so that the next pull of the same feed says the same.
    const { recent, ...jobs } = await deleteLoad(pullTx);
    const load = {
      ...jobs,
      ...emptinessOf(ledger),
      added: added + byGuard.held,
      recent: recent - byGuard.held,
      expired: expired + byGuard.expired,
      newest,
      emptySources: emptied.map((source) => ({ source, name: compared.nameOf(source) })),
      ruledOut:
        (newest === undefined && emptied.length === 0) || due === 0
          ? 0
          : await countDueAmong(pullTx, before, ledger.skippedKeys),
    };
    const reason = added === 0 ? undefined : holdReason(judgeDeletes(setup.guard, load), unreadable, rekey);
    return { maybeMade, added, byGuard, load, reason };
  };
  let judged = await judge(found.due);
  const inTurn = graceOf(setup, weak, read.copy?.pulls);
  if (judged.reason === undefined && inTurn > before) {
    before = inTurn;
    found = await countMissingAgain(pullTx, before);
    judged = await judge(found.due);
  }
  const { missing, inGrace, due } = found;
  const { maybeMade, added, byGuard, load, reason } = judged;
  if (inGrace > 0) await extendGrace(pullTx, before, counts);
  if (load !== undefined) {
    if (due > 0) await markAbsent(pullTx, before, reason);
    if (added > 0) await mergeChanges(pullTx);
    if (maybeMade.due > 0) await withdrawMaybeMade(pullTx, before, reason);
    const still =
      reason?.kind === 'guard' ? reason : stillHeldReason(setup.guard, load, byGuard.held, unreadable, rekey);
    if (byGuard.held > 0 && still !== undefined) await rewordHolds(pullTx, still);
  }
  if (maybeMade.inGrace > 0) await extendMaybeMadeGrace(pullTx, before, counts);
  if (setup.expireAfterDays === undefined) await forgetExpiry(pullTx);
  else {
    await forgetUnexpired(pullTx.session, setup.feed, setup.expireAfterDays);
    await noteExpired(pullTx, comparedFields(setup));
    if (unreadable.withoutKey === 0 && counts) await forgetGone(pullTx, before);
  }
  const twins = verdict.all ? undefined : await recogniseTwins(setup, pullTx, true, verdict);
  const unmade = await countUnmappedAbsent(pullTx);
  const mayWait = emptied.length > 0;
  return {
    missing: missing + unmade + maybeMade.inGrace,
    grace: inGrace + maybeMade.inGrace,
    holdReason: reason === undefined ? (rekey ?? waitingHold) : messageOfReason(reason),
    rekey: rekey ?? twins,
    emptied: mayWait && (inGrace + maybeMade.inGrace > 0 || (await anyHeldDelete(pullTx))) ? emptied : [],
  };
}

/** Of the sources for which deletes are held: a file that is gone is no sign that its postings are, but one that is no longer configured is. */
async function stillEmpty(
  { source: { from } }: FeedSetup,
  pullTx: PullTransaction,
  { stateOf }: ComparedSources,
): Promise<readonly string[]> {
  const held = await sourcesOfHolds(pullTx);
  return held.filter((source) => {
    const state = stateOf(source);
    return state === 'empty' || state === 'removed' || (state === 'gone' && from.kind !== 'several');
  });
}

const emptinessOf = ({ isEmpty, skipped }: PullLedger) => ({ emptied: isEmpty, skipped });

/**
 * The number at which the list may be cut; `undefined`: nothing suggests that it is.
 * A list of entries that had more records before is not cut at this number, unless it was cut at a larger one, or its last ones are gone; a source
 * may have begun to cut its answers at one that others rarely have. A number that is no usual limit counts only if the list had it before, with
 * other records, and lost its first or last ones now; where only one former version of it is known, only if as many are new at its other end. How many a list had is not known if it is one of several, or if records have several places.
 */
async function sizeOfNewest(
  setup: FeedSetup,
  pullTx: PullTransaction,
  { records }: PullLedger,
  pulls: number,
  read: FeedAsRead,
): Promise<number | undefined> {
  if (setup.mayListNewest === undefined) return undefined;
  const { uncounted = [], listed, copy } = read;
  const areEntries = listsEntries(setup, read);
  const size = uncounted.find(areEntries ? mayBeNewest : mayBeCapped);
  const isOnly = areEntries && (size ?? uncounted[0]) === records && !hasPlaces(setup.mapping);
  if (size === undefined) {
    if (!isOnly || copy === undefined) return undefined;
    const steady = steadiness(records, await sizesBefore(pullTx.session, setup.feed, copy));
    if (steady === undefined) return undefined;
    const isHeld = await anyHeldDelete(pullTx, 'newest');
    return isHeld || (await mayBeCut(pullTx, listed, steady)) ? records : undefined;
  }
  if (!isOnly) return size;
  const more = (await recordsBefore(pullTx, pulls)).filter((seen) => seen > records);
  return more.every(mayBeNewest) || (await mayBeCut(pullTx, listed)) ? size : undefined;
}

/** Whether the list is a beginning of what it was. */
async function mayBeCut(
  pullTx: PullTransaction,
  listed: readonly Buffer[] | undefined,
  steady?: 'steady' | 'perhaps',
): Promise<boolean> {
  const before = listed && (await readListedRecords(pullTx.session, pullTx.subject.feed));
  if (listed === undefined || before === undefined) return false;
  const [now, then] = [listed.map(hexOf), before.map(hexOf)];
  const left = new Set(now);
  const lost = before.filter((_, at) => !left.has(then[at] ?? ''));
  const gone = new Set((await recordsOfGone(pullTx, lost)).map(hexOf));
  if (!isCutShort(then, left, gone, steady === undefined ? 2 : 1)) return false;
  return steady !== 'perhaps' || isPushedOut(then, now, gone);
}

const hexOf = (hash: Buffer): string => hash.toString('hex');

/** Holds pending deletes if an unreadable record could be any posting. Returns the reason if anything is held. */
async function holdForUnreadable(
  pullTx: PullTransaction,
  { withoutKey, rekeyed }: UnreadableInPull,
): Promise<Message | undefined> {
  if (withoutKey === 0) return undefined;
  const message = unreadableHold(withoutKey, rekeyed);
  const held = await holdWaitingDeletes(pullTx, heldBecause('unreadable', message));
  return held === 0 ? undefined : message;
}
