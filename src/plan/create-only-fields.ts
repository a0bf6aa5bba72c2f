// Fields that a feed sets only when it creates a job (`create_only_fields`): afterwards they are left to the site.
import type { FieldMapping } from '../posting/field-mapping.ts';
import type { Fields, Problem } from '../posting/posting.ts';

/** Names of fields; `undefined`: none. */
export type CreateOnlyFields = ReadonlySet<string> | undefined;

export const createOnlyOf = ({ createOnly }: Pick<FieldMapping, 'createOnly'>): CreateOnlyFields =>
  createOnly === undefined ? undefined : new Set(createOnly);

/** The fields that an update may set. */
export function updatableFields(fields: Fields, createOnly: CreateOnlyFields): Fields {
  if (createOnly === undefined) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !createOnly.has(name)));
}

/** What a job has once it accepts an update: fields that are set only on create keep the value that was last sent, if any. */
export function acceptedByUpdate(desired: Fields, before: Fields = {}, createOnly: CreateOnlyFields): Fields {
  if (createOnly === undefined) return desired;
  const kept = Object.entries(before).filter(([name]) => createOnly.has(name));
  return { ...updatableFields(desired, createOnly), ...Object.fromEntries(kept) };
}

/** The problems that keep a posting with a job from being updated: those of fields that are set only on create do not. */
export function problemsOfUpdate(problems: readonly Problem[], createOnly: CreateOnlyFields): readonly Problem[] {
  if (createOnly === undefined) return problems;
  return problems.filter(({ field }) => field === undefined || !createOnly.has(field));
}
