// Formats one review group for people: its values, feeds, an example, and the commands that decide all of its entries.
import type { FeedName } from '../../posting/identifiers.ts';
import type { ListedGroup } from '../../review/list-groups.ts';
import { describeDecision } from '../../review/read-model/rule.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import type { WriteCommand } from '../command-line.ts';
import { say } from '../write-action.ts';

export interface GroupContext {
  /** All of its entries are discarded. */
  readonly isDiscarded: boolean;
  /** How many entries are. */
  readonly discarded: number;
  /** Of held deletes and creates in doubt: it binds what can't be undone to exactly these. */
  readonly mark: string | undefined;
  /** Feeds with deletes among them that wait until somebody has answered whether the keys have changed. */
  readonly inQuestion: readonly FeedName[];
}

export function describeGroup(
  group: ListedGroup,
  { isDiscarded, discarded, mark, inQuestion }: GroupContext,
  write: WriteCommand,
): string[] {
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
    ...inQuestion.map(
      (feed) =>
        `  ${write(['feeds', 'rekey', feed])}   (answers whether the keys of the feed have changed, before anything is decided)`,
    ),
    ...commandsFor(group, { isDiscarded, isAsked: inQuestion.length > 0 }).map(
      ([words, effect]) => `  ${write(['review', ...wordsWithin(group, words, mark)])}   (${effect})`,
    ),
  ];
}

/** A command for the group acts only on as many entries as are shown, and what can't be undone only on exactly these. */
function wordsWithin(
  { id, kind, count, feeds }: ListedGroup,
  [verb, ...options]: readonly string[],
  mark: string | undefined,
): string[] {
  const feed = kind === 'held' ? feeds.map(({ of }) => of) : [];
  const seen = verb === 'list' ? [] : ['--count', String(count)];
  const binds = verb === 'approve' || options.includes('--missing');
  const same = binds && mark !== undefined ? ['--mark', mark] : [];
  return [verb ?? '', ...feed, ...options, '--group', id, ...seen, ...same];
}

/** The words of each command without group, feed and count, and its effect. */
function commandsFor(
  { kind, field }: ListedGroup,
  { isDiscarded, isAsked }: { readonly isDiscarded: boolean; readonly isAsked: boolean },
): (readonly [readonly string[], string])[] {
  if (isDiscarded) return [[['reopen'], 'returns them to review']];
  const list = [['list'], 'lists the entries'] as const;
  if (isAsked) return [list];
  const discard = (effect: string) => [['discard'], effect] as const;
  switch (kind) {
    case 'rejected':
    case 'failed':
      return [
        list,
        [
          ['edit', '--set', `${field ?? 'FIELD'}=VALUE`],
          'sets a field of all until the source changes it, and sends them',
        ],
        [['edit', '--set-map', `${field ?? 'FIELD'}=FILE.csv`], 'replaces values by a table: old,new'],
        [['retry'], 'sends them again as they are'],
        discard('leaves them as they are until their postings change'),
      ];
    case 'held':
      return [
        list,
        [['approve'], 'deletes the jobs'],
        discard('keeps the jobs on the site until their postings come back'),
      ];
    case 'in_doubt':
      return [
        list,
        [['settle', '--check'], 'has the list of the site read again for them'],
        [['settle', '--missing'], 'the site has made none of these jobs: sends them again'],
      ];
    case 'unreadable':
    case 'duplicate':
      return [list, discard('sets the records aside')];
    default:
      return kind satisfies never;
  }
}
