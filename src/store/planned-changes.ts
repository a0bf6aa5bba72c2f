// Reads the changes of a feed as they would be sent, with what each field is and becomes.
import pg from 'pg';
import { nextRequest } from '../plan/next-request.ts';
import { type FeedName, type PostingKey, postingKey, siteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { inBatches } from './cursor.ts';
import type { Queryable, Session } from './database.ts';

/** One change. `from` or `to` is null where the field is not there before or after. */
export interface PlannedChange {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly operation: 'create' | 'update' | 'delete';
  readonly fields: Readonly<Record<string, { readonly from: string | null; readonly to: string | null }>>;
  /** It waits for approval. */
  readonly held?: true;
}

const PAGE = 500;

/** Streams the changes that are ready or held, in the order in which they would be sent. */
export async function* plannedChanges(session: Session, feed: FeedName): AsyncGenerator<PlannedChange> {
  const changes = inBatches(
    session,
    'planned',
    `select c.key, c.wanted, c.fields, c.content_hash, c.state, m.site_job_id, m.content_hash as actual_hash,
       d.fields as actual_fields, u.fields as unsure
     from change c left join mapping m on m.feed = c.feed and m.key = c.key
     left join document d on d.feed = c.feed and d.key = c.key
     left join unanswered u on u.feed = c.feed and u.key = c.key
     where c.feed = ${pg.escapeLiteral(feed)} and c.state in ('ready', 'held') and not c.gone
     order by case c.operation when 'delete' then 0 when 'create' then 1 else 2 end, c.id`,
    PAGE,
  );
  for await (const rows of changes) {
    for (const row of rows) {
      const change = describe(feed, row);
      if (change !== undefined) yield change;
    }
  }
}

/** How many of the feed's postings that were seen are rejected. */
export async function countPlanned(db: Queryable, feed: FeedName): Promise<{ readonly rejected: number }> {
  const [row] = await db.query<{ rejected: number }>(
    `select count(*) as rejected from change where feed = $1 and state = 'rejected' and not unseen`,
    [feed],
  );
  return { rejected: row?.rejected ?? 0 };
}

// biome-ignore lint/suspicious/noExplicitAny: columns are named in the cursor's query.
function describe(feed: FeedName, row: any): PlannedChange | undefined {
  const before = (row.actual_fields ?? {}) as Fields;
  const actual =
    row.site_job_id === null
      ? undefined
      : {
          siteJobId: siteJobId(row.site_job_id),
          contentHash: row.actual_hash,
          fields: (row.actual_fields ?? undefined) as Fields | undefined,
          unsure: (row.unsure ?? undefined) as string[] | undefined,
        };
  const request = nextRequest(
    row.wanted === 'present'
      ? { kind: 'present', fields: row.fields, contentHash: row.content_hash }
      : { kind: 'absent' },
    actual,
  );
  if (request.kind === 'none') return undefined;
  const names = request.kind === 'delete' ? Object.keys(before) : Object.keys(request.fields);
  const after: Fields = request.kind === 'delete' ? {} : request.fields;
  const fields = Object.fromEntries(
    names.map((name) => [name, { from: before[name] ?? null, to: after[name] ?? null }]),
  );
  const change = { feed, key: postingKey(row.key), operation: request.kind, fields } as const;
  return row.state === 'held' ? { ...change, held: true } : change;
}
