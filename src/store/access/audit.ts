// Records who did what in review, in the same transaction as the action.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { endedDetail } from '../locks/pauses.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { columnsOf, type Queryable, readColumn } from '../postgres/database.ts';

/** One action of a person. `detail` explains it later. */
export interface AuditedAction {
  readonly actor: string;
  readonly action: string;
  readonly feed?: FeedName;
  readonly key?: PostingKey;
  readonly detail?: object;
}

export async function auditAction(tx: Queryable, action: AuditedAction): Promise<void> {
  await tx.query('insert into audit (actor, action, feed, key, detail) values ($1, $2, $3, $4, $5)', [
    action.actor,
    action.action,
    action.feed ?? null,
    action.key ?? null,
    action.detail === undefined ? null : toJsonb(action.detail),
  ]);
}

/** Records several actions of one person in one statement. */
export async function auditActions(
  tx: Queryable,
  actor: string,
  action: string,
  entries: readonly Required<Pick<AuditedAction, 'feed' | 'key' | 'detail'>>[],
): Promise<void> {
  await tx.query(
    `insert into audit (actor, action, feed, key, detail)
     select $1, $2, * from unnest($3::text[], $4::text[], $5::jsonb[])`,
    [actor, action, ...columnsOf(entries, 'feed', 'key'), entries.map(({ detail }) => toJsonb(detail))],
  );
}

/** An action as listed. */
export interface AuditRow {
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  /** Why, if the person said so. */
  readonly reason?: string;
}

/** Newest actions on one posting first. */
export async function recentActions(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  limit: number,
): Promise<AuditRow[]> {
  const rows = await db.query<{ at: Date; actor: string; action: string; reason: string | null }>(
    `select at, actor, action, detail->>'reason' as reason from audit
     where feed = $1 and key = $2 order by id desc limit $3`,
    [feed, key, limit],
  );
  return rows.map(({ reason, ...row }) => ({ ...row, ...(reason === null ? {} : { reason }) }));
}

type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** What explains an action; which parts it has depends on the action and on the version that recorded it. */
type AuditDetail = { readonly [part: string]: JsonValue };

/** An action as the page of all of them shows it. */
export interface Activity {
  readonly id: number;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly feed: FeedName | null;
  readonly key: PostingKey | null;
  readonly detail: AuditDetail | null;
}

export interface ActivityFilter {
  readonly feed: string | undefined;
  readonly actor: string | undefined;
  /** Only older ones than this. */
  readonly before: number | undefined;
  /** Only what was done by the action that wrote this entry. */
  readonly of?: number | undefined;
}

/** Newest first. Only what the filter names is compared, so that the index of that is used. */
export function listActivity(db: Queryable, filter: ActivityFilter, limit: number): Promise<Activity[]> {
  const values: unknown[] = [limit];
  const where = [
    ['feed =', filter.feed],
    ['actor =', filter.actor],
    ['id <', filter.before],
  ].flatMap(([condition, value]) => (value === undefined ? [] : [`${condition} $${values.push(value)}`]));
  if (filter.of !== undefined) {
    const named = `(select %s from audit o where o.id = $${values.push(filter.of)})`;
    const same = ['at', 'actor', 'action']
      .map((column) => `${column} = ${named.replace('%s', `o.${column}`)}`)
      .join(' and ');
    const bulk = `detail ? 'bulk' and detail->>'bulk' = ${named.replace('%s', "o.detail->>'bulk'")}`;
    where.push(`(${bulk} or ${same})`);
  }
  return db.query<Activity>(
    `select id, at, actor, action, feed, key, detail from audit
     ${where.length === 0 ? '' : `where ${where.join(' and ')}`} order by id desc limit $1`,
    values,
  );
}

/** The feeds for which somebody asked for a pull within the last day, and of which no pull that began since then was committed. */
export const feedsToPullYet = (db: Queryable, feeds: readonly FeedName[]): Promise<FeedName[]> =>
  readColumn<FeedName>(
    db,
    `select distinct a.feed from audit a
     where a.at > now() - interval '1 day' and a.feed = any($1::text[]) and a.action in ('sync', 'pull')
       and a.detail ? 'pull' and not exists (select from pull p where p.feed = a.feed and p.committed_at is not null
         and (p.started_at > a.at or p.id = (a.detail->>'pull')::bigint))
     order by a.feed`,
    [feeds],
  );

// Reads what was done, one row per action: of people, of their rules, of pulls that deleted something, and alerts.

export const ACTION_KINDS = ['person', 'rule', 'pull', 'alert', 'program'] as const;

/** One action, on however many postings. */
export interface RecordedAction {
  readonly kind: (typeof ACTION_KINDS)[number];
  /** Its place among actions of the same moment. */
  readonly place: string;
  /** The time to the microsecond, as text. */
  readonly moment: string;
  readonly at: Date;
  /** Null: nobody, as of a pull. */
  readonly actor: string | null;
  readonly action: string;
  /** How many postings or entries it reached. */
  readonly count: number;
  /** Null: of several, or of none. */
  readonly feed: FeedName | null;
  /** Null unless it reached one posting. */
  readonly key: PostingKey | null;
  /** What explains an action on one posting; for several postings, what all of them have in common. */
  readonly detail: Activity['detail'];
  /** The newest entry of the activity that it wrote. */
  readonly activity: number | null;
  readonly bulk: number | null;
  readonly pull: number | null;
}

export interface ActionFilter {
  readonly feed: string | undefined;
  readonly actor: string | undefined;
  /** Only older ones than this. */
  readonly after: Pick<RecordedAction, 'moment' | 'place'> | undefined;
}

/** Entries that are no part of an action on many; the index `audit_by_moment` has the same condition. */
const ONE_BY_ONE = `coalesce(not a.detail ? 'bulk' or a.action like '% bulk', true)`;
/** An entry of what nobody did. */
const BY_ITSELF = `coalesce(a.detail ? 'automatic', false)`;
/** Pulls begin in the order of their numbers, except for some that begin together. */
const TOGETHER = 20;

/** Newest first. */
export function recordedActions(
  db: Queryable,
  { feed, actor, after }: ActionFilter,
  limit: number,
): Promise<RecordedAction[]> {
  const own = `${ONE_BY_ONE} and ($2::text is null or a.feed = $2) and ($3::text is null or a.actor = $3)`;
  return db.query<RecordedAction>(
    `with recursive moments(at, n) as (
       select (select max(a.at) from audit a where ${own} and a.at <= $4::timestamptz), 1
       union all
       select (select max(a.at) from audit a where ${own} and a.at < m.at), m.n + 1 from moments m
       where m.at is not null and m.n <= $1 + 1),
     alone as (
       select case when bool_or(${BY_ITSELF}) then 'program' when max(a.detail->>'rule') is null then 'person' else 'rule' end as kind, 'a' || lpad(max(a.id)::text, 18, '0') as place,
         a.at, case when not bool_or(${BY_ITSELF}) then a.actor end as actor, a.action, count(*) as count, case when count(distinct a.feed) = 1 then min(a.feed) end as feed,
         case when count(*) = 1 then min(a.key) end as key,
         case when count(*) = 1 then (array_agg(a.detail))[1]
           when max(a.detail->>'reason') is not null then jsonb_build_object('reason', max(a.detail->>'reason')) end as detail,
         max(a.id) as activity, null::bigint as bulk, null::bigint as pull
       from moments m join audit a on a.at = m.at where ${own} group by a.at, a.actor, a.action),
     many as (
       select case when b.rule is null then 'person' else 'rule' end as kind, 'b' || lpad(b.id::text, 18, '0') as place,
         b.started_at as at, b.actor, b.action, b.done as count, coalesce(one.feed, b.detail->'query'->>'feed') as feed, one.key,
         coalesce(one.detail, jsonb_strip_nulls(jsonb_build_object('reason', b.detail->'reason', 'edit', b.detail->'edit', 'rule', b.rule,
           'left_alone', nullif(b.skipped, 0), 'to_do', nullif(b.total - b.done - b.skipped, 0)))) as detail,
         one.id as activity, b.id as bulk, null::bigint as pull
       from bulk_action b left join lateral (select a.id, a.feed, a.key, a.detail from audit a
         where b.done = 1 and a.detail ? 'bulk' and a.detail->>'bulk' = b.id::text and a.action not like '% bulk' limit 1) one on true
       where b.started_at <= $4::timestamptz and ($3::text is null or b.actor = $3)
         and ($2::text is null or b.detail->'query'->>'feed' = $2
           or exists (select from audit a where a.detail ? 'bulk' and a.detail->>'bulk' = b.id::text and a.feed = $2))
       order by b.started_at desc limit $1 + ${TOGETHER}),
     deleting as (
       select c.pull, sum(c.n) as n from outcome_count c join pull p on p.id = c.pull
       where c.outcome = 'deleted' and $3::text is null and p.undoes is null and p.started_at <= $4::timestamptz
         and ($2::text is null or p.feed = $2)
       group by c.pull having sum(c.n) > 0 order by c.pull desc limit $1 + ${TOGETHER}),
     found as (
       select * from alone union all select * from many
       union all
       select 'pull', 'p' || lpad(p.id::text, 18, '0'), p.started_at, null, 'delete', d.n, p.feed, null, null, null, null, p.id
       from deleting d join pull p on p.id = d.pull
       union all
       (select 'alert', 'm' || lpad(s.seq::text, 18, '0'), s.created_at, null, s.payload->>'type', 1, s.payload->'data'->>'feed', null,
          jsonb_build_object('destination', s.destination, 'message', s.payload->'data'->'message', 'state', s.state), null, null, null
        from alert_message s where s.topic = 'alert' and $3::text is null and s.created_at <= $4::timestamptz
          and ($2::text is null or s.payload->'data'->>'feed' = $2)
        order by s.created_at desc limit $1 + ${TOGETHER})
       union all
       select 'program', 'e' || lpad(e.id::text, 18, '0'), e.until, null, 'end pause', 1, e.feed, null, ${endedDetail('e')}, null, null, null
       from pause e where e.until <= now() and $3::text is null and ($2::text is null or e.feed = $2))
     select kind, place, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment, at, actor, action, count::bigint, feed, key,
       detail, activity, bulk, pull
     from found where (at, place) < ($4::timestamptz, $5) order by at desc, place desc limit $1`,
    [limit, feed ?? null, actor ?? null, after?.moment ?? 'infinity', after?.place ?? ''],
  );
}
