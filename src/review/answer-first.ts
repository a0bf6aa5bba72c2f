// What has to be answered before deletes are decided: whether their postings are in the feed under other keys.
import { type Message, messageOf } from '../plan/message.ts';
import { plural } from '../plan/plural.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { type QuestionedDeletes, questionedDeletes } from '../store/backlog/open-question.ts';
import type { Queryable } from '../store/postgres/database.ts';
import type { BulkKind } from '../store/review/bulk-actions.ts';

/** Each of them decides about the job: it ends, or stays for good. */
const DECIDING: ReadonlySet<BulkKind> = new Set(['approve', 'discard', 'retry']);

export const decidesDeletes = (action: BulkKind): boolean => DECIDING.has(action);

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

/** The same for what a filter selects: entries of these feeds and kinds. */
export async function answerFirstAmong(
  db: Queryable,
  action: BulkKind,
  selected: readonly { readonly feed: FeedName; readonly kind: string }[],
): Promise<Message | undefined> {
  if (!decidesDeletes(action) || selected.length === 0) return undefined;
  const questioned = await questionedDeletes(db);
  return answerFirst(
    questioned.filter(({ feed, kind }) => selected.some((each) => each.feed === feed && each.kind === kind)),
  );
}
