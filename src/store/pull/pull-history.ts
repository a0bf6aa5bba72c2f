// Reads the results of the newest pulls of many feeds in one statement, as monitoring asks often.
import type { Message } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import type { PullStatus } from './pull-row.ts';

/** Recent pulls of a feed. */
export interface PullHistory {
  readonly feed: FeedName;
  /** Start of the newest pull; `undefined` if there was none. */
  readonly lastRunAt: Date | undefined;
  /** The newest pull that was proven complete, with its commit time. */
  readonly lastComplete: { readonly pull: number; readonly at: Date } | undefined;
  /** How the newest pulls ended, newest first, without a running one. */
  readonly recent: readonly Exclude<PullStatus, 'running'>[];
  /** Why the newest of them failed; `undefined` if it did not fail. */
  readonly failure: Message | undefined;
}

/** How many pulls of each feed are read. */
export const RECENT_PULLS = 3;

export async function readPullHistories(
  db: Queryable,
  feeds: readonly FeedName[],
): Promise<ReadonlyMap<FeedName, PullHistory>> {
  const rows = await db.query(
    `select f.feed, l.started_at as last_run, c.id as complete_pull, c.at as complete_at, r.statuses, r.notes
     from unnest($1::text[]) f(feed)
     left join lateral (select started_at from pull p where p.feed = f.feed order by id desc limit 1) l on true
     left join lateral (select id, coalesce(committed_at, finished_at, started_at) as at from pull p
       where p.feed = f.feed and p.complete order by id desc limit 1) c on true
     left join lateral (select array_agg(status order by id desc) as statuses, array_agg(notes->0 order by id desc) as notes
       from (select id, status, notes from pull p where p.feed = f.feed and status <> 'running'
             order by id desc limit ${RECENT_PULLS}) newest) r on true`,
    [feeds],
  );
  return new Map(
    rows.map((row) => [
      row.feed,
      {
        feed: row.feed,
        lastRunAt: row.last_run ?? undefined,
        lastComplete: row.complete_pull === null ? undefined : { pull: row.complete_pull, at: row.complete_at },
        recent: row.statuses ?? [],
        failure: row.statuses?.[0] === 'failed' ? (row.notes?.[0] ?? 'no reason recorded') : undefined,
      },
    ]),
  );
}
