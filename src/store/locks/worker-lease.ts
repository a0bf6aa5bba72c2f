// Marks a sending process as alive by a lock on its own connection, and recovers the attempts of dead processes.
import type { Reason } from '../../plan/desired-change.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import { changeReason } from '../change/change-reason.ts';
import { insertUncertainOrphans } from '../change/uncertain-writes.ts';
import type { Database, Session } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { LEASE, LIVE_WORKERS } from './live-workers.ts';
import { noteProcess, type ProcessAbout } from './processes.ts';
import { keepAlive } from './stale-lock-holder.ts';

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
    session = await db.session((error) => {
      onTrouble(error);
      session = undefined;
      stopKeepAlive();
      reopenLater();
    });
    await session.query('select pg_advisory_lock($1, $2)', [LEASE, worker]);
    stopKeepAlive();
    stopKeepAlive = keepAlive(session);
    startedAt = await noteProcess(db, worker, about, startedAt);
  }
  function reopenLater(): void {
    if (left || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      hold().catch((error: Error) => {
        onTrouble(error);
        reopenLater();
      });
    }, 1_000);
    timer.unref();
  }

  await hold();
  return {
    worker,
    startedAt: startedAt ?? new Date(),
    async leave() {
      left = true;
      clearTimeout(timer);
      stopKeepAlive();
      await session?.end().catch(() => undefined);
    },
  };
}

/** How many sending processes are alive, including this one. */
export async function countWorkers(db: Database): Promise<number> {
  const [row] = await db.query<{ n: number }>(`select count(*) as n from (${LIVE_WORKERS}) live`);
  return row?.n ?? 0;
}

const ORPHANED: Reason = {
  kind: 'orphaned',
  message: 'the worker that sent this request ended before it recorded the outcome',
  problems: [],
};

/** Time limits of attempts and their requests, and how often one version may be tried. */
export interface OrphanLimits {
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
export async function giveBackOrphans(
  db: Database,
  site: SiteName,
  { deadlineMs, mayLandMs, mostTries }: OrphanLimits,
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
    [site, deadlineMs / 1000, mayLandMs / 1000, toJsonb(ORPHANED), mostTries, reason],
  );
  return rows.length;
}
