// Reads many rows with little memory: in batches, or as record hashes, a million per second.

import { pipeline } from 'node:stream/promises';
import { to as copyTo } from 'pg-copy-streams';
import { HASH_BYTES } from '../../posting/hash.ts';
import type { Session } from './database.ts';

/**
 * Yields batches of at most `size` rows. Between batches the session can run other statements, whose effects the remaining
 * rows do not show. @param name unique among open cursors.
 */
export async function* inBatches<Row extends object>(
  session: Session,
  name: string,
  select: string,
  size: number,
  values: readonly unknown[] = [],
): AsyncGenerator<Row[]> {
  await session.query(`declare ${name} no scroll cursor for ${select}`, values);
  for (;;) {
    const rows = await session.query<Row>(`fetch ${size} from ${name}`);
    if (rows.length > 0) yield rows;
    if (rows.length < size) break;
  }
  await session.query(`close ${name}`);
}

/** Yields, in batches, the keys of rows (key, hash) whose hash, which may be null, is wanted. @param name as of {@link inBatches} */
export async function* keysByHash<Key extends string = string, Hash = Buffer>(
  session: Session,
  name: string,
  select: string,
  size: number,
  isWanted: (hash: Hash) => boolean,
  values?: readonly unknown[],
): AsyncGenerator<Key[]> {
  for await (const rows of inBatches<{ key: Key; hash: Hash }>(session, name, select, size, values)) {
    const keys = rows.filter(({ hash }) => isWanted(hash)).map(({ key }) => key);
    if (keys.length > 0) yield keys;
  }
}

/** The items, so many at a time. */
export function* chunksOf<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    if (chunk.push(item) < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** Receives one row: its hash starts at `bytes[at]`, and is valid only during the call. */
export type TakeHash = (bytes: Buffer, at: number, number: number) => void;

/** Called with each hash of a chunk before the first of them is passed to {@link TakeHash}, to prefetch. */
export type ExpectHash = (bytes: Buffer, at: number) => void;

/** Runs a query whose rows are (record hash, int2), without nulls; the caller has escaped all names and literals. */
export async function streamHashes(
  session: Session,
  select: string,
  take: TakeHash,
  expect: ExpectHash = () => undefined,
): Promise<void> {
  const rows = session.client.query(copyTo(`copy (${select}) to stdout (format binary)`));
  await pipeline(rows, async (chunks: AsyncIterable<Buffer>) => {
    const reader = new PairReader(take, expect);
    for await (const chunk of chunks) reader.push(chunk);
  });
}

// PostgreSQL documentation, COPY, "Binary Format": 11 bytes of signature, flags, extension; then rows; then -1.
const HEADER_BYTES = 19;
const ROW_BYTES = 2 + 4 + HASH_BYTES + 4 + 2;

/** Reads rows of (16-byte hash, int2) from chunks of COPY's binary format; all rows have the same size. */
class PairReader {
  readonly #take: TakeHash;
  readonly #expect: ExpectHash;
  #rest: Buffer = Buffer.alloc(0);
  #headerRead = false;

  constructor(take: TakeHash, expect: ExpectHash) {
    this.#take = take;
    this.#expect = expect;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    if (!this.#headerRead) {
      if (bytes.length < HEADER_BYTES) {
        this.#rest = bytes;
        return;
      }
      this.#headerRead = true;
      at = HEADER_BYTES;
    }
    for (let next = at; next + ROW_BYTES <= bytes.length; next += ROW_BYTES) this.#expect(bytes, next + 6);
    for (; at + ROW_BYTES <= bytes.length; at += ROW_BYTES) {
      this.#take(bytes, at + 6, bytes.readInt16BE(at + ROW_BYTES - 2));
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}
