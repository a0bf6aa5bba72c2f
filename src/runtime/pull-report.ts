// Reports a pull: the printed lines, the JSON, and the exit status.
import type { PullEnd } from '../../jobs/pull-feed.ts';
import { describeNothingMirrored, mirroredNothing } from '../plan/nothing-mirrored.ts';
import { plural } from '../plan/plural.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { WriteCommand } from '../review/possible-actions.ts';
import type { Database } from '../store/postgres/database.ts';
import { finishPull, type PullStatus } from '../store/pull/pull-row.ts';
import { type PullState, type PullSummary, summarisePull } from '../store/pull/pull-summary.ts';
import { takeSearchNote } from '../store/site/site-search.ts';
import { completeCommands } from './command-line.ts';
import { ExitStatus } from './exit-status.ts';

/** One line of `sync --json` (README, "What sync prints"). */
export interface PullReport extends Omit<PullSummary, 'pull'> {
  readonly pull: number | null;
  readonly status: Exclude<PullStatus, 'running'>;
  readonly duration_ms: number;
  /** What a person should know; absent if all went well. The commands in it are completed when it is printed. */
  readonly message?: string;
}

/** Why some changes of a pull may not be sent. */
export interface Blocker {
  /**
   * `always`: worth reporting even if nothing was left to send; `decisive`: the feed does not count as mirrored even
   * then, because its jobs are at another address.
   */
  readonly worth: 'decisive' | 'always' | 'if_unsent';
  readonly message: string;
}

/** Summarises a pull once everything that can be sent was sent, and completes its row. */
export async function reportPull(
  db: Database,
  feed: FeedName,
  end: Exclude<PullEnd, { kind: 'busy' }>,
  blocker: Blocker | undefined,
  durationMs: number,
): Promise<PullReport> {
  if (end.kind === 'failed') return failedReport(feed, end.pull, end.message, durationMs);
  const progress = await summarisePull(db, end.pull);
  const status = statusOf(progress, end.kind, blocker);
  const { summary } = progress;
  const searched = await takeSearchNote(db, feed);
  const notes = [
    ...(searched === undefined ? [] : [searched]),
    ...nothingNote(progress),
    ...holdNote(progress),
    ...discardedNote(summary),
    ...takenOverNote(progress),
    ...blockerNote(progress, blocker),
  ];
  const note = notes.length === 0 ? undefined : notes.join('; ');
  await finishPull(db, end.pull, status, note, summary.discarded);
  const message = [...summary.shortfalls, ...notes].join('; ');
  return { ...summary, status, duration_ms: Math.round(durationMs), ...(message === '' ? {} : { message }) };
}

/** The report of a failed pull. @param pull its number; `null` if it could not start. */
export const failedReport = (feed: FeedName, pull: number | null, message: string, durationMs: number): PullReport => ({
  feed,
  pull,
  ...NOTHING,
  status: 'failed',
  duration_ms: Math.round(durationMs),
  message,
});

/** Changes left to a later pull are judged by their present state, although the counts date from the takeover. */
function statusOf(
  { summary, unsent }: PullState,
  kind: 'committed' | 'not_modified',
  blocker: Blocker | undefined,
): PullReport['status'] {
  if (!summary.complete) return 'incomplete';
  if (unsent > 0 || blocker?.worth === 'decisive') return 'pending';
  if (summary.review > 0) return 'review';
  return kind === 'not_modified' ? 'not_modified' : 'mirrored';
}

const nothingNote = ({ summary, nothingMirrored: why }: PullState): string[] =>
  why === undefined ? [] : [describeNothingMirrored(summary, why.common, why.live)];

const holdNote = ({ holdReason }: PullState): string[] =>
  holdReason === undefined ? [] : [`deletes are held: ${holdReason}`];

/** "Mirrored" alone would hide what a person has discarded. */
function discardedNote({ feed, discarded }: PullSummary): string[] {
  if (discarded === 0) return [];
  const postings = discarded === 1 ? '1 posting is' : `${discarded} postings are`;
  return [
    `${postings} not on the site as the feed has ${discarded === 1 ? 'it' : 'them'}, because a person discarded ` +
      `${discarded === 1 ? 'it' : 'them'}: jobmirror review list ${feed} --discarded`,
  ];
}

function takenOverNote({ summary, takenOverBy }: PullState): string[] {
  const { feed, pending, in_doubt, pending_deletes } = summary;
  const left = pending + in_doubt + pending_deletes;
  if (takenOverBy === undefined || left === 0) return [];
  const open = left === 1 ? '1 change of this one was open' : `${left} changes of this one were open`;
  return [`pull ${takenOverBy} of the feed took over while ${open}, and counts them: jobmirror pulls ${feed}`];
}

const blockerNote = ({ unsent }: PullState, blocker: Blocker | undefined): string[] =>
  blocker !== undefined && (unsent > 0 || blocker.worth !== 'if_unsent') ? [blocker.message] : [];

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
  discarded: 0,
  requests: 0,
  bytes: 0,
  shortfalls: [],
  review: 0,
  cleaned: 0,
  repaired: 0,
} as const;

/** Counts in the order of display, with their singular and plural words. */
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
  ['failed_deletes', 'delete refused', 'deletes refused'],
  ['grace', 'missing, within grace'],
  ['kept', 'kept by a reviewer'],
  ['duplicates', 'duplicate', 'duplicates'],
  ['unreadable', 'unreadable'],
] as const satisfies readonly (readonly [keyof PullReport, one: string, many?: string])[];

/** The report with its commands completed. */
export const withCommands = (report: PullReport, write: WriteCommand): PullReport => ({
  ...report,
  shortfalls: report.shortfalls.map((text) => completeCommands(text, write)),
  ...(report.message === undefined ? {} : { message: completeCommands(report.message, write) }),
});

/** The report for people: one line of counts, then what to know and do. */
export function describeReport(written: PullReport, write: WriteCommand): string {
  const report = withCommands(written, write);
  const lines = [describeCounts(report)];
  if (report.message !== undefined) lines.push(`  ${report.message}`);
  if (report.status === 'incomplete') lines.push('  The feed is not proven complete, so nothing was deleted.');
  if (report.held > 0) {
    const wait = report.held === 1 ? '1 delete waits' : `${report.held} deletes wait`;
    lines.push(`  ${wait} for approval: ${write(['review', 'approve', report.feed])}`);
  }
  if (report.review > 0) {
    const wait = report.review === 1 ? '1 entry waits' : `${report.review} entries wait`;
    lines.push(`  ${wait} for review: ${write(['review', 'list', report.feed])}`);
  }
  if (report.cleaned_example !== undefined) {
    const had = report.cleaned === 1 ? '1 posting has' : `${report.cleaned} postings have`;
    const see = write(['why', report.feed, report.cleaned_example]);
    lines.push(`  ${had} characters that XML can't carry; they are left out: ${see}`);
  }
  if (report.repaired_example !== undefined) {
    const had = report.repaired === 1 ? 'The record of 1 posting is' : `The records of ${report.repaired} postings are`;
    const were = report.repaired === 1 ? 'it was' : 'they were';
    lines.push(
      `  ${had} not well-formed XML; ${were} repaired: ${write(['why', report.feed, report.repaired_example])}`,
    );
  }
  return lines.join('\n');
}

/** The counts alone, without zeros. */
export function describeCounts(report: PullReport): string {
  const counts = PARTS.filter(([name]) => report[name] > 0).map(([name, one, many = one]) =>
    plural(report[name], one, many),
  );
  const seconds = (report.duration_ms / 1000).toFixed(1);
  return (
    `${report.feed}: ${statusWords(report)}: ${report.seen} seen${counts.length > 0 ? `, ${counts.join(', ')}` : ''}; ` +
    `${plural(report.requests, 'request')} in ${seconds} s`
  );
}

function statusWords(report: PullReport): string {
  const { status, discarded } = report;
  const done = status === 'mirrored' || status === 'review' || status === 'not_modified';
  const words = done && report.deleted === 0 && mirroredNothing(report) ? 'nothing mirrored' : STATUS_WORDS[status];
  return discarded === 0
    ? words
    : `${words}, except ${discarded} discarded`.replace('nothing mirrored, except', 'nothing mirrored,');
}

const STATUS_WORDS: Readonly<Record<PullReport['status'], string>> = {
  mirrored: 'mirrored',
  not_modified: 'not modified',
  review: 'mirrored, with review',
  incomplete: 'incomplete feed',
  failed: 'failed',
  pending: 'not all sent',
};
