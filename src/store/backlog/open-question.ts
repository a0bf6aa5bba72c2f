// What waits for the answer to an open question about changed keys: a delete of it would end a job that a new key may keep.
import type { sendableCreates } from '../../plan/may-send.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import type { EntryKind } from './entry-kind.ts';

/**
 * SQL: whether the change `c` is a delete that nobody may decide before the question about the keys of its feed is answered. What lists
 * offer and what actions do both follow from it; a pull opens the question under the exclusive lock of the feed's outcomes.
 */
export const inQuestion = (
  c: string,
): string => `(${c}.desired = 'absent' and ${c}.state in ('held', 'rejected', 'failed')
  and exists (select from feed_state q where q.feed = ${c}.feed and q.rekey_since is not null
    and (q.rekey_all or exists (select from rekey_posting r where r.feed = ${c}.feed and r.is_new = false and r.key = ${c}.key))))`;

/** SQL: what is so of the change `c`, besides its state, that decides what can be done about it: `ReadCircumstance`s. */
export const circumstancesSql = (c: string): string =>
  `(change_circumstances(${c}.desired, ${c}.pull, ${c}.gone, ${c}.invalid, ${c}.record_hash, ${c}.key)
    || case when ${inQuestion(c)} then array['questioned'] else '{}' end)`;

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

const COUNTED = `select c.feed, c.state as kind, count(*) as n`;
const GROUPED = 'group by c.feed, c.state order by c.feed, c.state';

/** All of them. @param feed only those of this feed */
export const questionedDeletes = (db: Queryable, feed?: FeedName): Promise<QuestionedDeletes[]> =>
  db.query<QuestionedDeletes>(
    `${COUNTED} from feed_state f join change c on c.feed = f.feed
     where f.rekey_since is not null and ($1::text is null or f.feed = $1) and ${inQuestion('c')} ${GROUPED}`,
    [feed ?? null],
  );

/** Those among these entries. */
export const questionedAmong = (tx: Queryable, ids: readonly number[]): Promise<QuestionedDeletes[]> =>
  tx.query<QuestionedDeletes>(
    `${COUNTED} from change c where c.id = any($1::bigint[]) and ${inQuestion('c')} ${GROUPED}`,
    [ids],
  );

/** Those among the entries of an action on many. */
export const questionedOfBulk = (tx: Queryable, bulk: number): Promise<QuestionedDeletes[]> =>
  tx.query<QuestionedDeletes>(
    `${COUNTED} from bulk_entry b join change c on c.id = b.entry where b.bulk = $1 and ${inQuestion('c')} ${GROUPED}`,
    [bulk],
  );
