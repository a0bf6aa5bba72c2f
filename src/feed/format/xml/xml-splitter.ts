// Splits the UTF-8 bytes of an XML document, in chunks of any size, into its records, without parsing them.
// Not saxes: its events alone take four times as long as a whole pull (docs/performance.md).
import { UNDECODABLE_OUTSIDE, Utf8Check } from '../../decode/utf8-check.ts';
import { ScanningSplitter } from '../chunk-joiner.ts';
import type { SplitEnd, SplitOptions, SplitSink } from '../format.ts';
import {
  CDATA,
  CDATA_START,
  COMMENT,
  COMMENT_START,
  DOCTYPE,
  DOCTYPE_START,
  EXCLAMATION,
  endOfCdata,
  endOfName,
  endsName,
  holdsAt,
  INSTRUCTION,
  INSTRUCTION_START,
  indexOfMarkup,
  isCdataStart,
  MarkupCursor,
  OWN_END,
  OWN_START,
  PARENT_START,
  QUESTION,
  SLASH,
  TAG,
  TEXT,
} from './xml-bytes.ts';
import { XmlOutline } from './xml-outline.ts';
import { parseElementPath } from './xml-tags.ts';

/** No feed has longer names or markup outside its records. */
const MAX_NAME_BYTES = 1_024;
const MAX_MARKUP_BYTES = 1_048_576;

/**
 * A record without an end tag seems to contain the ones after it. This is detected at its parent's end tag, the size
 * limit or the end of the document, if records are nested there. Everything since its start is then split again *flat*:
 * the next start tag of a record ends the previous record. The document is incomplete, but no record is lost.
 */
export class XmlSplitter extends ScanningSplitter {
  readonly #outline: XmlOutline;
  readonly #maxRecordBytes: number;
  readonly #cursor = new MarkupCursor();
  readonly #scanner = new RecordScanner(this.#cursor);
  /** The end tags of an oversized record, which is not parsed. */
  readonly #endTags = new EndTagCount();
  /** Checks only the bytes outside the records; records are checked when they are parsed. */
  readonly #outside = new Utf8Check();
  #inRecord = false;
  #recordStart = 0;
  #names: RecordNames = { own: new Uint8Array(), parent: new Uint8Array() };
  #flat = false;

  /** Throws for an invalid path. */
  constructor(options: SplitOptions, sink: SplitSink) {
    super(options, sink);
    this.#outline = new XmlOutline(parseElementPath(options.recordPath), options.totalPaths);
    this.#maxRecordBytes = options.maxRecordBytes;
  }

  /** Why reading must stop: the document is not a feed, or is refused. */
  get refusal(): string | undefined {
    return this.#outline.refusal;
  }

  /** Splits the next bytes and hands over the records that end in them. The chunk may be reused afterwards. */
  override push(chunk: Buffer): void {
    this.#outline.keepOpening(chunk);
    super.push(chunk);
  }

  /** Ends the document, which may hand over its last records. */
  finish(): SplitEnd {
    if (this.#inRecord && this.#maySplitFlat()) {
      this.#splitFlat();
      this.scan(this.joiner.held);
    }
    if (!this.#inRecord) this.#check(this.joiner.held, 0, 0, true);
    const construct = this.#cursor.construct || (this.joiner.held.length > 0 ? 'a tag' : '');
    if (this.#inRecord) this.#outline.note(`the document ends inside record ${this.records + 1}`);
    else if (construct !== '') this.#outline.note(`the document ends inside ${construct}`);
    const found = this.#outline.finish(this.records);
    const { records, oversizedRecords } = this.handOver;
    return { records, oversizedRecords, refusal: this.refusal, ...found };
  }

  shift(by: number): void {
    this.#cursor.shift(by);
    this.#recordStart -= by;
    this.#endTags.shift(by);
  }

  scan(bytes: Buffer): number {
    const cursor = this.#cursor;
    while (this.refusal === undefined) {
      if (this.#inRecord ? this.#scanRecord(bytes) : this.#scanOutline(bytes)) continue;
      if (!this.#inRecord) return cursor.mode === TAG || cursor.mode === DOCTYPE ? cursor.markupStart : cursor.at;
      if (this.handOver.mustKeep(bytes, this.#recordStart)) return this.#recordStart;
      if (this.#maySplitFlat()) {
        this.#splitFlat();
        continue;
      }
      this.#countEndTags(bytes, bytes.length);
      this.handOver.keepHead(bytes, this.#recordStart);
      // Keep one byte before the position: it may be the slash of `/>`, which is checked at the `>`.
      const next = cursor.mode === OWN_START || cursor.mode === PARENT_START ? cursor.tag.at - 1 : cursor.at;
      return Math.min(next, this.#endTags.at);
    }
    return bytes.length;
  }

  /** Scans between records. True: a record has started; false: more bytes are needed. */
  #scanOutline(bytes: Buffer): boolean {
    const cursor = this.#cursor;
    while (this.refusal === undefined) {
      switch (cursor.mode) {
        case TEXT: {
          const markup = indexOfMarkup(bytes, cursor.at);
          const end = markup < 0 ? bytes.length : markup;
          this.#outline.text(bytes, cursor.at, end);
          this.#check(bytes, cursor.at, end, markup >= 0);
          cursor.at = end;
          if (markup < 0 || !this.#enterMarkup(bytes, markup)) return false;
          if (this.#inRecord) return true;
          break;
        }
        case TAG:
        case DOCTYPE: {
          if (!cursor.findTagEnd(bytes)) {
            if (bytes.length - cursor.markupStart > MAX_MARKUP_BYTES) {
              this.#outline.refuse(`markup of more than ${MAX_MARKUP_BYTES} bytes was found outside the records`);
            }
            return false;
          }
          const inner = bytes.toString('utf8', cursor.markupStart + 1, cursor.tag.at);
          this.#check(bytes, cursor.markupStart + 1, cursor.tag.at, true);
          if (cursor.mode === TAG) this.#outline.tag(inner);
          else this.#outline.doctype(inner.slice(DOCTYPE_START.length - 1));
          cursor.enter(TEXT, cursor.tag.at + 1);
          break;
        }
        default: {
          const from = cursor.at;
          const found = cursor.leaveSection(bytes);
          if (cursor.mode === CDATA) this.#outline.text(bytes, from, found ? cursor.at - 3 : cursor.at);
          if (cursor.mode === COMMENT) this.#checkComment(bytes, from, found ? cursor.at : bytes.length);
          if (cursor.mode === INSTRUCTION)
            this.#checkInstruction(bytes, from, found ? cursor.at - 2 : bytes.length - 1);
          this.#check(bytes, from, cursor.at, found);
          if (!found) return false;
          cursor.mode = TEXT;
        }
      }
    }
    return false;
  }

  /**
   * Checks the encoding outside the records, where broken bytes may have been a record. @param whole no character
   * continues after `to`.
   */
  #check(bytes: Buffer, from: number, to: number, whole: boolean): void {
    this.#outside.take(bytes, from, to);
    if (whole) this.#outside.end();
    if (this.#outside.broken) this.#outline.note(UNDECODABLE_OUTSIDE);
  }

  /** Two hyphens, which XML forbids in comments, are tolerated, but the start of another comment is not. */
  #checkComment(bytes: Buffer, from: number, to: number): void {
    const start = bytes.indexOf(COMMENT_START, from);
    if (start < 0 || start >= to) return;
    this.#outline.note('a comment outside the records contains the start of another one, so records may be in it');
  }

  /** The same. What looks like a start, and belongs to the end, is after `to`. */
  #checkInstruction(bytes: Buffer, from: number, to: number): void {
    const start = bytes.indexOf(INSTRUCTION_START, from);
    if (start < 0 || start + INSTRUCTION_START.length > to) return;
    this.#outline.note(
      'a processing instruction outside the records contains the start of another one, so records may be in it',
    );
  }

  /** Enters the markup at `at`, outside records, or begins a record at its start tag. False: more bytes are needed. */
  #enterMarkup(bytes: Buffer, at: number): boolean {
    const cursor = this.#cursor;
    switch (bytes[at + 1]) {
      case undefined:
        return false;
      case QUESTION:
        return cursor.enter(INSTRUCTION, at + 2);
      case SLASH:
        return cursor.enterTag(TAG, at, at + 2);
      case EXCLAMATION:
        if (holdsAt(bytes, at, COMMENT_START)) return cursor.enter(COMMENT, at + COMMENT_START.length);
        if (bytes.length - at < CDATA_START.length) return false;
        if (isCdataStart(bytes, at)) return cursor.enter(CDATA, at + CDATA_START.length);
        return cursor.enterTag(holdsAt(bytes, at, DOCTYPE_START) ? DOCTYPE : TAG, at, at + 2);
    }
    const nameEnd = endOfName(bytes, at + 1);
    if (nameEnd < 0) {
      if (bytes.length - at > MAX_NAME_BYTES)
        this.#outline.refuse(`an element has a name of more than ${MAX_NAME_BYTES} bytes`);
      return false;
    }
    if (nameEnd === at + 1) {
      this.#outline.note('there is a bare "<" outside the records');
      return cursor.enter(TEXT, at + 1);
    }
    if (!this.#isRecordName(bytes, at + 1, nameEnd)) return cursor.enterTag(TAG, at, nameEnd);
    this.#inRecord = true;
    this.#recordStart = at;
    this.#scanner.begin(at, nameEnd, this.#names, this.#flat);
    return true;
  }

  /** Whether the element of this name is a record; if so, sets `#names`. */
  #isRecordName(bytes: Buffer, from: number, to: number): boolean {
    if (!this.#outline.recordsHere) return false;
    const { own, parent } = this.#names;
    // Usually it has the name of the previous record; only other names, and a root's, are decoded to text.
    const isBelowSame = parent.length > 0 && parent === this.#outline.parentName;
    if (isBelowSame && to - from === own.length && holdsAt(bytes, from, own)) return true;
    const name = bytes.toString('utf8', from, to);
    if (!this.#outline.beginRecord(name)) return false;
    this.#names = { own: Buffer.from(name), parent: this.#outline.parentName };
    return true;
  }

  /** Scans inside a record. True: the record is finished; false: more bytes are needed. */
  #scanRecord(bytes: Buffer): boolean {
    const end = this.#scanner.scan(bytes);
    if (end === 'more') return false;
    if (end === 'cut' && this.#maySplitFlat()) {
      this.#splitFlat();
      return true;
    }
    if (end === 'cut') this.#outline.note(`record ${this.records + 1} has no end tag`);
    this.#inRecord = false;
    this.#checkOversized(bytes);
    this.handOver.end(bytes, this.#recordStart, this.#cursor.at);
    return true;
  }

  #countEndTags(bytes: Buffer, to: number): void {
    if (!this.handOver.isOversized) this.#endTags.begin(this.#names.own, this.#recordStart);
    this.#endTags.take(bytes, to);
  }

  /** A record that is read is found to go on into another one when it is parsed. */
  #checkOversized(bytes: Buffer): void {
    const { at } = this.#cursor;
    if (!this.handOver.isOversized && at - this.#recordStart <= this.#maxRecordBytes) return;
    this.#countEndTags(bytes, at);
    if (this.#endTags.count <= this.#scanner.endTags) return;
    this.#outline.note(
      `record ${this.records + 1} is above the size limit and seems to contain other records: a CDATA section, a comment or a processing instruction lacks its end`,
    );
  }

  #maySplitFlat(): boolean {
    return this.#scanner.nested && !this.#flat && !this.handOver.isOversized;
  }

  /** Goes back to the start of the record that seems to contain others, and continues without nesting. */
  #splitFlat(): void {
    this.#outline.note(`record ${this.records + 1} seems to contain other records: an end tag is missing`);
    this.#flat = true;
    this.#inRecord = false;
    this.#cursor.enter(TEXT, this.#recordStart);
  }
}

// Counts the end tags of one name in bytes of which only the current ones are held, wherever they are, also in sections and quotes.
class EndTagCount {
  count = 0;
  /** Up to here all were counted; relative to the current bytes. */
  at = 0;
  #tag: Buffer = Buffer.alloc(0);

  begin(name: Uint8Array, at: number): void {
    this.count = 0;
    this.at = at;
    this.#tag = Buffer.concat([Buffer.from('</'), name]);
  }

  shift(by: number): void {
    this.at -= by;
  }

  /** Counts the tags whose names end before `to`. The bytes from `at` on are needed again, if more follow. */
  take(bytes: Buffer, to: number): void {
    const tag = this.#tag;
    for (let found = bytes.indexOf(tag, this.at); found >= 0; found = bytes.indexOf(tag, this.at)) {
      if (found + tag.length >= to) break;
      if (endsName(bytes[found + tag.length])) this.count++;
      this.at = found + tag.length;
    }
    this.at = Math.max(this.at, to - tag.length);
  }
}

// Finds the end of a record in its bytes, examining as few of them as possible.

/** How a scan ended: at the record's end, out of bytes, or at a tag that shows that the record's end tag is missing. */
export type RecordEnd = 'ended' | 'more' | 'cut';

interface RecordNames {
  /** The record's own name as written, compared byte by byte. */
  readonly own: Uint8Array;
  /** The name of the element around it; empty if the record is the root. */
  readonly parent: Uint8Array;
}

/**
 * Counts only tags with the name of the record or of its parent; CDATA, comments and instructions are skipped, other
 * tags are ignored. Broken markup inside a record, such as an unclosed `<br>`, therefore affects only that record.
 */
class RecordScanner {
  /** Whether another record seems to be nested in this one. */
  nested = false;
  /** How many end tags with the record's name it has, apart from those in sections. */
  endTags = 0;
  readonly #cursor: MarkupCursor;
  #names: RecordNames = { own: new Uint8Array(), parent: new Uint8Array() };
  #flat = false;
  #ownDepth = 0;
  #parentDepth = 0;

  constructor(cursor: MarkupCursor) {
    this.#cursor = cursor;
  }

  /**
   * Begins a record whose start tag is at `start`. `flat`: records can't nest; the start tag of the next one ends it.
   */
  begin(start: number, nameEnd: number, names: RecordNames, flat: boolean): void {
    this.nested = false;
    this.endTags = 0;
    this.#names = names;
    this.#flat = flat;
    this.#ownDepth = 0;
    this.#parentDepth = 0;
    this.#cursor.enterTag(OWN_START, start, nameEnd);
  }

  /** Scans for the record's end. The cursor is then after it, or at the tag that cuts it off. */
  scan(bytes: Buffer): RecordEnd {
    const cursor = this.#cursor;
    for (;;) {
      switch (cursor.mode) {
        case TEXT:
          if (!this.#findTag(bytes)) {
            // No relevant tag and no section: the bytes are used up.
            if (cursor.mode === TEXT) return 'more';
          } else if (this.#enterTag(bytes)) {
            return 'cut';
          }
          break;
        case OWN_START:
        case OWN_END:
        case PARENT_START:
          if (!cursor.findTagEnd(bytes)) return 'more';
          if (this.#leaveTag(bytes)) return 'ended';
          break;
        default:
          if (!cursor.leaveSection(bytes)) return 'more';
          cursor.mode = TEXT;
      }
    }
  }

  /** Moves to the next relevant tag. False: a section was entered, or more bytes are needed. */
  #findTag(bytes: Buffer): boolean {
    const { own, parent } = this.#names;
    const ownFirst = own[0];
    const parentFirst = parent[0];
    let at = this.#cursor.at;
    for (;;) {
      at = indexOfMarkup(bytes, at);
      if (at < 0) {
        this.#cursor.at = bytes.length;
        return false;
      }
      let nameStart = at + 1;
      let first = bytes[nameStart];
      if (first === SLASH) first = bytes[++nameStart];
      if (first === ownFirst || first === parentFirst) {
        if (hasName(bytes, nameStart, own) || hasName(bytes, nameStart, parent)) return this.#cursor.enter(TEXT, at);
        if (nameStart + Math.max(own.length, parent.length) >= bytes.length) break;
        at = nameStart;
      } else if (first === EXCLAMATION || first === QUESTION) {
        // Most bytes of most feeds are in CDATA that ends in the same chunk, so this path must be fast.
        const end = isCdataStart(bytes, at) ? endOfCdata(bytes, at + CDATA_START.length) : -1;
        if (end >= 0) at = end;
        else if (this.#enterSection(bytes, at)) return false;
        else if (bytes.length - at < CDATA_START.length) break;
        else at = nameStart;
      } else if (first === undefined) {
        break;
      } else {
        at = nameStart;
      }
    }
    this.#cursor.at = at;
    return false;
  }

  /** Enters a section that starts with `<!` or `<?`. False: it is not a section, or more bytes are needed to tell. */
  #enterSection(bytes: Buffer, at: number): boolean {
    if (isCdataStart(bytes, at)) return this.#cursor.enter(CDATA, at + CDATA_START.length);
    if (bytes[at + 1] === QUESTION) return this.#cursor.enter(INSTRUCTION, at + 2);
    if (holdsAt(bytes, at, COMMENT_START)) return this.#cursor.enter(COMMENT, at + COMMENT_START.length);
    return false;
  }

  /** Enters the relevant tag at the cursor. True: it can't be inside this record. */
  #enterTag(bytes: Buffer): boolean {
    const start = this.#cursor.at;
    const isEnd = bytes[start + 1] === SLASH;
    const nameStart = start + (isEnd ? 2 : 1);
    const { own } = this.#names;
    if (hasName(bytes, nameStart, own)) {
      if (this.#flat && !isEnd) return true;
      this.#cursor.enterTag(isEnd ? OWN_END : OWN_START, start, nameStart + own.length);
    } else if (!isEnd) {
      this.#cursor.enterTag(PARENT_START, start, nameStart);
    } else if (this.#parentDepth === 0) {
      return true;
    } else {
      this.#parentDepth--;
      this.#cursor.enter(TEXT, nameStart);
    }
    return false;
  }

  /** Leaves the tag whose `>` was found. True: it ends the record. */
  #leaveTag(bytes: Buffer): boolean {
    const { mode, tag } = this.#cursor;
    const opens = mode !== OWN_END && bytes[tag.at - 1] !== SLASH ? 1 : 0;
    if (mode === OWN_END) {
      this.#ownDepth--;
      this.endTags++;
    } else if (mode === PARENT_START) {
      this.#parentDepth += opens;
    } else {
      this.nested ||= this.#ownDepth > 0;
      this.#ownDepth += opens;
    }
    this.#cursor.enter(TEXT, tag.at + 1);
    return this.#ownDepth === 0;
  }
}

const hasName = (bytes: Buffer, from: number, name: Uint8Array): boolean =>
  name.length > 0 && endsName(bytes[from + name.length]) && holdsAt(bytes, from, name);
