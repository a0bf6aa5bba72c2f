// Finds groups of review entries that have appeared lately.
import type { FeedName } from '../../posting/identifiers.ts';
import type { EntryKind } from '../backlog/entry-kind.ts';
import type { Queryable } from '../postgres/database.ts';
import { ENTRY_COUNTS } from './review-totals.ts';

/** The new groups of a feed, of which one or more have open entries. */
export interface NewGroups {
  readonly feed: FeedName;
  /** How many groups. */
  readonly n: number;
  /** When the first of them appeared, in Unix time in seconds. */
  readonly since: number;
  /** The one with the most entries of the feed. */
  readonly largest: {
    readonly n: number;
    readonly kind: EntryKind;
    readonly field: string | null;
    /** "…" stands for what differs. Text of the site or of a rule. */
    readonly message: string;
  };
}

/** As many as are noted for the trend: a site may put something else into each message. */
const MOST_GROUPS = 1_000;

/**
 * Per feed, the groups that first had entries within the last `hours`, among the largest of all. Held deletes and creates in doubt are
 * left out, as they have alerts of their own. A group that had entries more than `hours` ago is not new when it has some again.
 */
export const readNewGroups = (db: Queryable, hours: number): Promise<NewGroups[]> =>
  db.query<NewGroups>(
    `with counted as (
       select feed, group_id, kind, sum(n)::bigint as n from ${ENTRY_COUNTS}
       where not discarded and kind in ('rejected', 'failed', 'unreadable', 'duplicate')
       group by feed, group_id, kind having sum(n) > 0
       order by 4 desc, group_id, feed limit ${MOST_GROUPS}),
     appeared as materialized (
       select c.*, least(
         (select min(at) from review_group_count h where h.group_id = c.group_id),
         (select min(since) from review_entry e where not e.discarded and e.group_id = c.group_id)) as since
       from counted c join feed_state f on f.feed = c.feed and f.retired_at is null)
     select distinct on (a.feed) a.feed, count(*) over of_feed as n, extract(epoch from min(a.since) over of_feed)::float8 as since,
       jsonb_build_object('n', a.n, 'kind', a.kind, 'field', e.field, 'message', e.message) as largest
     from appeared a cross join lateral (
       select field, message from review_entry where group_id = a.group_id order by id limit 1) e
     where a.since > clock_timestamp() - make_interval(hours => $1)
     window of_feed as (partition by a.feed)
     order by a.feed, a.n desc, a.group_id`,
    [hours],
  );
