// Remembers, from chunk to chunk, where in XML's bytes a scan stands and what it is in the middle of.
import { endOfCdata, endOfComment, endOfInstruction, findTagEnd } from './xml-bytes.ts';

/** What the scan is in the middle of. Numbers, because they are compared for every tag of every record. */
export const TEXT = 0;
export const CDATA = 1;
export const COMMENT = 2;
export const INSTRUCTION = 3;
/** Outside records: a tag, a document type declaration. */
export const TAG = 4;
export const DOCTYPE = 5;
/** Inside a record: a tag with the name of the record, or a start tag with the name of the element around it. */
export const OWN_START = 6;
export const OWN_END = 7;
export const PARENT_START = 8;

const NAMES: readonly string[] = ['', 'a CDATA section', 'a comment', 'a processing instruction', 'a tag', 'a DOCTYPE'];

/** Positions count from the start of the bytes at hand; they become negative where bytes are no longer held. */
export class MarkupCursor {
  mode = TEXT;
  /** The next byte to look at; inside of a tag, see `tag`. */
  at = 0;
  /** Where the tag or declaration that the scan is in has its `<`. */
  markupStart = 0;
  /** The scan for the end of that tag. */
  readonly tag = { at: 0, quote: 0 };

  /** What the scan is in the middle of, for messages; empty in text and inside of records' tags. */
  get place(): string {
    return NAMES[this.mode] ?? '';
  }

  shift(by: number): void {
    this.at -= by;
    this.markupStart -= by;
    this.tag.at -= by;
  }

  /** Goes on at `at`, in text or in a section. */
  enter(mode: number, at: number): true {
    this.mode = mode;
    this.at = at;
    return true;
  }

  /** Goes on inside of the tag that starts at `start`, from `at`. */
  enterTag(mode: number, start: number, at: number): true {
    this.mode = mode;
    this.markupStart = start;
    this.tag.at = at;
    this.tag.quote = 0;
    return true;
  }

  /** Goes to the end of the CDATA section, comment or instruction that the scan is in. False: it is not in these bytes. */
  leaveSection(bytes: Buffer): boolean {
    let end: number;
    if (this.mode === CDATA) end = endOfCdata(bytes, this.at);
    else if (this.mode === COMMENT) end = endOfComment(bytes, this.at);
    else end = endOfInstruction(bytes, this.at);
    // What is not found may begin in the last two bytes.
    this.at = end < 0 ? Math.max(this.at, bytes.length - 2) : end;
    return end >= 0;
  }

  /** Goes to the `>` of the tag that the scan is in; `tag.at` is its position. False: it is not in these bytes. */
  findTagEnd(bytes: Buffer): boolean {
    return findTagEnd(bytes, this.tag);
  }
}
