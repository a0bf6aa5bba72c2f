// Reads what a group of review entries is about, as long as it has entries.

import type { EntryKind } from '../backlog/entry-kind.ts';
import type { Queryable } from '../postgres/database.ts';

export interface GroupSubject {
  readonly group: string;
  readonly kind: EntryKind;
  readonly field: string | null;
  /** "…" stands for what differs. */
  readonly message: string;
}

/** `undefined`: no entry is in the group, not even a discarded one. */
export async function findGroup(db: Queryable, group: string): Promise<GroupSubject | undefined> {
  const rows = await db.query<GroupSubject>(
    `select group_id as "group", kind, field, message from review_entry where group_id = $1 order by id limit 1`,
    [group],
  );
  return rows[0];
}
