// Splits the UTF-8 bytes of an XML document, in chunks of any size, into the bytes of its records, without parsing them.
import { ChunkJoiner } from './chunk-joiner.ts';
import type { RecordSink } from './feed-reading.ts';
import { parseElementPath } from './record-path.ts';
import {
  CDATA_START,
  COMMENT_START,
  DOCTYPE_START,
  EXCLAMATION,
  endOfCdata,
  endOfComment,
  endOfInstruction,
  endOfName,
  endsName,
  findTagEnd,
  holdsAt,
  indexOfMarkup,
  isCdataStart,
  QUESTION,
  SLASH,
} from './xml-bytes.ts';
import { XmlOutline } from './xml-outline.ts';

/** What the splitter is in the middle of. Numbers, because they are compared for every tag of every record. */
const TEXT = 0;
const CDATA = 1;
const COMMENT = 2;
const INSTRUCTION = 3;
/** Outside records: a tag, a document type declaration. */
const TAG = 4;
const DOCTYPE = 5;
/** Inside a record: a tag with the name of the record, or a start tag with the name of the element around it. */
const OWN_START = 6;
const OWN_END = 7;
const PARENT_START = 8;

const MODE_NAMES: readonly string[] = [
  '',
  'a CDATA section',
  'a comment',
  'a processing instruction',
  'a tag',
  'a DOCTYPE',
];

/** Outside records, names and markup that are longer than this are no feed's. */
const MAX_NAME_BYTES = 1_024;
const MAX_MARKUP_BYTES = 1_048_576;
const OVERSIZED_HEAD_BYTES = 2_048;

export interface SplitOptions {
  /** Path of the elements that are records, such as `source/job`. */
  readonly recordPath: string;
  readonly totalPaths: readonly string[];
  /** Larger records are not held; they are handed over as oversized. */
  readonly maxRecordBytes: number;
}

/**
 * Inside a record only tags with the record's own name (and its parent's) are counted; CDATA, comments and instructions
 * are skipped, other tags not even looked at. So markup that is broken inside a record, such as an unclosed `<br>`,
 * spoils that record alone.
 *
 * A record without an end tag seems to contain the ones after it. It shows when its parent's end tag, the size limit or
 * the end of the document comes while records are nested. Everything since its start is then split again *flat*: the
 * next start tag of a record ends the one before. The document is not whole, but no record of it is lost.
 */
export class XmlSplitter {
  /** Records handed over, oversized ones among them. */
  records = 0;
  oversizedRecords = 0;
  readonly #outline: XmlOutline;
  readonly #sink: RecordSink;
  readonly #maxRecordBytes: number;
  readonly #joiner = new ChunkJoiner();
  #mode = TEXT;
  /** Positions; they become negative where the bytes are no longer held. */
  #at = 0;
  #markupStart = 0;
  #recordStart = 0;
  /** The scan for a tag's end, kept over chunks. */
  readonly #tag = { at: 0, quote: 0 };
  #inRecord = false;
  #ownName: Buffer = Buffer.alloc(0);
  #ownDepth = 0;
  /** Whether another record seems to be nested in this one. */
  #nested = false;
  #parentDepth = 0;
  #flat = false;
  /** Set while a record above the size limit is scanned: its first bytes. */
  #oversizedHead: Buffer | undefined;

  /** Throws where a path is not one. */
  constructor(options: SplitOptions, sink: RecordSink) {
    this.#outline = new XmlOutline(parseElementPath(options.recordPath), options.totalPaths);
    this.#maxRecordBytes = options.maxRecordBytes;
    this.#sink = sink;
  }

  /** Why reading must stop: this is no feed, or one that is refused. */
  get refusal(): string | undefined {
    return this.#outline.refusal;
  }

  /** Takes the next bytes and hands over the records that end in them. The chunk may be reused afterwards. */
  push(chunk: Buffer): void {
    this.#outline.keepOpening(chunk);
    this.#joiner.push(chunk, this);
  }

  /** Ends the document: every reason why it is not whole, and the total that it declared. */
  finish(): { shortfalls: string[]; declaredTotal?: number } {
    if (this.#inRecord && this.#maySplitFlat()) {
      this.#splitFlat();
      this.scan(this.#joiner.held);
    }
    if (this.#inRecord) this.#outline.note(`the document ends inside record ${this.records + 1}`);
    const place = MODE_NAMES[this.#mode] || (this.#joiner.held.length > 0 ? 'a tag' : '');
    if (place !== '' && !this.#inRecord) this.#outline.note(`the document ends inside ${place}`);
    return this.#outline.finish(this.records);
  }

  shift(by: number): void {
    this.#at -= by;
    this.#markupStart -= by;
    this.#recordStart -= by;
    this.#tag.at -= by;
  }

  scan(bytes: Buffer): number {
    while (this.refusal === undefined) {
      if (this.#inRecord ? this.#scanRecord(bytes) : this.#scanOutline(bytes)) continue;
      if (!this.#inRecord) return this.#mode === TAG || this.#mode === DOCTYPE ? this.#markupStart : this.#at;
      if (this.#oversizedHead === undefined && bytes.length - this.#recordStart <= this.#maxRecordBytes) {
        return this.#recordStart;
      }
      if (this.#oversizedHead === undefined && this.#maySplitFlat()) {
        this.#splitFlat();
        continue;
      }
      this.#oversizedHead ??= this.#copyHead(bytes);
      // One byte before the position stays: whether it is the slash of `/>` is asked when the `>` comes.
      return this.#mode === OWN_START || this.#mode === PARENT_START ? this.#tag.at - 1 : this.#at;
    }
    return bytes.length;
  }

  /** Scans between records. True: a record has started; false: more bytes are needed. */
  #scanOutline(bytes: Buffer): boolean {
    while (this.refusal === undefined) {
      switch (this.#mode) {
        case TEXT: {
          const markup = indexOfMarkup(bytes, this.#at);
          this.#outline.text(bytes, this.#at, markup < 0 ? bytes.length : markup);
          this.#at = markup < 0 ? bytes.length : markup;
          if (markup < 0 || !this.#enterMarkup(bytes, markup)) return false;
          if (this.#inRecord) return true;
          break;
        }
        case TAG:
        case DOCTYPE: {
          if (!findTagEnd(bytes, this.#tag)) {
            if (bytes.length - this.#markupStart > MAX_MARKUP_BYTES) {
              this.#outline.refuse(`markup of more than ${MAX_MARKUP_BYTES} bytes stands outside the records`);
            }
            return false;
          }
          const inner = bytes.toString('utf8', this.#markupStart + 1, this.#tag.at);
          this.#at = this.#tag.at + 1;
          if (this.#mode === TAG) this.#outline.tag(inner);
          else this.#outline.doctype(inner.slice(DOCTYPE_START.length - 1));
          this.#mode = TEXT;
          break;
        }
        default: {
          const from = this.#at;
          const found = this.#leaveSection(bytes);
          if (this.#mode === CDATA) this.#outline.text(bytes, from, found ? this.#at - 3 : this.#at);
          if (!found) return false;
          this.#mode = TEXT;
        }
      }
    }
    return false;
  }

  /** Tells what the markup at `at` is, outside records. False: more bytes are needed to tell. */
  #enterMarkup(bytes: Buffer, at: number): boolean {
    switch (bytes[at + 1]) {
      case undefined:
        return false;
      case QUESTION:
        return this.#enter(INSTRUCTION, at + 2);
      case SLASH:
        return this.#enterTag(TAG, at, at + 2);
      case EXCLAMATION:
        if (holdsAt(bytes, at, COMMENT_START)) return this.#enter(COMMENT, at + COMMENT_START.length);
        if (bytes.length - at < CDATA_START.length) return false;
        if (isCdataStart(bytes, at)) return this.#enter(CDATA, at + CDATA_START.length);
        return this.#enterTag(holdsAt(bytes, at, DOCTYPE_START) ? DOCTYPE : TAG, at, at + 2);
    }
    const nameEnd = endOfName(bytes, at + 1);
    if (nameEnd < 0) {
      if (bytes.length - at > MAX_NAME_BYTES) this.#outline.refuse('an element has a name of more than 1,024 bytes');
      return false;
    }
    if (nameEnd === at + 1) {
      this.#outline.note('a bare "<" stands outside the records');
      return this.#enter(TEXT, at + 1);
    }
    if (!this.#isRecordName(bytes, at + 1, nameEnd)) return this.#enterTag(TAG, at, nameEnd);
    this.#outline.record(this.#ownName);
    this.#inRecord = true;
    this.#recordStart = at;
    this.#ownDepth = 0;
    this.#nested = false;
    this.#parentDepth = 0;
    return this.#enterTag(OWN_START, at, nameEnd);
  }

  #enter(mode: number, at: number): true {
    this.#mode = mode;
    this.#at = at;
    return true;
  }

  #enterTag(mode: number, start: number, at: number): true {
    this.#mode = mode;
    this.#markupStart = start;
    this.#tag.at = at;
    this.#tag.quote = 0;
    return true;
  }

  #isRecordName(bytes: Buffer, from: number, to: number): boolean {
    if (!this.#outline.recordsHere) return false;
    // Mostly the name of the record before; only another one is read as text.
    if (to - from === this.#ownName.length && holdsAt(bytes, from, this.#ownName)) return true;
    if (!this.#outline.isRecord(bytes.toString('utf8', from, to))) return false;
    this.#ownName = Buffer.from(bytes.subarray(from, to));
    return true;
  }

  /** Goes to the end of a CDATA section, comment or instruction. False: it is not in these bytes. */
  #leaveSection(bytes: Buffer): boolean {
    let end: number;
    if (this.#mode === CDATA) end = endOfCdata(bytes, this.#at);
    else if (this.#mode === COMMENT) end = endOfComment(bytes, this.#at);
    else end = endOfInstruction(bytes, this.#at);
    // What is not found may begin in the last two bytes.
    this.#at = end < 0 ? Math.max(this.#at, bytes.length - 2) : end;
    return end >= 0;
  }

  /** Scans inside a record. True: the record is done with; false: more bytes are needed. */
  #scanRecord(bytes: Buffer): boolean {
    for (;;) {
      switch (this.#mode) {
        case TEXT: {
          const markup = this.#skipContent(bytes);
          if (markup < 0) {
            if (this.#mode === TEXT) return false;
            break;
          }
          const isEnd = bytes[markup + 1] === SLASH;
          const nameStart = markup + (isEnd ? 2 : 1);
          if (this.#hasName(bytes, nameStart, this.#ownName)) {
            if (!isEnd && this.#flat) return this.#cutRecord(bytes, markup);
            this.#enterTag(isEnd ? OWN_END : OWN_START, markup, nameStart + this.#ownName.length);
          } else if (!isEnd) {
            this.#enterTag(PARENT_START, markup, nameStart);
          } else if (this.#parentDepth > 0) {
            this.#parentDepth--;
            this.#at = nameStart;
          } else {
            return this.#cutRecord(bytes, markup);
          }
          break;
        }
        case OWN_START:
        case OWN_END:
        case PARENT_START: {
          if (!findTagEnd(bytes, this.#tag)) return false;
          if (this.#leaveTag(bytes, this.#tag.at + 1)) return true;
          break;
        }
        default:
          if (!this.#leaveSection(bytes)) return false;
          this.#mode = TEXT;
      }
    }
  }

  /**
   * The position of the next tag that counts inside a record: one with its own name, or its parent's. Skips all else.
   * -1: a section was entered, or more bytes are needed.
   */
  #skipContent(bytes: Buffer): number {
    const own = this.#ownName;
    const parent = this.#outline.parentName;
    const ownFirst = own[0];
    const parentFirst = parent[0];
    let at = this.#at;
    for (;;) {
      at = indexOfMarkup(bytes, at);
      if (at < 0) {
        this.#at = bytes.length;
        return -1;
      }
      let nameStart = at + 1;
      let first = bytes[nameStart];
      if (first === SLASH) first = bytes[++nameStart];
      if (first === ownFirst || first === parentFirst) {
        if (this.#hasName(bytes, nameStart, own) || this.#hasName(bytes, nameStart, parent)) return at;
        if (nameStart + Math.max(own.length, parent.length) >= bytes.length) break;
        at = nameStart;
      } else if (first === EXCLAMATION || first === QUESTION) {
        // Most bytes of most feeds are in CDATA: that it ends in the same chunk is the way that has to be short.
        const end = isCdataStart(bytes, at) ? endOfCdata(bytes, at + CDATA_START.length) : -1;
        if (end >= 0) at = end;
        else if (this.#enterRecordSection(bytes, at)) return -1;
        else if (bytes.length - at < CDATA_START.length) break;
        else at = nameStart;
      } else if (first === undefined) {
        break;
      } else {
        at = nameStart;
      }
    }
    this.#at = at;
    return -1;
  }

  /** Enters what starts with `<!` or `<?` inside a record. False: it is none of them, or more bytes are needed to tell. */
  #enterRecordSection(bytes: Buffer, at: number): boolean {
    if (isCdataStart(bytes, at)) return this.#enter(CDATA, at + CDATA_START.length);
    if (bytes[at + 1] === QUESTION) return this.#enter(INSTRUCTION, at + 2);
    if (holdsAt(bytes, at, COMMENT_START)) return this.#enter(COMMENT, at + COMMENT_START.length);
    return false;
  }

  #hasName(bytes: Buffer, from: number, name: Uint8Array): boolean {
    return name.length > 0 && endsName(bytes[from + name.length]) && holdsAt(bytes, from, name);
  }

  /** A tag that counts inside a record ends before `end`. True: the record ends with it. */
  #leaveTag(bytes: Buffer, end: number): boolean {
    const mode = this.#mode;
    const isEmpty = bytes[end - 2] === SLASH;
    this.#mode = TEXT;
    this.#at = end;
    if (mode === OWN_END) this.#ownDepth--;
    else if (mode === PARENT_START) this.#parentDepth += isEmpty ? 0 : 1;
    else {
      this.#nested ||= this.#ownDepth > 0;
      this.#ownDepth += isEmpty ? 0 : 1;
    }
    return this.#ownDepth === 0 && this.#handOver(bytes, end);
  }

  /** The record is not closed where it must have been: the tag at `at` starts the next one, or ends its parent. */
  #cutRecord(bytes: Buffer, at: number): true {
    if (this.#maySplitFlat()) return this.#splitFlat();
    this.#outline.note(`record ${this.records + 1} has no end tag`);
    return this.#handOver(bytes, at);
  }

  #maySplitFlat(): boolean {
    return this.#nested && !this.#flat && this.#oversizedHead === undefined;
  }

  /** Goes back to the start of the record that seems to contain others, and on without nesting. */
  #splitFlat(): true {
    this.#outline.note(`record ${this.records + 1} seems to contain other records: an end tag is missing`);
    this.#flat = true;
    this.#inRecord = false;
    this.#mode = TEXT;
    this.#at = this.#recordStart;
    return true;
  }

  #handOver(bytes: Buffer, end: number): true {
    const length = end - this.#recordStart;
    this.records++;
    if (length > this.#maxRecordBytes) {
      this.oversizedRecords++;
      this.#sink.oversized(this.#oversizedHead ?? this.#copyHead(bytes), length);
      this.#oversizedHead = undefined;
    } else {
      this.#sink.record(bytes, this.#recordStart, end);
    }
    this.#inRecord = false;
    this.#at = end;
    return true;
  }

  #copyHead(bytes: Buffer): Buffer {
    const end = Math.min(this.#recordStart + OVERSIZED_HEAD_BYTES, bytes.length);
    return Buffer.from(bytes.subarray(this.#recordStart, end));
  }
}
