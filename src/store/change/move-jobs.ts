// Gives a feed the jobs of postings that it has got from another feed of the site.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { auditActions } from '../access/audit.ts';
import { type HeldLock, lockOutcomes } from '../locks/advisory-locks.ts';
import { lockFeed } from '../locks/feed-locks.ts';
import type { Database } from '../postgres/database.ts';
import { addOutcomeCount } from '../pull/pull-history.ts';

export type MoveEnd =
  /** `present`: postings that the first feed still has, as far as its last pull shows. `unfinished`: the outcome of a request for them is not known, or a person has approved their delete. */
  | { readonly kind: 'moved'; readonly moved: number; readonly present: number; readonly unfinished: number }
  /** Nothing was written: a pull of this feed is running. */
  | { readonly kind: 'busy'; readonly feed: FeedName }
  /** Nothing was written. */
  | { readonly kind: 'refused'; readonly message: string };

const UNFINISHED = `b.attempt_token is not null or coalesce(b.approved, false)
  or exists (select from uncertain_write u where u.feed = m.feed and u.key = m.key)`;

/** The delete of an expired posting says nothing about its feed. */
const IN_FEED = `coalesce(b.desired <> 'absent', true) and m.missing_pulls = 0
  or exists (select from posting_expiry e where e.feed = m.feed and e.key = m.key and e.expired_at is not null)`;

/**
 * Gives a feed the jobs of its new postings which are, with the same key and content, postings that another feed has no more. Nothing is sent.
 * @param isLeft no process has the other feed in its configuration, so it has none of its postings
 */
export async function moveJobs(
  db: Database,
  { feed: from, isLeft }: { readonly feed: FeedName; readonly isLeft: boolean },
  { feed: to, site }: { readonly feed: FeedName; readonly site: SiteName },
  actor: string,
): Promise<MoveEnd> {
  const locks: HeldLock[] = [];
  try {
    for (const feed of [from, to].sort()) {
      const lock = await lockFeed(db, feed);
      if (lock === undefined) return { kind: 'busy', feed };
      locks.push(lock);
    }
    return await db.transaction(async (tx) => {
      for (const feed of [from, to].sort()) await lockOutcomes(tx, feed);
      const [open] = await tx.query<{ feed: FeedName }>(
        'select feed from feed_state where feed in ($1, $2) and rekey_since is not null limit 1',
        [from, to],
      );
      if (open !== undefined) {
        return {
          kind: 'refused',
          message: `the keys of feed ${open.feed} seem to have changed: decide about that first`,
        };
      }
      // Locked in the order that all code uses: no attempt begins, and none ends.
      await tx.query(
        `select from change c where c.feed in ($1, $2) and c.key in (
           select n.key from change n join mapping m on m.feed = $1 and m.key = n.key where n.feed = $2 and n.operation = 'create')
         order by c.feed, c.key for update`,
        [from, to],
      );
      await tx.query('create temporary table moved (key text, record_hash bytea, why text) on commit drop');
      await tx.query(
        `insert into moved
         select c.key, c.record_hash, case when ${UNFINISHED} then 'unfinished'
           when not $4 and (${IN_FEED}) then 'present' end
         from change c join mapping m on m.feed = $1 and m.key = c.key and m.site = $3 and m.content_hash = c.content_hash
           left join change b on b.feed = $1 and b.key = c.key
         where c.feed = $2 and c.site = $3 and c.state = 'ready' and c.operation = 'create' and c.desired = 'present'
           and c.attempt_token is null order by c.key for update of m`,
        [from, to, site, isLeft],
      );
      const [left] = await tx.query<{ present: number; unfinished: number }>(
        `select count(*) filter (where why = 'present') as present, count(*) filter (where why = 'unfinished') as unfinished from moved`,
      );
      await tx.query('delete from moved where why is not null');
      const ended = await tx.query<{ feed: FeedName; desired: string; counts: boolean }>(
        `delete from change c using moved w where c.feed in ($1, $2) and c.key = w.key
         returning c.feed, c.desired, not c.gone and not c.unseen as counts`,
        [from, to],
      );
      await addOutcomeCount(
        tx,
        ended.flatMap(({ feed, desired, counts }) =>
          desired === 'absent'
            ? { feed, outcome: 'dropped' as const }
            : counts
              ? { feed, outcome: 'nothing' as const }
              : [],
        ),
      );
      for (const table of ['document', 'refuted_job', 'posting_expiry'])
        await tx.query(`delete from ${table} t using moved w where t.feed = $1 and t.key = w.key`, [to]);
      // Undoing a pull of the first feed leaves these jobs as they are.
      for (const table of ['former_document', 'override', 'posting_note', 'kept_record'])
        await tx.query(`delete from ${table} t using moved w where t.feed = $1 and t.key = w.key`, [from]);
      const moved = await tx.query<{ key: PostingKey; siteJobId: SiteJobId }>(
        `update mapping m set feed = $2, missing_pulls = 0, record_hash = w.record_hash, created_by = null
         from moved w where m.feed = $1 and m.key = w.key returning m.key, m.site_job_id as "siteJobId"`,
        [from, to],
      );
      for (const table of ['document', 'posting_expiry'])
        await tx.query(`update ${table} t set feed = $2 from moved w where t.feed = $1 and t.key = w.key`, [from, to]);
      // The next pulls must read the feeds, changed or not.
      await tx.query('update feed_state set source_version = null where feed in ($1, $2)', [from, to]);
      await auditActions(
        tx,
        actor,
        'move job',
        moved.map(({ key, siteJobId }) => ({ feed: to, key, detail: { from, siteJobId } })),
      );
      return { kind: 'moved', moved: moved.length, present: left?.present ?? 0, unfinished: left?.unfinished ?? 0 };
    });
  } finally {
    for (const lock of locks) await lock.release();
  }
}
