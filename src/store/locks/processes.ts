// Live processes: each holds a lock under its number while it lives, and stores its configuration, so that others know what it serves.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Database, type Queryable, readColumn, readNumber, type Session } from '../postgres/database.ts';
import { keepAlive } from './advisory-locks.ts';
import { isPaused } from './pauses.ts';

/** First half of the two-part advisory locks of live workers; the second half is the worker number. */
export const WORKER_LEASE_LOCK = 0x6a6d;

/** A live process sends a heartbeat every few seconds (`keepAlive`); one that is silent for this long has stalled. */
const STALLED_SECONDS = 30;

/**
 * Query for the numbers of live processes that have not stalled, as `worker`. A stopped process keeps its lock, as it may
 * continue, but must not keep others from taking over its work.
 */
export const RUNNING_WORKERS = `select l.objid::bigint as worker from pg_locks l left join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.classid = ${WORKER_LEASE_LOCK} and l.granted
    and l.database = (select oid from pg_database where datname = current_database())
    and not coalesce(a.state = 'idle'
      and a.state_change < clock_timestamp() - interval '${STALLED_SECONDS} seconds', false)`;

/** Query for the keys of the advisory locks of one 64-bit key that live processes hold, as text in `key`. */
export const HELD_LOCK_KEYS = `select ((classid::bigint << 32) | objid::bigint)::text as key from pg_locks
  where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())`;

/** Query for the numbers of all live processes, as `worker`, to be joined. */
export const LIVE_WORKERS = `select objid::bigint as worker from pg_locks
  where locktype = 'advisory' and classid = ${WORKER_LEASE_LOCK} and granted
    and database = (select oid from pg_database where datname = current_database())`;

/** How a process describes itself. */
export interface ProcessAbout {
  /** The command that it runs, for example `start`. */
  readonly command: string;
  readonly host: string;
  readonly pid: number;
  /** A digest of each configured part by its name, for example `feed acme`; contains no secrets. */
  readonly parts: Readonly<Record<string, string>>;
  /** The site of each configured feed. */
  readonly feeds: ReadonlyMap<FeedName, SiteName>;
}

export const tokenPart = (site: SiteName): string => `token of site ${site}`;

export interface LiveProcess extends Omit<ProcessAbout, 'feeds'> {
  readonly worker: number;
  /** By the database clock. */
  readonly startedAt: Date;
}

/**
 * Records a process that holds its lock, and removes dead ones.
 * @param startedAt when it started, if recorded before: its row may have been removed while its connection was lost.
 * @returns when it started, by the database clock; stored to the millisecond, like all JavaScript dates, so that both are equal.
 */
async function noteProcess(
  db: Database,
  worker: number,
  about: ProcessAbout,
  startedAt: Date | undefined,
): Promise<Date> {
  return db.transaction(async (tx) => {
    await tx.query(
      `delete from process where worker in (
         select worker from process where worker not in (${LIVE_WORKERS}) for update skip locked)`,
    );
    const { command, host, pid, parts, feeds } = about;
    const [row] = await tx.query<{ at: Date }>(
      `insert into process (worker, command, host, pid, parts, started_at)
       values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, date_trunc('milliseconds', clock_timestamp())))
       on conflict (worker) do update set command = excluded.command returning started_at as at`,
      [worker, command, host, pid, toJsonb(parts), startedAt ?? null],
    );
    await tx.query(
      `insert into process_feed (worker, feed, site) select $1, * from unnest($2::text[], $3::text[])
       on conflict do nothing`,
      [worker, [...feeds.keys()], [...feeds.values()]],
    );
    return row?.at ?? new Date();
  });
}

/** All live processes, oldest first. */
export async function liveProcesses(db: Queryable): Promise<LiveProcess[]> {
  return db.query<LiveProcess>(
    `select p.worker, p.command, p.host, p.pid, p.parts, p.started_at as "startedAt"
     from process p join (${LIVE_WORKERS}) live on live.worker = p.worker order by p.started_at, p.worker`,
  );
}

/** Query for the feeds that a live process is configured with, as `feed`. */
export const SERVED_FEEDS = `select feed from process_feed join (${LIVE_WORKERS}) live using (worker)`;

/** The feeds that live processes are configured with. */
export const servedFeeds = async (db: Queryable): Promise<ReadonlySet<FeedName>> =>
  new Set(await readColumn<FeedName>(db, SERVED_FEEDS));

/**
 * Feeds of a site with due changes that this or another live process is configured with. Changes of other feeds, of retired feeds,
 * and of what a person has paused, are not sent.
 */
export const feedsToSend = (db: Queryable, site: SiteName, own: readonly FeedName[]): Promise<FeedName[]> =>
  readColumn<FeedName>(
    db,
    `select f.feed from (
       select feed from unnest($2::text[]) own(feed)
       union
       select feed from process_feed join (${LIVE_WORKERS}) live using (worker) where site = $1) f
     where not exists (select from feed_state r where r.feed = f.feed and r.retired_at is not null)
       and not ${isPaused('f.feed', '$1')} and exists (select from change c
       where c.feed = f.feed and c.site = $1 and c.state = 'ready' and not c.gone and c.not_before <= now())
     order by f.feed`,
    [site, own],
  );

/** A live worker's number, and the lock that proves it alive. */
export interface WorkerLease {
  readonly worker: number;
  /** By the database clock. */
  readonly startedAt: Date;
  leave(): Promise<void>;
}

/**
 * Takes a number and holds its lock until the process leaves or dies; reconnects when the connection is lost. Meanwhile
 * its attempts may be taken for a dead worker's: creates become doubts, which its reports still resolve.
 * @param about shown to other processes while this one lives.
 */
export async function enterAsWorker(
  db: Database,
  about: ProcessAbout,
  onTrouble: (error: Error) => void,
): Promise<WorkerLease> {
  const [row] = await db.query<{ n: number }>(`select nextval('worker_number') as n`);
  const worker = row?.n ?? 0;
  let session: Session | undefined;
  let stopKeepAlive = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  let left = false;
  let startedAt: Date | undefined;

  async function hold(): Promise<void> {
    const opened = await db.session((error, lost) => {
      onTrouble(error);
      if (session !== lost) return;
      session = undefined;
      stopKeepAlive();
      reopenLater();
    });
    session = opened;
    try {
      // A connection that opens after the process has left would keep the process from ending.
      if (!left) await opened.query('select pg_advisory_lock($1, $2)', [WORKER_LEASE_LOCK, worker]);
      if (!left) startedAt = await noteProcess(db, worker, about, startedAt);
    } catch (error) {
      await end(opened);
      throw error;
    }
    if (left) return end(opened);
    if (session === opened) stopKeepAlive = keepAlive(opened, db.lockTiming);
  }
  async function end(opened: Session): Promise<void> {
    if (session === opened) session = undefined;
    await opened.end().catch(() => undefined);
  }
  function reopenLater(): void {
    if (left || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      hold().catch((error: Error) => {
        if (left) return;
        onTrouble(error);
        reopenLater();
      });
    }, 1_000);
    timer.unref();
  }

  async function leave(): Promise<void> {
    left = true;
    clearTimeout(timer);
    stopKeepAlive();
    if (session !== undefined) await end(session);
  }

  try {
    await hold();
  } catch (error) {
    // A loss that was noticed would have the lease renewed, for a worker that never began.
    await leave();
    throw error;
  }
  return { worker, startedAt: startedAt ?? new Date(), leave };
}

/** How many sending processes are alive, including this one. */
export const countWorkers = (db: Queryable): Promise<number> =>
  readNumber(db, `select count(*) as n from (${LIVE_WORKERS}) live`);
