// Ends a pull that was read: proves it complete or not, finds what is gone, lets the guard judge, and commits the backlog.
import type { FeedReading } from '../src/feed/feed-reading.ts';
import { judgeDeletes } from '../src/plan/delete-guard.ts';
import type { Reason, Wish } from '../src/plan/wish.ts';
import type { PostingKey } from '../src/posting/identifiers.ts';
import { seizeFeed } from '../src/store/locks.ts';
import type { PullBooks } from '../src/store/pull-books.ts';
import { commitPull } from '../src/store/pull-commit.ts';
import {
  countStillWished,
  countUnmappedAbsent,
  deleteLoad,
  dropUnmade,
  extendGrace,
  mergeCarried,
  mergeWishes,
  type UnmetPosting,
  unmappedWishes,
  unmetPostings,
} from '../src/store/pull-merge.ts';
import { clearRecordProblems, noteRecordProblems } from '../src/store/record-problems.ts';
import { crossStep } from './fault-hook.ts';
import type { FeedSetup } from './pull-feed.ts';
import type { RecordDesk } from './record-desk.ts';

type Read = Extract<FeedReading, { kind: 'read' }>;

/** Merges and commits. Gives whether the feed was proven complete: only then anything may be deleted (law 3). */
export async function mergePull(
  setup: FeedSetup,
  books: PullBooks,
  desk: RecordDesk,
  reading: Read,
): Promise<{ readonly complete: boolean }> {
  const { ledger } = desk;
  const { session, subject } = books;
  const shortfalls = [...reading.shortfalls, ...unreadableShortfall(desk.openUnreadable)];
  const complete = shortfalls.length === 0;

  await seizeFeed(session, subject.feed);
  await mergeWishes(books);
  // What was accepted while the feed streamed is not open any more: the site has it.
  const carriedOpen = await mergeCarried(books);
  const gone = complete ? await removeGone(setup, books, desk) : { missing: 0, grace: 0, holdReason: undefined };
  crossStep('wishes-merged');

  await noteRecordProblems(session, subject.feed, subject.pull, desk.problems);
  if (complete) {
    const met = desk.problems.map((problem) => problem.recordHash);
    await clearRecordProblems(session, subject.feed, met);
  }
  const stillWished = await countStillWished(books, [...ledger.metWishes()]);
  await commitPull(
    books,
    {
      complete,
      shortfalls,
      seen: ledger.seen,
      unchanged: ledger.unchanged + (ledger.wished - stillWished) + (ledger.carried - carriedOpen),
      duplicates: ledger.duplicates,
      unreadable: ledger.unreadable,
      gone: gone.missing,
      grace: gone.grace,
      bytes: reading.bytes,
    },
    {
      // A 304 must mean "as in the last complete pull, and nothing to count further".
      etag: complete && gone.grace === 0 ? reading.validators.etag : undefined,
      lastModified: complete && gone.grace === 0 ? reading.validators.lastModified : undefined,
      fingerprint: complete ? setup.reader.fingerprint : undefined,
      holdReason: gone.holdReason,
    },
  );
  return { complete };
}

/** Wishes the deletes that follow from a complete feed, held where they are too many. */
async function removeGone(
  setup: FeedSetup,
  books: PullBooks,
  desk: RecordDesk,
): Promise<{ readonly missing: number; readonly grace: number; readonly holdReason: string | undefined }> {
  const { ledger } = desk;
  const unmappedGone = (await unmappedWishes(books)).filter((wish) => !ledger.hasMet(wish.recordHash));
  await dropUnmade(books, keysOf(unmappedGone));

  const isGone = (posting: UnmetPosting) =>
    !(posting.wanted === 'present' && posting.wishRecordHash !== undefined && ledger.hasMet(posting.wishRecordHash));
  const missing = (await unmetPostings(books, [...ledger.unmetMappings()])).filter(isGone);
  const fresh = missing.filter((posting) => posting.wanted !== 'absent');
  const inGrace = fresh.filter((posting) => posting.missingPulls + 1 < setup.guard.missingPulls);
  await extendGrace(books, keysOf(inGrace));

  const due = fresh.filter((posting) => posting.missingPulls + 1 >= setup.guard.missingPulls);
  const load = { ...(await deleteLoad(books)), added: due.length, emptied: ledger.seen === 0 };
  const verdict = judgeDeletes(setup.guard, load);
  const reason: Reason | undefined =
    verdict.kind === 'hold' ? { kind: 'guard', message: verdict.reason, problems: [] } : undefined;
  const wishes = due.map(
    ({ key }): Wish => ({ wanted: 'absent', key, operation: 'delete', resting: reason ? 'held' : 'ready', reason }),
  );
  await books.addContested(wishes);
  await mergeWishes(books);
  const unmade = await countUnmappedAbsent(books);
  return { missing: missing.length + unmade, grace: inGrace.length, holdReason: reason?.message };
}

const keysOf = (postings: readonly { readonly key: PostingKey }[]): PostingKey[] => postings.map(({ key }) => key);

function unreadableShortfall(count: number): string[] {
  if (count === 0) return [];
  const records = count === 1 ? '1 record could' : `${count} records could`;
  return [`${records} not be read and may be a posting that seems to be gone; see: jobmirror review list`];
}
