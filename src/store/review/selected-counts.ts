// Counts what a person selects in review, so that an action is bound to exactly these entries.
import type { FeedName } from '../../posting/identifiers.ts';
import type { EntryKind } from '../backlog/entry-kind.ts';
import { inQuestion, type QuestionedDeletes } from '../backlog/open-question.ts';
import type { Queryable } from '../postgres/database.ts';
import {
  COUNTED_VALUES,
  type EntryQuery,
  isByAge,
  isCounted,
  MATCHES,
  MATCHES_AGE,
  MOST_FOUND,
  NO_TEXT_OR_IDS,
  valuesOf,
} from './entry-query.ts';
import { inParts, PARTS, type PartFacts } from './review-totals.ts';

/** The selected entries of one feed and kind. */
export interface SelectedCount {
  readonly feed: FeedName;
  readonly kind: EntryKind;
  readonly n: number;
  /** Another one if other entries are selected, or one of them has changed. */
  readonly mark: string;
}

/** Selected entries that are alike in everything that decides what can be done about them. */
export interface CountedEntries extends PartFacts, SelectedCount {}

/** By feed and kind, in their order. */
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
export const COUNTED = countedWith(MARK);

/**
 * By feed and kind, in their order. With a text, it may be cut: see `isCut`.
 * @param isMarked without marks (they are 0), counting reads no revision of any entry
 */
export async function countSelected(db: Queryable, query: EntryQuery, isMarked = true): Promise<CountedEntries[]> {
  const mark = isMarked ? MARK : '0';
  if (isCounted(query)) {
    return db.query<CountedEntries>(
      `with ${PARTS} select feed, kind, site, circumstances, sum(n)::bigint as n, sum(mark)::text as mark from part ${BY_FACTS}`,
      valuesOf(query).slice(0, COUNTED_VALUES),
    );
  }
  if (isByAge(query)) {
    return db.query<CountedEntries>(
      `with ${PARTS} select p.feed, p.kind, p.site, p.circumstances, sum(s.n)::bigint as n, sum(s.mark)::text as mark from part p cross join lateral (
         select count(*) as n, ${mark} as mark from review_entry e
         where e.part = p.part and ${MATCHES_AGE} and ${NO_TEXT_OR_IDS}) s
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
     where f.rekey_since is not null and ${inQuestion('c')} and ${MATCHES} group by 1, 2 order by 1, 2`,
    valuesOf(query),
  );

/** Of these entries, the marks of those that exist, in the order of their IDs. */
export const readMarks = (
  db: Queryable,
  ids: readonly number[],
): Promise<{ readonly id: number; readonly mark: string }[]> =>
  db.query(
    `select e.id, ${MARK}::text as mark from review_entry e where e.id = any($1::bigint[]) group by e.id order by e.id`,
    [ids],
  );
