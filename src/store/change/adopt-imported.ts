// Adapts the open changes of postings whose mappings were imported: creates become updates, or end if the feed updates no job, and a create
// in doubt whose job was imported enters its target state.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { addOutcomeCount } from '../pull/pull-row.ts';
import { targetReason } from './target-state.ts';

/**
 * The mappings are those of the temporary table `imported`. A worker that has already read "no mapping" holds the old revision, so it
 * cannot claim the create.
 * @param leaving feeds whose policy changes no job: nothing is to be sent for their postings.
 */
export async function adoptImported(session: Queryable, leaving: readonly FeedName[]): Promise<void> {
  if (leaving.length > 0) await dropCreates(session, leaving);
  await session.query(
    `update change c set revision = nextval('revision_number'),
       operation = case when c.desired = 'present' then 'update' else 'delete' end,
       state = case when c.found_job_id is null then c.state else c.target_state end,
       reason = case when c.found_job_id is null or c.invalid then ${targetReason('c')} end, found_job_id = null,
       attempt_token = case when c.found_job_id is null then c.attempt_token end,
       attempt_operation = case when c.found_job_id is null then c.attempt_operation end,
       attempt_started = case when c.found_job_id is null then c.attempt_started end
     from imported i where c.feed = i.feed and c.key = i.key`,
  );
}

/** They count as done for the pull that saw them. */
async function dropCreates(session: Queryable, leaving: readonly FeedName[]): Promise<void> {
  const dropped = await session.query<{ feed: FeedName; counts: boolean }>(
    `delete from change c using imported i
     where c.feed = i.feed and c.key = i.key and c.operation = 'create' and c.feed = any($1::text[])
     returning c.feed, not c.gone and not c.unseen as counts`,
    [leaving],
  );
  const counted = dropped.filter(({ counts }) => counts);
  await addOutcomeCount(
    session,
    counted.map(({ feed }) => ({ feed, outcome: 'nothing' }) as const),
  );
}
