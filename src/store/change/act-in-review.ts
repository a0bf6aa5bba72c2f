// Applies a person's decision to many entries: one statement for all of them, with its audit rows, in one transaction.
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import { DISCARDED_KIND, ENTRY_KINDS, type EntryKind } from '../backlog/entry-kind.ts';
import { inQuestion } from '../backlog/open-question.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';

/** The entries that an action applies to: single ones, and all of these feeds. */
export interface Selection {
  readonly ids: readonly number[];
  readonly feeds: readonly FeedName[];
  /** Only entries of these kinds; all kinds if absent. Used by discard and reopen. */
  readonly kinds?: readonly EntryKind[];
}

/** An entry that an action was applied to. */
export interface ActedEntry {
  readonly id: number;
  readonly feed: FeedName;
  /** Of a discarded or reopened entry: its kind in review. */
  readonly kind?: EntryKind | null;
}

// Rows are locked in the order that all code uses, then updated. None of the states named here includes changes in flight or
// in doubt, so an attempt is never disturbed.
const onChanges = (action: string, states: string, set: string, kind = 'null::text'): string =>
  `with chosen as (
     select c.id from change c where (c.id = any($1::bigint[]) or c.feed = any($2::text[])) and ${states}
     order by c.feed, c.key for update),
   acted as (
     update change c set ${set} from chosen where c.id = chosen.id returning c.id, c.feed, c.key, ${kind} as kind),
   noted as (
     insert into audit (actor, action, feed, key, detail)
     select $3, '${action}', feed, key, jsonb_strip_nulls(jsonb_build_object('entry', id, 'kind', kind)) || $4::jsonb from acted)
   select id, feed, kind from acted`;

const SEND_AGAIN = `state = 'ready', target_state = 'ready', since = now(), attempts = 0, not_before = '-infinity',
  revision = nextval('revision_number')`;

/**
 * SQL: whether the change `c` is a delete that a pull has planned, and that this configuration keeps or has not decided about: its feed
 * is configured otherwise than when that pull looked for its posting, if one ever has. An undo names its own.
 * @param from the number of the first of three parameters: see `asParameters`
 */
const isKept = (
  c: string,
  from: number,
): string => `(${c}.desired = 'absent' and ${c}.state in ('rejected', 'failed', 'held')
  and exists (select from unnest($${from}::text[], $${from + 1}::boolean[], $${from + 2}::text[]) here(feed, deletes, membership)
    left join feed_state f on f.feed = here.feed
    where here.feed = ${c}.feed and (not here.deletes or f.membership_rule is distinct from here.membership))
  and not exists (select from pull p where p.id = ${c}.pull and p.undoes is not null))`;

const RETRY = onChanges(
  'retry',
  `c.state in ('rejected', 'failed') and not c.invalid and not c.gone and not ${inQuestion('c')} and not ${isKept('c', 5)}`,
  `${SEND_AGAIN}, reason = null`,
);

const APPROVE = onChanges(
  'approve',
  `c.state = 'held' and c.desired = 'absent' and not ${inQuestion('c')} and not ${isKept('c', 5)}`,
  `${SEND_AGAIN}, reason = null, approved = true`,
);

/** A create in doubt is never discarded. */
const DISCARDABLE = `c.state in ('rejected', 'failed', 'held')`;

const DISCARD = onChanges(
  'discard',
  `${DISCARDABLE} and c.state = any($5::text[]) and not ${inQuestion('c')}`,
  `state = 'discarded', discarded_from = c.state, since = now(), revision = nextval('revision_number')`,
  'c.discarded_from',
);

const REOPEN = onChanges(
  'reopen',
  `c.state = 'discarded' and ${DISCARDED_KIND} = any($5::text[])`,
  `state = ${DISCARDED_KIND}, since = now(), revision = nextval('revision_number')`,
  'c.state',
);

const onRecords = (action: string, discarded: boolean): string => `with acted as (
     update record_problem p set discarded = ${discarded}, revision = nextval('revision_number')
     where (p.id = any($1::bigint[]) or p.feed = any($2::text[])) and p.discarded = ${!discarded}
       and p.kind = any($5::text[]) returning p.id, p.feed, p.key, p.kind),
   noted as (
     insert into audit (actor, action, feed, key, detail)
     select $3, '${action}', feed, key, jsonb_build_object('entry', id, 'kind', kind) || $4::jsonb from acted)
   select id, feed, kind from acted`;

const DISCARD_RECORDS = onRecords('discard', true);
const REOPEN_RECORDS = onRecords('reopen', false);

/** What the audit says about an action besides the entry: why it was taken, and the bulk action and rule that it is a part of. */
export interface AuditNote {
  readonly reason?: string;
  readonly bulk?: number;
  readonly rule?: number;
}

/**
 * Makes rejected and failed changes ready again, with all their attempts. Skips those that break a known rule, and those of postings
 * that are missing from the feed. @param configured what decides about deletes now: those that it keeps are skipped
 */
export async function retryChanges(
  tx: Queryable,
  selection: Selection,
  actor: string,
  note: AuditNote = {},
  configured: readonly ConfiguredFeed[] = [],
): Promise<ActedEntry[]> {
  await lockOutcomesShared(tx, await feedsOf(tx, selection));
  return act(tx, RETRY, selection, actor, note, asParameters(configured));
}

/** An entry of another site than the one that its feed is configured for. */
export interface EntryElsewhere {
  readonly id: number;
  readonly feed: FeedName;
  readonly site: SiteName;
}

/** The entries of the selection that could be sent, if their feeds were not configured for other sites than theirs. */
export const entriesElsewhere = (
  db: Queryable,
  { ids, feeds }: Selection,
  sites: ReadonlyMap<FeedName, SiteName>,
): Promise<EntryElsewhere[]> =>
  db.query<EntryElsewhere>(
    `select c.id, c.feed, c.site from change c
       join unnest($3::text[], $4::text[]) here(feed, site) on here.feed = c.feed and here.site <> c.site
     where (c.id = any($1::bigint[]) or c.feed = any($2::text[])) and c.state in ('rejected', 'failed', 'held')
     order by c.feed, c.id limit 1000`,
    [ids, feeds, [...sites.keys()], [...sites.values()]],
  );

/** What this process is configured to do with the jobs of a feed. */
export interface ConfiguredFeed {
  readonly feed: FeedName;
  readonly deletes: boolean;
  /** See `membershipRule`. */
  readonly membership: string;
}

/** A delete that the present configuration may not make. */
export interface KeptEntry {
  readonly id: number;
  readonly feed: FeedName;
  /** `policy`: the feed deletes nothing now; `rule`: no pull has looked for its posting under the present rule. */
  readonly why: 'policy' | 'rule';
}

/** The deletes of the selection that this configuration keeps or has not decided about. */
export const entriesKept = (
  db: Queryable,
  { ids, feeds }: Selection,
  configured: readonly ConfiguredFeed[],
): Promise<KeptEntry[]> =>
  db.query<KeptEntry>(
    `select c.id, c.feed, case when now.deletes then 'rule' else 'policy' end as why from change c
       join unnest($3::text[], $4::boolean[]) now(feed, deletes) on now.feed = c.feed
     where (c.id = any($1::bigint[]) or c.feed = any($2::text[])) and ${isKept('c', 3)}
     order by c.feed, c.id limit 1000`,
    [ids, feeds, ...asParameters(configured)],
  );

const asParameters = (configured: readonly ConfiguredFeed[]): readonly unknown[] => [
  configured.map(({ feed }) => feed),
  configured.map(({ deletes }) => deletes),
  configured.map(({ membership }) => membership),
];

/**
 * Approves held deletes of postings that are still absent; the guard does not count them.
 * @param configured what decides about deletes now: those that it keeps are skipped
 */
export async function approveChanges(
  tx: Queryable,
  selection: Selection,
  actor: string,
  note: AuditNote = {},
  configured: readonly ConfiguredFeed[] = [],
): Promise<ActedEntry[]> {
  await lockOutcomesShared(tx, await feedsOf(tx, selection));
  return act(tx, APPROVE, selection, actor, note, asParameters(configured));
}

/** Discards changes until their posting changes, and records for good. */
export async function discardEntries(
  tx: Queryable,
  selection: Selection,
  actor: string,
  note: AuditNote = {},
): Promise<ActedEntry[]> {
  await lockOutcomesShared(tx, await feedsOf(tx, selection));
  const changes = await actOnKinds(tx, DISCARD, selection, actor, note);
  const records = await actOnKinds(tx, DISCARD_RECORDS, selection, actor, note);
  return [...changes, ...records];
}

/**
 * Puts discarded entries back into review with their former kind. An entry whose posting has changed since is no longer
 * discarded and is skipped. The caller keeps pulls of the feeds from running.
 */
export async function reopenEntries(
  tx: Queryable,
  selection: Selection,
  actor: string,
  note: AuditNote = {},
): Promise<ActedEntry[]> {
  await lockOutcomesShared(tx, await feedsOf(tx, selection));
  const changes = await actOnKinds(tx, REOPEN, selection, actor, note);
  const records = await actOnKinds(tx, REOPEN_RECORDS, selection, actor, note);
  await forgetVersions(tx, feedsWith('unreadable', records));
  return [...changes, ...records];
}

const feedsWith = (kind: EntryKind, acted: readonly ActedEntry[]): FeedName[] => [
  ...new Set(acted.filter((entry) => entry.kind === kind).map((entry) => entry.feed)),
];

/** Feeds in which reopening this selection makes records count as unreadable again. */
export async function feedsToReadAgain(db: Queryable, { ids, feeds, kinds }: Selection): Promise<FeedName[]> {
  const rows = await db.query<{ feed: FeedName }>(
    `select distinct feed from record_problem
     where (id = any($1::bigint[]) or feed = any($2::text[])) and discarded and kind = 'unreadable' and kind = any($3::text[])
     order by feed`,
    [ids, feeds, kinds ?? ENTRY_KINDS],
  );
  return rows.map((row) => row.feed);
}

/** Entries that an action applies to, counted. */
export interface ChosenCount {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  /** They are selected by the name of their feed rather than one by one. */
  readonly byName: boolean;
  readonly n: number;
  /** Another one if other entries are counted, or one of them has changed. */
  readonly mark: string;
}

/** Counts the entries that discarding this selection would discard. */
export async function countDiscardable(db: Queryable, { ids, feeds, kinds }: Selection): Promise<ChosenCount[]> {
  return db.query<ChosenCount>(
    `select feed, kind, feed = any($2::text[]) as "byName", count(*) as n,
       sum(hashint8extended(id, revision))::text as mark
     from (select c.id, c.feed, c.state as kind, c.revision from change c where ${DISCARDABLE}
           union all select p.id, p.feed, p.kind, p.revision from record_problem p where not p.discarded) entry
     where (id = any($1::bigint[]) or feed = any($2::text[])) and kind = any($3::text[])
     group by 1, 2, 3 order by 1, 2`,
    [ids, feeds, kinds ?? ENTRY_KINDS],
  );
}

/** Held deletes of one feed. */
export interface HeldCount {
  readonly feed: FeedName;
  readonly n: number;
  /** Another one if other deletes are held, or one of them has changed. */
  readonly mark: string;
  /** Some of them, by key. */
  readonly examples: readonly number[];
}

/** Counts the deletes that approving these feeds would approve. Within a transaction, none of them changes until it ends. */
export const countHeld = (db: Queryable, feeds: readonly FeedName[]): Promise<HeldCount[]> =>
  db.query<HeldCount>(
    `with held as materialized (
       select id, feed, key, revision from change where feed = any($1::text[]) and state = 'held' and desired = 'absent'
       order by feed, key for update)
     select feed, count(*) as n, sum(hashint8extended(id, revision))::text as mark,
       (array_agg(id order by key))[1:10] as examples from held group by feed order by feed`,
    [feeds],
  );

/** How many entries of a feed an action skipped, by the reason. */
export interface PassedOver {
  readonly feed: FeedName;
  readonly in_doubt: number;
  /** They break a known rule. */
  readonly invalid: number;
  /** They are missing from the feed. */
  readonly missing: number;
  /** Deletes that the present configuration keeps. */
  readonly kept: number;
}

/** Counts what an action on these feeds skipped. */
export const countPassedOver = (
  tx: Queryable,
  feeds: readonly FeedName[],
  configured: readonly ConfiguredFeed[],
): Promise<PassedOver[]> =>
  tx.query<PassedOver>(
    `select c.feed, count(*) filter (where state = 'in_doubt') as in_doubt, count(*) filter (where invalid) as invalid,
       count(*) filter (where gone and not invalid and state <> 'in_doubt') as missing,
       count(*) filter (where ${isKept('c', 2)}) as kept
     from change c where c.feed = any($1::text[]) and state in ('in_doubt', 'rejected', 'failed') group by c.feed`,
    [feeds, ...asParameters(configured)],
  );

const act = (
  tx: Queryable,
  statement: string,
  { ids, feeds }: Selection,
  actor: string,
  note: AuditNote,
  more: readonly unknown[],
): Promise<ActedEntry[]> => tx.query<ActedEntry>(statement, [ids, feeds, actor, toJsonb(note), ...more]);

const actOnKinds = (
  tx: Queryable,
  statement: string,
  { ids, feeds, kinds }: Selection,
  actor: string,
  note: AuditNote,
): Promise<ActedEntry[]> => tx.query<ActedEntry>(statement, [ids, feeds, actor, toJsonb(note), kinds ?? ENTRY_KINDS]);

/** The feeds of a selection, including those of its single entries. */
export async function feedsOf(db: Queryable, { ids, feeds }: Selection): Promise<FeedName[]> {
  const entries = await findEntries(db, ids);
  return [...new Set([...feeds, ...entries.map((entry) => entry.feed)])];
}

/** The next pull must read the feed: "unchanged since the last complete pull" would skip the reopened record. */
async function forgetVersions(tx: Queryable, feeds: readonly FeedName[]): Promise<void> {
  await tx.query('update feed_state set source_version = null where feed = any($1::text[])', [feeds]);
}

/** State of an entry: the state of a change, or the problem of a record. */
export interface EntryState {
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
  /** A change whose posting is missing from the feed, within its grace: it is not sent. */
  readonly missing: boolean;
  /** A delete that waits until somebody has answered whether the keys of its feed have changed. */
  readonly inQuestion: boolean;
  readonly reason: Message | null;
}

/** The existing entries with these numbers. A change that was sent no longer exists. */
export async function findEntries(db: Queryable, ids: readonly number[]): Promise<EntryState[]> {
  const rows = await db.query<Omit<EntryState, 'reason'> & { readonly reason: Reason | null }>(
    `select id, feed, key, state, invalid, gone as missing, ${inQuestion('change')} as "inQuestion", reason
     from change where id = any($1::bigint[])
     union all
     select id, feed, key, case when discarded then 'discarded' else kind end, false, false, false, problems->0
     from record_problem where id = any($1::bigint[])`,
    [ids],
  );
  return rows.map(({ reason, ...row }) => ({ ...row, reason: reason === null ? null : messageOfReason(reason) }));
}

/** How many of these changes are still open, by feed and state; the missing ones were sent. */
export async function countOpenEntries(
  db: Queryable,
  ids: readonly number[],
): Promise<{ readonly feed: FeedName; readonly state: EntryState['state']; readonly n: number }[]> {
  return db.query('select feed, state, count(*) as n from change where id = any($1::bigint[]) group by 1, 2', [ids]);
}

/** All feeds in the database, configured or not. */
export async function knownFeeds(db: Queryable): Promise<FeedName[]> {
  return (await db.query<{ feed: FeedName }>('select feed from feed_state order by feed')).map((row) => row.feed);
}
