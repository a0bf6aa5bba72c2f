// Marks that identify an unreadable record although its bytes differ from pull to pull.

import { recordHash } from '../../posting/hash.ts';
import type { Problem } from '../../posting/posting.ts';

/** Only this much of a large record is examined. */
const EXAMINED_BYTES = 65_536;
const TOKEN = /[\p{L}\p{N}_+/=.:-]+/gu;

/** A hash of the record that ignores white space and tokens with digits (times, numbers, session IDs). */
export function shapeOf(record: Buffer): Buffer {
  const text = record
    .subarray(0, EXAMINED_BYTES)
    .toString()
    .replace(TOKEN, (token) => (/\p{N}/u.test(token) ? '#' : token))
    .replace(/[\s\ufffd]+/g, ' ');
  return recordHash(Buffer.from(text));
}

/** The first problem's message without positions and values. */
export const faultOf = (problems: readonly Problem[]): string =>
  (problems[0]?.message ?? '')
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/&#?\w+;/g, '&…;')
    .replace(/\d+/g, '#');
