// The schema of requests for the details of postings.
import { z } from 'zod';
import { FORMAT_NAMES, formatKind } from '../../feed/format/format-kinds.ts';
import { pathSchema, pathsSchema } from './scalars.ts';

// The schema of which script of an HTML page holds JSON: its attributes, and the variable that the JSON is assigned to.
export const scriptSchema = z
  .record(z.string().regex(/^[a-z][\w:.-]*$/i, 'must be the name of an attribute, or variable'), z.string().min(1))
  .refine(({ variable }) => variable === undefined || /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$/.test(variable), {
    error: 'must be the name of a variable, such as window.pageData',
    path: ['variable'],
  })
  .refine((script) => Object.keys(script).length > 0, 'needs an attribute, such as id, or variable')
  .transform(({ variable, ...attributes }) => ({ attributes, ...(variable === undefined ? {} : { variable }) }));

export const detailsSchema = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .describe(
        'The address of a detail, relative to that of the list: `postings/{id}`. `{path}` is a text of the record, escaped; `{+path}` leaves `/`, `?` and the like as they are; `{source:name}` is a parameter of the address of the list.',
      ),
    body: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('JSON to send with POST instead of GET, with the same placeholders: `{ id: "{id}" }`.'),
    format: z
      .enum(FORMAT_NAMES.filter((name) => formatKind(name).isDetail === true))
      .default('json')
      .describe('The format of the detail: `json`, `xml`, `html` or `json-ld`, as `type` of a format.'),
    script: scriptSchema.optional().describe('With `html`: the script of the page that holds the detail as JSON.'),
    records: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The path from the root to the detail, of which there must be only one. Without it, the JSON document is the detail.',
      ),
    name: z
      .string()
      .regex(/^[A-Za-z][\w-]*$/, 'must be a name of letters, digits, _ and -')
      .default('detail')
      .describe('The name under which fields and conditions find the detail in the record: `detail/description`.'),
    match: z
      .record(pathSchema, pathSchema)
      .default({})
      .describe(
        'A path in the detail, and the path in the record that must have the same text: `{ id: id }`. A detail of another posting is refused.',
      ),
    ignore: pathsSchema
      .default([])
      .describe(
        'Paths in the record of the list that say nothing about the detail, such as `postedOn` ("Posted 3 Days Ago"): a change there alone requests no detail.',
      ),
    empty_pages: z
      .boolean()
      .default(false)
      .describe(
        'With `format: json-ld`: pages without a posting are normal, such as those of filled jobs, and complete. Needs `skip: { detail/page/empty: true }`, which presets for sitemaps have. Without it, such a page is a failure.',
      ),
    concurrency: z.int().min(1).max(16).default(4).describe('How many details are requested at a time.'),
    refresh_days: z
      .number()
      .positive()
      .max(3650)
      .optional()
      .describe(
        'Request each detail again within this time, although its record in the list did not change. Without it, a change that only the detail shows is not noticed.',
      ),
  })
  .superRefine((details, context) => {
    const complain = (setting: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [setting], message });
    if (details.format === 'html' && details.script === undefined) {
      complain('script', 'is missing; it says which script holds the detail, such as { id: __NEXT_DATA__ }');
    }
    if (details.format !== 'html' && details.script !== undefined) complain('script', 'works only with format: html');
    const { records } = formatKind(details.format);
    if (typeof records === 'object' && details.records !== undefined) {
      complain('records', `works only with format: xml, json and html, because a ${records.each} is found by its type`);
    }
    if (details.format !== 'json-ld' && details.empty_pages) complain('empty_pages', 'works only with format: json-ld');
    if (records === 'element' && details.records === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['records'],
        message: 'is missing; it must be element names from the root, such as job',
      });
    }
  });

export type WrittenDetails = z.output<typeof detailsSchema>;
