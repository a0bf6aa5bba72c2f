// Ends a pull that was read: proves it complete or not, finds what is gone, lets the guard judge, and commits the backlog.
import type { FeedReading } from '../src/feed/feed-reading.ts';
import { judgeDeletes } from '../src/plan/delete-guard.ts';
import type { Reason } from '../src/plan/wish.ts';
import { refuseOvertaken } from '../src/store/feed-state.ts';
import { seizeFeed } from '../src/store/locks.ts';
import type { PullBooks } from '../src/store/pull-books.ts';
import { commitPull, type PullFindings } from '../src/store/pull-commit.ts';
import {
  clearUnseen,
  collectMissing,
  collectUnmetWishes,
  extendGrace,
  markUnseen,
  wishAbsent,
} from '../src/store/pull-gone.ts';
import {
  countStillWished,
  countUnmappedAbsent,
  deleteLoad,
  dropUnmade,
  mergeCarried,
  mergeWishes,
} from '../src/store/pull-merge.ts';
import { takeOver } from '../src/store/pull-takeover.ts';
import { clearRecordProblems, noteRecordProblems } from '../src/store/record-problems.ts';
import { crossStep } from './fault-hook.ts';
import type { FeedSetup } from './feed-setup.ts';
import type { RecordDesk } from './record-desk.ts';

type Read = Extract<FeedReading, { kind: 'read' }>;

/** Merges and commits. Gives whether the feed was proven complete: only then anything may be deleted (law 3). */
export async function mergePull(
  setup: FeedSetup,
  books: PullBooks,
  desk: RecordDesk,
  reading: Read,
): Promise<{ readonly complete: boolean }> {
  const { session, subject } = books;
  const { findings, holdReason } = await prepareMerge(setup, books, desk, reading);
  await refuseOvertaken(session, subject.feed, subject.pull);
  crossStep('wishes-merged');
  const problems = desk.problems();
  await noteRecordProblems(session, subject.feed, subject.pull, problems.noted);
  if (findings.complete && problems.all) {
    const met = problems.noted.map((problem) => problem.recordHash);
    await clearRecordProblems(session, subject.feed, met);
  }
  await books.notes.merge();
  // A 304 must come to mean "as in the last complete pull, and nothing further to count".
  const { etag, lastModified } = findings.complete && findings.grace === 0 ? reading.validators : {};
  const fingerprint = findings.complete ? setup.interpretation.toString('hex') : undefined;
  await commitPull(books, findings, { etag, lastModified, fingerprint, holdReason });
  return { complete: findings.complete };
}

/** Merges what the pull wishes, within its transaction: all that follows from the feed, and nothing of it visible yet. */
export async function prepareMerge(
  setup: FeedSetup,
  books: PullBooks,
  desk: RecordDesk,
  reading: Read,
): Promise<{ readonly findings: PullFindings; readonly holdReason: string | undefined }> {
  const { ledger } = desk;
  const shortfalls = [
    ...reading.shortfalls,
    ...unreadableShortfall(desk.openUnreadable),
    ...tooFewShortfall(ledger.seen, setup.minRecords),
  ];
  const complete = shortfalls.length === 0;
  await seizeFeed(books.session, books.subject.feed);
  await takeOver(books);
  await mergeWishes(books);
  // What was accepted while the feed streamed is not open any more: the site has it.
  const carriedOpen = await mergeCarried(books);
  const gone = complete ? await removeGone(setup, books, desk) : await keepUnseen(books, desk);
  const stillWished = ledger.wished === 0 ? 0 : await countStillWished(books, (hash) => ledger.hasMetWish(hash));
  const findings: PullFindings = {
    complete,
    shortfalls,
    seen: ledger.seen,
    unchanged: ledger.unchanged + (ledger.wished - stillWished) + (ledger.carried - carriedOpen),
    duplicates: ledger.duplicates,
    unreadable: ledger.unreadable,
    gone: gone.missing,
    grace: gone.grace,
    bytes: reading.bytes,
  };
  return { findings, holdReason: gone.holdReason };
}

interface Gone {
  readonly missing: number;
  readonly grace: number;
  readonly holdReason: string | undefined;
}

/** Of a feed that is not proven complete nothing is gone; what it did not show counts towards another pull. */
async function keepUnseen(books: PullBooks, { ledger }: RecordDesk): Promise<Gone> {
  await collectUnmetWishes(books, 'all', (hash) => ledger.hasMetWish(hash));
  await markUnseen(books);
  return { missing: 0, grace: 0, holdReason: undefined };
}

/** Wishes the deletes that follow from a complete feed, held where they are too many. */
async function removeGone(setup: FeedSetup, books: PullBooks, { ledger }: RecordDesk): Promise<Gone> {
  const { missingPulls } = setup.guard;
  const hasMet = (hash: Buffer) => ledger.hasMet(hash);
  await clearUnseen(books);
  await collectUnmetWishes(books, 'unmapped', hasMet);
  await dropUnmade(books);

  const { missing, inGrace, due } = await collectMissing(books, ledger.unmetRecords(), hasMet, missingPulls);
  if (inGrace > 0) await extendGrace(books, missingPulls);

  let reason: Reason | undefined;
  if (due > 0) {
    const load = { ...(await deleteLoad(books)), added: due, emptied: ledger.seen === 0 };
    const verdict = judgeDeletes(setup.guard, load);
    if (verdict.kind === 'hold') reason = { kind: 'guard', message: verdict.reason, problems: [] };
    await wishAbsent(books, missingPulls, reason);
    await mergeWishes(books);
  }
  const unmade = await countUnmappedAbsent(books);
  return { missing: missing + unmade, grace: inGrace, holdReason: reason?.message };
}

function unreadableShortfall(count: number): string[] {
  if (count === 0) return [];
  const records = count === 1 ? '1 record could' : `${count} records could`;
  return [`${records} not be read and may be a posting that seems to be gone; see: jobmirror review list`];
}

function tooFewShortfall(seen: number, minRecords: number | undefined): string[] {
  if (minRecords === undefined || seen >= minRecords) return [];
  const records = seen === 1 ? '1 record is' : `${seen} records are`;
  return [`${records} fewer than the ${minRecords} that the configuration expects at least`];
}
