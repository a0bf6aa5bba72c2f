// The schema of the steps between a record's text and a site's field: named transforms, and steps with settings.
import { z } from 'zod';
import { findContradiction, UNMAPPED } from '../../posting/steps/look-up.ts';
import { TRANSFORM_NAMES } from '../../posting/transforms.ts';

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

/** Settings of steps. They stand in a rule, or alone in its list `as`. */
export const stepSettings = {
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
  unmapped: z
    .enum(UNMAPPED)
    .optional()
    .describe(
      'What becomes of a text without an entry in the map: `reject` the posting, `keep` the text, or use the `default`. Without this setting: the default if there is one, else `reject`.',
    ),
};

const stepGroup = z.strictObject(stepSettings);

/** The settings of steps, as written. */
export type WrittenSteps = z.output<typeof stepGroup>;

/** Reports settings that need another one. */
export function checkSteps(
  { map, map_columns, unmapped }: WrittenSteps,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  const complain = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
  if (map_columns !== undefined && typeof map !== 'string')
    complain('map_columns', 'works only with a map in a CSV file');
  if (unmapped !== undefined && map === undefined) complain('unmapped', 'works only with map');
}

export const stepSchema = z.union([
  transformSchema,
  stepGroup.superRefine(checkSteps).refine((step) => Object.keys(step).length > 0, { error: 'has no settings' }),
]);

/** A step of the list `as`, as written. */
export type WrittenStep = z.output<typeof stepSchema>;
