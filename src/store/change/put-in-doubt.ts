// Creates for which the site seems to have a job already: ready → in_doubt, until a person decides, or other postings own all such jobs.
import type { Reason } from '../../plan/desired-change.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import { targetReason, targetState } from './target-state.ts';

/** A create and the job that seems to be its own. */
export interface Recognised {
  readonly key: string;
  readonly id: string;
  /** `found_on_site`: it certainly is, as far as the list tells. */
  readonly kind: 'found_on_site' | 'resembles_on_site';
  /** By what it is certain, or would be. */
  readonly by: 'reference' | 'content';
  /** As `mappings adopt` shows it, with the reasons. */
  readonly score: number;
  readonly reasons: readonly string[];
  /** All jobs that may be its own, the best first. */
  readonly candidates: readonly string[];
  /** There are more. */
  readonly isCrowded: boolean;
}

/** Puts these creates in doubt: a person decides. @returns their keys. */
export async function putInDoubt(
  tx: Queryable,
  feed: FeedName,
  found: readonly Recognised[],
): Promise<ReadonlySet<string>> {
  if (found.length === 0) return new Set();
  const rows = await tx.query<{ key: string }>(
    `update change c set state = 'in_doubt', since = now(), found_job_id = f.id, reason = f.reason,
       attempt_token = gen_random_uuid(), attempt_operation = 'create', attempt_started = clock_timestamp(),
       sent_fields = null, sent_record_hash = null, sent_content_hash = null, sent_revision = null, sent_pull = null
     from unnest($2::text[], $3::text[], $4::jsonb[]) f(key, id, reason)
     where c.feed = $1 and c.key = f.key and c.state = 'ready' and c.operation = 'create' returning c.key`,
    [feed, found.map(({ key }) => key), found.map(({ id }) => id), found.map(reasonOf)],
  );
  return new Set(rows.map(({ key }) => key));
}

function reasonOf({ id, kind, by, score, reasons, candidates, isCrowded }: Recognised): string {
  const seems = kind === 'found_on_site' ? 'seems to be' : 'may be';
  const say = (why: string) =>
    `not sent: job ${id} on the site ${seems} the job of this posting${why}, and no mapping owns it; decide whether it is`;
  const reason: Reason = {
    kind,
    message: say(` (${score.toFixed(2)}: ${reasons.join(', ')})`),
    // Entries are grouped by it.
    problems: [{ message: say('') }],
    by,
    candidates,
    crowded: isCrowded,
  };
  return toJsonb(reason);
}

/** These found jobs are no longer certain for the creates that wait: another posting fits them as well. */
export async function unsettleFound(tx: Queryable, site: SiteName, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `update change set reason = reason || jsonb_build_object('kind', 'resembles_on_site',
         'message', (reason->>'message') || '; another posting fits the job as well')
     where site = $1 and state = 'in_doubt' and found_job_id = any($2::text[]) and reason->>'kind' = 'found_on_site'`,
    [site, ids],
  );
}

/**
 * Creates that only resemble jobs which other postings own by now: in_doubt → the target state. They are compared again before they are sent.
 * @returns how many
 */
export async function releaseOwned(db: Database, site: SiteName): Promise<number> {
  const waiting = await db.query<{ feed: FeedName; id: number }>(
    `select c.feed, c.id from change c where ${ALL_OWNED}`,
    [site],
  );
  if (waiting.length === 0) return 0;
  return db.transaction(async (tx) => {
    await lockOutcomesShared(tx, [...new Set(waiting.map(({ feed }) => feed))].sort());
    return release(tx, `c.id = any($2::bigint[]) and ${ALL_OWNED}`, [site, waiting.map(({ id }) => id)]);
  });
}

/** The same for a feed of whose jobs, as a person says, the site has none. What shows a reference of a posting still waits. */
export async function releaseResembling(tx: Queryable, feed: FeedName): Promise<number> {
  await lockOutcomesShared(tx, [feed]);
  return release(tx, `c.feed = $1 and ${RESEMBLES}`, [feed]);
}

/** @param condition in SQL, of the changes `c` */
async function release(tx: Queryable, condition: string, parameters: readonly unknown[]): Promise<number> {
  const released = await tx.query(
    `update change c set state = ${targetState('c')}, since = now(), not_before = '-infinity', attempt_token = null,
       attempt_operation = null, attempt_started = null, list_checks = 0, found_job_id = null,
       reason = case when c.invalid then ${targetReason('c')} end
     where ${condition} returning c.id`,
    [...parameters],
  );
  return released.length;
}

const RESEMBLES = `c.state = 'in_doubt' and c.found_job_id is not null and c.reason->>'kind' = 'resembles_on_site'
  and c.reason->>'by' = 'content'`;

const ALL_OWNED = `c.site = $1 and c.state = 'in_doubt' and c.found_job_id is not null and c.reason->>'by' = 'content'
  and c.reason->>'crowded' = 'false'
  and not exists (select from jsonb_array_elements_text(c.reason->'candidates') j(id)
    where not exists (select from mapping m where m.site = c.site and m.site_job_id = j.id))`;
