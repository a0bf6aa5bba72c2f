// Finds the setting that a mistyped name probably stands for.
import { z } from 'zod';
import type { SettingPath } from './yaml-source.ts';

/** The JSON Schema of a schema's input, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export const inputJsonSchema = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;

/** The names of the settings allowed at a path. */
export function knownNames(schema: JsonSchema, path: SettingPath): readonly string[] {
  let reached: readonly JsonSchema[] = [schema];
  for (const step of path) {
    reached = reached.flatMap(branches).flatMap((branch) => below(branch, String(step)));
  }
  return reached.flatMap(branches).flatMap(({ properties }) => Object.keys(properties ?? {}));
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

/** The members of a union, or else the schema itself. */
function branches(schema: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf.filter(isSchema).flatMap(branches) : [schema];
}

function below(schema: JsonSchema, step: string): readonly JsonSchema[] {
  const properties = isSchema(schema.properties) ? schema.properties : {};
  const named = Object.hasOwn(properties, step) ? properties[step] : undefined;
  return [named ?? schema.additionalProperties ?? schema.items].filter(isSchema);
}

/** The known name closest to a mistyped one, if close enough to be the intended one. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replaceAll('-', '_');
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(plain, candidate.toLowerCase().replaceAll('-', '_')) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.max(1, Math.floor(plain.length / 3)) ? best.candidate : undefined;
}

/** The Levenshtein distance of two names. */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[to.length] ?? 0;
}
