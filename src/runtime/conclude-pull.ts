// Concludes a pull, once its changes are sent: its report with its counts, what a person should know, and the exit status.
import type { PullEnd } from '../../jobs/pull-feed.ts';
import { type Message, messageOf, tell, tellAll, type WriteAction } from '../plan/message.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { UndoEnd } from '../pull/undo-pull.ts';
import { compareRekey } from '../store/change/rekey/compare-rekey.ts';
import { takeSearchNote } from '../store/change/site-search.ts';
import type { Database } from '../store/postgres/database.ts';
import { finishPull, type PullStatus } from '../store/pull/pull-history.ts';
import {
  notesOfState,
  type PullState,
  type PullSummary,
  statusOfPull,
  summarisePull,
} from '../store/status/pull-summary.ts';
import { ExitStatus } from './stop-signal.ts';

export interface PullReport extends Omit<PullSummary, 'pull'> {
  readonly pull: number | null;
  readonly status: Exclude<PullStatus, 'running'>;
  readonly duration_ms: number;
  /** Likely mistakes of the mapping, if this pull was the first to read the feed with it. */
  readonly warnings: readonly string[];
  /** A person has paused the feed, its site or everything: what is left to send waits for that. */
  readonly paused?: true;
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

/** Why some changes of a pull may not be sent. */
export interface SendingBlocker {
  /**
   * `always`: worth reporting even if nothing was left to send; `decisive`: the feed does not count as mirrored even
   * then, because its jobs are at another address.
   */
  readonly worth: 'decisive' | 'always' | 'if_unsent';
  readonly message: Message;
  /** A person has paused it. */
  readonly isPaused?: true;
}

/** How the pull ended, or the undo that counts like one. */
export type PullEndToConclude = Exclude<PullEnd, { kind: 'busy' | 'paused' }> | Extract<UndoEnd, { kind: 'undone' }>;

/** Summarises a pull once everything that can be sent was sent, and completes its row. */
export async function concludePull(
  db: Database,
  feed: FeedName,
  end: PullEndToConclude,
  blocker: SendingBlocker | undefined,
  durationMs: number,
): Promise<PullReport> {
  if (end.kind === 'failed') return failedReport(feed, end.pull, end.message, durationMs);
  const progress = await summarisePull(db, end.pull);
  const isLeft = progress.unsent > 0 || blocker?.worth === 'decisive';
  const status = statusOfPull(progress, end.kind, isLeft);
  const { summary } = progress;
  const searched = await takeSearchNote(db, feed);
  const notes = [
    ...(searched === undefined ? [] : [searched]),
    ...undoneNote(feed, end),
    ...notesOfState(progress),
    ...blockerNote(progress, blocker),
  ];
  await finishPull(db, end.pull, status, notes, summary.discarded);
  // Otherwise the first page of the pairs would wait for it.
  if (progress.rekey !== undefined) await compareRekey(db, feed);
  const warnings = end.kind === 'committed' ? (end.warnings ?? []) : [];
  const paused = blocker?.isPaused === true ? { paused: true as const } : {};
  return { ...summary, status, ...paused, duration_ms: Math.round(durationMs), warnings, notes };
}

/** The report of a failed pull. @param pull its number; `null` if it could not start. */
export const failedReport = (
  feed: FeedName,
  pull: number | null,
  message: Message,
  durationMs: number,
): PullReport => ({
  feed,
  pull,
  ...NOTHING,
  status: 'failed',
  duration_ms: Math.round(durationMs),
  notes: [message],
});

/** The report of a feed whose pulls a person has paused. */
export const pausedReport = (feed: FeedName, message: Message, durationMs: number): PullReport => ({
  ...failedReport(feed, null, message, durationMs),
  status: 'pending',
  paused: true,
});

function undoneNote(feed: FeedName, end: PullEndToConclude): Message[] {
  if (end.kind !== 'undone') return [];
  const text = `pull ${end.undone} is undone; feed ${feed} is not pulled until a person says that its source is right`;
  return [messageOf(text, [{ words: 'then', action: { kind: 'resume_feed', feed } }])];
}

const blockerNote = ({ unsent }: PullState, blocker: SendingBlocker | undefined): Message[] =>
  blocker !== undefined && (unsent > 0 || blocker.worth !== 'if_unsent') ? [blocker.message] : [];

export function exitStatusOf(report: Pick<PullReport, 'status' | 'paused'>): ExitStatus {
  const isWell = report.status !== 'failed' && report.status !== 'incomplete';
  if (report.paused === true && isWell) return ExitStatus.review;
  switch (report.status) {
    case 'mirrored':
    case 'not_modified':
      return ExitStatus.done;
    case 'review':
      return ExitStatus.review;
    case 'incomplete':
    case 'failed':
    case 'pending':
      return ExitStatus.failed;
    default:
      return report.status satisfies never;
  }
}

const NOTHING = {
  complete: false,
  seen: 0,
  unchanged: 0,
  created: 0,
  updated: 0,
  deleted: 0,
  rejected: 0,
  held: 0,
  in_doubt: 0,
  pending: 0,
  failed: 0,
  duplicates: 0,
  unreadable: 0,
  skipped: 0,
  expired: 0,
  gone: 0,
  grace: 0,
  kept: 0,
  pending_deletes: 0,
  failed_deletes: 0,
  discarded: 0,
  requests: 0,
  bytes: 0,
  shortfalls: [],
  review: 0,
  cleaned: 0,
  repaired: 0,
  warnings: [],
} as const;
