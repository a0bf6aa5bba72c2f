// Reads held deletes as a person judges them: which job would go, and what holds it.
import type { HoldKind } from '../../plan/delete-guard.ts';
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteJobId } from '../../posting/identifiers.ts';
import { markOfChange } from '../change/open-change.ts';
import type { Queryable } from '../postgres/database.ts';
import { COUNTED_VALUES, valuesOf } from './entry-query.ts';
import { PARTS } from './review-totals.ts';

export interface HeldDelete {
  readonly id: number;
  readonly key: PostingKey;
  /** Another one after each change. */
  readonly mark: string;
  readonly since: Date;
  readonly hold: HoldKind;
  readonly siteJobId: SiteJobId | null;
  readonly url: string | null;
  /** As the site last accepted it. */
  readonly title: string | null;
}

// Held before its kind was stored: by the guard.
const HOLD = `coalesce(c.reason->>'kind', 'guard')`;

/** Those of these entries that are held, in the same order. */
export const readHeldDeletes = (db: Queryable, ids: readonly number[]): Promise<HeldDelete[]> =>
  db.query<HeldDelete>(
    `select c.id, c.key, ${markOfChange('c')} as mark, c.since, ${HOLD} as hold, m.site_job_id as "siteJobId", m.site_job_url as url,
       d.fields->>'title' as title
     from unnest($1::bigint[]) with ordinality e(id, place) join change c on c.id = e.id
       left join mapping m on m.feed = c.feed and m.key = c.key
       left join document d on d.feed = c.feed and d.key = c.key
     where c.state = 'held' order by e.place`,
    [ids],
  );

/** Deletes of a feed that are held for one kind of reason. */
export interface HeldFor {
  readonly hold: HoldKind;
  readonly count: number;
  /** Of the newest. */
  readonly reason: Message;
}

/** The most deletes first. Held deletes of one group were held with the same message, and so for one kind of reason. */
export async function heldReasons(db: Queryable, feed: FeedName): Promise<HeldFor[]> {
  const rows = await db.query<{ hold: HoldKind; count: number; reason: Reason | null }>(
    `with ${PARTS}
     select ${HOLD} as hold, sum(p.n)::bigint as count, (array_agg(c.reason order by newest.since desc, newest.id desc))[1] as reason
     from part p cross join lateral (
         select e.id, e.since from review_entry e where e.part = p.part order by e.since desc, e.id desc limit 1) newest
       join change c on c.id = newest.id
     group by 1 order by 2 desc, 1`,
    valuesOf({ feed, kinds: ['held'] }).slice(0, COUNTED_VALUES),
  );
  return rows.map(({ hold, count, reason }) => ({
    hold,
    count,
    reason: reason === null ? 'no reason recorded' : messageOfReason(reason),
  }));
}
