// Creates for which the site seems to have a job already: ready → in_doubt, until a person decides.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { changeReason } from './change-reason.ts';

/** A create and the job that seems to be its own. */
export interface Recognised {
  readonly key: string;
  readonly id: string;
  readonly kind: 'found_on_site' | 'resembles_on_site';
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
    [
      feed,
      found.map(({ key }) => key),
      found.map(({ id }) => id),
      found.map(({ id, kind }) =>
        changeReason(
          kind,
          `not sent: job ${id} on the site has the ${kind === 'found_on_site' ? 'reference' : 'title'} of this posting, ` +
            'and no mapping owns it; decide whether it is the job of this posting',
        ),
      ),
    ],
  );
  return new Set(rows.map(({ key }) => key));
}
