// The group of a record that could not be read, and the entries around it there.
import type { Queryable } from '../../../store/postgres/database.ts';
import { groupOfEntry, neighboursOf } from '../../../store/review/neighbours.ts';
import type { RecordEntry } from '../../../store/review/review-entry.ts';
import type { PostingView } from './read-posting.ts';

export async function placeInGroup(
  db: Queryable,
  { id, key }: RecordEntry,
): Promise<Pick<PostingView, 'group' | 'neighbours'>> {
  const own = await groupOfEntry(db, id);
  if (own === undefined) return { group: undefined, neighbours: undefined };
  return { group: own.group, neighbours: await neighboursOf(db, { ...own, key: key ?? '', entry: id }) };
}
