// Splits the UTF-8 bytes of a JSON document, in chunks of any size, into its records, without parsing them.
import { didYouMean } from '../../posting/id-and-name.ts';
import { UNDECODABLE_OUTSIDE, Utf8Check } from '../decode/utf8-check.ts';
import { ScanningSplitter } from './chunk-joiner.ts';
import type { SplitEnd, SplitOptions, SplitSink } from './format.ts';
import {
  declaredTotalOf,
  isErrorName,
  maySayError,
  maySayErrorIn,
  maySayNext,
  maySayNextIn,
  OPENING_BYTES,
  refusalOf,
  StatedErrors,
  StatedPages,
} from './unexpected-document.ts';
import { ValueScanner } from './value-scanner.ts';

/** No feed has longer names, or totals, outside its records. */
const MAX_TOKEN_BYTES = 1_024;
/** An object about paging may also count what is found by each filter, but not more. */
const MAX_PAGING_BYTES = 65_536;
/** Indented deeper than this, lines do not show where records begin. */
const MAX_INDENT = 64;

/** What the splitter is at. */
type Mode =
  /** Between values of the outline: what may come next. */
  | 'value'
  | 'first value'
  | 'name'
  | 'first name'
  | 'colon'
  | 'next'
  | 'after'
  /** Inside a value. */
  | 'record'
  | 'skipped'
  | 'total'
  | 'stated'
  /** In a record whose strings or brackets do not match, looking for the line on which the next record begins. */
  | 'broken';

const [NEWLINE, SPACE, TAB, RETURN] = [0x0a, 0x20, 0x09, 0x0d];
const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * A record whose quotes or brackets do not match could hide where the next one begins. Lines show it, because no JSON
 * string contains a line break: if each record is one line, the next line begins the next record; if a record's other
 * lines are indented deeper than its first, a line that is not begins the next record. In other documents, what follows
 * such a record is not read. Either way the document counts as incomplete.
 */
export class JsonSplitter extends ScanningSplitter {
  readonly #outline: JsonOutline;
  readonly #scanner = new ValueScanner();
  /** Checks only the bytes outside the records; records are checked when they are parsed. */
  readonly #outside = new Utf8Check();
  #mode: Mode = 'first value';
  /** The next byte of the outline; positions are relative to the current bytes. */
  #at = 0;
  #checked = 0;
  #valueStart = 0;
  /** Bytes of the document before the current ones. */
  #before = 0;
  #opening = Buffer.alloc(0);
  /** White space since the last line break, while there is nothing else. */
  #indent: string | undefined = '';
  /** The indent of the last record that began on a line of its own, if any did. */
  #recordIndent: string | undefined;
  /** In a broken record: the line break, indent and brace with which the next one may begin. */
  #lineStart = Buffer.alloc(0);
  /** Whether the lines of a broken record are known to be indented deeper than its first. */
  #isIndented = false;
  readonly #tail: 'refused' | 'may follow';
  #endsAt: number | undefined;

  /** Throws for an invalid path. @param tail whether anything but white space may follow the document. */
  constructor(options: SplitOptions, sink: SplitSink, tail: 'refused' | 'may follow' = 'refused') {
    super(options, sink);
    this.#tail = tail;
    this.#outline = new JsonOutline(parseListPath(options.recordPath), options.totalPaths);
  }

  get refusal(): string | undefined {
    return this.#outline.refusal;
  }

  /** How many bytes the document has, once it has ended and something else follows that may. */
  get endsAt(): number | undefined {
    return this.#endsAt;
  }

  override push(chunk: Buffer): void {
    if (this.#opening.length < OPENING_BYTES) {
      this.#opening = Buffer.concat([this.#opening, chunk.subarray(0, OPENING_BYTES - this.#opening.length)]);
    }
    super.push(chunk);
  }

  finish(): SplitEnd {
    const mode = this.#mode;
    if (mode === 'first value' && this.#outline.depth === 0) {
      this.#outline.refuse(refusalOf('JSON', this.#opening) ?? 'the feed is empty: it has no JSON document');
    } else if (mode === 'record' || mode === 'broken') {
      this.#outline.note(`the document ends inside record ${this.records + 1}`);
    } else if (mode !== 'after') {
      this.#outline.note('the document ends before its outermost list or object is closed');
    }
    this.#outside.end();
    if (this.#outside.broken) this.#outline.note(UNDECODABLE_OUTSIDE);
    const found = this.#outline.finish(this.records);
    const { records, oversizedRecords } = this.handOver;
    return { records, oversizedRecords, refusal: this.refusal, ...found };
  }

  shift(by: number): void {
    this.#at -= by;
    this.#checked -= by;
    this.#valueStart -= by;
    this.#before += by;
    this.#scanner.shift(by);
  }

  scan(bytes: Buffer): number {
    while (this.refusal === undefined) {
      switch (this.#mode) {
        case 'record':
          if (this.#scanRecord(bytes)) break;
          return this.#neededOfRecord(bytes, this.#scanner.at);
        case 'broken':
          if (this.#findNextLine(bytes)) break;
          return this.#neededOfRecord(bytes, this.#scanner.at);
        case 'skipped':
          if (this.#skip(bytes)) break;
          this.#check(bytes, this.#scanner.at);
          return this.#scanner.at;
        case 'total':
          if (this.#readTotal(bytes)) break;
          return this.#valueStart;
        case 'stated':
          if (this.#readStated(bytes)) break;
          return this.#valueStart;
        default:
          if (this.#step(bytes)) break;
          this.#check(bytes, this.#at);
          return this.#at;
      }
    }
    return bytes.length;
  }

  /** Takes the next token of the outline. False: more bytes are needed. */
  #step(bytes: Buffer): boolean {
    this.#skipSpace(bytes);
    const byte = bytes[this.#at];
    if (byte === undefined) return false;
    switch (this.#mode) {
      case 'first value':
        if (byte === CLOSE_LIST && this.#outline.depth > 0) return this.#leave();
        return this.#beginValue(bytes, byte);
      case 'value':
        if (byte === CLOSE_LIST) {
          this.#outline.note('there is a comma before the end of a list');
          return this.#leave();
        }
        return this.#beginValue(bytes, byte);
      case 'first name':
      case 'name':
        if (byte === CLOSE_OBJECT) {
          if (this.#mode === 'name') this.#outline.note('there is a comma before the end of an object');
          return this.#leave();
        }
        return byte === QUOTE ? this.#readName(bytes) : this.#malformed('a name in quotes is expected');
      case 'colon':
        return byte === COLON ? this.#move('value of name') : this.#malformed('":" is expected');
      case 'next': {
        const end = this.#outline.inObject ? CLOSE_OBJECT : CLOSE_LIST;
        if (byte === end) return this.#leave();
        if (byte === COMMA) return this.#move(this.#outline.inObject ? 'name' : 'value');
        return this.#malformed(`"," or "${String.fromCharCode(end)}" is expected`);
      }
      default:
        if (this.#tail === 'may follow') {
          this.#endsAt ??= this.#before + this.#at;
          this.#at = bytes.length;
          this.#checked = bytes.length;
          return false;
        }
        this.#outline.refuse('there is something after the end of the document; only its first value was read');
        return false;
    }
  }

  #move(to: Mode | 'value of name'): true {
    this.#at++;
    this.#indent = undefined;
    this.#mode = to === 'value of name' ? 'value' : to;
    return true;
  }

  #leave(): true {
    this.#outline.end();
    return this.#move(this.#outline.depth === 0 ? 'after' : 'next');
  }

  #beginValue(bytes: Buffer, byte: number): boolean {
    if (byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte === COMMA || byte === COLON) {
      return this.#malformed('a value is expected');
    }
    if (byte === OPEN_OBJECT && this.#outline.isAtList) {
      const begins = beginsNumbered(bytes, this.#at);
      if (begins === 'more') return false;
      if (begins === 'numbered') {
        this.#outline.beginNumbered();
        return this.#move('first name');
      }
    }
    const first = byte === OPEN_OBJECT ? '{' : byte === OPEN_LIST ? '[' : 'scalar';
    if (first === 'scalar' && this.#outline.depth === 0) {
      const other = refusalOf('JSON', this.#opening);
      if (other !== undefined) this.#outline.refuse(other);
    }
    const place = this.#outline.beginValue(first);
    if (this.refusal !== undefined) return false;
    if (place === 'entered') return this.#move(first === '{' ? 'first name' : 'first value');
    this.#valueStart = this.#at;
    this.#scanner.begin(this.#at);
    if (place === 'record') {
      this.#check(bytes, this.#at);
      if (first === '{' && this.#indent !== undefined) this.#recordIndent = this.#indent;
      this.#mode = 'record';
    } else {
      this.#mode = place;
    }
    this.#indent = undefined;
    return true;
  }

  #readName(bytes: Buffer): boolean {
    this.#scanner.begin(this.#at);
    if (this.#scanner.scan(bytes) === 'more') return this.#tooLong(bytes, this.#at, 'a name');
    const name = parseToken(bytes.toString('utf8', this.#at, this.#scanner.at));
    if (name === undefined) return this.#malformed('a name has an invalid character or escape');
    this.#outline.takeName(name);
    this.#at = this.#scanner.at;
    this.#mode = 'colon';
    return true;
  }

  #readTotal(bytes: Buffer): boolean {
    if (this.#scanner.scan(bytes) === 'more') return this.#tooLong(bytes, this.#valueStart, 'a total');
    const text = bytes.toString('utf8', this.#valueStart, this.#scanner.at);
    this.#outline.takeTotal(text.startsWith('"') ? (parseToken(text) ?? text).trim() : text);
    return this.#afterValue();
  }

  /** Of a long value, only the beginning is read; a long object is skipped. */
  #readStated(bytes: Buffer): boolean {
    const end = this.#scanner.scan(bytes);
    const first = bytes[this.#valueStart];
    const isPaging = first === OPEN_OBJECT || first === OPEN_LIST;
    const limit = isPaging ? MAX_PAGING_BYTES : MAX_TOKEN_BYTES;
    if (end === 'more' && bytes.length - this.#valueStart <= limit) return false;
    const read = Math.min(this.#scanner.at, this.#valueStart + limit);
    const text = bytes.toString('utf8', this.#valueStart, read);
    if (isPaging) this.#outline.takeStatedIn(parseJson(text));
    else this.#outline.takeStated(parseToken(text) ?? text.replace(/^"/, ''));
    if (end === 'end') return this.#afterValue();
    this.#mode = 'skipped';
    return this.#skip(bytes, end);
  }

  /** False while the token may still end in the next bytes. */
  #tooLong(bytes: Buffer, start: number, what: string): boolean {
    if (bytes.length - start > MAX_TOKEN_BYTES) {
      this.#outline.refuse(`${what} outside the records has more than ${MAX_TOKEN_BYTES} bytes`);
    }
    return false;
  }

  #skip(bytes: Buffer, end = this.#scanner.scan(bytes)): boolean {
    if (end === 'more') return false;
    if (end === 'fault') {
      this.#at = this.#scanner.at;
      return this.#malformed('quotes or brackets do not match');
    }
    return this.#afterValue();
  }

  #afterValue(): true {
    this.#at = this.#scanner.at;
    this.#mode = this.#outline.depth === 0 ? 'after' : 'next';
    return true;
  }

  #scanRecord(bytes: Buffer): boolean {
    const end = this.#scanner.scan(bytes);
    if (end === 'more') return false;
    if (end === 'end') {
      this.#handOver(bytes, this.#scanner.at);
      return this.#afterValue();
    }
    if (this.#recordIndent === undefined || this.handOver.isOversized) return this.#refuseBroken(bytes);
    this.#lineStart = Buffer.from(`\n${this.#recordIndent}{`);
    this.#isIndented = false;
    this.#mode = 'broken';
    return true;
  }

  /** Ends a broken record before the line that begins the next one. False: more bytes are needed, or there is none. */
  #findNextLine(bytes: Buffer): boolean {
    const lineStart = this.#lineStart;
    if (!this.#isIndented) {
      const line = bytes.indexOf(NEWLINE, this.#valueStart);
      if (line < 0 || bytes.length < line + lineStart.length) return false;
      const isDeeper = bytes.compare(lineStart, 0, lineStart.length - 1, line, line + lineStart.length - 1) === 0;
      const next = bytes[line + lineStart.length - 1];
      if (isDeeper && (next === SPACE || next === TAB)) this.#isIndented = true;
      else if (line < this.#scanner.at || !this.#endBefore(bytes, line)) return this.#refuseBroken(bytes);
      else return true;
    }
    for (let line = bytes.indexOf(lineStart, this.#scanner.at); line >= 0; line = bytes.indexOf(lineStart, line + 1)) {
      if (this.#endBefore(bytes, line)) return true;
    }
    // The line, and the comma before it, may begin in these bytes.
    this.#scanner.at = Math.max(this.#scanner.at, bytes.length - lineStart.length - MAX_INDENT);
    return false;
  }

  /** Ends the broken record at the comma before this line, if the line begins a record. */
  #endBefore(bytes: Buffer, line: number): boolean {
    const lineStart = this.#lineStart;
    if (bytes.compare(lineStart, 0, lineStart.length, line, line + lineStart.length) !== 0) return false;
    let comma = line - 1;
    while (comma > this.#valueStart && isSpace(bytes[comma])) comma--;
    if (bytes[comma] !== COMMA) return false;
    this.#outline.note(`record ${this.records + 1} is not well-formed JSON: its quotes or brackets do not match`);
    this.#handOver(bytes, comma);
    this.#at = comma;
    this.#mode = 'next';
    return true;
  }

  #refuseBroken(bytes: Buffer): false {
    const at = this.#before + this.#scanner.at;
    this.#handOver(bytes, this.#scanner.at);
    this.#outline.refuse(
      `record ${this.records} is not well-formed JSON: quotes or brackets do not match near byte ${at}; what follows was not read`,
    );
    return false;
  }

  #neededOfRecord(bytes: Buffer, next: number): number {
    if (this.handOver.mustKeep(bytes, this.#valueStart)) return this.#valueStart;
    this.handOver.keepHead(bytes, this.#valueStart);
    return next;
  }

  #handOver(bytes: Buffer, end: number): void {
    this.handOver.end(bytes, this.#valueStart, end);
    this.#checked = end;
  }

  #skipSpace(bytes: Buffer): void {
    for (; ; this.#at++) {
      const byte = bytes[this.#at];
      if (byte === NEWLINE) this.#indent = '';
      else if (!isSpace(byte)) return;
      else if (this.#indent !== undefined && byte !== RETURN) {
        this.#indent =
          this.#indent.length < MAX_INDENT ? this.#indent + String.fromCharCode(byte as number) : undefined;
      }
    }
  }

  /** Checks the encoding outside the records up to `to`. */
  #check(bytes: Buffer, to: number): void {
    if (to > this.#checked) this.#outside.take(bytes, this.#checked, to);
    this.#checked = Math.max(this.#checked, to);
  }

  #malformed(why: string): false {
    const other = /^\s*[[{]/.test(this.#opening.toString()) ? undefined : refusalOf('JSON', this.#opening);
    const at = this.#before + this.#at;
    this.#outline.refuse(
      other ?? `the document is not well-formed JSON: ${why} at byte ${at}; what follows was not read`,
    );
    return false;
  }
}

/**
 * Whether the object that begins at `at` is a list: PHP makes an object of a list that lacks an index, as array_filter leaves it:
 * `{"1": {…}, "3": {…}}`. No posting has such a member.
 */
function beginsNumbered(bytes: Buffer, at: number): 'numbered' | 'other' | 'more' {
  const text = bytes.toString('latin1', at, at + MAX_TOKEN_BYTES);
  if (/^\{\s*"\d{1,20}"\s*:\s*\{/.test(text)) return 'numbered';
  const mayBe = text.length < MAX_TOKEN_BYTES && /^\{\s*(?:"\d{0,20}(?:"\s*(?::\s*)?)?)?$/.test(text);
  return mayBe ? 'more' : 'other';
}

const isSpace = (byte: number | undefined): boolean =>
  byte === SPACE || byte === NEWLINE || byte === TAB || byte === RETURN;

function parseToken(token: string): string | undefined {
  const value = parseJson(token);
  return typeof value === 'string' ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Follows a JSON document outside its records: the open containers on the path to the records, the declared totals, and
// the reasons why the document is incomplete or not a feed at all.

const MAX_SHORTFALLS = 20;
const MAX_NAMED = 10;
/** No feed nests its list deeper. */
const MAX_OPEN = 64;
/** An error is not looked for deeper. */
const MAX_ERROR_DEPTH = 8;

/** An open object or list outside the records. */
interface Container {
  readonly isObject: boolean;
  /** Its members are the records, whatever their names. */
  readonly isNumbered: boolean;
  /** How many names of the records path lead here; -1: the path leads elsewhere. */
  readonly level: number;
  /** Names from the root, joined with `/`. */
  readonly path: string;
  /** Names that were found in it, for messages. */
  readonly names: string[];
  found: boolean;
}

/** What a value at the current position is. */
type Place =
  /** A record, whatever its kind. */
  | 'record'
  /** An object or list that contains records or a declared total: it has been entered. */
  | 'entered'
  /** A value that matters to nobody. */
  | 'skipped'
  /** A declared total. */
  | 'total'
  /** A value that may state an error, that another page follows, or what the document is. */
  | 'stated';

class JsonOutline {
  /** The first reason to stop reading. */
  refusal: string | undefined;
  readonly #recordPath: ListPath;
  readonly #totalPaths: readonly string[];
  readonly #totals: { readonly path: string; readonly text: string }[] = [];
  readonly #shortfalls = new Set<string>();
  readonly #open: Container[] = [];
  /** The name whose value comes next, in an object. */
  #name = '';
  readonly #errors = new StatedErrors();
  readonly #pages = new StatedPages();
  /** Like RSS and Atom (jsonfeed.org), it mostly lists the newest entries. */
  #isJsonFeed = false;

  constructor(recordPath: ListPath, totalPaths: readonly string[]) {
    this.#recordPath = recordPath;
    this.#totalPaths = totalPaths.map((path) => path.replace(/^\$?[./]/, '').replaceAll('.', '/'));
  }

  get depth(): number {
    return this.#open.length;
  }

  get inObject(): boolean {
    return this.#open.at(-1)?.isObject === true;
  }

  note(shortfall: string): void {
    if (this.#shortfalls.size < MAX_SHORTFALLS) this.#shortfalls.add(shortfall);
  }

  refuse(message: string): void {
    this.refusal ??= message;
  }

  /** Takes the name of the next value. */
  takeName(name: string): void {
    this.#name = name;
    const inner = this.#open.at(-1);
    if (inner === undefined || inner.isNumbered) return;
    if (inner.names.length < MAX_NAMED) inner.names.push(name);
    if (inner.level < 0 || name !== this.#recordPath[inner.level]) return;
    if (inner.found)
      this.note(`the name "${name}" appears twice in one object, so one of its lists may be meant for another`);
    inner.found = true;
  }

  /** Whether an object that begins here is where the list of records is expected. */
  get isAtList(): boolean {
    const outer = this.#open.at(-1);
    return (outer === undefined || outer.isObject) && this.#placeIn(outer).level === this.#recordPath.length;
  }

  /** Enters an object whose members are the records. */
  beginNumbered(): void {
    this.#open.push({ ...this.#placeIn(this.#open.at(-1)), isObject: true, isNumbered: true, names: [], found: true });
  }

  /** Decides what the value that begins with this byte is, and enters it if it contains records or a total. */
  beginValue(first: '{' | '[' | 'scalar'): Place {
    const outer = this.#open.at(-1);
    if (outer?.isNumbered === true) return 'record';
    const { level, path } = this.#placeIn(outer);
    const last = this.#recordPath.length;
    // An element of the list, or the only posting where a list has just one.
    if (level === last && first !== '[' && (outer?.isObject === false || last > 0)) {
      if (outer?.isObject !== true || first === '{') return 'record';
    }
    if (first === 'scalar') return this.#takeScalar(level, path);
    if (outer === undefined && last === 0 && first === '{') {
      this.refuse(
        'the document is an object, not a list; configure records: and the path of its list, or type: json-lines if each line is a posting',
      );
      return 'skipped';
    }
    const holdsTotal =
      first === '{' && this.#totalPaths.some((total) => total.startsWith(path === '' ? '' : `${path}/`));
    const names = path.split('/');
    const holdsError = this.#open.length < MAX_ERROR_DEPTH && names.some(isErrorName);
    if (level < 0 && !holdsTotal && !holdsError)
      return maySayNextIn(names) || (first === '{' && maySayErrorIn(names)) ? 'stated' : 'skipped';
    if (this.#open.length >= MAX_OPEN)
      this.refuse(`lists and objects are nested deeper than ${MAX_OPEN} outside the records`);
    this.#open.push({ isObject: first === '{', isNumbered: false, level, path, names: [], found: false });
    return 'entered';
  }

  takeTotal(text: string): void {
    const { path } = this.#placeIn(this.#open.at(-1));
    this.#totals.push({ path, text });
  }

  /** Takes an object or a list that may state an error, or say that another page follows. */
  takeStatedIn(value: unknown): void {
    const names = this.#placeIn(this.#open.at(-1)).path.split('/');
    if (maySayErrorIn(names)) this.#errors.takeValue(names, value);
    this.#pages.takeValue(names, value, this.#isInGroup);
  }

  /** Takes the text of a value that may state an error or a next page, or its beginning. */
  takeStated(text: string): void {
    const { path } = this.#placeIn(this.#open.at(-1));
    if (path === 'version') this.#isJsonFeed ||= /^https?:\/\/(?:www\.)?jsonfeed\.org\//i.test(text);
    const names = path.split('/');
    this.#errors.take(names, text);
    this.#pages.take(names, text, this.#isInGroup);
  }

  /** Leaves the innermost container. */
  end(): void {
    const ended = this.#open.pop();
    if (this.#open.at(-1)?.isObject === false) this.#pages.leave(ended?.path ? ended.path.split('/') : []);
    if (ended === undefined || !ended.isObject || ended.found || ended.level < 0) return;
    const name = this.#recordPath[ended.level];
    const where = ended.path === '' ? 'the document' : `"${ended.path}"`;
    const others =
      ended.names.length === 0 ? 'it is empty' : `it has ${ended.names.map((other) => `"${other}"`).join(', ')}`;
    const guess = name === undefined ? '' : didYouMean(name, ended.names, (meant) => `"${meant}"`);
    this.note(`${where} has no "${name}", where the records are expected; ${others}${guess}`);
  }

  /** Ends the document. Returns every reason why it is incomplete, given the number of records found. */
  finish(
    records: number,
  ): Pick<SplitEnd, 'shortfalls' | 'declaredTotal' | 'following' | 'pageNumber' | 'listsEntries'> {
    const stated = this.#errors.found(records);
    if (stated !== undefined) this.note(stated);
    const declaredTotal = declaredTotalOf(this.#totals, records, (fault) => this.note(fault));
    return {
      shortfalls: [...this.#shortfalls],
      declaredTotal,
      ...this.#pages.end(records),
      ...(this.#isJsonFeed ? { listsEntries: true } : {}),
    };
  }

  /** Whether the current object is one of a list, which may have pages of its own. */
  get #isInGroup(): boolean {
    return this.#open.some(({ isObject }) => !isObject);
  }

  #placeIn(outer: Container | undefined): { level: number; path: string } {
    if (outer === undefined) return { level: 0, path: '' };
    if (!outer.isObject) return outer;
    const path = outer.path === '' ? this.#name : `${outer.path}/${this.#name}`;
    const leads =
      outer.level >= 0 && outer.level < this.#recordPath.length && this.#name === this.#recordPath[outer.level];
    return { level: leads ? outer.level + 1 : -1, path };
  }

  #takeScalar(level: number, path: string): Place {
    if (this.#open.length === 0) this.refuse('the document is a single value, not a list of postings');
    else if (level >= 0) this.note(`"${path}", where the records are expected, is not a list`);
    if (this.#totalPaths.includes(path)) return 'total';
    const names = path.split('/');
    const mayTell = (this.#open.at(-1)?.level ?? -1) >= 0 || maySayErrorIn(names.slice(0, -1));
    const isTold = mayTell && maySayError(names.at(-1) ?? '');
    return isTold || names.some(isErrorName) || maySayNext(names) || path === 'version' ? 'stated' : 'skipped';
  }
}

/** Names from the root to the list; empty: the document itself is the list. Lists on the way are passed through. */
type ListPath = readonly string[];

/** Parses `jobs`, `SearchResult/SearchResultItems` or `data.jobs`; `$`, `.` and nothing stand for the root. */
function parseListPath(path: string): ListPath {
  const bare = path.trim().replace(/^\$\.?|^[./]/, '');
  if (bare === '') return [];
  const names = bare.split(/[./]/).map((name) => name.replace(/\[\*?\]$/, ''));
  if (names.some((name) => name === '')) {
    throw new Error(`"${path}" is not a valid path of a list: write the names from the root, for example data/jobs`);
  }
  return names;
}
