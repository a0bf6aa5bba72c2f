// `jobmirror review list`: everything that needs a person, and the command that approves held deletes.
import { Command, Option } from 'commander';
import { notesOnRestore } from '../../operations/status.ts';
import type { Message } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { escalates } from '../../review/escalation.ts';
import { adviceOnHeld, type HeldOffer, readHeldOffers } from '../../review/held-offer.ts';
import { listedEntryJson } from '../../review/read-model/entry.ts';
import type { App } from '../../runtime/app.ts';
import { isCut } from '../../store/review/entry-query.ts';
import { countFound } from '../../store/review/found-entries.ts';
import {
  countEntries,
  ENTRY_KINDS,
  type EntryFilter,
  type EntryKind,
  type HeldGroup,
  heldGroups,
  type ReviewEntry,
  reviewEntries,
} from '../../store/review/review-entries.ts';
import { foldReviewCounts } from '../../store/review/review-totals.ts';
import { oneLine, printJson, printLine, printLines } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { commandWriter, type WriteCommand } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { type Narrowing, narrowed, narrowing } from '../narrow-entries.ts';
import { positiveNumber } from '../option-values.ts';
import { formatTable } from '../output/table.ts';
import { withApp } from '../with-app.ts';
import { actionWriter, adviceLine, say } from '../write-action.ts';

interface ListOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly kind?: EntryKind;
  readonly limit?: number;
  readonly discarded?: boolean;
}

type Options = ListOptions & Narrowing;

const SHOWN_ENTRIES = 100;

export function reviewListCommand(): Command {
  return narrowing(new Command('list'))
    .description('list what was rejected, failed, is held or in doubt, or could not be read')
    .argument('[feed]', 'only of this feed')
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(ENTRY_KINDS))
    .option('--discarded', 'list discarded entries instead of those that wait')
    .option('--limit <n>', `entries at most (default: ${SHOWN_ENTRIES}; with --json all)`, positiveNumber)
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object per entry')
    .action((name: string | undefined, options: Options) =>
      withApp(options, async (app) => {
        const feed = name === undefined ? undefined : await knownFeed(app.db, app.config, name);
        const kinds = options.kind === undefined ? ENTRY_KINDS : [options.kind];
        const within = narrowed(app.config, options);
        await foldReviewCounts(app.db);
        const filter = {
          feed,
          kinds,
          discarded: options.discarded === true,
          ...(within === undefined ? {} : { within }),
        };
        if (options.json === true) return printEntries(app, filter, options);
        return printTables(app, filter, options);
      }),
    );
}

async function printEntries({ db, config }: App, filter: EntryFilter, options: ListOptions): Promise<void> {
  const write = actionWriter(commandWriter(options.config));
  const discarded = filter.discarded === true;
  for await (const entry of reviewEntries(db, filter, options.limit)) {
    const escalated = !discarded && escalates(entry, config);
    await printJson(listedEntryJson(entry, { escalated, discarded }, write));
  }
}

/** Groups held deletes at the end, as one decision covers them all, unless `--kind held` asks for them one by one. */
async function printTables({ db, config }: App, filter: EntryFilter, options: ListOptions): Promise<void> {
  const write = commandWriter(options.config);
  const discarded = filter.discarded === true;
  const together = options.kind === undefined && !discarded && filter.within === undefined;
  const groups =
    together || (options.kind === 'held' && filter.within === undefined && !discarded)
      ? await heldGroups(db, filter.feed)
      : [];
  const listed = { ...filter, kinds: together ? filter.kinds.filter((kind) => kind !== 'held') : filter.kinds };
  const entries: ReviewEntry[] = [];
  for await (const entry of reviewEntries(db, listed, options.limit ?? SHOWN_ENTRIES)) entries.push(entry);
  const total = [...(await countEntries(db, listed)).values()].reduce((sum, count) => sum + count, 0);
  const restored = together ? await notesOnRestore({ db, config }) : new Map<FeedName, Message>();
  const notes = [...restored].flatMap(([feed, note]) =>
    filter.feed === undefined || filter.feed === feed ? note : [],
  );
  if (notes.length > 0) await printLines([...notes.map((note) => say(note, write)), '']);
  if (entries.length === 0 && groups.length === 0) {
    if (notes.length > 0) return undefined;
    return printLine(
      filter.within !== undefined
        ? 'No entry matches.'
        : discarded
          ? 'Nothing is discarded.'
          : 'Nothing needs a person.',
    );
  }
  if (entries.length > 0) {
    await printLines(
      formatTable(
        COLUMNS,
        entries.map((entry) => rowOf(entry, !discarded && escalates(entry, config), write)),
      ),
    );
    const more = isCut(filter.within ?? {}, total) ? 'many' : total - entries.length;
    if (total > entries.length) await printLine(`… and ${more} more (--limit, --kind, --json)`);
    await printLine(`\nTo see one entry and what can be done about it: ${write(['review', 'show', 'ID'])}`);
    if (discarded)
      await printLine(
        `To put an entry, or all entries of a feed, back into review: ${write(['review', 'reopen', 'ID'])}`,
      );
  }
  const found =
    !discarded && filter.within === undefined && listed.kinds.includes('in_doubt')
      ? await countFound(db, filter.feed)
      : [];
  for (const { feed, n } of found) {
    await printLine(
      `${plural(n, 'job')} found on the site for feed ${feed}; to adopt those that are certain: ` +
        write(['review', 'settle', feed, '--found']),
    );
  }
  const offers = groups.length === 0 ? new Map<FeedName, HeldOffer>() : await readHeldOffers(db, config);
  for (const group of groups) {
    const mark = escalates({ kind: 'held', ...group }, config) ? 'ESCALATED: ' : '';
    await printLines(['', ...describeGroup(group, { mark, offer: offers.get(group.feed) }, write)]);
  }
}

const COLUMNS = [
  { title: 'ID', align: 'right' },
  { title: 'FEED' },
  { title: 'KEY' },
  { title: 'KIND' },
  { title: 'SINCE' },
  { title: 'AGE', align: 'right' },
  { title: 'REASON' },
] as const;

const KIND_WORDS: Readonly<Record<EntryKind, string>> = {
  in_doubt: 'in doubt',
  failed: 'failed',
  rejected: 'rejected',
  unreadable: 'unreadable',
  duplicate: 'duplicate',
  held: 'held',
};

const rowOf = (entry: ReviewEntry, escalated: boolean, write: WriteCommand): string[] => [
  String(entry.id),
  entry.feed,
  entry.key === undefined ? '-' : oneLine(entry.key, 40),
  KIND_WORDS[entry.kind],
  formatTime(entry.since),
  formatSpan(entry.ageMs),
  `${escalated ? 'ESCALATED: ' : ''}${oneLine(say(entry.reason, write))}`,
];

/** The held deletes of a feed, the reason, and the commands that decide them. */
function describeGroup(
  group: HeldGroup,
  { mark, offer }: { readonly mark: string; readonly offer: HeldOffer | undefined },
  write: WriteCommand,
): string[] {
  const { feed, count, since, ageMs, reason } = group;
  const deletes = count === 1 ? '1 delete is' : `${count} deletes are`;
  return [
    `${mark}${feed}: ${deletes} held, since ${formatTime(since)} (${formatSpan(ageMs)}): ${say(reason, write)}`,
    `  see them:          ${write(['review', 'list', feed, '--kind', 'held'])}`,
    ...(offer === undefined ? [] : [adviceLine(adviceOnHeld(offer), write)]),
    ...(offer?.inQuestion === false ? [`  keep one of them:  ${write(['review', 'discard', 'ID'])}`] : []),
  ];
}
