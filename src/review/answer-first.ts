// What has to be answered before deletes are decided: whether their postings are in the feed under other keys.
import { conditionsOf, isAskedFirst } from '../plan/allowed.ts';
import { type Message, messageOf, plural } from '../plan/message.ts';
import type { QuestionedDeletes } from '../store/backlog/open-counts.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type BulkKind, operationOf } from '../store/review/bulk-actions.ts';
import type { EntryQuery } from '../store/review/found-entries.ts';
import { questionedSelected } from '../store/review/review-totals.ts';

/** Why nothing is done about these deletes, with what to do first; `undefined`: there are none. */
export function answerFirst(questioned: readonly QuestionedDeletes[]): Message | undefined {
  const [first] = questioned;
  if (first === undefined) return undefined;
  const feeds = [...new Set(questioned.map(({ feed }) => feed))];
  const n = questioned.reduce((sum, each) => sum + each.n, 0);
  const of = feeds.length === 1 ? `feed ${feeds[0]}` : `feeds ${feeds.join(', ')}`;
  const text =
    `the keys of ${of} seem to have changed: ${plural(n, 'job')} of postings that are gone may belong to new ones, ` +
    'so their deletes can be neither approved nor discarded before that is answered. Nothing was done';
  return messageOf(
    text,
    feeds.map((feed) => ({ words: 'compare the postings first', action: { kind: 'rekey_feed', feed } as const })),
  );
}

/** The same for an action on what a query selects. */
export async function answerFirstAmong(
  db: Queryable,
  action: BulkKind,
  query: EntryQuery,
): Promise<Message | undefined> {
  return answerFirst(concerning(action, await questionedSelected(db, query)));
}

/** Those of the deletes that the action decides about. */
export function concerning(action: BulkKind, questioned: readonly QuestionedDeletes[]): readonly QuestionedDeletes[] {
  const operation = operationOf(action);
  if (!isAskedFirst(operation)) return [];
  const { states } = conditionsOf(operation);
  return questioned.filter(({ kind }) => states.includes(kind));
}
