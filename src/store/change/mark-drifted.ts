// Marks what a person found different on the site: as the fields of an uncertain write, they are sent again by the next update.
import { type FeedName, type PostingKey, postingKey, type SiteJobId } from '../../posting/identifiers.ts';
import { auditActions } from '../access/audit.ts';
import { forgetVersions } from '../feed/feed-state.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { columnsOf, type Database, type Queryable, type Session, transactionOn } from '../postgres/database.ts';
import { unreadHashSql } from '../pull/record-hashes.ts';

/** A job that was found gone or changed, with what was known of it when it was asked for. */
export interface DriftedJob {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly contentHash: Buffer;
  /** The number of the last request for the posting; 0: none. */
  readonly lastRequest: number;
  /** The fields to send again. */
  readonly names: readonly string[];
  /** `unknown`: it is not known how the site shows the fields, which it tells once they are sent again. */
  readonly finding: 'gone' | 'changed' | 'unknown';
}

export interface UnmarkedJob {
  readonly key: PostingKey;
  readonly message: string;
}

/**
 * Marks jobs of one feed in one transaction. The caller holds the feed's pull lock, so that no pull takes the postings for
 * unchanged meanwhile. Nothing is sent or deleted: the next pull plans an update of each, and if the site says that the job is
 * gone, the update is handled like any other update of a job that is gone. Returns those that changed since they were found.
 */
export async function markDrifted(
  session: Session,
  feed: FeedName,
  actor: string,
  jobs: readonly DriftedJob[],
): Promise<UnmarkedJob[]> {
  return transactionOn(session, async () => {
    await lockOutcomesShared(session, [feed]);
    const keys = jobs.map(({ key }) => key);
    // Locked, so that none of them is sent until the marks are committed.
    for (const table of ['change', 'mapping'])
      await session.query(`select from ${table} where feed = $1 and key = any($2::text[]) order by key for update`, [
        feed,
        keys,
      ]);
    const unmarked = await whyUnmarked(session, feed, jobs);
    const marked = jobs.filter(({ key }) => !unmarked.has(key));
    await writeMarks(session, feed, marked);
    await auditActions(
      session,
      actor,
      'set again what differs on the site',
      marked.map(({ key, siteJobId, finding, names }) => ({
        feed,
        key,
        detail: { siteJobId, finding, fields: names },
      })),
    );
    return [...unmarked].map(([key, message]) => ({ key, message }));
  });
}

/** Marks fields that an accepted update of this posting has cleared, unless the job has become another's. */
export async function markCleared(
  db: Database,
  { feed, key, siteJobId }: Pick<DriftedJob, 'feed' | 'key' | 'siteJobId'>,
  names: readonly string[],
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockOutcomesShared(tx, [feed]);
    await tx.query('select from change where feed = $1 and key = $2 for update', [feed, key]);
    const own = 'select from mapping where feed = $1 and key = $2 and site_job_id = $3 for update';
    if ((await tx.query(own, [feed, key, siteJobId])).length > 0) await writeMarks(tx, feed, [{ key, names }]);
  });
}

async function whyUnmarked(
  session: Session,
  feed: FeedName,
  jobs: readonly DriftedJob[],
): Promise<ReadonlyMap<PostingKey, string>> {
  const rows = await session.query<{ key: string; message: string }>(
    `select j.key, case
       when m.key is null then 'the posting has no such job any more'
       when c.desired = 'absent' then 'its posting is no longer in the feed'
       when c.attempt_token is not null then 'a request for it is in flight'
       when u.key is not null then 'it is already marked'
       else 'the job has been sent meanwhile' end as message
     from unnest($2::text[], $3::text[], $4::bytea[], $5::bigint[]) j(key, id, hash, last_request)
     left join mapping m on m.feed = $1 and m.key = j.key and m.site_job_id = j.id
     left join change c on c.feed = $1 and c.key = j.key
     left join uncertain_write u on u.feed = $1 and u.key = j.key and (u.fields is not null or u.until > now())
     where m.key is null or coalesce(c.desired = 'absent', false) or c.attempt_token is not null or u.key is not null
       or m.content_hash <> j.hash
       or j.last_request <> coalesce((select max(q.id) from request q where q.feed = $1 and q.key = j.key), 0)`,
    [feed, ...columnsOf(jobs, 'key', 'siteJobId', 'contentHash', 'lastRequest')],
  );
  return new Map(rows.map(({ key, message }) => [postingKey(key), message]));
}

/**
 * Neither hash of the mapping matches what the feed has, so that the next pull compares the posting anew. A worker that has already read the mapping holds the old
 * revision of the change, so it can't send an update without the fields.
 */
async function writeMarks(
  tx: Queryable,
  feed: FeedName,
  marked: readonly Pick<DriftedJob, 'key' | 'names'>[],
): Promise<void> {
  if (marked.length === 0) return;
  const keys = marked.map(({ key }) => key);
  // No change has revision 0, and no earlier request may still arrive.
  await tx.query(
    `insert into uncertain_write (feed, key, revision, fields, until)
     select $1, key, 0, array(select jsonb_array_elements_text(names)), clock_timestamp()
     from unnest($2::text[], $3::jsonb[]) a(key, names)
     on conflict (feed, key) do update set revision = 0, fields = excluded.fields, until = excluded.until`,
    [feed, keys, marked.map(({ names }) => toJsonb(names))],
  );
  await tx.query(
    `update mapping set content_hash = decode(repeat('00', 16), 'hex'),
       record_hash = ${unreadHashSql('verified')}
     where feed = $1 and key = any($2::text[])`,
    [feed, keys],
  );
  await tx.query(
    `update change set revision = nextval('revision_number')
     where feed = $1 and key = any($2::text[]) and state = 'ready'`,
    [feed, keys],
  );
  await forgetVersions(tx, [feed]);
}
