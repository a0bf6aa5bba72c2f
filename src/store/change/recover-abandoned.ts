// Recovers the attempts of dead processes: sending → in_doubt for a create, → the target state or failed for the others.
import type { Reason } from '../../plan/desired-change.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import { LEASE } from '../locks/live-workers.ts';
import type { Database } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { changeReason } from './change-reason.ts';
import { insertUncertainOrphans } from './uncertain-writes.ts';

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
export async function recoverAbandoned(
  db: Database,
  site: SiteName,
  { deadlineMs, mayLandMs, mostTries }: AttemptLimits,
): Promise<number> {
  // The version that was sent is still the latest.
  const spent = 'c.attempts > $5 and c.sent_revision is null';
  const reason = changeReason(
    'poisoned',
    `tried more than ${mostTries} times, and the worker ended again before it recorded the outcome`,
  );
  const rows = await db.query(
    `with orphan as (
       select c.* from change c
       where c.site = $1 and c.state = 'sending' and (c.attempt_started < clock_timestamp() - make_interval(secs => $2)
         or not exists (select from pg_locks l where l.locktype = 'advisory' and l.classid = ${LEASE}
                          and l.objid = c.attempt_worker and l.granted
                          and l.database = (select oid from pg_database where datname = current_database())))
       order by c.feed, c.key for update),
     noted as (${insertUncertainOrphans('orphan', '$3')})
     update change c set
       state = case when c.attempt_operation = 'create' then 'in_doubt'
         when ${spent} then 'failed' else c.target_state end,
       since = now(), reason = case when c.attempt_operation <> 'create' and ${spent} then $6::jsonb else $4::jsonb end,
       not_before = '-infinity',
       attempt_token = case when c.attempt_operation = 'create' then c.attempt_token end,
       attempt_started = case when c.attempt_operation = 'create' then c.attempt_started end,
       attempt_operation = case when c.attempt_operation = 'create' then c.attempt_operation end
     from orphan o where c.feed = o.feed and c.key = o.key and c.attempt_token = o.attempt_token
     returning c.key`,
    [site, deadlineMs / 1000, mayLandMs / 1000, toJsonb(ABANDONED), mostTries, reason],
  );
  return rows.length;
}
