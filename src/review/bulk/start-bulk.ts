// Starts an action on many review entries: what was shown is what it acts on.
import { hash } from 'node:crypto';
import type { Message } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import { questionedOfBulk } from '../../store/backlog/open-question.ts';
import type { Database, Queryable } from '../../store/postgres/database.ts';
import {
  type BulkDetail,
  type BulkKind,
  type BulkRow,
  createBulk,
  seenByBulk,
} from '../../store/review/bulk-actions.ts';
import { type EntryQuery, isCut, MOST_FOUND } from '../../store/review/entry-query.ts';
import { countSelected, type SeenEntry, type SelectedCount } from '../../store/review/selected-counts.ts';
import { answerFirst, decidesDeletes } from '../answer-first.ts';
import { groupAll } from '../list-groups.ts';
import { addRuleWithin } from '../rules/add-rule.ts';
import { describeSelected } from './describe-selected.ts';
import { appliesTo, othersThan } from './kinds-of-action.ts';

export interface BulkRequest {
  readonly action: BulkKind;
  readonly actor: string;
  readonly detail: BulkDetail;
  /** How many entries the person saw, or exactly which ones: with any others, nothing is done. */
  readonly expected?: number | readonly SelectedCount[] | undefined;
  /** The {@link markOf} of the entries that the person saw: with any others, nothing is done. */
  readonly mark?: string | undefined;
  /** The entries one by one as the person saw them: with any others, nothing is done. */
  readonly seen?: readonly SeenEntry[] | undefined;
  /** Makes a rule of it for entries that come later: they are in the selected group, and in the selected feed if one is. */
  readonly alsoNew?: boolean | undefined;
}

export type BulkStart =
  | {
      readonly kind: 'started';
      readonly bulk: BulkRow;
      /** What is selected as well, but of a kind that the action does not act on. */
      readonly others: readonly SelectedCount[];
      readonly rule?: number;
    }
  /** Nothing was stored or changed. */
  | { readonly kind: 'refused'; readonly message: Message };

/** Rolls the transaction back. */
class RefusedError extends Error {
  readonly refusal: Message;
  constructor(refusal: Message) {
    super('refused');
    this.refusal = refusal;
  }
}

/** Stores the action and its entries, as they are now. An entry that changes before it is acted on is left alone. */
export async function startBulk(db: Database, request: BulkRequest): Promise<BulkStart> {
  const { expected, mark, seen, alsoNew, ...asked } = request;
  await groupAll(db);
  try {
    return await db.transaction(async (tx): Promise<BulkStart> => {
      const made = await createBulk(tx, { ...asked, detail: forAction(request) });
      const others = await countOthers(tx, request);
      const refusal =
        (decidesDeletes(asked.action) ? answerFirst(await questionedOfBulk(tx, made.bulk.id)) : undefined) ??
        (seen === undefined ? undefined : whyOthers(seen, await seenByBulk(tx, made.bulk.id))) ??
        whyTooMany(asked.detail.query, made.selected) ??
        whyNone(made.selected, others) ??
        whyRefused(made.selected, expected, mark);
      if (refusal !== undefined) throw new RefusedError(refusal);
      const rule = alsoNew === true ? { rule: await addRuleFor(tx, request) } : {};
      return { kind: 'started', bulk: made.bulk, others, ...rule };
    });
  } catch (error) {
    if (error instanceof RefusedError) return { kind: 'refused', message: error.refusal };
    throw error;
  }
}

/** Some of the entries are resolved by now, or are not as the person saw them. */
function whyOthers(seen: readonly SeenEntry[], now: readonly SeenEntry[]): string | undefined {
  const revisions = new Map(now.map(({ id, revision }) => [id, revision]));
  const gone = seen.filter(({ id }) => !revisions.has(id));
  const changed = seen.filter(({ id, revision }) => revisions.has(id) && revisions.get(id) !== revision);
  if (gone.length + changed.length === 0) return undefined;
  const named = (entries: readonly SeenEntry[], what: string) =>
    entries.length === 0
      ? []
      : [`${entries.length === 1 ? 'entry' : 'entries'} ${entries.map(({ id }) => id).join(', ')} ${what}`];
  const parts = [...named(changed, 'changed'), ...named(gone, 'left this list')];
  return `since you saw them, ${parts.join(', and ')}: check again. Nothing was done.`;
}

/** A rule knows nothing of a text, an age or a site: it would decide more than the person selected. */
async function addRuleFor(tx: Queryable, { action, actor, detail }: BulkRequest): Promise<number> {
  const { query, edit, reason } = detail;
  const [group, ...others] = query.groups ?? [];
  if (action === 'approve' || action === 'reopen' || action === 'missing' || action === 'check' || action === 'adopt')
    throw new RefusedError(`a rule can't do this: ${action}`);
  const narrower = [query.site, query.text, query.olderThanMs, query.newerThanMs].some((part) => part !== undefined);
  if (group === undefined || others.length > 0 || narrower || query.discarded === true) {
    throw new RefusedError(
      'a rule is about the new entries of one group, or of one group and one feed. Nothing was done.',
    );
  }
  const said = { ...(edit === undefined ? {} : { edit }), ...(reason === undefined ? {} : { reason }) };
  const made = await addRuleWithin(tx, { group, feed: query.feed, action, detail: said, actor });
  if (made.kind !== 'made') throw new RefusedError(`${made.message}. Nothing was done.`);
  return made.id;
}

/** What the action would act on now, for a person to confirm. */
export const previewBulk = (db: Database, action: BulkKind, query: EntryQuery): Promise<SelectedCount[]> =>
  countNow(db, forAction({ action, detail: { query } }).query);

/** What the query selects now, of whatever kind. */
export async function countNow(db: Database, query: EntryQuery): Promise<SelectedCount[]> {
  await groupAll(db);
  return countSelected(db, query);
}

async function countOthers(
  tx: Queryable,
  { action, detail: { query } }: BulkRequest,
): Promise<readonly SelectedCount[]> {
  const kinds = othersThan(action, query);
  return kinds.length === 0 ? [] : countSelected(tx, { ...query, kinds, discarded: false });
}

/** A text may select more entries than an action can be bound to: why nothing can be done about all of them. */
export function whyTooMany(query: EntryQuery, selected: readonly SelectedCount[]): string | undefined {
  const total = selected.reduce((sum, { n }) => sum + n, 0);
  return isCut(query, total)
    ? `more than ${MOST_FOUND} entries match this text: narrow the selection to a group, a feed or an age, or use more words. Nothing was done.`
    : undefined;
}

/** Only discarded entries can be reopened, and all other actions are for those that wait, each for some kinds of them. */
const forAction = ({ action, detail }: Pick<BulkRequest, 'action' | 'detail'>): BulkDetail => ({
  ...detail,
  query: { ...appliesTo(action, detail.query), discarded: action === 'reopen' },
});

/** Short enough for a command. Another one if other entries are selected, or one of them has changed. */
export const markOf = (selected: readonly SelectedCount[]): string =>
  hash('sha256', JSON.stringify(selected), 'hex').slice(0, 10);

function whyNone(selected: readonly SelectedCount[], others: readonly SelectedCount[]): string | undefined {
  if (selected.length > 0) return undefined;
  if (others.length === 0) return 'no entry matches: nothing was done.';
  const now = ['Nothing was done.', ...describeSelected(others)].join('\n  ');
  return `no selected entry is of a kind that this can be done with. ${now}`;
}

function whyRefused(
  selected: readonly SelectedCount[],
  expected: BulkRequest['expected'],
  mark: string | undefined,
): string | undefined {
  const total = selected.reduce((sum, { n }) => sum + n, 0);
  const now = ['Nothing was done.', ...describeSelected(selected)].join('\n  ');
  if (typeof expected === 'number' && expected !== total) {
    const matches = total === 1 ? '1 entry matches' : `${plural(total, 'entry', 'entries')} match`;
    return `${matches} now, not ${expected}: list them again. ${now}`;
  }
  const marks = [mark, typeof expected === 'object' ? markOf(expected) : undefined];
  if (marks.every((each) => each === undefined || each === markOf(selected))) return undefined;
  return `the selected entries have changed since they were counted: list them again. ${now}`;
}
