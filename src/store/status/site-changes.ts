// Reads what was done on the sites, newest first: each accepted request with its posting, its pull and who had a hand in it.
import type { FeedName, PostingKey, SiteJobId } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

export const CHANGE_OPERATIONS = ['create', 'update', 'delete'] as const;
export type ChangeOperation = (typeof CHANGE_OPERATIONS)[number];

/** One change of a job on its site. */
export interface SiteChange {
  /** The number of its request; a later one is larger. */
  readonly id: number;
  readonly at: Date;
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly operation: ChangeOperation;
  readonly siteJobId: SiteJobId | null;
  /** The address of a job that the posting still has. */
  readonly url: string | null;
  /** Null if it is not kept any more. */
  readonly title: string | null;
  /** What an update has set. */
  readonly fields: readonly string[];
  /** `gone`: the site no longer had the job that was to be deleted. */
  readonly outcome: string;
  readonly pull: number | null;
  /** The pull that this one has undone, and who undid it. */
  readonly undoes: number | null;
  readonly undoneBy: string | null;
  /** Why a job was deleted: its posting had expired, or no posting had the job. */
  readonly cause: 'expired' | 'surplus' | null;
  /** What a person, or a rule of one, had decided about the posting since the change before. */
  readonly act: { readonly actor: string; readonly action: string; readonly rule: number | null } | null;
  /** The change of the posting before this one, if it is still recorded. */
  readonly former: ChangeOperation | null;
}

export interface SiteChangeFilter {
  readonly feed?: FeedName | undefined;
  readonly operation?: ChangeOperation | undefined;
  readonly since?: Date | undefined;
  /** Only before this moment. */
  readonly until?: Date | undefined;
}

/** SQL: whether the request `of` has changed the job of its posting. The index `request_by_change` has the same condition. */
const CHANGED = (of: string): string => `coalesce(${of}.changed,
  ${of}.operation = 'create' and ${of}.outcome = 'created' or ${of}.operation = 'update' and ${of}.outcome in ('created', 'accepted')
    or ${of}.operation = 'delete' and ${of}.outcome in ('accepted', 'gone'))`;

/** What makes a posting be sent. */
const ACTS = [
  'edit',
  'undo edit',
  'approve',
  'retry',
  'reopen',
  'settle',
  'replace job',
  'renew',
  'set again what differs on the site',
] as const;

/** @param before only what is older than the change with this number */
export function siteChanges(
  db: Queryable,
  { feed, operation, since, until }: SiteChangeFilter,
  limit: number,
  before: number | undefined,
): Promise<SiteChange[]> {
  const values: unknown[] = [limit];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const place = before === undefined ? undefined : parameter(before);
  const bounds = [
    CHANGED('q'),
    ...(feed === undefined ? [] : [`q.feed = ${parameter(feed)}`]),
    ...(since === undefined ? [] : [`q.at >= ${parameter(since)}`]),
    ...(until === undefined ? [] : [`q.at < ${parameter(until)}`]),
    // The time of a row is more precise than a `Date`.
    ...(place === undefined ? [] : [`(q.at, q.id) < ((select at from request where id = ${place}), ${place}::bigint)`]),
  ].join(' and ');
  const newest = (
    only: string,
  ) => `(select q.id, q.at, q.feed, q.key, q.operation, q.site_job_id, q.title, q.fields, q.outcome,
      q.pull, q.cause from request q where ${bounds}${only} order by q.at desc, q.id desc limit $1)`;
  // An index has the changes of a feed by operation; all of them are in the order of another one.
  const named = operation === undefined ? CHANGE_OPERATIONS : [operation];
  const read =
    feed === undefined && operation === undefined
      ? newest('')
      : named.map((each) => newest(` and q.operation = '${each}'`)).join(' union all ');
  return db.query<SiteChange>(
    `with page as materialized (select * from (${read}) found order by at desc, id desc limit $1)
     select p.id, p.at, p.feed, p.key, p.operation, p.site_job_id as "siteJobId", m.site_job_url as url,
       coalesce(p.title, d.fields->>'title', later.title, f.title) as title, p.fields, p.outcome, p.pull, w.undoes, u.actor as "undoneBy",
       p.cause, act.shown as act, former.operation as former
     from page p
     left join pull w on w.id = p.pull
     left join mapping m on m.feed = p.feed and m.key = p.key and m.site_job_id = p.site_job_id
     left join document d on d.feed = p.feed and d.key = p.key
     left join lateral (select o.operation, o.at from request o
       where o.feed = p.feed and o.key = p.key and o.id < p.id and ${CHANGED('o')} order by o.id desc limit 1) former on true
     left join lateral (
       select jsonb_build_object('actor', a.actor, 'action', a.action, 'rule', (a.detail->>'rule')::bigint) as shown from audit a
       where a.feed = p.feed and a.key = p.key and a.at <= p.at and (former.at is null or a.at > former.at)
         and a.action = any(array[${ACTS.map((act) => `'${act}'`).join(', ')}]) order by a.id desc limit 1) act on true
     left join lateral (select a.actor from audit a where w.undoes is not null and a.feed = p.feed and a.action = 'undo pull'
       and (a.detail->>'by')::bigint = w.id order by a.id desc limit 1) u on true
     left join lateral (select l.title from request l where p.title is null and d.key is null and l.feed = p.feed and l.key = p.key
       and l.id > p.id and l.operation = 'delete' and l.title is not null order by l.id limit 1) later on true
     left join lateral (select o.fields->>'title' as title from former_document o where p.title is null and d.key is null
       and later.title is null and o.feed = p.feed and o.pull = p.pull and o.key = p.key and o.whole order by o.id limit 1) f on true
     order by p.at desc, p.id desc`,
    values,
  );
}
