// Reads the changes of a feed as they would be sent, with each field before and after.
import type { CreateOnlyFields } from '../../plan/desired-change.ts';
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import { type LastAccepted, nextRequest } from '../../plan/next-request.ts';
import type { CommonReason } from '../../plan/set-up-suspicion.ts';
import { type FeedName, type PostingKey, postingKey, siteJobId } from '../../posting/identifiers.ts';
import type { Fields, Problem } from '../../posting/posting.ts';
import type { Queryable, Session } from '../postgres/database.ts';
import { inBatches } from '../postgres/stream-rows.ts';
import { SENDING_RANK } from './backlog.ts';

/** One change. `from` or `to` is null if the field does not exist before or after. */
export interface PlannedChange {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly operation: 'create' | 'update' | 'delete';
  readonly fields: Readonly<Record<string, { readonly from: string | null; readonly to: string | null }>>;
  /** It waits for approval. */
  readonly held?: true;
  /** Why it waits. */
  readonly reason?: Message;
}

/** A posting or record that is not sent, and why. It has the shape of a change without fields. */
export interface UnsentPosting {
  readonly feed: FeedName;
  /** Null for a record without a usable key. */
  readonly key: PostingKey | null;
  readonly operation: 'none';
  readonly fields: Readonly<Record<string, never>>;
  readonly kind: 'rejected' | 'failed' | 'discarded' | 'unreadable' | 'left_out';
  readonly reason: Message;
  readonly problems: readonly Problem[];
  /** The beginning of a record that cannot be read. */
  readonly excerpt?: string;
  /** How many such records exist, with the same key or the same bytes. */
  readonly records?: number;
}

const PAGE = 500;

/** What the site last accepted for a posting, as a row has it. */
export interface LastAcceptedRow {
  /** Null without a job, as what follows from one. */
  readonly site_job_id: string | null;
  readonly actual_hash: Buffer | null;
  readonly actual_fields: Fields | null;
  readonly uncertain: string[] | null;
}

export const lastAcceptedOf = ({
  site_job_id: id,
  actual_hash,
  actual_fields,
  uncertain,
}: LastAcceptedRow): LastAccepted | undefined =>
  id === null
    ? undefined
    : {
        siteJobId: siteJobId(id),
        contentHash: actual_hash as Buffer,
        fields: actual_fields ?? undefined,
        uncertain: uncertain ?? undefined,
      };

interface PlannedRow extends LastAcceptedRow {
  readonly key: string;
  readonly state: 'ready' | 'held';
  readonly reason: Reason | null;
  readonly desired: 'present' | 'absent';
  /** Null if it is to be deleted, as the hash. */
  readonly fields: Fields | null;
  readonly content_hash: Buffer | null;
}

/**
 * Streams the changes that are ready or held, in the order in which they would be sent. @param createOnly fields that updates leave
 * to the site. @param pull only those of this pull
 */
export async function* plannedChanges(
  session: Session,
  feed: FeedName,
  createOnly: CreateOnlyFields,
  pull?: number,
): AsyncGenerator<PlannedChange> {
  const changes = inBatches<PlannedRow>(
    session,
    'planned',
    `select c.key, c.desired, c.fields, c.content_hash, c.state, c.reason, m.site_job_id, m.content_hash as actual_hash,
       d.fields as actual_fields, u.fields as uncertain
     from change c left join mapping m on m.feed = c.feed and m.key = c.key
     left join document d on d.feed = c.feed and d.key = c.key
     left join uncertain_write u on u.feed = c.feed and u.key = c.key
     where c.feed = $1 and c.state in ('ready', 'held') and not c.gone
       ${pull === undefined ? '' : `and c.pull = ${pull}`}
     order by ${SENDING_RANK}, c.id`,
    PAGE,
    [feed],
  );
  for await (const rows of changes) {
    for (const row of rows) {
      const change = describe(feed, row, createOnly);
      if (change !== undefined) yield change;
    }
  }
}

interface UnsentRow {
  readonly key: string;
  readonly state: 'rejected' | 'failed' | 'discarded';
  readonly reason: Reason | null;
}

// Postings that a pull saw and that stay unsent until a person or the feed changes them.
const UNSENT = `change where feed = $1 and desired = 'present' and not gone and not unseen
  and state in ('rejected', 'failed', 'discarded')`;

/** Streams the postings that were seen but are not sent, with their reasons, oldest first. */
export async function* unsentPostings(session: Session, feed: FeedName): AsyncGenerator<UnsentPosting> {
  const select = `select key, state, reason from ${UNSENT} order by id`;
  for await (const rows of inBatches<UnsentRow>(session, 'unsent', select, PAGE, [feed])) {
    for (const { key, state, reason } of rows) {
      yield {
        feed,
        key: postingKey(key),
        operation: 'none',
        fields: {},
        kind: state,
        reason: reason === null ? 'no reason recorded' : messageOfReason(reason),
        problems: reason?.problems ?? [],
      };
    }
  }
}

/** Seen postings of a feed that are not sent or are in doubt, and its live jobs. */
export interface PlannedCounts {
  readonly rejected: number;
  readonly failed: number;
  readonly discarded: number;
  readonly inDoubt: number;
  /** Jobs of the feed on the site. */
  readonly live: number;
}

export async function countPlanned(db: Queryable, feed: FeedName): Promise<PlannedCounts> {
  const [row] = await db.query<PlannedCounts>(
    `select count(*) filter (where state = 'rejected') as rejected, count(*) filter (where state = 'failed') as failed,
       count(*) filter (where state = 'discarded') as discarded, count(*) filter (where state = 'in_doubt') as "inDoubt",
       (select count(*) from mapping where feed = $1) as live
     from change where feed = $1 and desired = 'present' and not gone and not unseen`,
    [feed],
  );
  return row as PlannedCounts;
}

/** The most common reason for which seen postings of the feed are not sent; unreadable records count too. */
export async function commonReason(db: Queryable, feed: FeedName): Promise<CommonReason | undefined> {
  const [row] = await db.query<CommonReason>(
    `select message, (array_agg(next) filter (where next is not null))[1] as next, sum(n)::bigint as count
     from (select reason->>'message' as message, reason->'next' as next, 1 as n from ${UNSENT}
           union all select problems->0->>'message', null, records from record_problem where feed = $1 and kind = 'unreadable') reason
     where message is not null group by 1 order by 2 desc, 1 limit 1`,
    [feed],
  );
  return row;
}

function describe(feed: FeedName, row: PlannedRow, createOnly: CreateOnlyFields): PlannedChange | undefined {
  const before = row.actual_fields ?? {};
  const actual = lastAcceptedOf(row);
  const request = nextRequest(
    row.desired === 'present'
      ? { kind: 'present', fields: row.fields as Fields, contentHash: row.content_hash as Buffer }
      : { kind: 'absent' },
    actual,
    { createOnly },
  );
  if (request.kind === 'none') return undefined;
  const names = request.kind === 'delete' ? Object.keys(before) : Object.keys(request.fields);
  const after: Fields = request.kind === 'delete' ? {} : request.fields;
  const fields = Object.fromEntries(
    names.map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }]),
  );
  const change = { feed, key: postingKey(row.key), operation: request.kind, fields } as const;
  return row.state === 'held'
    ? { ...change, held: true, reason: row.reason === null ? 'no reason recorded' : messageOfReason(row.reason) }
    : change;
}
