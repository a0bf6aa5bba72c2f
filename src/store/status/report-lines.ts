// Lists what became of each posting and record of a feed, streamed or by page, with counts of what is missing and goes wrong: for whoever
// produces the feed.
import type { Reason } from '../../plan/desired-change.ts';
import type { FeedName, PostingKey, SiteJobId } from '../../posting/identifiers.ts';
import type { Problem } from '../../posting/posting.ts';
import { type Queryable, type Session, type Stored, withoutNulls } from '../postgres/database.ts';
import { inBatches } from '../postgres/stream-rows.ts';
import { JOB_HAS_EXPIRED } from '../pull/posting-expiry.ts';

/** What became of a posting, in the order in which postings are listed. */
export const POSTING_STATES = [
  'rejected',
  'failed',
  'in_doubt',
  'discarded',
  'held',
  'kept',
  'failed_delete',
  'pending_delete',
  'grace',
  'pending',
  'expired',
  'live',
] as const;
/** Records that are no postings of their own. */
const RECORD_STATES = ['unreadable', 'duplicate'] as const;
export const LINE_STATES = [...RECORD_STATES, ...POSTING_STATES] as const;
export type LineState = (typeof LINE_STATES)[number];

/** One posting, or one review entry of records. */
export interface ReportLine {
  readonly state: LineState;
  /** Absent for records without a usable key. */
  readonly key: PostingKey | undefined;
  /** The job that the site has for the posting, perhaps in an earlier version. */
  readonly siteJobId: SiteJobId | undefined;
  readonly url: string | undefined;
  /** Since when it is in this state. */
  readonly since: Date;
  /** Why, in the site's words where the site decided. */
  readonly reason: string | undefined;
  readonly problems: readonly Problem[];
  /** Only for records. */
  readonly record: ReportedRecord | undefined;
}

export interface ReportedRecord {
  /** Its number in the feed, from 1; `undefined`: not known. */
  readonly number: number | undefined;
  /** How many records the entry covers. */
  readonly count: number;
  /** The beginning of the record. */
  readonly excerpt: string;
  /** A person has dealt with it. */
  readonly discarded: boolean;
}

export interface LineFilter {
  readonly states: readonly LineState[];
  /** Only what came into its state at this time or later. */
  readonly since: Date | undefined;
  /** Per call of {@link reportLines}. */
  readonly limit?: number;
}

/** As in `countOpen`, which proves that these states add up to what pulls see. */
const CHANGE_STATE = `case
  when c.desired = 'absent' then case when c.state = 'held' then 'held' when c.state = 'discarded' then 'kept'
    when c.state in ('rejected', 'failed') then 'failed_delete' else 'pending_delete' end
  when c.gone then 'grace' when c.state in ('ready', 'sending', 'held') then 'pending' else c.state end`;
const MAPPED_STATE = `case when m.missing_pulls > 0 then 'grace' else 'live' end`;

/** The places where a line can come from: open changes, records, mappings without a change, and postings whose job has ended. */
const CHANGES = `select ${CHANGE_STATE} as state, c.key, m.site_job_id as "siteJobId", m.site_job_url as url, c.since, c.reason,
    null::integer as number, null::integer as count, null as excerpt, false as discarded
  from change c left join mapping m on m.feed = c.feed and m.key = c.key where c.feed = $1`;
const RECORDS = `select p.kind as state, p.key, m.site_job_id as "siteJobId", m.site_job_url as url, p.since,
    jsonb_build_object('message', p.problems->0->>'message', 'problems', p.problems) as reason,
    p.record_number as number, p.records as count, p.excerpt, p.discarded
  from record_problem p left join mapping m on m.feed = p.feed and m.key = p.key where p.feed = $1`;
const MAPPINGS = `select ${MAPPED_STATE} as state, m.key, m.site_job_id as "siteJobId", m.site_job_url as url, m.mapped_at as since,
    null::jsonb as reason, null::integer as number, null::integer as count, null as excerpt, false as discarded
  from mapping m where m.feed = $1 and not exists (select from change c where c.feed = m.feed and c.key = m.key)`;
const ENDED = `select 'expired' as state, e.key, null as "siteJobId", null as url, e.expired_at as since,
    null::jsonb as reason, null::integer as number, null::integer as count, null as excerpt, false as discarded
  from posting_expiry e where e.feed = $1 and ${JOB_HAS_EXPIRED}`;

const BATCH = 1_000;

/**
 * Streams lines within a transaction: records in the order of the feed, then open changes by state and key, then postings whose
 * job has ended, then mappings by key. Memory does not depend on their number.
 */
export async function* reportLines(
  session: Session,
  feed: FeedName,
  { states, since, limit = Number.POSITIVE_INFINITY }: LineFilter,
): AsyncGenerator<ReportLine> {
  const rank = `array_position('{${LINE_STATES.join()}}'::text[], state)`;
  const values = [feed, states, since ?? null];
  let left = limit;
  for (const [cursor, lines, order] of [
    ['report_records', RECORDS, `${rank}, number nulls last, key`],
    ['report_changes', CHANGES, `${rank}, key`],
    ['report_ended', ENDED, 'key'],
    // In the order of the primary key, which saves sorting a million mappings.
    ['report_mappings', MAPPINGS, 'key'],
  ] as const) {
    if (left <= 0) return;
    const most = left === Number.POSITIVE_INFINITY ? '' : `limit ${left}`;
    const select = `select * from (${lines}) line
      where state = any($2::text[]) and ($3::timestamptz is null or since >= $3) order by ${order} ${most}`;
    for await (const rows of inBatches<LineRow>(session, cursor, select, BATCH, values)) {
      left -= rows.length;
      for (const row of rows) yield lineOf(row);
    }
  }
}

/** The columns of all four selects. */
type LineRow = Stored<Omit<ReportLine, 'reason' | 'problems' | 'record'>> & {
  readonly reason: Partial<Reason> | null;
  readonly number: number | null;
  /** Null unless it is of a record, as its beginning. */
  readonly count: number | null;
  readonly excerpt: string | null;
  readonly discarded: boolean;
};

const lineOf = ({ reason, number, count, excerpt, discarded, ...line }: LineRow): ReportLine => ({
  ...withoutNulls<Omit<ReportLine, 'reason' | 'problems' | 'record'>>(line),
  reason: reason?.message ?? reason?.note,
  problems: reason?.problems ?? [],
  record: count === null ? undefined : { number: number ?? undefined, count, excerpt: excerpt ?? '', discarded },
});

/** How many lines are in each state. `records`: how many records the entries of the last two states cover. */
export interface LineCounts {
  readonly lines: Readonly<Record<LineState, number>>;
  readonly records: Readonly<Record<(typeof RECORD_STATES)[number], number>>;
  /** Jobs that the site has for the feed, whatever the states of their postings. */
  readonly onSite: number;
}

export async function countLines(tx: Queryable, feed: FeedName, since?: Date): Promise<LineCounts> {
  const rows = await tx.query<{ state: LineState; n: number; records: number; jobs: number }>(
    `select state, count(*) as n, coalesce(sum(count), 0)::bigint as records, count("siteJobId") as jobs
     from (${CHANGES} union all ${RECORDS} union all ${ENDED} union all ${MAPPINGS}) line
     where $2::timestamptz is null or since >= $2 group by state`,
    [feed, since ?? null],
  );
  const countOf = (state: LineState, count: 'n' | 'records' | 'jobs') =>
    rows.find((row) => row.state === state)?.[count] ?? 0;
  return {
    lines: Object.fromEntries(LINE_STATES.map((state) => [state, countOf(state, 'n')])) as LineCounts['lines'],
    records: { unreadable: countOf('unreadable', 'records'), duplicate: countOf('duplicate', 'records') },
    onSite: POSTING_STATES.reduce((sum, state) => sum + countOf(state, 'jobs'), 0),
  };
}

/** In how many postings of the feed a field has a value. */
export interface FieldCount {
  readonly field: string;
  readonly filled: number;
}

/** Postings whose fields are known, and how many of them have a value in each field. */
export interface FieldCounts {
  readonly postings: number;
  readonly fields: readonly FieldCount[];
}

/** What the feed wants now: open changes, and what the site last accepted for all other postings. */
const CURRENT_FIELDS = `(select fields from change where feed = $1 and desired = 'present' and fields is not null
   union all
   select fields from document d where feed = $1
     and not exists (select from change c where c.feed = d.feed and c.key = d.key)) posting`;

export async function countFields(tx: Queryable, feed: FeedName): Promise<FieldCounts> {
  const [postings] = await tx.query<{ n: number }>(`select count(*) as n from ${CURRENT_FIELDS}`, [feed]);
  const fields = await tx.query<FieldCount & { field: string }>(
    `select f.field, count(*) filter (where f.value ~ '\\S') as filled
     from ${CURRENT_FIELDS}, json_each_text(posting.fields) f(field, value) group by f.field order by f.field`,
    [feed],
  );
  return { postings: postings?.n ?? 0, fields };
}

/** Postings or records with the same problem. One posting may have several problems. */
export interface ReasonCount {
  readonly state: LineState;
  readonly field: string | undefined;
  readonly message: string;
  readonly count: number;
  /** Key of one of them. */
  readonly example: PostingKey | undefined;
}

/** Why postings are not on the site as the feed has them, the most frequent first. */
export async function commonReasons(tx: Queryable, feed: FeedName, limit: number): Promise<readonly ReasonCount[]> {
  const rows = await tx.query<Stored<ReasonCount>>(
    `select state, field, message, sum(n)::bigint as count, min(key) as example from (
       select c.state, p->>'field' as field, coalesce(p->>'message', c.reason->>'message') as message, 1 as n, c.key
       from change c left join lateral jsonb_array_elements(c.reason->'problems') p on true
       where c.feed = $1 and c.state in ('rejected', 'failed', 'in_doubt', 'discarded') and c.desired = 'present' and not c.gone
       union all
       select kind, problems->0->>'field', problems->0->>'message', records, key
       from record_problem where feed = $1 and kind = 'unreadable') reason
     where message is not null group by 1, 2, 3 order by 4 desc, 1, 2, 3 limit $2`,
    [feed, limit],
  );
  return rows.map(withoutNulls<ReasonCount>);
}

export type PostingState = (typeof POSTING_STATES)[number];

export interface PostingFilter {
  readonly states: readonly PostingState[];
  /** Only the posting with this key, that of the site job with this ID, and those of `titled`. */
  readonly keyOrJobId: string | undefined;
  readonly titled?: readonly PostingKey[];
}

export interface PostingPage {
  readonly postings: readonly ReportLine[];
  /** `undefined`: nothing follows. */
  readonly next: PostingKey | undefined;
}

/** These are the states of mappings without a change. */
const QUIET: readonly PostingState[] = ['live', 'grace'];

export async function postingPage(
  db: Queryable,
  feed: FeedName,
  { states, keyOrJobId, titled = [] }: PostingFilter,
  limit: number,
  after?: PostingKey,
): Promise<PostingPage> {
  const parts = [
    CHANGES,
    ...(states.includes('expired') ? [ENDED] : []),
    ...(states.some((state) => QUIET.includes(state)) ? [MAPPINGS] : []),
  ];
  const values = [feed, states, limit + 1, after ?? ''];
  const keys = keyOrJobId === undefined ? undefined : [...(await keysOf(db, feed, keyOrJobId)), ...titled];
  const only = keys === undefined ? '' : ' and key = any($5::text[])';
  // Each part reads the primary key of its table in order, and ends when the page is full.
  const rows = await db.query<LineRow>(
    `select * from (${parts
      .map(
        (part) =>
          `(select * from (${part}) line where key > $4 and state = any($2::text[])${only} order by key limit $3)`,
      )
      .join(' union all ')}) line order by key limit $3`,
    keys === undefined ? values : [...values, keys],
  );
  const postings = rows.slice(0, limit).map(lineOf);
  return { postings, next: rows.length > limit ? postings.at(-1)?.key : undefined };
}

async function keysOf(db: Queryable, feed: FeedName, text: string): Promise<string[]> {
  const found = await db.query<{ key: string }>(
    `select m.key from mapping m where m.feed = $1 and m.site_job_id = $2
       and m.site = (select f.site from feed_state f where f.feed = $1)`,
    [feed, text],
  );
  return [text, ...found.map(({ key }) => key)];
}
