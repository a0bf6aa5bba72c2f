// Records who did what in review, in the same transaction as the action.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';

/** One action of a person. `detail` explains it later. */
export interface Act {
  readonly actor: string;
  readonly action: string;
  readonly feed?: FeedName;
  readonly key?: PostingKey;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export async function noteAct(tx: Queryable, act: Act): Promise<void> {
  await tx.query('insert into audit (actor, action, feed, key, detail) values ($1, $2, $3, $4, $5)', [
    act.actor,
    act.action,
    act.feed ?? null,
    act.key ?? null,
    act.detail === undefined ? null : toJsonb(act.detail),
  ]);
}

/** An action as listed. */
export interface ActRow {
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
}

/** Newest actions on one posting first. */
export async function recentActs(db: Queryable, feed: FeedName, key: PostingKey, limit: number): Promise<ActRow[]> {
  return db.query<ActRow>(
    'select at, actor, action from audit where feed = $1 and key = $2 order by id desc limit $3',
    [feed, key, limit],
  );
}
