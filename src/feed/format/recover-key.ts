// Recovers the key of an unreadable record from a tree of it in which the unreadable texts are marked.
import { isUtf8 } from 'node:buffer';
import type { KeyRule } from '../../posting/field-mapping.ts';
import type { PostingKey } from '../../posting/identifiers.ts';
import type { RecordTree } from '../../posting/posting.ts';
import { compileKey } from '../../posting/posting-key.ts';
import { parseValuePath, textsAt } from '../../posting/value-path.ts';

/** Stands for a text, or a part of one, that can't be read. It is not a character and never part of a key. */
export const UNREADABLE = '\uffff';

/** The record's text; what is not valid UTF-8 is marked as {@link UNREADABLE}. */
export function textWithFaults(record: Buffer): string {
  const text = record.toString();
  // If the bytes are not valid UTF-8, U+FFFD usually stands for an undecodable one.
  return isUtf8(record) ? text : text.replaceAll('\ufffd', UNREADABLE);
}

/** Compiles a function that reads the key, if all texts on its paths are readable and agree. Throws `MalformedPathError`. */
export function compileKeyOfTree(rule: KeyRule): (tree: RecordTree) => PostingKey | undefined {
  const readKey = compileKey(rule);
  const paths = rule.paths.map(parseValuePath);
  return (tree) => {
    for (const path of paths) {
      const values = new Set(textsAt(path, tree).map((value) => value.trim()));
      if (values.size !== 1 || [...values].some((value) => value.includes(UNREADABLE))) return undefined;
    }
    const reading = readKey(tree);
    return reading.kind === 'key' ? reading.key : undefined;
  };
}
