// What a posting takes over from a job that is now its own, and the forms in which references and titles are compared.
import type { Fields } from '../posting/posting.ts';
import { bareForm, fieldOf, referenceForm, withoutOmission } from './same-value.ts';

/** Cheap keys for finding candidate jobs; `undefined` if the job shows no such field. */
export interface Clues {
  readonly reference: string | undefined;
  readonly title: string | undefined;
}

export function cluesOf(fields: Fields, referenceField: string | undefined): Clues {
  const reference = referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim();
  const title = fieldOf(fields, 'title')?.trim();
  return {
    reference: reference ? referenceForm(reference) : undefined,
    title: title ? withoutOmission(bareForm(title)) : undefined,
  };
}

/** The content of a site job that a posting adopts. */
export interface TakenContent {
  readonly fields: Fields;
  /** Fields that the job shows with different text, or not at all. */
  readonly uncertain: readonly string[];
}

/**
 * @param shown the job's fields as shown; `undefined`: the site could not be queried, so every field is uncertain.
 * @param kept the same fields in the form that may be stored, if that differs.
 */
export function contentOf(sent: Fields, shown: Fields | undefined, kept = shown): TakenContent {
  const says = (name: string): string | undefined => (shown === undefined ? undefined : fieldOf(shown, name));
  const keep = (name: string, value: string): string =>
    says(name) === value ? value : ((kept === undefined ? undefined : fieldOf(kept, name)) ?? value);
  return {
    fields: Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, keep(name, value)])),
    uncertain: Object.entries(sent).flatMap(([name, value]) => (says(name) === value ? [] : name)),
  };
}
