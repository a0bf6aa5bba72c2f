// Recovers the key of an unreadable JSON record if the damage leaves no doubt about it.
import { isUtf8 } from 'node:buffer';
import type { KeyRule } from '../../../posting/mapping.ts';
import { compileKey } from '../../../posting/posting-key.ts';
import { parseValuePath, textsAt } from '../../../posting/value-path.ts';
import type { RecoverKey } from '../format.ts';
import { BROKEN, parseTolerantly } from './parse-record.ts';

/** Compiles the recovery for a key rule. Throws `MalformedPathError`. */
export function compileKeyRecovery(rule: KeyRule): RecoverKey {
  const readKey = compileKey(rule);
  const paths = rule.paths.map(parseValuePath);
  return (record) => {
    const text = record.toString();
    // If the bytes are not valid UTF-8, U+FFFD usually stands for an undecodable one.
    const tree = parseTolerantly(isUtf8(record) ? text : text.replaceAll('\ufffd', BROKEN));
    if (tree === undefined) return undefined;
    for (const path of paths) {
      const values = new Set(textsAt(path, tree).map((value) => value.trim()));
      if (values.size !== 1 || [...values].some((value) => value.includes(BROKEN))) return undefined;
    }
    const reading = readKey(tree);
    return reading.kind === 'key' ? reading.key : undefined;
  };
}
