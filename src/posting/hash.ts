// Turns records and fields into 16-byte hashes, so that what did not change is recognised without being compared.
import { hash } from 'node:crypto';
import type { PostingKey } from './identifiers.ts';
import type { Fields } from './posting.ts';
import { mostUtf8Bytes, Utf8Writer } from './utf8-writer.ts';

/** Bytes of every hash here. Half of 128 bits still leaves a chance of 1 in 10^7 that any two of 10^16 records collide. */
export const HASH_BYTES = 16;

/**
 * Hashes the record's bytes `buffer[start..end)` as they stand in the feed, and writes the hash into `target` from `at` on:
 * SHA-1, first 16 bytes. This runs once per record of a million-record pull, hence the one-shot `hash`, and no buffer for each.
 * SHA-1 recognises what is unchanged, it proves nothing: a feed that forges collisions only fools itself.
 */
export function writeRecordHash(buffer: Buffer, start: number, end: number, target: Buffer, at: number): void {
  const digest = hash('sha1', buffer.subarray(start, end), 'binary');
  for (let byte = 0; byte < HASH_BYTES; byte++) target[at + byte] = digest.charCodeAt(byte);
}

/** The same hash in a buffer of its own. */
export function recordHash(record: Buffer): Buffer {
  const own = Buffer.allocUnsafe(HASH_BYTES);
  writeRecordHash(record, 0, record.length, own, 0);
  return own;
}

/**
 * The hash of a record as it is stored: that of its bytes, which stands in `hashes` from `at` on, combined with the
 * interpretation. So a stored hash is only met while records are read in the same way, and the same bytes under another key
 * never have the hash of the posting that they were before. Combining twice gives back the hash of the bytes.
 * @param interpretation by `interpretationOf`.
 */
export function interpretedHash(hashes: Buffer, at: number, interpretation: Buffer): Buffer {
  const own = Buffer.allocUnsafe(HASH_BYTES);
  for (let byte = 0; byte < HASH_BYTES; byte++) {
    own[byte] = (hashes[at + byte] as number) ^ (interpretation[byte] as number);
  }
  return own;
}

/** Hashes a posting's key: SHA-1, first 16 bytes. It only tells the keys of one feed apart. */
export function keyHash(key: PostingKey): Buffer {
  return firstBytes(hash('sha1', key, 'binary'));
}

/**
 * Hashes what a posting says, whatever the order of its fields: SHA-256, first 16 bytes. Lengths stand before names and
 * values, so that no two different sets of fields give the same bytes. The texts must hold no lone surrogates, which
 * UTF-8 can't carry; the reader has removed them.
 */
export function contentHash(fields: Fields): Buffer {
  const headings = headingsOf(Object.keys(fields));
  let most = 0;
  for (const { name } of headings)
    most += MOST_BYTES_OF_LENGTHS + mostUtf8Bytes(name) + mostUtf8Bytes(fields[name] ?? '');
  const memory = memoryFor(most);
  const canonical = new Utf8Writer(memory, 0);
  for (const { name, text } of headings) {
    const value = fields[name] ?? '';
    canonical.write(`${text}${value.length}:`);
    canonical.write(value);
  }
  return firstBytes(hash('sha256', memory.subarray(0, canonical.end()), 'binary'));
}

/** Of the two lengths of a field, with their colons. */
const MOST_BYTES_OF_LENGTHS = 2 * '9007199254740991:'.length;

/** What stands before a field's value: its name, with its length in front in `text`. */
interface Heading {
  readonly name: string;
  readonly text: string;
}

/** Those of the posting before, which mostly has the same fields. */
let lastNames: readonly string[] = [];
let lastHeadings: readonly Heading[] = [];

/** In the order of the names, whatever order they come in. */
function headingsOf(names: readonly string[]): readonly Heading[] {
  if (names.length !== lastNames.length || names.some((name, at) => name !== lastNames[at])) {
    lastHeadings = names.toSorted().map((name) => ({ name, text: `${name.length}:${name}` }));
    lastNames = names;
  }
  return lastHeadings;
}

/** Used again for each posting. */
let canonicalMemory = Buffer.allocUnsafeSlow(64 * 1024);
/** A posting that takes more gets memory of its own. */
const MOST_KEPT_BYTES = 1024 * 1024;

/** Memory of at least `bytes`, good until it is asked for the next time. */
function memoryFor(bytes: number): Buffer {
  if (bytes > MOST_KEPT_BYTES) return Buffer.allocUnsafeSlow(bytes);
  if (bytes > canonicalMemory.length) canonicalMemory = Buffer.allocUnsafeSlow(Math.min(2 * bytes, MOST_KEPT_BYTES));
  return canonicalMemory;
}

// A digest as a string of bytes, put into pooled memory, costs half of what a digest as a buffer of its own does.
const firstBytes = (digest: string): Buffer => Buffer.from(digest.slice(0, HASH_BYTES), 'latin1');
