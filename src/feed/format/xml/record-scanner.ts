// Finds the end of a record in its bytes, examining as few of them as possible.
import {
  CDATA,
  CDATA_START,
  COMMENT,
  COMMENT_START,
  EXCLAMATION,
  endOfCdata,
  endsName,
  holdsAt,
  INSTRUCTION,
  indexOfMarkup,
  isCdataStart,
  type MarkupCursor,
  OWN_END,
  OWN_START,
  PARENT_START,
  QUESTION,
  SLASH,
  TEXT,
} from './xml-bytes.ts';

/** How a scan ended: at the record's end, out of bytes, or at a tag that shows that the record's end tag is missing. */
export type RecordEnd = 'ended' | 'more' | 'cut';

export interface RecordNames {
  /** The record's own name as written, compared byte by byte. */
  readonly own: Uint8Array;
  /** The name of the element around it; empty if the record is the root. */
  readonly parent: Uint8Array;
}

/**
 * Counts only tags with the name of the record or of its parent; CDATA, comments and instructions are skipped, other
 * tags are ignored. Broken markup inside a record, such as an unclosed `<br>`, therefore affects only that record.
 */
export class RecordScanner {
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
