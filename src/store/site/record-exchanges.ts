// Records what was sent and received: every request in brief, every failed one in full.
import type { Reason } from '../../plan/desired-change.ts';
import type { AttemptOutcome, ExchangeRecord, Result } from '../change/attempt-outcome.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import type { Counted } from '../pull/outcome-counts.ts';

/** Records the exchanges of these attempts; requests that were never sent are failures without a request. */
export async function recordExchanges(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  await Promise.all([recordRequests(tx, sentOf(outcomes)), recordFailures(tx, outcomes)]);
}

/** Outcomes of these exchanges to count for the current pulls. */
export function countExchanges(outcomes: readonly AttemptOutcome[]): Counted[] {
  return sentOf(outcomes).flatMap(({ attempt: { feed }, record, result }): Counted[] => {
    const requests = { feed, outcome: 'requests' } as const;
    if (SAYS_NOTHING.has(record.outcome)) return [requests, { feed, outcome: 'unjudged' }];
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
    `insert into request (feed, key, pull, operation, site_job_id, fields, status, outcome, duration_ms)
     select feed, key, pull, operation, id, array(select jsonb_array_elements_text(names)), status, outcome, ms
     from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::jsonb[], $7::int2[], $8::text[], $9::int[])
       r(feed, key, pull, operation, id, names, status, outcome, ms)`,
    [
      sent.map(({ attempt }) => attempt.feed),
      sent.map(({ attempt }) => attempt.key),
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
    ],
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
      failed.map(({ attempt }) => attempt.feed),
      failed.map(({ attempt }) => attempt.key),
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
