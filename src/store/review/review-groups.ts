// Reads the groups of review entries, the largest first, with their values, feeds and history.
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { EntryKind } from '../backlog/open-counts.ts';
import type { Database, Queryable, Stored } from '../postgres/database.ts';
import {
  ENTRY_MATCHES_AGE,
  ENTRY_MATCHES_COUNTED,
  type EntryQuery,
  IS_NEWER,
  IS_OLDER,
  isByAge,
  isCountCut,
  isCounted,
  isWhole,
  MATCHES,
  MOST_FOUND,
  NO_TEXT_OR_IDS,
  QUERY_VALUES,
  valuesOf,
} from './found-entries.ts';
import { ENTRY_COUNTS, inParts, SELECTION_PARTS, VALUE_COUNTS } from './review-totals.ts';

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

/** Where a group is in the list. It moves as entries come and go. */
export interface GroupPlace {
  readonly count: number;
  readonly id: string;
}

export interface GroupLimits {
  /** How many groups at most; `undefined`: all. */
  readonly groups: number | undefined;
  /** How many of the largest are left out; none by default. */
  readonly skipped?: number | undefined;
  /** Only groups that follow this one, which need not exist any more. */
  readonly after?: GroupPlace | undefined;
  /** How many values of each group at most. */
  readonly values: number;
}

const [AT_GROUPS, AT_VALUES, AT_SKIPPED, AFTER_COUNT] = [1, 2, 3, 4].map((at) => `$${QUERY_VALUES + at}::bigint`);
const AFTER_GROUP = `$${QUERY_VALUES + 5}::text`;

/** The first or the last entry of a part among the selected ones. */
const endOf = (order: 'asc' | 'desc'): string =>
  `(select e.id, e.since from review_entry e where e.part = p.part and ${ENTRY_MATCHES_AGE} and ${NO_TEXT_OR_IDS}
    order by e.since ${order}, e.id ${order} limit 1)`;

/** Since when the first or the last of all entries of a part has waited. */
const anyEndOf = (order: 'asc' | 'desc'): string =>
  `(select e.since from review_entry e where e.part = p.part order by e.since ${order}, e.id ${order} limit 1)`;

const LARGEST = `whole as materialized (select group_id, sum(n)::bigint as n from share group by group_id),
  largest as materialized (
    select * from whole where ${AFTER_COUNT} is null or n < ${AFTER_COUNT} or (n = ${AFTER_COUNT} and group_id > ${AFTER_GROUP})
    order by n desc, group_id limit ${AT_GROUPS} offset ${AT_SKIPPED})`;

/** The largest groups, their shares by feed and site, and their values, from what is counted. */
const FROM_COUNTS = `with ${SELECTION_PARTS}, share as (select * from part), ${LARGEST},
  listed as materialized (select p.* from part p where p.group_id in (select group_id from largest)),
  ends as (
    select p.group_id, f.id, f.since as first, l.since as last
    from listed p cross join lateral ${endOf('asc')} f cross join lateral ${endOf('desc')} l),
  by_value as materialized (
    select e.group_id, e.value, sum(e.n)::bigint as n from ${VALUE_COUNTS}
    where e.group_id in (select group_id from largest) and ${ENTRY_MATCHES_COUNTED} group by 1, 2 having sum(e.n) > 0)`;

const countOf = (condition: string): string =>
  `(select count(*) from review_entry e where e.part = p.part and ${condition})`;
// Without `offset 0`, the database may read the entries of all parts, and count twice.
const valuesIn = (parts: string, condition: string, sign = ''): string =>
  `select p.group_id, e.value, ${sign}count(*) as n from ${parts} p cross join lateral (
     select e.value from review_entry e where e.part = p.part and e.value is not null and ${condition} offset 0) e group by 1, 2`;

/**
 * The same of entries selected by their age. Of those and the others the ones are counted that are fewer, if all came evenly; all
 * together are counted already. Adding up by part reads an index in its order. The first casts decide the types of the parameters.
 */
const BY_AGE = `with ${SELECTION_PARTS},
  span as materialized (
    select min(f.since) as first, max(l.since) as last
    from part p cross join lateral ${anyEndOf('asc')} f cross join lateral ${anyEndOf('desc')} l),
  most as materialized (
    select 2 * (least(last, coalesce(now() - make_interval(secs => $7::float8 / 1000), last))
      - greatest(first, coalesce(now() - make_interval(secs => $8::float8 / 1000), first))) > last - first as match from span),
  share as materialized (
    select p.part, p.group_id, p.kind, p.feed, p.site, s.n from part p cross join most cross join lateral (
      select case when most.match then p.n - ${countOf(IS_NEWER)} - ${countOf(IS_OLDER)} else ${countOf(ENTRY_MATCHES_AGE)} end as n offset 0) s
    where s.n > 0), ${LARGEST},
  listed as materialized (select p.* from share p where p.group_id in (select group_id from largest)),
  ends as (
    select p.group_id, f.id, f.since as first, l.since as last
    from listed p cross join lateral ${endOf('asc')} f cross join lateral ${endOf('desc')} l),
  counted as materialized (select p.* from part p where p.group_id in (select group_id from largest)),
  by_value as materialized (
    select group_id, value, sum(n)::bigint as n from (
      ${valuesIn('listed', `${ENTRY_MATCHES_AGE} and not (select match from most)`)}
      union all select e.group_id, e.value, sum(e.n) from ${VALUE_COUNTS}
        where (select match from most) and e.group_id in (select group_id from largest) and ${ENTRY_MATCHES_COUNTED} group by 1, 2
      union all ${valuesIn('counted', `${IS_NEWER} and (select match from most)`, '-')}
      union all ${valuesIn('counted', `${IS_OLDER} and (select match from most)`, '-')}) parts
    group by 1, 2 having sum(n) > 0)`;

/** The same of the entries that are found by text or number, as far as they are read. Adding up numbers is much faster than texts. */
const FROM_FOUND = `with found as materialized (
    select e.id, e.part, e.since, e.value from review_entry e where ${MATCHES} limit ${MOST_FOUND + 1}),
  share as materialized (
    select f.*, e.group_id, e.kind, e.feed, e.site
    from (select part, count(*) as n, min(id) as any_id, min(since) as first, max(since) as last from found group by part) f
      join review_entry e on e.id = f.any_id), ${LARGEST},
  listed as materialized (select p.* from share p where p.group_id in (select group_id from largest)),
  ends as (
    select p.group_id, min(f.id) as id, p.first, p.last from listed p join found f on f.part = p.part and f.since <= p.first
    group by p.part, p.group_id, p.first, p.last),
  by_value as materialized (
    select p.group_id, v.value, sum(v.n)::bigint as n
    from listed p join (select part, value, count(*) as n from found where value is not null group by part, value) v
      on v.part = p.part group by 1, 2)`;

const sourceOf = (query: EntryQuery): string => (isCounted(query) ? FROM_COUNTS : isByAge(query) ? BY_AGE : FROM_FOUND);

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

const msUntilNow = (at: string): string => `round(extract(epoch from now() - ${at}) * 1000)::float8`;

/** A group has entries again since it was last counted with none, unless it was counted with some since then. */
const WITH_DETAILS = `total as (
    select l.group_id, l.n, (array_agg(e.id order by e.first, e.id))[1] as id, min(e.first) as first, max(e.last) as last
    from largest l join ends e on e.group_id = l.group_id group by l.group_id, l.n)
  select t.group_id as group, x.kind, x.field, x.message, t.n as count, least(past.first_at, t.first) as "firstSeen", t.last as "lastSeen",
    coalesce(v.list, '[]') as values, coalesce(v.value_count, 0) as "valueCount", coalesce(f.list, '[]') as feeds, coalesce(s.list, '[]') as sites,
    x.id, x.feed, x.key, x.value, coalesce(c.reason, r.problems->0) as reason,
    ${msUntilNow('least(past.first_at, t.first)')} as "ageMs", past.latest, past.day_ago as "dayAgo",
    case when past.none_at is not null then ${msUntilNow('coalesce(back.at, now())')} end as "backForMs",
    (select count(*) from whole) as "allGroups", (select sum(n)::bigint from whole) as "allEntries"
  from total t
    join review_entry x on x.id = t.id
    left join valued v on v.group_id = t.group_id left join fed f on f.group_id = t.group_id
    left join sited s on s.group_id = t.group_id
    left join change c on c.id = x.id left join record_problem r on r.id = x.id
    left join lateral (
      select min(h.at) as first_at, max(h.at) filter (where h.n = 0) as none_at,
        (array_agg(h.n order by h.at desc))[1] as latest,
        (array_agg(h.n order by h.at desc) filter (where h.at <= now() - interval '1 day'))[1] as day_ago
      from review_group_count h where h.group_id = t.group_id) past on true
    left join lateral (
      select min(b.at) as at from review_group_count b where b.group_id = t.group_id and b.n > 0 and b.at > past.none_at) back on true
  order by t.n desc, t.group_id`;

/**
 * Compiling takes longer than running, and sums of all entries must fit into memory. Each page of groups is of the same entries if more
 * match a text than are read.
 */
const SETTINGS = `select set_config('jit', 'off', true), set_config('work_mem', '32MB', true),
  set_config('synchronize_seqscans', 'off', true)`;

/** How many groups the selected entries are in, and how many entries. */
export interface GroupTotals {
  readonly groups: number;
  readonly entries: number;
  /** More entries match the text: all numbers are of those that were found first. */
  readonly cut: boolean;
}

/** A group, whose ID is `group`, with its example and history as columns. */
type GroupRow = Stored<
  Omit<ReviewGroup, 'id' | 'example' | 'history'> & Omit<GroupExample, 'reason'> & Omit<GroupHistory, 'now'>
> & {
  readonly group: string;
  readonly reason: Partial<Reason> | null;
  readonly latest: number | null;
  readonly allGroups: number;
  readonly allEntries: number;
};

/** The selected entries by group, the largest group first, with the totals of all groups whatever the limits. */
export async function reviewGroups(
  db: Database,
  query: EntryQuery,
  limits: GroupLimits,
): Promise<{ readonly groups: ReviewGroup[]; readonly totals: GroupTotals }> {
  const rows = await db.transaction(async (tx) => {
    await tx.query(SETTINGS);
    return tx.query<GroupRow>(`${sourceOf(query)}, ${SHARES}, ${WITH_DETAILS}`, [
      ...valuesOf(await inParts(tx, query)),
      limits.groups ?? null,
      limits.values,
      limits.skipped ?? 0,
      limits.after?.count ?? null,
      limits.after?.id ?? null,
    ]);
  });
  const [first] = rows;
  const entries = first?.allEntries ?? 0;
  const totals = { groups: first?.allGroups ?? 0, entries, cut: isCountCut(query, entries) };
  return { groups: rows.map((row) => groupOf(row, isWhole(query))), totals };
}

function groupOf(row: GroupRow, isWholeGroup: boolean): ReviewGroup {
  const {
    group,
    id,
    feed,
    key,
    value,
    reason,
    ageMs,
    latest,
    dayAgo,
    backForMs,
    allGroups: _,
    allEntries: __,
    ...rest
  } = row;
  const { count, message } = rest;
  return {
    ...rest,
    id: group,
    field: rest.field ?? undefined,
    example: { id, feed, key: key ?? undefined, value: value ?? undefined, reason: reasonOf(reason, message) },
    history: {
      ageMs,
      now: isWholeGroup ? count : (latest ?? count),
      dayAgo: dayAgo ?? undefined,
      backForMs: backForMs ?? undefined,
    },
  };
}

/** The whole sentence of the example; the normal form stands in if its row was removed meanwhile. */
function reasonOf(reason: Partial<Reason> | null, message: string): Message {
  return messageOfReason({ message: reason?.message ?? reason?.note ?? message, ...nextOf(reason) });
}

const nextOf = (reason: Partial<Reason> | null): Pick<Reason, 'next'> =>
  reason?.next === undefined ? {} : { next: reason.next };

// Notes how many entries each group has, about once an hour.

/** Only the largest groups are noted: a site may put something else into each message. */
const MOST_GROUPS = 1_000;
/** Trends need one day; the rest shows when a group appeared and disappeared. */
const KEPT_DAYS = 90;

/** Notes each count that has changed since it was last noted; a group without entries gets a zero. */
export async function noteGroupCounts(db: Queryable): Promise<void> {
  await db.query(
    `with current as (
       select group_id, count(*) as n, min(since) as first from review_entry where not discarded
       group by group_id order by 2 desc, group_id limit ${MOST_GROUPS}),
     noted as (
       select distinct on (group_id) group_id, n from review_group_count order by group_id, at desc)
     insert into review_group_count (group_id, at, n)
     select coalesce(c.group_id, l.group_id), case when l.n is null then least(c.first, now()) else now() end, coalesce(c.n, 0)
     from current c full join noted l using (group_id)
     where coalesce(c.n, 0) is distinct from l.n
       and (c.n is not null or not exists (
         select from review_entry e where e.group_id = l.group_id and not e.discarded))
     on conflict (group_id, at) do update set n = excluded.n`,
  );
}

/** Removes what no trend needs: all but the first and the newest count, and groups that have been empty for long. */
export async function forgetGroupCounts(db: Queryable): Promise<void> {
  await db.query(
    `delete from review_group_count o where o.at < now() - make_interval(days => ${KEPT_DAYS})
       and exists (select from review_group_count y where y.group_id = o.group_id and y.at > o.at)
       and exists (select from review_group_count y where y.group_id = o.group_id and y.at < o.at)`,
  );
  await db.query(
    `delete from review_group_count o where not exists (
       select from review_group_count y where y.group_id = o.group_id
         and (y.at >= now() - make_interval(days => ${KEPT_DAYS})
           or (y.n > 0 and not exists (select from review_group_count z where z.group_id = y.group_id and z.at > y.at))))`,
  );
}

// Reads what a group of review entries is about, as long as it has entries.

export interface GroupSubject {
  readonly group: string;
  readonly kind: EntryKind;
  readonly field: string | null;
  /** "…" stands for what differs. */
  readonly message: string;
}

/** `undefined`: no entry is in the group, not even a discarded one. */
export async function findGroup(db: Queryable, group: string): Promise<GroupSubject | undefined> {
  const rows = await db.query<GroupSubject>(
    `select group_id as "group", kind, field, message from review_entry where group_id = $1 order by id limit 1`,
    [group],
  );
  return rows[0];
}

// Stores what people say about a group of review entries.

export interface GroupNote {
  readonly id: number;
  readonly group: string;
  readonly text: string;
  readonly actor: string;
  readonly at: Date;
}

const COLUMNS = 'id, group_id as "group", text, actor, at';

/** `undefined`: the group has as many notes as it may have. */
export async function addNote(
  tx: Queryable,
  { group, text, actor }: Pick<GroupNote, 'group' | 'text' | 'actor'>,
  most: number,
): Promise<GroupNote | undefined> {
  const [note] = await tx.query<GroupNote>(
    `insert into group_note (group_id, text, actor)
     select $1, $2, $3 where (select count(*) from group_note where group_id = $1) < $4 returning ${COLUMNS}`,
    [group, text, actor, most],
  );
  return note;
}

export async function removeNote(tx: Queryable, id: number): Promise<GroupNote | undefined> {
  return (await tx.query<GroupNote>(`delete from group_note where id = $1 returning ${COLUMNS}`, [id]))[0];
}

/** The notes of these groups, the oldest first. */
export const readGroupNotes = (db: Queryable, groups: readonly string[]): Promise<GroupNote[]> =>
  db.query<GroupNote>(`select ${COLUMNS} from group_note where group_id = any($1::text[]) order by id`, [groups]);

// Finds groups of review entries that have appeared lately.

/** The new groups of a feed, of which one or more have open entries. */
export interface NewGroups {
  readonly feed: FeedName;
  /** How many groups. */
  readonly n: number;
  /** When the first of them appeared, in Unix time in seconds. */
  readonly since: number;
  /** The one with the most entries of the feed. */
  readonly largest: {
    readonly n: number;
    readonly kind: EntryKind;
    readonly field: string | null;
    /** "…" stands for what differs. Text of the site or of a rule. */
    readonly message: string;
  };
}

/** As many as are noted for the trend: a site may put something else into each message. */
const MOST_NEW_GROUPS = 1_000;

/**
 * Per feed, the groups that first had entries within the last `hours`, among the largest of all. Held deletes and creates in doubt are
 * left out, as they have alerts of their own. A group that had entries more than `hours` ago is not new when it has some again.
 */
export const readNewGroups = (db: Queryable, hours: number): Promise<NewGroups[]> =>
  db.query<NewGroups>(
    `with counted as (
       select feed, group_id, kind, sum(n)::bigint as n from ${ENTRY_COUNTS}
       where not discarded and kind in ('rejected', 'failed', 'unreadable', 'duplicate')
       group by feed, group_id, kind having sum(n) > 0
       order by 4 desc, group_id, feed limit ${MOST_NEW_GROUPS}),
     appeared as materialized (
       select c.*, least(
         (select min(at) from review_group_count h where h.group_id = c.group_id),
         (select min(since) from review_entry e where not e.discarded and e.group_id = c.group_id)) as since
       from counted c join feed_state f on f.feed = c.feed and f.retired_at is null)
     select distinct on (a.feed) a.feed, count(*) over of_feed as n, extract(epoch from min(a.since) over of_feed)::float8 as since,
       jsonb_build_object('n', a.n, 'kind', a.kind, 'field', e.field, 'message', e.message) as largest
     from appeared a cross join lateral (
       select field, message from review_entry where group_id = a.group_id order by id limit 1) e
     where a.since > clock_timestamp() - make_interval(hours => $1)
     window of_feed as (partition by a.feed)
     order by a.feed, a.n desc, a.group_id`,
    [hours],
  );
