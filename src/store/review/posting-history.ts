// Reads all that is recorded about one posting: what the site has, what is open, what was sent, and who intervened.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields, Problem } from '../../posting/posting.ts';
import { type AuditRow, recentActions } from '../access/audit.ts';
import { type EditRow, editsOfPosting } from '../change/edit.ts';
import { findChangeOf, type OpenChangeRow } from '../change/open-change.ts';
import { type Queryable, type Stored, withoutNulls } from '../postgres/database.ts';
import { expiryOf, type PostingExpiry } from '../pull/posting-expiry.ts';
import { keptRecordOf, notesOf } from '../pull/posting-notes.ts';
import { listPulls, type PullRow } from '../pull/pull-history.ts';
import { type SkippedByDate, skippedByDate } from '../pull/record-hashes.ts';
import { detailOf } from '../pull/stored-details.ts';

/** What the site has for a posting. */
export interface LiveJob {
  readonly site: SiteName;
  readonly siteJobId: SiteJobId;
  readonly url: string | undefined;
  readonly since: Date;
  /** Complete pulls in a row in which the posting was missing. */
  readonly missingPulls: number;
  /** The hash of the record that was read when the site last had what the feed has. */
  readonly recordHash: Buffer;
  /** What the site last accepted; `undefined` if unknown. */
  readonly fields: Fields | undefined;
}

/** One request, in brief. */
export interface RequestRow {
  readonly at: Date;
  readonly operation: string;
  readonly siteJobId: string | null;
  readonly status: number | null;
  readonly outcome: string;
}

/** One failed attempt, as sent and received, with the token removed. */
export interface FailureRow {
  readonly at: Date;
  readonly operation: string;
  readonly kind: string;
  readonly problems: readonly Problem[];
  readonly request: { readonly method: string; readonly url: string; readonly body?: string } | null;
  readonly response: { readonly status: number; readonly location?: string; readonly body: string } | null;
}

/** A record that repeats the posting's key with different content. */
export interface DuplicateRow {
  readonly id: number;
  readonly since: Date;
}

/** A record with the posting's key that cannot be read. */
export interface UnreadableRow {
  readonly id: number;
  readonly since: Date;
  /** A person has dealt with it; the posting's job stays anyway. */
  readonly discarded: boolean;
  readonly reason: string;
}

export interface PostingStory {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly live: LiveJob | undefined;
  readonly change: OpenChangeRow | undefined;
  /** Whether it has expired, or its time was started anew. */
  readonly expiry: PostingExpiry | undefined;
  /** Whether its record is skipped because of a date. */
  readonly skipped: SkippedByDate | undefined;
  readonly edits: readonly EditRow[];
  /** What was altered in the fields while reading. */
  readonly notes: readonly Problem[];
  /** The beginning of the record that its open change was read from, if it was kept. */
  readonly record: string | undefined;
  /** Its detail, if the list of the feed lacks a part of it. */
  readonly detail: { readonly requestedAt: Date; readonly document: Buffer } | undefined;
  readonly requests: readonly RequestRow[];
  readonly failures: readonly FailureRow[];
  readonly duplicates: readonly DuplicateRow[];
  readonly unreadable: readonly UnreadableRow[];
  readonly acts: readonly AuditRow[];
  /** The feed's newest pull. */
  readonly lastPull: PullRow | undefined;
}

const NEWEST = 5;

/** @param newest how many requests and actions at most; there are as many failures as usual, as each is large */
export async function readStory(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  newest: number = NEWEST,
): Promise<PostingStory> {
  const [lastPull] = await listPulls(db, feed, 1);
  return {
    feed,
    key,
    live: await findLiveJob(db, feed, key),
    change: await findChangeOf(db, feed, key),
    expiry: await expiryOf(db, feed, key),
    skipped: await skippedByDate(db, feed, key),
    edits: await editsOfPosting(db, feed, key),
    notes: await notesOf(db, feed, key),
    record: await keptRecordOf(db, feed, key),
    detail: await detailOf(db, feed, key),
    requests: await recentRequests(db, feed, key, newest),
    failures: await recentFailures(db, feed, key, NEWEST),
    duplicates: await db.query<DuplicateRow>(
      `select id, since from record_problem where feed = $1 and key = $2 and kind = 'duplicate' and not discarded
       order by id limit $3`,
      [feed, key, NEWEST],
    ),
    // The record of a posting with a place has the key without the place.
    unreadable: await db.query<UnreadableRow>(
      `select id, since, discarded, problems->0->>'message' as reason from record_problem
       where feed = $1 and key in ($2, regexp_replace($2, '[^|]*$', '')) and kind = 'unreadable' order by id limit $3`,
      [feed, key, NEWEST],
    ),
    acts: await recentActions(db, feed, key, newest),
    lastPull,
  };
}

export async function findLiveJob(db: Queryable, feed: FeedName, key: PostingKey): Promise<LiveJob | undefined> {
  const [row] = await db.query<Stored<LiveJob>>(
    `select m.site, m.site_job_id as "siteJobId", m.site_job_url as url, m.mapped_at as since, m.missing_pulls as "missingPulls",
       m.record_hash as "recordHash", d.fields
     from mapping m left join document d on d.feed = m.feed and d.key = m.key where m.feed = $1 and m.key = $2`,
    [feed, key],
  );
  return row && withoutNulls<LiveJob>(row);
}

/** Newest first. */
async function recentRequests(db: Queryable, feed: FeedName, key: PostingKey, limit: number): Promise<RequestRow[]> {
  return db.query<RequestRow>(
    `select at, operation, site_job_id as "siteJobId", status, outcome from request
     where feed = $1 and key = $2 order by id desc limit $3`,
    [feed, key, limit],
  );
}

/** Newest first. */
export async function recentFailures(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  limit: number,
): Promise<FailureRow[]> {
  return db.query<FailureRow>(
    `select at, operation, kind, problems, request, response from failure
     where feed = $1 and key = $2 order by id desc limit $3`,
    [feed, key, limit],
  );
}
