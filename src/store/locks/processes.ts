// Stores the configuration of each live process, to know which feeds are served and where configurations differ.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { LIVE_WORKERS } from './live-workers.ts';

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

/** Name of the part for a site's token. */
export const tokenPart = (site: SiteName): string => `token of site ${site}`;

/** A live process. */
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
export async function noteProcess(
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
  return db.query<LiveProcess & Record<string, unknown>>(
    `select p.worker, p.command, p.host, p.pid, p.parts, p.started_at as "startedAt"
     from process p join (${LIVE_WORKERS}) live on live.worker = p.worker order by p.started_at, p.worker`,
  );
}

/** Query for the feeds that a live process is configured with, as `feed`. */
export const SERVED_FEEDS = `select feed from process_feed join (${LIVE_WORKERS}) live using (worker)`;

/** The feeds that live processes are configured with. */
export const servedFeeds = async (db: Queryable): Promise<ReadonlySet<FeedName>> =>
  new Set((await db.query<{ feed: FeedName }>(SERVED_FEEDS)).map(({ feed }) => feed));

/**
 * Feeds of a site with due changes that this or another live process is configured with. Changes of other feeds, and of
 * retired feeds, are not sent.
 */
export async function feedsToSend(db: Queryable, site: SiteName, own: readonly FeedName[]): Promise<FeedName[]> {
  const rows = await db.query<{ feed: FeedName }>(
    `select f.feed from (
       select feed from unnest($2::text[]) own(feed)
       union
       select feed from process_feed join (${LIVE_WORKERS}) live using (worker) where site = $1) f
     where not exists (select from feed_state r where r.feed = f.feed and r.retired_at is not null) and exists (select from change c
       where c.feed = f.feed and c.site = $1 and c.state = 'ready' and not c.gone and c.not_before <= now())
     order by f.feed`,
    [site, own],
  );
  return rows.map(({ feed }) => feed);
}
