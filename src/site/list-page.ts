// Turns one page of the site's list action into its jobs and what it says of further pages.
import { type ReadJob, readJobElement } from './decode.ts';
import { childrenOf, isNamed, readXml, textOf, type XmlElement } from './xml-tree.ts';

/** One page, read. */
export interface ListPage {
  readonly jobs: readonly ReadJob[];
  /** URL or path of the next page, as the document or the header `Link` has it; empty: it says there is none. */
  readonly next?: string;
  /** What the page says of itself: its number, how many pages and how many jobs there are in all. */
  readonly page?: number;
  readonly totalPages?: number;
  readonly total?: number;
}

// The interface does not show the paging of list actions (site-interface.md, section 4, rule 6).
// ASSUMED: the usual names, as attributes of the root, as its children, or in a child for the paging.
// To check: `curl -u TOKEN:X {base_url}{list_path}` and look at the root and at the header Link.
const pagingNames = ['pagination', 'paging', 'pager', 'meta', 'page-info', 'links'];
const pageNames = ['page', 'current-page', 'page-number'];
const totalPagesNames = ['total-pages', 'pages', 'page-count', 'num-pages', 'last-page'];
const totalNames = ['total', 'total-count', 'total-entries', 'total-results', 'total-jobs'];
const nextNames = ['next', 'next-url', 'next-link', 'next-href', 'next-page', 'next-page-url'];

/** How far below the root the jobs may lie. */
const MAX_DEPTH = 2;

/**
 * Reads a collection: a root of any name with elements `job` in it, or somewhat deeper, as below `jobs`. Comes back with `undefined` where
 * the document is none: not well-formed, a page, errors, a single job, or content without any job. "Empty" is only what is an
 * empty root or an empty `jobs`, because an empty list means that a job in doubt is sent again.
 */
export function readListPage(xml: string, linkHeader: string, base: URL): ListPage | undefined {
  const root = readXml(xml);
  if (!root || isNamed(root, 'html', 'job', 'error', 'errors')) return undefined;
  const children = childrenOf(root);
  const elements = findJobs(root, MAX_DEPTH);
  const isEmpty = isNamed(root, 'jobs') || children.some((child) => isNamed(child, 'jobs')) || isBlank(root);
  if (elements.length === 0 && !isEmpty) return undefined;
  const told = readPaging(root);
  return {
    jobs: elements.map((element) => readJobElement(element, base)),
    next: readLinkHeader(linkHeader) ?? readNextLink(root) ?? told(nextNames),
    page: readCount(told(pageNames)),
    totalPages: readCount(told(totalPagesNames)),
    total: readCount(told(totalNames)),
  };
}

const isBlank = (element: XmlElement): boolean => childrenOf(element).length === 0 && textOf(element).trim() === '';

// The outermost elements `job`: one inside another belongs to that one.
function findJobs(element: XmlElement, depth: number): readonly XmlElement[] {
  return childrenOf(element).flatMap((child) => {
    if (isNamed(child, 'job')) return [child];
    return depth === 0 ? [] : findJobs(child, depth - 1);
  });
}

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
