// Reads where the next page is: from the Link header, or from the page, by a path such as `meta/next` or
// `links[rel=next]/href`; and compares addresses of pages.
import { addressForMessages } from '../http/http-config.ts';
import { FeedReadingError } from '../source.ts';

// Not http-link-header 1.1: it reads an unclosed `rel="next` as if it were whole, which may be cut off, and takes no relation in single quotes.

/** The address with `rel="next"` in a Link header (RFC 8288). Throws {@link FeedReadingError} if a part of it that cannot be read may be one. */
export function nextLink(header: string): string | undefined {
  for (const [, target = '', parameters = ''] of header.matchAll(LINK)) {
    const [rel] = [...parameters.matchAll(PARAMETER)].filter(([, name]) => name?.toLowerCase() === 'rel');
    const relations = (rel?.[2] ?? rel?.[3] ?? rel?.[4] ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target.trim();
  }
  if (/\brel\b[^,]*\bnext\b/i.test(header.replace(LINK, ''))) {
    throw new FeedReadingError('the Link header of the page cannot be read, so it is not proven that no page follows');
  }
  return undefined;
}

/** `<address>` and its parameters, whose quoted texts may hold commas and semicolons. Relations may be in single quotes, too. */
const LINK = /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|(?<=\brel\s*=\s*)'[^']*'|[^\s;,"]*))?)*)/gi;
const PARAMETER = /;\s*([^\s=;,]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|(?<=\brel\s*=\s*)'([^']*)'|([^\s;,"]*)))?/gi;

/**
 * The link or cursor of the next page at the path; `undefined` if there is none. Throws {@link FeedReadingError} if that proves no end.
 * @param isProven something else proves the end of a page without a place for it.
 */
export function nextTextAt(json: unknown, path: string, isProven: boolean): string | undefined {
  const what = 'the link or cursor of the next page';
  const found = findAtJsonPath(json, parseJsonPath(path) ?? []);
  if (found.kind === 'astray') {
    if (isProven) return undefined;
    throw new FeedReadingError(
      `the page has no ${found.missing}, where ${what} should be (${path}), so its end is not proven; correct the path, or let the address ask for more records than there are, such as limit=100`,
    );
  }
  const value = found.kind === 'absent' ? undefined : ownText([found.value].flat()[0]);
  if (value === undefined || value === null || value === '' || value === false) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return `${value}`;
  throw new FeedReadingError(`${what} (${path}) is neither a text nor a whole number that can be read exactly`);
}

/** The text of an XML element with attributes; any other value as it is. */
function ownText(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => /^[@#]/.test(name)) ? (Reflect.get(value, '#text') ?? '') : value;
}

/** Whether the page says that more follow. Throws {@link FeedReadingError} if it does not say. */
export function readMoreFlag(json: unknown, path: string): boolean {
  const found = findAtJsonPath(json, parseJsonPath(path) ?? []);
  const value = found.kind === 'found' ? ownText(found.value) : undefined;
  if (value === true || value === 'true' || value === 1 || value === '1') return true;
  if (value === false || value === 'false' || value === 0 || value === '0') return false;
  throw new FeedReadingError(`the page does not say at ${path} whether more pages follow`);
}

/**
 * The next page's address, at the origin of the first. A page from https that links to http, as a server behind a proxy
 * does, is read over https. Throws {@link FeedReadingError} for any other origin.
 */
export function nextUrl(link: string, base: URL, start: URL): URL {
  if (!URL.canParse(link, base.href)) throw new FeedReadingError('the link to the next page is not an address');
  return sameOrigin(new URL(link, base), start, 'the next page is said to be');
}

/** The address, if it is at the same origin as another. Throws {@link FeedReadingError} otherwise. @param what for people. */
export function sameOrigin(url: URL, start: URL, what: string): URL {
  if (start.protocol === 'https:' && url.protocol === 'http:' && url.hostname === start.hostname && url.port === '') {
    url.protocol = 'https:';
    url.port = start.port;
  }
  url.hash = '';
  if (url.origin === start.origin) return url;
  throw new FeedReadingError(
    `${what} at another origin, ${addressForMessages(url)}, which gets no credentials and is not read`,
  );
}

// Finds a value in parsed JSON by a path such as `meta/next` or `links[rel=next]/href`.

interface Step {
  readonly name: string;
  /** A name and the text that it must have. */
  readonly condition?: readonly [string, string];
}

const STEP = /^([^[\]/]+)(?:\[([^=[\]]+)=([^\]]+)\])?$/;

/** `undefined` if it is not a path. */
export function parseJsonPath(path: string): readonly Step[] | undefined {
  const parts = path
    .replace(/^\$?[./]/, '')
    .split('/')
    .map((part) => STEP.exec(part));
  if (parts.some((part) => part === null)) return undefined;
  return parts.flatMap((part) => {
    const [, name = '', key, text] = part ?? [];
    return [{ name, condition: key === undefined || text === undefined ? undefined : ([key, text] as const) }];
  });
}

type Found =
  | { readonly kind: 'found'; readonly value: unknown }
  /** The link is absent from the object for it, or from each of a list. */
  | { readonly kind: 'absent' }
  /** That object is absent. */
  | { readonly kind: 'astray'; readonly missing: string };

/** The first value at the path. Lists on the way are passed through. */
function findAtJsonPath(value: unknown, path: readonly Step[]): Found {
  const [step, ...rest] = path;
  if (step === undefined) return { kind: 'found', value };
  if (Array.isArray(value)) {
    const inner = value.map((each) => findAtJsonPath(each, path));
    return inner.find(({ kind }) => kind === 'found') ?? { kind: 'absent' };
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step.name)) {
    // `links: { "self": … }` has the place for `links/next/href`.
    const isLast = rest.length === 0 || (/^_*next/i.test(step.name) && rest.length === 1);
    return isLast && typeof value === 'object' && value !== null
      ? { kind: 'absent' }
      : { kind: 'astray', missing: step.name };
  }
  const next = (value as Readonly<Record<string, unknown>>)[step.name];
  return findAtJsonPath(step.condition === undefined ? next : matching(next, step.condition), rest);
}

function matching(value: unknown, [name, text]: readonly [string, string]): unknown {
  return [value].flat().filter((each) => {
    const found: unknown = typeof each === 'object' && each !== null ? Reflect.get(each, name) : undefined;
    return found !== undefined && String(found) === text;
  });
}

/** In the address of a page of a list. */
const PAGE_PARAMETER =
  /^(?:p|pg|pr|paged|(?:current[-_]?)?page|page[-_]?(?:number|num|no|index)|page\[(?:number|offset)\]|(?:job[-_]?)?offset|\$?skip|from|start|start[-_]?(?:index|row)|first[-_]?result)$/i;

/** Of the query: it says how many records a page has at most. */
const SIZE_PARAMETER =
  /^(?:page)?(?:limit|size|count|top|rows|take|num|max)$|^(?:max|num)(?:records|results|rows|items|jobs)$|per(?:page|rss)$|^resultstotake$/;

/** How many records an address asks for at most, and how; `undefined`: it does not say. */
export function askedRecords({ searchParams }: URL): { readonly said: string; readonly records: number } | undefined {
  const found = [...searchParams].find(([name, value]) => isSizeParameter(name) && /^[1-9]\d{0,5}$/.test(value));
  return found === undefined ? undefined : { said: found.join('='), records: Number(found[1]) };
}

export const isSizeParameter = (name: string): boolean => SIZE_PARAMETER.test(lettersOf(name));

/** In lower case, without anything but letters. */
export const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');

/**
 * An address, for comparisons: a server behind a proxy may write http for https. @param what `list`: without the
 * parameters of a page; the number of its page: also without it at the end of the path (`/jobs/2`). @param base where it starts, if it is relative.
 */
export function comparableAddress(written: string, what: 'page' | 'list' | number = 'page', base?: string): string {
  const address = written.trim().replaceAll('&amp;', '&');
  if (!URL.canParse(address, base)) return address;
  const { host, pathname, searchParams } = new URL(address, base);
  const all = [...searchParams];
  const kept = all.filter(([name, value]) => what === 'page' || !PAGE_PARAMETER.test(name) || !/^\d{1,6}$/.test(value));
  const isInPath = typeof what === 'number' && kept.length === all.length;
  const path = isInPath ? pathname.replace(new RegExp(`(?<!\\d)0*${what}(?=[^\\d/]*/?$)`), '') : pathname;
  return JSON.stringify([host, path, kept.toSorted().join('&')]);
}
