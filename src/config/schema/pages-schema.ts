// The schema of a source that sends its postings in pages.
import { z } from 'zod';
import { isJsonPath, PAGING_METHODS } from '../../feed/source/sources.ts';
import { patternSchema } from './conditions-schema.ts';
import { capSchema, countSchema, positiveSchema, sizeSchema } from './scalars.ts';

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
