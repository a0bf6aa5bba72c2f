// Serialises the posting of a record, to pass it from the splitting thread to the planning thread.
import { CleanTextsWriter } from '../../compact/clean-texts.ts';
import { mostUtf8Bytes, Utf8Writer } from '../../compact/utf8-writer.ts';
import { HASH_BYTES } from '../../posting/hash.ts';
import { postingKey } from '../../posting/identifiers.ts';
import type { Problem, ReadPosting } from '../../posting/posting.ts';
import type { GrowingBytes } from './growing-bytes.ts';

/**
 * Content hash, length of the key (2 bytes) and of the remarks (4), then the key, the remarks and the fields as JSON.
 */
const KEY_LENGTH_AT = HASH_BYTES;
const REMARKS_LENGTH_AT = KEY_LENGTH_AT + 2;
const KEY_AT = REMARKS_LENGTH_AT + 4;
/**
 * A truncated write may stop up to three bytes early. With these spare bytes it still ends beyond the allowed maximum.
 */
const SPARE_BYTES = 4;

/** Notes and problems, which few postings have. */
interface Remarks {
  readonly notes: readonly Problem[];
  /** Present for an invalid posting. */
  readonly problems?: readonly Problem[];
}

const texts = new CleanTextsWriter();

/** Appends a posting, whose fields must be clean as the reader leaves them. Throws rather than truncate it. */
export function packPosting(result: ReadPosting, target: GrowingBytes): void {
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
  // Texts that do not fit are truncated silently, so never hand over a posting longer than its maximum.
  if (end - start > most)
    throw new Error(`a packed posting takes ${end - start} bytes, more than the expected ${most}`);
  target.cutTo(end);
}

/** Reads what {@link packPosting} wrote. The fields are not copied: they are valid as long as `bytes` is. */
export function unpackPosting(bytes: Buffer): ReadPosting<Buffer> {
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
