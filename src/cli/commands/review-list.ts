// `jobmirror review list`: everything that needs a person, and the command that approves held deletes.
import type { Command } from 'commander';
import type { z } from 'zod';
import {
  entryQuery,
  type groupOutput,
  type listedEntryOutput,
  listReview,
  listReviewGroups,
} from '../../operations/review.ts';
import { notesOnRestore } from '../../operations/status.ts';
import { type Message, plural } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { needsAnotherAlert } from '../../review/health/alert-conditions.ts';
import { adviceOnHeld, type HeldOffer, readHeldOffers } from '../../review/held-offer.ts';
import { groupTitle, listGroupsWithTotals, namesWithCounts, TREND_WORDS } from '../../review/list-groups.ts';
import type { App } from '../../runtime/app.ts';
import { ENTRY_KINDS } from '../../store/backlog/open-counts.ts';
import { countFound, isCountCut, MOST_FOUND } from '../../store/review/found-entries.ts';
import { countEntries, type HeldGroup, heldGroups } from '../../store/review/review-entries.ts';
import { foldReviewCounts } from '../../store/review/review-totals.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import type { WriteCommand } from '../adapter/command-line.ts';
import { listCommand } from '../adapter/operation-command.ts';
import { adviceLine, say } from '../adapter/write-action.ts';
import { FILTER_FORM, filterOf } from '../bulk-command.ts';
import { formatRows, type RowColumn } from '../output/table.ts';

type Input = z.output<typeof listReview.input>;

const WITHOUT_HELD = ENTRY_KINDS.filter((kind) => kind !== 'held');

export const reviewListCommand = (): Command =>
  listCommand(listReview, {
    name: 'list',
    description: 'list what was rejected, failed, is held or in doubt, or could not be read',
    arguments: ['feed'],
    flags: FILTER_FORM.flags,
    help: {
      ...FILTER_FORM.help,
      kind: 'only of this kind, may be given several times',
      discarded: 'list discarded entries instead of those that wait',
    },
    noun: 'entries',
    shown: 100,
    allAsJson: true,
    // Held deletes are told at the end, as one decision covers them all, unless they are asked for.
    forPeople: (input) => (isWhole(input) && input.kind === undefined ? { ...input, kind: WITHOUT_HELD } : input),
    async view({ items }, { app, write, input, options }) {
      const isNarrowed = filterOf(options) !== undefined;
      const notes = isWhole(input) && input.kind === undefined ? await restoreNotes(app, input) : [];
      const groups = isWhole(input) && (input.kind ?? ['held']).includes('held') ? await heldOf(app, input) : [];
      const told = notes.length === 0 ? [] : [...notes.map((note) => say(note, write)), ''];
      if (items.length === 0 && groups.length === 0) return notes.length > 0 ? told : [nothing(input, isNarrowed)];
      const listed = isWhole(input) && input.kind === undefined ? { ...input, kind: WITHOUT_HELD } : input;
      return [
        ...told,
        ...(items.length === 0 ? [] : await table(app, items, listed, write)),
        ...(isWhole(input) && (input.kind ?? ['in_doubt']).includes('in_doubt')
          ? await foundLines(app, input, write)
          : []),
        ...(await heldLines(app, groups, write)),
      ];
    },
  });

/** Everything that waits, of all feeds or of one. */
const isWhole = ({ site, group, q, older_than, newer_than, discarded }: Input): boolean =>
  [site, group, q, older_than, newer_than].every((part) => part === undefined) && discarded !== true;

const feedOf = ({ feed }: Input) => feed as FeedName | undefined;

function nothing({ discarded }: Input, isNarrowed: boolean): string {
  if (isNarrowed) return 'No entry matches.';
  return discarded === true ? 'Nothing is discarded.' : 'Nothing needs a person.';
}

async function restoreNotes(app: App, { feed }: Input): Promise<readonly Message[]> {
  const notes = await notesOnRestore(app);
  return [...notes].flatMap(([of, note]) => (feed === undefined || feed === of ? note : []));
}

type Entry = z.output<typeof listedEntryOutput>;

async function table(app: App, items: readonly Entry[], listed: Input, write: WriteCommand): Promise<string[]> {
  const query = await entryQuery(app, listed);
  const total = [...(await countEntries(app.db, query)).values()].reduce((sum, count) => sum + count, 0);
  const more = isCountCut(query, total) ? 'many' : total - items.length;
  return [
    ...formatRows(COLUMNS, items),
    ...(total > items.length ? [`… and ${more} more (--limit, --kind, --json)`] : []),
    '',
    `To see one entry and what can be done about it: ${write(['review', 'show', 'ID'])}`,
    ...(listed.discarded === true
      ? [`To put an entry, or all entries of a feed, back into review: ${write(['review', 'reopen', 'ID'])}`]
      : []),
  ];
}

const COLUMNS: readonly RowColumn<Entry>[] = [
  { title: 'ID', align: 'right', cell: ({ id }) => String(id) },
  { title: 'FEED', cell: ({ feed }) => feed },
  { title: 'KEY', cell: ({ key }) => (key === null ? '-' : oneLine(key, 40)) },
  { title: 'KIND', cell: ({ kind }) => kind.replace('_', ' ') },
  { title: 'SINCE', cell: ({ since }) => formatTime(since) },
  { title: 'AGE', align: 'right', cell: (entry) => formatSpan(entry.age_seconds * 1000) },
  { title: 'REASON', cell: ({ escalated, reason }) => `${escalated ? 'ESCALATED: ' : ''}${oneLine(reason)}` },
];

async function foundLines({ db }: App, input: Input, write: WriteCommand): Promise<string[]> {
  return (await countFound(db, feedOf(input))).map(
    ({ feed, n }) =>
      `${plural(n, 'job')} found on the site for feed ${feed}; to adopt those that are certain: ` +
      write(['review', 'settle', feed, '--found']),
  );
}

async function heldOf({ db }: App, input: Input): Promise<readonly HeldGroup[]> {
  await foldReviewCounts(db);
  return heldGroups(db, feedOf(input));
}

/** The held deletes of each feed, the reason, and the commands that decide them. */
async function heldLines({ db, config }: App, groups: readonly HeldGroup[], write: WriteCommand): Promise<string[]> {
  const offers = groups.length === 0 ? new Map<FeedName, HeldOffer>() : await readHeldOffers(db, config);
  return groups.flatMap((group) => {
    const { feed, count, since, ageMs, reason } = group;
    const offer = offers.get(feed);
    const mark = needsAnotherAlert({ kind: 'held', ...group }, config) ? 'ESCALATED: ' : '';
    const deletes = count === 1 ? '1 delete is' : `${count} deletes are`;
    return [
      '',
      `${mark}${feed}: ${deletes} held, since ${formatTime(since)} (${formatSpan(ageMs)}): ${say(reason, write)}`,
      `  see them:     ${write(['review', 'list', feed, '--kind', 'held'])}`,
      ...(offer === undefined ? [] : [adviceLine(adviceOnHeld(offer), write)]),
      ...(offer?.inQuestion === false ? [`  keep one:     ${write(['review', 'discard', 'ID'])}`] : []),
    ];
  });
}

// `jobmirror review groups`: what needs a person, grouped by what was said about it.

export const reviewGroupsCommand = (): Command =>
  listCommand(listReviewGroups, {
    name: 'groups',
    description: 'list what needs a person, grouped by kind, field and message, the largest first',
    arguments: ['feed'],
    flags: FILTER_FORM.flags,
    help: {
      ...FILTER_FORM.help,
      kind: 'only of this kind, may be given several times',
      discarded: 'group discarded entries instead of those that wait',
    },
    noun: 'groups',
    shown: 50,
    allAsJson: true,
    async view({ items }, { app, write, input }) {
      const [first] = items;
      if (first === undefined) return [NOTHING[input.discarded === true ? 'discarded' : 'waiting']];
      const query = await entryQuery(app, input);
      const { totals } = await listGroupsWithTotals(app.db, query, { groups: 1, values: 1 });
      const more = totals.groups - items.length;
      return [
        ...formatRows(GROUP_COLUMNS, items),
        ...(totals.cut
          ? [`More than ${MOST_FOUND} entries match. The numbers are of the first ${MOST_FOUND} that were found.`]
          : []),
        ...(more > 0 ? [`… and ${plural(more, 'group')} more (--limit, --json)`] : []),
        '',
        `To see one group and what can be done about it: ${write(['review', 'show', '--group', first.group])}`,
      ];
    },
  });

const NOTHING = { discarded: 'Nothing that matches is discarded.', waiting: 'Nothing that matches needs a person.' };

type Group = z.output<typeof groupOutput>;

const titleOf = (group: Group): string =>
  groupTitle({ ...group, values: group.values.map(({ value }) => value), valueCount: group.value_count });

const GROUP_COLUMNS: readonly RowColumn<Group>[] = [
  { title: 'GROUP', cell: ({ group }) => group },
  { title: 'COUNT', align: 'right', cell: ({ count }) => String(count) },
  { title: 'KIND', cell: ({ kind }) => kind.replace('_', ' ') },
  { title: 'TREND', cell: ({ trend }) => TREND_WORDS[trend] },
  { title: 'FIRST SEEN', cell: (group) => formatTime(group.first_seen) },
  { title: 'LAST SEEN', cell: (group) => formatTime(group.last_seen) },
  { title: 'FEED', cell: ({ feeds }) => namesWithCounts(feeds.map(({ feed: of, count }) => ({ of, count }))) },
  { title: 'RULE', align: 'right', cell: ({ rules }) => rules.map(({ rule }) => rule).join(', ') || '-' },
  { title: 'NOTES', align: 'right', cell: ({ notes }) => (notes.length === 0 ? '-' : String(notes.length)) },
  { title: 'MESSAGE', cell: (group) => oneLine(titleOf(group), 200) },
];
