// The schema of the steps between a record's text and a site's field: named transforms, and steps with settings.
import { z } from 'zod';
import { MalformedPatternError } from '../../posting/pattern.ts';
import { DEFAULT_ELEMENTS } from '../../posting/steps/sanitize.ts';
import { compileMatch, findContradiction, OTHERWISE_CHOICES, PLACE_PARTS } from '../../posting/steps/step.ts';
import { TRANSFORM_NAMES } from '../../posting/transforms.ts';
import { patternSchema } from './conditions-schema.ts';
import { timeZoneSchema } from './scalars.ts';

export const transformSchema = z.enum(TRANSFORM_NAMES);

const tableSchema = z.record(z.string().min(1), z.string()).superRefine((table, context) => {
  if (Object.keys(table).length === 0) context.addIssue('has no entry');
  const both = findContradiction(Object.entries(table));
  if (both === undefined) return;
  context.addIssue({
    code: 'custom',
    path: [both[1]],
    message: `contradicts the entry ${both[0]}: upper and lower case and spaces make no difference here`,
  });
});

const ELEMENT_NAME = /^(?!(?:script|style|iframe|object|embed|textarea|noscript)$)[a-z][a-z0-9]*$/;

const dateSchema = z.strictObject({
  order: z
    .enum(['month_first', 'day_first'])
    .optional()
    .describe('The order in dates such as 4/8/2012, which are refused without it.'),
  zone: timeZoneSchema.optional().describe('The time zone of times that name none.'),
  to: timeZoneSchema.optional().describe('The time zone in which the result is written. By default UTC.'),
  time: z.boolean().default(true).describe('`false`: only the date, as it is in the time zone `to`.'),
});

/** Settings of steps. They stand in a rule, or alone in its list `as`. */
export const stepSettings = {
  match: patternSchema
    .optional()
    .describe(
      'A regular expression (RE2): the field gets its first group, or the whole match if it has none. `.` matches no line break; `(?i)` ignores case, `(?s)` lets `.` match line breaks.',
    ),
  take: z
    .string()
    .min(1)
    .optional()
    .describe(
      'With `match`: what the field gets instead, with groups as `{1}`: `"{2}, {1}"`. `{0}` is the whole match.',
    ),
  map: z
    .union([z.string().min(1), tableSchema])
    .optional()
    .describe(
      "A table of the feed's texts and what the site gets instead (an empty text: nothing), or the path of a CSV file with such a table, relative to this file.",
    ),
  map_columns: z
    .tuple([z.string().min(1), z.string().min(1)])
    .optional()
    .describe(
      "With a CSV file: the names of the columns with the feed's texts and the site's. Without it, those are the first and the second column.",
    ),
  us_place: z
    .enum(PLACE_PARTS)
    .optional()
    .describe(
      'The `city` or the `state` of a U.S. place, such as "Tallahassee, FL", "WA - Seattle" or "Florida (Remote)". A place that is not clear rejects the posting.',
    ),
  date: dateSchema
    .optional()
    .describe(
      'A date to ISO 8601, like the transform `date`, with settings for time zones and the order of day and month.',
    ),
  sanitize: z
    .union([z.literal(true), z.array(z.string().regex(ELEMENT_NAME, 'must be the name of an HTML element')).min(1)])
    .optional()
    .describe(
      `Reduces HTML to these elements and the addresses of links: a list of names, or \`true\` for the usual ones (${DEFAULT_ELEMENTS.join(', ')}). Of other elements only the content stays; scripts and styles go. Comes after the list \`as\`.`,
    ),
  max_length: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      'At most so many characters: a longer text is cut at a word, HTML after an element or at a word, with every element closed. Comes after the list `as`.',
    ),
  otherwise: z
    .enum(OTHERWISE_CHOICES)
    .optional()
    .describe(
      'What becomes of a text without an entry in the map, without a match, or of a place that is not clear: `reject` the posting, `keep` the text, or use the `default` (without one: nothing). Without this setting: the default if there is one; else the posting is rejected, but a text without a match leaves the field out.',
    ),
};

const stepGroup = z.strictObject(stepSettings);

/** The settings of steps, as written. */
export type WrittenSteps = z.output<typeof stepGroup>;

/** Reports settings that need another one. */
export function checkSteps(
  { match, take, map, map_columns, us_place, otherwise }: WrittenSteps,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  const complain = (name: string, message: string | undefined) => {
    if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
  };
  if (map_columns !== undefined && typeof map !== 'string')
    complain('map_columns', 'works only with a map in a CSV file');
  if (take !== undefined) {
    if (match === undefined) complain('take', 'works only with match');
    else complain('take', whyNotTake(match, take));
  }
  const steps = [match, map, us_place].filter((step) => step !== undefined).length;
  if (otherwise !== undefined && steps !== 1) {
    const help =
      steps === 0 ? 'works only with map, match or us_place' : 'belongs to one step; write the steps one by one in as';
    complain('otherwise', help);
  }
}

function whyNotTake(pattern: string, take: string): string | undefined {
  try {
    compileMatch({ kind: 'match', pattern, take, otherwise: 'reject' }, '');
    return undefined;
  } catch (error) {
    // A mistake in the pattern itself is reported there.
    return error instanceof MalformedPatternError && error.message.startsWith('names') ? error.message : undefined;
  }
}

/** The names come last: a mistake inside a group would else be reported as a wrong name. */
export const stepSchema = z.union([
  stepGroup.superRefine(checkSteps).refine((step) => Object.keys(step).length > 0, { error: 'has no settings' }),
  transformSchema,
]);

/** A step of the list `as`, as written. */
export type WrittenStep = z.output<typeof stepSchema>;
