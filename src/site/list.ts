// Turns the site's list action into its jobs, page by page, each job once; and never calls a part of it the whole.
import type { Listing, SiteJob } from './exchange.ts';
import { type ListPage, readListPage } from './list-page.ts';
import type { Answer } from './transport.ts';

/** More pages than this are taken for a list that has no end. */
const MAX_PAGES = 10_000;

/** Where to go after a page: to another one, or nowhere. `promised`: the site says that there is more. */
interface Onward {
  readonly url: URL;
  readonly promised: boolean;
}

/**
 * Reads all pages. It follows `next` links on the same origin; else it counts up the query parameter `page` as far as the
 * page's numbers say. Where a page says nothing of paging, page 2 is asked for all the same: a list that was cut silently
 * would hide a job in doubt, which would then be made twice. A page that brings no new job ends it.
 */
export async function readList(
  start: URL,
  get: (url: URL) => Promise<Answer>,
  take: (siteJob: SiteJob) => void,
): Promise<Listing> {
  const seen = new Set<string>();
  let onward: Onward = { url: start, promised: true };
  for (let pages = 1; pages <= MAX_PAGES; pages++) {
    const answer = await get(onward.url);
    if (!onward.promised && isNoSuchPage(answer.status)) return { kind: 'listed', pages: pages - 1 };
    if (answer.status !== 200 || answer.trouble !== undefined) {
      return unreadable(onward.url, answer.trouble ?? `the site answered ${answer.status}`);
    }
    const page = readListPage(answer.body, answer.header('link'), onward.url);
    if (!page) return unreadable(onward.url, 'the answer is not the XML of a collection of jobs');
    const before = seen.size;
    for (const job of page.jobs) {
      // It might be the very job that is looked for.
      if (job.siteJobId === undefined) return unreadable(onward.url, 'a job in it has no ID');
      if (seen.has(job.siteJobId)) continue;
      seen.add(job.siteJobId);
      take({ ...job, siteJobId: job.siteJobId });
    }
    if (page.next !== undefined && !URL.canParse(page.next, onward.url.href)) {
      return unreadable(onward.url, `what it names as its next page is no URL: ${page.next.slice(0, 100)}`);
    }
    const next = findNext(page, onward.url, seen.size);
    if (next && next.url.origin !== start.origin) return unreadable(onward.url, `it leads to ${next.url.origin}`);
    if (!next || seen.size === before) {
      const missing = findMissing(page, onward, seen.size, seen.size === before);
      return missing === undefined ? { kind: 'listed', pages } : unreadable(onward.url, missing);
    }
    onward = next;
  }
  return unreadable(start, `it has more than ${MAX_PAGES} pages`);
}

const unreadable = (url: URL, why: string): Listing => ({
  kind: 'unreadable',
  message: `The list at ${url.origin}${url.pathname} could not be read: ${why}`,
});

/** Refusals that say no more than "there is no such page, or no such parameter". */
const isNoSuchPage = (status: number): boolean => [400, 404, 406, 410, 416, 422].includes(status);

function findNext(page: ListPage, url: URL, seen: number): Onward | undefined {
  if (page.next !== undefined && !/^\d+$/.test(page.next)) {
    return page.next === '' ? undefined : { url: new URL(page.next, url.href), promised: true };
  }
  const current = page.page ?? pageOf(url);
  const following = new URL(url);
  following.searchParams.set('page', page.next ?? String(current + 1));
  if (page.next !== undefined) return { url: following, promised: true };
  if (page.totalPages !== undefined) return current < page.totalPages ? { url: following, promised: true } : undefined;
  if (page.total !== undefined) return seen < page.total ? { url: following, promised: true } : undefined;
  return page.jobs.length > 0 ? { url: following, promised: false } : undefined;
}

const pageOf = (url: URL): number => Number(/^\d+$/.exec(url.searchParams.get('page') ?? '')?.[0] ?? 1);

// What speaks against the end that was reached: fewer jobs than the total, or a page that is another one than asked for.
function findMissing(page: ListPage, asked: Onward, seen: number, repeated: boolean): string | undefined {
  if (page.total !== undefined && seen < page.total) return `it names ${page.total} jobs and gave ${seen}`;
  const isOther = page.page !== undefined && page.page !== pageOf(asked.url) && asked.url.searchParams.has('page');
  if (isOther) return `page ${pageOf(asked.url)} was asked for and page ${page.page} came`;
  if (repeated && page.jobs.length > 0 && page.totalPages !== undefined && asked.promised) {
    return `it names ${page.totalPages} pages, and page ${pageOf(asked.url)} brought nothing new`;
  }
  return undefined;
}
