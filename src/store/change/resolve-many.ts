// Many creates in doubt that a transaction has locked: what is known of each, and how a person resolved it.
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { auditAction } from '../review/audit.ts';
import type { ActedEntry, AuditNote } from './act-in-review.ts';
import { findDoubt } from './doubt.ts';
import { refuteDoubtWithin } from './refute-doubt.ts';

/** What decides whether a create in doubt can be resolved together with others. */
export interface DoubtFacts extends ActedEntry {
  readonly site: SiteName;
  /** A search of the site found a job, so nothing was sent. */
  readonly found: boolean;
  /** The posting's job showed the reference of another posting, so no list decides it. */
  readonly foreign: boolean;
  /** Its list shows jobs that may be its own. */
  readonly possible: boolean;
  /** The last reading of the list told nothing. */
  readonly unread: boolean;
  /** Age of the attempt, by the database clock. */
  readonly sinceMs: number;
}

/** Of these entries, the creates in doubt. */
export const readDoubtFacts = (tx: Queryable, ids: readonly number[]): Promise<DoubtFacts[]> =>
  tx.query<DoubtFacts & Record<string, unknown>>(
    `select id, feed, site, found_job_id is not null as found, not_before = 'infinity' as foreign,
       coalesce(jsonb_array_length(reason->'candidates') > 0 or (reason->'crowded')::boolean, false) as possible,
       coalesce(reason ? 'note', false) as unread,
       (extract(epoch from clock_timestamp() - attempt_started) * 1000)::float8 as "sinceMs"
     from change where id = any($1::bigint[]) and state = 'in_doubt' order by feed, key`,
    [ids],
  );

/** The site has made no job for this create: it is sent again, unless a search has found a job that nobody was asked about. */
export async function refuteEntry(tx: Queryable, entry: number, actor: string, note: AuditNote): Promise<void> {
  const [row] = await tx.query<{ feed: FeedName; key: PostingKey }>('select feed, key from change where id = $1', [
    entry,
  ]);
  const doubt = row && (await findDoubt(tx, row.feed, row.key));
  if (doubt === undefined) throw new Error(`entry ${entry} is no longer in doubt, although it is locked`);
  await refuteDoubtWithin(tx, doubt, Number.POSITIVE_INFINITY);
  const { feed, key } = doubt.attempt;
  await auditAction(tx, { actor, action: 'settle', feed, key, detail: { entry, kind: 'missing', ...note } });
}

/** The next reading of the list is compared with these creates. */
export async function checkAgain(tx: Queryable, ids: readonly number[], actor: string, note: AuditNote): Promise<void> {
  const rows = await tx.query<{ id: number; feed: FeedName; key: PostingKey }>(
    `update change set not_before = '-infinity' where id = any($1::bigint[]) and state = 'in_doubt' returning id, feed, key`,
    [ids],
  );
  for (const { id: entry, feed, key } of rows) {
    await auditAction(tx, { actor, action: 'check doubt', feed, key, detail: { entry, ...note } });
  }
}
