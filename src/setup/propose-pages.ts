// Recognises how a JSON API sends its postings in pages, and where it states their total.
import type { ListHeaders, ListTotal } from '../feed/source/source.ts';
import { isSizeParameter, lettersOf } from '../feed/source/sources.ts';

export interface ProposedPages {
  /** Path of the total. */
  readonly total?: string;
  /** The settings `pages`. */
  readonly pages?: Readonly<Record<string, unknown>>;
  /** What a person should know, one sentence each. */
  readonly notes: readonly string[];
}

interface Value {
  readonly path: string;
  /** In lower case, without anything but letters. */
  readonly name: string;
  readonly value: unknown;
}

const TOTALS =
  'total totalcount totalresults totalfound totalhits totalrecords totalitems totalelements numfound searchresultcountall recordcount nbhits totalsize totalvalue rowcount resultcount totaljobs totalpostings totalpositions maxergebnisse count'.split(
    ' ',
  );
const NEXT = new Set('next nexturl nextlink nextpageurl nextpage nexthref nextrecordsurl odatanextlink'.split(' '));
const CURSORS: Readonly<Record<string, string>> = {
  nextcursor: 'cursor',
  cursor: 'cursor',
  endcursor: 'cursor',
  nextpagetoken: 'pageToken',
  nexttoken: 'token',
};
const OFFSETS = /^(?:pageoffset|offset|start|skip|from|startindex|startrow|first|firstresult|resultstoskip)$/;
const PAGES = /^(?:page|p|pg|page_?n(?:umber|um|o)|currentpage|pageindex)$/;
/** What usually goes with the parameter that says how many records a page has. */
const WITH_SIZE: Readonly<Record<string, string>> = {
  limit: 'offset',
  pagelimit: 'page[offset]',
  resultstotake: 'resultsToSkip',
  rows: 'start',
  take: 'skip',
  top: '$skip',
};

/** Where a page says whether more follow. */
const MORE = new Set('hasmore hasmorepages hasmoreresults hasnext hasnextpage more morerecords ismore'.split(' '));

const PAGE_NUMBERS = new Set('current currentpage page pagenumber'.split(' '));
const PAGE_COUNTS = new Set('totalpages lastpage pages pagecount'.split(' '));

/**
 * @param document a page, parsed. @param records how many it has. @param address the page's; `undefined`: it is a file,
 * which has no further pages.
 */
export function proposePages(
  document: unknown,
  records: number,
  address: URL | undefined,
  { following, listTotal }: ListHeaders = {},
): ProposedPages {
  const values = valuesIn(document, '', 0);
  const more = values.find(({ name, value }) => MORE.has(name) && (typeof value === 'boolean' || isFlag(value)));
  const number = pageNumberIn(values);
  const totals = values.filter(
    // A page may count its own records only.
    ({ path, name, value }) =>
      TOTALS.includes(name) &&
      numberOf(value) >= records &&
      (name !== 'count' || (more === undefined && number === undefined)) &&
      !path.includes('.'),
  );
  const total = totals.toSorted((a, b) => TOTALS.indexOf(a.name) - TOTALS.indexOf(b.name))[0];
  const why = reasonOfPart({ total, more, number, records, address, listTotal });
  const isPart = why !== undefined;
  const isFollowed = following !== undefined;
  const pages = address === undefined ? undefined : pagesBy(values, { records, address, isPart, isFollowed, more });
  return {
    // A list whose total is not reached is not complete, so nothing is deleted. A file would never be.
    ...(total !== undefined && (address !== undefined || !isPart) ? { total: total.path } : {}),
    ...(pages === undefined ? {} : { pages }),
    notes:
      isPart && pages === undefined ? [`${why}: the rest is on further pages; set pages, or ask for all of them`] : [],
  };
}

interface Part {
  readonly total: Value | undefined;
  readonly more: Value | undefined;
  readonly number: PageNumber | undefined;
  readonly records: number;
  readonly address: URL | undefined;
  readonly listTotal: ListTotal | undefined;
}

/** Why the page is a part of the list, for people. */
function reasonOfPart({ total, more, number, records, address, listTotal }: Part): string | undefined {
  if (total !== undefined && numberOf(total.value) > records)
    return `the document states ${total.value} postings (${total.path}), but has ${records}`;
  if (listTotal !== undefined && listTotal.records > records)
    return `the header ${listTotal.header} states ${listTotal.records} postings, but the document has ${records}`;
  if (more?.value === true || more?.value === 1) return `the document states that more postings follow (${more.path})`;
  if (number !== undefined && Math.max(number.page, 1) < number.pages)
    return `the document states that it is page ${number.page} of ${number.pages} (${number.path})`;
  const asked = [...(address?.searchParams ?? [])].find(
    ([name, text]) => isSizeParameter(name) && text === `${records}`,
  );
  return asked === undefined || total !== undefined || more !== undefined || number !== undefined || records === 0
    ? undefined
    : `the document has as many postings as the address asks for (${asked[0]}=${records})`;
}

interface PageNumber {
  readonly path: string;
  readonly page: number;
  readonly pages: number;
}

/** The number of this page and of all pages, which one object states. */
function pageNumberIn(values: readonly Value[]): PageNumber | undefined {
  const outerOf = ({ path }: Value): string => path.split('/').slice(0, -1).join('/');
  for (const pages of values.filter(({ name, value }) => PAGE_COUNTS.has(name) && numberOf(value) >= 0)) {
    const page = values.find(
      (each) => PAGE_NUMBERS.has(each.name) && numberOf(each.value) >= 0 && outerOf(each) === outerOf(pages),
    );
    if (page !== undefined) return { path: pages.path, page: numberOf(page.value), pages: numberOf(pages.value) };
  }
  return undefined;
}

const isFlag = (value: unknown): boolean => value === 0 || value === 1;

/** `NaN` if it is no whole number. PHP may write numbers as texts. */
const numberOf = (value: unknown): number =>
  Number.isInteger(value) || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : Number.NaN;

interface Page {
  readonly records: number;
  readonly address: URL;
  readonly isPart: boolean;
  readonly isFollowed: boolean;
  readonly more: Value | undefined;
}

function pagesBy(
  values: readonly Value[],
  { records, address, isPart, isFollowed, more }: Page,
): Readonly<Record<string, unknown>> | undefined {
  const next = values.find(({ path, value }) => isNext(path) && (value === null || isAddress(value)));
  if (next !== undefined) return { by: 'next', path: next.path };
  if (isFollowed) return { by: 'link' };
  const cursor = values.find(
    ({ name, value }) =>
      (CURSORS[name] !== undefined && (value === null || typeof value === 'string')) ||
      (name === 'offset' && typeof value === 'string' && Number.isNaN(numberOf(value))),
  );
  const flag = more === undefined ? {} : { more: more.path };
  if (cursor !== undefined) {
    const parameter =
      [...address.searchParams.keys()].find((name) => /cursor|token/i.test(name)) ??
      CURSORS[cursor.name] ??
      cursor.name;
    return { by: 'cursor', path: cursor.path, parameter, ...flag };
  }
  if (!isPart && more === undefined) return undefined;
  if (values.some(({ path }) => path.endsWith('pageable/pageNumber'))) {
    // Spring Data.
    return { by: 'page', parameter: 'page', first: 0, size: records, size_parameter: 'size' };
  }
  if (STRAPI.every((path) => values.some((each) => each.path === path))) {
    return { by: 'page', parameter: 'pagination[page]', size: records, size_parameter: 'pagination[pageSize]' };
  }
  const asked = [...address.searchParams.keys()];
  const stated = values
    .filter(({ value }) => !Number.isNaN(numberOf(value)))
    .map(({ path }) => path.split('/').at(-1) ?? '');
  const sizeParameter = [...asked, ...stated.filter((name) => name !== 'count')].find(isSizeParameter);
  const size = Number(address.searchParams.get(sizeParameter ?? '')) || records;
  const sizes = sizeParameter === undefined ? {} : { size, size_parameter: sizeParameter };
  const startOf = (name: string) => {
    const value = values.find(({ path }) => path.split('/').at(-1) === name)?.value;
    return numberOf(address.searchParams.get(name) ?? value);
  };
  const named = (pattern: RegExp) =>
    asked.find((name) => pattern.test(lettersOf(name))) ?? stated.find((name) => pattern.test(name.toLowerCase()));
  const page = named(PAGES);
  const isGuess = page === undefined && stated.length > 0 && asked.includes(sizeParameter ?? '');
  const usual = isGuess ? lettersOf(sizeParameter ?? '') : '';
  const offset = named(OFFSETS) ?? WITH_SIZE[usual];
  if (offset !== undefined) {
    const first = startOf(offset) === 1 ? { first: 1 } : {};
    return { by: 'offset', parameter: offset, ...first, ...sizes, ...flag };
  }
  if (page === undefined) return undefined;
  const first = startOf(page) === 0 ? { first: 0 } : {};
  return { by: 'page', parameter: page, ...first, ...sizes, ...flag };
}

const STRAPI = ['page', 'pageSize', 'pageCount'].map((name) => `meta/pagination/${name}`);

/** `next`, `links/next`, `_links/next/href`, `links[rel=next]/href`. */
const isNext = (path: string): boolean => {
  if (path.endsWith('[rel=next]/href')) return true;
  const names = path.split('/').map(lettersOf);
  const last = /^(?:href|url|link)$/.test(names.at(-1) ?? '') ? names.at(-2) : names.at(-1);
  return last !== undefined && NEXT.has(last);
};

const isAddress = (value: unknown): boolean => typeof value === 'string' && /^(?:https?:\/\/|\/|\?)\S+$/i.test(value);

/** Single values beside the records. */
function valuesIn(value: unknown, path: string, depth: number): readonly Value[] {
  if (typeof value !== 'object' || value === null) {
    const [own = '', outer = ''] = path.split('/').toReversed();
    return [{ path, name: lettersOf(own === 'value' ? outer + own : own), value }];
  }
  if (Array.isArray(value)) {
    const link = /(?:^|\/)_?links$/.test(path) ? value.find((each) => each?.rel === 'next') : undefined;
    return link === undefined ? [] : valuesIn(link.href ?? null, `${path}[rel=next]/href`, depth);
  }
  if (depth > 3) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    /[\s/[\]=]/.test(name) ? [] : valuesIn(child, path === '' ? name : `${path}/${name}`, depth + 1),
  );
}
