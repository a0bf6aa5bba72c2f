// The beginnings of a posting's record in the list and of its detail, as its review entry shows them.
import { beginningOf, EXCERPT_BYTES, type Mask } from '../unusable-records.ts';

const TITLE = Buffer.from('\n\nDetail:\n');

/** @param detail without secrets; absent if it was not received. @param mask removes them from the record. */
export function excerptWith(record: Buffer, detail?: Buffer, mask?: Mask): Buffer {
  if (detail === undefined) return beginningOf(record, EXCERPT_BYTES, mask);
  const own = Math.max(EXCERPT_BYTES / 2, EXCERPT_BYTES - TITLE.length - detail.length);
  const beginning = beginningOf(record, own, mask);
  return Buffer.concat([beginning, TITLE, detail.subarray(0, EXCERPT_BYTES - beginning.length - TITLE.length)]);
}
