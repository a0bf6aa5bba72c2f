// Reads the postings that have no job, and those that compete with them for the jobs of a site.
import type { FeedName, PostingKey, PostingRef, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { type Queryable, readColumn, type Session, type Stored, withoutNulls } from '../postgres/database.ts';
import { inBatches } from '../postgres/stream-rows.ts';
import { namesOfSite } from '../site/known-address.ts';

export interface UnmappedPosting {
  readonly key: PostingKey;
  readonly fields: Fields;
  /** The review entry of its create if that is in flight or in doubt: the site may have its job already. */
  readonly inDoubt: number | undefined;
  /** The record that it was read from; see `interpretedHash`. */
  readonly recordHash: Buffer;
}

/** A posting that competes for jobs. */
export interface RivalPosting extends PostingRef {
  /** For a posting that has its job, at most the reference. */
  readonly fields: Fields;
  readonly isMapped: boolean;
}

const READ_AT_ONCE = 500;

/** The postings that the feed has, according to its last reading, and that have no job. */
export async function* unmappedPostings(session: Session, feed: FeedName): AsyncGenerator<UnmappedPosting[]> {
  const select = `select c.key, c.fields, c.record_hash as "recordHash",
      case when c.attempt_token is not null and c.found_job_id is null then c.id end as "inDoubt"
    from change c where c.feed = $1 and c.desired = 'present' and not c.gone and not c.unseen
      and not exists (select from mapping m where m.feed = c.feed and m.key = c.key) order by c.id`;
  for await (const rows of inBatches<Stored<UnmappedPosting>>(session, 'unmapped', select, READ_AT_ONCE, [feed]))
    yield rows.map(withoutNulls<UnmappedPosting>);
}

/** All other postings of the site: those with a job, and those of any feed that a create may give one. */
export async function* rivalPostings(
  session: Session,
  site: SiteName,
  referenceField: string | undefined,
): AsyncGenerator<RivalPosting[]> {
  const reference = `case when d.fields->>$2::text is null then '{}' else json_build_object($2::text, d.fields->>$2::text) end`;
  const unmapped = `select c.feed, c.key, coalesce(c.sent_fields, c.fields) as fields, false as "isMapped"
    from change c where c.site = any($1::text[]) and coalesce(c.sent_fields, c.fields) is not null
      and not exists (select from mapping m where m.feed = c.feed and m.key = c.key)`;
  const mapped = `select m.feed, m.key, ${reference}, true
    from mapping m left join document d on d.feed = m.feed and d.key = m.key where m.site = any($1::text[])`;
  const values = [await namesOfSite(session, site), referenceField ?? ''];
  await session.query('begin');
  yield* inBatches<RivalPosting>(session, 'rivals', `${unmapped} union all ${mapped}`, READ_AT_ONCE, values);
  await session.query('commit');
}

/** The feeds that no complete pull has read: their postings do not compete yet. */
export const unreadFeeds = (db: Queryable, feeds: readonly FeedName[]): Promise<FeedName[]> =>
  readColumn(
    db,
    `select f.feed from unnest($1::text[]) f(feed)
     where not exists (select from pull p where p.feed = f.feed and p.complete) order by f.feed`,
    [feeds],
  );
