// Reads an HTML page as a stream: hands over the text of selected scripts, and tells whether the page has its end.
import { Parser } from 'htmlparser2';
import { quote } from '../unexpected-document.ts';

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
