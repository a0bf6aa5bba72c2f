// Keeps the records of a list, with what became of their details, from the requests until the pull plans them.
import type { DetailOutcome } from './detail-reader.ts';
import { type ListRecord, RecordSpool } from './record-spool.ts';

/** A record of the list. */
export interface AnsweredRecord {
  readonly record: ListRecord;
  /** `undefined`: the record needs no detail. */
  readonly outcome: DetailOutcome | undefined;
}

/** In front of the record's bytes: their length, and the kind of the outcome. The outcome follows them. */
const KIND_AT = 4;
const HEAD_BYTES = KIND_AT + 1;
const KINDS = [undefined, 'stored', 'document', 'failed', 'postponed'] as const;

export class AnsweredRecords {
  readonly #spool = new RecordSpool();

  add(answered: readonly AnsweredRecord[]): Promise<void> {
    return this.#spool.add(
      answered.map(({ record, outcome }) => ({ ...record, bytes: encode(record.bytes, outcome) })),
    );
  }

  /** All records, in the order in which they were added. Can be read once. */
  async *groups(most: { readonly records: number; readonly bytes: number }): AsyncGenerator<readonly AnsweredRecord[]> {
    for await (const group of this.#spool.groups(most)) yield group.map(decode);
  }

  close(): Promise<void> {
    return this.#spool.close();
  }
}

function encode(bytes: Buffer, outcome: DetailOutcome | undefined): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(bytes.length);
  head.writeUInt8(KINDS.indexOf(outcome?.kind), KIND_AT);
  return Buffer.concat([head, bytes, ...partsOf(outcome)]);
}

function partsOf(outcome: DetailOutcome | undefined): readonly Buffer[] {
  switch (outcome?.kind) {
    case 'stored':
      return [outcome.listHash];
    case 'document':
      return [outcome.bytes];
    case 'failed': {
      const message = Buffer.from(outcome.message);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(message.length);
      return [length, message, outcome.excerpt];
    }
    default:
      return [];
  }
}

function decode({ bytes, ...record }: ListRecord): AnsweredRecord {
  const end = HEAD_BYTES + bytes.readUInt32LE();
  const outcome = outcomeOf(KINDS[bytes.readUInt8(KIND_AT)], bytes.subarray(end));
  return { record: { ...record, bytes: bytes.subarray(HEAD_BYTES, end) }, outcome };
}

function outcomeOf(kind: (typeof KINDS)[number], rest: Buffer): DetailOutcome | undefined {
  switch (kind) {
    case 'stored':
      return { kind, listHash: rest };
    case 'document':
      return { kind, bytes: rest };
    case 'failed': {
      const end = 4 + rest.readUInt32LE();
      return { kind, message: rest.toString('utf8', 4, end), excerpt: rest.subarray(end) };
    }
    case 'postponed':
      return { kind };
    case undefined:
      return undefined;
    default:
      return kind satisfies never;
  }
}
