// Records the results of attempts (mapping, document, change, counts), many attempts per transaction, with what was sent and received:
// every request in brief, every failed one in full.
import { afterOutcome } from '../../plan/after-attempt.ts';
import type { Reason } from '../../plan/desired-change.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { excerpt } from '../../posting/markup.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Queryable, readMap, readNumber, type Statements, type Transaction } from '../postgres/database.ts';
import { microBatch } from '../postgres/micro-batch.ts';
import { addOutcomeCount, type OutcomeToCount } from '../pull/pull-history.ts';
import { areOfOneJob } from '../site/kept-values.ts';
import {
  type Attempt,
  type AttemptOutcome,
  attemptColumns,
  type ExchangeRecord,
  type Recorded,
  type Result,
  recordUncertainWrites,
} from './attempt.ts';
import { sendTakenAgain } from './candidate-owners.ts';
import { completeAccepted, type LockedChange } from './complete.ts';
import { doubtReason, keepsAttempt, operationWithoutJob, targetReason, targetState } from './life-cycle.ts';

/**
 * Returns the function that records attempts; concurrent calls share one transaction and commit. A failed batch is retried
 * one by one, so no attempt fails because of another.
 */
export function outcomeRecorder(db: Statements): (outcome: AttemptOutcome) => Promise<Recorded> {
  const noteCreated = analyzerOfGrowth(db);
  const recordOutcome = async (outcomes: readonly AttemptOutcome[]) => {
    const recorded = await db.transaction((tx) => recordAll(tx, outcomes), { opensWithLocks: true });
    noteCreated(outcomes.filter(({ result }) => result.kind === 'created').length);
    return recorded;
  };
  return microBatch(recordOutcome, 'one_by_one');
}

/** After this many new mappings, query plans made for few mappings are slow. */
const GROWN = 500;

/**
 * Prepared statements keep their plans until their tables get new statistics. A plan that was made while a table was nearly empty may
 * read all jobs of a feed for each posting, and autovacuum comes a minute or more after a first pull has begun to send. So whenever
 * the number of mappings has doubled, they are analyzed at once.
 * @returns a function that takes the number of new mappings, and waits for nothing
 */
function analyzerOfGrowth(db: Queryable): (created: number) => void {
  let created = 0;
  let due = GROWN;
  let isBusy = false;
  async function analyzeIfGrown(): Promise<void> {
    const known = await mappingsKnown(db);
    if (created > known) await db.query('analyze (skip_locked) mapping (feed, key)');
    due = Math.max(GROWN, created > known ? await mappingsKnown(db) : known);
    created = 0;
  }
  return (more) => {
    created += more;
    if (created < due || isBusy) return;
    isBusy = true;
    // Without it, plans are slower for a while.
    void analyzeIfGrown()
      .catch(() => undefined)
      .finally(() => {
        isBusy = false;
      });
  };
}

/** How many mappings the planner knows of. */
const mappingsKnown = (db: Queryable): Promise<number> =>
  readNumber(db, `select greatest(reltuples, 0)::float8 as n from pg_class where oid = 'mapping'::regclass`);

/**
 * Records attempts within one transaction. Independent statements are pipelined, and the server runs them in the order in
 * which they are sent. Two statements rely on it: uncertain writes read the changes before these are released, and mappings
 * are written before unmapped jobs are recorded as orphans.
 */
export async function recordAll(tx: Transaction, outcomes: readonly AttemptOutcome[]): Promise<Recorded[]> {
  const feeds = outcomes.map(({ attempt }) => attempt.feed);
  const [, open] = await Promise.all([lockOutcomesShared(tx, feeds), lockOpen(tx, outcomes)]);
  const kept = outcomes.filter(({ attempt }) => open.has(attempt.token));
  const late = outcomes.filter(({ attempt }) => !open.has(attempt.token));
  const renamed = await findRenamed(tx, late);
  if (renamed.size > 0)
    return recordAll(
      tx,
      outcomes.map((outcome) => underName(outcome, renamed)),
    );
  const accepted = kept.filter(({ result }) => result.kind !== 'returned');
  const [{ refused, lost, counts }] = await Promise.all([
    completeAccepted(tx, accepted, open),
    recordUncertainWrites(tx, kept),
    recordReturned(tx, kept, open),
    recordOrphans(tx, late),
    recordExchanges(tx, outcomes),
  ]);
  await sendTakenAgain(
    tx,
    kept.flatMap(({ attempt: { site }, freed }) => (freed === undefined ? [] : [{ site, ...freed }])),
  );
  await noteEffects(tx, accepted, (token) => !refused.has(token) && !lost.has(token));
  tx.leave(addOutcomeCount(tx, [...counts, ...countExchanges(outcomes)]));
  return outcomes.map(({ attempt }): Recorded => {
    if (!open.has(attempt.token)) return 'superseded';
    return refused.get(attempt.token) ?? 'recorded';
  });
}

/** Locks the changes of these attempts in key order. Returns those that the attempts still own, by token. */
async function lockOpen(
  tx: Queryable,
  outcomes: readonly AttemptOutcome[],
): Promise<ReadonlyMap<string, LockedChange>> {
  const rows = await tx.query<LockedChange & { readonly token: string }>(
    `select c.attempt_token as token, c.attempt_started as "startedAt", c.desired, c.attempts, c.revision <> a.revision as superseded
     from unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[]) a(feed, key, token, revision)
     join change c on c.feed = a.feed and c.key = a.key and c.attempt_token = a.token
     order by c.feed, c.key for update of c`,
    attemptColumns(outcomes, 'feed', 'key', 'token', 'revision'),
  );
  return new Map(rows.map((row) => [row.token, row]));
}

/** Attempts whose feed has been renamed meanwhile: new name by token. */
async function findRenamed(tx: Queryable, late: readonly AttemptOutcome[]): Promise<ReadonlyMap<string, FeedName>> {
  if (late.length === 0) return new Map();
  return readMap<string, FeedName>(
    tx,
    `select a.token, c.feed from unnest($1::text[], $2::uuid[]) a(key, token) cross join feed_state f
     join change c on c.feed = f.feed and c.key = a.key and c.attempt_token = a.token`,
    [late.map(({ attempt }) => attempt.key), late.map(({ attempt }) => attempt.token)],
  );
}

function underName(outcome: AttemptOutcome, names: ReadonlyMap<string, FeedName>): AttemptOutcome {
  const feed = names.get(outcome.attempt.token);
  return feed === undefined ? outcome : { ...outcome, attempt: { ...outcome.attempt, feed } };
}

/** Moves changes to where their outcome sends them; a change with a newer version enters its own target state instead. */
async function recordReturned(
  tx: Queryable,
  outcomes: readonly AttemptOutcome[],
  open: ReadonlyMap<string, LockedChange>,
): Promise<void> {
  const returned = outcomes.flatMap(({ attempt, result }) => {
    const ended = open.get(attempt.token);
    if (result.kind !== 'returned' || ended === undefined) return [];
    const { back } = result;
    const isFreeAgain = back.to === 'rejected' && back.reason.taken !== undefined && ended.attempts === 0;
    const to = isFreeAgain ? 'ready' : back.to;
    return [{ attempt, back, next: afterOutcome(to, back.to !== 'ready' || back.counted, ended) }];
  });
  if (returned.length === 0) return;
  await tx.query(
    `update change c set
       state = case when r.next = 'target' then ${targetState('c')} else r.next end, since = now(), attempts = r.attempts,
       not_before = coalesce(now() + make_interval(secs => r.delay), '-infinity'), operation = ${operationWithoutJob('c')},
       reason = case when r.next = 'target' then ${targetReason('c')} when r.next = 'in_doubt' then ${doubtReason('c', 'r.reason')}
         else r.reason end, ${keepsAttempt('c', `r.next = 'in_doubt'`)}
     from unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::int[], $6::float8[], $7::jsonb[])
       r(feed, key, token, next, attempts, delay, reason)
     where c.feed = r.feed and c.key = r.key and c.attempt_token = r.token`,
    [
      ...attemptColumns(returned, 'feed', 'key', 'token'),
      returned.map(({ next }) => next.state),
      returned.map(({ next }) => next.attempts),
      returned.map(({ back }) => (back.to === 'ready' ? back.delayMs / 1000 : null)),
      returned.map(({ back }) => toJsonb(back.reason)),
    ],
  );
}

/**
 * A create that succeeded after its attempt was given up made a job that nothing maps. It is ours and gets deleted. A job
 * that was only found while resolving a doubt, or after a redirect, is not proven to be ours.
 */
async function recordOrphans(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  for (const { attempt, result } of outcomes) {
    if (result.kind !== 'created' || result.adopted !== undefined || result.isRead === true) continue;
    await tx.query(
      `insert into orphan_site_job (site, site_job_id, feed, key)
       select $1, $2, $3, $4
       where not exists (select from mapping m where m.site = $1 and ${areOfOneJob('m.site_job_id', '$2::text')})
       on conflict do nothing`,
      [attempt.site, result.siteJobId, attempt.feed, attempt.key],
    );
  }
}

/** Records the exchanges of these attempts; requests that were never sent are failures without a request. */
async function recordExchanges(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  await Promise.all([recordRequests(tx, sentOf(outcomes)), recordFailures(tx, outcomes)]);
}

/** Outcomes of these exchanges to count for the current pulls. */
function countExchanges(outcomes: readonly AttemptOutcome[]): OutcomeToCount[] {
  return sentOf(outcomes).flatMap(({ attempt: { feed }, record, result }): OutcomeToCount[] => {
    const requests = { feed, outcome: 'requests' } as const;
    const isOpen = result.kind === 'returned' && result.back.reason.denied === 'open';
    if (isOpen || SAYS_NOTHING.has(record.outcome)) return [requests, { feed, outcome: 'unjudged' }];
    // A job that is gone was expired or deleted, which is not a refusal, however the outcome is handled.
    const refused = result.kind === 'disowned' || (result.kind === 'returned' && record.outcome !== 'gone');
    return refused ? [requests, { feed, outcome: 'refused' }] : [requests];
  });
}

/** Outcomes that concern the site's load, its network, the token or the set-up, whatever posting is sent. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  'throttled',
  'unreachable',
  'unauthorized',
  'unconfirmed',
  'set_up',
]);

type Sent = AttemptOutcome & { readonly record: ExchangeRecord };

const sentOf = (outcomes: readonly AttemptOutcome[]): Sent[] =>
  outcomes.filter((outcome): outcome is Sent => outcome.record !== undefined);

async function recordRequests(tx: Queryable, sent: readonly Sent[]): Promise<void> {
  if (sent.length === 0) return;
  await tx.query(
    `insert into request (feed, key, pull, operation, site_job_id, fields, status, outcome, duration_ms, title, cause)
     select feed, key, pull, operation, id, array(select jsonb_array_elements_text(names)), status, outcome, ms, title,
       case when operation = 'delete' and exists (select from posting_expiry e
         where e.feed = r.feed and e.key = r.key and e.expired_at is not null and e.site_job_id = r.id) then 'expired' end
     from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::jsonb[], $7::int2[], $8::text[], $9::int[], $10::text[])
       r(feed, key, pull, operation, id, names, status, outcome, ms, title)`,
    [
      ...attemptColumns(sent, 'feed', 'key'),
      sent.map(({ attempt }) => attempt.pull ?? null),
      sent.map(({ attempt }) => attempt.request.kind),
      sent.map(({ attempt, result }) => {
        if (attempt.request.kind !== 'create') return attempt.request.siteJobId;
        return result.kind === 'created' ? result.siteJobId : null;
      }),
      sent.map(({ attempt }) => JSON.stringify('fields' in attempt.request ? Object.keys(attempt.request.fields) : [])),
      sent.map(({ record }) => record.status ?? null),
      sent.map(({ record }) => record.outcome),
      sent.map(({ record }) => Math.round(record.durationMs)),
      sent.map(({ attempt: { request, before } }) =>
        request.kind === 'delete' && before?.title !== undefined ? excerpt(before.title) : null,
      ),
    ],
  );
}

/** Corrects what the outcomes of these attempts say about the jobs of their postings. */
async function noteEffects(
  tx: Queryable,
  outcomes: readonly AttemptOutcome[],
  hasChanged: (token: string) => boolean,
): Promise<void> {
  for (const { attempt, result, record } of outcomes) {
    const changed = hasChanged(attempt.token);
    const isFound = record === undefined && result.kind === 'created' && result.adopted === undefined;
    if (changed ? isFound : record !== undefined) await noteEffect(tx, attempt, changed, result);
  }
}

/** Notes the effect of the last request of the attempt. */
export async function noteEffect(tx: Queryable, attempt: Attempt, changed: boolean, result: Result): Promise<void> {
  const id = changed && result.kind === 'created' ? result.siteJobId : null;
  await tx.query(
    `update request set changed = $4, site_job_id = coalesce($5, site_job_id)
     where id = (select max(id) from request where feed = $1 and key = $2 and operation = $3)`,
    [attempt.feed, attempt.key, attempt.request.kind, changed, id],
  );
}

async function recordFailures(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const failed = outcomes.flatMap(({ attempt, record, result }) => {
    const reason = failureOf(result);
    return reason === undefined ? [] : [{ attempt, record, reason }];
  });
  if (failed.length === 0) return;
  await tx.query(
    `insert into failure (feed, key, pull, operation, kind, problems, request, response)
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::jsonb[], $7::jsonb[], $8::jsonb[])`,
    [
      ...attemptColumns(failed, 'feed', 'key'),
      failed.map(({ attempt }) => attempt.pull ?? null),
      failed.map(({ attempt }) => attempt.request.kind),
      failed.map(({ reason }) => reason.kind),
      failed.map(({ reason }) => toJsonb(reason.problems)),
      failed.map(({ record }) => (record === undefined ? null : toJsonb(record.request))),
      failed.map(({ record }) => (record?.response === undefined ? null : toJsonb(record.response))),
    ],
  );
}

function failureOf(result: Result): Reason | undefined {
  if (result.kind === 'returned') return result.back.reason;
  if (result.kind === 'disowned') return result.reason;
  if (result.kind !== 'vanished') return undefined;
  return { kind: 'gone', message: 'the site no longer has this job', problems: [] };
}
