// What a pull does about the expired postings that it saw, in its tables: their jobs are due, and what is recorded of them.
import pg from 'pg';
import { NEVER_DUE } from '../../../plan/policy.ts';
import type { PostingKey } from '../../../posting/identifiers.ts';
import { inBatches } from '../../postgres/stream-rows.ts';
import { type ComparedFields, digests, digestValues, UNEDITED } from '../../pull/digests.ts';
import type { PullTransaction } from '../../pull/pull-transaction.ts';

const BATCH = 10_000;

/** Takes the expired postings out of the missing ones: they are in the feed. */
export async function leaveOutExpired({ session, missing, expiredSeen }: PullTransaction): Promise<void> {
  if (!missing.exists || !expiredSeen.exists) return;
  await session.query('delete from missing x using expired_seen s where x.key = s.key');
}

/** Adds the expired postings that have a job to the missing ones, as due. Returns how many jobs were not to be deleted before. */
export async function addExpired({
  session,
  subject: { feed },
  missing,
  expiredSeen,
}: PullTransaction): Promise<number> {
  if (!expiredSeen.exists) return 0;
  await missing.create();
  const rows = await session.query<{ added: boolean }>(
    `insert into missing
     select m.key, ${NEVER_DUE}, coalesce(c.desired = 'absent', false), null
     from expired_seen s join mapping m on m.feed = $1 and m.key = s.key left join change c on c.feed = m.feed and c.key = m.key
     on conflict (key) do update set missing_pulls = ${NEVER_DUE} returning not absent_already as added`,
    [feed],
  );
  return rows.filter(({ added }) => added).length;
}

/**
 * Records which postings have expired, and by what they are recognised under other keys. Their jobs are being deleted, so this needs a
 * complete pull.
 */
export async function noteExpired(
  { session, subject: { feed }, expiredSeen }: PullTransaction,
  compared: ComparedFields,
): Promise<void> {
  if (!expiredSeen.exists) return;
  await session.query(
    `insert into posting_expiry as e (feed, key, expired_at, site_job_id, record_hash, content, likeness, bare)
     select $1, x.key, now(), m.site_job_id, x.record_hash, digest.content, digest.likeness, digest.bare
     from expired_seen x left join mapping m on m.feed = $1 and m.key = x.key
       left join document d on d.feed = $1 and d.key = x.key left join ${digests(UNEDITED, 'x.key')} on true
     on conflict (feed, key) do update set
       expired_at = case when e.site_job_id is distinct from coalesce(excluded.site_job_id, e.site_job_id) then now()
         else coalesce(e.expired_at, now()) end,
       renewed_at = null, site_job_id = coalesce(excluded.site_job_id, e.site_job_id), record_hash = excluded.record_hash,
       content = case when excluded.site_job_id is null then e.content else excluded.content end,
       likeness = case when excluded.site_job_id is null then e.likeness else excluded.likeness end,
       bare = case when excluded.site_job_id is null then e.bare else excluded.bare end,
       missing_pulls = 0`,
    digestValues(feed, compared),
  );
}

/** Records with which records known expired postings were seen. */
export async function refreshExpired({ session, subject: { feed }, expiredSeen }: PullTransaction): Promise<void> {
  if (!expiredSeen.exists) return;
  await session.query(
    `update posting_expiry e set record_hash = s.record_hash, missing_pulls = 0
     from expired_seen s where e.feed = $1 and e.key = s.key and e.expired_at is not null`,
    [feed],
  );
}

/**
 * Collects the expired postings that this pull did not see.
 * @param hasSeen whether the pull saw the record with this hash.
 */
export async function collectExpiredGone(
  pullTx: PullTransaction,
  hasSeen: (recordHash: Buffer) => boolean,
): Promise<void> {
  const { session, subject, expiredSeen, unreadableKeys } = pullTx;
  const others = expiredSeen.exists ? 'and not exists (select from expired_seen s where s.key = e.key)' : '';
  const protects = unreadableKeys.exists
    ? `and not exists (select from unreadable_key r where r.key in (e.key, regexp_replace(e.key, '[^|]*$', '')))`
    : '';
  const select = `select e.key, e.record_hash as hash from posting_expiry e
    where e.feed = ${pg.escapeLiteral(subject.feed)} and e.expired_at is not null ${others} ${protects}`;
  await pullTx.addExpiredGone(unseen());

  async function* unseen(): AsyncGenerator<PostingKey[]> {
    for await (const rows of inBatches<{ key: PostingKey; hash: Buffer | null }>(
      session,
      'expired_row',
      select,
      BATCH,
    )) {
      yield rows.filter(({ hash }) => hash === null || !hasSeen(hash)).map(({ key }) => key);
    }
  }
}

/**
 * Forgets the expired postings that a complete pull no longer saw, once their grace is over: one that comes back is a new posting. Not
 * while they may be in the feed under other keys.
 */
export async function forgetGone(
  { session, subject: { feed }, expiredGone }: PullTransaction,
  pullsBeforeDue: number,
): Promise<void> {
  if (expiredGone.exists)
    await session.query(
      `with gone as (select g.key from expired_gone g where not exists (
           select from rekey_posting r where r.feed = $1 and not r.is_new and r.key = g.key)),
       counted as (update posting_expiry e set missing_pulls = e.missing_pulls + 1 from gone g
         where e.feed = $1 and e.key = g.key and e.missing_pulls < $2)
       delete from posting_expiry e using gone g where e.feed = $1 and e.key = g.key and e.missing_pulls >= $2`,
      [feed, pullsBeforeDue],
    );
  await session.query(
    `delete from posting_expiry e where e.feed = $1 and e.renewed_at is not null
       and not exists (select from mapping m where m.feed = e.feed and m.key = e.key)
       and not exists (select from change c where c.feed = e.feed and c.key = e.key)`,
    [feed],
  );
}

/** Forgets all of them: postings of the feed do not expire any more. */
export async function forgetExpiry({ session, subject: { feed } }: PullTransaction): Promise<void> {
  await session.query('delete from posting_expiry where feed = $1', [feed]);
}

/** Starts the time of postings anew that an undo sets back, creates again, or no longer deletes. Before the changes are merged. */
export async function renewUndone({ session, subject: { feed }, supersedingChanges }: PullTransaction): Promise<void> {
  await session.query(
    `update posting_expiry e set expired_at = null, renewed_at = now()
     where e.feed = $1 and (exists (select from ${supersedingChanges.rows} w where w.key = e.key and w.desired = 'present')
       or exists (select from undo_withdrawal w where w.key = e.key))`,
    [feed],
  );
}
