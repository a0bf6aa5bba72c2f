// Finds the names of the settings that are allowed at a path.
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
