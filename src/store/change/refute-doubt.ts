// Ends a create in doubt whose job the site did not make: in_doubt → the target state, or failed if it was tried too often.
import { afterRefutation } from '../../plan/after-attempt.ts';
import { plural } from '../../plan/plural.ts';
import type { SiteJobId } from '../../posting/identifiers.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { changeReason } from './change-reason.ts';
import type { Doubt } from './doubt.ts';
import { targetReason, targetState } from './target-state.ts';

/**
 * Resolves a doubt: the site did not make the job. The latest version is sent; a posting that went away is dropped.
 * @param mostTries how often one version is tried before a person must decide; Infinity if a person asked to try again.
 * @returns whether it was still in doubt.
 */
export const refuteDoubt = (db: Database, doubt: Doubt, mostTries: number): Promise<boolean> =>
  db.transaction((tx) => refuteDoubtWithin(tx, doubt, mostTries));

/** Like {@link refuteDoubt}, within a transaction that also records the rest of the decision. */
export async function refuteDoubtWithin(tx: Queryable, { attempt }: Doubt, mostTries: number): Promise<boolean> {
  const { feed, key, token } = attempt;
  const [open] = await tx.query<{ attempts: number; superseded: boolean }>(
    `select attempts, sent_revision is not null as superseded from change
     where feed = $1 and key = $2 and attempt_token = $3 and state = 'in_doubt' for update`,
    [feed, key, token],
  );
  if (open === undefined) return false;
  await keepRefuted(tx, attempt);
  const next = afterRefutation(open, mostTries);
  const tried = `tried ${plural(attempt.number, 'time')}, and the site never made the job`;
  await tx.query(
    `update change set state = case when $4 = 'target' then ${targetState('change')} else $4 end, since = now(),
       not_before = '-infinity', attempts = $5, attempt_token = null, attempt_operation = null, attempt_started = null,
       list_checks = 0, found_job_id = null,
       doubted_since = case when $7 then least(doubted_since, attempt_started) end,
       reason = case when $4 = 'failed' then $6::jsonb when invalid then ${targetReason('change')} end
     where feed = $1 and key = $2 and attempt_token = $3`,
    // A person's decision does not depend on what the list shows.
    [
      feed,
      key,
      token,
      next.state,
      next.attempts,
      changeReason('unknown', tried),
      mostTries !== Number.POSITIVE_INFINITY,
    ],
  );
  return true;
}

/**
 * No job that was known when the posting was put in doubt is its job, so no later search asks about one of them again: of more than are
 * named, the person has said so too.
 */
async function keepRefuted(tx: Queryable, { feed, key, token }: Doubt['attempt']): Promise<void> {
  await tx.query(
    `insert into refuted_job (site, site_job_id, feed, key, at)
     select distinct on (j.id) c.site, j.id, c.feed, c.key, c.attempt_started
     from change c cross join lateral (select c.found_job_id as id union all select ''
       union all select jsonb_array_elements_text(coalesce(c.reason->'candidates', '[]'))) j
     where c.feed = $1 and c.key = $2 and c.attempt_token = $3 and c.found_job_id is not null
     on conflict (feed, key, site, site_job_id) do update set at = greatest(refuted_job.at, excluded.at)`,
    [feed, key, token],
  );
}

/** The same for the jobs that the create of the posting may have made, as far as no posting owns them. */
export async function refuteShown(
  tx: Queryable,
  { feed, key, site }: Doubt['attempt'],
  shown: readonly SiteJobId[],
): Promise<void> {
  await tx.query(
    `insert into refuted_job (site, site_job_id, feed, key)
     select site, site_job_id, $2, $3 from site_reference where site = $1 and site_job_id = any($4::text[]) on conflict do nothing`,
    [site, feed, key, shown],
  );
}
