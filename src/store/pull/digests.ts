// What is compared of two postings, of which one may be the other under another key: digests of their fields, computed by the database.
import type { CreateOnlyFields } from '../../plan/create-only-fields.ts';
import type { FeedName } from '../../posting/identifiers.ts';

/** The fields by which postings are compared. */
export interface ComparedFields {
  readonly referenceField: string | undefined;
  readonly stateField: string;
  /** Fields that are set only on create: what was last sent says nothing about what the feed has. */
  readonly createOnly: CreateOnlyFields;
}

/** The parameters $1 to $4 of the expressions below. */
export const digestValues = (
  feed: FeedName,
  { referenceField, stateField, createOnly = new Set() }: ComparedFields,
): readonly unknown[] => [feed, referenceField ?? null, stateField, [...createOnly]];

/** Whether the field `f` is content. */
const content = (key: string): string => `(f.value <> ${key}
  and replace(f.name, '_', '-') is distinct from replace($2, '_', '-') and f.value !~ '^https?://[^[:space:]]+$')`;

/** A shorter number may be any number of the text. */
const LEAST_TELLING = 4;

/** The value without the key or reference of its posting, where that stands in it as a word: a word of letters only may be any word. */
const without = (value: string, own: string): string => `case
  when strpos(${value}, ${own}) > 0 and ${own} ~ '[0-9]' and (length(${own}) >= ${LEAST_TELLING} or ${own} ~ '[[:alpha:]]')
  then regexp_replace(${value}, '(^|[^[:alnum:]])' || regexp_replace(${own}, '([^[:alnum:]])', '\\\\\\1', 'g') || '(?![[:alnum:]])', '\\1#', 'g')
  else ${value} end`;

/**
 * Digests of the fields `f`. References, keys and web addresses change with the key; everything else is content, of which updates set what
 * is not set only on create (`settable`). The key or the reference may also stand in a text, and change there or not: `bare` and
 * `bare_settable` are the same without it. A title and the fields of a place make postings alike; if the title is set only on create, all
 * content that is not. A title is compared as it is.
 */
export const digests = (fields: string, key: string): string => {
  const digest = (value: string, which = '') =>
    `md5(string_agg(md5(f.name) || md5(${value}), '' order by f.name) filter (where ${content(key)} ${which}))`;
  const isSettable = 'and f.name <> all($4::text[])';
  return `lateral (
  select ${digest('f.value')} as content, ${digest('f.bare')} as bare,
    ${digest('f.value', isSettable)} as settable, ${digest('f.bare', isSettable)} as bare_settable,
    case when bool_or(f.name = 'title') then md5(string_agg(md5(f.name) || md5(lower(f.value)), '' order by f.name)
      filter (where f.name <> all($4::text[]) and case when 'title' = any($4::text[]) then ${content(key)}
        else f.name in ('title', $3) or f.name ~ 'city|location' end)) end as likeness
  from (select name, value, case when name = 'title' then value else ${without('keyless', `coalesce(${fields}->>$2, '')`)} end as bare
    from jsonb_each_text(${fields}) each(name, value), lateral (select ${without('value', key)} as keyless) k) f where f.value <> '') digest`;
};

/** The content of the document `d` of the posting `x` as the feed had it: a reviewer's edits are undone. */
export const UNEDITED = `d.fields::jsonb || coalesce((select jsonb_object_agg(o.field, o.source_value) from override o
  where o.feed = $1 and o.key = x.key and d.fields->>o.field = o.value), '{}')`;
