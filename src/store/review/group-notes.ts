// Stores what people say about a group of review entries.
import type { Queryable } from '../postgres/database.ts';

export interface GroupNote {
  readonly id: number;
  readonly group: string;
  readonly text: string;
  readonly actor: string;
  readonly at: Date;
}

const COLUMNS = 'id, group_id as "group", text, actor, at';

/** `undefined`: the group has as many notes as it may have. */
export async function addNote(
  tx: Queryable,
  { group, text, actor }: Pick<GroupNote, 'group' | 'text' | 'actor'>,
  most: number,
): Promise<GroupNote | undefined> {
  const [note] = await tx.query<GroupNote>(
    `insert into group_note (group_id, text, actor)
     select $1, $2, $3 where (select count(*) from group_note where group_id = $1) < $4 returning ${COLUMNS}`,
    [group, text, actor, most],
  );
  return note;
}

export async function removeNote(tx: Queryable, id: number): Promise<GroupNote | undefined> {
  return (await tx.query<GroupNote>(`delete from group_note where id = $1 returning ${COLUMNS}`, [id]))[0];
}

/** The notes of these groups, the oldest first. */
export const readGroupNotes = (db: Queryable, groups: readonly string[]): Promise<GroupNote[]> =>
  db.query<GroupNote>(`select ${COLUMNS} from group_note where group_id = any($1::text[]) order by id`, [groups]);
