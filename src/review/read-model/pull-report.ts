// The report of one pull, as `sync` prints it and the log of `start` shows it.
import { type Message, tell, tellAll, type WriteAction } from '../../plan/message.ts';
import type { PullStatus } from '../../store/pull/pull-row.ts';
import type { PullSummary } from '../../store/status/pull-summary.ts';

export interface PullReport extends Omit<PullSummary, 'pull'> {
  readonly pull: number | null;
  readonly status: Exclude<PullStatus, 'running'>;
  readonly duration_ms: number;
  /** Likely mistakes of the mapping, if this pull was the first to read the feed with it. */
  readonly warnings: readonly string[];
  /** What a person should know besides the shortfalls, or why the pull failed. */
  readonly notes: readonly Message[];
}

/** One line of `sync --json` (docs/reference.md). */
export interface PullReportJson extends Omit<PullReport, 'notes' | 'shortfalls'> {
  readonly shortfalls: readonly string[];
  /** Absent if all went well. */
  readonly message?: string;
}

export function pullReportJson({ notes, ...report }: PullReport, write: WriteAction): PullReportJson {
  const message = tellAll([...report.shortfalls, ...notes], write);
  return {
    ...report,
    shortfalls: report.shortfalls.map((shortfall) => tell(shortfall, write)),
    ...(message === '' ? {} : { message }),
  };
}
