// Stores updates and deletes with unknown outcome: their fields do not count as known, and no newer request overtakes them.
import type { PostingRef } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import type { AttemptOutcome } from './attempt.ts';

// A delete may have removed every field that the site had.
const NOTE = `on conflict (feed, key) do update set revision = excluded.revision,
  fields = array(select unnest(uncertain_write.fields) union select unnest(excluded.fields)),
  until = greatest(uncertain_write.until, excluded.until)`;

/**
 * A posting may lose its job while a request to its former job is in flight: nothing of the posting is uncertain then. The
 * posting that has the job now is marked when it takes the job.
 */
const ownsJob = (change: string): string =>
  `exists (select from mapping m where m.feed = ${change}.feed and m.key = ${change}.key)`;

/** Records attempts without a certain outcome, which must still own their changes. Creates become doubts instead. */
export async function recordUncertainWrites(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const open = outcomes.flatMap(({ attempt, result }) => {
    if (result.kind !== 'returned' || result.back.to === 'in_doubt' || attempt.request.kind === 'create') return [];
    const { mayLandMs } = result.back;
    return mayLandMs === undefined ? [] : [{ attempt, mayLandMs }];
  });
  if (open.length === 0) return;
  await tx.query(
    `insert into uncertain_write (feed, key, revision, fields, until)
     select c.feed, c.key, a.revision,
       case when a.names is null then coalesce((select array(select json_object_keys(d.fields)) from document d
                                                where d.feed = c.feed and d.key = c.key), '{}')
         else array(select jsonb_array_elements_text(a.names)) end,
       c.attempt_started + make_interval(secs => a.seconds)
     from unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[], $5::jsonb[], $6::float8[])
       a(feed, key, token, revision, names, seconds)
     join change c on c.feed = a.feed and c.key = a.key and c.attempt_token = a.token
     where ${ownsJob('c')}
     ${NOTE}`,
    [
      open.map(({ attempt }) => attempt.feed),
      open.map(({ attempt }) => attempt.key),
      open.map(({ attempt }) => attempt.token),
      open.map(({ attempt }) => attempt.revision),
      open.map(({ attempt }) => ('fields' in attempt.request ? toJsonb(Object.keys(attempt.request.fields)) : null)),
      open.map(({ mayLandMs }) => mayLandMs / 1000),
    ],
  );
}

/**
 * The same, in SQL, for attempts whose worker died. `abandoned` names a query with rows of `change`. The sent fields are no
 * longer known, so every field that the site had or was to get is uncertain.
 */
export const insertUncertainAbandoned = (abandoned: string, seconds: string): string =>
  `insert into uncertain_write (feed, key, revision, fields, until)
   select a.feed, a.key, coalesce(a.sent_revision, a.revision),
     array(select json_object_keys(d.fields) union select json_object_keys(coalesce(a.sent_fields, a.fields))),
     a.attempt_started + make_interval(secs => ${seconds})
   from ${abandoned} a left join document d on d.feed = a.feed and d.key = a.key
   where a.attempt_operation <> 'create' and ${ownsJob('a')}
   ${NOTE}`;

/** A later request was accepted, or none is needed: the fields of these postings are certain again. */
export async function clearUncertain(
  tx: Queryable,
  outcomes: readonly { readonly attempt: PostingRef }[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const values = [outcomes.map(({ attempt }) => attempt.feed), outcomes.map(({ attempt }) => attempt.key)];
  await tx.query(
    `with a as (select * from unnest($1::text[], $2::text[]) a(feed, key)),
       arrived as (delete from uncertain_write u using a where u.feed = a.feed and u.key = a.key and u.until <= now())
     update uncertain_write u set fields = null from a where u.feed = a.feed and u.key = a.key and u.until > now()`,
    values,
  );
}

/** Marks fields of a posting that are, or may be, wrong. Requests of others may reach its job for `mayLandMs`. */
export async function markUncertain(
  tx: Queryable,
  posting: { readonly feed: string; readonly key: string },
  fields: readonly string[],
  mayLandMs: number,
): Promise<void> {
  // No change has revision 0, so every change waits until those requests can no longer arrive.
  await tx.query(
    `insert into uncertain_write (feed, key, revision, fields, until)
     values ($1, $2, 0, $3, clock_timestamp() + make_interval(secs => $4)) ${NOTE}`,
    [posting.feed, posting.key, fields, mayLandMs / 1000],
  );
}

/** The site no longer has jobs of these postings, so that a request that still arrives finds nothing, or nothing is to be set on them. */
export async function forgetUncertainWrites(
  tx: Queryable,
  outcomes: readonly { readonly attempt: PostingRef }[],
): Promise<void> {
  if (outcomes.length === 0) return;
  await tx.query(
    'delete from uncertain_write u using unnest($1::text[], $2::text[]) a(feed, key) where u.feed = a.feed and u.key = a.key',
    [outcomes.map(({ attempt }) => attempt.feed), outcomes.map(({ attempt }) => attempt.key)],
  );
}

/** Delays changes until an earlier request for another version of their posting can no longer arrive (law 5). */
export async function putOffUntilLanded(
  db: Queryable,
  postings: readonly { readonly feed: string; readonly key: string }[],
): Promise<void> {
  if (postings.length === 0) return;
  await db.query(
    `update change c set not_before = u.until
     from unnest($1::text[], $2::text[]) p(feed, key) join uncertain_write u on u.feed = p.feed and u.key = p.key
     where c.feed = p.feed and c.key = p.key and c.state = 'ready' and c.not_before < u.until`,
    [postings.map((posting) => posting.feed), postings.map((posting) => posting.key)],
  );
}
