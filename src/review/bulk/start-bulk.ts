// Starts an action on many review entries: what was shown is what it acts on.
import type { Config } from '../../config/config.ts';
import type { ConfiguredHere } from '../../plan/allowed.ts';
import type { Message } from '../../plan/message.ts';
import { questionedOfBulk } from '../../store/backlog/open-counts.ts';
import type { SelectedCount } from '../../store/change/act-in-review.ts';
import type { Database, Queryable } from '../../store/postgres/database.ts';
import {
  type BulkDetail,
  type BulkKind,
  type BulkRow,
  createBulk,
  entriesOfBulk,
  marksOfBulk,
  operationOf,
} from '../../store/review/bulk-actions.ts';
import { type EntryQuery, isCountCut, MOST_FOUND } from '../../store/review/found-entries.ts';
import {
  byFeedAndKind,
  type CountedEntries,
  countSelected,
  foldReviewCounts,
  readParts,
} from '../../store/review/review-totals.ts';
import { RULE_ACTIONS } from '../../store/review/rules.ts';
import { decideWithin, type Refused, RefusedError } from '../act-on-entries.ts';
import { describeLeftAlone, type LeftAlone } from '../describe-selected.ts';
import { countActedOn, countLeft, isActedOn } from '../entry-facts.ts';
import { type FeedsConfig, readConfiguredHere } from '../health/configured-policy.ts';
import { answerFirst, answerFirstAmong, deletesConcernedBy } from '../held-offer.ts';
import { addRuleWithin } from '../rules.ts';
import { type Seen, sumOf, tokenOfOne, whyNotSeen } from '../seen.ts';
import { severalFeeds, tryEdit, whyNotEdit, whyOneFeed } from '../try-edit.ts';

export interface BulkRequest {
  readonly action: BulkKind;
  readonly actor: string;
  readonly detail: BulkDetail;
  /** What the person saw: with anything else, nothing is done. */
  readonly seen?: Seen | undefined;
  /** Of an edit: does nothing if some of its entries would still be rejected. */
  readonly onlyIfValid?: boolean | undefined;
  /** Of an edit: does nothing if its entries are of several feeds. */
  readonly onlyOneFeed?: boolean | undefined;
  /** Makes a rule of it for entries that come later: they are in the selected group, and in the selected feed if one is. */
  readonly alsoNew?: boolean | undefined;
}

export type BulkStart =
  | {
      readonly kind: 'started';
      readonly bulk: BulkRow;
      /** What is selected as well, but left as it is. */
      readonly others: readonly LeftAlone[];
      readonly rule?: number;
    }
  | Refused;

/** Stores the action and its entries, as they are now. An entry that changes before it is acted on is left alone. */
export async function startBulk(db: Database, config: Config, request: BulkRequest): Promise<BulkStart> {
  const { seen = {}, alsoNew, onlyIfValid: _, onlyOneFeed: __, ...asked } = request;
  await foldReviewCounts(db);
  return decideWithin(db, async (tx): Promise<BulkStart> => {
    const here = await readConfiguredHere(tx, config);
    const detail = { ...asked.detail, query: forAction(asked.action, asked.detail.query) };
    const parts = await partsFor(tx, asked.action, detail.query, here);
    const made = await createBulk(tx, { ...asked, detail, parts });
    const selected = byFeedAndKind(made.selected);
    const others = await countOthers(tx, request, here);
    const { ids } = detail.query;
    // Of entries that are named, it is told which ones have changed, also if none is left.
    const isNamed = ids !== undefined && seen.tokens !== undefined;
    const whyOthers = whyNotSeen(seen, {
      selected,
      ids,
      named: isNamed
        ? (await marksOfBulk(tx, made.bulk.id)).map(({ id, ...one }) => ({ id, token: tokenOfOne(one) }))
        : [],
    });
    const refusal =
      answerFirst(deletesConcernedBy(asked.action, await questionedOfBulk(tx, made.bulk.id))) ??
      (isNamed ? whyOthers : undefined) ??
      whyTooMany(asked.detail.query, selected) ??
      whyNone(selected, others);
    if (refusal !== undefined) throw new RefusedError(refusal, refusal === whyOthers ? true : undefined);
    if (whyOthers !== undefined) throw new RefusedError(whyOthers, true);
    await expectGoodEdit(tx, config, request, made.bulk.id, selected);
    const rule = alsoNew === true ? { rule: await addRuleFor(tx, request, selected) } : {};
    return { kind: 'started', bulk: made.bulk, others, ...rule };
  });
}

/** @throws {RefusedError} if the edit is of several feeds that nobody asked for, or leaves entries rejected */
async function expectGoodEdit(
  tx: Queryable,
  config: Config,
  { action, detail: { edit }, onlyIfValid, onlyOneFeed }: BulkRequest,
  bulk: number,
  selected: readonly SelectedCount[],
): Promise<void> {
  if (action !== 'edit' || edit === undefined) return;
  const several = onlyOneFeed === true ? severalFeeds(selected) : undefined;
  if (several !== undefined) throw new RefusedError(whyOneFeed(several), undefined, several);
  if (onlyIfValid !== true) return;
  // The entries of other feeds are tried by nobody: the processes that are configured with them edit them.
  const ids = await entriesOfBulk(tx, bulk, [...config.feeds.keys()]);
  const trial = await tryEdit(tx, config, ids, edit);
  const why = whyNotEdit(trial);
  if (why !== undefined) throw new RefusedError(why, undefined, trial);
}

/** A rule knows nothing of a text, an age or a site: it would decide more than the person selected. */
async function addRuleFor(
  tx: Queryable,
  { action, actor, detail, onlyOneFeed }: BulkRequest,
  selected: readonly SelectedCount[],
): Promise<number> {
  const { query, edit, reason } = detail;
  const [group, ...others] = query.groups ?? [];
  const rule = RULE_ACTIONS.find((each) => each === action);
  if (rule === undefined) throw new RefusedError(`a rule can't do this: ${action}`);
  const narrower = [query.site, query.text, query.olderThanMs, query.newerThanMs].some((part) => part !== undefined);
  if (group === undefined || others.length > 0 || narrower || query.discarded === true) {
    throw new RefusedError(
      'a rule is about the new entries of one group, or of one group and one feed. Nothing was done.',
    );
  }
  // Entries of another feed may come into the group later.
  const feed = query.feed ?? (action === 'edit' && onlyOneFeed === true ? selected[0]?.feed : undefined);
  const said = { ...(edit === undefined ? {} : { edit }), ...(reason === undefined ? {} : { reason }) };
  const made = await addRuleWithin(tx, { group, feed, action: rule, detail: said, actor });
  if (made.kind !== 'made') throw new RefusedError(`${made.message}. Nothing was done.`);
  return made.id;
}

/** What an action would do with a selection now. */
export interface BulkPreview {
  /** Exactly what it would act on. */
  readonly selected: readonly SelectedCount[];
  /** What it would leave as it is. */
  readonly others: readonly LeftAlone[];
  /** What has to be answered before; until then it would act on nothing. */
  readonly first: Message | undefined;
}

/** What the action would act on now, for a person to confirm. */
export async function previewBulk(
  db: Database,
  config: FeedsConfig,
  action: BulkKind,
  query: EntryQuery,
): Promise<BulkPreview> {
  const wanted = forAction(action, query);
  const where = { discarded: wanted.discarded === true, here: await readConfiguredHere(db, config) };
  const counted = await countNow(db, wanted);
  const operation = operationOf(action);
  // As many as are counted may match a text before those that it acts on.
  const parts = isCountCut(query, sumOf(counted)) ? await partsFor(db, action, wanted, where.here) : undefined;
  const own = parts === undefined ? counted : await countSelected(db, { ...wanted, parts });
  const selected = countActedOn(operation, own, where);
  const first = await answerFirstAmong(db, action, wanted);
  const others = countLeft(operation, counted, where);
  return { selected: first === undefined ? selected : [], others, first };
}

/** What the query selects now, of whatever kind. */
export async function countNow(db: Database, query: EntryQuery): Promise<CountedEntries[]> {
  await foldReviewCounts(db);
  return countSelected(db, query);
}

/**
 * The parts of the selection that the action acts on. `undefined`: all. Entries that a person named one by one stay selected, whatever
 * they are: those that it can't act on are left alone, with the reason.
 */
async function partsFor(
  tx: Queryable,
  action: BulkKind,
  query: EntryQuery,
  here: ConfiguredHere,
): Promise<readonly string[] | undefined> {
  if (query.ids !== undefined || action === 'adopt') return undefined;
  const where = { discarded: query.discarded === true, here };
  const parts = await readParts(tx, query);
  return parts.filter((part) => isActedOn(operationOf(action), part, where)).map(({ part }) => part);
}

async function countOthers(
  tx: Queryable,
  { action, detail: { query } }: BulkRequest,
  here: ConfiguredHere,
): Promise<readonly LeftAlone[]> {
  if (query.ids !== undefined || action === 'adopt') return [];
  return countLeft(operationOf(action), await countSelected(tx, { ...query, discarded: false }), {
    discarded: false,
    here,
  });
}

/** A text may select more entries than an action can be bound to: why nothing can be done about all of them. */
export function whyTooMany(query: EntryQuery, selected: readonly SelectedCount[]): string | undefined {
  return isCountCut(query, sumOf(selected))
    ? `more than ${MOST_FOUND} entries match this text: narrow the selection to a group, a feed or an age, or use more words. Nothing was done.`
    : undefined;
}

/** Only discarded entries can be reopened, and all other actions are for those that wait. */
const forAction = (action: BulkKind, query: EntryQuery): EntryQuery => ({ ...query, discarded: action === 'reopen' });

function whyNone(selected: readonly SelectedCount[], others: readonly LeftAlone[]): string | undefined {
  if (selected.length > 0) return undefined;
  if (others.length === 0) return 'no entry matches: nothing was done.';
  const now = ['Nothing was done.', ...describeLeftAlone(others)].join('\n  ');
  return `this can be done with no selected entry. ${now}`;
}
