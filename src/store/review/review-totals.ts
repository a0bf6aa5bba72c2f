// Review entries are counted while they are written: each count is a total and what was written since it was last folded.
// Triggers of the database write the entries, bring their messages into the normal form and count them: changes enter review in ten places,
// some without their fields at hand. The normal form is 7 % of what an entry costs the server, 18 of 270 µs; counting cannot be measured.

import type { StoredCircumstance } from '../../plan/allowed.ts';
import type { HoldKind } from '../../plan/delete-guard.ts';
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { type EntryKind, isDeleteInQuestion, type QuestionedDeletes } from '../backlog/open-counts.ts';
import type { SelectedCount } from '../change/act-in-review.ts';
import { markOfChange } from '../change/open-change.ts';
import { IS_WRITABLE, type Queryable } from '../postgres/database.ts';
import {
  COUNTED_VALUES,
  ENTRY_MATCHES_AGE,
  ENTRY_MATCHES_COUNTED,
  type EntryQuery,
  isByAge,
  isCounted,
  MATCHES,
  MOST_FOUND,
  NO_TEXT_OR_IDS,
  valuesOf,
} from './found-entries.ts';

/** Rows `e` with the number of entries of a group, feed, site and their circumstances; several rows may be about the same ones. */
export const ENTRY_COUNTS = `(select discarded, group_id, kind, feed, site, circumstances, n, mark from review_total
  union all select discarded, group_id, kind, feed, site, circumstances, n, n * mark::numeric from review_tally) e`;

/** The same by value, of entries that have one. */
export const VALUE_COUNTS = `(select discarded, group_id, kind, feed, site, value, n from review_value_total
  union all select discarded, group_id, kind, feed, site, value, n from review_tally where value is not null) e`;

/** The parts of the selection as rows: everything that entries are counted by, with their number. Parameters as in `found-entries.ts`. */
export const SELECTION_PARTS = `part as materialized (
  select counted_part($1, e.group_id, e.kind, e.feed, e.site, e.circumstances) as part, e.group_id, e.kind, e.feed, e.site, e.circumstances,
    sum(e.n)::bigint as n, sum(e.mark) as mark
  from ${ENTRY_COUNTS} where ${ENTRY_MATCHES_COUNTED} group by e.group_id, e.kind, e.feed, e.site, e.circumstances having sum(e.n) > 0)`;

/** What all entries of a part have in common, besides their group. */
interface PartFacts {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  /** Null for records. */
  readonly site: SiteName | null;
  readonly circumstances: readonly StoredCircumstance[];
}

/** The parts of a selection that have entries, whatever its text, numbers and age. */
export const readParts = (db: Queryable, query: EntryQuery): Promise<(PartFacts & { readonly part: string })[]> =>
  db.query(
    `with ${SELECTION_PARTS} select part::text, feed, kind, site, circumstances from part`,
    valuesOf(query).slice(0, COUNTED_VALUES),
  );

/**
 * The same query for statements that also search a text. No index has the entries of a site, of which few may have the text; but one has
 * those of a part, and the server knows how many these are.
 */
export async function inParts(db: Queryable, query: EntryQuery): Promise<EntryQuery> {
  if (query.site === undefined || query.text === undefined || query.parts !== undefined) return query;
  return { ...query, parts: (await readParts(db, query)).map(({ part }) => part) };
}

/** Reading so many rows takes a few milliseconds. */
const MOST_UNFOLDED = 2_000;

/**
 * Folds the counts if many entries were written since they were last folded, unless the server is read-only. They are exact before
 * and afterwards.
 */
export async function foldReviewCounts(db: Queryable): Promise<void> {
  const [row] = await db.query<{ many: boolean }>(
    `select ${IS_WRITABLE} and exists (select from review_tally offset ${MOST_UNFOLDED}) as many`,
  );
  if (row?.many === true) await db.query('select fold_review_tally()');
}

// Counts what a person selects in review, so that an action is bound to exactly these entries.

/** Selected entries that are alike in everything that decides what can be done about them. */
export interface CountedEntries extends PartFacts, SelectedCount {}

/** Sums up by feed and kind, in their order. */
export function byFeedAndKind(counted: readonly CountedEntries[]): SelectedCount[] {
  const counts = new Map<string, SelectedCount>();
  for (const { feed, kind, n, mark } of counted) {
    const name = `${feed} ${kind}`;
    const former = counts.get(name);
    counts.set(name, {
      feed,
      kind,
      n: n + (former?.n ?? 0),
      mark: String(BigInt(mark) + BigInt(former?.mark ?? 0)),
    });
  }
  return [...counts.values()];
}

/** The entries, with the revisions by which later changes are noticed. With a text, it may be cut: see `isCut`. */
export const selectedBy = ({ text }: EntryQuery): string =>
  `select e.id, e.group_id, e.feed, e.kind, e.site, e.circumstances, e.revision from review_entry e where ${MATCHES}
   ${text === undefined ? '' : `limit ${MOST_FOUND + 1}`}`;

/** The numbers of the selected entries. With a text, they may be cut: see `isCut`. */
export async function selectedIds(db: Queryable, query: EntryQuery): Promise<number[]> {
  const rows = await db.query<{ id: number }>(selectedBy(query), valuesOf(await inParts(db, query)));
  return rows.map(({ id }) => id);
}

const MARK = 'sum(hashint8extended(e.id, e.revision))';
const BY_FACTS = 'group by feed, kind, site, circumstances order by feed, kind, site, circumstances';

const countedWith = (mark: string): string =>
  `select feed, kind, site, circumstances, count(*) as n, (${mark})::text as mark from selected e ${BY_FACTS}`;

/** Counts the rows of {@link selectedBy}. */
export const COUNT_SELECTED = countedWith(MARK);

/**
 * By feed and kind, in their order. With a text, it may be cut: see `isCut`.
 * @param isMarked without marks (they are 0), counting reads no revision of any entry
 */
export async function countSelected(db: Queryable, query: EntryQuery, isMarked = true): Promise<CountedEntries[]> {
  const mark = isMarked ? MARK : '0';
  if (isCounted(query)) {
    return db.query<CountedEntries>(
      `with ${SELECTION_PARTS} select feed, kind, site, circumstances, sum(n)::bigint as n, sum(mark)::text as mark from part ${BY_FACTS}`,
      valuesOf(query).slice(0, COUNTED_VALUES),
    );
  }
  if (isByAge(query)) {
    return db.query<CountedEntries>(
      `with ${SELECTION_PARTS} select p.feed, p.kind, p.site, p.circumstances, sum(s.n)::bigint as n, sum(s.mark)::text as mark from part p cross join lateral (
         select count(*) as n, ${mark} as mark from review_entry e
         where e.part = p.part and ${ENTRY_MATCHES_AGE} and ${NO_TEXT_OR_IDS}) s
       where s.n > 0 ${BY_FACTS}`,
      valuesOf(query),
    );
  }
  return db.query<CountedEntries>(
    `with selected as materialized (${selectedBy(query)}) ${countedWith(mark)}`,
    valuesOf(await inParts(db, query)),
  );
}

/** Deletes that the query selects, and that wait for an answer about the keys of their feed. */
export const questionedSelected = (db: Queryable, query: EntryQuery): Promise<QuestionedDeletes[]> =>
  db.query<QuestionedDeletes>(
    `select c.feed, c.state as kind, count(*) as n from feed_state f join change c on c.feed = f.feed join review_entry e on e.id = c.id
     where f.rekey_since is not null and ${isDeleteInQuestion('c')} and ${MATCHES} group by 1, 2 order by 1, 2`,
    valuesOf(query),
  );

/** The marks of the entries that exist, in the order of their IDs. */
export const readMarks = (
  db: Queryable,
  ids: readonly number[],
): Promise<{ readonly id: number; readonly mark: string }[]> =>
  db.query(
    `select e.id, ${MARK}::text as mark from review_entry e where e.id = any($1::bigint[]) group by e.id order by e.id`,
    [ids],
  );

// Reads held deletes as a person judges them: which job would go, and what holds it.

export interface HeldDelete {
  readonly id: number;
  readonly key: PostingKey;
  /** Another one after each change. */
  readonly mark: string;
  readonly since: Date;
  readonly hold: HoldKind;
  readonly siteJobId: SiteJobId | null;
  readonly url: string | null;
  /** As the site last accepted it. */
  readonly title: string | null;
}

// Held before its kind was stored: by the guard.
const HOLD = `coalesce(c.reason->>'kind', 'guard')`;

/** The entries that are held, in the same order. */
export const readHeldDeletes = (db: Queryable, ids: readonly number[]): Promise<HeldDelete[]> =>
  db.query<HeldDelete>(
    `select c.id, c.key, ${markOfChange('c')} as mark, c.since, ${HOLD} as hold, m.site_job_id as "siteJobId", m.site_job_url as url,
       d.fields->>'title' as title
     from unnest($1::bigint[]) with ordinality e(id, place) join change c on c.id = e.id
       left join mapping m on m.feed = c.feed and m.key = c.key
       left join document d on d.feed = c.feed and d.key = c.key
     where c.state = 'held' order by e.place`,
    [ids],
  );

/** Deletes of a feed that are held for one kind of reason. */
export interface HeldFor {
  readonly hold: HoldKind;
  readonly count: number;
  /** The reason of the newest one. */
  readonly reason: Message;
}

/** The most deletes first. Held deletes of one group were held with the same message, and so for one kind of reason. */
export async function heldReasons(db: Queryable, feed: FeedName): Promise<HeldFor[]> {
  const rows = await db.query<{ hold: HoldKind; count: number; reason: Reason | null }>(
    `with ${SELECTION_PARTS}
     select ${HOLD} as hold, sum(p.n)::bigint as count, (array_agg(c.reason order by newest.since desc, newest.id desc))[1] as reason
     from part p cross join lateral (
         select e.id, e.since from review_entry e where e.part = p.part order by e.since desc, e.id desc limit 1) newest
       join change c on c.id = newest.id
     group by 1 order by 2 desc, 1`,
    valuesOf({ feed, kinds: ['held'] }).slice(0, COUNTED_VALUES),
  );
  return rows.map(({ hold, count, reason }) => ({
    hold,
    count,
    reason: reason === null ? 'no reason recorded' : messageOfReason(reason),
  }));
}
