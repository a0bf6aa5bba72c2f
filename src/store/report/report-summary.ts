// Counts what is missing and what goes wrong in a feed: fields without a value, and the most frequent reasons.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import type { LineState } from './report-lines.ts';

/** In how many postings of the feed a field has a value. */
export interface FieldCount {
  readonly field: string;
  readonly filled: number;
}

/** Postings whose fields are known, and how many of them have a value in each field. */
export interface FieldCounts {
  readonly postings: number;
  readonly fields: readonly FieldCount[];
}

/** What the feed wants now: open changes, and what the site last accepted for all other postings. */
const CURRENT_FIELDS = `(select fields from change where feed = $1 and desired = 'present' and fields is not null
   union all
   select fields from document d where feed = $1
     and not exists (select from change c where c.feed = d.feed and c.key = d.key)) posting`;

export async function countFields(tx: Queryable, feed: FeedName): Promise<FieldCounts> {
  const [postings] = await tx.query<{ n: number }>(`select count(*) as n from ${CURRENT_FIELDS}`, [feed]);
  const fields = await tx.query<FieldCount & { field: string }>(
    `select f.field, count(*) filter (where f.value ~ '\\S') as filled
     from ${CURRENT_FIELDS}, json_each_text(posting.fields) f(field, value) group by f.field order by f.field`,
    [feed],
  );
  return { postings: postings?.n ?? 0, fields };
}

/** Postings or records with the same problem. One posting may have several problems. */
export interface ReasonCount {
  readonly state: LineState;
  readonly field: string | undefined;
  readonly message: string;
  readonly count: number;
  /** Key of one of them. */
  readonly example: PostingKey | undefined;
}

/** Why postings are not on the site as the feed has them, the most frequent first. */
export async function commonReasons(tx: Queryable, feed: FeedName, limit: number): Promise<readonly ReasonCount[]> {
  const rows = await tx.query(
    `select state, field, message, sum(n)::bigint as count, min(key) as example from (
       select c.state, p->>'field' as field, coalesce(p->>'message', c.reason->>'message') as message, 1 as n, c.key
       from change c left join lateral jsonb_array_elements(c.reason->'problems') p on true
       where c.feed = $1 and c.state in ('rejected', 'failed', 'in_doubt', 'discarded') and c.desired = 'present' and not c.gone
       union all
       select kind, problems->0->>'field', problems->0->>'message', records, key
       from record_problem where feed = $1 and kind = 'unreadable') reason
     where message is not null group by 1, 2, 3 order by 4 desc, 1, 2, 3 limit $2`,
    [feed, limit],
  );
  return rows.map((row) => ({
    state: row.state,
    field: row.field ?? undefined,
    message: row.message,
    count: row.count,
    example: row.example ?? undefined,
  }));
}
