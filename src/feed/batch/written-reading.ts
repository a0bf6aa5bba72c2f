// What reading a record gave, as bytes: written by the thread that read it, for the one that plans.
import { CleanTextsWriter } from '../../posting/clean-texts.ts';
import { HASH_BYTES } from '../../posting/hash.ts';
import { postingKey } from '../../posting/identifiers.ts';
import type { Problem, ReadPosting } from '../../posting/posting.ts';
import { mostUtf8Bytes, Utf8Writer } from '../../posting/utf8-writer.ts';
import type { GrowingBytes } from './growing-bytes.ts';

/** The content's hash, lengths of the key (2 bytes) and of the remarks (4); then the key, the remarks, the fields as JSON. */
const KEY_LENGTH_AT = HASH_BYTES;
const REMARKS_LENGTH_AT = KEY_LENGTH_AT + 2;
const KEY_AT = REMARKS_LENGTH_AT + 4;
/** So that what is cut off, which may end three bytes early, still ends where no reading may. */
const SPARE_BYTES = 4;

/** What few postings have: something that was changed in them, or rules that they break. */
interface Remarks {
  readonly notes: readonly Problem[];
  /** Of an invalid posting. */
  readonly problems?: readonly Problem[];
}

const texts = new CleanTextsWriter();

/** Appends what reading a record gave. Its fields are clean, as the reader leaves them. Throws rather than lose the end of one. */
export function writeReading(result: ReadPosting, target: GrowingBytes): void {
  const { key, fields, contentHash } = result.posting;
  const remarks = remarksOn(result);
  const most = KEY_AT + mostUtf8Bytes(key) + mostUtf8Bytes(remarks) + CleanTextsWriter.mostBytes(fields);
  const start = target.extend(most + SPARE_BYTES);
  const { memory } = target;
  contentHash.copy(memory, start);
  const keyBytes = memory.write(key, start + KEY_AT);
  const remarksBytes = memory.write(remarks, start + KEY_AT + keyBytes);
  memory.writeUInt16LE(keyBytes, start + KEY_LENGTH_AT);
  memory.writeUInt32LE(remarksBytes, start + REMARKS_LENGTH_AT);
  const json = new Utf8Writer(memory, start + KEY_AT + keyBytes + remarksBytes);
  texts.write(fields, json);
  const end = json.end();
  // Texts that do not fit are cut off without a word: a reading that is longer than it can be is never handed over.
  if (end - start > most) throw new Error(`a reading of ${end - start} bytes was taken for one of ${most}`);
  target.cutTo(end);
}

/** Reads what {@link writeReading} wrote. The fields stay where they are: they are good for as long as `bytes` are. */
export function readingIn(bytes: Buffer): ReadPosting<Buffer> {
  const keyEnd = KEY_AT + bytes.readUInt16LE(KEY_LENGTH_AT);
  const remarksEnd = keyEnd + bytes.readUInt32LE(REMARKS_LENGTH_AT);
  const { notes, problems }: Remarks =
    remarksEnd === keyEnd ? NO_REMARKS : (JSON.parse(bytes.toString('utf8', keyEnd, remarksEnd)) as Remarks);
  const posting = {
    key: postingKey(bytes.toString('utf8', KEY_AT, keyEnd)),
    fields: bytes.subarray(remarksEnd),
    contentHash: Buffer.from(bytes.subarray(0, HASH_BYTES)),
    notes,
  };
  return problems === undefined ? { kind: 'posting', posting } : { kind: 'invalid', posting, problems };
}

const NO_REMARKS: Remarks = { notes: [] };

function remarksOn(result: ReadPosting): string {
  const { notes } = result.posting;
  if (result.kind === 'invalid') return JSON.stringify({ notes, problems: result.problems } satisfies Remarks);
  return notes.length === 0 ? '' : JSON.stringify({ notes } satisfies Remarks);
}
