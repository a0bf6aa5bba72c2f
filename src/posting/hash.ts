// 16-byte hashes of records, keys and fields, to detect changes without comparing content.
import { hash } from 'node:crypto';
import type { PostingKey } from './identifiers.ts';
import type { Fields } from './posting.ts';

/** Bytes of every hash here. With 128 bits, the chance that any two of 10^16 records collide is about 1 in 10^7. */
export const HASH_BYTES = 16;

/**
 * Hashes the record's bytes `buffer[start..end)` as they are in the feed and writes the hash to `target` at `at`:
 * SHA-1, first 16 bytes. It runs once per record of a million-record pull, hence the one-shot `hash` and no buffer per
 * record. SHA-1 suffices because it only detects changes: a feed that forges collisions only fools itself.
 */
export function writeRecordHash(buffer: Buffer, start: number, end: number, target: Buffer, at: number): void {
  const digest = hash('sha1', buffer.subarray(start, end), 'binary');
  for (let byte = 0; byte < HASH_BYTES; byte++) target[at + byte] = digest.charCodeAt(byte);
}

/** The hash of a record, in a buffer of its own. */
export function recordHash(record: Buffer): Buffer {
  const own = Buffer.allocUnsafe(HASH_BYTES);
  writeRecordHash(record, 0, record.length, own, 0);
  return own;
}

/**
 * The hash of a record as stored: the hash of its bytes, at `at` in `hashes`, XORed with the interpretation. A stored
 * hash therefore matches only while records are read in the same way, and the same bytes under another key never match
 * the posting they used to be. Applying it twice returns the hash of the bytes.
 * @param interpretation see `interpretationOf`.
 */
export function interpretedHash(hashes: Buffer, at: number, interpretation: Buffer): Buffer {
  const own = Buffer.allocUnsafe(HASH_BYTES);
  hashes.copy(own, 0, at, at + HASH_BYTES);
  xorHash(own, 0, interpretation);
  return own;
}

/**
 * What the stored hash of a record is XORed with for one of its places. The hash of the last place tells that there are no more,
 * so a record's hash alone leads to all of its places; that of an only place is the record's own.
 * @param place its number, from 0
 */
export function placeMask(place: number, isLast: boolean): Buffer {
  if (place === 0 && isLast) return Buffer.alloc(HASH_BYTES);
  return hash('sha256', `place ${place}${isLast ? ', the last' : ''}`, 'buffer').subarray(0, HASH_BYTES);
}

/** XORs the hash at `at` in `hashes` with another one. */
export function xorHash(hashes: Buffer, at: number, other: Buffer): void {
  for (let byte = 0; byte < HASH_BYTES; byte++) {
    hashes[at + byte] = (hashes[at + byte] as number) ^ (other[byte] as number);
  }
}

/** Hashes a posting's key: SHA-1, first 16 bytes. It only has to distinguish the keys of one feed. */
export function keyHash(key: PostingKey): Buffer {
  return firstBytes(hash('sha1', key, 'binary'));
}

/**
 * Hashes the content of a posting, independent of field order: SHA-256, first 16 bytes. Names and values are prefixed
 * with their lengths, so different sets of fields never yield the same bytes. The texts must not contain lone
 * surrogates, which UTF-8 can't carry; the reader has removed them.
 */
export function contentHash(fields: Fields): Buffer {
  const headings = headingsOf(Object.keys(fields));
  let canonical = '';
  for (const { name, text } of headings) {
    const value = fields[name] ?? '';
    canonical += `${text}${value.length}:`;
    canonical += value;
  }
  return firstBytes(hash('sha256', canonical, 'binary'));
}

/** What precedes a field's value. `text` is the name with its length prefix. */
interface Heading {
  readonly name: string;
  readonly text: string;
}

/** Cached from the previous posting, which usually has the same fields. */
let lastNames: readonly string[] = [];
let lastHeadings: readonly Heading[] = [];

/** Sorted by name. */
function headingsOf(names: readonly string[]): readonly Heading[] {
  if (names.length !== lastNames.length || names.some((name, at) => name !== lastNames[at])) {
    lastHeadings = names.toSorted().map((name) => ({ name, text: `${name.length}:${name}` }));
    lastNames = names;
  }
  return lastHeadings;
}

// A digest string copied into pooled memory costs half as much as a digest in a buffer of its own.
const firstBytes = (digest: string): Buffer => Buffer.from(digest.slice(0, HASH_BYTES), 'latin1');

/** Adds up the hashes of records: the sum is the same for the same records in any order. */
export class HashSum {
  readonly #words = new Uint32Array(HASH_BYTES / 4);
  #count = 0;

  /** @param at where the hash begins in `hashes` */
  add(hashes: Buffer, at: number): void {
    for (let word = 0; word < this.#words.length; word++) {
      this.#words[word] = (this.#words[word] as number) + hashes.readUInt32LE(at + word * 4);
    }
    this.#count++;
  }

  toString(): string {
    return [this.#count, ...this.#words].map((number) => number.toString(36)).join('.');
  }
}
