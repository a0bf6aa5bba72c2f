// Reads the postings that have no job, and those that compete with them for the jobs of a site.
import pg from 'pg';
import { type FeedName, feedName, type PostingKey, postingKey, type SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { Queryable, Session } from '../postgres/database.ts';
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
export interface RivalPosting {
  readonly feed: FeedName;
  readonly key: PostingKey;
  /** Of a posting that has its job: at most the reference. */
  readonly fields: Fields;
  readonly isMapped: boolean;
}

const READ_AT_ONCE = 500;

interface UnmappedRow {
  readonly key: string;
  readonly fields: Fields;
  readonly hash: Buffer;
  readonly doubt: number | null;
}

/** The postings that the feed has, according to its last reading, and that have no job. */
export async function* unmappedPostings(session: Session, feed: FeedName): AsyncGenerator<UnmappedPosting[]> {
  const select = `select c.key, c.fields, c.record_hash as hash, case when c.attempt_token is not null and c.found_job_id is null then c.id end as doubt
    from change c where c.feed = ${pg.escapeLiteral(feed)} and c.desired = 'present' and not c.gone and not c.unseen
      and not exists (select from mapping m where m.feed = c.feed and m.key = c.key) order by c.id`;
  for await (const rows of inBatches<UnmappedRow>(session, 'unmapped', select, READ_AT_ONCE)) {
    yield rows.map(({ key, fields, hash, doubt }) => ({
      key: postingKey(key),
      fields,
      inDoubt: doubt ?? undefined,
      recordHash: hash,
    }));
  }
}

interface RivalRow {
  readonly feed: string;
  readonly key: string;
  /** Null for a posting with a job. */
  readonly fields: Fields | null;
  readonly reference: string | null;
  readonly mapped: boolean;
}

/** All other postings of the site: those with a job, and those of any feed that a create may give one. */
export async function* rivalPostings(
  session: Session,
  site: SiteName,
  referenceField: string | undefined,
): AsyncGenerator<RivalPosting[]> {
  const names = (await namesOfSite(session, site)).map((name) => pg.escapeLiteral(name)).join(', ');
  const reference = referenceField === undefined ? 'null' : `d.fields->>${pg.escapeLiteral(referenceField)}`;
  const unmapped = `select c.feed, c.key, coalesce(c.sent_fields, c.fields) as fields, null as reference, false as mapped
    from change c where c.site in (${names}) and coalesce(c.sent_fields, c.fields) is not null
      and not exists (select from mapping m where m.feed = c.feed and m.key = c.key)`;
  const mapped = `select m.feed, m.key, null::json as fields, ${reference} as reference, true as mapped
    from mapping m left join document d on d.feed = m.feed and d.key = m.key where m.site in (${names})`;
  await session.query('begin');
  for await (const rows of inBatches<RivalRow>(session, 'rivals', `${unmapped} union all ${mapped}`, READ_AT_ONCE)) {
    yield rows.map(({ feed, key, fields, reference: sent, mapped: isMapped }) => ({
      feed: feedName(feed),
      key: postingKey(key),
      fields: fields ?? (sent === null || referenceField === undefined ? {} : { [referenceField]: sent }),
      isMapped,
    }));
  }
  await session.query('commit');
}

/** Those of these feeds that no complete pull has read: their postings compete with nobody yet. */
export async function unreadFeeds(db: Queryable, feeds: readonly FeedName[]): Promise<FeedName[]> {
  const rows = await db.query<{ feed: string }>(
    `select f.feed from unnest($1::text[]) f(feed)
     where not exists (select from pull p where p.feed = f.feed and p.complete) order by f.feed`,
    [feeds],
  );
  return rows.map(({ feed }) => feedName(feed));
}
