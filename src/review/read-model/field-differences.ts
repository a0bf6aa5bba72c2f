// What a posting should have on the site and what it has there, field by field.
import { acceptedByUpdate, type CreateOnlyFields } from '../../plan/create-only-fields.ts';
import type { Fields } from '../../posting/posting.ts';

export interface FieldDifference {
  readonly field: string;
  /** `null`: the posting has no such field. */
  readonly desired: string | null;
  /** What the site last accepted. */
  readonly site: string | null;
  /** Whether the site has another value, as far as its values are known. */
  readonly differs: boolean;
}

/** @param site `undefined`: not known, or there is no job. @param createOnly fields that are left to the site once there is a job */
export function fieldDifferences(
  posting: Fields | undefined,
  site: Fields | undefined,
  createOnly: CreateOnlyFields,
): FieldDifference[] {
  const desired = posting === undefined || site === undefined ? posting : acceptedByUpdate(posting, site, createOnly);
  const shown = desired ?? site ?? {};
  const names = [...new Set([...Object.keys(shown), ...Object.keys(site ?? {})])];
  return names.map((field) => {
    const to = textIn(shown, field);
    const from = textIn(site ?? {}, field);
    return { field, desired: to, site: from, differs: desired !== undefined && site !== undefined && to !== from };
  });
}

const textIn = (fields: Fields, name: string): string | null =>
  Object.hasOwn(fields, name) ? (fields[name] ?? null) : null;
