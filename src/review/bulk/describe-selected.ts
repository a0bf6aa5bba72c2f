// Describes for people what they selected: how many entries of each feed and kind.
import type { SelectedCount } from '../../store/review/selected-counts.ts';
import { describeKinds } from '../act-on-entries.ts';
import type { LeftAlone } from '../entry-facts.ts';

const SHOWN_FEEDS = 50;

/** One line for each feed and reason: `acme: 3 rejected: the feed no longer has it, so nothing is sent for it`. */
export const describeLeftAlone = (left: readonly LeftAlone[]): string[] =>
  left.flatMap(({ why, entries }) => describeSelected(entries).map((line) => `${line}: ${why}`));

/** One line per feed: `acme: 3 rejected, 2 unreadable`. */
export function describeSelected(selected: readonly SelectedCount[]): string[] {
  const feeds = new Map<string, Record<string, number>>();
  for (const { feed, kind, n } of selected) feeds.set(feed, { ...feeds.get(feed), [kind]: n });
  const lines = [...feeds].map(([feed, kinds]) => `${feed}: ${describeKinds(kinds)}`);
  if (lines.length <= SHOWN_FEEDS) return lines;
  return [...lines.slice(0, SHOWN_FEEDS), `… and ${lines.length - SHOWN_FEEDS} more feeds`];
}
