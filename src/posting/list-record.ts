// Reads from a record of a list what decides whether its detail is requested: its key, and rules that need no detail.
import type { ConditionGroups } from './conditions.ts';
import type { FieldMapping } from './field-mapping.ts';
import type { PostingKey } from './identifiers.ts';
import type { Problem, RecordTree, SkippedRecord } from './posting.ts';
import { compileKey } from './posting-key.ts';
import type { RecordDates } from './record-dates.ts';
import { compileSkip } from './skip-rule.ts';
import { parseValuePath } from './value-path.ts';

export type ListReading =
  | { readonly kind: 'key'; readonly key: PostingKey }
  | SkippedRecord
  | { readonly kind: 'unreadable'; readonly problems: readonly Problem[] };

/** @param detail the name of the detail in the record. Throws as `compileReader` does. */
export function compileListReader(
  { key, skip = [] }: Pick<FieldMapping, 'key' | 'skip'>,
  detail: string,
): (record: RecordTree, dates?: RecordDates) => ListReading {
  const readKey = compileKey(key);
  const readSkipped = compileSkip(withoutDetail(skip, detail), readKey);
  return (record, dates) => {
    const skipped = readSkipped(record, dates);
    if (skipped !== undefined) return skipped;
    const read = readKey(record);
    return read.kind === 'no key' ? { kind: 'unreadable', problems: read.problems } : read;
  };
}

/** The groups of conditions that are about the record of the list alone. */
const withoutDetail = (groups: ConditionGroups, detail: string): ConditionGroups =>
  groups.filter((group) => group.every(({ path }) => !mayLeadTo(path, detail)));

function mayLeadTo(path: string, detail: string): boolean {
  const [first] = parseValuePath(path);
  return first?.name === detail || first?.name === '*';
}
