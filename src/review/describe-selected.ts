// Describes for people what they selected: how many entries of each feed and kind.
import type { SelectedCount } from '../store/change/act-in-review.ts';

const SHOWN_FEEDS = 50;

/** Entries that an operation leaves as they are, with the reason. */
export interface LeftAlone {
  readonly why: string;
  readonly entries: readonly SelectedCount[];
}

/** One line for each feed and reason: `acme: 3 rejected: the feed no longer has it, so nothing is sent for it`. */
export const describeLeftAlone = (left: readonly LeftAlone[]): string[] =>
  left.flatMap(({ why, entries }) => describeSelected(entries).map((line) => `${line}: ${why}`));

/** Counts by kind for people: `3 rejected, 2 unreadable`. */
export const describeKinds = (kinds: Readonly<Record<string, number>>): string =>
  Object.entries(kinds)
    .map(([kind, n]) => `${n} ${kind.replace('_', ' ')}`)
    .join(', ');

/** How many of each kind, whatever their feeds. */
export function countByKind<Kind extends string>(
  counts: readonly { readonly kind: Kind; readonly n: number }[],
): Readonly<Partial<Record<Kind, number>>> {
  const kinds: Partial<Record<Kind, number>> = {};
  for (const { kind, n } of counts) kinds[kind] = (kinds[kind] ?? 0) + n;
  return kinds;
}

/** One line per feed: `acme: 3 rejected, 2 unreadable`. */
export function describeSelected(
  selected: readonly (Pick<SelectedCount, 'feed' | 'n'> & { readonly kind: string })[],
): string[] {
  const feeds = new Map<string, Record<string, number>>();
  for (const { feed, kind, n } of selected)
    feeds.set(feed, { ...feeds.get(feed), [kind]: n + (feeds.get(feed)?.[kind] ?? 0) });
  const lines = [...feeds].map(([feed, kinds]) => `${feed}: ${describeKinds(kinds)}`);
  if (lines.length <= SHOWN_FEEDS) return lines;
  return [...lines.slice(0, SHOWN_FEEDS), `… and ${lines.length - SHOWN_FEEDS} more feeds`];
}
