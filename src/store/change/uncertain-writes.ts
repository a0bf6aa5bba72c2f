// Keeps updates and deletes whose outcome is unknown, so that what the site may have is neither taken for known nor overtaken.
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import type { AttemptOutcome } from './attempt-outcome.ts';

// A delete may have taken every field that the site had.
const NOTE = `on conflict (feed, key) do update set revision = excluded.revision,
  fields = array(select unnest(uncertain_write.fields) union select unnest(excluded.fields)),
  until = greatest(uncertain_write.until, excluded.until)`;

/** Notes the attempts that came back without a certain outcome; their changes must still be theirs. Creates are doubts. */
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
 * The same, in SQL, for attempts whose worker died: `orphans` is the name of a query with rows of `change`. Which fields
 * were sent is not known any more, so all that the site had or was to get are uncertain.
 */
export const noteOrphans = (orphans: string, seconds: string): string =>
  `insert into uncertain_write (feed, key, revision, fields, until)
   select o.feed, o.key, coalesce(o.sent_revision, o.revision),
     array(select json_object_keys(d.fields) union select json_object_keys(coalesce(o.sent_fields, o.fields))),
     o.attempt_started + make_interval(secs => ${seconds})
   from ${orphans} o left join document d on d.feed = o.feed and d.key = o.key
   where o.attempt_operation <> 'create'
   ${NOTE}`;

/** A later request was accepted: the fields of these postings are certain again. */
export async function noteAnswered(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  const values = [outcomes.map(({ attempt }) => attempt.feed), outcomes.map(({ attempt }) => attempt.key)];
  await tx.query(
    `with a as (select * from unnest($1::text[], $2::text[]) a(feed, key)),
       arrived as (delete from uncertain_write u using a where u.feed = a.feed and u.key = a.key and u.until <= now())
     update uncertain_write u set fields = null from a where u.feed = a.feed and u.key = a.key and u.until > now()`,
    values,
  );
}

/** These fields of a posting are not, or may not be, as they should. Requests of others may reach its job for `mayLandMs`. */
export async function noteUncertain(
  tx: Queryable,
  posting: { readonly feed: string; readonly key: string },
  fields: readonly string[],
  mayLandMs: number,
): Promise<void> {
  // No wish has revision 0, so each waits until those requests can't arrive any more.
  await tx.query(
    `insert into uncertain_write (feed, key, revision, fields, until)
     values ($1, $2, 0, $3, clock_timestamp() + make_interval(secs => $4)) ${NOTE}`,
    [posting.feed, posting.key, fields, mayLandMs / 1000],
  );
}

/** The site has no job of these postings any more: whatever still arrives finds none. */
export async function forgetUncertainWrites(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  await tx.query(
    'delete from uncertain_write u using unnest($1::text[], $2::text[]) a(feed, key) where u.feed = a.feed and u.key = a.key',
    [outcomes.map(({ attempt }) => attempt.feed), outcomes.map(({ attempt }) => attempt.key)],
  );
}

/** Puts off changes until an earlier request for their posting, of another wish, can't arrive any more (law 5). */
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
