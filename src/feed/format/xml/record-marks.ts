// What an unreadable record is recognised by although its bytes differ from pull to pull.

import { recordHash } from '../../../posting/hash.ts';
import type { Problem } from '../../../posting/posting.ts';

/** More of a large record is not looked at. */
const EXAMINED_BYTES = 65_536;
const TOKEN = /[\p{L}\p{N}_+/=.:-]+/gu;

/** A hash of the record without what changes: tokens with a digit in them (times, numbers, session IDs), white space. */
export function shapeOf(record: Buffer): Buffer {
  const text = record
    .subarray(0, EXAMINED_BYTES)
    .toString()
    .replace(TOKEN, (token) => (/\p{N}/u.test(token) ? '#' : token))
    .replace(/[\s\ufffd]+/g, ' ');
  return recordHash(Buffer.from(text));
}

/** What is wrong with a record, without the places and values in the message. */
export const faultOf = (problems: readonly Problem[]): string =>
  (problems[0]?.message ?? '')
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/&#?\w+;/g, '&…;')
    .replace(/\d+/g, '#');
