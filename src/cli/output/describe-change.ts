// Formats a planned change for people, field by field.
import type { PlannedChange, UnsentPosting } from '../../store/backlog/planned-changes.ts';
import { oneLine as singleLine } from '../../telemetry/print.ts';
import type { WriteCommand } from '../adapter/command-line.ts';
import { say } from '../adapter/write-action.ts';

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
