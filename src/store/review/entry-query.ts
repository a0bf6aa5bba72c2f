// What a person selects in review: by group, feed, site, kind, text and age, or one by one. One condition for lists, counts and actions.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { EntryKind } from '../backlog/entry-kind.ts';

/** Selects review entries; absent parts select all. */
export interface EntryQuery {
  readonly groups?: readonly string[] | undefined;
  readonly feed?: FeedName | undefined;
  readonly site?: SiteName | undefined;
  readonly kinds?: readonly EntryKind[] | undefined;
  /** Each word of it begins a word of the key, title, value or message, in any case; one of two characters or less is such a word. */
  readonly text?: string | undefined;
  /** They have waited for at least so long. */
  readonly olderThanMs?: number | undefined;
  /** They have waited for less. */
  readonly newerThanMs?: number | undefined;
  /** Selects discarded entries instead of waiting ones. */
  readonly discarded?: boolean | undefined;
  /** Only entries with these numbers. */
  readonly ids?: readonly number[] | undefined;
  /** The parts that the rest selects, if they were read: see `inParts`. */
  readonly parts?: readonly string[] | undefined;
}

/** How many values {@link valuesOf} gives. */
export const QUERY_VALUES = 10;
/** How many of them {@link MATCHES_COUNTED} has. */
export const COUNTED_VALUES = 5;
/** The text, the numbers, the parts. */
const [AT_TEXT, AT_IDS, AT_PARTS] = ['$6::text', '$9::bigint[]', '$10::bigint[]'];

/** The part of the condition that is about what entries are counted by; see `review-totals.ts`. */
export const MATCHES_COUNTED = `e.discarded = $1 and ($2::text[] is null or e.kind = any($2))
  and ($3::text[] is null or e.group_id = any($3)) and ($4::text is null or e.feed = $4)
  and ($5::text is null or e.site = $5
    or (e.site is null and e.feed in (select f.feed from feed_state f where f.site = $5)))`;

/** The part of the condition that is about the age. */
export const MATCHES_AGE = `($7::float8 is null or e.since <= now() - make_interval(secs => $7 / 1000))
  and ($8::float8 is null or e.since > now() - make_interval(secs => $8 / 1000))`;

/**
 * The same with times that are computed once, so that ages are compared before words where all entries are read. The server cannot tell
 * how many entries these select, so it needs the other form as well.
 */
const HAS_AGE = `($7::float8 is null or e.since <= (select now() - make_interval(secs => $7 / 1000)))
  and ($8::float8 is null or e.since > (select now() - make_interval(secs => $8 / 1000)))`;

/** The rows that {@link MATCHES_AGE} leaves out, in two parts, each of which an index finds. */
export const [IS_NEWER, IS_OLDER] = [
  `$7::float8 is not null and e.since > now() - make_interval(secs => $7 / 1000)`,
  `$8::float8 is not null and e.since <= now() - make_interval(secs => $8 / 1000)`,
];

/** The condition on rows `e` of `review_entry`; its parameters are the first ones of the statement. */
export const MATCHES = `${MATCHES_COUNTED} and ${MATCHES_AGE} and ${HAS_AGE}
  and (${AT_TEXT} is null or e.words @@ word_query(${AT_TEXT}))
  and (${AT_IDS} is null or e.id = any(${AT_IDS})) and (${AT_PARTS} is null or e.part = any(${AT_PARTS}))`;

/** Lets a statement without {@link MATCHES} have the same parameters. */
export const NO_TEXT_OR_IDS = `${AT_TEXT} is null and ${AT_IDS} is null and ${AT_PARTS} is null`;

export const valuesOf = (query: EntryQuery): readonly unknown[] => [
  query.discarded === true,
  query.kinds ?? null,
  query.groups ?? null,
  query.feed ?? null,
  query.site ?? null,
  query.text ?? null,
  query.olderThanMs ?? null,
  query.newerThanMs ?? null,
  query.ids ?? null,
  query.parts ?? null,
];

/** Whether {@link MATCHES_COUNTED} and {@link MATCHES_AGE} are the whole condition. */
export const isByAge = ({ text, ids }: EntryQuery): boolean => text === undefined && ids === undefined;

/** Whether {@link MATCHES_COUNTED} is the whole condition. */
export const isCounted = (query: EntryQuery): boolean =>
  isByAge(query) && query.olderThanMs === undefined && query.newerThanMs === undefined;

/** Whether it selects all waiting entries of its groups and kinds. */
export const isWhole = (query: EntryQuery): boolean =>
  isCounted(query) && query.feed === undefined && query.site === undefined && query.discarded !== true;

/** A text may match any number of entries. Counting and acting read at most one more than these, which shows that there are more. */
export const MOST_FOUND = 10_000;

/** Whether more entries match the text than are counted. */
export const isCut = ({ text }: EntryQuery, counted: number): boolean => text !== undefined && counted > MOST_FOUND;
