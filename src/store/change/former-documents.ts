// Keeps what the site had of a posting before a pull's request changed or deleted its job, so that the pull can be undone.
import type { Fields } from '../../posting/posting.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import type { AttemptOutcome } from './attempt.ts';

/** Only a request that ended the job: an ID that turned out to be another posting's never had this posting's content. */
const ENDS_JOB = new Set<AttemptOutcome['result']['kind']>(['deleted', 'vanished']);

/**
 * Keeps the former documents of accepted updates and deletes. Call it before documents and mappings are changed. Keeps nothing
 * for a job that the same pull has certainly created: undoing the pull deletes it.
 */
export async function keepFormerDocuments(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  await Promise.all([keepChangedFields(tx, outcomes), keepEndedDocuments(tx, outcomes)]);
}

/** The fields that an update has set: mostly a few, so that a million updates take little space. */
async function keepChangedFields(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const updated = outcomes.filter(({ attempt, result }) => result.kind === 'updated' && attempt.pull !== undefined);
  if (updated.length === 0) return;
  await tx.query(
    `insert into former_document (feed, key, pull, fields, whole)
     select a.feed, a.key, a.pull, a.fields, false
     from unnest($1::text[], $2::text[], $3::bigint[], $4::json[]) a(feed, key, pull, fields)
     join mapping m on m.feed = a.feed and m.key = a.key and (m.adopted or m.created_by is distinct from a.pull)`,
    [
      updated.map(({ attempt }) => attempt.feed),
      updated.map(({ attempt }) => attempt.key),
      updated.map(({ attempt }) => attempt.pull),
      updated.map(({ attempt: { request, before } }) =>
        before === undefined || !('fields' in request) ? null : toJsonb(formerValues(request.fields, before)),
      ),
    ],
  );
}

/** The former value of each field that is sent; null for one that the job did not have. */
const formerValues = (sent: Fields, before: Fields): Readonly<Record<string, string | null>> =>
  Object.fromEntries(Object.keys(sent).map((name) => [name, before[name] ?? null]));

/** Copies the documents inside the database, without loading them here. */
async function keepEndedDocuments(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const ended = outcomes.filter(({ attempt, result }) => ENDS_JOB.has(result.kind) && attempt.pull !== undefined);
  if (ended.length === 0) return;
  await tx.query(
    `insert into former_document (feed, key, pull, fields, whole)
     select a.feed, a.key, a.pull, d.fields, true
     from unnest($1::text[], $2::text[], $3::bigint[]) a(feed, key, pull)
     join mapping m on m.feed = a.feed and m.key = a.key and (m.adopted or m.created_by is distinct from a.pull)
     left join document d on d.feed = a.feed and d.key = a.key`,
    [
      ended.map(({ attempt }) => attempt.feed),
      ended.map(({ attempt }) => attempt.key),
      ended.map(({ attempt }) => attempt.pull),
    ],
  );
}
