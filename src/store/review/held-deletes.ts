// Reads held deletes as a person judges them: which job would go, and what holds it.
import type { HoldKind } from '../../plan/delete-guard.ts';
import { messageOfReason, type Reason } from '../../plan/desired-change.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, PostingKey, SiteJobId } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

export interface HeldDelete {
  readonly id: number;
  readonly key: PostingKey;
  /** Another number after each change. */
  readonly revision: number;
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
  db.query<HeldDelete & Record<string, unknown>>(
    `select c.id, c.key, c.revision, c.since, ${HOLD} as hold, m.site_job_id as "siteJobId", m.site_job_url as url,
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

/** The most deletes first. */
export async function heldReasons(db: Queryable, feed: FeedName): Promise<HeldFor[]> {
  const rows = await db.query<{ hold: HoldKind; count: number; reason: Reason | null }>(
    `with held as materialized (
       select ${HOLD} as hold, c.revision, c.id from review_entry e join change c on c.id = e.id
       where e.feed = $1 and e.kind = 'held' and not e.discarded and c.state = 'held')
     select h.hold, h.count, c.reason from (
       select hold, count(*) as count, max(revision) as revision from held group by hold) h
       join held n on n.hold = h.hold and n.revision = h.revision join change c on c.id = n.id
     order by h.count desc, h.hold`,
    [feed],
  );
  return rows.map(({ hold, count, reason }) => ({
    hold,
    count,
    reason: reason === null ? 'no reason recorded' : messageOfReason(reason),
  }));
}
