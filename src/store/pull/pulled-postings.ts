// Reads what a pull has created, updated and deleted on the site, a page by key at a time.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { Queryable } from '../postgres/database.ts';

export const PULL_EFFECTS = ['created', 'updated', 'deleted'] as const;
export type PullEffect = (typeof PULL_EFFECTS)[number];

/** A posting whose job a pull changed. */
export interface PulledPosting {
  readonly key: PostingKey;
  readonly at: Date;
  /** What the site has now; `undefined`: no job, or not known. */
  readonly now: Fields | undefined;
  /** The values before of the fields that the pull changed, null for one that the job did not have; `undefined`: not known. */
  readonly before: Readonly<Record<string, string | null>> | undefined;
}

/** Of each effect, the rows below the key, the newest request of the pull for each posting. */
const FORMER = `select distinct on (key) feed, key, at, fields from former_document
  where feed = $1 and pull = $2 and whole = $5 and not edited and ($3::text is null or key > $3) order by key, id limit $4`;

/** In the order of their keys. Created: the jobs that still exist. Updated and deleted: as long as `undo` keeps them. */
export async function pulledPostings(
  db: Queryable,
  pull: { readonly id: number; readonly feed: FeedName },
  effect: PullEffect,
  after: PostingKey | undefined,
  limit: number,
): Promise<PulledPosting[]> {
  const parameters = [pull.feed, pull.id, after ?? null, limit];
  const rows =
    effect === 'created'
      ? await db.query(
          `select m.key, m.mapped_at as at, d.fields as now, null as before
           from (select feed, key, mapped_at from mapping where feed = $1 and created_by = $2 and created_by is not null
             and ($3::text is null or key > $3) order by key limit $4) m
           left join document d on d.feed = m.feed and d.key = m.key order by m.key`,
          parameters,
        )
      : await db.query(
          `select f.key, f.at, d.fields as now, f.fields as before from (${FORMER}) f
           left join document d on d.feed = f.feed and d.key = f.key order by f.key`,
          [...parameters, effect === 'deleted'],
        );
  return rows.map(
    ({ now, before, ...row }) => ({ ...row, now: now ?? undefined, before: before ?? undefined }) as PulledPosting,
  );
}
