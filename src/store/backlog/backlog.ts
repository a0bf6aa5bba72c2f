// Reads the backlog: in sending order, chunk by chunk, for the bounded window of the queue, and how far feeds are from idle.

import { type CreateCircumstances, sendableCreates } from '../../plan/next-request.ts';
import { type FeedName, type PostingKey, postingKey, type SiteName } from '../../posting/identifiers.ts';
import { type Queryable, readNumber, type Stored } from '../postgres/database.ts';
import { noSearchIsDue } from '../site/ahead-signs.ts';
import { askedCreates, isAsked, sendable } from './open-counts.ts';

/** Where reading stopped: the rank of the operation (0 delete, 1 create, 2 update) and the change's ID. */
export interface BacklogCursor {
  readonly rank: number;
  readonly id: number;
}

/** Changes of one feed that may be sent, after the cursor: deletes, then creates, then updates, oldest first. */
export async function readReady(
  db: Queryable,
  site: SiteName,
  feed: FeedName,
  after: BacklogCursor | undefined,
  limit: number,
): Promise<{ readonly key: PostingKey; readonly cursor: BacklogCursor }[]> {
  const [found] = await db.query<CreateCircumstances>(
    `select f.feed is null or f.site_checked_at is not null as "isSearched", not (${noSearchIsDue('$2')}) as "searchIsDue",
       ${askedCreates('f')} as asked
     from (select $1::text as feed) own left join feed_state f using (feed)`,
    [feed, site],
  );
  const rows = await db.query<{ key: string; rank: number; id: number }>(
    `select key, ${SENDING_RANK} as rank, id from change c
     where feed = $1 and state = 'ready' and not gone and not_before <= now() and (${SENDING_RANK}, id) > ($2::int, $3::bigint)
       and ${sendable('c', sendableCreates(found as CreateCircumstances))}
     order by ${SENDING_RANK}, id limit $4`,
    [feed, after?.rank ?? -1, after?.id ?? 0, limit],
  );
  return rows.map((row) => ({ key: postingKey(row.key), cursor: { rank: row.rank, id: row.id } }));
}

export interface Progress {
  /** Something may be sent now. */
  readonly due: boolean;
  /** Requests are under way, by whatever process, or this one's are taken for a dead process's. */
  readonly sending: boolean;
  /** Creates are in doubt that a list check may resolve; excludes those that need a person. */
  readonly inDoubt: boolean;
  /** Milliseconds until the next delayed change is due; `undefined` if none is delayed. */
  readonly nextDueMs: number | undefined;
  /** Outcomes recorded for the feeds' current pulls, which shows whether anything progresses. */
  readonly recorded: number;
}

/** Doubts that a list check may resolve; excludes those that need a person. */
const RESOLVES = `found_job_id is null and not_before < 'infinity'`;

/** Those that are waited for: in `parameter` is since when, or null. */
const awaited = (parameter: string): string =>
  `state = 'in_doubt' and ${RESOLVES} and attempt_started >= coalesce(${parameter}::timestamptz, '-infinity')`;

/**
 * Attempts of a worker that lost its lease count as those of a dead one, until it has recorded what became of them. This
 * process knows that it lives: $2 is its worker.
 */
const OWN_ATTEMPT = `attempt_worker = $2 and reason->>'kind' = 'orphaned'`;

/** The state of feeds whose keys seem to have changed: their creates wait for a person, or some of them. */
const REKEYED = `rekeyed as materialized (
  select feed, rekey_since, rekey_all from feed_state where feed = any($1::text[]) and rekey_since is not null)`;

/** As in the index of the backlog. */
export const SENDING_RANK = `(case operation when 'delete' then 0 when 'create' then 1 else 2 end)`;

interface ProgressRow {
  readonly due: boolean;
  readonly sending: boolean;
  readonly inDoubt: boolean;
  readonly next: number | null;
  /** A sum of bigints is numeric, which the driver returns as text. */
  readonly recorded: string;
}

/**
 * The last condition on `next` matches that of its index.
 * @param worker the number of this process's worker: see `WorkerLease`
 * @param doubtsSince by the database clock: creates in doubt that were sent before do not count
 */
export async function readProgress(
  db: Queryable,
  feeds: readonly FeedName[],
  worker: number,
  doubtsSince?: Date,
): Promise<Progress> {
  const [row] = await db.query<ProgressRow>(
    `with ${REKEYED} select
       exists(select from change where feed = any($1::text[]) and ${SENDING_RANK} in (0, 2) and state = 'ready' and not gone
           and not_before <= now())
         or exists(select from unnest($1::text[]) f(feed) join change c on c.feed = f.feed and ${SENDING_RANK} = 1 and c.state = 'ready'
             and not c.gone and c.not_before <= now() left join rekeyed r on r.feed = f.feed
           where not ${isAsked('c', 'r')}) as due,
       exists(select from change where feed = any($1::text[]) and state = 'sending')
         or exists(select from change where feed = any($1::text[]) and state = 'in_doubt' and ${OWN_ATTEMPT}) as sending,
       exists(select from change where feed = any($1::text[]) and ${awaited('$3')}) as "inDoubt",
       (select (extract(epoch from min(not_before) - now()) * 1000)::float8 from change c
         where feed = any($1::text[]) and state = 'ready' and not gone and not_before > now() and not_before > '-infinity'
           and not_before < 'infinity'
           and (operation <> 'create' or not exists (select from rekeyed r where r.feed = c.feed and ${isAsked('c', 'r')}))) as next,
       (select coalesce(sum(t.n), 0) from feed_state f join outcome_count t on t.pull = f.current_pull
         where f.feed = any($1::text[])) as recorded`,
    [feeds, worker, doubtsSince ?? null],
  );
  return {
    due: row?.due === true,
    sending: row?.sending === true,
    inDoubt: row?.inDoubt === true,
    nextDueMs: row?.next ?? undefined,
    recorded: Number(row?.recorded ?? 0),
  };
}

/** How many changes of these feeds remain to be sent. */
export const countUnsent = (db: Queryable, feeds: readonly FeedName[]): Promise<number> =>
  readNumber(
    db,
    `select (select count(*) from change where feed = any($1::text[]) and state = 'ready' and not gone)
       + (select count(*) from change where feed = any($1::text[]) and state = 'sending') as n`,
    [feeds],
  );

/**
 * Whether a worker would find anything to do for these feeds of a site: changes to send, now or later, those under way or in doubt of
 * whatever feed, or jobs to delete that no posting owns.
 */
export async function hasWork(db: Queryable, site: SiteName, feeds: readonly FeedName[]): Promise<boolean> {
  const [row] = await db.query<{ has: boolean }>(
    `select exists (select from unnest($2::text[]) f(feed) join change c on c.feed = f.feed where c.state = 'ready' and not c.gone)
       or exists (select from change where site = $1 and state in ('sending', 'in_doubt'))
       or exists (select from orphan_site_job where site = $1) as has`,
    [site, feeds],
  );
  return row?.has !== false;
}

/** Progress of a site's doubts that need no person. */
export interface DoubtProgress {
  readonly open: number;
  /** Doubts that the last list check could not resolve, with the reason recorded. */
  readonly explained: number;
  /** Doubts whose next list check is due, unless they are too young. */
  readonly due: number;
  /** When the next list check is due; negative: by now. `undefined`: there are no doubts. */
  readonly nextDueMs?: number | undefined;
  /** Changes with each list check that covered any of them. */
  readonly mark: string;
}

export async function readDoubtProgress(
  db: Queryable,
  site: SiteName,
  feeds: readonly FeedName[],
  since?: Date,
): Promise<DoubtProgress> {
  const [row] = await db.query<Stored<DoubtProgress>>(
    // Up to version 16, Postgres cannot subtract times that are infinite.
    `select count(*) as open, ((extract(epoch from min(not_before)) - extract(epoch from clock_timestamp())) * 1000)::float8 as "nextDueMs", count(*) filter (where reason ? 'note') as explained,
       count(*) filter (where not_before <= clock_timestamp()) as due,
       concat_ws(' ', count(*), sum(list_checks), max(not_before)) as mark
     from change where site = $1 and feed = any($2::text[]) and ${awaited('$3')}`,
    [site, feeds, since ?? null],
  );
  return { ...(row ?? { open: 0, explained: 0, due: 0, mark: '' }), nextDueMs: row?.nextDueMs ?? undefined };
}
