// Writes the fields of a posting as JSON.
import { mostUtf8Bytes, type Utf8Writer } from './utf8-writer.ts';

/** Names with texts that the reader of postings has cleaned: below U+0020 they hold nothing but `\t` and `\n`. */
export type CleanTexts = Readonly<Record<string, string>>;

const PUNCTUATION_BYTES = '"":"",'.length;
/** For each character of a name: `\u001f`. A text has no such escapes, and `\n` takes less than the three bytes counted anyhow. */
const MOST_NAME_BYTES = 6;

/** Writes {@link CleanTexts} as JSON objects, a third of the work that `JSON.stringify` has with a page of text. */
export class CleanTextsWriter {
  /** As they stand in JSON, with what surrounds them; there are as many as the fields of a feed. */
  readonly #names = new Map<string, string>();

  /** Bytes that the JSON of these texts takes at most. */
  static mostBytes(texts: CleanTexts): number {
    let most = '{}'.length;
    for (const name of Object.keys(texts)) {
      most += PUNCTUATION_BYTES + MOST_NAME_BYTES * name.length + mostUtf8Bytes(texts[name] ?? '');
    }
    return most;
  }

  write(texts: CleanTexts, writer: Utf8Writer): void {
    let before = '{';
    for (const name of Object.keys(texts)) {
      writer.write(before);
      writer.write(this.#nameOf(name));
      writer.write(escaped(texts[name] ?? ''));
      before = '",';
    }
    writer.write(before === '{' ? '{}' : '"}');
  }

  #nameOf(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const made = `${JSON.stringify(name)}:"`;
    this.#names.set(name, made);
    return made;
  }
}

/** Most texts hold none of these, and it takes next to nothing to find that out. */
function escaped(text: string): string {
  let json = text;
  if (json.includes('\\')) json = json.replaceAll('\\', '\\\\');
  if (json.includes('"')) json = json.replaceAll('"', '\\"');
  if (json.includes('\n')) json = json.replaceAll('\n', '\\n');
  if (json.includes('\t')) json = json.replaceAll('\t', '\\t');
  return json;
}
