// Applies a person's decision to entries, one or many: one statement for all of them, with its audit rows, in one transaction.
import type { BulkAction } from '../../plan/action.ts';
import { type Circumstance, conditionsOf, type ReadCircumstance, type ReviewState } from '../../plan/allowed.ts';
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import { circumstancesSql, DISCARDED_KIND, type EntryKind, isDeleteInQuestion } from '../backlog/open-counts.ts';
import { acceptEmptySources, forgetVersions } from '../feed/feed-state.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { columnsOf, type Queryable, readColumn } from '../postgres/database.ts';
import { markOfChange } from './open-change.ts';

/** An entry that an action was applied to. */
export interface ActedEntry {
  readonly id: number;
  readonly feed: FeedName;
  /** The kind in review of a discarded or reopened entry. */
  readonly kind?: EntryKind | null;
}

/** What this process is configured to do with the jobs of a feed. */
export interface ConfiguredFeed {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly deletes: boolean;
  /** See `membershipRule`. */
  readonly membership: string;
}

/** Four parameters of the conditions below. */
const asParameters = (configured: readonly ConfiguredFeed[]): readonly unknown[] =>
  columnsOf(configured, 'feed', 'site', 'deletes', 'membership');

const OF_UNDO = 'exists (select from pull p where p.id = c.pull and p.undoes is not null)';

/** A delete that a pull has planned. An undo names its own. */
const PLANNED_DELETE = `c.desired = 'absent' and c.state in ('rejected', 'failed', 'held') and not ${OF_UNDO}`;

/** SQL: whether it is so of the change `c`. @param from the number of the first of the parameters of {@link asParameters} */
const IS_SO: Readonly<Record<Circumstance, (from: number) => string>> = {
  absent: () => `c.desired = 'absent'`,
  undo: () => `(c.desired = 'absent' and ${OF_UNDO})`,
  missing: () => 'c.gone',
  invalid: () => 'c.invalid',
  unread: () => `(c.desired = 'present' and is_source_unknown(c.record_hash, c.key))`,
  questioned: () => isDeleteInQuestion('c'),
  elsewhere: (from) => `exists (select from unnest($${from}::text[], $${from + 1}::text[]) here(feed, site)
    where here.feed = c.feed and here.site <> c.site)`,
  unconfigured: (from) => `c.feed <> all($${from}::text[])`,
  broken: (from) => `c.feed <> all($${from}::text[])`,
  kept: (
    from,
  ) => `(${PLANNED_DELETE} and exists (select from unnest($${from}::text[], $${from + 2}::boolean[]) here(feed, deletes)
    where here.feed = c.feed and not here.deletes))`,
  undecided: (
    from,
  ) => `(${PLANNED_DELETE} and exists (select from unnest($${from}::text[], $${from + 2}::boolean[], $${from + 3}::text[]) here(feed, deletes, membership)
    left join feed_state f on f.feed = here.feed
    where here.feed = c.feed and here.deletes and f.membership_rule is distinct from here.membership))`,
};

const listOf = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ');

/** SQL: whether the state of the change `c`, or of the record `p`, allows the action. */
const inStatesOf = (action: BulkAction, state = 'c.state'): string =>
  `${state} in (${listOf(conditionsOf(action).states)})`;

const barredBy = (circumstances: readonly Circumstance[], from: number): string =>
  circumstances.length === 0 ? 'false' : `(${circumstances.map((each) => IS_SO[each](from)).join(' or ')})`;

/** SQL: whether the table of `plan/allowed.ts` allows the action for the change `c`. */
const allows = (action: BulkAction, from = 0): string => {
  const { needs, unless } = conditionsOf(action);
  const needed = needs === undefined ? '' : ` and ${IS_SO[needs](from)}`;
  return `${inStatesOf(action)}${needed} and not ${barredBy(unless, from)}`;
};

// Rows are locked in the order that all code uses, then updated. None of the states that allow an action includes changes in flight or
// in doubt, so an attempt is never disturbed.
const onChanges = (action: BulkAction, condition: string, set: string, kind = 'null::text'): string =>
  `with chosen as (
     select c.id from change c where c.id = any($1::bigint[]) and ${condition}
     order by c.feed, c.key for update),
   acted as (
     update change c set ${set} from chosen where c.id = chosen.id returning c.id, c.feed, c.key, ${kind} as kind),
   noted as (
     insert into audit (actor, action, feed, key, detail)
     select $2, '${action}', feed, key, jsonb_strip_nulls(jsonb_build_object('entry', id, 'kind', kind)) || $3::jsonb from acted)
   select id, feed, kind from acted`;

const SEND_AGAIN = `state = 'ready', target_state = 'ready', since = now(), attempts = 0, not_before = '-infinity',
  revision = nextval('revision_number')`;

const RETRY = onChanges('retry', allows('retry', 4), `${SEND_AGAIN}, reason = null`);
const APPROVE = onChanges('approve', allows('approve', 4), `${SEND_AGAIN}, reason = null, approved = true`);
const DISCARD = onChanges(
  'discard',
  allows('discard'),
  `state = 'discarded', discarded_from = c.state, since = now(), revision = nextval('revision_number')`,
  'c.discarded_from',
);
/** No job has its reference any more, for which the site refused it: see `sendTakenAgain`. */
const IS_FREE = `coalesce(c.reason->'taken' = '[]', false)`;
const REOPEN = onChanges(
  'reopen',
  allows('reopen'),
  `state = case when ${IS_FREE} then 'ready' else ${DISCARDED_KIND} end, reason = case when not ${IS_FREE} then c.reason end, since = now(),
     revision = nextval('revision_number')`,
  DISCARDED_KIND,
);

const RECORD_STATE = `case when p.discarded then 'discarded' else p.kind end`;

const onRecords = (action: BulkAction, discarded: boolean): string => `with acted as (
     update record_problem p set discarded = ${discarded}, revision = nextval('revision_number')
     where p.id = any($1::bigint[]) and p.discarded = ${!discarded}
       and ${inStatesOf(discarded ? 'discard' : 'reopen', RECORD_STATE)} returning p.id, p.feed, p.key, p.kind),
   noted as (
     insert into audit (actor, action, feed, key, detail)
     select $2, '${action}', feed, key, jsonb_build_object('entry', id, 'kind', kind) || $3::jsonb from acted)
   select id, feed, kind from acted`;

const DISCARD_RECORDS = onRecords('discard', true);
const REOPEN_RECORDS = onRecords('reopen', false);

/** What the audit says about an action besides the entry: why it was taken, and the bulk action and rule that it is a part of. */
export interface AuditNote {
  readonly reason?: string;
  readonly bulk?: number;
  readonly rule?: number;
}

/** @param configured what decides about deletes now: those that it keeps are neither retried nor approved */
type Act = (
  tx: Queryable,
  ids: readonly number[],
  actor: string,
  note?: AuditNote,
  configured?: readonly ConfiguredFeed[],
) => Promise<ActedEntry[]>;

/** @param records the statement for records; absent: the action is only about changes, and depends on how their feeds are configured */
const acting =
  (changes: string, records?: string): Act =>
  async (tx, ids, actor, note = {}, configured = []) => {
    await lockOutcomesShared(tx, await feedsOf(tx, ids));
    const values = [ids, actor, toJsonb(note)];
    if (records === undefined) return tx.query<ActedEntry>(changes, [...values, ...asParameters(configured)]);
    const acted = await tx.query<ActedEntry>(changes, values);
    return [...acted, ...(await tx.query<ActedEntry>(records, values))];
  };

/**
 * Makes rejected and failed changes ready again, with all their attempts. Skips those that break a known rule, and those of postings
 * that are missing from the feed.
 */
export const retryChanges = acting(RETRY);

const approve = acting(APPROVE);

/**
 * Approves held deletes of postings that are still absent; the guard does not count them. Sources that are empty count as such from now on, once
 * no delete is held any more because of them.
 */
export const approveChanges: Act = async (tx, ids, ...how) => {
  const held = await tx.query<{ feed: FeedName; sources: readonly string[] }>(
    `select c.feed, array_agg(distinct s.source) as sources from change c, jsonb_array_elements_text(c.reason->'sources') s(source)
     where c.id = any($1::bigint[]) and c.state = 'held' group by 1 order by 1`,
    [ids],
  );
  const acted = await approve(tx, ids, ...how);
  for (const { feed, sources } of held) await acceptEmptySources(tx, feed, sources);
  return acted;
};

/**
 * Of these entries, one to which the action would apply, were it not for one of these circumstances.
 */
export async function findRefusedEntry(
  db: Queryable,
  action: BulkAction,
  circumstances: readonly Circumstance[],
  ids: readonly number[],
  configured: readonly ConfiguredFeed[],
): Promise<EntryState | undefined> {
  const [row] = await db.query<{ id: number }>(
    `select c.id from change c where c.id = any($1::bigint[]) and ${inStatesOf(action)}
       and (${barredBy(circumstances, 2)}) and ${NAMES_PARAMETERS} order by c.feed, c.id limit 1`,
    [ids, ...asParameters(configured)],
  );
  return row === undefined ? undefined : (await findEntries(db, [row.id]))[0];
}

/** Names the parameters of {@link asParameters}, of which not every circumstance needs each. */
const NAMES_PARAMETERS = '($2::text[], $3::text[], $4::boolean[], $5::text[]) is not null';

/** Discards changes until their posting changes, and records for good. */
export const discardEntries = acting(DISCARD, DISCARD_RECORDS);

const reopen = acting(REOPEN, REOPEN_RECORDS);

/**
 * Puts discarded entries back into review with their former kind. An entry whose posting has changed since is no longer
 * discarded and is skipped. The caller keeps pulls of the feeds from running.
 */
export const reopenEntries: Act = async (tx, ...asked) => {
  const acted = await reopen(tx, ...asked);
  await forgetVersions(tx, [...new Set(acted.flatMap(({ kind, feed }) => (kind === 'unreadable' ? [feed] : [])))]);
  return acted;
};

/**
 * Of the open entries of the new name of a feed stay those that a person has discarded. What the former name has, too, is discarded there.
 */
export async function keepDiscards(tx: Queryable, from: FeedName, to: FeedName): Promise<void> {
  const statements = [
    `update record_problem o set discarded = true, revision = nextval('revision_number') from record_problem n
     where o.feed = $1 and n.feed = $2 and n.discarded and not o.discarded and (n.kind, n.record_hash) = (o.kind, o.record_hash)`,
    `delete from record_problem n where n.feed = $2 and (not n.discarded
       or exists (select from record_problem o where o.feed = $1 and (o.kind, o.record_hash) = (n.kind, n.record_hash)))`,
    `update change o set state = 'discarded', discarded_from = o.state, since = now(), revision = nextval('revision_number') from change n
     where o.feed = $1 and n.feed = $2 and n.key = o.key and n.state = 'discarded' and o.state in ('rejected', 'failed', 'held')
       and (o.desired, o.content_hash) = (n.desired, n.content_hash)`,
    `delete from change n where n.feed = $2
       and (n.state <> 'discarded' or exists (select from change o where o.feed = $1 and o.key = n.key))`,
    `update change n set operation = 'update' from mapping m where n.feed = $2 and m.feed = $1 and m.key = n.key`,
  ];
  for (const statement of statements) await tx.query(statement, [from, to]);
}

/** How each action changes the entries that it applies to. @param configured what decides about deletes now */
export const ACTIONS = {
  retry: retryChanges,
  approve: approveChanges,
  discard: discardEntries,
  reopen: reopenEntries,
} as const satisfies Record<BulkAction, unknown>;

/** Feeds in which reopening these entries makes records count as unreadable again. */
export const feedsToReadAgain = (db: Queryable, ids: readonly number[]): Promise<FeedName[]> =>
  readColumn<FeedName>(
    db,
    `select distinct feed from record_problem where id = any($1::bigint[]) and discarded and kind = 'unreadable' order by feed`,
    [ids],
  );

/** The selected entries of one feed and kind. */
export interface SelectedCount {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  readonly n: number;
  /** Another one if other entries are selected, or one of them has changed. */
  readonly mark: string;
}

/** Counts exactly those of these entries that the action would change. Within a transaction, none of them changes until it ends. */
export const countChosen = (
  db: Queryable,
  action: BulkAction,
  ids: readonly number[],
  configured: readonly ConfiguredFeed[],
): Promise<SelectedCount[]> =>
  db.query<SelectedCount>(
    `with changed as materialized (
       select c.feed, case c.state when 'discarded' then ${DISCARDED_KIND} else c.state end as kind, ${markOfChange('c')}::bigint as mark
       from change c where c.id = any($1::bigint[]) and ${allows(action, 2)} order by c.feed, c.key for update),
     recorded as materialized (
       select p.feed, p.kind, hashint8extended(p.id, p.revision) as mark
       from record_problem p where p.id = any($1::bigint[]) and ${inStatesOf(action, RECORD_STATE)} order by p.id for update)
     select feed, kind, count(*) as n, sum(mark)::text as mark
     from (select * from changed union all select * from recorded) entry
     where ${NAMES_PARAMETERS} group by 1, 2 order by 1, 2`,
    [ids, ...asParameters(configured)],
  );

/** Changes of a feed that are alike in what decides what can be done about them. */
export interface AlikeChanges extends Pick<EntryState, 'feed' | 'site' | 'state' | 'circumstances'> {
  readonly n: number;
}

/** The changes of these feeds in these states. Computing the circumstances of many takes long: name only the states that count. */
export const countAlike = (
  tx: Queryable,
  feeds: readonly FeedName[],
  states: readonly ('in_doubt' | 'rejected' | 'failed')[],
): Promise<AlikeChanges[]> =>
  tx.query<AlikeChanges>(
    `select c.feed, c.site, c.state, ${circumstancesSql('c')} as circumstances, count(*) as n
     from change c where c.feed = any($1::text[]) and c.state = any($2::text[])
       and c.state in ('in_doubt', 'rejected', 'failed', 'held') group by 1, 2, 3, 4`,
    [feeds, states],
  );

/** The feeds of these entries. */
export const feedsOf = (db: Queryable, ids: readonly number[]): Promise<FeedName[]> =>
  readColumn<FeedName>(
    db,
    `select feed from change where id = any($1::bigint[]) union select feed from record_problem where id = any($1::bigint[])`,
    [ids],
  );

/** State of an entry: the state of a change, or the problem of a record. */
export interface EntryState {
  readonly id: number;
  readonly feed: FeedName;
  /** Null for records. */
  readonly site: SiteName | null;
  readonly key: PostingKey | null;
  readonly state: ReviewState;
  readonly circumstances: readonly ReadCircumstance[];
  readonly reason: Message | null;
  /** Another one after each change of the entry. */
  readonly mark: string;
}

/** The existing entries with these numbers. A change that was sent no longer exists. */
export async function findEntries(db: Queryable, ids: readonly number[]): Promise<EntryState[]> {
  const rows = await db.query<Omit<EntryState, 'reason'> & { readonly reason: Reason | null }>(
    `select c.id, c.feed, c.site, c.key, c.state, ${circumstancesSql('c')} as circumstances, c.reason, ${markOfChange('c')} as mark
     from change c where c.id = any($1::bigint[])
     union all
     select p.id, p.feed, null, p.key, ${RECORD_STATE}, '{}', p.problems->0, hashint8extended(p.id, p.revision)::text
     from record_problem p where p.id = any($1::bigint[])`,
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
export const knownFeeds = (db: Queryable): Promise<FeedName[]> =>
  readColumn<FeedName>(db, 'select feed from feed_state order by feed');
