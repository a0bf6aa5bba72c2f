// Edits one batch of entries: computes each posting with its edits, then writes all of them with few statements.
import type { Config, FeedConfig } from '../../config/config.ts';
import { textOf } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Fields, PostingReader } from '../../posting/posting.ts';
import { compileReader } from '../../posting/reader.ts';
import { auditActions } from '../../store/access/audit.ts';
import type { ActedEntry } from '../../store/change/act-in-review.ts';
import { type PlannedEdit, writeEdits } from '../../store/change/edit.ts';
import { type OpenChangeRow, readChanges } from '../../store/change/open-change.ts';
import { type EditRow, editsOfPostings } from '../../store/change/override.ts';
import type { Queryable } from '../../store/postgres/database.ts';
import type { BulkEdit, BulkRow } from '../../store/review/bulk-actions.ts';
import { formerValues } from '../former-values.ts';
import { type EditPlan, editableFeed, planEdit } from '../plan-edit.ts';
import { type DesiredPosting, editsThatHold } from '../recompute.ts';
import { EDIT_ONLY_POSTINGS } from './words.ts';

export interface BatchActed {
  readonly acted: readonly ActedEntry[];
  /** How many of them are still rejected. */
  readonly remaining: number;
  readonly skipped: readonly { readonly entry: number; readonly why: string }[];
}

/** Compiles the reader of each feed once for all batches. */
export function batchEditor(config: Config) {
  const readers = new Map<FeedName, PostingReader>();
  const readerOf = (feed: FeedName, compile: () => PostingReader): PostingReader => {
    const reader = readers.get(feed) ?? compile();
    readers.set(feed, reader);
    return reader;
  };

  /** A rule never replaces what a person has set in this posting. */
  const planFor = (
    bulk: BulkRow,
    feed: FeedConfig,
    change: OpenChangeRow,
    earlier: readonly EditRow[],
    edits: Fields,
  ) => {
    const reader = readerOf(feed.name, () => compileReader(feed.mapping));
    const own = bulk.rule === null ? undefined : ownEdit(reader, change, earlier, edits);
    if (own !== undefined) return { kind: 'refused', message: `its ${own} was edited before` } as const;
    return planEdit(config, feed, reader, change, earlier, edits);
  };

  /** Edits the changes among these entries, which the transaction has locked; it keeps pulls of their feeds out. */
  return async (tx: Queryable, bulk: BulkRow, ids: readonly number[]): Promise<BatchActed> => {
    const changes = await readChanges(tx, ids);
    const rows = [...changes.values()];
    const earlier = await editsOfPostings(tx, rows);
    const planned: (PlannedEdit & { readonly edits: Fields })[] = [];
    const skipped = ids.filter((id) => !changes.has(id)).map((entry) => ({ entry, why: EDIT_ONLY_POSTINGS }));
    for (const [at, change] of rows.entries()) {
      const edits = editsFor(bulk.detail.edit ?? {}, change);
      const feed = editableFeed(config, change.feed);
      const plan: EditPlan =
        typeof edits === 'string' || typeof feed === 'string'
          ? { kind: 'refused', message: typeof edits === 'string' ? edits : String(feed) }
          : planFor(bulk, feed, change, earlier[at] ?? [], edits);
      if (plan.kind === 'refused') skipped.push({ entry: change.id, why: textOf(plan.message) });
      else if (typeof edits !== 'string') planned.push({ change, edited: plan.edited, edits });
    }
    await writeEdits(tx, planned);
    await auditActions(
      tx,
      bulk.actor,
      'edit',
      planned.map(({ change: { id, feed, key }, edits }) => ({
        feed,
        key,
        detail: {
          entry: id,
          edits,
          former: formerValues(changes.get(id)?.fields, edits),
          bulk: bulk.id,
          ...(bulk.rule === null ? {} : { rule: bulk.rule }),
        },
      })),
    );
    return {
      acted: planned.map(({ change: { id, feed } }) => ({ id, feed })),
      remaining: planned.filter(({ edited }) => edited.reason !== undefined).length,
      skipped,
    };
  };
}

/** A field that the rule would set, and that has an edit which still holds. */
function ownEdit(
  reader: PostingReader,
  { key, fields = {} }: Pick<OpenChangeRow, 'key' | 'fields'>,
  earlier: readonly EditRow[],
  edits: Fields,
): string | undefined {
  const desired: DesiredPosting = { key, fields };
  return editsThatHold(reader, desired, earlier).find(({ field }) => Object.hasOwn(edits, field))?.field;
}

/** The fields to set in one posting, or why none. */
function editsFor({ set = {}, map }: BulkEdit, { fields = {} }: OpenChangeRow): Fields | string {
  if (map === undefined) return set;
  const value = Object.hasOwn(fields, map.field) ? (fields[map.field] ?? '') : '';
  if (!Object.hasOwn(map.values, value)) return `the table has no line for ${map.field} "${value.slice(0, 60)}"`;
  return { ...set, [map.field]: map.values[value] ?? '' };
}
