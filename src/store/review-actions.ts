// Writes what a person decided on many entries at once: one statement for all of them, with its audit, in one transaction.
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { Queryable } from './database.ts';
import { shareFeeds } from './locks.ts';

/** Which entries an act is on: single ones, and all of these feeds that it applies to. */
export interface Selection {
  readonly ids: readonly number[];
  readonly feeds: readonly FeedName[];
}

/** An entry that was acted on. */
export interface ActedEntry {
  readonly id: number;
  readonly feed: FeedName;
}

// Rows are locked in the order in which everybody locks them, then altered. Changes in flight or in doubt are in no
// state that is named here, so an attempt is never disturbed.
const onChanges = (action: string, states: string, set: string): string =>
  `with chosen as (
     select c.id from change c where (c.id = any($1::bigint[]) or c.feed = any($2::text[])) and ${states}
     order by c.feed, c.key for update),
   acted as (
     update change c set ${set} from chosen where c.id = chosen.id returning c.id, c.feed, c.key),
   noted as (
     insert into audit (actor, action, feed, key, detail)
     select $3, '${action}', feed, key, jsonb_build_object('entry', id) from acted)
   select id, feed from acted`;

const SEND_AGAIN = `state = 'ready', resting = 'ready', since = now(), attempts = 0, not_before = '-infinity',
  revision = nextval('revision_number')`;

const RETRY = onChanges('retry', `c.state in ('rejected', 'failed') and not c.invalid`, `${SEND_AGAIN}, reason = null`);

const APPROVE = onChanges(
  'approve',
  `c.state = 'held' and c.wanted = 'absent'`,
  `${SEND_AGAIN}, reason = null, approved = true`,
);

const DISCARD = onChanges(
  'discard',
  `c.state in ('rejected', 'failed', 'held')`,
  `state = 'discarded', since = now(), revision = nextval('revision_number')`,
);

const DISCARD_RECORDS = `with acted as (
     update record_problem p set discarded = true
     where (p.id = any($1::bigint[]) or p.feed = any($2::text[])) and not p.discarded returning p.id, p.feed, p.key),
   noted as (
     insert into audit (actor, action, feed, key, detail)
     select $3, 'discard', feed, key, jsonb_build_object('entry', id) from acted)
   select id, feed from acted`;

/** Has rejected and failed changes sent again, with all their attempts. Those that break a known rule are left. */
export async function retryChanges(tx: Queryable, selection: Selection, actor: string): Promise<ActedEntry[]> {
  await shareFeeds(tx, await feedsOf(tx, selection));
  return act(tx, RETRY, selection, actor);
}

/** Approves held deletes of postings that are still to be absent; the guard counts none of them. */
export async function approveChanges(tx: Queryable, selection: Selection, actor: string): Promise<ActedEntry[]> {
  const feeds = await feedsOf(tx, selection);
  await shareFeeds(tx, feeds);
  const acted = await act(tx, APPROVE, selection, actor);
  await clearHolds(tx, feeds);
  return acted;
}

/** Lets changes rest until their posting changes, and takes records as dealt with. */
export async function discardEntries(tx: Queryable, selection: Selection, actor: string): Promise<ActedEntry[]> {
  const feeds = await feedsOf(tx, selection);
  await shareFeeds(tx, feeds);
  const changes = await act(tx, DISCARD, selection, actor);
  const records = await act(tx, DISCARD_RECORDS, selection, actor);
  await clearHolds(tx, feeds);
  return [...changes, ...records];
}

/** How many deletes of these feeds wait for approval. */
export async function countHeld(tx: Queryable, feeds: readonly FeedName[]): Promise<number> {
  const [row] = await tx.query<{ n: number }>(
    `select count(*) as n from change where state = 'held' and wanted = 'absent' and feed = any($1::text[])`,
    [feeds],
  );
  return row?.n ?? 0;
}

/** How many entries of these feeds an act passed over: in doubt, or known to break a rule. */
export async function countPassedOver(
  tx: Queryable,
  feeds: readonly FeedName[],
): Promise<{ readonly feed: FeedName; readonly in_doubt: number; readonly invalid: number }[]> {
  return tx.query(
    `select feed, count(*) filter (where state = 'in_doubt') as in_doubt, count(*) filter (where invalid) as invalid
     from change where feed = any($1::text[]) and state in ('in_doubt', 'rejected', 'failed') group by feed`,
    [feeds],
  );
}

async function act(tx: Queryable, statement: string, { ids, feeds }: Selection, actor: string): Promise<ActedEntry[]> {
  return tx.query<ActedEntry>(statement, [ids, feeds, actor]);
}

/** The feeds of a selection, those of its single entries among them. */
export async function feedsOf(db: Queryable, { ids, feeds }: Selection): Promise<FeedName[]> {
  const entries = await findEntries(db, ids);
  return [...new Set([...feeds, ...entries.map((entry) => entry.feed)])];
}

/** A feed of which nothing is held any more has no hold. */
async function clearHolds(tx: Queryable, feeds: readonly FeedName[]): Promise<void> {
  await tx.query(
    `update feed_state f set hold_reason = null, hold_since = null
     where f.feed = any($1::text[]) and f.hold_reason is not null
       and not exists (select from change c where c.site = f.site and c.state = 'held' and c.feed = f.feed)`,
    [feeds],
  );
}

/** Where an entry stands: the state of a change, or what is wrong with a record. */
export interface EntryStanding {
  readonly id: number;
  readonly feed: FeedName;
  readonly key: PostingKey | null;
  readonly state:
    | 'ready'
    | 'sending'
    | 'in_doubt'
    | 'held'
    | 'rejected'
    | 'failed'
    | 'discarded'
    | 'unreadable'
    | 'duplicate';
  /** A change that breaks a known rule of the site. */
  readonly invalid: boolean;
  readonly reason: string | null;
}

/** The entries with these numbers that there are. A change that was sent is not there any more. */
export async function findEntries(db: Queryable, ids: readonly number[]): Promise<EntryStanding[]> {
  return db.query<EntryStanding>(
    `select id, feed, key, state, invalid, reason->>'message' as reason from change where id = any($1::bigint[])
     union all
     select id, feed, key, case when discarded then 'discarded' else kind end, false, problems->0->>'message'
     from record_problem where id = any($1::bigint[])`,
    [ids],
  );
}

/** How many of these changes are still open, by feed and state; those that are missing were sent. */
export async function countStanding(
  db: Queryable,
  ids: readonly number[],
): Promise<{ readonly feed: FeedName; readonly state: EntryStanding['state']; readonly n: number }[]> {
  return db.query('select feed, state, count(*) as n from change where id = any($1::bigint[]) group by 1, 2', [ids]);
}

/** Feeds that the books know, configured or not. */
export async function knownFeeds(db: Queryable): Promise<FeedName[]> {
  return (await db.query<{ feed: FeedName }>('select feed from feed_state order by feed')).map((row) => row.feed);
}
