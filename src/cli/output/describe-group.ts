// Formats one review group for people: its values, feeds, an example, and the commands that decide all of its entries.
import { effectOn } from '../../plan/allowed.ts';
import { plural } from '../../plan/plural.ts';
import type { SelectionOffers } from '../../review/bulk/selection-offers.ts';
import type { ListedGroup } from '../../review/list-groups.ts';
import { describeDecision } from '../../review/read-model/rule.ts';
import { SELECTED_ACTIONS, type SelectedAction } from '../../store/review/bulk-actions.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import type { WriteCommand } from '../command-line.ts';
import { say } from '../write-action.ts';

export interface GroupContext {
  /** All of its entries are discarded. */
  readonly isDiscarded: boolean;
  /** How many entries are. */
  readonly discarded: number;
  readonly offers: SelectionOffers;
}

export function describeGroup(group: ListedGroup, context: GroupContext, write: WriteCommand): string[] {
  const { isDiscarded, discarded } = context;
  const {
    id,
    kind,
    field,
    message,
    count,
    firstSeen,
    lastSeen,
    trend,
    values,
    valueCount,
    feeds,
    sites,
    example,
    notes,
    rules,
  } = group;
  const state = isDiscarded ? 'discarded' : trend;
  const others = !isDiscarded && discarded > 0 ? `, and ${discarded} discarded` : '';
  const more = valueCount - values.length;
  return [
    `group ${id}: ${count} ${kind.replace('_', ' ')} (${state})${others}, since ${formatTime(firstSeen)}, newest ${formatTime(lastSeen)}`,
    `${field === undefined ? '' : `${field}: `}${message}`,
    `feeds: ${feeds.map(({ of, count: n }) => `${of} (${n})`).join(', ')}; sites: ${sites.map(({ of, count: n }) => `${of} (${n})`).join(', ') || 'none'}`,
    ...(values.length === 0
      ? []
      : ['', 'Values:', ...values.map(({ of, count: n }) => `  ${n}  ${JSON.stringify(of)}`)]),
    ...(more > 0 ? [`  … and ${more} more (--json)`] : []),
    '',
    `Example: entry ${example.id}${example.key === undefined ? '' : `, posting ${example.key}`} of feed ${example.feed}: ${say(example.reason, write)}`,
    ...(rules.length + notes.length === 0 ? [] : ['']),
    ...rules.map(
      (rule) =>
        `Rule ${rule.id} of ${rule.actor} for new entries: ${oneLine(describeDecision({ action: rule.action, edit: rule.detail.edit, reason: rule.detail.reason }), 200)}`,
    ),
    ...notes.map((note) => `Note ${note.id} of ${note.actor}, ${formatTime(note.at)}: ${oneLine(note.text, 2_000)}`),
    '',
    'Possible:',
    ...groupCommands(group, context, write).map(([command, effect]) => `  ${command}   (${effect})`),
    ...SELECTED_ACTIONS.flatMap((action) =>
      context.offers.of[action].barred.map(
        ({ why, entries: left }) => `Not possible for ${plural(sumOf(left), 'entry', 'entries')}: ${action}, as ${why}`,
      ),
    ),
  ];
}

const sumOf = (counts: readonly { readonly n: number }[]): number => counts.reduce((sum, { n }) => sum + n, 0);

/** The commands that can be run for the group now, and the effect of each. */
export function groupCommands(
  group: ListedGroup,
  { isDiscarded, offers }: Pick<GroupContext, 'isDiscarded' | 'offers'>,
  write: WriteCommand,
): (readonly [command: string, effect: string])[] {
  const { id, kind, feeds, field } = group;
  const within = kind === 'held' ? feeds.map(({ of }) => of) : [];
  const review = ([verb = '', ...options]: readonly string[], bound: readonly string[]) =>
    write(['review', verb, ...within, ...options, '--group', id, ...bound]);
  const first = offers.inQuestion.map(
    (feed) =>
      [
        write(['feeds', 'rekey', feed]),
        'answers whether the keys of the feed have changed, before anything is decided',
      ] as const,
  );
  const list = isDiscarded ? [] : [[review(['list'], []), 'lists the entries'] as const];
  const state = isDiscarded ? 'discarded' : kind;
  const others = ACTIONS.flatMap((action) => {
    const { count, mark } = offers.of[action];
    if (count === 0) return [];
    // What can't be undone is bound to exactly these.
    const binds = action === 'approve' || action === 'missing';
    if (binds && mark === undefined) return [];
    const bound = ['--count', String(count), ...(binds && mark !== undefined ? ['--mark', mark] : [])];
    const effect = effectOn(action, state)?.many ?? '';
    return wordsFor(action, field, effect).map(([words, does]) => [review(words, bound), does] as const);
  });
  return [...first, ...list, ...others];
}

const ACTIONS = ['edit', 'retry', 'approve', 'discard', 'reopen', 'check', 'missing'] as const;

/** The words of the commands without group, feed and count, and their effects. */
function wordsFor(
  action: SelectedAction,
  field: string | undefined,
  effect: string,
): (readonly [words: readonly string[], effect: string])[] {
  switch (action) {
    case 'edit':
      return [
        [['edit', '--set', `${field ?? 'FIELD'}=VALUE`], effect],
        [['edit', '--set-map', `${field ?? 'FIELD'}=FILE.csv`], 'replaces values by a table: old,new'],
      ];
    case 'check':
    case 'missing':
      return [[['settle', `--${action}`], effect]];
    default:
      return [[[action], effect]];
  }
}
