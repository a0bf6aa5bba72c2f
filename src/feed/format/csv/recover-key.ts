// Recovers the key of an unreadable record of a table. Only bytes that cannot be decoded leave no doubt about it: a misplaced
// quote or a missing cell may have moved any cell, or joined several rows.
import type { KeyRule } from '../../../posting/field-mapping.ts';
import type { RecoverKey } from '../format.ts';
import { compileKeyOfTree, textWithFaults } from '../recover-key.ts';
import { parseText } from './parse-record.ts';

/** Compiles the recovery for a key rule. Throws `MalformedPathError`. */
export function compileKeyRecovery(rule: KeyRule): RecoverKey {
  const keyOf = compileKeyOfTree(rule);
  return (record) => {
    const parsed = parseText(textWithFaults(record), false, false);
    return parsed.kind === 'tree' ? keyOf(parsed.tree) : undefined;
  };
}
