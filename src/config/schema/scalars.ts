// The schemas of single values, each with a message about the expected form.
import { z } from 'zod';
import { compileExpression, MalformedExpressionError } from '../../posting/expressions.ts';
import { compileSource } from '../../posting/field-mapping.ts';
import { MalformedPathError, parseValuePath } from '../../posting/paths/value-path.ts';
import { FIELD_NAME } from '../../posting/site-rules.ts';

// Parses sizes such as `500MB` or `5 MiB`.

const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

const SIZE_PATTERN = /^(\d+(?:\.\d+)?) ?([kKMGT]?i?B)$/;

/** A size in bytes; `undefined` if the text is not a size. */
export function parseSize(text: string): number | undefined {
  const [, amount = '', unit = ''] = SIZE_PATTERN.exec(text) ?? [];
  const bytes = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  return bytes === undefined ? undefined : Math.round(Number(amount) * bytes);
}

/** The name of a feed or site. It appears in commands, queue names and database rows. */
export const nameSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    'must be 1 to 64 lower-case letters, digits, - or _, and begin with a letter or digit',
  );

/** The name of a field of the site. */
export const fieldNameSchema = z
  .string()
  .regex(FIELD_NAME, 'must be a name that an XML element can have: letters, digits, - _ or ., beginning with a letter');

/** Site field: a value that all jobs have. */
export const constantsSchema = z
  .record(fieldNameSchema, z.union([z.string(), z.number(), z.boolean()]).transform(String))
  .default({});

export const percentSchema = z.number().min(0).max(100);
export const countSchema = z.int().min(0).max(1_000_000_000);
export const positiveSchema = z.int().min(1).max(1_000_000_000);

/** The most records that a list has. */
export const capSchema = z.union([positiveSchema, z.literal('none')]);
/** Some timers accept at most 2^31 - 1 milliseconds, about 24 days. */
export const secondsSchema = z.number().positive().max(2_000_000);

/** A number of bytes, or a size with a unit. Outputs bytes. */
export const sizeSchema = z
  .union([positiveSchema, z.string().regex(SIZE_PATTERN, 'must be bytes, or a number with a unit: 500MB, 5 MiB')])
  .transform((size) => (typeof size === 'number' ? size : (parseSize(size) ?? 0)));

/** A secret: only as a reference to the environment. */
export const secretSchema = z
  .string()
  .regex(
    /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/,
    `must be exactly \${NAME}, the name of an environment variable: a secret written here would end up in every copy of this file; or use the setting that names a file`,
  );

const VARIABLE = String.raw`\$\{[A-Za-z_][A-Za-z0-9_]*\}`;

/** Through which proxy servers on the web are reached. */
export const outgoingProxySchema = z
  .string()
  .regex(
    new RegExp(
      `^(?:none|environment|${VARIABLE}|https?://(?:[^\\s/?#@:{}]*(?:${VARIABLE})?(?::${VARIABLE})?@)?[^\\s/?#@]+/?)$`,
    ),
    `must be environment, none, or an address such as http://proxy.example.com:3128, with a password as http://user:\${NAME}@proxy.example.com:3128: a secret written here would end up in every copy of this file`,
  );

/** The path of a file, relative to the configuration. */
export const fileSchema = z.string().min(1);

/** The two settings of a secret, of which one is written: a reference to the environment, or a file that holds it. */
export const secretSettings = <Name extends string>(name: Name, description: string) =>
  ({
    [name]: secretSchema.optional().describe(description),
    [`${name}_file`]: fileSchema
      .optional()
      .describe(`Instead of \`${name}\`: a file that holds it, relative to this file.`),
  }) as Readonly<Record<Name | `${Name}_file`, z.ZodOptional<z.ZodString>>>;

/** For `refine`: the secret is neither set twice nor absent. */
export const exactlyOneSecret = <Name extends string>(
  name: Name,
): [
  (settings: Readonly<Partial<Record<Name | `${Name}_file`, unknown>>>) => boolean,
  { error: string; path: string[] },
] => [
  (settings) => exactlyOne(settings[name], settings[`${name}_file`]),
  { error: `needs exactly one of ${name}: \${NAME} and ${name}_file: PATH`, path: [name] },
];

/** The IANA name of a time zone. */
export const timeZoneSchema = z
  .string()
  .refine(isTimeZone, 'must be an IANA time zone, such as America/New_York or UTC');

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    // Only some versions of Node accept offsets such as +02:00 as time zones.
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

/** A path from a record to a value. */
export const pathSchema = z.string().min(1).superRefine(parses(parseValuePath));

/** Text with paths in braces. */
export const templateSchema = z
  .string()
  .min(1)
  .superRefine(parses((template) => compileSource({ kind: 'template', template })));

/** One path, or several. */
export const pathsSchema = z.union([pathSchema, z.array(pathSchema).min(1)]).transform((paths) => [paths].flat());

/** A JSONata expression. */
export const expressionSchema = z.string().min(1).superRefine(parses(compileExpression));

/** Reports a malformed path or expression as an issue. */
function parses(parse: (text: string) => unknown) {
  return (text: string, context: { addIssue(message: string): void }): void => {
    try {
      parse(text);
    } catch (error) {
      if (!(error instanceof MalformedPathError || error instanceof MalformedExpressionError)) throw error;
      context.addIssue(error.message);
    }
  };
}

export const exactlyOne = (...settings: readonly unknown[]): boolean =>
  settings.filter((setting) => setting !== undefined).length === 1;
