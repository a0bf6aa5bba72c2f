// Ends a create in doubt whose job the site did not make: in_doubt → the target state, or failed if it was tried too often.
import { afterRefutation } from '../../plan/after-attempt.ts';
import { plural } from '../../plan/plural.ts';
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

/** A site job that a search had found for the posting is not its job, so no later search asks about it again. */
async function keepRefuted(tx: Queryable, { feed, key, token }: Doubt['attempt']): Promise<void> {
  await tx.query(
    `with refuted as (insert into refuted_job (site, site_job_id, feed, key)
         select c.site, coalesce(r.site_job_id, c.found_job_id), c.feed, c.key
         from change c left join site_reference f on f.site = c.site and f.site_job_id = c.found_job_id
           left join site_reference r on r.site = c.site and (r.site_job_id = c.found_job_id
             or r.reference = '' and f.reference = '' and r.title = f.title)
         where c.feed = $1 and c.key = $2 and c.attempt_token = $3 and c.found_job_id is not null
         on conflict do nothing)
     delete from site_reference r
     using change c join site_reference f on f.site = c.site and f.site_job_id = c.found_job_id
     where c.feed = $1 and c.key = $2 and c.attempt_token = $3 and r.site = c.site
       and r.reference = '' and f.reference = '' and r.title = f.title`,
    [feed, key, token],
  );
}
