// The position of a scan in XML bytes, and the construct that it is in, kept from chunk to chunk.
import { endOfCdata, endOfComment, endOfInstruction, findTagEnd } from './xml-bytes.ts';

/** The construct that the scan is in. Numbers, because they are compared for every tag of every record. */
export const TEXT = 0;
export const CDATA = 1;
export const COMMENT = 2;
export const INSTRUCTION = 3;
/** Outside records: a tag, a document type declaration. */
export const TAG = 4;
export const DOCTYPE = 5;
/** Inside a record: a tag with the record's name, or a start tag with its parent's name. */
export const OWN_START = 6;
export const OWN_END = 7;
export const PARENT_START = 8;

const NAMES: readonly string[] = ['', 'a CDATA section', 'a comment', 'a processing instruction', 'a tag', 'a DOCTYPE'];

/** Positions are relative to the current bytes; they are negative for bytes no longer held. */
export class MarkupCursor {
  mode = TEXT;
  /** The next byte to scan; inside a tag, see `tag`. */
  at = 0;
  /** The `<` of the current tag or declaration. */
  markupStart = 0;
  /** The state of the search for the end of that tag. */
  readonly tag = { at: 0, quote: 0 };

  /** The current construct, for messages; empty in text and in tags of records. */
  get construct(): string {
    return NAMES[this.mode] ?? '';
  }

  shift(by: number): void {
    this.at -= by;
    this.markupStart -= by;
    this.tag.at -= by;
  }

  /** Continues at `at`, in text or in a section. */
  enter(mode: number, at: number): true {
    this.mode = mode;
    this.at = at;
    return true;
  }

  /** Continues at `at`, inside the tag that starts at `start`. */
  enterTag(mode: number, start: number, at: number): true {
    this.mode = mode;
    this.markupStart = start;
    this.tag.at = at;
    this.tag.quote = 0;
    return true;
  }

  /** Moves past the end of the current CDATA section, comment or instruction. False: it is not in these bytes. */
  leaveSection(bytes: Buffer): boolean {
    let end: number;
    if (this.mode === CDATA) end = endOfCdata(bytes, this.at);
    else if (this.mode === COMMENT) end = endOfComment(bytes, this.at);
    else end = endOfInstruction(bytes, this.at);
    // The end, or the start of another comment, may begin in the last three bytes.
    this.at = end < 0 ? Math.max(this.at, bytes.length - 3) : end;
    return end >= 0;
  }

  /** Moves `tag.at` to the `>` of the current tag. False: it is not in these bytes. */
  findTagEnd(bytes: Buffer): boolean {
    return findTagEnd(bytes, this.tag);
  }
}
