// The words of a report on a feed, for whoever produces the feed.

import type { PostingReport, TrendPull } from '../../operations/report.ts';
import { plural, textOf } from '../../plan/message.ts';
import type { PullSummary } from '../../store/status/pull-summary.ts';
import type { LineCounts, LineState, ReportLine } from '../../store/status/report-lines.ts';
import { formatTime } from '../../telemetry/times.ts';

/** Lines in one state, as far as they are listed. */
export interface Section {
  readonly state: LineState;
  /** All of them. */
  readonly total: number;
  readonly lines: readonly ReportLine[];
}

/** What each state is called, and what it means for the feed. */
export const STATES: Readonly<Record<LineState, { readonly name: string; readonly meaning: string }>> = {
  unreadable: {
    name: 'unreadable',
    meaning: "These records can't be read, or have no key. Jobs that they may belong to stay on the site as they are.",
  },
  duplicate: {
    name: 'repeated key',
    meaning: 'These records repeat the key of an earlier record with other content. The first record counts.',
  },
  rejected: {
    name: 'rejected',
    meaning: 'These postings break a rule of the site. They are sent again when their record changes.',
  },
  failed: { name: 'failed', meaning: 'The site did not take these postings, for the reason given.' },
  in_doubt: { name: 'in doubt', meaning: 'The site may or may not have made a job for these postings.' },
  discarded: { name: 'discarded', meaning: 'A person decided not to send these postings as they are.' },
  held: {
    name: 'delete held',
    meaning: 'These postings are no longer in the feed. A person decides about their jobs.',
  },
  kept: { name: 'kept', meaning: 'These postings are no longer in the feed. A person decided to keep their jobs.' },
  failed_delete: {
    name: 'delete refused',
    meaning: 'These postings are no longer in the feed, but the site did not delete their jobs.',
  },
  pending_delete: {
    name: 'to be deleted',
    meaning: 'These postings are no longer in the feed. Their jobs are about to be deleted.',
  },
  grace: {
    name: 'missing',
    meaning: 'These postings are missing from the feed, but not for long enough to delete their jobs.',
  },
  pending: { name: 'to be sent', meaning: 'These postings are about to be sent.' },
  expired: {
    name: 'expired',
    meaning:
      'These postings are in the feed, but their jobs had been on the site for as long as they may, and were deleted.',
  },
  live: { name: 'live', meaning: 'The site has these postings as they are in the feed.' },
};

/** The parts that add up to the records seen, in the order of display. */
export const SEEN_PARTS = [
  ['unchanged', 'unchanged on the site'],
  ['created', 'created'],
  ['updated', 'updated'],
  ['pending', 'still to be sent'],
  ['rejected', 'rejected'],
  ['failed', 'failed'],
  ['in_doubt', 'in doubt'],
  ['duplicates', 'repeated keys'],
  ['unreadable', 'unreadable'],
  ['skipped', 'skipped by a rule, or expired'],
] as const satisfies readonly (readonly [keyof PullSummary, string])[];

/** The parts that add up to the postings gone. */
export const GONE_PARTS = [
  ['deleted', 'deleted'],
  ['held', 'waiting for approval'],
  ['kept', 'kept by a person'],
  ['grace', 'not missing for long enough'],
  ['pending_deletes', 'still to be deleted'],
  ['failed_deletes', 'refused by the site'],
] as const satisfies readonly (readonly [keyof PullSummary, string])[];

/** How the report begins: which pull it shows, and what a reader must know before the numbers. */
export function openingSentences({ last, trend, since }: PostingReport): string[] {
  const [newest] = trend;
  const failed =
    newest === undefined || newest.id === last?.row.id
      ? []
      : [`${pullName(newest)} ${newest.status === 'running' ? 'is running' : `failed${reasonOf(newest)}`}.`];
  if (last === undefined) return failed.length > 0 ? failed : ['Nothing has been pulled yet.'];
  const { row, summary } = last;
  const why = summary.shortfalls.map(textOf).join('; ');
  return [
    ...failed,
    summary.complete
      ? `${pullName(row)} read the whole feed.`
      : `${pullName(row)} did not prove the feed complete${why === '' ? '' : `: ${why}`}. Nothing was deleted.`,
    ...(summary.discarded === 0
      ? []
      : [`A person has discarded ${summary.discarded} of the rejected and unreadable ones.`]),
    ...(since === undefined ? [] : [`The lists show what came into its state since ${formatTime(since)}.`]),
  ];
}

const pullName = ({ id, startedAt }: { readonly id: number; readonly startedAt: Date }): string =>
  `Pull ${id} of ${formatTime(startedAt)}`;

const reasonOf = ({ notes }: TrendPull): string => (notes.length === 0 ? '' : `: ${notes.map(textOf).join('; ')}`);

/** The numbers that matter most, each with its name. */
export function headline(report: PostingReport): readonly (readonly [number, string])[] {
  const { lines, records, onSite } = report.counts;
  const waiting = lines.in_doubt + lines.pending + lines.held + lines.pending_delete;
  return [
    [report.last?.summary.seen ?? 0, 'seen in the feed'],
    [onSite, 'on the site'],
    [lines.rejected + lines.failed + lines.discarded, 'not taken'],
    [records.unreadable, 'unreadable'],
    [waiting, 'waiting'],
  ];
}

/** Why a posting is in its state, with the value at fault where it is not part of the reason. */
export function reasonText({ reason, problems }: ReportLine): string {
  const words = reason ?? '';
  const values = problems.flatMap(({ field, value }) =>
    value === undefined || value === '' || words.includes(value)
      ? []
      : [`${field ?? 'value'} is ${JSON.stringify(value)}`],
  );
  return values.length === 0 ? words : `${words} (${values.join(', ')})`;
}

export const fieldsOf = ({ problems }: ReportLine): string =>
  [...new Set(problems.flatMap(({ field }) => field ?? []))].join('; ');

/** How many lines a list leaves out, as a sentence; empty if none. */
export function omittedLines({ total, lines }: Section): string {
  const rest = total - lines.length;
  return rest === 0
    ? ''
    : `${rest} more ${rest === 1 ? 'is' : 'are'} not listed here; the CSV and JSON reports list all.`;
}

/** How many lines of a state there are, and for entries of records how many records. */
export function countText(state: LineState, { lines, records }: LineCounts): string {
  if (state !== 'unreadable' && state !== 'duplicate') return String(lines[state]);
  return records[state] === lines[state]
    ? String(lines[state])
    : `${records[state]} in ${plural(lines[state], 'entry', 'entries')}`;
}
