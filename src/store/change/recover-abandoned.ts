// Recovers changes that nothing else moves on: attempts of dead processes (sending → in_doubt for a create, → the target state or failed
// for the others), changes that no worker could process, and waits that began under a wrong clock.
import { afterDeath, type EndedAttempt } from '../../plan/after-attempt.ts';
import type { Reason } from '../../plan/desired-change.ts';
import type { PostingRef, SiteName } from '../../posting/identifiers.ts';
import { LEASE } from '../locks/processes.ts';
import type { Database, Queryable, Statements } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { isPassing } from '../postgres/transient-error.ts';
import { changeReason, doubtReason, operationWithoutJob, targetState } from './target-state.ts';
import { insertUncertainAbandoned } from './uncertain-writes.ts';

const ABANDONED: Reason = {
  kind: 'orphaned',
  message: 'the worker that sent this request ended before it recorded the outcome',
  problems: [],
};

/** Time limits of attempts and their requests, and how often one version may be tried. */
export interface AttemptLimits {
  /** The longest time that an attempt may take. */
  readonly deadlineMs: number;
  /** How long a sent request may still arrive. */
  readonly mayLandMs: number;
  readonly mostTries: number;
}

/**
 * Recovers attempts whose worker is dead, or that are older than any request can be. A create becomes a doubt. Updates and
 * deletes are released and may be repeated, with their fields uncertain; those tried too often fail.
 * @returns how many were recovered.
 */
export function recoverAbandoned(
  db: Statements,
  site: SiteName,
  { deadlineMs, mayLandMs, mostTries }: AttemptLimits,
): Promise<number> {
  return db.transaction(async (tx) => {
    const abandoned = await lockAbandoned(tx, site, deadlineMs);
    if (abandoned.length === 0) return 0;
    const states = abandoned.map((change) => afterDeath(change.operation, change, mostTries));
    const poisoned = `tried more than ${mostTries} times, and the worker ended again before it recorded the outcome`;
    await tx.query(
      `with abandoned as (
         select c.*, a.next from unnest($1::text[], $2::text[], $3::text[]) a(feed, key, next)
         join change c on c.feed = a.feed and c.key = a.key),
       noted as (${insertUncertainAbandoned('abandoned', '$4')})
       update change c set state = case when a.next = 'target' then ${targetState('c')} else a.next end, since = now(),
         operation = ${operationWithoutJob('c')},
         reason = case when a.next = 'failed' then $5::jsonb
           when a.next = 'target' and c.target_state in ('held', 'rejected') then coalesce(c.reason, $6::jsonb)
           when a.next = 'in_doubt' then ${doubtReason('c', '$6::jsonb')} else $6::jsonb end, not_before = '-infinity',
         attempt_token = case when a.next = 'in_doubt' then c.attempt_token end,
         attempt_started = case when a.next = 'in_doubt' then c.attempt_started end,
         attempt_operation = case when a.next = 'in_doubt' then c.attempt_operation end
       from abandoned a where c.feed = a.feed and c.key = a.key`,
      [
        abandoned.map(({ feed }) => feed),
        abandoned.map(({ key }) => key),
        states,
        mayLandMs / 1000,
        changeReason('poisoned', poisoned),
        toJsonb(ABANDONED),
      ],
    );
    return abandoned.length;
  });
}

interface AbandonedChange extends PostingRef, EndedAttempt {
  readonly operation: 'create' | 'update' | 'delete';
}

/** The changes of abandoned attempts, locked in the order that all code uses. */
async function lockAbandoned(tx: Queryable, site: SiteName, deadlineMs: number): Promise<AbandonedChange[]> {
  return tx.query<AbandonedChange>(
    `select c.feed, c.key, c.attempt_operation as operation, c.attempts, c.sent_revision is not null as superseded
     from change c
     where c.site = $1 and c.state = 'sending' and (c.attempt_started < clock_timestamp() - make_interval(secs => $2)
       or not exists (select from pg_locks l where l.locktype = 'advisory' and l.classid = ${LEASE}
                        and l.objid = c.attempt_worker and l.granted
                        and l.database = (select oid from pg_database where datname = current_database())))
     order by c.feed, c.key for update of c`,
    [site, deadlineMs / 1000],
  );
}

/**
 * Fails a ready change so that no worker claims it again. A change in flight is left to its attempt, or to the recovery of
 * lost attempts. A transient database error does not count against a change.
 */
export async function failPoisoned(db: Database, posting: PostingRef, error: Error): Promise<void> {
  if (isPassing(error)) return;
  await db.query(
    `update change set state = 'failed', since = now(), reason = $3
     where feed = $1 and key = $2 and state = 'ready'`,
    [posting.feed, posting.key, changeReason('poisoned', `it could not be processed: ${error.message}`)],
  );
}

/**
 * Ends each wait for the site, or for a change to be sent again, that lasts longer than `longestMs` from now. Waits for requests that may still
 * reach the site stay as they are: if the clock is behind now, instead of having been ahead, to end one could duplicate a job.
 */
export async function endFarWaits(db: Queryable, site: SiteName, longestMs: number): Promise<void> {
  const far = 'now() + make_interval(secs => $2::float8)';
  await db.query(
    `with state as (
       update site_state set not_before = case when not_before > ${far} then '-infinity' else not_before end,
         next_probe = case when next_probe > ${far} then now() else next_probe end
       where site = $1 and (not_before > ${far} or next_probe > ${far})),
     tokens as (update refused_token set next_probe = now() where site = $1 and next_probe > ${far})
     update change c set not_before = '-infinity'
     from feed_state f where f.site = $1 and f.feed = c.feed and c.site = f.site and c.state = 'ready' and c.not_before > '-infinity'
       and c.not_before > ${far} and c.not_before < 'infinity'`,
    [site, longestMs / 1000],
  );
}
