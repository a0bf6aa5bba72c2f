// Follows the XML of a feed outside its records: the stack of open elements, the declared totals, and the reasons why
// the document is incomplete or not a feed at all.
import { nearestName } from '../../../posting/id-and-name.ts';
import type { SplitEnd } from '../format.ts';
import {
  declaredTotalOf,
  htmlRefusal,
  isErrorName,
  maySayError,
  maySayNext,
  namesError,
  OPENING_BYTES,
  quote,
  StatedErrors,
  StatedPages,
} from '../unexpected-document.ts';
import { skipSpace } from './xml-bytes.ts';
import { coversElements, coversName, type ElementPath, localName, parseElementPath } from './xml-tags.ts';

/** No feed nests deeper outside its records. This bounds the stack. */
const MAX_DEPTH = 256;
/** This much text without any element is not XML. */
const MAX_TEXT_BEFORE_ROOT = 65_536;
const MAX_TOTAL_TEXT = 64;
/** Of an element that may state an error. */
const MAX_STATED_BYTES = 1_024;
const MAX_SHORTFALLS = 20;

/** A declared total as written in the document, to compare with the counted records. */
interface DeclaredTotal {
  readonly path: string;
  text: string;
}

export class XmlOutline {
  /** The first reason to stop reading: HTML, a DTD, not XML. */
  refusal: string | undefined;
  /** Whether a record may start at the current position. */
  recordsHere = false;
  /** The innermost open element's name as written, in UTF-8; empty at the top level. */
  parentName: Uint8Array = new Uint8Array();
  readonly #recordPath: ElementPath;
  readonly #totalPaths: readonly { readonly path: string; readonly parsed: ElementPath }[];
  readonly #totals: DeclaredTotal[] = [];
  readonly #shortfalls = new Set<string>();
  readonly #open: string[] = [];
  readonly #openLocal: string[] = [];
  #opening = Buffer.alloc(0);
  #rootName: string | undefined;
  #textBeforeRoot = 0;
  #capturing: DeclaredTotal | undefined;
  readonly #errors = new StatedErrors();
  readonly #pages = new StatedPages();
  /** The text of the innermost element, if it may state an error. */
  #stated: Buffer[] | undefined;
  #statedBytes = 0;
  /** Whether the records' parent was found. */
  #isReached = false;
  #hasInner = false;
  #rootText = '';
  /** Until the first record. */
  #counts: ElementCounts | undefined = new ElementCounts();

  constructor(recordPath: ElementPath, totalPaths: readonly string[]) {
    this.#recordPath = recordPath;
    this.#totalPaths = totalPaths.map((path) => ({ path, parsed: parseElementPath(path) }));
    this.#resolve();
  }

  /**
   * Whether an element of this name, opened here, is a record. Records the root's name; content is not followed here.
   */
  beginRecord(name: string): boolean {
    if (!this.recordsHere || !coversName(this.#recordPath.elements.at(-1), localName(name))) return false;
    if (this.#open.length === 0) this.#noteRoot(name);
    this.#counts = undefined;
    return true;
  }

  note(shortfall: string): void {
    if (this.#shortfalls.size < MAX_SHORTFALLS) this.#shortfalls.add(shortfall);
  }

  refuse(message: string): void {
    this.refusal ??= message;
  }

  /** Keeps the first bytes of the document, for messages. */
  keepOpening(bytes: Buffer): void {
    if (this.#opening.length >= OPENING_BYTES) return;
    this.#opening = Buffer.concat([this.#opening, bytes.subarray(0, OPENING_BYTES - this.#opening.length)]);
  }

  /** Takes text or CDATA content between tags, possibly in pieces. */
  text(bytes: Buffer, from: number, to: number): void {
    if (this.#capturing !== undefined) {
      const room = MAX_TOTAL_TEXT - this.#capturing.text.length;
      if (room > 0) this.#capturing.text += bytes.toString('latin1', from, Math.min(to, from + room));
    }
    if (this.#stated !== undefined && this.#statedBytes < MAX_STATED_BYTES) {
      const piece = Buffer.from(bytes.subarray(from, Math.min(to, from + MAX_STATED_BYTES - this.#statedBytes)));
      this.#stated.push(piece);
      this.#statedBytes += piece.length;
    }
    if (this.#open.length > 0) return;
    const start = skipSpace(bytes, from, to);
    if (start === to) return;
    if (this.#rootName !== undefined) {
      this.note(`there is text after the end of the root element "${this.#rootName}"`);
      return;
    }
    const first = bytes[start];
    if (this.#textBeforeRoot === 0 && (first === 0x7b || first === 0x5b)) {
      this.refuse(`JSON where an XML feed was expected; it starts with ${this.#excerpt()}`);
    }
    this.#textBeforeRoot += to - start;
    this.note('there is text before the root element');
    if (this.#textBeforeRoot > MAX_TEXT_BEFORE_ROOT) this.#refuseNotXml();
  }

  /** Takes a tag outside records: `inner` is the text between `<` and `>`. */
  tag(inner: string): void {
    if (inner.startsWith('/')) this.#close(inner.slice(1).trimEnd());
    else this.#openElement(inner);
  }

  /** Takes a document type declaration: the text between `<!DOCTYPE` and the first `>`. */
  doctype(inner: string): void {
    const name = inner.trim().split(/\s/, 1)[0] ?? '';
    if (this.#rootName !== undefined) this.note('there is a document type declaration inside the document');
    else if (/^html$/i.test(name)) this.#refuseHtml();
    if (inner.replace(/"[^"]*"|'[^']*'/g, '').includes('[')) {
      this.refuse(
        'the feed has a document type declaration with its own entities or elements (<!DOCTYPE … [), which is refused; ask for the feed without it',
      );
    }
  }

  /** Ends the document. Returns every reason why it is incomplete, given the number of records found. */
  finish(records: number): Pick<SplitEnd, 'shortfalls' | 'declaredTotal' | 'following' | 'pageNumber' | 'advice'> {
    if (this.#rootName === undefined) {
      if (this.#textBeforeRoot > 0) this.#refuseNotXml();
      else this.refuse('the feed is empty: it has no XML element');
    } else if (this.#textBeforeRoot > 0 && records === 0) {
      this.#refuseNotXml();
    }
    const outermost = this.#open[0];
    if (outermost !== undefined) this.note(`the document ends before its element "${outermost}" is closed`);
    const first = this.#recordPath.elements[0];
    if (records === 0 && this.#rootName !== undefined && !coversName(first, localName(this.#rootName))) {
      this.note(`the root element is "${this.#rootName}" where "${first}" was expected`);
    }
    this.#noteErrors(records);
    const totals = this.#totals.map(({ path, text }) => ({ path, text: text.trim(), shown: `"${text.trim()}"` }));
    const declaredTotal = declaredTotalOf(totals, records, (fault) => this.note(fault));
    const advice = records === 0 ? this.#counts?.adviceFor(this.#recordPath) : undefined;
    // A feed that is really empty has its records nowhere: this one has another layout.
    if (advice?.isRecord === true) this.note(advice.text);
    return {
      shortfalls: [...this.#shortfalls],
      declaredTotal,
      ...this.#pages.end(records),
      ...(advice === undefined ? {} : { advice: advice.text }),
    };
  }

  /** What stands in the place of records, or says why some are missing. */
  #noteErrors(records: number): void {
    const stated = this.#errors.found(records);
    if (stated !== undefined) this.note(stated);
    const root = this.#rootName;
    if (records > 0 || root === undefined || !coversName(this.#recordPath.elements[0], localName(root))) return;
    const text = this.#rootText;
    if (stated !== undefined) return;
    if (namesError(localName(root)) && this.#recordPath.elements[0] === '*') {
      this.note(`the root element is "${root}", which names an error${text === '' ? '' : `: ${quote(text)}`}`);
    } else if (!this.#hasInner && text !== '') {
      this.note(`the root element "${root}" has only a text where the records are expected: ${quote(text)}`);
    } else if (!this.#isReached) {
      const missing = [localName(root), ...this.#recordPath.elements.slice(1, -1)].join('/');
      this.note(`the document has no "${missing}", where the records are expected`);
    }
  }

  #openElement(inner: string): void {
    const name = /^[^\s/]+/.exec(inner)?.[0] ?? '';
    if (!/^[\p{L}_:]/u.test(name)) {
      this.note(`malformed markup outside the records: ${quote(`<${inner}>`)}`);
      return;
    }
    if (this.#open.length === 0) this.#noteRoot(name);
    else this.#hasInner = true;
    this.#takeStated();
    if (this.#open.length >= MAX_DEPTH) this.refuse(`elements are nested deeper than ${MAX_DEPTH}`);
    this.#open.push(name);
    this.#openLocal.push(localName(name));
    this.#counts?.add(this.#openLocal);
    this.#resolve();
    this.#findTotals(inner.slice(name.length));
    this.#findErrors(inner.slice(name.length));
    this.#findNext(inner.slice(name.length));
    if (inner.endsWith('/')) this.#pop();
  }

  #noteRoot(name: string): void {
    if (this.#rootName !== undefined) this.note(`a second root element "${name}" follows the first`);
    else if (/^html$/i.test(name)) this.#refuseHtml();
    this.#rootName ??= name;
  }

  #close(name: string): void {
    if (this.#open.at(-1) === name) {
      this.#pop();
      return;
    }
    this.note(`the end tag "</${name.slice(0, 100)}>" matches no start tag`);
    if (this.#open.includes(name)) while (this.#open.at(-1) !== name) this.#pop();
    if (this.#open.length > 0 && this.#open.at(-1) === name) this.#pop();
  }

  #pop(): void {
    this.#takeStated();
    this.#pages.leave(this.#openLocal.slice(1));
    this.#open.pop();
    this.#openLocal.pop();
    this.#resolve();
  }

  /** Updates the state derived from the stack. */
  #resolve(): void {
    this.#capturing = undefined;
    this.parentName = Buffer.from(this.#open.at(-1) ?? '');
    const { elements } = this.#recordPath;
    this.recordsHere =
      this.#open.length === elements.length - 1 &&
      this.#openLocal.every((local, depth) => coversName(elements[depth], local));
    this.#isReached ||= this.recordsHere;
  }

  #findTotals(attributes: string): void {
    for (const { path, parsed } of this.#totalPaths) {
      if (!coversElements(parsed, this.#openLocal)) continue;
      const text = parsed.attribute === undefined ? '' : readAttribute(attributes, parsed.attribute);
      if (text === undefined) continue;
      const total = { path, text };
      this.#totals.push(total);
      if (parsed.attribute === undefined) this.#capturing = total;
    }
  }

  /** `<link rel="next" href="…"/>`, RFC 5005, or an attribute such as `page`. */
  #findNext(attributes: string): void {
    if (this.#openLocal.at(-1) !== 'link') {
      for (const [, name = '', double, single] of attributes.matchAll(ATTRIBUTE))
        this.#pages.take([...this.#openLocal.slice(1), localName(name)], double ?? single ?? '');
      return;
    }
    const href = readAttribute(attributes, 'href', MAX_STATED_BYTES);
    this.#pages.takeLink(this.#openLocal.slice(1), readAttribute(attributes, 'rel'), href);
  }

  /** Begins with an element that may state an error or a next page. A root's text is kept, too: it may be all that there is. */
  #findErrors(attributes: string): void {
    const own = this.#openLocal.at(-1) ?? '';
    const isRoot = this.#openLocal.length === 1;
    const isError = this.#openLocal.some(isErrorName);
    if (!isRoot && !isError && !maySayError(own) && !maySayNext(this.#openLocal.slice(1))) return;
    this.#stated = [];
    this.#statedBytes = 0;
    if (!isRoot && !isError) return;
    for (const [, name = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
      if (!/^xmlns(?::|$)/.test(name)) this.#errors.take([...this.#openLocal, localName(name)], double ?? single ?? '');
    }
  }

  /** Ends the text of the innermost element, at its end or at another one in it. */
  #takeStated(): void {
    if (this.#stated === undefined) return;
    const text = Buffer.concat(this.#stated).toString();
    if (this.#openLocal.length === 1) this.#rootText ||= text.trim();
    this.#errors.take(this.#openLocal, text);
    this.#pages.take(this.#openLocal.slice(1), text);
    this.#stated = undefined;
  }

  #refuseHtml(): void {
    this.refuse(htmlRefusal('XML', this.#opening));
  }

  #refuseNotXml(): void {
    this.refuse(`this is not an XML feed; it starts with ${this.#excerpt()}`);
  }

  #excerpt(): string {
    return quote(this.#opening.toString().trim());
  }
}

/** A name is tried from its start only: a long text without `=` would take quadratic time. */
const ATTRIBUTE = /(?<![^\s=/"'])([^\s=/"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Finds an attribute's value by local name in the text of a start tag after the element's name. */
function readAttribute(attributes: string, attributeName: string, limit = MAX_TOTAL_TEXT): string | undefined {
  for (const [, name = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
    if (localName(name) === attributeName) return (double ?? single ?? '').slice(0, limit);
  }
  return undefined;
}

/** Bound the memory and the time of documents without any record. */
const MAX_PATHS = 200;
const MAX_COUNTED_DEPTH = 8;

class ElementCounts {
  readonly #counts = new Map<string, number>();

  /** @param open the local names of the open elements, from the root. */
  add(open: readonly string[]): void {
    if (open.length > MAX_COUNTED_DEPTH) return;
    const path = open.join('/');
    const count = this.#counts.get(path);
    if (count !== undefined || this.#counts.size < MAX_PATHS) this.#counts.set(path, (count ?? 0) + 1);
  }

  /** Which element may be the record, for people, and whether it has its name; `undefined` if none may be one, as in an empty feed. */
  adviceFor({ elements }: ElementPath): { readonly text: string; readonly isRecord: boolean } | undefined {
    const written = elements.join('/');
    const parents = [...this.#counts].filter(([path]) => path.includes('/') && this.#hasChildren(path));
    const last = elements.at(-1) ?? '';
    const name = nearestName(
      last,
      parents.map(([path]) => lastNameOf(path)).filter((other) => !coversName(last, other)),
    );
    const record = parents.find(([path]) => lastNameOf(path) === last);
    const found =
      record ??
      parents.find(([path]) => lastNameOf(path) === name) ??
      parents.filter(([, count]) => count > 1).sort((a, b) => depthOf(a[0]) - depthOf(b[0]) || b[1] - a[1])[0];
    if (found === undefined) return undefined;
    const [path, count] = found;
    const text = `records: "${written}" matches nothing; "${path}" occurs ${count === 1 ? 'once' : `${count} times`}`;
    return { text, isRecord: found === record };
  }

  #hasChildren(path: string): boolean {
    for (const other of this.#counts.keys()) if (other.startsWith(`${path}/`)) return true;
    return false;
  }
}

const lastNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const depthOf = (path: string): number => path.split('/').length;
