// Reads members of an operation's input from texts, as addresses, forms and command lines carry them.
import { z } from 'zod';

/** What the member is, without that it may be missing. */
function inner(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional ? inner(schema.unwrap() as z.ZodType) : schema;
}

/** `true`: given several times. */
export const isList = (schema: z.ZodType): boolean => inner(schema) instanceof z.ZodArray;

/** The values that a member, or each of a list, may have; `undefined`: any. */
export function choicesOf(schema: z.ZodType): string[] | undefined {
  const one = isList(schema) ? elementOf(schema) : inner(schema);
  return one instanceof z.ZodEnum ? one.options.map(String) : undefined;
}

/** What a list is of. */
export const elementOf = (schema: z.ZodType): z.ZodType => (inner(schema) as z.ZodArray).element as z.ZodType;

/** `true`: without a value on the command line. */
export const isFlag = (schema: z.ZodType): boolean => inner(schema) instanceof z.ZodBoolean;

/** The members of an input by name; those of an input that has several forms are not known by name. */
export function membersOf(input: z.ZodType): Readonly<Record<string, z.ZodType>> {
  return input instanceof z.ZodObject ? (input.shape as Readonly<Record<string, z.ZodType>>) : {};
}

export const isOptional = (schema: z.ZodType): boolean => schema instanceof z.ZodOptional;

/** The same member, read from its text. */
export function fromText(schema: z.ZodType): z.ZodType {
  const read = textReader(inner(schema));
  const described = schema.description === undefined ? read : read.describe(schema.description);
  if (!isOptional(schema)) return described;
  const optional = described.optional();
  return schema.description === undefined ? optional : optional.describe(schema.description);
}

/** Values of a list that one text has, separated by commas. */
export function fromTexts(schema: z.ZodType): z.ZodType {
  const read = z
    .string()
    .max(500)
    .transform((text) => text.split(','))
    .pipe(inner(schema) as z.ZodType<unknown, string[]>)
    .describe(`${schema.description ?? ''} Several are separated by commas.`.trim());
  return isOptional(schema) ? read.optional().describe(read.description ?? '') : read;
}

function textReader(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodNumber)
    return z
      .string()
      .regex(/^[1-9]\d{0,14}$/, 'must be a whole number from 1 on')
      .transform(Number)
      .pipe(schema);
  if (schema instanceof z.ZodBoolean) return z.enum(['true', 'false']).transform((text) => text === 'true');
  return schema;
}
