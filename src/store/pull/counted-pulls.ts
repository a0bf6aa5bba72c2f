// Lists pulls with the outcomes counted for them so far.
import type { FeedName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { findPull, listPulls, type PullRow } from './pull-row.ts';

/** A pull with the outcomes counted for it so far. */
export interface CountedPull extends PullRow {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly requests: number;
}

/** Newest first. @param before only older ones than this */
export async function countedPulls(
  db: Queryable,
  feed: FeedName | undefined,
  limit: number,
  before?: number,
): Promise<CountedPull[]> {
  return withCounts(db, await listPulls(db, feed, limit, before));
}

export async function countedPull(db: Queryable, id: number): Promise<CountedPull | undefined> {
  const pull = await findPull(db, id);
  return pull === undefined ? undefined : (await withCounts(db, [pull]))[0];
}

async function withCounts(db: Queryable, pulls: readonly PullRow[]): Promise<CountedPull[]> {
  const rows = await db.query<{ pull: number; outcome: string; n: number }>(
    'select pull, outcome, sum(n)::bigint as n from outcome_count where pull = any($1::bigint[]) group by 1, 2',
    [pulls.map((pull) => pull.id)],
  );
  return pulls.map((pull) => {
    const countOf = (outcome: string) => rows.find((row) => row.pull === pull.id && row.outcome === outcome)?.n ?? 0;
    return {
      ...pull,
      unchanged: pull.unchanged + countOf('nothing'),
      gone: pull.complete ? pull.gone - countOf('dropped') : pull.gone,
      created: countOf('created'),
      updated: countOf('updated'),
      deleted: countOf('deleted'),
      requests: countOf('requests'),
    };
  });
}
