// Says what a document has in place of records: another format, or an error that it states in named values of any
// format; and whether it says that another page follows.
import type { FollowingPage, PageNumber, SplitEnd } from './format.ts';

/** So much of a document's beginning tells what it is. */
export const OPENING_BYTES = 2_048;

/** At most 100 characters for a message, on one line, in quotes. */
export const quote = (text: string): string => {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ');
  return `"${line.length > 100 ? `${line.slice(0, 100)}…` : line}"`;
};

/** Why a document that begins with these bytes is refused, if it is HTML or another format than the expected one. */
export function refusalOf(expected: string, opening: Buffer): string | undefined {
  const text = opening.toString().trim();
  if (text === '') return undefined;
  if (/<html[\s>]|<!doctype\s+html/i.test(text)) return htmlRefusal(expected, opening);
  if (text.startsWith('<'))
    return `XML where ${withArticle(expected)} feed was expected; it starts with ${quote(text)}`;
  return `this is not ${withArticle(expected)} feed; it starts with ${quote(text)}`;
}

export function htmlRefusal(expected: string, opening: Buffer): string {
  const title = /<title[^>]*>([^<]*)/i.exec(opening.toString())?.[1]?.trim();
  const titled = title ? `; the page's title is ${quote(title)}` : '';
  return `HTML where ${withArticle(expected)} feed was expected${titled}; open its address in a browser to see what it returns`;
}

const withArticle = (format: string): string => `${/^[AEFHILMNORSX]/.test(format) ? 'an' : 'a'} ${format}`;

// Recognises the errors that a document states in place of its records, or beside them, in any format of named values.

const ERROR =
  /^(?:errors?|err|error[-_]?(?:messages?|msg|description|details?|texts?|codes?|info|list|response|results?)|faults?|fault[-_]?(?:string|code)|exceptions?|exception[-_]?message|failures?)$/i;
const STATUS = /^(?:status|stat|state|result|code|(?:status|response|result|return)[-_]?code|http[-_]?status)$/i;
const SUCCESS = /^(?:success|successful|succeeded|ok)$/i;
const EXPLANATION = /^(?:messages?|msg|descriptions?|reason|details?|title|text|info|type)$/i;

/** Search engines answer with what they found before they gave up, and their total counts no more. */
const PARTIAL = /^(?:timed[-_]?out|terminated[-_]?early|(?:partial|incomplete)[-_]?results?)$/i;
const namesFailedShards = (names: readonly string[]): boolean => /^_?shards\/failed$/i.test(names.slice(-2).join('/'));

/** What a field for errors says if there is none. */
const NO_ERROR = /^(?:|0+|false|none|null|nil|n\/a|no(?:[-_ ]?errors?)?|ok|success(?:ful(?:ly)?)?|200|\[\]|\{\})\.?$/i;
const FAILED =
  /^(?:errors?|err|fail|failed|failure|fault|exception|denied|forbidden|unauthori[sz]ed|invalid|ko|not[-_ ]?ok|(?:under[-_ ]?)?maintenance|(?:temporarily[-_ ]?)?unavailable|offline|[45]\d\d)$/i;
const NOT_SUCCESSFUL = /^(?:false|0|no|n)$/i;

/** A root of such a name holds no postings, even if it is empty. */
const NAMES_ERROR =
  /error|exception|fault|failure|denied|forbidden|unauthori[sz]ed|invalid|expired|maintenance|unavailable|not_?found|^(?:messages?|status)$/i;

/** An object beside the records that tells how the request went. */
const AROUND_ERROR =
  /^(?:meta(?:data)?|info|header|envelope|(?:response|request|result)[-_]?(?:header|status|info|meta)?|status|stat|_?shards)$/i;

const MAX_VALUES = 10;
const MAX_TEXT = 200;
/** No document has more kinds of numbered pages. */
const MAX_NUMBERED = 10_000;

export const isErrorName = (name: string): boolean => ERROR.test(name);

/** Whether an element of this name, without records, is no empty feed. */
export const namesError = (root: string): boolean => NAMES_ERROR.test(root);

/** Whether a value of this name may state an error, or explain one. */
export const maySayError = (name: string): boolean =>
  [ERROR, STATUS, SUCCESS, EXPLANATION, PARTIAL].some((pattern) => pattern.test(name));

/** Whether an object beside the records may say it. @param names from the root to its own. */
export const maySayErrorIn = (names: readonly string[]): boolean => AROUND_ERROR.test(names.at(-1) ?? '');

interface Value {
  readonly kind: 'error' | 'status' | 'explanation';
  readonly text: string;
}

/** Collects the values outside the records that say whether there was an error. */
export class StatedErrors {
  readonly #values: Value[] = [];

  /** Takes a value, or its beginning. @param names from the root to its own, without prefixes. */
  take(names: readonly string[], written: string): void {
    const text = written.trim().slice(0, MAX_TEXT);
    const own = names.at(-1) ?? '';
    const isPartial =
      (PARTIAL.test(own) && /^true$/i.test(text)) || (namesFailedShards(names) && /^0*[1-9]/.test(text));
    const kind = isPartial
      ? 'error'
      : names.some(isErrorName)
        ? NO_ERROR.test(text)
          ? undefined
          : 'error'
        : (STATUS.test(own) && FAILED.test(text)) || (SUCCESS.test(own) && NOT_SUCCESSFUL.test(text))
          ? 'status'
          : EXPLANATION.test(own) && text !== ''
            ? 'explanation'
            : undefined;
    if (kind === undefined || this.#values.filter((value) => value.kind === kind).length >= MAX_VALUES) return;
    this.#values.push({ kind, text: isPartial ? `${own}: ${text}` : text });
  }

  /** Takes what an object says itself, or each of a list, and the errors in it. */
  takeValue(names: readonly string[], value: unknown, isOutermost = true): void {
    if (typeof value !== 'object' || value === null) this.take(names, `${value}`);
    else if (Array.isArray(value)) {
      for (const each of value.slice(0, MAX_VALUES)) this.takeValue(names, each, isOutermost);
    } else if (isOutermost || (names.length < 8 && names.some(isErrorName))) {
      for (const [name, each] of Object.entries(value)) this.takeValue([...names, name], each, false);
    }
  }

  /** The error that is stated, for people. A status beside records may be that of the query, so it says nothing. */
  found(records: number): string | undefined {
    const stated = this.#values.filter(({ kind }) => kind === 'error' || (kind === 'status' && records === 0));
    if (stated.length === 0) return undefined;
    const explained = stated.some(({ kind }) => kind === 'error')
      ? stated
      : [...stated, ...this.#values.filter(({ kind }) => kind === 'explanation')];
    return statedError(explained.map(({ text }) => quote(text)).join(', '));
  }
}

export const statedError = (shown: string): string => `the document states an error: ${shown}`;

/** The error that a JSON value states, which has no records. */
export function statedErrorIn(json: unknown): string | undefined {
  const errors = new StatedErrors();
  errors.takeValue([], json);
  return errors.found(0);
}

// Recognises that a document is one of several pages, in any format of named values. Some APIs send a cursor on the last page, too.

const AROUND_NEXT = /^(?:_?links?|page|paging|pagination|page[-_]?info|meta|info|next)$/i;
/** Around paging, or around the list and its paging, but no group of postings. */
const AROUND_PAGES =
  /^(?:_?links?|paging|pagination|page[-_]?info|meta|data|results?|response|payload|body|content|channel|d)$/i;
const NEXT = /^_*(?:@?odata\.)?next(?:[-_]?(?:page|records|results))?(?:[-_]?(?:url|link|href|uri))?$/i;
const MORE = /^(?:has[-_]?|is[-_]?)?(?:more|next)(?:[-_]?(?:pages?|records?|results?|items?))?$/i;
const PAGE = /^(?:current|page|current[-_]?page|page[-_]?(?:number|num|no))$/i;
/** In a page of Spring, beside `totalPages`. */
const NUMBER = /^number$/i;
const TOTAL_PAGES = /^total[-_]?pages$/i;
const LAST = /^(?:is[-_]?)?last(?:[-_]?page)?$/i;
const SIZE =
  /^(?:limit|size|page[-_]?(?:size|limit)|rows|max[-_]?results|(?:items|hits|results|records|rows|jobs)?[-_]?per[-_]?page)$/i;
const START = /^(?:offset|skip|from|start(?:[-_]?(?:at|index|row))?)$/i;
const TOTAL = /total|found/i;
const PAGES = /^(?:total[-_]?pages|last[-_]?page|pages|pages?[-_]?count|num[-_]?pages)$/i;
/** Elsewhere, as in `info` or a group of postings, an address is often that of something else. */
const PAGE_ADDRESS =
  /[?&](?:p|[\w-]*page[\w-]*(?:(?:\[|%5B)\w+(?:\]|%5D))?|offset|start|(?:\$|%24)?skip(?:token)?|cursor|after)=/i;

/** Whether an object or a list may say that another page follows. @param names from the root to its own. */
export const maySayNextIn = (names: readonly string[]): boolean => AROUND_NEXT.test(names.at(-1) ?? '');

/** Whether a value may say that another page follows. @param names from the root to its own, without prefixes. */
export const maySayNext = (names: readonly string[]): boolean =>
  namesNext(names.slice(-2)) ||
  [MORE, LAST, PAGE, NUMBER, PAGES, SIZE, START, TOTAL].some((pattern) => pattern.test(names.at(-1) ?? ''));

const mayBePage = (names: readonly string[], address: string, isInGroup: boolean): boolean =>
  (!isInGroup && names.slice(0, -1).every((name) => AROUND_PAGES.test(name) || NEXT.test(name))) ||
  PAGE_ADDRESS.test(address);

const namesNext = ([outer = '', own = outer]: readonly string[]): boolean =>
  NEXT.test(own) || (NEXT.test(outer) && /^(?:href|link|url)$/i.test(own));

/** Whether a link's relations, in any case, include `next`. */
const isNextRelation = (relations: unknown): boolean =>
  [relations].flat().some((relation) => typeof relation === 'string' && /(?:^|\s)next(?:\s|$)/i.test(relation));

/** What an object says of its page, as far as it was read. */
interface StatedNumber extends Partial<PageNumber> {
  readonly number?: number;
  readonly totalPages?: number;
  readonly size?: number;
  readonly start?: number;
  readonly total?: number;
  readonly isInGroup: boolean;
}

function wholeNumber({ page, pages, number, totalPages }: StatedNumber): PageNumber | undefined {
  const own = page ?? (totalPages === undefined ? undefined : number);
  const all = pages ?? totalPages;
  return own === undefined || all === undefined ? undefined : { page: own, pages: all };
}

/** The most records that a page has which does not say whether it is the last one. */
const sizeOfPage = ({ page, number, start, size, total, pages, totalPages, isInGroup }: StatedNumber) =>
  isInGroup || (page ?? number ?? start) === undefined || (total ?? pages ?? totalPages) !== undefined
    ? undefined
    : size;

/** Objects at one path that say the same of their page, and what they say of the next one. */
interface NumberedPages {
  readonly path: string;
  readonly number: PageNumber;
  readonly isInGroup: boolean;
  count: number;
  following: readonly FollowingPage[];
}

/** Collects the values outside the records that say whether another page follows. */
export class StatedPages {
  #told: FollowingPage | undefined;
  #linked: FollowingPage | undefined;
  /** By the path of the object that has them, until it ends. */
  readonly #numbers = new Map<string, StatedNumber>();
  /** Of the current group of postings. */
  #followingOfGroup: FollowingPage[] = [];
  /** A document may have all pages, one after the other. */
  readonly #numbered = new Map<string, NumberedPages>();
  #pageNumber: PageNumber | undefined;
  #size: number | undefined;
  #isLast = false;

  /**
   * Ends an element, or one of a list of groups of postings. What follows a group is mostly another group, but a page of it is missing here.
   * @param names from the root to its own.
   */
  leave(names: readonly string[]): void {
    if (this.#numbers.size === 0 && this.#followingOfGroup.length === 0) return;
    const path = names.join('/');
    let numbered: NumberedPages | undefined;
    for (const [at, stated] of this.#numbers) {
      if (path !== '' && at !== path && !at.startsWith(`${path}/`)) continue;
      this.#numbers.delete(at);
      this.#size ??= sizeOfPage(stated);
      const number = wholeNumber(stated);
      if (number === undefined) continue;
      if (!stated.isInGroup) this.#pageNumber ??= number;
      const counted = this.#count(at, number, stated.isInGroup);
      numbered ??= counted;
    }
    if (numbered === undefined) for (const following of this.#followingOfGroup) this.#note(following);
    else if (numbered.following.length === 0) numbered.following = this.#followingOfGroup;
    this.#followingOfGroup = [];
  }

  /** At most one next page with an address, which may be the document's own, and one without; and the number of the document, not of a group in it. */
  end(records: number): Pick<SplitEnd, 'following' | 'pageNumber'> {
    this.leave([]);
    if (this.#size === records && !this.#isLast) {
      this.#note({
        said: `the document says that a page has ${records} records, and has as many, so that another page may follow`,
      });
    }
    for (const numbered of this.#numbered.values()) if (!this.#isNextThere(numbered)) this.#noteNumbered(numbered);
    const following = [this.#linked, this.#told].filter((each) => each !== undefined);
    return { following, pageNumber: this.#pageNumber };
  }

  /** Takes a value, or its beginning. @param names from the root to its own, without prefixes. */
  take(names: readonly string[], written: string, isInGroup = false): void {
    if (!maySayNext(names)) return;
    const text = written.trim();
    const own = names.at(-1) ?? '';
    const said = `the document says at ${names.join('/')} that another page follows`;
    const isEnd = MORE.test(own) ? /^(?:false|0|null|)$/i : LAST.test(own) ? /^true$/i : /^(?:null|)$/i;
    if ((MORE.test(own) || LAST.test(own) || namesNext(names.slice(-2))) && isEnd.test(text)) this.#isLast = true;
    if (namesNext(names.slice(-2)) && /^(?:https?:\/\/|[/?])\S/i.test(text)) {
      if (mayBePage(names, text, isInGroup)) this.#take({ said, address: text }, isInGroup);
    } else if (MORE.test(own) && (isInGroup ? /^true$/i : /^(?:true|1)$/i).test(text)) this.#take({ said }, isInGroup);
    else if (LAST.test(own) && /^false$/i.test(text)) {
      const isOfPage = names.slice(0, -1).every((name) => AROUND_PAGES.test(name) && !/links?$/i.test(name));
      if (isOfPage && !isInGroup) this.#take({ said }, isInGroup);
    } else if (/^\d{1,9}$/.test(text)) {
      const kind = PAGE.test(own)
        ? 'page'
        : NUMBER.test(own)
          ? 'number'
          : TOTAL_PAGES.test(own)
            ? 'totalPages'
            : PAGES.test(own)
              ? 'pages'
              : SIZE.test(own)
                ? 'size'
                : START.test(own)
                  ? 'start'
                  : TOTAL.test(own)
                    ? 'total'
                    : undefined;
      if (kind === undefined) return;
      const path = names.slice(0, -1).join('/');
      const stated = this.#numbers.get(path);
      if (stated === undefined && this.#numbers.size >= MAX_VALUES) return;
      this.#numbers.set(path, { ...stated, [kind]: Number(text), isInGroup });
    }
  }

  takeLink(names: readonly string[], relations: unknown, address: unknown, isInGroup = false): void {
    if (!isNextRelation(relations) || typeof address !== 'string' || !mayBePage(names, address, isInGroup)) return;
    this.#take({ said: 'the document has a link to the next page', address }, isInGroup);
  }

  /** Takes an object, or a list of links. */
  takeValue(names: readonly string[], value: unknown, isInGroup = false): void {
    if (typeof value !== 'object' || value === null) this.take(names, `${value}`, isInGroup);
    else if (!maySayNextIn(names)) return;
    else if (Array.isArray(value)) for (const link of value) this.takeLink(names, link?.rel, link?.href, isInGroup);
    else for (const [name, each] of Object.entries(value)) this.takeValue([...names, name], each, isInGroup);
  }

  #take(following: FollowingPage, isInGroup: boolean): void {
    if (!isInGroup) this.#note(following);
    else if (this.#followingOfGroup.length < MAX_VALUES) this.#followingOfGroup.push({ ...following, isInGroup });
  }

  #note(following: FollowingPage): void {
    if (following.address === undefined) this.#told ??= following;
    else this.#linked ??= following;
  }

  /** `undefined`: there are too many, and this one's next page counts as missing. */
  #count(path: string, number: PageNumber, isInGroup: boolean): NumberedPages | undefined {
    const key = keyOfPage(path, number);
    const numbered = this.#numbered.get(key) ?? { path, number, isInGroup, count: 0, following: [] };
    numbered.count++;
    if (numbered.count > 1 || this.#numbered.size < MAX_NUMBERED) {
      this.#numbered.set(key, numbered);
      return numbered;
    }
    this.#noteNumbered(numbered);
    return undefined;
  }

  /** Whether the document has the page after each of these. Of pages from 0, the last one has none. */
  #isNextThere({ path, number: { page, pages }, count }: NumberedPages): boolean {
    const has = (other: number) => (this.#numbered.get(keyOfPage(path, { page: other, pages }))?.count ?? 0) >= count;
    return has(page + 1) || (page > 0 && page === pages - 1 && has(0));
  }

  #noteNumbered({ number: { page, pages }, isInGroup, following }: NumberedPages): void {
    for (const each of following) this.#note(each);
    // Pages that are numbered from 0 have a last one whose number is less than theirs.
    if (Math.max(page, 1) >= pages) return;
    const said = `the document says that it is page ${page} of ${pages}, so that another page follows`;
    this.#note(isInGroup ? { said, isInGroup } : { said });
  }
}

const keyOfPage = (path: string, { page, pages }: PageNumber): string => `${page} of ${pages} of ${path}`;

// The number of records that a document declares.

/** The first declared total that is a number. @param totals `shown`: how one that is no number is quoted @param note takes each fault */
export function declaredTotalOf(
  totals: readonly { readonly path: string; readonly text: string; readonly shown?: string }[],
  records: number,
  note: (fault: string) => void,
): number | undefined {
  const numbers = totals.map(({ path, text, shown = text }) => {
    if (!/^\d{1,15}$/.test(text)) {
      note(`the declared total at ${path} is not a number: ${shown}`);
      return undefined;
    }
    if (Number(text) !== records) note(`the feed declares ${text} records at ${path}, but ${records} were found`);
    return Number(text);
  });
  return numbers.find((total) => total !== undefined);
}
