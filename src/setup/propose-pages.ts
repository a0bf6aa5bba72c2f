// Recognises how a JSON API sends its postings in pages, and where it states their total.

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
  'total totalcount totalresults totalfound totalhits totalrecords totalitems totalelements numfound searchresultcountall recordcount nbhits count'.split(
    ' ',
  );
const NEXT = new Set('next nexturl nextlink nextpageurl nextpage nexthref'.split(' '));
const CURSORS: Readonly<Record<string, string>> = {
  nextcursor: 'cursor',
  cursor: 'cursor',
  endcursor: 'cursor',
  nextpagetoken: 'pageToken',
  nexttoken: 'token',
};
const OFFSETS = /^(?:offset|start|skip|from|startindex|first)$/i;
const PAGES = /^(?:page|p|pagenumber|page_number|currentpage|pageindex)$/i;
const SIZES = /^(?:limit|size|per_?page|page_?size|count|top|results_?per_?page|max_?results)$/i;

/**
 * @param document a page, parsed. @param records how many it has. @param address the page's; `undefined`: it is a file,
 * which has no further pages.
 */
export function proposePages(document: unknown, records: number, address: URL | undefined): ProposedPages {
  const values = valuesIn(document, '', 0);
  const totals = values.filter(
    ({ name, value }) => TOTALS.includes(name) && Number.isInteger(value) && Number(value) >= records,
  );
  const total = totals.toSorted((a, b) => TOTALS.indexOf(a.name) - TOTALS.indexOf(b.name))[0];
  const isPart = total !== undefined && Number(total.value) > records;
  const pages = address === undefined ? undefined : pagesBy(values, records, address, isPart);
  const isWhole = !isPart && pages === undefined;
  return {
    ...(total !== undefined && (pages !== undefined || isWhole) ? { total: total.path } : {}),
    ...(pages === undefined ? {} : { pages }),
    notes:
      isPart && pages === undefined
        ? [
            `the document states ${total.value} postings (${total.path}), but has ${records}: the rest is on further pages; set pages, or ask for all of them`,
          ]
        : [],
  };
}

function pagesBy(
  values: readonly Value[],
  records: number,
  address: URL,
  isPart: boolean,
): Readonly<Record<string, unknown>> | undefined {
  const next = values.find(({ path, value }) => isNext(path) && (value === null || isAddress(value)));
  if (next !== undefined) return { by: 'next', path: next.path };
  const cursor = values.find(
    ({ name, value }) => CURSORS[name] !== undefined && (value === null || typeof value === 'string'),
  );
  if (cursor !== undefined) {
    const parameter =
      [...address.searchParams.keys()].find((name) => /cursor|token/i.test(name)) ?? CURSORS[cursor.name];
    return { by: 'cursor', path: cursor.path, parameter };
  }
  if (!isPart) return undefined;
  const asked = [...address.searchParams.keys()];
  const stated = values.filter(({ value }) => Number.isInteger(value)).map(({ path }) => path.split('/').at(-1) ?? '');
  const sizeParameter = [...asked, ...stated].find((name) => SIZES.test(name) && name !== 'count');
  const size = Number(address.searchParams.get(sizeParameter ?? '')) || records;
  const sizes = sizeParameter === undefined ? {} : { size, size_parameter: sizeParameter };
  const offset = [...asked, ...stated].find((name) => OFFSETS.test(name));
  if (offset !== undefined) return { by: 'offset', parameter: offset, ...sizes };
  const page = [...asked, ...stated].find((name) => PAGES.test(name));
  return page === undefined ? undefined : { by: 'page', parameter: page, ...sizes };
}

/** `next`, `links/next`, `_links/next/href`. */
const isNext = (path: string): boolean => {
  const names = path.split('/').map(plain);
  const last = names.at(-1) === 'href' || names.at(-1) === 'url' ? names.at(-2) : names.at(-1);
  return last !== undefined && NEXT.has(last);
};

const isAddress = (value: unknown): boolean => typeof value === 'string' && /^(?:https?:\/\/|\/|\?)\S+$/i.test(value);

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');

/** Single values beside the records. */
function valuesIn(value: unknown, path: string, depth: number): readonly Value[] {
  if (typeof value !== 'object' || value === null) return [{ path, name: plain(path.split('/').at(-1) ?? ''), value }];
  if (Array.isArray(value) || depth > 3) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    /[\s/.[\]=]/.test(name) ? [] : valuesIn(child, path === '' ? name : `${path}/${name}`, depth + 1),
  );
}
