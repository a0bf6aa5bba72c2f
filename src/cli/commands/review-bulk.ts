// `jobmirror review retry`, `approve`, `discard` and `reopen`: one decision for many entries, or for all of a feed.
import { Command, InvalidArgumentError, Option } from 'commander';
import { decideNamed } from '../../operations/decisions.ts';
import { BULK_ACTIONS, type BulkAction } from '../../plan/action.ts';
import { asksToConfirm, effectOnState, mayBeRule, needsSeen, sendsAnything, summaryOf } from '../../plan/allowed.ts';
import { type Named, readNamed, whySelectionRefused } from '../../review/act-on-entries.ts';
import { type Seen, seenOf } from '../../review/seen.ts';
import type { App } from '../../runtime/app.ts';
import { type ExitStatus, UserError } from '../../runtime/stop-signal.ts';
import { ENTRY_KINDS, type EntryKind } from '../../store/backlog/open-counts.ts';
import type { ActedEntry } from '../../store/change/act-in-review.ts';
import { printNotice } from '../../telemetry/print.ts';
import {
  ACTOR,
  actorName,
  commandWriter,
  IF_VERSION_HELP,
  IF_VERSION_NEEDS_ONE_ENTRY,
  SEEN_HELP,
  type WriteCommand,
  wholeNumber,
} from '../adapter/command-line.ts';
import { printing, runWithin, withCommon } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import { say } from '../adapter/write-action.ts';
import { askAboutSelected, askToApprove, askToDiscard } from '../ask-first.ts';
import {
  ALSO_NEW_HELP,
  type DecisionOptions,
  type EntryFilter,
  filterOf,
  namedQueries,
  ofFeed,
  PRINTED_DECISIONS,
  startBulkCommand,
  withFilterOptions,
} from '../bulk-command.ts';
import { sendAndTell } from '../send-and-tell.ts';

interface BulkOptions extends DecisionOptions {
  readonly mark?: string;
  readonly kind?: readonly EntryKind[];
  readonly yes?: boolean;
  readonly reason?: string;
  readonly alsoNew?: boolean;
  /** False with `--no-send`; absent for actions that send nothing. */
  readonly send?: boolean;
}

/** One for each decision that needs nothing more. */
export const reviewDecisionCommands = (): Command[] => BULK_ACTIONS.map(decisionCommand);

/** Nothing is sent for records, so a decision about them is one that sends nothing. */
const DISCARDABLE = ENTRY_KINDS.filter((kind) => effectOnState('discard', kind) !== undefined);

function decisionCommand(action: BulkAction): Command {
  const command = printing(withFilterOptions(new Command(action)), ...PRINTED_DECISIONS)
    .description(summaryOf(action).many)
    .argument('[id or feed...]', 'entry numbers, or feed names for all matching entries of a feed')
    .option('--count <n>', COUNT_HELP[needsSeen(action) ? 'needsSeen' : 'others'], wholeNumber)
    .option('--seen <seen>', SEEN_HELP)
    .option('--if-version <version>', IF_VERSION_HELP)
    .option(...ACTOR);
  if (needsSeen(action)) command.option('--mark <mark>', 'a former name of --seen, for a selection');
  if (sendsAnything(action)) command.option('--no-send', 'leave the sending to a running worker or to the next sync');
  else command.addOption(kindOption());
  if (mayBeRule(action)) command.option('--also-new', ALSO_NEW_HELP);
  if (asksToConfirm(action) && !sendsAnything(action)) {
    command.option('--reason <text>', 'why, for the audit').option('--yes', 'do not ask');
  }
  return withCommon(command, 'print one JSON object per entry and feed').action(
    (names: string[], options: BulkOptions) =>
      withApp(options, async (app, signal) => {
        const filter = filterOf(options);
        process.exitCode =
          filter === undefined
            ? await actOnNamed(app, action, names, options)
            : await actOnSelected(app, action, { ...ofFeed(filter, names), kinds: kindsIn(options) }, options, signal);
      }),
  );
}

const kindsIn = ({ kind }: BulkOptions) => (kind === undefined ? undefined : [...kind]);

const kindOption = (): Option =>
  new Option(
    '--kind <kind>',
    `only entries of this kind, may be given several times (${DISCARDABLE.join(', ')})`,
  ).argParser((text: string, before: readonly EntryKind[] = []) => {
    const kind = DISCARDABLE.find((known) => known === text);
    if (kind === undefined) throw new InvalidArgumentError(`It must be one of ${DISCARDABLE.join(', ')}.`);
    return [...before, kind];
  });

const COUNT_HELP = {
  needsSeen:
    'only if exactly this many deletes are held in the named feeds, or are selected; without it, a terminal asks first, and a selection always',
  others: 'only if exactly this many entries are selected, with --group or another selection',
} as const;

/** Entries by number, or all of a feed. */
async function actOnNamed(
  app: App,
  action: BulkAction,
  names: readonly string[],
  options: BulkOptions,
): Promise<ExitStatus> {
  if (names.length === 0) throw new UserError('name entries or feeds, or select a group: --group GROUP');
  if (options.count !== undefined && !needsSeen(action))
    throw new UserError('--count needs a selection, such as --group GROUP');
  if (options.alsoNew === true) throw new UserError('--also-new needs a group: --group GROUP');
  const queries = (await namedQueries(app, names)).map((query) => ({ ...query, kinds: options.kind }));
  const write = commandWriter(options.config);
  const named = await readNamed(app.db, action, queries);
  // Nobody is asked about what can't be done.
  const refusal = await whySelectionRefused(app.db, app.config, named);
  if (refusal !== undefined) throw new UserError(say(refusal, write));
  const { reason, count, json = false, send = false } = options;
  const bound = seenOf({ ...options, version: options.ifVersion });
  if (options.ifVersion !== undefined && (named.numbers.length !== 1 || named.feeds.length > 0))
    throw new UserError(IF_VERSION_NEEDS_ONE_ENTRY);
  // A number binds the deletes of feeds only.
  const isBound = bound.tokens !== undefined || (count !== undefined && named.numbers.length === 0);
  const agreed = isBound || options.yes === true ? undefined : await askAbout(app, named, write);
  const seen = { count, tokens: agreed?.tokens ?? bound.tokens };
  const done = await runWithin(decideNamed, { action, queries, reason, seen }, app, options);
  const status = await sendAndTell(app, { action, ...done }, { json, send, write });
  if (action === 'discard') for (const line of afterDiscard(done.acted, write)) printNotice(line);
  return status;
}

async function askAbout(app: App, named: Named, write: WriteCommand): Promise<Seen | undefined> {
  if (!asksToConfirm(named.action)) return undefined;
  return sendsAnything(named.action) ? askToApprove(app, named, write) : askToDiscard(app, named, write);
}

/** Notices to print after a discard: its effect, and how to undo it. */
function afterDiscard(acted: readonly ActedEntry[], write: WriteCommand): string[] {
  const [first] = acted;
  if (first === undefined) return [];
  const meaning = acted.some(({ kind }) => kind === 'unreadable')
    ? [`Unreadable records: ${effectOnState('discard', 'unreadable')?.many}.`]
    : [];
  const command =
    acted.length === 1 ? write(['review', 'reopen', String(first.id)]) : write(['review', 'list', '--discarded']);
  return [...meaning, acted.length === 1 ? `To undo this: ${command}` : `To see them, and to undo this: ${command}`];
}

/** All entries of a group or another selection, in batches. */
async function actOnSelected(
  app: App,
  action: BulkAction,
  filter: EntryFilter,
  options: BulkOptions,
  signal: AbortSignal,
): Promise<ExitStatus> {
  if (options.ifVersion !== undefined) throw new UserError(IF_VERSION_NEEDS_ONE_ENTRY);
  const { reason, seen, mark, count, json = false, send = false } = options;
  const write = commandWriter(options.config);
  const isBound = [count, seen, mark].some((each) => each !== undefined);
  const asks = (action === 'approve' || (action === 'discard' && options.yes !== true)) && !isBound;
  const agreed = asks ? await askAboutSelected(app, action, filter, write) : undefined;
  const bound = { expected: count, seen: agreed?.seen ?? seen, mark };
  const request = { action, filter, reason, also_new: options.alsoNew, ...bound };
  return startBulkCommand(app, request, { json, send, write, signal, actor: actorName(options.as) });
}
