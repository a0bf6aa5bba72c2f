// The format of HTML pages that carry their postings as JSON in a script: splits a page, in chunks of any size, into
// its records.
import { Parser } from 'htmlparser2';
import type { FeedFormat, ScriptRule, SplitEnd, SplitOptions, SplitSink, Splitter } from './format.ts';
import { jsonFormat } from './json-format.ts';
import { JsonSplitter } from './json-splitter.ts';
import { OPENING_BYTES, quote, refusalOf } from './unexpected-document.ts';

export const htmlFormat: FeedFormat = {
  ...jsonFormat,
  createSplitter: (options, sink) => new HtmlSplitter(options, sink),
};
/** Of what follows the JSON in its script. */
const MAX_REST = 256;

/** Only one script may have the postings: with a second one it is not known which is meant. */
class HtmlSplitter implements Splitter, PageSink {
  readonly #rule: ScriptRule;
  readonly #page = new PageReader(this);
  readonly #json: JsonSplitter;
  readonly #shortfalls = new Set<string>();
  /** Whether the JSON was found in an earlier script, or in the current one. */
  #isFound = false;
  #hasScript = false;
  #search: ValueSearch | undefined;
  #inJson = false;
  /** Where the JSON begins in the page. */
  #jsonAt = 0;
  /** Bytes of the JSON so far. */
  #jsonBytes = 0;
  #rest = '';
  #opening = Buffer.alloc(0);
  #otherFormat: string | undefined;

  /** Throws for an invalid path. */
  constructor(options: SplitOptions, sink: SplitSink) {
    this.#rule = options.script ?? { attributes: {} };
    this.#json = new JsonSplitter(options, sink, 'may follow');
  }

  get records(): number {
    return this.#json.records;
  }

  get origin(): number {
    return this.#jsonAt + this.#json.origin;
  }

  get refusal(): string | undefined {
    return this.#json.refusal ?? this.#page.refusal ?? this.#otherFormat;
  }

  push(chunk: Buffer): void {
    if (this.refusal !== undefined) return;
    if (this.#opening.length < OPENING_BYTES) {
      this.#opening = Buffer.concat([this.#opening, chunk.subarray(0, OPENING_BYTES - this.#opening.length)]);
    }
    this.#page.push(chunk);
  }

  finish(isEndProven: boolean): SplitEnd {
    if (!this.#isFound) return this.#endWithoutJson(isEndProven);
    const end = this.#json.finish();
    return {
      ...end,
      refusal: this.refusal ?? end.refusal,
      shortfalls: [...end.shortfalls, ...this.#endOfPage(isEndProven)],
      // The script's other data may be about something else than the list.
      following: undefined,
      pageNumber: undefined,
      isOpen: !this.#page.isClosed,
    };
  }

  beginScript(attributes: Attributes): boolean {
    const { variable } = this.#rule;
    if (!isMeant(this.#rule, attributes)) return false;
    if (variable !== undefined) this.#search = new AssignmentSearch(variable);
    else if (this.#hasScript) this.#noteSecond();
    else this.#search = new OpeningSearch();
    this.#hasScript = true;
    this.#rest = '';
    return this.#search !== undefined;
  }

  scriptText(bytes: Buffer, at: number): void {
    if (this.#inJson) this.#takeJson(bytes, at);
    else if (this.#search !== undefined) this.#find(this.#search, bytes, at);
    else if (this.#rest.length < MAX_REST) this.#rest += bytes.toString('latin1', 0, MAX_REST);
  }

  endScript(): void {
    // A script that ends inside its JSON is noted when the JSON ends.
    if (this.#rule.variable === undefined && !isClosing(this.#rest)) {
      this.#shortfalls.add(`there is something after the JSON of ${describe(this.#rule)}`);
    }
    this.#inJson = false;
    this.#search = undefined;
  }

  #find(search: ValueSearch, bytes: Buffer, at: number): void {
    const found = search.push(bytes);
    if (found === undefined) return;
    this.#search = undefined;
    if (this.#isFound) {
      this.#noteSecond();
    } else {
      this.#isFound = true;
      this.#inJson = true;
      this.#jsonAt = at + bytes.length - found.length;
      this.#takeJson(found, this.#jsonAt);
    }
  }

  #takeJson(bytes: Buffer, at: number): void {
    const before = this.#jsonBytes;
    this.#jsonBytes += bytes.length;
    this.#json.push(bytes);
    const { endsAt } = this.#json;
    if (endsAt === undefined) return;
    this.#inJson = false;
    if (this.#rule.variable !== undefined) this.#search = new AssignmentSearch(this.#rule.variable);
    this.scriptText(bytes.subarray(endsAt - before), at + endsAt - before);
  }

  #noteSecond(): void {
    this.#shortfalls.add(`the page has ${describe(this.#rule)} more than once; only the first one was read`);
  }

  #endWithoutJson(isEndProven: boolean): SplitEnd {
    if (!this.#page.hasTags) this.#otherFormat = refusalOf('HTML', this.#opening) ?? 'the page is empty';
    const missing = this.#hasScript
      ? `${describe(this.#rule)} does not hold JSON`
      : `the page has no ${describe(this.#rule)}, where the records are expected`;
    return {
      records: 0,
      oversizedRecords: 0,
      refusal: this.refusal,
      shortfalls: [missing + this.#page.titled, ...this.#endOfPage(isEndProven)],
    };
  }

  #endOfPage(isEndProven: boolean): readonly string[] {
    const end = this.#page.finish(isEndProven);
    return [...this.#shortfalls, ...(end === undefined ? [] : [end])];
  }
}

/** A type is compared without its parameters; scripts without `type` are JavaScript. */
const isMeant = ({ attributes }: ScriptRule, found: Attributes): boolean =>
  Object.entries(attributes).every(([name, text]) =>
    name === 'type'
      ? (found.type ?? 'text/javascript').replace(/;.*/s, '').trim().toLowerCase() === text.toLowerCase()
      : found[name.toLowerCase()] === text,
  );

function describe({ variable, attributes }: ScriptRule): string {
  const named = Object.entries(attributes).map(([name, text]) => ` ${name}="${text}"`);
  const script = `script${named.join('')}`;
  return variable === undefined ? script : `${script} that assigns JSON to ${variable}`;
}

// Reads an HTML page as a stream: hands over the text of selected scripts, and tells whether the page has its end.

export type Attributes = Readonly<Record<string, string>>;

export interface PageSink {
  /** Whether to read the script with these attributes. */
  beginScript(attributes: Attributes): boolean;
  /** The next bytes of the script that is read. @param at where they begin in the page. */
  scriptText(bytes: Buffer, at: number): void;
  endScript(): void;
}

/** The parser keeps a tag or comment in memory until it ends. */
const MAX_TOKEN_BYTES = 16 * 1024 * 1024;
/** No page nests deeper; the parser remembers every open element, and moves them all for another one. */
const MAX_DEPTH = 10_000;
/** Up to here, tags are not counted. */
const USUAL_DEPTH = 100;
/** Between two checks of the depth. */
const PIECE_BYTES = 16 * 1024;
/** The parser compares each end tag with all open elements: so many comparisons take a second. */
const MAX_COMPARISONS = 300_000_000;
const LESS_THAN = 0x3c;
const MAX_TITLE = 200;

/**
 * The parser is given each byte as one character: HTML's syntax is ASCII, so it finds the same tags, and scripts keep
 * their exact bytes, wherever chunks are cut.
 */
export class PageReader {
  /** Why reading may stop. */
  refusal: string | undefined;
  readonly #parser: Parser;
  /** Bytes of the page so far. */
  #bytes = 0;
  #depth = 0;
  /** Of tags with open elements, at most. */
  #comparisons = 0;
  #hasTags = false;
  /** Whether `</html>` was found, and nothing but white space and comments after it. */
  #isClosed = false;
  #script: 'none' | 'read' | 'skipped' = 'none';
  #title: string | undefined;
  #inTitle = false;
  #canonical: string | undefined;
  #openGraphUrl: string | undefined;

  constructor(sink: PageSink) {
    this.#parser = new Parser({
      onopentag: (name, attributes) => {
        this.#begin(name, attributes);
        if (name === 'script') this.#script = sink.beginScript(decoded(attributes)) ? 'read' : 'skipped';
      },
      onclosetag: (name) => {
        this.#depth--;
        if (name === 'title') this.#inTitle = false;
        if (name === 'html') this.#isClosed = true;
        if (name !== 'script') return;
        if (this.#script === 'read') sink.endScript();
        this.#script = 'none';
      },
      ontext: (text) => {
        if (this.#script === 'read') sink.scriptText(Buffer.from(text, 'latin1'), this.#parser.startIndex);
        if (this.#isClosed && /\S/.test(text)) this.#isClosed = false;
        if (this.#inTitle) this.#title = ((this.#title ?? '') + text).slice(0, MAX_TITLE);
      },
    });
  }

  /** Whether there was any tag. */
  get hasTags(): boolean {
    return this.#hasTags;
  }

  /** The page's own address, as `link rel="canonical"` or `og:url` state it. */
  get address(): string | undefined {
    return this.#canonical ?? this.#openGraphUrl;
  }

  /** For messages: `; the page's title is "…"`, or nothing. */
  get titled(): string {
    const title = decodedText(this.#title ?? '').trim();
    return title === '' ? '' : `; the page's title is ${quote(title)}`;
  }

  /** Whether the page shows its end. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.refusal === undefined; at += PIECE_BYTES) {
      this.#pushPiece(chunk.subarray(at, at + PIECE_BYTES));
    }
  }

  /** Returns why the page may lack its end, if so. */
  finish(isEndProven: boolean): string | undefined {
    if (this.#script !== 'none') return 'the page ends inside a script';
    if (this.#unfinished > 0) return 'the page ends inside a tag or a comment';
    if (this.#isClosed || isEndProven) return undefined;
    return 'the page may have been cut: it does not end with </html>, and the source declares no length';
  }

  #pushPiece(piece: Buffer): void {
    const depthBefore = this.#depth;
    this.#bytes += piece.length;
    this.#parser.write(piece.toString('latin1'));
    const depth = Math.max(depthBefore, this.#depth);
    if (depth > USUAL_DEPTH) this.#comparisons += depth * tagsIn(piece);
    if (this.#unfinished > MAX_TOKEN_BYTES) {
      this.refusal = `a tag or comment of the page is longer than ${MAX_TOKEN_BYTES} bytes; what follows was not read`;
    } else if (this.#depth > MAX_DEPTH) {
      this.refusal = `the elements of the page are nested deeper than ${MAX_DEPTH}; what follows was not read`;
    } else if (this.#comparisons > MAX_COMPARISONS) {
      this.refusal = 'too many elements of the page have no end; what follows was not read';
    }
  }

  /** Bytes of a tag or comment that has not ended. */
  get #unfinished(): number {
    return this.#bytes === 0 ? 0 : this.#bytes - 1 - this.#parser.endIndex;
  }

  #begin(name: string, attributes: Attributes): void {
    this.#hasTags = true;
    this.#isClosed = false;
    this.#depth++;
    if (name === 'title' && this.#title === undefined) this.#inTitle = true;
    if (name === 'link' && hasWord(attributes.rel, 'canonical')) this.#canonical ??= addressIn(attributes.href);
    if (name === 'meta' && attributes.property === 'og:url') this.#openGraphUrl ??= addressIn(attributes.content);
  }
}

/** At most. */
function tagsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LESS_THAN); at >= 0; at = bytes.indexOf(LESS_THAN, at + 1)) count++;
  return count;
}

const hasWord = (words: string | undefined, word: string): boolean =>
  words?.toLowerCase().split(/\s+/).includes(word) ?? false;

const addressIn = (text: string | undefined): string | undefined => {
  const address = decodedText(text ?? '').trim();
  return /^https?:\/\//i.test(address) && URL.canParse(address) ? address : undefined;
};

/** Undoes that each byte was taken for a character. */
const decodedText = (text: string): string =>
  /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1').toString() : text;

const decoded = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).map(([name, text]) => [name, decodedText(text)]));

// Finds where the JSON in a script begins: at its start, or where a variable is assigned.

/** Beginnings of scripts are compared up to this length, without white space. */
const MAX_OPENING = 64;

/** After white space. No two places for white space follow each other: that would take quadratic time. */
const OPENING = /^(?:(?:\/\/|\/\*)?\s*(?:<!--|<!\[CDATA\[)\s*(?:\*\/\s*)?)?[{[]/;
const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
/** What may follow the JSON of a script, apart from white space and semicolons. */
const CLOSING = /^(?:(?:\/\/|\/\*)?\s*(?:-->|\]\]>)\s*(?:\*\/)?)?$/;

/** Takes the text of one script, in chunks of any size. */
interface ValueSearch {
  /** Returns the bytes from the first of the JSON on, once it is found. */
  push(bytes: Buffer): Buffer | undefined;
}

/** The script is JSON, perhaps in a comment that hides it from old browsers. */
export class OpeningSearch implements ValueSearch {
  #held: Buffer = Buffer.alloc(0);
  #isOther = false;

  push(bytes: Buffer): Buffer | undefined {
    if (this.#isOther) return undefined;
    const held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    let start = 0;
    while (start < held.length && isBlank(held[start] as number)) start++;
    const all = held.subarray(start);
    const opening = OPENING.exec(all.toString('latin1', 0, 4_096));
    if (opening !== null) return all.subarray(opening[0].length - 1);
    this.#isOther = all.length > MAX_OPENING;
    this.#held = this.#isOther ? Buffer.alloc(0) : Buffer.from(all);
    return undefined;
  }
}

/** White space at one place of an assignment; bounded, so that little of the script must be kept. */
const SPACE = '\\s{0,32}';
const OWNER = '(?:window|self|globalThis|this)';
const AROUND_NAME = 256;

/** Where a variable is assigned an object or a list: `NAME = {`, `window.NAME = [`, `window["NAME"] = {`. */
class AssignmentSearch implements ValueSearch {
  readonly #pattern: RegExp;
  readonly #keep: number;
  #held: Buffer = Buffer.alloc(0);

  constructor(variable: string) {
    const own = variable.replace(new RegExp(`^${OWNER}\\.`), '');
    // Scripts are searched byte by byte.
    const name = Buffer.from(own)
      .toString('latin1')
      .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    const dotted = `(?:${OWNER}${SPACE}\\.${SPACE})?${name}`;
    const quoted = `${OWNER}${SPACE}\\[${SPACE}["']${name}["']${SPACE}\\]`;
    this.#pattern = new RegExp(`(?<![\\w$.'"\\x80-\\xff-])(?:${dotted}|${quoted})${SPACE}=${SPACE}(?=[{[])`);
    this.#keep = name.length + AROUND_NAME;
  }

  push(bytes: Buffer): Buffer | undefined {
    const all = Buffer.concat([this.#held, bytes]);
    const found = this.#pattern.exec(all.toString('latin1'));
    if (found !== null) return all.subarray(found.index + found[0].length);
    this.#held = Buffer.from(all.subarray(Math.max(0, all.length - this.#keep)));
    return undefined;
  }
}

/** Whether this, after the JSON of a script, belongs to the script's form. In linear time: a page may have megabytes of white space. */
export const isClosing = (text: string): boolean => CLOSING.test(text.replace(/^[\s;]+/, '').trimEnd());
