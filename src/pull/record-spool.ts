// Keeps records until they are needed: the first ones in memory, the others in a temporary file without a name.
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HASH_BYTES } from '../posting/hash.ts';
import type { SeenRecord } from './pull-ledger.ts';

/** A record of the list, with its bytes. */
export interface ListRecord extends SeenRecord {
  readonly bytes: Buffer;
}

/** In front of each record: hash, position in the feed, length. */
const ORDINAL_AT = HASH_BYTES;
const LENGTH_AT = ORDINAL_AT + 6;
const HEAD_BYTES = LENGTH_AT + 4;

/** A pull has two spools, and several pulls may request details at once. */
const MEMORY_BYTES = 4 * 1024 * 1024;

export class RecordSpool {
  readonly #memoryBytes: number;
  #kept: ListRecord[] = [];
  #keptBytes = 0;
  #file: FileHandle | undefined;
  #fileBytes = 0;
  records = 0;

  constructor(memoryBytes = MEMORY_BYTES) {
    this.#memoryBytes = memoryBytes;
  }

  /** Copies the records. */
  async add(records: readonly ListRecord[]): Promise<void> {
    for (const { hash, ordinal, bytes } of records) {
      this.#kept.push({ hash, ordinal, bytes: Buffer.from(bytes) });
      this.#keptBytes += bytes.length + HEAD_BYTES;
      this.records++;
    }
    if (this.#keptBytes > this.#memoryBytes) await this.#write();
  }

  /** All records, in the order of the feed, in groups, which end with the record that reaches a limit. Can be read once. */
  async *groups(most: { readonly records: number; readonly bytes: number }): AsyncGenerator<readonly ListRecord[]> {
    let group: ListRecord[] = [];
    let bytes = 0;
    for await (const record of this.#all()) {
      group.push(record);
      bytes += record.bytes.length;
      if (group.length < most.records && bytes < most.bytes) continue;
      yield group;
      group = [];
      bytes = 0;
    }
    if (group.length > 0) yield group;
  }

  async close(): Promise<void> {
    this.#kept = [];
    await this.#file?.close();
    this.#file = undefined;
  }

  async *#all(): AsyncGenerator<ListRecord> {
    for (let at = 0; this.#file !== undefined && at < this.#fileBytes; ) {
      const head = await readAt(this.#file, at, HEAD_BYTES);
      const bytes = await readAt(this.#file, at + HEAD_BYTES, head.readUInt32LE(LENGTH_AT));
      at += HEAD_BYTES + bytes.length;
      yield { hash: head.subarray(0, HASH_BYTES), ordinal: head.readUIntLE(ORDINAL_AT, 6), bytes };
    }
    yield* this.#kept;
  }

  async #write(): Promise<void> {
    try {
      this.#file ??= await openUnnamed();
      for (const { hash, ordinal, bytes } of this.#kept) {
        const head = Buffer.alloc(HEAD_BYTES);
        hash.copy(head);
        head.writeUIntLE(ordinal, ORDINAL_AT, 6);
        head.writeUInt32LE(bytes.length, LENGTH_AT);
        await writeAt(this.#file, this.#fileBytes, Buffer.concat([head, bytes]));
        this.#fileBytes += HEAD_BYTES + bytes.length;
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`the list can't be kept in ${tmpdir()} while its details are requested: ${reason}`, {
        cause: error,
      });
    }
    this.#kept = [];
    this.#keptBytes = 0;
  }
}

/** Removed at once, so that no crash leaves it behind. */
async function openUnnamed(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-list-'));
  try {
    return await open(join(folder, 'records'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A disk that is nearly full takes a part. */
async function writeAt(file: FileHandle, at: number, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) throw new Error('the temporary file of the list ended early');
    done += bytesRead;
  }
  return bytes;
}
