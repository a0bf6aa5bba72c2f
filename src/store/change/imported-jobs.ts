// Postings that are to have a job each, in a temporary table: why one can't have it, whoever says that it should, and what becomes of
// the open changes of those that get theirs.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { addOutcomeCount } from '../pull/pull-history.ts';
import { numberOfTitled } from '../site/kept-values.ts';
import { keepsAttempt, targetReason } from './life-cycle.ts';

/**
 * SQL: why postings can't have these jobs, as rows of `line`, `key` and `message`. A site's jobs are those of its address, whatever its name.
 * @param rows a table with `line`, `feed`, `site`, `key` and `site_job_id`. @param mayHave whether a posting may have the job already
 */
export const refusedJobs = (rows: string, mayHave: boolean): string => `
  with names as (
    select i.site, n.name from (select distinct site from ${rows}) i cross join lateral (
      select i.site as name union select o.site from site_state s join site_state o on o.address = s.address where s.site = i.site) n)
  select i.line, i.key, 'posting ' || i.key || ' is already mapped to job ' || m.site_job_id as message
  from ${rows} i join mapping m on m.feed = i.feed and m.key = i.key
  ${mayHave ? 'where (m.site, m.site_job_id) <> (i.site, i.site_job_id)' : ''}
  union all
  select i.line, i.key, 'job ' || i.site_job_id || ' belongs to posting ' || m.key || ' of feed ' || m.feed
  from ${rows} i join names n on n.site = i.site join mapping m on m.site = n.name and m.site_job_id = i.site_job_id
  where (m.feed, m.key) <> (i.feed, i.key)
  union all
  select i.line, i.key, 'job ' || i.site_job_id || ' belongs, as ' || m.site_job_id || ', to posting ' || m.key || ' of feed ' || m.feed
  from ${rows} i join names n on n.site = i.site join mapping m on m.site = n.name and ${numberOfTitled('m.site_job_id')} = i.site_job_id
  where (m.feed, m.key) <> (i.feed, i.key)
  union all
  select i.line, i.key, 'job ' || i.site_job_id || ' is an orphan of posting ' || s.key || ', about to be deleted'
  from ${rows} i join names n on n.site = i.site join orphan_site_job s on s.site = n.name and s.site_job_id = i.site_job_id
  union all
  select i.line, i.key, 'a request for posting ' || i.key || ' is in flight or in doubt; resolve that first: entry ' || c.id
  from ${rows} i join change c on c.feed = i.feed and c.key = i.key where c.attempt_token is not null and c.found_job_id is null
  union all
  select i.line, i.key, 'feed ' || i.feed || ' no longer has posting ' || i.key || ', so job ' || i.site_job_id ||
    ' would be deleted at once; decide about entry ' || c.id || ' first'
  from ${rows} i join change c on c.feed = i.feed and c.key = i.key
  where c.desired = 'absent' and (c.attempt_token is null or c.found_job_id is not null)
    and not exists (select from mapping m where m.feed = i.feed and m.key = i.key)
  union all
  select i.line, i.key, 'feed ' || i.feed || ' is mirrored into site ' || f.site || ', not into ' || i.site
  from ${rows} i join feed_state f on f.feed = i.feed where f.site <> i.site`;

/** SQL: locks the open changes of the table `imported`, so that none of them is sent until the mappings are committed. */
export const LOCK_IMPORTED =
  'select from change c join imported i on i.feed = c.feed and i.key = c.key order by c.feed, c.key for update of c';

/**
 * The mappings are those of the temporary table `imported`. A worker that has already read "no mapping" holds the old revision, so it
 * cannot claim the create.
 * @param leaving feeds whose policy changes no job: nothing is to be sent for their postings.
 */
export async function adoptImported(session: Queryable, leaving: readonly FeedName[]): Promise<void> {
  if (leaving.length > 0)
    await dropChanges(
      session,
      `using imported i where c.feed = i.feed and c.key = i.key and c.operation = 'create' and c.feed = any($1::text[])`,
      [leaving],
    );
  // That its create was refused says nothing about the job.
  const ended = `(c.found_job_id is not null or (c.state in ('rejected', 'failed') and c.operation = 'create'))`;
  await session.query(
    `update change c set revision = nextval('revision_number'),
       operation = case when c.desired = 'present' then 'update' else 'delete' end,
       state = case when ${ended} then c.target_state else c.state end, attempts = case when ${ended} then 0 else c.attempts end,
       reason = case when not ${ended} or c.invalid then ${targetReason('c')} end, found_job_id = null,
       ${keepsAttempt('c', 'c.found_job_id is null')}
     from imported i where c.feed = i.feed and c.key = i.key`,
  );
  // From now on each feed is known, even if it is renamed before its first pull; and the next pull must read it, changed or not.
  await session.query(
    `insert into feed_state (feed, site) select distinct feed, site from imported
     on conflict (feed) do update set source_version = null`,
  );
}

/**
 * Nothing is to be sent for these changes any more. They count as done for the pull that saw their postings. Returns how many there were.
 * @param which of the changes `c`, in SQL
 */
export async function dropChanges(tx: Queryable, which: string, values: readonly unknown[]): Promise<number> {
  const rows = await tx.query<{ feed: FeedName; counts: boolean }>(
    `delete from change c ${which} returning c.feed, not c.gone and not c.unseen as counts`,
    values,
  );
  await addOutcomeCount(
    tx,
    rows.flatMap(({ feed, counts }) => (counts ? { feed, outcome: 'nothing' } : [])),
  );
  return rows.length;
}
