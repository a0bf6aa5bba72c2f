// Formats a create in doubt beside the jobs that it may have made, field by field, and the commands that decide it.
import { fieldOf } from '../../plan/same-value.ts';
import type { DoubtCandidate, ShownCandidate, ShownDoubt } from '../../review/compare-doubt.ts';
import { describeAbsent, LIKENESS_WORDS, NONE_KNOWN, OWNED_WORDS } from '../../review/read-model/doubt.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import type { WriteCommand } from '../adapter/command-line.ts';
import { formatTable } from './table.ts';

const LONGEST_VALUE = 80;

export function describeComparedDoubt(
  { change, version, sent, startedAt, candidateIds }: ShownDoubt,
  candidates: readonly DoubtCandidate[],
  write: WriteCommand,
): string[] {
  const shown = candidates.filter((candidate) => candidate.kind === 'shown');
  const known = candidateIds.map((id) => `job ${id}`).join(', ');
  const resolve = (...words: readonly string[]) =>
    write(['review', 'settle', String(change.id), ...words, '--if-version', version]);
  return [
    `entry ${change.id}: posting ${change.key} of feed ${change.feed}, site ${change.site}, sent at ${formatTime(startedAt)}`,
    candidateIds.length === 0 ? NONE_KNOWN : `Jobs that it may have made: ${known}.`,
    ...candidates.flatMap((candidate) => (candidate.kind === 'shown' ? [] : [describeAbsent(candidate)])),
    ...(shown.length === 0 ? [] : ['', ...sideBySide(sent, shown)]),
    '',
    'Possible:',
    ...shown.map(({ siteJobId }) => `  ${resolve('--exists', siteJobId)}   (the site made this job)`),
    `  ${resolve('--missing')}   (the site made no job: send it again)`,
  ];
}

/** A value that differs from the sent one is marked. */
function sideBySide(sent: ShownDoubt['sent'], shown: readonly ShownCandidate[]): string[] {
  const names = [...new Set([...Object.keys(sent), ...shown.flatMap(({ fields }) => Object.keys(fields))])];
  const columns = ['FIELD', 'SENT', ...shown.map(({ siteJobId }) => `JOB ${siteJobId}`)];
  const fact = (title: string, of: (candidate: ShownCandidate) => string) => [title, '', ...shown.map(of)];
  const rows = [
    fact('(compared)', ({ likeness, owned }) => `${LIKENESS_WORDS[likeness]}${owned ? `. ${OWNED_WORDS}` : ''}`),
    fact('(url)', ({ url }) => url ?? '-'),
    ...names.map((name) => [
      name,
      written(fieldOf(sent, name)),
      ...shown.map(({ fields, differing }) => `${differing.has(name) ? '≠ ' : ''}${written(fieldOf(fields, name))}`),
    ]),
  ];
  return formatTable(
    columns.map((title) => ({ title })),
    rows,
  );
}

const written = (value: string | undefined): string => (value === undefined ? '-' : oneLine(value, LONGEST_VALUE));
