// Parses one page of the site's list action: its jobs, and its hints about further pages.
import { readFailureIndicator } from './failure-indicator.ts';
import { JOB, type Resource } from './http/job-address.ts';
import type { Answer, StreamedAnswer } from './http/transport.ts';
import { BrokenBody, timeSlices } from './xml/body-text.ts';
import { isJobLike, type ReadJob, readJobElement, showsFields } from './xml/decode.ts';
import { foldName, openXml, type XmlElement, XmlRefused } from './xml/xml-events.ts';
import { childrenOf, elementText, isNamed } from './xml/xml-tree.ts';

/** What a page says besides its jobs. */
export interface PageHints {
  /**
   * URL or path of the next page, from the document or the `Link` header; empty: the page says there is no next one.
   */
  readonly next?: string;
  /** The page's own number, the number of pages, and the total number of jobs. */
  readonly page?: number;
  readonly totalPages?: number;
  readonly total?: number;
  /** How many jobs precede those of the page. */
  readonly offset?: number;
}

/** Paging headers; empty if absent. */
export interface PagingHeaders {
  readonly link: string;
  readonly total: string;
  readonly totalPages: string;
}

interface PageEnd {
  readonly hints: PageHints;
  readonly jobs: readonly ReadJob[];
  /** The one element below the root in which its jobs are; of a page without jobs, the one that it has. */
  readonly holder?: string;
  /** Whether it shows by itself that it is a list. Otherwise it is one if other pages had their jobs in this element. */
  readonly isList: boolean;
}

export interface ListPageReading {
  /** Parses the next piece. Returns the jobs that it completes. @throws XmlRefused */
  write(text: string): readonly ReadJob[];
  /**
   * What the page says besides its jobs, and those that are known only now; `undefined`: it is not a collection, or not a whole one.
   * @throws XmlRefused
   */
  end(headers: PagingHeaders): PageEnd | undefined;
  /** The failure that the page states, if any; known at its end. */
  readonly failure: string | undefined;
}

// The interface does not show the paging of list actions (site-interface.md, section 4, rule 6).
// ASSUMED: the usual names, as attributes of the root, as its children, or in a child for the paging.
// To check: `curl -u TOKEN:X {base_url}{list_path}` and check the root element and the Link header.
const pagingNames = ['pagination', 'paging', 'pager', 'meta', 'page-info', 'links'];
const pageNames = ['page', 'current-page', 'page-number'];
const totalPagesNames = ['total-pages', 'pages', 'page-count', 'num-pages', 'last-page'];
const totalNames = [
  'total',
  ...['count', 'entries', 'results', 'jobs', 'items', 'records', 'elements'].map((what) => `total-${what}`),
];
const offsetNames = ['offset', 'start-offset'];
const nextNames = ['next', 'next-url', 'next-link', 'next-href', 'next-page', 'next-page-url'];

/** Maximum depth of jobs below the root. */
const MAX_DEPTH = 3;

/**
 * Limits for one job, and for everything besides the jobs of a page. The jobs together are not limited, because none is
 * kept.
 */
const LIMITS = { elements: 2_000, characters: 2 << 20 };

/** The entries of lists, whatever is in them, as Django, Symfony, Jackson and others name them; PHP also numbers them. */
const ENTRY = /^((list-)?item(-?\d+)?|entry|row|record|element|object)$/;
/** Elements that hold the entries of a list, whatever is in it. */
const listNames = ['results', 'items', 'data', 'content', 'entries', 'records', 'rows', 'list', 'objects'];

/**
 * Parses a collection piece by piece: a root of any name with `job` elements in it, or slightly deeper, as below
 * `jobs`. Anything malformed, an HTML page, errors, a single job, or content without any job is not a collection, nor is
 * what states a failure beside its jobs. Only an empty root or an empty `jobs` counts as empty, because after an empty list a
 * create in doubt is sent again.
 *
 * Entries under other names count below the root, and in an element that is named for a list or, as Jackson does, like its entries; below the
 * root also under the name of the list, as CakePHP writes them. All of them must be like jobs, and the root must not be: it would be a job with
 * a list in it.
 */
function openListPage(base: URL, resource: Resource = JOB): ListPageReading {
  const job = foldName(resource.element).toLowerCase();
  const lists = [...namesOfList(resource), ...listNames];
  let jobs: ReadJob[] = [];
  let count = 0;
  let isNone = false;
  /** Name of the child of the root that was opened last. */
  let around = '';
  /** The children of the root in which jobs are; empty: it has them itself. */
  const holders = new Set<string>();
  let holder = '';
  const entries = { ofJobs: 0, others: 0 };
  let failure: string | undefined;
  const reading = openXml(LIMITS, {
    // Only outermost `job` elements: a nested one belongs to its outer job.
    isSelected(name, depth) {
      const folded = foldName(name).toLowerCase();
      if (depth === 0) isNone = ['html', job, 'error', 'errors'].includes(folded);
      if (isNone || depth === 0 || depth > MAX_DEPTH) return false;
      if (depth === 1) around = folded;
      holder = depth === 1 ? '' : around;
      if (folded === job || (depth === 1 && ENTRY.test(folded))) return true;
      return depth === 2 && lists.includes(around) && (ENTRY.test(folded) || folded === around);
    },
    take(element) {
      if (isNamed(element, job)) {
        count++;
        holders.add(holder);
        jobs.push(readJobElement(element, base, resource));
        return false;
      }
      const inner = childrenOf(element).filter((child) => isNamed(child, job));
      const isEntry = inner.length === 0 && isJobLike(element, resource);
      const read = isEntry ? [element] : inner;
      if (isEntry) entries.ofJobs++;
      else if (inner.length === 0) entries.others++;
      count += read.length;
      if (read.length > 0) holders.add(holder);
      jobs.push(...read.map((one) => readJobElement(one, base, resource)));
      return read.length === 0;
    },
  });
  return {
    get failure() {
      return failure;
    },
    write(text) {
      reading.write(text);
      const read = jobs;
      jobs = [];
      return read;
    },
    end(headers) {
      const root = reading.end();
      if (isNone || isJobLike(root, resource)) return undefined;
      failure = readFailureIndicator(root, resource).find(
        ({ message }) => !isHarmless(message, count > 0, resource),
      )?.message;
      const isMixed = entries.ofJobs > 0 && (entries.others > 0 || entries.ofJobs < count);
      const named = childrenOf(root).filter((child) => isNamed(child, ...namesOfList(resource)));
      const alike = named.filter((one) => isJobLike(one, resource));
      if (failure !== undefined || isMixed || (count > 0 && alike.length > 0)) return undefined;
      const isNamedAlike = named.length > 0 && alike.length === named.length;
      const isList = count > 0 || isNamedAlike || isEmptyList(root, resource);
      const [one] = isList ? (holders.size === 1 ? holders : []) : emptyHolders(root);
      if (!isList && one === undefined) return undefined;
      const last = isNamedAlike ? alike.map((job) => readJobElement(job, base, resource)) : [];
      return { hints: readHints(root, headers, resource), jobs: last, isList, ...(one ? { holder: one } : {}) };
    },
  };
}

/** Spring Data states the number of a page as `number`, which may be anything elsewhere. */
const numberOfSpring = (readValue: (names: readonly string[]) => string | undefined): string | undefined =>
  readValue(['total-elements']) === undefined ? undefined : readValue(['number']);

function readHints(root: XmlElement, headers: PagingHeaders, resource: Resource): PageHints {
  const readValue = readPaging(root, resource);
  return {
    next: readLinkHeader(headers.link) ?? readNextLink(root, resource) ?? readValue(nextNames),
    page: readCount(readValue(pageNames) ?? numberOfSpring(readValue)),
    totalPages: readCount(readValue(totalPagesNames) ?? headers.totalPages),
    total: readCount(readValue(totalNames) ?? headers.total),
    offset: readCount(readValue(offsetNames)),
  };
}

/** What a list says that found nothing, or after its last page. */
function saysNoJobs(text: string, resource: Resource): boolean {
  const named = [resource.element, ...namesOfList(resource)].map((name) => name.replace(/[.-]/g, '[ ._-]'));
  const what = `jobs?|results?|records?|entries|items|listings?|vacanc(y|ies)|${named.join('|')}`;
  const none = `(there (are|were) )?(no|0|zero) (\\w+ )?(${what})( (is|are|was|were))?( (found|available|listed|yet))*[.!]?`;
  return new RegExp(`^${none}$|^none[.!]?$`, 'i').test(text);
}

/** Elements that hold the jobs of a list: `jobs`, or what the site calls them. */
function namesOfList({ element, path }: Resource): readonly string[] {
  const names = [`${element}s`, path.slice(path.lastIndexOf('/') + 1)];
  return names.map((name) => foldName(name).toLowerCase());
}

/** Whether what looks like a failure states none. A number beside jobs counts something, such as those of a state. */
const isHarmless = (message: string, besideJobs: boolean, resource: Resource): boolean =>
  (besideJobs && /^\d+$/.test(message)) ||
  /^no (errors?|failures?|problems?)[.!]?$/i.test(message) ||
  saysNoJobs(message, resource);

/** Whether a page without jobs is an empty list. */
function isEmptyList(root: XmlElement, resource: Resource): boolean {
  const lists = [root, ...childrenOf(root)].filter((element) => isNamed(element, ...namesOfList(resource)));
  if (lists.length === 0) return isBlank(root) || countsNone(root, resource);
  const isEntry = (node: XmlElement): boolean => hasId(node, resource) || showsFields(node, resource);
  return lists.every(
    (list) =>
      !isRecord(list, resource) &&
      list.content.every((node) => (typeof node === 'string' ? saysNothing(node.trim(), resource) : !isEntry(node))),
  );
}

/** The only element of the page, apart from its paging, if it is blank. */
function emptyHolders(root: XmlElement): readonly string[] {
  const elements = childrenOf(root).filter((child) => !isNamed(child, ...pagingNames));
  return elements.length === 1 ? elements.filter(isBlank).map(({ name }) => foldName(name).toLowerCase()) : [];
}

/** A list under any name is empty if the page counts no jobs. */
function countsNone(root: XmlElement, resource: Resource): boolean {
  const lists = childrenOf(root).filter((child) => isNamed(child, ...listNames));
  const total = readPaging(root, resource)([...totalNames, 'count']);
  return lists.length > 0 && lists.every(isBlank) && readCount(total) === 0;
}

const saysNothing = (text: string, resource: Resource): boolean => text === '' || saysNoJobs(text, resource);

/** Whether the element has an ID: then it is a record, perhaps a job by another name. */
const hasId = (element: XmlElement, resource: Resource): boolean =>
  element.attributes.has('id') || childrenOf(element).some((child) => isId(child, resource));

const isId = (element: XmlElement, resource: Resource): boolean =>
  isNamed(element, 'id', `${foldName(resource.element).toLowerCase()}-id`);

/** Whether an element that is named for a list is an entry itself. */
const isRecord = (list: XmlElement, resource: Resource): boolean =>
  childrenOf(list).some((child) => isId(child, resource)) || showsFields(list, resource);

const isBlank = (element: XmlElement): boolean =>
  childrenOf(element).length === 0 && elementText(element).trim() === '';

// Elements that may hold paging hints: the root, and children named for it.
const pagingElements = (root: XmlElement, resource: Resource): readonly XmlElement[] => [
  root,
  ...childrenOf(root).filter((child) => isNamed(child, ...namesOfList(resource), ...pagingNames)),
];

function readPaging(root: XmlElement, resource: Resource): (names: readonly string[]) => string | undefined {
  const elements = pagingElements(root, resource);
  return (names) => {
    for (const element of elements) {
      const attributeOf = (name: string) => [...element.attributes].find(([one]) => isAlike(one, name))?.[1];
      const attribute = names.map(attributeOf).find((value) => value !== undefined);
      if (attribute !== undefined) return attribute.trim();
      const child = childrenOf(element).find((candidate) => names.some((name) => isAlike(candidate.name, name)));
      if (child) return (child.attributes.get('href') ?? elementText(child)).trim();
    }
    return undefined;
  };
}

/** .NET and Java write `totalCount` and `TotalCount`. */
const isAlike = (one: string, other: string): boolean => withoutHyphens(one) === withoutHyphens(other);
const withoutHyphens = (name: string): string => foldName(name).replaceAll('-', '').toLowerCase();

// `<link rel="next" href="…"/>`, as in Atom.
function readNextLink(root: XmlElement, resource: Resource): string | undefined {
  const links = pagingElements(root, resource)
    .flatMap(childrenOf)
    .filter((child) => isNamed(child, 'link'));
  return links.find((link) => namesNext(link.attributes.get('rel') ?? ''))?.attributes.get('href');
}

/** Whether one of these relations is the next page. */
const namesNext = (relations: string): boolean => relations.toLowerCase().split(/\s+/).includes('next');

const RELATIONS = /;\s*rel\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']+))/gi;

/** The target of `rel="next"` in the header `Link` (RFC 8288, 3). */
function readLinkHeader(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(/<([^<>]*)>([^<]*)/g)) {
    for (const [, double, single, bare] of parameters.matchAll(RELATIONS)) {
      if (namesNext(double ?? single ?? bare ?? '')) return target;
    }
  }
  return undefined;
}

const readCount = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined;

// Reads the answer to a GET that should be a list page of any size: its jobs as they arrive, and its hints.

/** The parsed answer for a page. `body` is only its beginning. */
export interface PageAnswer extends Answer {
  /** What the page says besides its jobs; absent: it is not a complete collection of jobs. */
  readonly hints?: PageHints;
  /** See `PageEnd`. */
  readonly holder?: string;
  /** The hints of a page that is a list only if other pages had their jobs in its `holder`. */
  readonly hintsIfEmpty?: PageHints;
  /** When its headers had arrived, by `performance.now()`. */
  readonly answeredAt: number;
}

/** How much of a body is kept for messages and to tell a web page from a list. */
const KEPT_CHARACTERS = 64 << 10;

/** Takes a job of a page; returns a promise if that takes more than a moment. */
export type TakeJob = (job: ReadJob) => void | Promise<void>;

/** Reads the answer to its end. @param take receives each job at once, even if the page turns out to be no list. */
export async function readPage(
  answer: StreamedAnswer,
  url: URL,
  take: TakeJob,
  resource: Resource = JOB,
): Promise<PageAnswer> {
  const answeredAt = performance.now();
  const { sent, status, header } = answer;
  const page = openListPage(url, resource);
  let body = '';
  let end: PageEnd | undefined;
  let trouble = answer.trouble;
  let refused: XmlRefused | undefined;
  const pause = timeSlices();
  try {
    if (trouble !== undefined) return { sent, status, header, body, trouble, answeredAt };
    for await (const piece of answer.pieces) {
      if (body.length < KEPT_CHARACTERS) body += piece.slice(0, KEPT_CHARACTERS - body.length);
      if (refused === undefined && status >= 200 && status < 300) {
        refused = await refusal(async () => {
          for (const job of page.write(piece)) {
            const taking = take(job);
            if (taking !== undefined) await taking;
            await pause();
          }
        });
      } else if (body.length >= KEPT_CHARACTERS) break;
      await pause();
    }
    refused ??= await refusal(async () => {
      end = page.end({
        link: header('link'),
        total:
          header('x-total-count') || header('x-total') || header('total-count') || rangeTotal(header('content-range')),
        totalPages: header('x-total-pages'),
      });
      for (const job of end?.jobs ?? []) await take(job);
    });
    if (page.failure !== undefined) trouble = `the site states a failure: ${page.failure}`;
    if (refused?.isTooLarge) trouble = `a limit is exceeded: ${refused.message}`;
  } catch (error) {
    if (!(error instanceof BrokenBody)) throw error;
    trouble = error.message;
  } finally {
    answer.close();
  }
  return {
    sent,
    status,
    header,
    body: body.split('\0').join('\uFFFD'),
    trouble,
    answeredAt,
    ...(trouble === undefined && end !== undefined ? describeEnd(end) : {}),
  };
}

const describeEnd = ({ hints, holder, isList }: PageEnd) => ({
  holder,
  ...(isList ? { hints } : { hintsIfEmpty: hints }),
});

async function refusal(read: () => void | Promise<void>): Promise<XmlRefused | undefined> {
  try {
    await read();
    return undefined;
  } catch (error) {
    if (error instanceof XmlRefused) return error;
    throw error;
  }
}

/** The number of jobs in `items 0-9/57`. */
const rangeTotal = (contentRange: string): string => /\/(\d+)$/.exec(contentRange.trim())?.[1] ?? '';

// Finds the next page of the site's list from a page's hints, and how firmly it is promised.

/**
 * Where to continue. `promise`: what says that there is more: a link, the number of pages, or the number of jobs;
 * absent: the next page is only tried. `end`: the page says that it is the last.
 */
export type NextListPage =
  | { readonly kind: 'page'; readonly url: URL; readonly promise: 'linked' | 'numbered' | 'counted' | undefined }
  | { readonly kind: 'end' }
  | { readonly kind: 'nowhere'; readonly why: string };

/** A page that was requested. */
export type Asked = Extract<NextListPage, { kind: 'page' }>;

/**
 * Follows `next` links on the same origin; otherwise increments the query parameter `page`, or `offset` if the page
 * states its own, as far as the page's numbers say. If a page has no paging hints, the next one is requested anyway: a
 * silently cut list would hide a job in doubt, which would then be created twice.
 * @param read how many pages and jobs of the list were read up to here, and how many jobs are on this page.
 */
export function findNext(
  hints: PageHints,
  asked: Asked,
  { number, onPage, soFar }: { readonly number: number; readonly onPage: number; readonly soFar: number },
): NextListPage {
  const { next, total, totalPages, offset } = hints;
  if (next !== undefined && !/^\d+$/.test(next)) return next === '' ? { kind: 'end' } : follow(next, asked.url);
  const current = hints.page ?? numberOf(asked.url);
  const url = new URL(asked.url);
  if (offset === undefined) url.searchParams.set('page', next ?? String(current + 1));
  else url.searchParams.set('offset', String(offset + onPage));
  if (next !== undefined) return { kind: 'page', url, promise: 'linked' };
  if (totalPages !== undefined)
    // Some count from 0.
    return (current === number - 1 ? number : current) < totalPages
      ? { kind: 'page', url, promise: 'numbered' }
      : { kind: 'end' };
  if (total !== undefined) return soFar < total ? { kind: 'page', url, promise: 'counted' } : { kind: 'end' };
  return asked.promise === 'linked' ? { kind: 'end' } : { kind: 'page', url, promise: undefined };
}

function follow(next: string, from: URL): NextListPage {
  if (!URL.canParse(next, from.href)) {
    return { kind: 'nowhere', why: `its link to the next page is no URL: ${next.slice(0, 100)}` };
  }
  const url = new URL(next, from.href);
  url.hash = '';
  // Behind a proxy that ends TLS, servers write http.
  if (url.host === from.host && /^https?:$/.test(url.protocol)) url.protocol = from.protocol;
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
