// Builds the summary of a feed's pull from the tables, as `sync --json` prints it, checks its sums, and concludes pulls whose process has
// ended before it could.
import { AccountingError, checkAccounts, type SeenCounts } from '../../plan/accounting.ts';
import { noteOfHeld } from '../../plan/delete-guard.ts';
import { type Message, messageOf, plural, textOf } from '../../plan/message.ts';
import { type CommonReason, describeNothingMirrored, mirroredNothing } from '../../plan/set-up-suspicion.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { countOpen, type OpenCounts } from '../backlog/open-counts.ts';
import { commonReason } from '../backlog/planned-changes.ts';
import { type RekeyState, readRekey } from '../change/rekey/read-rekey.ts';
import { lockKey } from '../locks/advisory-locks.ts';
import { HELD_LOCK_KEYS } from '../locks/processes.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Database, IS_WRITABLE, type Queryable, readColumn } from '../postgres/database.ts';
import { countNoted } from '../pull/posting-notes.ts';
import {
  type CountedPull,
  countPulls,
  findPull,
  type PulledCopy,
  type PullStatus,
  sumsOf,
} from '../pull/pull-history.ts';
import { newestHoldReason } from './feed-overview.ts';

/** Counts of one pull (docs/reference.md). Seen: unchanged to skipped, without deleted and held; gone: deleted to failed_deletes. */
export interface PullSummary extends SeenCounts {
  readonly feed: FeedName;
  readonly pull: number;
  readonly complete: boolean;
  readonly deleted: number;
  readonly held: number;
  /** The skipped records whose postings have expired. */
  readonly expired: number;
  readonly gone: number;
  readonly grace: number;
  readonly kept: number;
  readonly pending_deletes: number;
  readonly failed_deletes: number;
  /** Rejected or unreadable postings that a person discarded, so the site differs from the feed. */
  readonly discarded: number;
  readonly requests: number;
  readonly bytes: number;
  readonly shortfalls: readonly Message[];
  /** Why the completeness is proven only weakly; absent if it is not. */
  readonly weak?: string;
  /** Entries of the feed that need a person. */
  readonly review: number;
  /** Postings of the feed from whose fields characters were removed when last read. */
  readonly cleaned: number;
  /** Key of one of them. */
  readonly cleaned_example?: PostingKey;
  /** Postings of the feed whose records were malformed and repaired when last read (`lenient`). */
  readonly repaired: number;
  /** Key of one of them. */
  readonly repaired_example?: PostingKey;
}

/** Status of a committed pull. */
export interface PullState {
  readonly summary: PullSummary;
  /** Changes of the feed that are waiting or in flight, whichever pull they now count towards; without creates that wait for a person. */
  readonly unsent: number;
  /** Set if the pull mirrored nothing: the most common reason, and the number of jobs from earlier pulls. */
  readonly nothingMirrored: { readonly common: CommonReason | undefined; readonly live: number } | undefined;
  /** Why deletes are held, if any are. */
  readonly holdReason: Message | undefined;
  /** Why creates and deletes wait, or some creates, if the feed's keys seem to have changed. */
  readonly rekey: Message | undefined;
  /** What the pull left undone as its source returns older copies. */
  readonly copy: PulledCopy | undefined;
  /** What the pull's updates have set for at least the third time. */
  readonly repeated: RepeatedUpdates | undefined;
  /** All of them wait until a person decides. */
  readonly rekeyAll: boolean;
  /** A later pull that the open changes of the summary count towards since then. */
  readonly takenOverBy: number | undefined;
}

/**
 * Summarises a committed pull as of now, or, if a later pull took its feed over, as of that moment. Throws an AccountingError
 * if law 2 does not hold.
 */
export async function summarisePull(db: Database, pull: number): Promise<PullState> {
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read read only');
    const state = await summariseWithin(tx, pull);
    const { feed, updated } = state.summary;
    return updated === 0 ? state : { ...state, repeated: await findRepeated(tx, feed, pull) };
  });
}

/** The same within a transaction whose statements all see the same state of the database, without what is repeated. */
export async function summariseWithin(tx: Queryable, pull: number): Promise<PullState> {
  const found = await findPull(tx, pull);
  if (found === undefined) throw new Error(`there is no pull ${pull}`);
  // Sent together: a busy process waits longer for each answer than the database takes for it.
  const [now, [row], [waiting], { cleaned, repaired }, rekey] = await Promise.all([
    countOpen(tx, found.feed),
    countPulls(tx, [found]) as Promise<[CountedPull]>,
    tx.query<{ n: number; discarded: number }>(
      `select (select count(*) from change where feed = $1 and state in ('rejected', 'failed', 'held', 'in_doubt'))
         + (select count(*) from record_problem where feed = $1 and not discarded) as n,
         (select coalesce(sum(records), 0) from record_problem
           where feed = $1 and discarded and kind = 'unreadable') as discarded`,
      [found.feed],
    ),
    countNoted(tx, found.feed),
    readRekey(tx, found.feed),
  ]);
  const open = row.takenOver?.leftOpen ?? now;
  const { seen, gone } = sumsOf(row, open);
  checkAccounts(seen, gone);
  const { held, kept } = open;
  const summary = {
    feed: row.feed,
    pull,
    complete: row.complete,
    ...seen,
    gone: row.gone,
    deleted: row.deleted,
    grace: row.grace,
    held,
    kept,
    expired: row.expired,
    pending_deletes: open.pendingDeletes,
    failed_deletes: open.failedDeletes,
    discarded: (open.discarded ?? 0) + Math.min(row.unreadable, waiting?.discarded ?? 0),
    requests: row.requests,
    bytes: row.bytes,
    shortfalls: row.shortfalls,
    ...(row.weak === undefined ? {} : { weak: row.weak }),
    review: waiting?.n ?? 0,
    cleaned: cleaned.count,
    ...(cleaned.example === undefined ? {} : { cleaned_example: cleaned.example }),
    repaired: repaired.count,
    ...(repaired.example === undefined ? {} : { repaired_example: repaired.example }),
  };
  const unsent = unsentOf(now, rekey);
  const nothingMirrored = mirroredNothing(summary) ? await whyNothing(tx, row.feed) : undefined;
  const holdReason = held === 0 ? undefined : await newestHoldReason(tx, row.feed);
  return {
    summary,
    unsent,
    nothingMirrored,
    holdReason,
    copy: row.copy,
    repeated: undefined,
    rekey: rekey.note,
    rekeyAll: rekey.all,
    takenOverBy: row.takenOver?.by,
  };
}

interface RepeatedUpdates {
  readonly postings: number;
  readonly fields: readonly string[];
  readonly example: PostingKey;
  /** Whether the feed has several records with the key of the example. */
  readonly isDuplicate: boolean;
}

/** So many of a pull's updates are looked at, and so many of the pulls before it. */
const MOST_UPDATES = 50;
const MOST_PULLS = 50;

/**
 * Updates that set what two earlier ones had replaced, in place of what an earlier one had replaced as well: no change of the posting, but mostly a list in
 * another order. `former_document` has a row for each update, with what it replaced; updates that only set again what a job should have replace nothing.
 */
async function findRepeated(tx: Queryable, feed: FeedName, pull: number): Promise<RepeatedUpdates | undefined> {
  const [row] = await tx.query<RepeatedUpdates & { example: PostingKey | null }>(
    `with recent as materialized (select id from pull where feed = $1 and id < $2 order by id desc limit ${MOST_PULLS}),
     updated as materialized (select key, fields from former_document where feed = $1 and pull = $2 and not whole limit ${MOST_UPDATES}),
     repeated as (
       select u.key, u.fields from updated u join document d on d.feed = $1 and d.key = u.key cross join lateral (
         select from recent r join former_document f on f.feed = $1 and f.pull = r.id and f.key = u.key and f.fields is not null
         having count(*) filter (where not exists (
             select from json_each_text(f.fields) e where d.fields->>e.key is distinct from e.value)) > 1
           and bool_or(f.fields::jsonb = u.fields::jsonb)) o
       where exists (select from json_each_text(u.fields) e where d.fields->>e.key is distinct from e.value))
     select count(*) as postings, min(key) as example,
       exists (select from record_problem where feed = $1 and kind = 'duplicate' and key = (select min(key) from repeated)) as "isDuplicate",
       (select array_agg(distinct name) from repeated, json_object_keys(fields) name) as fields from repeated`,
    [feed, pull],
  );
  return row === undefined || row.example === null ? undefined : row;
}

const unsentOf = (open: OpenCounts, { waiting }: RekeyState): number =>
  open.pending + open.pendingDeletes - open.doubtfulDeletes - waiting;

/**
 * How a committed pull has ended. Changes left to a later pull are judged by their present state, although the counts date from the takeover.
 * @param isLeft changes are left to be sent
 */
export function statusOfPull(
  { summary, rekeyAll }: PullState,
  kind: 'committed' | 'not_modified' | 'undone',
  isLeft: boolean,
): Exclude<PullStatus, 'running' | 'failed'> {
  if (!summary.complete && kind !== 'undone') return 'incomplete';
  if (isLeft) return 'pending';
  if (summary.review > 0 || rekeyAll) return 'review';
  return kind === 'not_modified' ? 'not_modified' : 'mirrored';
}

async function whyNothing(tx: Queryable, feed: FeedName): Promise<PullState['nothingMirrored']> {
  const [row] = await tx.query<{ live: number }>('select count(*) as live from mapping where feed = $1', [feed]);
  return { common: await commonReason(tx, feed), live: row?.live ?? 0 };
}

/** What a person should know of the postings of a pull, whoever has sent them. */
export const notesOfState = (state: PullState): Message[] => [
  ...nothingNote(state),
  ...holdNote(state),
  ...rekeyNote(state),
  ...copyNote(state),
  ...repeatedNote(state),
  ...discardedNote(state.summary),
  ...takenOverNote(state),
];

const nothingNote = ({ summary, nothingMirrored: why }: PullState): Message[] =>
  why === undefined ? [] : [describeNothingMirrored(summary, why.common, why.live)];

const holdNote = ({ holdReason }: PullState): Message[] => (holdReason === undefined ? [] : [noteOfHeld(holdReason)]);

/** The reason of held deletes says so, if they are held for it. */
const rekeyNote = ({ holdReason, rekey }: PullState): Message[] =>
  rekey === undefined || textOf(holdReason ?? '').includes(textOf(rekey)) ? [] : [rekey];

function copyNote({ copy, holdReason }: PullState): string[] {
  if (copy?.why === undefined) return [];
  const { why, pulls = 1, waiting = 0, leftOut = 0, since } = copy;
  const left = [
    ...(waiting === 0 ? [] : [`a job is deleted only once its posting is missing from ${pulls} pulls in a row`]),
    ...(leftOut === 0
      ? []
      : [
          `${plural(leftOut, 'update to an older content is', 'updates to an older content are')} left out, unless ${pulls} pulls in a row have it`,
        ]),
  ];
  const whence = why === 'again' ? `${COPIES[why]} ${since}` : COPIES[why];
  if (left.length === 0) return holdReason === undefined ? [] : [`${whence}. ${NO_COPIES}`];
  return [`${whence}: ${left.join('; ')}. ${NO_COPIES}`];
}

const COPIES = {
  again: 'the source has returned to what it had in pull',
  in_turn: 'the source returns older copies of the feed in turn',
  older: 'by its headers, the source has sent an older copy of the feed than before',
} as const;
const NO_COPIES =
  'If a cache or one of several servers keeps old copies, have it send none; if the feed was changed back, the next pulls mirror it';

function repeatedNote({ repeated, summary: { updated } }: PullState): string[] {
  if (repeated === undefined) return [];
  const { postings, fields, example, isDuplicate } = repeated;
  const all = updated > MOST_UPDATES ? `the ${MOST_UPDATES} updates looked at` : `${plural(updated, 'update')}`;
  return [
    `${postings} of ${all} set ${fields.join(', ')} to what it was at least twice before, such as that of posting ${example}: ${isDuplicate ? TWO_RECORDS : SHUFFLED}`,
  ];
}

const TWO_RECORDS =
  'the feed has several different records with its key, in changing order; choose a key that differs between them, or ask for a feed that has each posting once';
const SHUFFLED =
  'the source seems to send a list in changing order, or older copies of the feed in turn; if the field is read from a list, name its path in the ' +
  'setting unordered of the feed; if a cache keeps old copies, have it send none, and until then set delete_guard: { missing_pulls: 2 }';

/** "Mirrored" alone would hide what a person has discarded. */
function discardedNote({ feed, discarded }: PullSummary): Message[] {
  if (discarded === 0) return [];
  const postings = discarded === 1 ? '1 posting is' : `${discarded} postings are`;
  const them = discarded === 1 ? 'it' : 'them';
  const text = `${postings} not on the site as the feed has ${them}, because a person discarded ${them}`;
  return [messageOf(text, [{ action: { kind: 'list_entries', feed, discarded: true } }])];
}

function takenOverNote({ summary, takenOverBy }: PullState): Message[] {
  const { feed, pending, in_doubt, pending_deletes } = summary;
  const left = pending + in_doubt + pending_deletes;
  if (takenOverBy === undefined || left === 0) return [];
  const open = left === 1 ? '1 change of this one was open' : `${left} changes of this one were open`;
  const text = `pull ${takenOverBy} of the feed took over while ${open}, and counts ${left === 1 ? 'it' : 'them'}`;
  return [messageOf(text, [{ action: { kind: 'list_pulls', feed } }])];
}

interface RunningPull {
  readonly id: number;
  readonly feed: FeedName;
  readonly committed: boolean;
  readonly complete: boolean;
  /** It is no pull of the source, but the undo of one. */
  readonly isUndo: boolean;
  /** Nothing of its feed is being sent, and nothing was for a while. */
  readonly idle: boolean;
}

/** A process that reports on a pull while it sends pauses for less; if it pauses for longer, its own report replaces this one. */
const IDLE_SECONDS = 60;
const ENDED = 'the process ended during the pull';
/** The note of a pull until the rest has been sent, by whatever process. */
const LEFT = 'the process ended before everything was sent';

/**
 * A process holds the lock of a feed from before its pull begins until it is committed or has failed.
 *
 * | the pull       | lock of its feed | changes are left                   | becomes                                |
 * | -------------- | ---------------- | ---------------------------------- | -------------------------------------- |
 * | any            | held             | any                                | it is running                          |
 * | not committed  | free             |                                    | failed                                 |
 * | committed      | free             | none                               | as its postings are: mirrored, review… |
 * | committed      | free             | some, and one was sent a while ago | it is running                          |
 * | committed      | free             | some, and none was sent for long   | pending, until nothing is left         |
 *
 * @param of only pulls of this feed
 */
export async function concludeAbandonedPulls(db: Database, of?: FeedName): Promise<void> {
  const running = await readRunning(db, of);
  if (running.length === 0) return;
  const held = new Set(await readColumn<string>(db, HELD_LOCK_KEYS));
  for (const pull of running) {
    if (held.has(lockKey('pull', pull.feed)) || held.has(lockKey('details', pull.feed))) continue;
    await conclude(db, pull, pull.idle);
  }
}

/** The caller holds the feed's lock, for a pull that takes over what these have left. */
export async function concludeFormerPulls(db: Database, feed: FeedName, current: number): Promise<void> {
  for (const pull of await readRunning(db, feed)) if (pull.id < current) await conclude(db, pull, true);
}

const readRunning = (db: Database, of: FeedName | undefined): Promise<RunningPull[]> =>
  db.query<RunningPull>(
    `select id, feed, committed_at is not null as committed, complete, undoes is not null as "isUndo",
       coalesce(committed_at < now() - interval '${IDLE_SECONDS} seconds', false)
         and not exists (select from change c where c.feed = p.feed and c.state = 'sending')
         and not exists (select from request r where r.at > now() - interval '${IDLE_SECONDS} seconds' and r.feed = p.feed) as idle
     from pull p where (status = 'running' or status = 'pending' and taken_over_by is null and notes = $2::jsonb)
       and ($1::text is null or feed = $1) and ${IS_WRITABLE} order by id`,
    [of ?? null, toJsonb([LEFT])],
  );

async function conclude(db: Database, pull: RunningPull, mayBePending: boolean): Promise<void> {
  const { id, committed, complete, isUndo } = pull;
  // While it is sent, each reading of a status comes here: most of a summary would be read for nothing.
  if (committed && (complete || isUndo) && !mayBePending && (await isLeft(db.prepared, pull.feed))) return;
  const { status, notes } = committed ? await stateNow(db, id, isUndo) : { status: 'failed', notes: [] };
  if (status === 'pending' && !mayBePending) return;
  await db.query(
    // It may be committed between the two readings: its process still ends it.
    `update pull set status = $2, notes = $3, finished_at = coalesce(finished_at, now())
     where id = $1 and status in ('running', 'pending') and status <> $2 and (committed_at is not null) = $4`,
    [id, status, toJsonb(status === 'failed' ? [ENDED] : status === 'pending' ? [LEFT] : notes), committed],
  );
}

/** Whether changes of the feed are left to be sent. */
async function isLeft(db: Queryable, feed: FeedName): Promise<boolean> {
  const [open, rekey] = await Promise.all([countOpen(db, feed), readRekey(db, feed)]);
  return unsentOf(open, rekey) > 0;
}

/** Counts that do not add up are reported where the feed is mirrored; here they must not keep others from going on. */
async function stateNow(
  db: Database,
  pull: number,
  isUndo: boolean,
): Promise<{ readonly status: PullStatus; readonly notes: readonly Message[] }> {
  try {
    const state = await summarisePull(db, pull);
    const status = statusOfPull(state, isUndo ? 'undone' : 'committed', state.unsent > 0);
    return { status, notes: notesOfState(state) };
  } catch (error) {
    if (error instanceof AccountingError) return { status: 'pending', notes: [] };
    throw error;
  }
}
