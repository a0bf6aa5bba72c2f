// Looks how far some feeds are from quiet, without counting what may be a million rows.
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

export interface Progress {
  /** Something may be sent now. */
  readonly due: boolean;
  readonly sending: boolean;
  /** Creates are in doubt for which the site's list may be read: not those for which a person has to say what was found. */
  readonly inDoubt: boolean;
  /** Milliseconds until the next change that waits for its time is due; `undefined`: none waits. */
  readonly nextDueMs: number | undefined;
  /** Outcomes of the feeds' current pulls so far, to see whether anything moves. */
  readonly recorded: number;
}

/** Doubts that the site's list may resolve: not those that are for a person alone. */
const RESOLVES = `found_job_id is null and not_before < 'infinity'`;

/** The last condition on `next` is that of its index. */
export async function readProgress(db: Queryable, feeds: readonly FeedName[]): Promise<Progress> {
  const [row] = await db.query(
    `select
       exists(select from change where feed = any($1::text[]) and state = 'ready' and not gone and not_before <= now()) as due,
       exists(select from change where feed = any($1::text[]) and state = 'sending') as sending,
       exists(select from change where feed = any($1::text[]) and state = 'in_doubt' and ${RESOLVES}) as "inDoubt",
       (select (extract(epoch from min(not_before) - now()) * 1000)::float8 from change
         where feed = any($1::text[]) and state = 'ready' and not gone and not_before > now() and not_before > '-infinity') as next,
       (select coalesce(sum(t.n), 0) from feed_state f join outcome_count t on t.pull = f.current_pull
         where f.feed = any($1::text[])) as recorded`,
    [feeds],
  );
  return {
    due: row?.due,
    sending: row?.sending,
    inDoubt: row?.inDoubt,
    nextDueMs: row?.next ?? undefined,
    recorded: Number(row?.recorded ?? 0),
  };
}

/** How many changes of these feeds are still to be sent. */
export async function countUnsent(db: Queryable, feeds: readonly FeedName[]): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    `select (select count(*) from change where feed = any($1::text[]) and state = 'ready' and not gone)
       + (select count(*) from change where feed = any($1::text[]) and state = 'sending') as n`,
    [feeds],
  );
  return row?.n ?? 0;
}

/** How far the site's doubts about some feeds have come by themselves. */
export interface DoubtProgress {
  readonly open: number;
  /** Those of which the last list check said why they remain. */
  readonly explained: number;
  /** Is another one after each list check that was about any of them. */
  readonly mark: string;
}

export async function readDoubtProgress(
  db: Queryable,
  site: SiteName,
  feeds: readonly FeedName[],
): Promise<DoubtProgress> {
  const [row] = await db.query<DoubtProgress & Record<string, unknown>>(
    `select count(*) as open, count(*) filter (where reason ? 'note') as explained,
       concat_ws(' ', count(*), sum(list_checks), max(not_before)) as mark
     from change where site = $1 and state = 'in_doubt' and ${RESOLVES} and feed = any($2::text[])`,
    [site, feeds],
  );
  return row ?? { open: 0, explained: 0, mark: '' };
}
