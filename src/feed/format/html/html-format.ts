// The format of HTML pages that carry their postings as JSON in a script: splits a page, in chunks of any size, into
// its records.
import type { FeedFormat, ScriptRule, SplitEnd, SplitOptions, SplitSink, Splitter } from '../format.ts';
import { jsonFormat } from '../json/json-format.ts';
import { JsonSplitter } from '../json/json-splitter.ts';
import { OPENING_BYTES, refusalOf } from '../unexpected-document.ts';
import { type Attributes, PageReader, type PageSink } from './page-reader.ts';
import { AssignmentSearch, isClosing, OpeningSearch, type ValueSearch } from './value-search.ts';

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
