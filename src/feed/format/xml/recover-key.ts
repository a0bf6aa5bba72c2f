// Recovers the key of an unreadable record if the damage leaves no doubt about it.
import { isUtf8 } from 'node:buffer';
import type { KeyRule } from '../../../posting/field-mapping.ts';
import { compileKey } from '../../../posting/posting-key.ts';
import { parseValuePath, textsAt, type ValuePath } from '../../../posting/value-path.ts';
import type { RecoverKey } from '../format.ts';
import { BROKEN, readTolerantly } from './tolerant-tree.ts';

/** Compiles the recovery for a key rule. Throws `MalformedPathError`. */
export function compileKeyRecovery(rule: KeyRule): RecoverKey {
  const readKey = compileKey(rule);
  const paths = rule.paths.map(parseValuePath);
  const names = new Set(paths.flatMap(namesIn));
  // The record's own start tag precedes everything that may be broken.
  const inStartTag = paths.every(([step, ...more]) => more.length === 0 && step?.name.startsWith('@'));
  return (record) => {
    const text = record.toString();
    // If the bytes are not valid UTF-8, U+FFFD usually stands for an undecodable one.
    const { tree, certain } = readTolerantly(isUtf8(record) ? text : text.replaceAll('\ufffd', BROKEN), names);
    if (tree === undefined || !(certain || inStartTag)) return undefined;
    if (paths.some((path) => valuesAt(path, tree).size !== 1)) return undefined;
    const reading = readKey(tree);
    return reading.kind === 'key' ? reading.key : undefined;
  };
}

const valuesAt = (path: ValuePath, tree: Parameters<typeof textsAt>[1]): ReadonlySet<string> =>
  new Set(
    textsAt(path, tree)
      .map((text) => text.trim())
      .filter((text) => text !== ''),
  );

/** All names that decide what the path matches, including those in its conditions. */
const namesIn = (path: ValuePath): string[] =>
  path.flatMap(({ name, conditions }) => [name, ...conditions.flatMap((condition) => namesIn(condition.path))]);
