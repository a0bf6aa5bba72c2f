// Adapts the open changes of postings whose mappings were imported: creates become updates, and a create in doubt whose job
// was imported enters its target state.
import type { Queryable } from '../postgres/database.ts';

/**
 * The mappings are those of the temporary table `imported`. A worker that has already read "no mapping" holds the old revision, so it
 * cannot claim the create.
 */
export async function adoptImported(session: Queryable): Promise<void> {
  await session.query(
    `update change c set revision = nextval('revision_number'),
       operation = case when c.desired = 'present' then 'update' else 'delete' end,
       state = case when c.found_job_id is null then c.state else c.target_state end,
       reason = case when c.found_job_id is null or c.invalid then c.reason end, found_job_id = null,
       attempt_token = case when c.found_job_id is null then c.attempt_token end,
       attempt_operation = case when c.found_job_id is null then c.attempt_operation end,
       attempt_started = case when c.found_job_id is null then c.attempt_started end
     from imported i where c.feed = i.feed and c.key = i.key`,
  );
}
