// Which postings have expired, and whether a pull is due because of them.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { type Queryable, readFlag, readNumber, type Stored, withoutNulls } from '../postgres/database.ts';

/**
 * SQL: whether the posting with the mapping `m` and the row `e`, each or both of which may be null, has expired: by the age of its job,
 * or, without a job, because it was noted. @param days `undefined`: postings of the feed do not expire.
 */
export const hasExpired = (days: number | undefined): string =>
  days === undefined
    ? 'false'
    : `(case when m.mapped_at is null then e.expired_at is not null
        else greatest(m.mapped_at, e.renewed_at) <= now() - make_interval(hours => ${24 * days}) end)`;

/** SQL: the row of the posting of `table`. */
export const joinExpiry = (table: string): string =>
  `left join posting_expiry e on e.feed = ${table}.feed and e.key = ${table}.key`;

/** SQL: rows of postings with a job that has not been on the site for so long; $1 is the feed. */
const notAnyMore = (days: number): string => `from posting_expiry e join mapping m on m.feed = e.feed and m.key = e.key
  where e.feed = $1 and e.expired_at is not null and not ${hasExpired(days)}`;

/** SQL: whether the posting of the row `e` has expired, and its job has ended. */
export const JOB_HAS_EXPIRED = `e.expired_at is not null
  and not exists (select from mapping m where m.feed = e.feed and m.key = e.key)
  and not exists (select from change c where c.feed = e.feed and c.key = e.key)`;

/** Forgets that postings had expired whose jobs have not been on the site for so long: the number of days has changed, or they are others. */
export async function forgetUnexpired(db: Queryable, feed: FeedName, days: number): Promise<void> {
  await db.query(
    `delete from posting_expiry x using (select e.key ${notAnyMore(days)}) o where x.feed = $1 and x.key = o.key`,
    [feed],
  );
}

/** Whether the next pull must read the feed, changed or not: a job is due, or postings are to have jobs again. */
export async function anyExpiryDue(db: Queryable, feed: FeedName, days: number | undefined): Promise<boolean> {
  if (days === undefined) return any(db, feed, 'select from posting_expiry where feed = $1 and expired_at is not null');
  const since = `now() - make_interval(hours => ${24 * days})`;
  // The same as `hasExpired` for a posting with a job, in the form that an index answers.
  const due = `select from mapping m ${joinExpiry('m')}
    where m.feed = $1 and m.mapped_at <= ${since} and not coalesce(e.renewed_at > ${since}, false)
      and not exists (select from change c where c.feed = m.feed and c.key = m.key and c.desired = 'absent')`;
  // Only a pull that reads the feed forgets one that is missing within its grace.
  return any(db, feed, due, 'select from posting_expiry where feed = $1 and missing_pulls > 0');
}

/**
 * Whether postings are noted as expired whose jobs have not been on the site for so long. Only a pull that reads the feed withdraws
 * their deletes. Reads each expired posting of the feed; a feed with another number of days is read because its request digest is another one.
 */
export const anyUnexpired = async (db: Queryable, feed: FeedName, days: number | undefined): Promise<boolean> =>
  days !== undefined && any(db, feed, `select ${notAnyMore(days)}`);

async function any(db: Queryable, feed: FeedName, ...queries: readonly string[]): Promise<boolean> {
  const exists = queries.map((query) => `exists (${query})`).join(' or ');
  return readFlag(db, `select ${exists} as any`, [feed]);
}

/** How many postings have expired and have no job. @param feed `undefined`: of all feeds */
export const countExpired = (db: Queryable, feed: FeedName | undefined): Promise<number> =>
  readNumber(
    db,
    `select count(*) as n from posting_expiry e where ($1::text is null or e.feed = $1) and e.expired_at is not null
       and not exists (select from mapping m where m.feed = e.feed and m.key = e.key)`,
    [feed ?? null],
  );

/** How a posting stands with its time. */
export interface PostingExpiry {
  /** `undefined`: its time was started anew. */
  readonly expiredAt: Date | undefined;
  readonly renewedAt: Date | undefined;
  readonly siteJobId: string | undefined;
}

export async function expiryOf(db: Queryable, feed: FeedName, key: PostingKey): Promise<PostingExpiry | undefined> {
  const [row] = await db.query<Stored<PostingExpiry>>(
    `select expired_at as "expiredAt", renewed_at as "renewedAt", site_job_id as "siteJobId" from posting_expiry
     where feed = $1 and key = $2`,
    [feed, key],
  );
  return row && withoutNulls<PostingExpiry>(row);
}
