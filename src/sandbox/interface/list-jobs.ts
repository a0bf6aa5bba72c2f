// Lists jobs page by page, in the configured paging style (site-interface.md, section 4, rule 6).
import type { Context } from 'hono';
import type { JobSite, SiteEnv } from '../job-site.ts';
import type { JobFilter, ListedPage } from '../jobs.ts';
import type { SandboxSettings } from '../settings.ts';
import { element, jobXml, xmlAnswer } from './write-xml.ts';

/** The requested part of a list. */
export interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}

const EVERYTHING = 2 ** 31 - 1;

/** A whole number from the query; `least` if absent or invalid. */
function queryNumber(c: Context<SiteEnv>, name: string, least: number): number {
  const text = c.req.query(name) ?? '';
  return /^\d{1,9}$/.test(text) ? Math.max(least, Number(text)) : least;
}

/** Reads the requested part of a list. Clients may request smaller pages, but not larger ones. */
export function pageRequest(c: Context<SiteEnv>, settings: Pick<SandboxSettings, 'paging' | 'pageSize'>): PageRequest {
  if (settings.paging === 'none') return { offset: 0, limit: EVERYTHING };
  if (settings.paging === 'cached') return { offset: 0, limit: settings.pageSize };
  const openRecords = queryNumber(c, settings.paging === 'offset' ? 'limit' : 'per_page', 0);
  const limit = openRecords > 0 ? Math.min(openRecords, settings.pageSize) : settings.pageSize;
  if (settings.paging === 'offset') return { offset: queryNumber(c, 'offset', 0), limit };
  return { offset: (queryNumber(c, 'page', 1) - 1) * limit, limit };
}

/** One page of a list, as XML. */
export async function listJobs(c: Context<SiteEnv>, site: JobSite, filter: JobFilter): Promise<Response> {
  const settings = site.settings();
  const page = pageRequest(c, settings);
  const found = await site.jobs.list(filter, page.offset, page.limit);
  const jobs = found.jobs.map((job) => jobXml(job, settings));
  return xmlAnswer(
    element('jobs', jobs, pagingAttributes(page, found, settings)),
    200,
    nextPage(c, page, found, settings),
  );
}

function pagingAttributes(
  { offset, limit }: PageRequest,
  { total }: ListedPage,
  { paging }: SandboxSettings,
): Record<string, string | number> {
  switch (paging) {
    case 'page':
      return {
        type: 'array',
        total,
        page: offset / limit + 1,
        pages: Math.max(1, Math.ceil(total / limit)),
        'per-page': limit,
      };
    case 'offset':
      return { type: 'array', total, offset, limit };
    case 'link':
    case 'cached':
    case 'none':
      return { type: 'array' };
  }
}

function nextPage(
  c: Context<SiteEnv>,
  { offset, limit }: PageRequest,
  { total }: ListedPage,
  { paging }: SandboxSettings,
): Record<string, string> {
  if ((paging !== 'link' && paging !== 'cached') || offset + limit >= total) return {};
  const next = new URL(c.req.url);
  const page = paging === 'cached' ? queryNumber(c, 'page', 1) : offset / limit + 1;
  next.searchParams.set('page', String(page + 1));
  return { link: `<${next.href}>; rel="next"` };
}
