// Recovers the key of an unreadable JSON record if the damage leaves no doubt about it.
import type { KeyRule } from '../../../posting/field-mapping.ts';
import type { RecoverKey } from '../format.ts';
import { compileKeyOfTree, textWithFaults } from '../recover-key.ts';
import { parseTolerantly } from './parse-record.ts';

/** Compiles the recovery for a key rule. Throws `MalformedPathError`. */
export function compileKeyRecovery(rule: KeyRule): RecoverKey {
  const keyOf = compileKeyOfTree(rule);
  return (record) => {
    const tree = parseTolerantly(textWithFaults(record));
    return tree === undefined ? undefined : keyOf(tree);
  };
}
