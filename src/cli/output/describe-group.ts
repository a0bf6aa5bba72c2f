// Formats one review group for people: its values, feeds, an example, and the commands that decide all of its entries.
import type { z } from 'zod';
import type { shownGroupOutput } from '../../operations/review.ts';
import { describeDecision } from '../../operations/rules.ts';
import { effectOn, needsSeen } from '../../plan/allowed.ts';
import { plural } from '../../plan/plural.ts';
import type { SelectedAction } from '../../store/review/bulk-actions.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import type { WriteCommand } from '../adapter/command-line.ts';

type Group = z.output<typeof shownGroupOutput>;

/** All of its entries are discarded. */
const isDiscarded = ({ waiting }: Group): boolean => waiting === 0;

const SHOWN_VALUES = 20;

export function describeGroup(group: Group, write: WriteCommand): string[] {
  const { kind, field, count, values, feeds, sites, example } = group;
  const state = isDiscarded(group) ? 'discarded' : group.trend;
  const others = !isDiscarded(group) && group.discarded > 0 ? `, and ${group.discarded} discarded` : '';
  const more = group.value_count - Math.min(values.length, SHOWN_VALUES);
  const said = [
    ...group.rules.map(
      (rule) => `Rule ${rule.rule} of ${rule.actor} for new entries: ${oneLine(describeDecision(rule), 200)}`,
    ),
    ...group.notes.map(
      ({ note, actor, at, text }) => `Note ${note} of ${actor}, ${formatTime(at)}: ${oneLine(text, 2_000)}`,
    ),
  ];
  return [
    `group ${group.group}: ${count} ${kind.replace('_', ' ')} (${state})${others}, since ${formatTime(group.first_seen)}, newest ${formatTime(group.last_seen)}`,
    `${field === null ? '' : `${field}: `}${group.message}`,
    `feeds: ${feeds.map(({ feed, count: n }) => `${feed} (${n})`).join(', ')}; sites: ${sites.map(({ site, count: n }) => `${site} (${n})`).join(', ') || 'none'}`,
    ...(values.length === 0
      ? []
      : [
          '',
          'Values:',
          ...values.slice(0, SHOWN_VALUES).map(({ value, count: n }) => `  ${n}  ${JSON.stringify(value)}`),
        ]),
    ...(more > 0 ? [`  … and ${more} more (--json)`] : []),
    '',
    `Example: entry ${example.id}${example.key === null ? '' : `, posting ${example.key}`} of feed ${example.feed}: ${example.reason}`,
    ...(said.length === 0 ? [] : ['', ...said]),
    '',
    'Possible:',
    ...groupCommands(group, write).map(([command, effect]) => `  ${command}   (${effect})`),
    ...group.offers.flatMap(({ action, left_alone }) =>
      left_alone.map(
        ({ message, count: n }) => `Not possible for ${plural(n, 'entry', 'entries')}: ${action}, as ${message}`,
      ),
    ),
  ];
}

/** The commands that can be run for the group now, and the effect of each. */
export function groupCommands(group: Group, write: WriteCommand): (readonly [command: string, effect: string])[] {
  const { group: id, kind, feeds, field } = group;
  const held = kind === 'held' ? feeds.map(({ feed }) => feed) : [];
  const review = ([verb = '', ...options]: readonly string[], bound: readonly string[], within = held) =>
    write(['review', verb, ...within, ...options, '--group', id, ...bound]);
  const first = group.in_question.map(
    (feed) =>
      [
        write(['feeds', 'rekey', feed]),
        'answers whether the keys of the feed have changed, before anything is decided',
      ] as const,
  );
  const list = isDiscarded(group) ? [] : [[review(['list'], []), 'lists the entries'] as const];
  const state = isDiscarded(group) ? 'discarded' : kind;
  const others = group.offers.flatMap(({ action, count, seen, by_feed }) => {
    // A value that is right for one feed may be wrong for another.
    if (action === 'edit' && by_feed.length > 1)
      return by_feed.flatMap(({ feed, count: n }) =>
        wordsFor(action, field ?? 'FIELD', effectOn(action, state)?.many ?? '').map(
          ([words, does]) => [review(words, ['--count', String(n)], [feed]), does] as const,
        ),
      );
    if (count === 0 || (needsSeen(action) && seen === null)) return [];
    const bound = ['--count', String(count), ...(needsSeen(action) && seen !== null ? ['--mark', seen] : [])];
    const effect = effectOn(action, state)?.many ?? '';
    return wordsFor(action, field ?? 'FIELD', effect).map(([words, does]) => [review(words, bound), does] as const);
  });
  return [...first, ...list, ...others];
}

/** The words of the commands without group, feed and count, and their effects. */
function wordsFor(
  action: SelectedAction,
  field: string,
  effect: string,
): (readonly [words: readonly string[], effect: string])[] {
  switch (action) {
    case 'edit':
      return [
        [['edit', '--set', `${field}=VALUE`], effect],
        [['edit', '--set-map', `${field}=FILE.csv`], 'replaces values by a table: old,new'],
      ];
    case 'check':
    case 'missing':
      return [[['settle', `--${action}`], effect]];
    default:
      return [[[action], effect]];
  }
}
