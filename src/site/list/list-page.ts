// Turns one page of the site's list action into its jobs and what it says of further pages.
import { type ReadJob, readJobElement } from '../xml/decode.ts';
import { openXml } from '../xml/xml-events.ts';
import { childrenOf, foldName, isNamed, textOf, type XmlElement } from '../xml/xml-tree.ts';

/** What a page says beside its jobs. */
export interface PageHints {
  /** URL or path of the next page, as the document or the header `Link` has it; empty: it says there is none. */
  readonly next?: string;
  /** What the page says of itself: its number, how many pages and how many jobs there are in all. */
  readonly page?: number;
  readonly totalPages?: number;
  readonly total?: number;
  /** How many jobs come before those of the page. */
  readonly offset?: number;
}

/** What headers say of paging; empty where they say nothing. */
export interface PagingHeaders {
  readonly link: string;
  readonly total: string;
  readonly totalPages: string;
}

export interface ListPageReading {
  /** Reads on. Gives the jobs that the piece completes. @throws XmlRefused */
  write(text: string): readonly ReadJob[];
  /** What the page says beside its jobs; `undefined`: it is no collection. @throws XmlRefused */
  end(headers: PagingHeaders): PageHints | undefined;
}

// The interface does not show the paging of list actions (site-interface.md, section 4, rule 6).
// ASSUMED: the usual names, as attributes of the root, as its children, or in a child for the paging.
// To check: `curl -u TOKEN:X {base_url}{list_path}` and look at the root and at the header Link.
const pagingNames = ['pagination', 'paging', 'pager', 'meta', 'page-info', 'links'];
const pageNames = ['page', 'current-page', 'page-number'];
const totalPagesNames = ['total-pages', 'pages', 'page-count', 'num-pages', 'last-page'];
const totalNames = ['total', 'total-count', 'total-entries', 'total-results', 'total-jobs'];
const offsetNames = ['offset', 'start-offset'];
const nextNames = ['next', 'next-url', 'next-link', 'next-href', 'next-page', 'next-page-url'];

/** How far below the root the jobs may lie. */
const MAX_DEPTH = 3;

/** What one job may hold, and what stands beside the jobs of a page. The jobs themselves are not counted: none is kept. */
const LIMITS = { elements: 2_000, characters: 2 << 20 };

/**
 * Reads a collection piece by piece: a root of any name with elements `job` in it, or somewhat deeper, as below `jobs`.
 * It is none where it is not well-formed, a page, errors, a single job, or content without any job. "Empty" is only what
 * is an empty root or an empty `jobs`, because an empty list means that a job in doubt is sent again.
 */
export function openListPage(base: URL): ListPageReading {
  let jobs: ReadJob[] = [];
  let count = 0;
  let isNone = false;
  const reading = openXml(LIMITS, {
    // The outermost elements `job`: one inside another belongs to that one.
    isSelected(name, depth) {
      const folded = foldName(name).toLowerCase();
      if (depth === 0) isNone = ['html', 'job', 'error', 'errors'].includes(folded);
      return !isNone && depth > 0 && depth <= MAX_DEPTH && folded === 'job';
    },
    take(element) {
      count++;
      jobs.push(readJobElement(element, base));
    },
  });
  return {
    write(text) {
      reading.write(text);
      const read = jobs;
      jobs = [];
      return read;
    },
    end(headers) {
      const root = reading.end();
      const isEmpty =
        isNamed(root, 'jobs') || childrenOf(root).some((child) => isNamed(child, 'jobs')) || isBlank(root);
      return isNone || (count === 0 && !isEmpty) ? undefined : readHints(root, headers);
    },
  };
}

function readHints(root: XmlElement, headers: PagingHeaders): PageHints {
  const told = readPaging(root);
  return {
    next: readLinkHeader(headers.link) ?? readNextLink(root) ?? told(nextNames),
    page: readCount(told(pageNames)),
    totalPages: readCount(told(totalPagesNames) ?? headers.totalPages),
    total: readCount(told(totalNames) ?? headers.total),
    offset: readCount(told(offsetNames)),
  };
}

const isBlank = (element: XmlElement): boolean => childrenOf(element).length === 0 && textOf(element).trim() === '';

// The places where a page may speak of paging: its root, and what in it is named so.
const pagingPlaces = (root: XmlElement): readonly XmlElement[] => [
  root,
  ...childrenOf(root).filter((child) => isNamed(child, 'jobs', ...pagingNames)),
];

function readPaging(root: XmlElement): (names: readonly string[]) => string | undefined {
  const places = pagingPlaces(root);
  return (names) => {
    for (const place of places) {
      const attribute = names.find((name) => place.attributes.has(name));
      if (attribute !== undefined) return place.attributes.get(attribute)?.trim();
      const child = childrenOf(place).find((candidate) => isNamed(candidate, ...names));
      if (child) return (child.attributes.get('href') ?? textOf(child)).trim();
    }
    return undefined;
  };
}

// `<link rel="next" href="…"/>`, as Atom has it.
function readNextLink(root: XmlElement): string | undefined {
  const links = pagingPlaces(root)
    .flatMap(childrenOf)
    .filter((child) => isNamed(child, 'link'));
  return links.find((link) => link.attributes.get('rel') === 'next')?.attributes.get('href');
}

/** The target of `rel="next"` in the header `Link` (RFC 8288, 3). */
function readLinkHeader(header: string): string | undefined {
  for (const [, target, parameters] of header.matchAll(/<([^<>]*)>([^<]*)/g)) {
    if (/;\s*rel\s*=\s*("([^"]*\s)?next(\s[^"]*)?"|next\b)/i.test(parameters ?? '')) return target;
  }
  return undefined;
}

const readCount = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
