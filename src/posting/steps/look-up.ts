// The step `map`: replaces a field's text by what a table says.
import { accepted, type Transform } from '../transforms.ts';
import { type Otherwise, withoutResult } from './otherwise.ts';

/** Entries of a table: the feed's text, and what the site gets instead; an empty text leaves the field out. */
export type LookUpTable = readonly (readonly [from: string, to: string])[];

export interface LookUpStep {
  readonly kind: 'map';
  readonly table: LookUpTable;
  readonly otherwise: Otherwise;
}

/** The form in which texts are compared: case, and the number of spaces, do not matter. */
export const foldText = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

/** Compiles the step. @param field names the field in refusals. */
export function compileLookUp({ table, otherwise }: LookUpStep, field: string): Transform {
  const byText = new Map(table.map(([from, to]) => [foldText(from), to]));
  return {
    about: 'a look-up table',
    kind: 'shape',
    scope: 'feed text',
    apply(text) {
      const found = byText.get(foldText(text));
      if (found !== undefined) return accepted(found);
      return withoutResult(
        text,
        otherwise,
        `is not in the map of ${field}; add it there, or set a default or otherwise: keep`,
      );
    },
  };
}

/** Two entries for the same text with different results, if there are any. */
export function findContradiction(table: LookUpTable): readonly [string, string] | undefined {
  const seen = new Map<string, readonly [string, string]>();
  for (const entry of table) {
    const [from, to] = entry;
    const other = seen.get(foldText(from));
    if (other !== undefined && other[1] !== to) return [other[0], from];
    seen.set(foldText(from), entry);
  }
  return undefined;
}
