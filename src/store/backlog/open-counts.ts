// Counts the open changes of a feed and the outcomes of its current pull, for the sums that a pull must satisfy; and the kinds of review entries.
import type { sendableCreates } from '../../plan/next-request.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/** Open changes of one feed: first those of seen postings, then those of gone postings. */
export interface OpenCounts {
  readonly pending: number;
  readonly in_doubt: number;
  readonly rejected: number;
  readonly failed: number;
  readonly held: number;
  readonly kept: number;
  readonly pendingDeletes: number;
  /** The pending deletes whose create is in doubt: they wait for its resolution, mostly by a person. */
  readonly doubtfulDeletes: number;
  /** Deletes that the site refused, or that used up their attempts. */
  readonly failedDeletes: number;
  /** Postings within their grace whose change waits. */
  readonly grace: number;
  /** The rejected postings that a person discarded; absent in summaries written by older versions. */
  readonly discarded?: number;
}

/** As in the index `change_counted`. */
const COUNTED = `(state not in ('ready', 'sending') or desired = 'absent' or gone or unseen)`;

/**
 * The open changes by what they are counted by. Reads indexes only: that of the changes above, that of the backlog, of which the changes
 * above are subtracted, and that of the states for those that are being sent.
 */
const ALL = `counted as materialized (
    select state, desired, gone, unseen, count(*) as n from change where feed = $1 and ${COUNTED} group by 1, 2, 3, 4),
  sort as (
    select * from counted
    union all select 'ready', 'present', false, false, (select count(*) from change where feed = $1 and state = 'ready')
      - (select coalesce(sum(n), 0) from counted where state = 'ready')
    union all select state, desired, gone, unseen, count(*) from change
      where site = (select site from feed_state where feed = $1) and state = 'sending' and feed = $1 and not ${COUNTED}
      group by 1, 2, 3, 4)`;

/** The same without those of the pull $2. Reads the rows. */
const OF_EARLIER_PULLS = `sort as (
    select state, desired, gone, unseen, count(*) as n from change
    where feed = $1 and pull is distinct from $2 group by 1, 2, 3, 4)`;

/**
 * Counts the open changes of a feed for the sums of a pull. Discarded rejections still count as rejected.
 * @param except a pull whose own changes are excluded: it has written them but is not the feed's current pull yet.
 */
export async function countOpen(db: Queryable, feed: FeedName, except?: number): Promise<OpenCounts> {
  const sum = (condition: string): string => `coalesce(sum(n) filter (where ${condition}), 0)::bigint`;
  const [row] = await db.query<OpenCounts>(
    `with ${except === undefined ? ALL : OF_EARLIER_PULLS}
     select
       ${sum(`seen and state in ('ready', 'sending', 'held')`)} as pending,
       ${sum(`seen and state = 'in_doubt'`)} as in_doubt,
       ${sum(`seen and state in ('rejected', 'discarded')`)} as rejected,
       ${sum(`seen and state = 'discarded'`)} as discarded,
       ${sum(`seen and state = 'failed'`)} as failed,
       ${sum(`desired = 'absent' and state = 'held'`)} as held,
       ${sum(`desired = 'absent' and state = 'discarded'`)} as kept,
       ${sum(`desired = 'absent' and state in ('ready', 'sending', 'in_doubt')`)} as "pendingDeletes",
       ${sum(`desired = 'absent' and state = 'in_doubt'`)} as "doubtfulDeletes",
       ${sum(`desired = 'absent' and state in ('rejected', 'failed')`)} as "failedDeletes",
       ${sum(`desired = 'present' and gone`)} as grace
     from (select desired, gone, state, n, desired = 'present' and not gone and not unseen as seen from sort) s`,
    except === undefined ? [feed] : [feed, except],
  );
  return row as OpenCounts;
}

/** Outcomes of one pull since its commit: `created`, `updated`, `deleted`, `dropped`, `nothing`, `requests`. */
export async function countOutcomes(db: Queryable, pull: number): Promise<Readonly<Record<string, number>>> {
  const rows = await db.query<{ outcome: string; n: number }>(
    'select outcome, sum(n)::bigint as n from outcome_count where pull = $1 group by outcome',
    [pull],
  );
  return Object.fromEntries(rows.map((row) => [row.outcome, row.n]));
}

// What waits for the answer to an open question about changed keys: a delete of it would end a job that a new key may keep.

/**
 * SQL: whether the change `c` is a delete that nobody may decide before the question about the keys of its feed is answered. What lists
 * offer and what actions do both follow from it; a pull opens the question under the exclusive lock of the feed's outcomes.
 */
export const isDeleteInQuestion = (
  c: string,
): string => `(${c}.desired = 'absent' and ${c}.state in ('held', 'rejected', 'failed')
  and exists (select from feed_state q where q.feed = ${c}.feed and q.rekey_since is not null
    and (q.rekey_all or exists (select from rekey_posting r where r.feed = ${c}.feed and r.is_new = false and r.key = ${c}.key))))`;

/** SQL: what is so of the change `c`, besides its state, that decides what can be done about it: `ReadCircumstance`s. */
export const circumstancesSql = (c: string): string =>
  `(change_circumstances(${c}.desired, ${c}.pull, ${c}.gone, ${c}.invalid, ${c}.record_hash, ${c}.key)
    || case when ${isDeleteInQuestion(c)} then array['questioned'] else '{}' end)`;

/** SQL: whether the create `c` waits for its own sake, while its feed has an open question about some of its postings. */
const waitsForAnswer = (c: string): string =>
  `exists (select from rekey_posting r where r.feed = ${c}.feed and r.is_new and r.key = ${c}.key and r.waits)`;

/** SQL: whether the question is about the create `c`. @param f the state of its feed; null if it is not known yet */
export const isAsked = (c: string, f: string): string =>
  `(${f}.rekey_since is not null and (${f}.rekey_all or ${waitsForAnswer(c)}))`;

/** SQL: which creates the question is about. @param f the state of their feed; null if it is not known yet */
export const askedCreates = (f: string): string =>
  `case when ${f}.rekey_since is null then 'none' when ${f}.rekey_all then 'all' else 'some' end`;

/** SQL: which changes `c` are among the sendable ones, as far as creates are concerned. */
export const sendable = (c: string, creates: ReturnType<typeof sendableCreates>): string =>
  ({
    all: 'true',
    others: `(${c}.operation <> 'create' or not ${waitsForAnswer(c)})`,
    none: `${c}.operation <> 'create'`,
  })[creates];

/** Deletes of a feed that wait for an answer. */
export interface QuestionedDeletes {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  readonly n: number;
}

const COUNTED_BY_STATE = `select c.feed, c.state as kind, count(*) as n`;
const GROUPED = 'group by c.feed, c.state order by c.feed, c.state';

/** All of them. @param feed only those of this feed */
export const questionedDeletes = (db: Queryable, feed?: FeedName): Promise<QuestionedDeletes[]> =>
  db.query<QuestionedDeletes>(
    `${COUNTED_BY_STATE} from feed_state f join change c on c.feed = f.feed
     where f.rekey_since is not null and ($1::text is null or f.feed = $1) and ${isDeleteInQuestion('c')} ${GROUPED}`,
    [feed ?? null],
  );

/** The questioned deletes among these entries. */
export const questionedAmong = (tx: Queryable, ids: readonly number[]): Promise<QuestionedDeletes[]> =>
  tx.query<QuestionedDeletes>(
    `${COUNTED_BY_STATE} from change c where c.id = any($1::bigint[]) and ${isDeleteInQuestion('c')} ${GROUPED}`,
    [ids],
  );

/** The questioned deletes among the entries of an action on many. */
export const questionedOfBulk = (tx: Queryable, bulk: number): Promise<QuestionedDeletes[]> =>
  tx.query<QuestionedDeletes>(
    `${COUNTED_BY_STATE} from bulk_entry b join change c on c.id = b.entry where b.bulk = $1 and ${isDeleteInQuestion('c')} ${GROUPED}`,
    [bulk],
  );

// The kinds of review entries, the most urgent first.

export const ENTRY_KINDS = ['in_doubt', 'failed', 'rejected', 'unreadable', 'duplicate', 'held'] as const;
/** `unreadable` and `duplicate` are records of a feed; the others are changes. */
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** SQL: the former state of the discarded change `c`, which reopening restores. */
export const DISCARDED_KIND = `coalesce(c.discarded_from, 'rejected')`;
