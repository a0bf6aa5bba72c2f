// Turns how a feed's pull ended into what is printed of it, and into an exit status.
import type { PullEnd } from '../../jobs/pull-feed.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { Database } from '../store/database.ts';
import { finishPull, type PullStatus } from '../store/pull.ts';
import { type PullSummary, summarisePull } from '../store/pull-summary.ts';
import { ExitStatus } from './exit-status.ts';

/** One line of `sync --json` (README, "What sync prints"). */
export interface PullReport extends Omit<PullSummary, 'pull'> {
  readonly pull: number | null;
  readonly status: Exclude<PullStatus, 'running'>;
  readonly duration_ms: number;
  /** What a person should know; absent where all went well. */
  readonly message?: string;
}

/**
 * Summarises a pull after its changes were sent as far as they could be, and ends its row.
 * @param waiting why changes are still to be sent, if any are.
 */
export async function reportPull(
  db: Database,
  feed: FeedName,
  end: Exclude<PullEnd, { kind: 'busy' }>,
  waiting: string | undefined,
  durationMs: number,
): Promise<PullReport> {
  const duration_ms = Math.round(durationMs);
  if (end.kind === 'failed') {
    return { ...NOTHING, feed, pull: end.pull, status: 'failed', duration_ms, message: end.message };
  }
  const summary = await summarisePull(db, end.pull);
  const status = statusOf(summary, end.kind);
  await finishPull(db, end.pull, status);
  const message = [...summary.shortfalls, ...(waiting === undefined ? [] : [waiting])].join('; ');
  return { ...summary, status, duration_ms, ...(message === '' ? {} : { message }) };
}

function statusOf(summary: PullSummary, kind: 'committed' | 'not_modified'): PullReport['status'] {
  if (!summary.complete) return 'incomplete';
  if (summary.pending + summary.pending_deletes > 0) return 'pending';
  if (summary.review > 0) return 'review';
  return kind === 'not_modified' ? 'not_modified' : 'mirrored';
}

export function exitStatusOf(report: PullReport): ExitStatus {
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
  gone: 0,
  grace: 0,
  kept: 0,
  pending_deletes: 0,
  failed_deletes: 0,
  requests: 0,
  bytes: 0,
  shortfalls: [],
  review: 0,
} as const;

const PARTS = [
  ['created', 'created'],
  ['updated', 'updated'],
  ['deleted', 'deleted'],
  ['unchanged', 'unchanged'],
  ['rejected', 'rejected'],
  ['held', 'held'],
  ['in_doubt', 'in doubt'],
  ['failed', 'failed'],
  ['pending', 'still to send'],
  ['pending_deletes', 'still to delete'],
  ['failed_deletes', 'deletes refused'],
  ['grace', 'missing, within grace'],
  ['kept', 'kept by a reviewer'],
  ['duplicates', 'duplicates'],
  ['unreadable', 'unreadable'],
] as const satisfies readonly (readonly [keyof PullReport, string])[];

/** The report for people: one line of counts, then what they should know and do. */
export function describeReport(report: PullReport): string {
  const lines = [describeCounts(report)];
  if (report.message !== undefined) lines.push(`  ${report.message}`);
  if (report.status === 'incomplete') lines.push('  The feed is not proven complete, so nothing was deleted.');
  if (report.held > 0) {
    lines.push(`  ${report.held} deletes wait for approval: jobmirror review approve ${report.feed}`);
  }
  if (report.review > 0) {
    lines.push(`  ${report.review} wait for review: jobmirror review list ${report.feed}`);
  }
  return lines.join('\n');
}

/** The counts alone, those that are not 0. */
export function describeCounts(report: PullReport): string {
  const counts = PARTS.filter(([name]) => report[name] > 0).map(([name, words]) => `${report[name]} ${words}`);
  const seconds = (report.duration_ms / 1000).toFixed(1);
  return (
    `${report.feed}: ${STATUS_WORDS[report.status]}: ${report.seen} seen${counts.length > 0 ? `, ${counts.join(', ')}` : ''}; ` +
    `${report.requests} requests in ${seconds} s`
  );
}

const STATUS_WORDS: Readonly<Record<PullReport['status'], string>> = {
  mirrored: 'mirrored',
  not_modified: 'not modified',
  review: 'mirrored, with review',
  incomplete: 'incomplete feed',
  failed: 'failed',
  pending: 'not all sent',
};
