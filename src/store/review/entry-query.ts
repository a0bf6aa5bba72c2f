// What a person selects in review: by group, feed, site, kind, text and age, or one by one. One condition for lists, counts and actions.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { EntryKind } from './entry-kind.ts';

/** Selects review entries; absent parts select all. */
export interface EntryQuery {
  readonly groups?: readonly string[] | undefined;
  readonly feed?: FeedName | undefined;
  readonly site?: SiteName | undefined;
  readonly kinds?: readonly EntryKind[] | undefined;
  /** Part of a key, title, value or message, in any case. */
  readonly text?: string | undefined;
  /** They have waited for at least so long. */
  readonly olderThanMs?: number | undefined;
  /** They have waited for less. */
  readonly newerThanMs?: number | undefined;
  /** Selects discarded entries instead of waiting ones. */
  readonly discarded?: boolean | undefined;
  /** Only entries with these numbers. */
  readonly ids?: readonly number[] | undefined;
}

/** How many values {@link valuesOf} gives. */
export const QUERY_VALUES = 9;
/** How many of them {@link MATCHES_COUNTED} has. */
export const COUNTED_VALUES = 5;

/** The part of the condition that is about what entries are counted by; see `review-totals.ts`. */
export const MATCHES_COUNTED = `e.discarded = $1 and ($2::text[] is null or e.kind = any($2))
  and ($3::text[] is null or e.group_id = any($3)) and ($4::text is null or e.feed = $4)
  and ($5::text is null or e.site = $5
    or (e.site is null and e.feed in (select f.feed from feed_state f where f.site = $5)))`;

/** The condition on rows `e` of `review_entry`; its parameters are the first ones of the statement. */
export const MATCHES = `${MATCHES_COUNTED}
  and ($6::text is null or strpos(e.search, $6) > 0)
  and ($7::float8 is null or e.since <= now() - make_interval(secs => $7 / 1000))
  and ($8::float8 is null or e.since > now() - make_interval(secs => $8 / 1000))
  and ($9::bigint[] is null or e.id = any($9))`;

export const valuesOf = (query: EntryQuery): readonly unknown[] => [
  query.discarded === true,
  query.kinds ?? null,
  query.groups ?? null,
  query.feed ?? null,
  query.site ?? null,
  query.text?.toLowerCase() ?? null,
  query.olderThanMs ?? null,
  query.newerThanMs ?? null,
  query.ids ?? null,
];

/** Whether {@link MATCHES_COUNTED} is the whole condition. */
export const isCounted = ({ text, olderThanMs, newerThanMs, ids }: EntryQuery): boolean =>
  [text, olderThanMs, newerThanMs, ids].every((part) => part === undefined);

/** Whether it selects all waiting entries of its groups and kinds. */
export const isWhole = (query: EntryQuery): boolean =>
  isCounted(query) && query.feed === undefined && query.site === undefined && query.discarded !== true;
