// The schemas of a source that sends its postings in pages, and of details that are requested for each posting.
import { z } from 'zod';
import { FORMAT_NAMES, formatKind } from '../../feed/format/format-kinds.ts';
import { isJsonPath, PAGING_METHODS } from '../../feed/source/sources.ts';
import { capSchema, countSchema, pathSchema, pathsSchema, positiveSchema, sizeSchema } from './scalars.ts';
import { patternSchema } from './step-schema.ts';

const jsonPathSchema = z
  .string()
  .refine(isJsonPath, 'must be names in a page, from its root, such as meta/next or links[rel=next]/href');

const parameterSchema = z
  .string()
  .regex(/^[^\s&=#?]+$/, 'must be the name of a parameter of the query, without spaces, & and =');

export const pagesSchema = z
  .strictObject({
    by: z
      .enum(PAGING_METHODS)
      .describe(
        'What leads to the next page: `link` (the response header `Link` with `rel="next"`), `next` (an address in the page), `page` (numbers), `offset` (the number of records so far), `cursor` (a text in the page that the next request repeats), `sitemap` (a sitemap, or a sitemap index with all its sitemaps).',
      ),
    path: jsonPathSchema
      .optional()
      .describe(
        'For `next` and `cursor`: where it is in the page, from its root: `meta/next`, `links[rel=next]/href`; in XML `jobs/next`, `rss/channel/link[@rel=next]/@href`.',
      ),
    parameter: parameterSchema
      .optional()
      .describe(
        'The parameter of the query that carries the number, the offset or the cursor. By default `page`, `offset` or `cursor`. `finder:offset` is a parameter inside the text of another one: `finder=findReqs;siteNumber=CX_1,offset=25`.',
      ),
    first: countSchema.optional().describe("The first page's number (by default 1) or offset (by default 0)."),
    size: positiveSchema.optional().describe('How many records a page is asked to have.'),
    size_parameter: parameterSchema.optional().describe('The parameter of the query that carries `size`.'),
    more: jsonPathSchema
      .optional()
      .describe('Where the page says whether more pages follow (`true` or `false`): `has_more`; in XML `jobs/@more`.'),
    end: z
      .enum(['empty_page', 'short_page'])
      .default('empty_page')
      .describe(
        'What ends a list of numbered pages that states no total: `empty_page`, or `short_page`, one with fewer records than `size`. Use `short_page` only if the source never shortens other pages.',
      ),
    total: z
      .enum(['every_page', 'first_page'])
      .default('every_page')
      .describe(
        "Which pages state the format's `total`, the number of records in all pages. `first_page`: later pages may state none, or 0.",
      ),
    cap: capSchema
      .optional()
      .describe(
        'The most records that the source lists, if it is known. A list that reaches it is not complete, whatever total the source states. By default a list that ends at a round number (1000, 2000, 5000, 10000 …) is not complete either; `none`: the source has no such limit. A feed can override it with `expect.cap`.',
      ),
    only: patternSchema
      .optional()
      .describe('For `sitemap`: of an index, only the sitemaps whose addresses match this regular expression (RE2).'),
    body: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'JSON to send with POST instead of GET. `"{page}"`, `"{offset}"`, `"{cursor}"` and `"{size}"` are replaced; a cursor is left out at first.',
      ),
    max_pages: positiveSchema.default(10_000).describe('A list that has not ended by then is not complete.'),
    max_page_bytes: sizeSchema.prefault('16MiB').describe('One page, decompressed. It is kept in memory.'),
  })
  .superRefine((pages, context) => {
    const complain = (setting: string, message: string): void =>
      context.addIssue({ code: 'custom', message, path: [setting] });
    if (pages.by !== 'sitemap' && pages.only !== undefined) complain('only', 'works only with by: sitemap');
    for (const setting of ['body', 'more', 'size', 'cap'] as const) {
      if (pages.by === 'sitemap' && pages[setting] !== undefined) complain(setting, 'does not work with by: sitemap');
    }
    const isNumbered = pages.by === 'page' || pages.by === 'offset';
    const hasPath = pages.by === 'next' || pages.by === 'cursor';
    if (hasPath && pages.path === undefined)
      complain('path', `is missing; it says where ${what(pages.by)} is in a page`);
    if (!hasPath && pages.path !== undefined) complain('path', 'works only with by: next and by: cursor');
    if (!isNumbered && pages.first !== undefined) complain('first', 'works only with by: page and by: offset');
    if (pages.size_parameter !== undefined && pages.size === undefined) complain('size_parameter', 'needs size');
    if (pages.end === 'short_page' && !isNumbered) complain('end', 'works only with by: page and by: offset');
    if (pages.end === 'short_page' && pages.size === undefined) complain('end', 'short_page needs size');
    if (pages.parameter !== undefined && (pages.by === 'link' || pages.by === 'next' || pages.by === 'sitemap')) {
      complain(
        'parameter',
        'works only with by: page, by: offset and by: cursor; the address of the next page is whole',
      );
    }
  });

const what = (by: string): string => (by === 'next' ? 'the address of the next page' : 'the cursor');

export type WrittenPages = z.output<typeof pagesSchema>;

// The schema of requests for the details of postings.

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
