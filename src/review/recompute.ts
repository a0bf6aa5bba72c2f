// Computes the desired posting from an open change, earlier edits and new ones.
import { contentHash } from '../posting/hash.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import type { Fields, PostingReader, Problem } from '../posting/posting.ts';
import type { Edited, EditRow } from '../store/change/edit.ts';

/** The desired state that an edit starts from. */
export interface DesiredPosting {
  readonly key: PostingKey;
  readonly fields: Fields;
  /** Why it breaks the site's rules, if it does. */
  readonly problems?: readonly Problem[];
}

/**
 * Applies edits to the desired state. Earlier edits that still hold are kept, with the source value they replaced; an
 * edit is dropped if the source has changed the field since, or if it restores the source value. `undefined`: nothing
 * would change.
 */
export function recompute(
  reader: PostingReader,
  desired: DesiredPosting,
  earlier: readonly EditRow[],
  edits: Fields,
): Edited | undefined {
  const { key, fields, problems = [] } = desired;
  const holding = editsThatHold(reader, desired, earlier);
  const source = sourceOf(fields, holding);
  const all = { ...Object.fromEntries(holding.map((edit) => [edit.field, edit.value])), ...edits };
  const result = reader.withFields({ key, fields: source, contentHash: contentHash(source), notes: [] }, all, problems);
  if (result.posting.contentHash.equals(contentHash(fields))) return undefined;
  return {
    posting: result.posting,
    reason:
      result.kind === 'posting'
        ? undefined
        : { kind: 'rules', message: sentence(result.problems), problems: result.problems },
    source,
    edits: Object.fromEntries(Object.entries(all).filter(([field, value]) => value !== (fieldOf(source, field) ?? ''))),
  };
}

/** An edit holds if applying it again changes nothing: otherwise the source has changed the field since. */
export function editsThatHold(
  reader: PostingReader,
  { key, fields }: DesiredPosting,
  earlier: readonly EditRow[],
): EditRow[] {
  const again = Object.fromEntries(earlier.map((edit) => [edit.field, edit.value]));
  const { posting } = reader.withFields({ key, fields, contentHash: contentHash(fields), notes: [] }, again);
  return earlier.filter(({ field }) => fieldOf(posting.fields, field) === fieldOf(fields, field));
}

/** The fields as the feed has them, with the edits undone. */
function sourceOf(fields: Fields, edits: readonly EditRow[]): Fields {
  const source = new Map(Object.entries(fields));
  for (const { field, sourceValue } of edits) {
    if (sourceValue === null) source.delete(field);
    else source.set(field, sourceValue);
  }
  return Object.fromEntries(source);
}

const fieldOf = (fields: Fields, name: string): string | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

const sentence = (problems: readonly Problem[]): string => problems.map((problem) => problem.message).join('; ');
