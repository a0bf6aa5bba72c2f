// Finds the next page of the site's list from a page's hints, and how firmly it is promised.
import type { PageHints } from './list-page.ts';

/**
 * Where to continue. `promise`: what says that there is more: a link, the number of pages, or the number of jobs;
 * absent: the next page is only tried. `end`: the page says that it is the last.
 */
export type Onward =
  | { readonly kind: 'page'; readonly url: URL; readonly promise: 'linked' | 'numbered' | 'counted' | undefined }
  | { readonly kind: 'end' }
  | { readonly kind: 'nowhere'; readonly why: string };

/** A page that was requested. */
export type Asked = Extract<Onward, { kind: 'page' }>;

/**
 * Follows `next` links on the same origin; otherwise increments the query parameter `page`, or `offset` if the page
 * states its own, as far as the page's numbers say. If a page has no paging hints, the next one is requested anyway: a
 * silently cut list would hide a job in doubt, which would then be created twice.
 * @param onPage jobs on this page.
 * @param soFar jobs of the list up to here.
 */
export function findNext(hints: PageHints, asked: Asked, onPage: number, soFar: number): Onward {
  const { next, total, totalPages, offset } = hints;
  if (next !== undefined && !/^\d+$/.test(next)) return next === '' ? { kind: 'end' } : follow(next, asked.url);
  const current = hints.page ?? numberOf(asked.url);
  const url = new URL(asked.url);
  if (offset === undefined) url.searchParams.set('page', next ?? String(current + 1));
  else url.searchParams.set('offset', String(offset + onPage));
  if (next !== undefined) return { kind: 'page', url, promise: 'linked' };
  if (totalPages !== undefined)
    return current < totalPages ? { kind: 'page', url, promise: 'numbered' } : { kind: 'end' };
  if (total !== undefined) return soFar < total ? { kind: 'page', url, promise: 'counted' } : { kind: 'end' };
  return asked.promise === 'linked' ? { kind: 'end' } : { kind: 'page', url, promise: undefined };
}

function follow(next: string, from: URL): Onward {
  if (!URL.canParse(next, from.href)) {
    return { kind: 'nowhere', why: `its link to the next page is no URL: ${next.slice(0, 100)}` };
  }
  const url = new URL(next, from.href);
  url.hash = '';
  // The token must not go to another origin.
  if (url.origin !== from.origin) return { kind: 'nowhere', why: `its next page is on another site: ${url.origin}` };
  return { kind: 'page', url, promise: 'linked' };
}

/** The page number in a URL. */
const numberOf = (url: URL): number => Number(/^\d+$/.exec(url.searchParams.get('page') ?? '')?.[0] ?? 1);

/** Explains that the page states another number or offset than the one requested. */
export function findMixUp({ page, offset }: PageHints, { searchParams }: URL): string | undefined {
  const asked = { page: searchParams.get('page'), offset: searchParams.get('offset') };
  if (page !== undefined && asked.page !== null && Number(asked.page) !== page) {
    return `page ${asked.page} was requested but page ${page} came back`;
  }
  if (offset !== undefined && asked.offset !== null && Number(asked.offset) !== offset) {
    return `offset ${asked.offset} was requested but offset ${offset} came back`;
  }
  return undefined;
}
