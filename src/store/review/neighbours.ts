// Reads the entries of a group that come before and after a posting, in the order of their keys.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { EntryKind } from '../backlog/entry-kind.ts';
import type { Queryable } from '../postgres/database.ts';

/** An entry as a link leads to it. */
export interface Neighbour {
  readonly id: number;
  readonly feed: FeedName;
  readonly key: PostingKey | null;
  readonly kind: EntryKind;
}

/** Where one is in a group. */
export interface PlaceInGroup {
  readonly group: string;
  readonly discarded: boolean;
  readonly key: string;
  /** `undefined`: the entry is resolved, and no longer in the group. */
  readonly entry: number | undefined;
}

export interface Neighbours {
  readonly before: Neighbour | undefined;
  readonly after: Neighbour | undefined;
}

/** The group of an entry, and whether the entry is discarded. */
export async function groupOfEntry(
  db: Queryable,
  id: number,
): Promise<{ readonly group: string; readonly discarded: boolean } | undefined> {
  const [row] = await db.query<{ group: string; discarded: boolean }>(
    'select group_id as "group", discarded from review_entry where id = $1',
    [id],
  );
  return row;
}

export async function neighboursOf(db: Queryable, place: PlaceInGroup): Promise<Neighbours> {
  const next = async (than: '<' | '>', order: 'asc' | 'desc'): Promise<Neighbour | undefined> => {
    const [row] = await db.query<Neighbour>(
      `select id, feed, key, kind from review_entry
       where group_id = $1 and discarded = $2 and (coalesce(key, '') collate "C", id) ${than} ($3 collate "C", $4::bigint)
       order by coalesce(key, '') collate "C" ${order}, id ${order} limit 1`,
      [place.group, place.discarded, place.key, place.entry ?? 0],
    );
    return row;
  };
  return { before: await next('<', 'desc'), after: await next('>', 'asc') };
}
