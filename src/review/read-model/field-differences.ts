// What a posting should have on the site and what it has there, field by field.
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

/** @param site `undefined`: not known, or there is no job */
export function fieldDifferences(desired: Fields | undefined, site: Fields | undefined): FieldDifference[] {
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
