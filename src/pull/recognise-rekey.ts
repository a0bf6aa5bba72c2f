// Recognises that the keys of a feed seem to have changed: then its creates and deletes wait for a person, or some of its creates until
// the postings that they may be have been read.
import { createOnlyOf } from '../plan/desired-change.ts';
import { matchUnreadable, type UnreadableEntry } from '../plan/match-unreadable.ts';
import { type Message, messageOf, plural } from '../plan/message.ts';
import { deletesMissing } from '../plan/policy.ts';
import {
  describeRekey,
  describeTwins,
  endsTwinJob,
  pairsOfWindow,
  seemsRekeyed,
  TWIN_DELETES,
  waitsForTwinDelete,
} from '../plan/rekey.ts';
import {
  collectRekey,
  compareAgain,
  endRekey,
  type FoundPairs,
  findTwins,
  holdTwins,
  noteReplaced,
  readRekeyScope,
  suspectRekey,
} from '../store/change/rekey/collect-rekey.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import type { ComparedFields } from '../store/pull/record-hashes.ts';
import { type UnreadableRecords, unreadableEntries } from '../store/pull/record-problems.ts';
import type { FeedSetup } from './feed-setup.ts';
import { PULL_LIMITS, type UnusableRecords } from './unusable-records.ts';

export const comparedFields = ({ referenceField, mapping }: FeedSetup): ComparedFields => ({
  referenceField,
  stateField: mapping.stateField.name,
  createOnly: createOnlyOf(mapping),
});

/** What a pull found out about the keys of its feed. */
export interface KeysOfPull {
  /** What a person should know; `undefined`: no change of keys is suspected. */
  readonly note: Message | undefined;
  /** All creates and deletes of the feed wait. */
  readonly all: boolean;
  /** The two sides were compared. */
  readonly compared: boolean;
  /** What an earlier pull found out about some of its postings. */
  readonly before: Message | undefined;
}

/** If more are missing, only those are compared whose title a new posting has. */
const MANY_MISSING = 5_000;

/**
 * Compares the missing postings of this pull with the new ones, and with those that have a second job. The caller has collected the missing
 * ones (`collectMissing`, `collectExpiredGone`), and asks `recogniseTwins` afterwards if nothing is suspected of the whole feed.
 *
 * | pull       | suspected of the feed before | now                         | then                                       |
 * | ---------- | ---------------------------- | --------------------------- | ------------------------------------------ |
 * | any        | any                          | suspected                   | suspected, with the postings of this pull  |
 * | complete   | yes                          | not, but some pair is left  | suspected, with the postings of this pull  |
 * | complete   | yes                          | no pair is left             | not suspected                              |
 * | incomplete | yes                          | not                         | suspected, with the postings found before  |
 * | any        | no                           | not                         | not suspected                              |
 */
export async function recogniseRekey(
  setup: FeedSetup,
  pullTx: PullTransaction,
  complete: boolean,
): Promise<KeysOfPull> {
  const scope = await readRekeyScope(pullTx);
  const isAsked = scope.suspected === 'all';
  const before = scope.suspected === 'some' ? scope.note : undefined;
  const noChange = (compared: boolean): KeysOfPull => ({ note: undefined, all: false, compared, before });
  const feedWide = (note: Message | undefined): KeysOfPull => ({
    note,
    all: true,
    compared: true,
    before: undefined,
  });
  if (!isAsked && (setup.rekeyGuard.percent >= 100 || Math.min(scope.missing, scope.added + scope.second) === 0))
    return noChange(false);
  const compared = comparedFields(setup);
  const recent = pairsOfWindow(scope.recent);
  const judge = (found: FoundPairs) =>
    seemsRekeyed(setup.rekeyGuard, {
      ...found,
      recent,
      live: scope.live - found.second,
      ...(complete ? {} : { unread: scope.missing }),
    });
  const narrow =
    !isAsked && scope.missing > MANY_MISSING && scope.second === 0 && compared.createOnly?.has('title') !== true;
  let found = await collectRekey(pullTx, compared, { second: scope.second, narrow });
  const isNow = judge(found);
  if (isNow && narrow) found = await collectRekey(pullTx, compared, { second: scope.second });
  if (isNow || (isAsked && complete && found.equal + found.alike > 0)) {
    const note = describeRekey(setup.feed, { ...found, recent }, complete);
    await suspectRekey(pullTx, note, complete);
    return feedWide(note);
  }
  if (!isAsked) return noChange(true);
  if (!complete) {
    await compareAgain(pullTx);
    return feedWide(scope.note);
  }
  await endRekey(pullTx.session, setup.feed);
  return noChange(true);
}

/**
 * Lets the creates wait that may be postings which this pull did not show: see `waitsForTwinDelete`. The deletes of the pull are planned by now.
 * @returns what a person should know; `undefined`: no create waits for that
 */
export async function recogniseTwins(
  { feed, rekeyGuard: { percent }, policy }: FeedSetup,
  pullTx: PullTransaction,
  complete: boolean,
  { compared, before }: KeysOfPull,
): Promise<Message | undefined> {
  if (!compared) {
    if (!complete && percent < 100) return before;
    await endRekey(pullTx.session, feed);
    return undefined;
  }
  const rule = { percent, complete, deletes: deletesMissing(policy) };
  const waiting = TWIN_DELETES.filter((twin) => waitsForTwinDelete(twin, rule));
  const twins = await findTwins(pullTx, { waiting, ending: TWIN_DELETES.filter(endsTwinJob) });
  if (complete) await noteReplaced(pullTx, twins.replacing);
  if (twins.waiting === 0) {
    await endRekey(pullTx.session, feed);
    return undefined;
  }
  const note = describeTwins(feed, twins.waiting, !complete);
  await holdTwins(pullTx, note, complete);
  return note;
}

// Finds the review entries of a pull's unreadable records, and what the records mean for postings that seem to be gone.

/** The unreadable records of a pull. */
export interface UnreadableInPull {
  /** Each with its existing review entry, if any. */
  readonly found: readonly { readonly records: UnreadableRecords; readonly entry: UnreadableEntry | undefined }[];
  /** Number of existing review entries. */
  readonly entries: number;
  /** Records that no reviewer has discarded. With any of them the feed is not proven complete. */
  readonly open: number;
  /** The number of records beyond the limit of review entries per pull, which nobody can discard. */
  readonly leftOut: number;
  /** Records that could be any posting, even after a reviewer discarded their entries. */
  readonly withoutKey: number;
  /** The keys have changed since the live jobs were created, so every unreadable record could be any posting. */
  readonly rekeyed: boolean;
}

/** @param rekeyed the keys have changed since the live jobs were created. */
export async function recogniseUnreadable(
  { session, subject }: PullTransaction,
  unusable: UnusableRecords,
  rekeyed: boolean,
): Promise<UnreadableInPull> {
  const { records, leftOut } = unusable.unreadable();
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

/** Why a feed with unreadable records is not proven complete. */
export function unreadableShortfall({ open: count, leftOut }: UnreadableInPull): Message[] {
  if (count === 0) return [];
  const text = `${plural(count, 'record')} could not be read and may be a posting that seems to be gone`;
  if (count === leftOut) {
    const why = `only the first ${PULL_LIMITS.entries} problems get a review entry, so these records can't be discarded`;
    return [`${text}; ${why}: fix the feed`];
  }
  return [messageOf(text, [{ words: 'see', action: { kind: 'list_entries' } }])];
}
