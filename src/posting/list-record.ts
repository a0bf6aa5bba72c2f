// What is read of a record before its fields: whether a rule skips it, and, of a record of a list, what decides whether
// its detail is requested.
import { type ConditionGroups, compileConditions } from './conditions.ts';
import type { FieldMapping } from './field-mapping.ts';
import type { PostingKey } from './identifiers.ts';
import type { Problem, RecordTree, SkippedRecord } from './posting.ts';
import { compileKey, type KeyReading } from './posting-key.ts';
import type { RecordDates } from './record-dates.ts';
import { parseValuePath } from './value-path.ts';

type ListReading =
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

/** `undefined`: the record is not skipped. */
type ReadSkipped = (record: RecordTree, dates: RecordDates | undefined) => SkippedRecord | undefined;

/** Throws as `compileConditions` does. */
export function compileSkip(skip: ConditionGroups, readKey: (record: RecordTree) => KeyReading): ReadSkipped {
  const isSkipped = compileConditions(skip, 'nothing holds');
  return (record, dates) => {
    const holds = isSkipped(record, dates);
    const since = dates?.since ?? Number.NEGATIVE_INFINITY;
    const bySource = dates?.bySource();
    // A wrong clock must neither create jobs nor delete any.
    if (dates !== undefined && bySource !== undefined && isSkipped(record, bySource) !== holds) {
      dates.note({ since, until: dates.now });
      return { kind: 'skipped', isUncertain: true };
    }
    if (!holds) return undefined;
    if (dates === undefined || !(Number.isFinite(since) || Number.isFinite(dates.until))) return { kind: 'skipped' };
    const key = readKey(record);
    return { kind: 'skipped', byDate: { since, key: key.kind === 'no key' ? undefined : key.key } };
  };
}
