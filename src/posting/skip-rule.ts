// Reads whether a rule skips a record, and if a date decides, since when.
import { type ConditionGroups, compileConditions } from './conditions.ts';
import type { RecordTree, SkippedRecord } from './posting.ts';
import type { KeyReading } from './posting-key.ts';
import type { RecordDates } from './record-dates.ts';

/** `undefined`: the record is not skipped. */
export type ReadSkipped = (record: RecordTree, dates: RecordDates | undefined) => SkippedRecord | undefined;

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
