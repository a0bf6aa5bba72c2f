// Validates plain data against a schema. Returns checked settings, or complaints for people.
import { z } from 'zod';
import { didYouMean } from '../posting/id-and-name.ts';
import type { Complaint } from './config-error.ts';
import type { SettingPath, YamlSource } from './yaml-source.ts';

type Issue = z.core.$ZodIssue;

type Checked<Schema extends z.ZodType> =
  | { readonly kind: 'settings'; readonly settings: z.output<Schema> }
  | { readonly kind: 'refused'; readonly complaints: readonly Complaint[] };

/** A file is checked once: functions that zod makes for a schema would cost more than they save. */
export const CHECKED_ONCE = { jitless: true };

/** Checks a file's data. Complaints never quote a value: it may be a token in the wrong place. */
export function validate<Schema extends z.ZodType>(schema: Schema, data: unknown, source: YamlSource): Checked<Schema> {
  const result = schema.safeParse(data, CHECKED_ONCE);
  if (result.success) return { kind: 'settings', settings: result.data };
  const complaints = result.error.issues.flatMap((issue) => complaintsOf(issue, [], schema, source));
  return { kind: 'refused', complaints };
}

function complaintsOf(issue: Issue, above: SettingPath, schema: z.ZodType, source: YamlSource): readonly Complaint[] {
  const path = [...above, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownNames(inputJsonSchema(schema), path);
      return issue.keys.map((name) => source.complain([...path, name], unknownName(name, known), 'name'));
    }
    case 'invalid_key':
      return [source.complain(path, issue.issues.map(({ message }) => `the name ${message}`).join('; '), 'name')];
    case 'invalid_union': {
      // The union member of the value's own kind is the intended one, and its complaints say more than "none fits".
      const meant = issue.errors.find((issues) => issues.every((inner) => !isWrongKind(inner)));
      if (meant !== undefined) return meant.flatMap((inner) => complaintsOf(inner, path, schema, source));
      const wrong = issue.errors.flat().filter(isWrongKind);
      const kinds = [...new Set(wrong.map(({ expected }) => kindName(expected)))].join(', or ');
      return [source.complain(path, wrong.every(isOfNothing) ? `is missing; it must be ${kinds}` : `must be ${kinds}`)];
    }
    default:
      return [source.complain(path, describe(issue))];
  }
}

const isWrongKind = (issue: Issue): issue is Extract<Issue, { code: 'invalid_type' }> =>
  issue.code === 'invalid_type' && issue.path.length === 0;

const isOfNothing = (issue: Issue): boolean => issue.message.endsWith('received undefined');

function unknownName(name: string, known: readonly string[]): string {
  const others = known.length === 0 ? '' : `; known here: ${known.join(', ')}`;
  return `is not a setting${didYouMean(name, known) || others}`;
}

function describe(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (!issue.message.startsWith('Invalid input')) return issue.message;
      return isOfNothing(issue)
        ? `is missing; it must be ${kindName(issue.expected)}`
        : `must be ${kindName(issue.expected)}${issue.expected === 'string' ? ' (put a number in quotes)' : ''}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'too_small':
      return amount(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return amount(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    default:
      return issue.message;
  }
}

function amount(origin: string, relation: string, limit: number | bigint): string {
  if (origin === 'string') return limit === 1 ? 'must not be empty' : `must have ${relation} ${limit} characters`;
  if (origin === 'array') return `must have ${relation} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  return `must be ${relation} ${limit}`;
}

function kindName(expected: string): string {
  switch (expected) {
    case 'string':
      return 'text';
    case 'int':
      return 'a whole number';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'null':
      return 'null';
    default:
      return 'a group of settings';
  }
}

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
