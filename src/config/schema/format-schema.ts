// The schema of a feed format: the content of a preset file, or a feed's inline `format`.
import { z } from 'zod';
import { FORMAT_NAMES, formatKind } from '../../feed/format/format-kinds.ts';
import { OWN_PLACE } from '../../posting/places.ts';
import { detailsSchema, pagesSchema, scriptSchema } from './pages-schema.ts';
import { expressionSchema, fieldNameSchema, pathSchema, pathsSchema, templateSchema } from './scalars.ts';
import {
  checkSteps,
  conditionsSchema,
  patternSchema,
  stepSchema,
  stepSettings,
  transformSchema,
} from './step-schema.ts';

// The schema of `places`: what becomes of a posting in several places.
export const placesSchema = z.strictObject({
  path: z
    .union([pathSchema, z.array(z.union([z.literal(OWN_PLACE), pathSchema])).min(1)])
    .describe(
      'The path of the places in the record, which lists them: `locations/location`. Several paths if places are in several parts: `[location, otherLocations/location]`; `.` stands for the record without its other places.',
    ),
  split: z
    .string()
    .min(1)
    .optional()
    .describe('Separates several places in one text: `"; "` for `Boston, MA; Chicago, IL`.'),
  use: z
    .enum(['first', 'each', 'review'])
    .describe(
      '`first`: the first place in a state that the site accepts. `each`: a posting for each place, whose key ends with the place. `review`: a person chooses, if the fields of the places differ.',
    ),
  fields: z
    .array(fieldNameSchema)
    .min(1)
    .default(['location-city', 'location-state'])
    .describe(
      'For `each`: the site fields that tell the places of a posting apart. A change of them changes all keys.',
    ),
});

const sectionSchema = z.strictObject({
  each: pathSchema
    .optional()
    .describe('The section is made of every element at this path; the paths in `template` are relative to it.'),
  template: z
    .union([templateSchema, z.array(templateSchema).min(1)])
    .transform((templates) => [templates].flat())
    .describe('Text with paths in braces; of a list, the first one of which all paths have a text.'),
});

const ruleSchema = z
  .strictObject({
    when: conditionsSchema
      .optional()
      .describe(
        'The rule applies only if these conditions hold: a path and its text, `{ remote: true }`, a list of texts, or the settings below. With several paths, all must hold; of a list of such groups, one. Case and the number of spaces make no difference.',
      ),
    from: pathsSchema.optional().describe('The path in the record, or several: the first one that has a text is used.'),
    join: z
      .string()
      .optional()
      .describe(
        'With `from`: joins all texts at the path with this text, instead of taking the first. With `sections`: separates them.',
      ),
    template: templateSchema
      .optional()
      .describe(
        'Instead of `from`: text with paths in braces, `{city}, {state}`. Empty unless all of them have a text.',
      ),
    sections: z
      .array(z.union([pathSchema.transform((path) => ({ template: [`{${path}}`] })), sectionSchema]))
      .min(1)
      .optional()
      .describe(
        'Instead of `from`: parts of a text, one after the other, each a path, or a template as `{ template: "<h3>{heading}</h3>{text}" }`. Parts without a text are left out. `join` separates them, by default a line break.',
      ),
    value: z.string().min(1).optional().describe('Instead of `from`: the same text for every posting.'),
    jsonata: expressionSchema
      .optional()
      .describe(
        'Instead of `from`: a [JSONata](https://docs.jsonata.org) expression over the record, for anything else.',
      ),
    ...stepSettings,
    as: z
      .union([z.array(stepSchema), transformSchema])
      .default([])
      .transform((steps) => [steps].flat())
      .describe(
        'Transforms applied to the text, in order; see [Transforms](#transforms). Besides names, the list may hold the settings above in another order: `[text, { map: codes.csv }]`.',
      ),
    default: z
      .string()
      .min(1)
      .optional()
      .describe('Used if the record has no value, or the map no entry for it; goes through the same transforms.'),
  })
  .superRefine(checkSteps)
  .refine(
    (rule) =>
      [rule.from, rule.template, rule.sections, rule.value, rule.jsonata].filter((source) => source !== undefined)
        .length === 1,
    {
      error: 'needs exactly one of from, template, sections, value and jsonata',
    },
  )
  .refine((rule) => rule.join === undefined || rule.from !== undefined || rule.sections !== undefined, {
    error: 'works only with from and sections',
    path: ['join'],
  });

/** The written rule for one site field. */
export type WrittenRule = z.output<typeof ruleSchema>;

/** The written rules for one site field: a plain text is a path. Of a list, the first rule that applies and has a value is used. */
const rulesSchema = z.union([pathSchema, ruleSchema, z.array(z.union([pathSchema, ruleSchema])).min(1)]);
export type WrittenRules = z.output<typeof rulesSchema>;

/** Site field → rules; `null` (in a feed) removes the preset's field. */
const fieldsSchema = z.record(fieldNameSchema, rulesSchema);
export const feedFieldsSchema = z.record(fieldNameSchema, z.union([...rulesSchema.options, z.null()]));

export type WrittenFields = z.output<typeof feedFieldsSchema>;

const ELEMENT_PATH = /^[^\s/@[\]]+(\/[^\s/@[\]]+)*$/;
const LIST_PATH = /^(\$|\.|(\$\.)?[^\s./@[\]]+([./][^\s./@[\]]+)*)$/;

export const keySchema = pathsSchema.describe(
  "The path of the feed's own stable identifier of a posting. With several paths, all must have a value, and together they form the key.",
);

export const keyAsSchema = z
  .union([
    z.literal('address').transform((kind) => ({ kind }) as const),
    z
      .strictObject({ match: patternSchema.describe('The regular expression (RE2) that finds the key in the text.') })
      .transform(({ match }) => ({ kind: 'match', pattern: match }) as const),
  ])
  .describe(
    'What the key is made of, if its text changes while the posting stays the same. `address`: the address without parameters that count visits, such as `utm_source`. `{ match: PATTERN }`: the first group of this regular expression (RE2), or the whole match if it has none; a record whose text does not match has no key.',
  );

export const encodingSchema = z
  .string()
  .min(1)
  .describe('The character encoding, if the feed declares a wrong one: `windows-1252`.');

const csvSchema = z.strictObject({
  delimiter: z
    .enum([',', ';', '|', 'tab'])
    .transform((delimiter) => (delimiter === 'tab' ? '\t' : delimiter))
    .optional()
    .describe('`,`, `;`, `|` or `tab`; by default the one that occurs most often in the header row.'),
  columns: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('The names of the columns, for a table without a header row.'),
  skip_rows: z
    .int()
    .min(0)
    .max(1000)
    .default(0)
    .describe('Rows before the header row, or before the first record if there is none. Blank rows count.'),
  allow_missing_cells: z
    .boolean()
    .default(false)
    .describe(
      'Read rows with fewer cells than the header, as if their last cells were empty. Otherwise they are unreadable.',
    ),
});

const formatSettings = z.strictObject({
  description: z.string().optional().describe('What the format is, for people.'),
  documentation: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('The address of the public documentation of the format, for people.'),
  example: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Settings of a feed of this format, for people; they do nothing.'),
  type: z
    .enum(FORMAT_NAMES)
    .default('xml')
    .describe(
      '`xml`, `json`, `jsonl` (one JSON value per line), `csv` (any table: commas, semicolons, tabs), `html` (a page with JSON in a script) or `json-ld` (schema.org postings in a page or a JSON document).',
    ),
  records: z
    .string()
    .optional()
    .describe(
      'The path of the records from the root. XML: the names of the elements, `source/job`; `*` stands for any one name. JSON: the names that lead to the list, `data/jobs`; lists on the way are passed through; without it, the document itself is the list. HTML: the same, in the JSON of the script. The other types have none.',
    ),
  key: keySchema,
  key_as: keyAsSchema.optional(),
  skip: conditionsSchema
    .optional()
    .describe('Records that are not postings: those of which these conditions hold. A feed may add others.'),
  encoding: encodingSchema.optional(),
  total: pathsSchema
    .default([])
    .describe(
      'The path, from the root, of the number of records that the feed claims to hold, if it does. A feed with a different number is incomplete.',
    ),
  places: placesSchema
    .optional()
    .describe('What becomes of postings in several places, if a feed does not say it with `places`.'),
  pages: pagesSchema.optional().describe('How sources of this format send their postings in pages, if they do.'),
  details: detailsSchema
    .optional()
    .describe('How the detail of a posting is requested, if the list lacks a part of it.'),
  script: scriptSchema
    .optional()
    .describe(
      'The script of an HTML page that holds the postings as JSON: `{ id: __NEXT_DATA__ }`, or `{ variable: window.pageData }` if the JSON is assigned to a variable. Attributes and `variable` can be combined.',
    ),
  csv: csvSchema.optional().describe('How a table is laid out, where its header row does not tell.'),
  fields: fieldsSchema.describe(
    'Site field: where its value comes from. A plain text is a path in the record; of a list of rules, the first one that applies and has a value is used.',
  ),
});

export const formatSchema = formatSettings.superRefine(({ type, records, total, csv, script }, context) => {
  const complain = (message: string, setting = 'records'): void =>
    context.addIssue({ code: 'custom', path: [setting], message });
  if (csv !== undefined && type !== 'csv') complain('works only with type: csv', 'csv');
  if (script !== undefined && type !== 'html') complain('works only with type: html', 'script');
  if (script === undefined && type === 'html') {
    complain('is missing; it says which script holds the postings, such as { id: __NEXT_DATA__ }', 'script');
  }
  const named = formatKind(type).records;
  if (total.length > 0 && typeof named === 'object') {
    complain(`works only with type: xml, json and html, because type: ${type} has nothing but records`, 'total');
  }
  if (named === 'element' && records === undefined) {
    complain('is missing; it must be element names from the root, such as source/job');
  } else if (records === undefined) {
    return;
  } else if (named === 'element' && !ELEMENT_PATH.test(records)) {
    complain('must be element names from the root, such as source/job; * stands for any one name');
  } else if (named === 'list' && !LIST_PATH.test(records)) {
    complain('must be the names that lead from the root to the list of records, such as data/jobs');
  } else if (typeof named === 'object') {
    complain(`works only with type: xml, json and html, because with type: ${type} every ${named.each} is a record`);
  }
});

export type WrittenFormat = z.output<typeof formatSchema>;
