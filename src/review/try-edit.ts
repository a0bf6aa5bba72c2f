// Tries an edit on the postings of review entries before it is made: how many of them would be sent then, and why the others would not.
import type { Config } from '../config/config.ts';
import { plural } from '../plan/message.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { SelectedCount } from '../store/change/act-in-review.ts';
import type { Queryable } from '../store/postgres/database.ts';
import type { BulkEdit, SkippedCount } from '../store/review/bulk-actions.ts';
import { entryEditor, nearestState } from './edit-posting.ts';

/** What an edit would do. */
export interface EditTrial {
  readonly kind: 'tried';
  /** On how many entries: of more than 10,000, on the first. */
  readonly tried: number;
  readonly ready: number;
  readonly rejected: number;
  /** Why these would be rejected, the most frequent reason first. */
  readonly reasons: readonly SkippedCount[];
  /** Would not be edited. */
  readonly leftAlone: number;
  /** States that were mistyped, with those that were probably meant. */
  readonly meant: readonly { readonly field: string; readonly value: string; readonly meant: string }[];
}

/** An edit of entries of several feeds, which nobody asked for. */
export interface EditOfFeeds {
  readonly kind: 'feeds';
  readonly feeds: readonly { readonly feed: FeedName; readonly count: number }[];
}

/** Reading and trying so many takes some seconds. */
const MOST_TRIED = 10_000;
const BATCH = 1_000;
const MOST_REASONS = 20;

/** Writes nothing. @param ids entries, of which those that can't be edited are left alone */
export async function tryEdit(
  db: Queryable,
  config: Config,
  ids: readonly number[],
  edit: BulkEdit,
): Promise<EditTrial> {
  const editor = entryEditor(config);
  const reasons = new Map<string, number>();
  const meant = new Map<string, EditTrial['meant'][number]>();
  const counts = { tried: 0, ready: 0, rejected: 0, leftAlone: 0 };
  const tried = ids.slice(0, MOST_TRIED);
  for (let from = 0; from < tried.length; from += BATCH) {
    const { planned, left } = await editor.plan(db, tried.slice(from, from + BATCH), edit, false);
    counts.tried += planned.length + left.length;
    counts.leftAlone += left.length;
    for (const { change, edited, edits } of planned) {
      const { reason } = edited;
      if (reason === undefined) {
        counts.ready += 1;
        continue;
      }
      counts.rejected += 1;
      reasons.set(reason.message, 1 + (reasons.get(reason.message) ?? 0));
      const mapping = config.feeds.get(change.feed)?.mapping;
      for (const { field } of reason.problems) {
        const state = mapping && nearestState(mapping, field, edits);
        const value = field === undefined ? undefined : edits[field];
        if (state !== undefined && field !== undefined && value !== undefined)
          meant.set(`${field} ${value}`, { field, value, meant: state });
      }
    }
  }
  const frequent = [...reasons].sort(([, one], [, other]) => other - one).slice(0, MOST_REASONS);
  return {
    kind: 'tried',
    ...counts,
    reasons: frequent.map(([message, count]) => ({ message, count })),
    meant: [...meant.values()].slice(0, MOST_REASONS),
  };
}

/** Why nothing is edited, with the states that were probably meant; `undefined`: all that can be edited would be sent. */
export function whyNotEdit({ tried, rejected, reasons, meant }: EditTrial): string | undefined {
  if (rejected === 0) return undefined;
  const lines = [
    `${rejected} of ${tried === MOST_TRIED ? 'the first ' : ''}${plural(tried, 'entry', 'entries')} would still be rejected after this edit. Nothing was done.`,
    ...reasons.map(({ message, count }) => `${count}: ${message}`),
    ...meant.map((each) => `Instead of "${each.value.slice(0, 60)}", did you mean ${each.meant}?`),
  ];
  return lines.join('\n  ');
}

/** The feeds of an edit that nobody asked to be of several. `undefined`: it is of one. */
export function severalFeeds(selected: readonly SelectedCount[]): EditOfFeeds | undefined {
  const counts = new Map<FeedName, number>();
  for (const { feed, n } of selected) counts.set(feed, n + (counts.get(feed) ?? 0));
  if (counts.size < 2) return undefined;
  return { kind: 'feeds', feeds: [...counts].map(([feed, count]) => ({ feed, count })) };
}

export const whyOneFeed = ({ feeds }: EditOfFeeds): string =>
  [
    `these entries are of ${feeds.length} feeds, and a value that is right for one of them may be wrong for another: name the feed, or say that all feeds are meant. Nothing was done.`,
    ...feeds.slice(0, MOST_REASONS).map(({ feed, count }) => `${feed}: ${plural(count, 'entry', 'entries')}`),
  ].join('\n  ');
