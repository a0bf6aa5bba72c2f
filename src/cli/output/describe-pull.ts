// Formats the result of a pull for people, with the commands to go on with.
import { plural } from '../../plan/message.ts';
import { mirroredNothing } from '../../plan/set-up-suspicion.ts';
import type { PostingKey } from '../../posting/identifiers.ts';
import { adviceOnHeld, canApprove, type HeldOffer } from '../../review/held-offer.ts';
import type { PullReport } from '../../runtime/conclude-pull.ts';
import type { PlannedChange, UnsentPosting } from '../../store/backlog/planned-changes.ts';
import { oneLine as singleLine } from '../../telemetry/print.ts';
import type { WriteCommand } from '../adapter/command-line.ts';
import { say, sayAll, writeAction } from '../adapter/write-action.ts';

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
  ['skipped', 'skipped'],
  ['expired', 'of them expired'],
] as const satisfies readonly (readonly [keyof PullReport, one: string, many?: string])[];

/**
 * The report for people: one line of counts, then what to know and do.
 * @param heldOffer what can be done about the held deletes of the feed now
 */
export function describePull(report: PullReport, write: WriteCommand, heldOffer?: HeldOffer): string {
  const lines = [describeCounts(report)];
  const whyCommand = (key: PostingKey) => writeAction({ kind: 'explain_posting', feed: report.feed, key }, write);
  const messages = [...report.shortfalls, ...report.notes];
  if (messages.length > 0) lines.push(`  ${sayAll(messages, write)}`);
  for (const warning of report.warnings) lines.push(`  warning: ${warning}`);
  if (report.weak !== undefined) lines.push(`  ${report.weak}`);
  if (report.status === 'incomplete') lines.push('  The feed is not proven complete, so nothing was deleted.');
  if (report.held > 0) {
    const wait = report.held === 1 ? '1 delete waits' : `${report.held} deletes wait`;
    const { feed } = report;
    lines.push(
      heldOffer === undefined
        ? `  ${wait}: ${writeAction({ kind: 'list_entries', feed, entryKind: 'held' }, write)}`
        : heldOffer.inQuestion
          ? `  ${wait} until somebody answers whether the keys have changed: ${writeAction({ kind: 'rekey_feed', feed }, write)}`
          : canApprove(heldOffer)
            ? `  ${wait} for approval: ${writeAction({ kind: 'approve_held', feed, count: heldOffer.approvable }, write)}`
            : `  ${wait}: ${adviceOnHeld(heldOffer).words}`,
    );
  }
  if (report.review > 0) {
    const wait = report.review === 1 ? '1 entry waits' : `${report.review} entries wait`;
    lines.push(`  ${wait} for review: ${write(['review', 'list', report.feed])}`);
  }
  if (report.cleaned_example !== undefined) {
    const had = report.cleaned === 1 ? '1 posting has' : `${report.cleaned} postings have`;
    const see = whyCommand(report.cleaned_example);
    lines.push(`  ${had} characters that XML can't carry; they are left out: ${see}`);
  }
  if (report.repaired_example !== undefined) {
    const had = report.repaired === 1 ? 'The record of 1 posting is' : `The records of ${report.repaired} postings are`;
    const were = report.repaired === 1 ? 'it was' : 'they were';
    lines.push(`  ${had} not well-formed; ${were} repaired: ${whyCommand(report.repaired_example)}`);
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
  if (report.paused === true && status !== 'incomplete') {
    return report.pull === null ? 'paused, not pulled' : status === 'pending' ? 'paused, not all sent' : 'paused';
  }
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

// Formats a planned change for people, field by field.

/** The first character of a line, as in a diff. */
export const CHANGE_SIGNS = { create: '+', update: '~', delete: '-' } as const;

/** A posting or record that is not sent, with every reason. For an unreadable record, also its beginning. */
export function describeUnsent(unsent: UnsentPosting, write: WriteCommand): string {
  const { feed, key, kind, problems, excerpt } = unsent;
  const reason = say(unsent.reason, write);
  const lines = [
    `! ${kind} ${feed} ${key === null ? '(no usable key)' : singleLine(key, 200)}: ${singleLine(reason, 500)}`,
  ];
  for (const { field, value } of problems) {
    if (field !== undefined && value !== undefined)
      lines.push(`    ${field}: ${JSON.stringify(singleLine(value, 100))}`);
  }
  if (excerpt !== undefined && excerpt !== '') lines.push(`    ${singleLine(excerpt, 100)}`);
  return lines.join('\n');
}

const SHOWN_CHARACTERS = 100;
/** Unchanged characters shown before the first difference. */
const CONTEXT_CHARACTERS = 30;

export function describeChange(change: PlannedChange, write: WriteCommand): string {
  const held = change.held === true ? ' (held for approval)' : '';
  const lines = [`${CHANGE_SIGNS[change.operation]} ${change.operation} ${change.feed} ${change.key}${held}`];
  if (change.reason !== undefined) lines.push(`    reason: ${singleLine(say(change.reason, write), 500)}`);
  if (change.operation === 'delete') return lines.join('\n');
  for (const [name, { from, to }] of Object.entries(change.fields)) {
    lines.push(from === null ? `    ${name}: ${excerpt(oneLine(to), 0)}` : `    ${name}: ${difference(from, to)}`);
  }
  return lines.join('\n');
}

/** Writes both texts on one line. If they are too long, starts shortly before their first difference. */
export function difference(from: string, to: string | null): string {
  const [before, after] = [oneLine(from), oneLine(to)];
  const fits = Math.max(before.length, after.length) <= SHOWN_CHARACTERS;
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const start = fits || same <= CONTEXT_CHARACTERS ? 0 : same - CONTEXT_CHARACTERS;
  return `${excerpt(before, start)} → ${excerpt(after, start)}`;
}

const oneLine = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ');

function excerpt(line: string, start: number): string {
  const end = start + SHOWN_CHARACTERS;
  return JSON.stringify(`${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`);
}
