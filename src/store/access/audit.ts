// Records who did what in review, in the same transaction as the action.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';

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
    [
      actor,
      action,
      entries.map(({ feed }) => feed),
      entries.map(({ key }) => key),
      entries.map(({ detail }) => toJsonb(detail)),
    ],
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
  /** Only what the action did that wrote this entry. */
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

/** Of these feeds, those for which somebody asked, within the last day, for a pull, and of which none that began since then was committed. */
export async function feedsToPullYet(db: Queryable, feeds: readonly FeedName[]): Promise<FeedName[]> {
  const rows = await db.query<{ feed: FeedName }>(
    `select distinct a.feed from audit a
     where a.at > now() - interval '1 day' and a.feed = any($1::text[]) and a.action in ('sync', 'pull')
       and a.detail ? 'pull' and not exists (select from pull p where p.feed = a.feed and p.committed_at is not null
         and (p.started_at > a.at or p.id = (a.detail->>'pull')::bigint))
     order by a.feed`,
    [feeds],
  );
  return rows.map(({ feed }) => feed);
}
