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

export const NO_EDITS: Edits = { none: true, for: () => undefined };

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

/** A posting by its name. */
export interface PostingName {
  readonly feed: FeedName;
  readonly key: PostingKey;
}

const COLUMNS_OF_NAMES = 'unnest($1::text[], $2::text[])';
const namesOf = (postings: readonly PostingName[]) => [
  postings.map(({ feed }) => feed),
  postings.map(({ key }) => key),
];

/** The edits of several postings, in their order. */
export async function editsOfPostings(db: Queryable, postings: readonly PostingName[]): Promise<EditRow[][]> {
  const rows = await db.query<{ edits: EditRow[] | null }>(
    `select (select jsonb_agg(jsonb_build_object('field', o.field, 'sourceValue', o.source_value, 'value', o.value)
         order by o.field) from override o where o.feed = p.feed and o.key = p.key) as edits
     from ${COLUMNS_OF_NAMES} with ordinality p(feed, key, place) order by p.place`,
    namesOf(postings),
  );
  return rows.map(({ edits }) => edits ?? []);
}

/** Edits of a posting, with the fields as the feed has them. */
export interface NotedEdits extends PostingName {
  readonly source: Fields;
  readonly edits: Fields;
}

/** Records edits. A second edit of a field replaces the first. */
export async function noteEdits(db: Queryable, postings: readonly NotedEdits[]): Promise<void> {
  const rows = postings.flatMap(({ feed, key, source, edits }) =>
    Object.entries(edits).map(([field, value]) => [feed, key, field, source[field] ?? null, value] as const),
  );
  const column = (at: 0 | 1 | 2 | 3 | 4) => rows.map((row) => row[at]);
  await db.query(
    `insert into override as o (feed, key, field, source_value, value)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
     on conflict (feed, key, field) do update set value = excluded.value, edited_at = now()`,
    [column(0), column(1), column(2), column(3), column(4)],
  );
}

/** Removes the edits of these postings. */
export async function dropEdits(db: Queryable, postings: readonly PostingName[]): Promise<void> {
  await db.query(
    `delete from override o using ${COLUMNS_OF_NAMES} p(feed, key) where o.feed = p.feed and o.key = p.key`,
    namesOf(postings),
  );
}

/** Removes the edits of these fields of one posting. */
export async function removeEdits(db: Queryable, { feed, key }: PostingName, fields: readonly string[]): Promise<void> {
  await db.query('delete from override where feed = $1 and key = $2 and field = any($3::text[])', [feed, key, fields]);
}
