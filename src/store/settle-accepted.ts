// Writes what the site accepted: mapping and document become what was sent, and the change goes, or waits for its newer wish.
import { type Attempt, idOf, type PostingRef } from './attempt.ts';
import { changeReason } from './change-reason.ts';
import type { Queryable } from './database.ts';
import type { Result, Settlement } from './settlement.ts';
import type { Counted } from './tally.ts';
import { forgetUnanswered, noteAnswered } from './unanswered.ts';

/** What settling accepted attempts came to. */
export interface Accepted {
  /** The tokens of creates whose site job belongs to another posting already. */
  readonly elsewhere: ReadonlySet<string>;
  /** What counts towards the current pulls. */
  readonly counts: readonly Counted[];
}

/** Settles accepted attempts. Statements that need no other's result are sent together, in the order they stand in. */
export async function settleAccepted(tx: Queryable, settlements: readonly Settlement[]): Promise<Accepted> {
  if (settlements.length === 0) return { elsewhere: new Set(), counts: [] };
  const elsewhere = await writeMappings(tx, settlements);
  const done = settlements.filter(({ attempt }) => !elsewhere.has(attempt.token));
  const [, , closed] = await Promise.all([writeDocuments(tx, done), removeMappings(tx, done), closeChanges(tx, done)]);
  await failOwnedElsewhere(
    tx,
    settlements.filter(({ attempt }) => elsewhere.has(attempt.token)),
  );
  const counts = done.flatMap(({ attempt, result }): Counted[] => {
    // A wish that was replaced meanwhile is counted once, when the newer one is done.
    const ended = closed.has(idOf(attempt)) && result.kind !== 'vanished';
    return ended && result.kind !== 'returned' ? [{ feed: attempt.feed, outcome: result.kind }] : [];
  });
  return { elsewhere, counts };
}

/** Gives the tokens of creates whose site job belongs to another posting already; nothing was written for those. */
async function writeMappings(tx: Queryable, settlements: readonly Settlement[]): Promise<ReadonlySet<string>> {
  const created = settlements.flatMap(({ attempt, result }): Created[] =>
    result.kind === 'created' && attempt.result !== undefined ? [{ attempt, result, sent: attempt.result }] : [],
  );
  const updated = settlements.filter(({ result }) => result.kind === 'updated');
  const [written] = await Promise.all([
    insertMappings(tx, created),
    noteAnswered(tx, updated),
    updateMappings(tx, updated),
  ]);
  return new Set(created.filter(({ attempt }) => !written.has(idOf(attempt))).map(({ attempt }) => attempt.token));
}

interface Created {
  readonly attempt: Attempt;
  readonly result: Extract<Result, { kind: 'created' }>;
  readonly sent: NonNullable<Attempt['result']>;
}

/** Gives the postings whose mapping was written. */
async function insertMappings(tx: Queryable, created: readonly Created[]): Promise<ReadonlySet<string>> {
  if (created.length === 0) return new Set();
  const rows = await tx.query<PostingRef>(
    `insert into mapping as m (feed, key, site, site_job_id, site_job_url, record_hash, content_hash)
     select distinct on (site, id) feed, key, site, id, url, record_hash, content_hash
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[])
       c(feed, key, site, id, url, record_hash, content_hash)
     where not exists (select from mapping o where o.site = c.site and o.site_job_id = c.id
                       and (o.feed, o.key) <> (c.feed, c.key))
     on conflict (feed, key) do update set site = excluded.site, site_job_id = excluded.site_job_id,
       site_job_url = excluded.site_job_url, record_hash = excluded.record_hash, content_hash = excluded.content_hash,
       missing_pulls = 0, mapped_at = now()
     returning m.feed, m.key`,
    [
      created.map(({ attempt }) => attempt.feed),
      created.map(({ attempt }) => attempt.key),
      created.map(({ attempt }) => attempt.site),
      created.map(({ result }) => result.siteJobId),
      created.map(({ result }) => result.url ?? null),
      created.map(({ sent }) => sent.recordHash),
      created.map(({ sent }) => sent.contentHash),
    ],
  );
  return new Set(rows.map(idOf));
}

async function updateMappings(tx: Queryable, settlements: readonly Settlement[]): Promise<void> {
  const updated = settlements.flatMap(({ attempt }) =>
    attempt.result === undefined ? [] : [{ attempt, sent: attempt.result }],
  );
  if (updated.length === 0) return;
  await tx.query(
    `update mapping m set record_hash = u.record_hash, content_hash = u.content_hash, missing_pulls = 0
     from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[]) u(feed, key, record_hash, content_hash)
     where m.feed = u.feed and m.key = u.key`,
    [
      updated.map(({ attempt }) => attempt.feed),
      updated.map(({ attempt }) => attempt.key),
      updated.map(({ sent }) => sent.recordHash),
      updated.map(({ sent }) => sent.contentHash),
    ],
  );
}

/** What was sent stands in the change still, and goes from there to the document without passing through here again. */
async function writeDocuments(tx: Queryable, settlements: readonly Settlement[]): Promise<void> {
  const sent = settlements.filter(({ result }) => result.kind === 'created' || result.kind === 'updated');
  if (sent.length === 0) return;
  await tx.query(
    `insert into document (feed, key, fields)
     select c.feed, c.key, coalesce(c.sent_fields, c.fields)
     from unnest($1::text[], $2::text[], $3::uuid[]) a(feed, key, token)
     join change c on c.feed = a.feed and c.key = a.key and c.attempt_token = a.token
     on conflict (feed, key) do update set fields = excluded.fields`,
    [
      sent.map(({ attempt }) => attempt.feed),
      sent.map(({ attempt }) => attempt.key),
      sent.map(({ attempt }) => attempt.token),
    ],
  );
}

async function removeMappings(tx: Queryable, settlements: readonly Settlement[]): Promise<void> {
  const removed = settlements.filter(({ result }) => result.kind === 'deleted' || result.kind === 'vanished');
  if (removed.length === 0) return;
  const removal = () =>
    tx.query(
      `with r as (select * from unnest($1::text[], $2::text[], $3::bool[]) r(feed, key, counts)),
       m as (delete from mapping m using r where m.feed = r.feed and m.key = r.key),
       d as (delete from document d using r where d.feed = r.feed and d.key = r.key)
     insert into deletion (feed, key) select feed, key from r where counts`,
      [
        removed.map(({ attempt }) => attempt.feed),
        removed.map(({ attempt }) => attempt.key),
        removed.map(({ attempt, result }) => result.kind === 'deleted' && !attempt.approved),
      ],
    );
  await Promise.all([forgetUnanswered(tx, removed), removal()]);
}

/**
 * Removes the changes whose wish was sent; a newer wish stays, rested as it says. Gives those removed, as `feed key`,
 * that count: a posting that went missing meanwhile is counted as missing, and one that the current pull did not see not
 * at all.
 */
async function closeChanges(tx: Queryable, settlements: readonly Settlement[]): Promise<ReadonlySet<string>> {
  const open = settlements.filter(({ result }) => result.kind !== 'vanished');
  const rows = await tx.query<PostingRef & { readonly counts: boolean }>(
    `delete from change c using unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[]) a(feed, key, token, revision)
     where c.feed = a.feed and c.key = a.key and c.attempt_token = a.token and c.revision = a.revision
     returning c.feed, c.key, not c.gone and not c.unseen as counts`,
    [
      open.map(({ attempt }) => attempt.feed),
      open.map(({ attempt }) => attempt.key),
      open.map(({ attempt }) => attempt.token),
      open.map(({ attempt }) => attempt.revision),
    ],
  );
  if (rows.length < settlements.length) await restNewerWishes(tx, settlements);
  return new Set(rows.filter((row) => row.counts).map(idOf));
}

/** A wish that is newer than what was sent, or whose job vanished, is next to be sent. */
async function restNewerWishes(tx: Queryable, settlements: readonly Settlement[]): Promise<void> {
  await tx.query(
    `update change c set state = c.resting, since = now(), attempts = 0, not_before = '-infinity',
       operation = case when c.wanted = 'absent' then 'delete' when c.attempt_operation = 'delete' then 'create'
         when a.vanished then 'create' else 'update' end,
       attempt_token = null, attempt_operation = null, attempt_started = null
     from unnest($1::text[], $2::text[], $3::uuid[], $4::bool[]) a(feed, key, token, vanished)
     where c.feed = a.feed and c.key = a.key and c.attempt_token = a.token`,
    [
      settlements.map(({ attempt }) => attempt.feed),
      settlements.map(({ attempt }) => attempt.key),
      settlements.map(({ attempt }) => attempt.token),
      settlements.map(({ result }) => result.kind === 'vanished'),
    ],
  );
}

/** The site answered a create with a job that is another posting's: nothing of it is ours to change, a person decides. */
async function failOwnedElsewhere(tx: Queryable, settlements: readonly Settlement[]): Promise<void> {
  for (const { attempt, result } of settlements) {
    if (result.kind !== 'created') continue;
    const [owner] = await tx.query<{ feed: string; key: string }>(
      'select feed, key from mapping where site = $1 and site_job_id = $2',
      [attempt.site, result.siteJobId],
    );
    const message =
      `the site answered the create with job ${result.siteJobId}, which already belongs to posting ` +
      `${owner?.key} of feed ${owner?.feed}: the site seems to hold the two for one job`;
    await tx.query(
      `update change set state = 'failed', since = now(), reason = $4, attempt_token = null, attempt_operation = null,
         attempt_started = null
       where feed = $1 and key = $2 and attempt_token = $3`,
      [attempt.feed, attempt.key, attempt.token, changeReason('owned_elsewhere', message)],
    );
  }
}
