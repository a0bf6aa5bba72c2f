// Turns what a page of the site's list says into where the list goes on, and how firmly that is promised.
import type { PageHints } from './list-page.ts';

/**
 * Where to go on. `promise`: what says that there is more: a link, the number of pages, or the number of jobs; absent: it
 * is only tried. `end`: the page says that it is the last.
 */
export type Onward =
  | { readonly kind: 'page'; readonly url: URL; readonly promise: 'linked' | 'numbered' | 'counted' | undefined }
  | { readonly kind: 'end' }
  | { readonly kind: 'nowhere'; readonly why: string };

/** A page that was asked for. */
export type Asked = Extract<Onward, { kind: 'page' }>;

/**
 * It follows `next` links on the same origin; else it counts up the query parameter `page`, or `offset` where the page tells
 * its own, as far as the page's numbers say. Where a page says nothing of paging, the next one is asked for all the same:
 * a list that was cut silently would hide a job in doubt, which would then be made twice.
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
    return { kind: 'nowhere', why: `what it names as its next page is no URL: ${next.slice(0, 100)}` };
  }
  const url = new URL(next, from.href);
  url.hash = '';
  // The token goes nowhere else.
  if (url.origin !== from.origin) return { kind: 'nowhere', why: `it leads to ${url.origin}` };
  return { kind: 'page', url, promise: 'linked' };
}

/** The number of a page by its URL. */
export const numberOf = (url: URL): number => Number(/^\d+$/.exec(url.searchParams.get('page') ?? '')?.[0] ?? 1);

/** What the page says of itself, where that is another page than the one asked for. */
export function findMixUp({ page, offset }: PageHints, { searchParams }: URL): string | undefined {
  const asked = { page: searchParams.get('page'), offset: searchParams.get('offset') };
  if (page !== undefined && asked.page !== null && Number(asked.page) !== page) {
    return `page ${asked.page} was asked for and page ${page} came`;
  }
  if (offset !== undefined && asked.offset !== null && Number(asked.offset) !== offset) {
    return `the jobs from offset ${asked.offset} on were asked for and those from ${offset} on came`;
  }
  return undefined;
}
