// Streams the record hashes of a feed's mappings and open changes into the compact index that a pull looks records up in.
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { RecordIndex, RecordMark } from '../plan/record-index.ts';
import { HASH_BYTES } from '../posting/hash.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { Session } from './database.ts';

/**
 * Loads the index of one feed with one streaming query.
 * @param distrust the field mapping changed since the hashes were noted: every record is to be parsed again.
 */
export async function loadRecordIndex(session: Session, feed: FeedName, distrust: boolean): Promise<RecordIndex> {
  const [size] = await session.query<{ n: number }>(
    'select (select count(*) from mapping where feed = $1) + (select count(*) from change where feed = $1) as n',
    [feed],
  );
  const index = new RecordIndex(size?.n ?? 0);
  const name = pg.escapeLiteral(feed);
  const known = distrust ? RecordMark.contested : RecordMark.settled;
  const wished = distrust ? RecordMark.contested : RecordMark.wished;
  // A posting that was missing of late is planned again, so that its count of missing pulls is cleared.
  await loadRows(
    session,
    index,
    `select m.record_hash,
        (case when c.key is null and m.missing_pulls = 0 then ${known} else ${RecordMark.contested} end)::int2
      from mapping m left join change c on c.feed = m.feed and c.key = m.key where m.feed = ${name}`,
  );
  await loadRows(
    session,
    index,
    `select record_hash, ${wished}::int2 from change where feed = ${name} and wanted = 'present' and not gone`,
  );
  return index;
}

async function loadRows(session: Session, index: RecordIndex, select: string): Promise<void> {
  const rows = session.client.query(copyTo(`copy (${select}) to stdout (format binary)`));
  await pipeline(rows, async (chunks: AsyncIterable<Buffer>) => {
    const reader = new PairReader((hash, mark) => index.add(hash, mark as RecordMark));
    for await (const chunk of chunks) reader.push(chunk);
  });
}

// PostgreSQL documentation, COPY, "Binary Format": 11 bytes of signature, flags, extension; then rows; then -1.
const HEADER_BYTES = 19;
const ROW_BYTES = 2 + 4 + HASH_BYTES + 4 + 2;

/** Reads rows of (16-byte hash, int2) from chunks of COPY's binary format; all rows have one size. */
class PairReader {
  readonly #take: (hash: Buffer, mark: number) => void;
  #rest: Buffer = Buffer.alloc(0);
  #headerRead = false;

  constructor(take: (hash: Buffer, mark: number) => void) {
    this.#take = take;
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
    for (; at + ROW_BYTES <= bytes.length; at += ROW_BYTES) {
      this.#take(bytes.subarray(at + 6, at + 6 + HASH_BYTES), bytes.readInt16BE(at + ROW_BYTES - 2));
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }
}
