// Reads the groups of review entries, the largest first, with their values, feeds and history.
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Database } from '../postgres/database.ts';
import type { EntryKind } from './entry-kind.ts';
import {
  type EntryQuery,
  isCounted,
  isWhole,
  MATCHES,
  MATCHES_COUNTED,
  QUERY_VALUES,
  valuesOf,
} from './entry-query.ts';
import { ENTRY_COUNTS, VALUE_COUNTS } from './review-totals.ts';

/** How often something occurs in a group. */
export interface Frequency<Of> {
  readonly of: Of;
  readonly count: number;
}

/** Entries of one kind about which the same was said. The counts are of the selected entries. */
export interface ReviewGroup {
  readonly id: string;
  readonly kind: EntryKind;
  readonly field: string | undefined;
  /** "…" stands for what differs. */
  readonly message: string;
  readonly count: number;
  /** When the group appeared, as far as known. */
  readonly firstSeen: Date;
  /** Start of the newest entry. */
  readonly lastSeen: Date;
  /** The most frequent values. */
  readonly values: readonly Frequency<string>[];
  /** How many different values there are. */
  readonly valueCount: number;
  readonly feeds: readonly Frequency<FeedName>[];
  readonly sites: readonly Frequency<SiteName>[];
  readonly example: GroupExample;
  readonly history: GroupHistory;
}

/** The oldest entry. */
export interface GroupExample {
  readonly id: number;
  readonly feed: FeedName;
  readonly key: PostingKey | undefined;
  readonly value: string | undefined;
  readonly reason: Message;
}

/** What is known about all entries of the group, whatever was selected. */
export interface GroupHistory {
  readonly ageMs: number;
  /** How many entries wait, or did when they were last noted, and how many did a day ago; `undefined`: not known. */
  readonly now: number;
  readonly dayAgo: number | undefined;
  /** For how long it has entries again after it had none; `undefined`: it always had some. */
  readonly backForMs: number | undefined;
}

export interface GroupLimits {
  /** How many groups at most; `undefined`: all. */
  readonly groups: number | undefined;
  /** How many of the largest are left out; none by default. */
  readonly skipped?: number | undefined;
  /** How many values of each group at most. */
  readonly values: number;
}

const [AT_GROUPS, AT_VALUES, AT_SKIPPED] = [1, 2, 3].map((at) => `$${QUERY_VALUES + at}::bigint`);

/** Of the oldest or the newest entry: the first that matches in the order of an index. */
const sinceOf = (order: 'asc' | 'desc'): string =>
  `(select e.since from review_entry e where e.group_id = l.group_id and ${MATCHES} order by e.since ${order} limit 1)`;

/** The largest groups, their shares by feed and site, and their values, from what is counted. */
const FROM_COUNTS = `with part as materialized (
    select e.group_id, e.feed, e.site, sum(e.n)::bigint as n from ${ENTRY_COUNTS}
    where ${MATCHES_COUNTED} group by 1, 2, 3 having sum(e.n) > 0),
  whole as materialized (select group_id, sum(n)::bigint as n from part group by group_id),
  largest as materialized (select * from whole order by n desc, group_id limit ${AT_GROUPS} offset ${AT_SKIPPED}),
  total as materialized (select l.*, ${sinceOf('asc')} as first, ${sinceOf('desc')} as last from largest l),
  listed as (select * from part where group_id in (select group_id from total)),
  by_value as materialized (
    select e.group_id, e.value, sum(e.n)::bigint as n from ${VALUE_COUNTS}
    where e.group_id in (select group_id from total) and ${MATCHES_COUNTED} group by 1, 2 having sum(e.n) > 0)`;

/** The same in one pass over the entries, for selections that are not counted. */
const FROM_ENTRIES = `with part as materialized (
    select e.group_id, e.value, e.feed, e.site, count(*) as n, min(e.since) as first, max(e.since) as last
    from review_entry e where ${MATCHES} group by 1, 2, 3, 4),
  whole as materialized (
    select group_id, sum(n)::bigint as n, min(first) as first, max(last) as last from part group by group_id),
  total as materialized (select * from whole order by n desc, group_id limit ${AT_GROUPS} offset ${AT_SKIPPED}),
  listed as (select * from part where group_id in (select group_id from total)),
  by_value as materialized (
    select group_id, value, sum(n)::bigint as n from listed where value is not null group by 1, 2)`;

const SHARES = `valued as (
    select group_id, jsonb_agg(jsonb_build_object('of', value, 'count', n) order by n desc, value collate "C")
        filter (where place <= ${AT_VALUES}) as list, count(*) as value_count
    from (select *, row_number() over (partition by group_id order by n desc, value collate "C") as place from by_value) ranked
    group by group_id),
  fed as (
    select group_id, jsonb_agg(jsonb_build_object('of', feed, 'count', n) order by n desc, feed) as list
    from (select group_id, feed, sum(n)::bigint as n from listed group by group_id, feed) by_feed group by group_id),
  sited as (
    select group_id, jsonb_agg(jsonb_build_object('of', site, 'count', n) order by n desc, site) as list
    from (select l.group_id, coalesce(l.site, f.site) as site, sum(l.n)::bigint as n
          from (select group_id, feed, site, sum(n) as n from listed group by 1, 2, 3) l
            left join feed_state f on f.feed = l.feed
          group by 1, 2) by_site
    where site is not null group by group_id)`;

const WITH_DETAILS = `select t.group_id, x.kind, x.field, x.message, t.n, t.first, t.last, coalesce(v.value_count, 0) as value_count,
    v.list as values, f.list as feeds, s.list as sites, x.id, x.feed, x.key, x.value,
    coalesce(c.reason, r.problems->0) as reason, past.first_at, past.day_ago,
    (select min(b.at) from review_group_count b where b.group_id = t.group_id and b.n > 0 and b.at > past.none_at) as back_at,
    past.none_at, past.latest, now() as at,
    (select count(*) from whole) as all_groups, (select sum(n)::bigint from whole) as all_entries
  from total t
    join lateral (
      select e.* from review_entry e where e.group_id = t.group_id and ${MATCHES} order by e.id limit 1) x on true
    left join valued v on v.group_id = t.group_id left join fed f on f.group_id = t.group_id
    left join sited s on s.group_id = t.group_id
    left join change c on c.id = x.id left join record_problem r on r.id = x.id
    left join lateral (
      select min(h.at) as first_at, max(h.at) filter (where h.n = 0) as none_at,
        (array_agg(h.n order by h.at desc))[1] as latest,
        (array_agg(h.n order by h.at desc) filter (where h.at <= now() - interval '1 day'))[1] as day_ago
      from review_group_count h where h.group_id = t.group_id) past on true
  order by t.n desc, t.group_id`;

/** Compiling takes longer than running, and sums of all entries must fit into memory. */
const SETTINGS = `select set_config('jit', 'off', true), set_config('work_mem', '32MB', true)`;

/** How many groups the selected entries are in, and how many entries. */
export interface GroupTotals {
  readonly groups: number;
  readonly entries: number;
}

/** The selected entries by group, the largest group first, with the totals of all groups whatever the limits. */
export async function reviewGroups(
  db: Database,
  query: EntryQuery,
  limits: GroupLimits,
): Promise<{ readonly groups: ReviewGroup[]; readonly totals: GroupTotals }> {
  const rows = await db.transaction(async (tx) => {
    await tx.query(SETTINGS);
    return tx.query(`${isCounted(query) ? FROM_COUNTS : FROM_ENTRIES}, ${SHARES} ${WITH_DETAILS}`, [
      ...valuesOf(query),
      limits.groups ?? null,
      limits.values,
      limits.skipped ?? 0,
    ]);
  });
  const [first] = rows;
  const totals = { groups: first?.all_groups ?? 0, entries: first?.all_entries ?? 0 };
  const groups = rows.map((row) => ({
    id: row.group_id,
    kind: row.kind,
    field: row.field ?? undefined,
    message: row.message,
    count: row.n,
    firstSeen: earlier(row.first_at, row.first),
    lastSeen: row.last,
    values: row.values ?? [],
    valueCount: row.value_count,
    feeds: row.feeds ?? [],
    sites: row.sites ?? [],
    example: {
      id: row.id,
      feed: row.feed,
      key: row.key ?? undefined,
      value: row.value ?? undefined,
      reason: reasonOf(row.reason, row.message),
    },
    history: {
      ageMs: row.at.getTime() - earlier(row.first_at, row.first).getTime(),
      now: isWhole(query) ? row.n : (row.latest ?? row.n),
      dayAgo: row.day_ago ?? undefined,
      backForMs: backForMs(row.at, row.none_at, row.back_at),
    },
  }));
  return { groups, totals };
}

const earlier = (one: Date | null, other: Date): Date => (one !== null && one < other ? one : other);

function backForMs(now: Date, noneAt: Date | null, backAt: Date | null): number | undefined {
  if (noneAt === null) return undefined;
  // Since it was last counted with none, unless it was counted again since then.
  return now.getTime() - (backAt ?? now).getTime();
}

/** The whole sentence of the example; the normal form stands in if its row was removed meanwhile. */
function reasonOf(reason: Partial<Reason> | null, message: string): Message {
  return messageOfReason({ message: reason?.message ?? reason?.note ?? message, ...nextOf(reason) });
}

const nextOf = (reason: Partial<Reason> | null): Pick<Reason, 'next'> =>
  reason?.next === undefined ? {} : { next: reason.next };
