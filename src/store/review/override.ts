// Stores a reviewer's edits of single fields, and returns those that still apply to a posting.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Fields, Posting } from '../../posting/posting.ts';
import type { Queryable } from '../postgres/database.ts';

/** The edits of one feed. */
export interface Edits {
  /** The feed has no edits. */
  readonly none: boolean;
  /** The fields to override in a posting as the feed has it; `undefined` if none. An edit ends when the feed's value does. */
  for(posting: Posting): Fields | undefined;
}

interface Edit {
  readonly field: string;
  readonly sourceValue: string | undefined;
  readonly value: string;
}

export async function editsOf(db: Queryable, feed: FeedName): Promise<Edits> {
  const rows = await db.query<{ key: PostingKey; field: string; source_value: string | null; value: string }>(
    'select key, field, source_value, value from override where feed = $1',
    [feed],
  );
  const byKey = new Map<PostingKey, Edit[]>();
  for (const row of rows) {
    const edits = byKey.get(row.key) ?? [];
    edits.push({ field: row.field, sourceValue: row.source_value ?? undefined, value: row.value });
    byKey.set(row.key, edits);
  }
  return {
    none: byKey.size === 0,
    for(posting) {
      const edits = byKey.get(posting.key)?.filter((edit) => posting.fields[edit.field] === edit.sourceValue) ?? [];
      return edits.length === 0 ? undefined : Object.fromEntries(edits.map((edit) => [edit.field, edit.value]));
    },
  };
}

/** One edit as stored. */
export interface EditRow {
  readonly field: string;
  /** The feed's value at the time of the edit; null if there was none. */
  readonly sourceValue: string | null;
  readonly value: string;
}

export async function editsOfPosting(db: Queryable, feed: FeedName, key: PostingKey): Promise<EditRow[]> {
  return db.query<EditRow>(
    'select field, source_value as "sourceValue", value from override where feed = $1 and key = $2 order by field',
    [feed, key],
  );
}

/** Records edits of one posting. `source`: the fields as the feed has them. A second edit of a field replaces the first. */
export async function noteEdits(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  source: Fields,
  edits: Fields,
): Promise<void> {
  const names = Object.keys(edits);
  await db.query(
    `insert into override as o (feed, key, field, source_value, value)
     select $1, $2, * from unnest($3::text[], $4::text[], $5::text[])
     on conflict (feed, key, field) do update set value = excluded.value, edited_at = now()`,
    [feed, key, names, names.map((name) => source[name] ?? null), names.map((name) => edits[name])],
  );
}

/** Removes the edits of one posting. */
export async function dropEdits(db: Queryable, feed: FeedName, key: PostingKey): Promise<void> {
  await db.query('delete from override where feed = $1 and key = $2', [feed, key]);
}
