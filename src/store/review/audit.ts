// Records who did what in review, in the same transaction as the action.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';

/** One action of a person. `detail` explains it later. */
export interface AuditedAction {
  readonly actor: string;
  readonly action: string;
  readonly feed?: FeedName;
  readonly key?: PostingKey;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export async function auditAction(tx: Queryable, action: AuditedAction): Promise<void> {
  await tx.query('insert into audit (actor, action, feed, key, detail) values ($1, $2, $3, $4, $5)', [
    action.actor,
    action.action,
    action.feed ?? null,
    action.key ?? null,
    action.detail === undefined ? null : toJsonb(action.detail),
  ]);
}

/** An action as listed. */
export interface AuditRow {
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
}

/** Newest actions on one posting first. */
export async function recentActions(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  limit: number,
): Promise<AuditRow[]> {
  return db.query<AuditRow>(
    'select at, actor, action from audit where feed = $1 and key = $2 order by id desc limit $3',
    [feed, key, limit],
  );
}
