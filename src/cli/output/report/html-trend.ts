// The recent pulls of a feed as a table with bars, drawn with plain elements: pictures and scripts get lost in mail.
import { textOf } from '../../../plan/message.ts';
import type { TrendPull } from '../../../review/feed-report.ts';
import { cell, table, timeCell } from './html-table.ts';

const TITLES = [
  'pull',
  'started',
  'status',
  'seen',
  'created',
  'updated',
  'deleted',
  'rejected',
  'unreadable',
  '',
] as const;

const LEGEND = [
  ['ok', 'on the site'],
  ['wait', 'waiting'],
  ['bad', 'rejected or unreadable'],
  ['other', 'repeated or skipped'],
] as const;

export function trendHtml(trend: readonly TrendPull[]): string {
  if (trend.length === 0) return '';
  const most = Math.max(1, ...trend.map(({ open, seen }) => (open === undefined ? 0 : seen)));
  const legend = LEGEND.map(([kind, words]) => `<li><i class="${kind}"></i>${words}</li>`).join('');
  return `<section><h2>Recent pulls</h2><ul class="legend">${legend}</ul>${table(
    TITLES,
    trend.map((pull) => trendCells(pull, most)),
    'trend',
  )}</section>`;
}

function trendCells({ open, ...pull }: TrendPull, most: number): string[] {
  const count = (label: string, value: number | undefined) =>
    `<td data-label="${label}" class="n">${open === undefined ? '–' : (value ?? 0)}</td>`;
  const why = [...pull.notes, ...pull.shortfalls].map(textOf).join('; ');
  const status = pull.status.replace('_', ' ');
  return [
    cell('pull', String(pull.id)),
    timeCell('started', pull.startedAt),
    cell('status', open === undefined && why !== '' ? `${status}: ${why}` : status),
    count('seen', pull.seen),
    count('created', pull.created),
    count('updated', pull.updated),
    count('deleted', pull.deleted),
    count('rejected', open?.rejected),
    count('unreadable', pull.unreadable),
    `<td class="bar" aria-hidden="true">${open === undefined ? '' : bar(pull, open, most)}</td>`,
  ];
}

function bar(
  pull: Pick<TrendPull, 'unchanged' | 'created' | 'updated' | 'duplicates' | 'unreadable' | 'skipped'>,
  open: NonNullable<TrendPull['open']>,
  most: number,
): string {
  const parts = {
    ok: pull.unchanged + pull.created + pull.updated,
    wait: open.pending + open.in_doubt,
    bad: open.rejected + open.failed + pull.unreadable,
    other: pull.duplicates + pull.skipped,
  };
  return LEGEND.filter(([kind]) => parts[kind] > 0)
    .map(([kind]) => `<i class="${kind}" style="width:${((parts[kind] / most) * 100).toFixed(2)}%"></i>`)
    .join('');
}
