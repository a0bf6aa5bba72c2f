// `jobmirror review retry`, `approve`, `discard` and `reopen`: one decision for many entries, or for all of a feed.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { BulkAction } from '../../plan/action.ts';
import { effectOn } from '../../plan/allowed.ts';
import { actOnEntries, whyNotAtAll } from '../../review/act-on-entries.ts';
import { selectEntries } from '../../review/select-entries.ts';
import type { App } from '../../runtime/app.ts';
import { type ExitStatus, UserError } from '../../runtime/exit-status.ts';
import type { EntryQuery } from '../../store/review/entry-query.ts';
import { ENTRY_KINDS, type EntryKind } from '../../store/review/review-entries.ts';
import type { SelectedCount } from '../../store/review/selected-counts.ts';
import { printNotice } from '../../telemetry/print.ts';
import { actorName } from '../actor.ts';
import { askAboutSelected } from '../ask-about-selected.ts';
import { askToApprove } from '../ask-to-approve.ts';
import { afterDiscard, askToDiscard } from '../ask-to-discard.ts';
import { commandWriter } from '../command-line.ts';
import { type Narrowing, narrowed, narrowing, ofFeed } from '../narrow-entries.ts';
import { IF_VERSION, NOT_ONE, wholeNumber } from '../option-values.ts';
import { ALSO_NEW, startBulkCommand } from '../run-bulk-command.ts';
import { sendAndTell } from '../send-and-tell.ts';
import { withApp } from '../with-app.ts';
import { say } from '../write-action.ts';

interface BulkOptions extends Narrowing {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly count?: number;
  readonly mark?: string;
  readonly ifVersion?: string;
  readonly kind?: readonly EntryKind[];
  readonly yes?: boolean;
  readonly reason?: string;
  readonly alsoNew?: boolean;
  /** False with `--no-send`; absent for actions that send nothing. */
  readonly send?: boolean;
}

export const reviewRetryCommand = (): Command =>
  sending(bulkCommand('retry', 'send again what was rejected or failed')).option('--also-new', ALSO_NEW);

export const reviewApproveCommand = (): Command =>
  sending(bulkCommand('approve', 'delete what is held for approval')).option(
    '--mark <mark>',
    'only if exactly those deletes are selected that review show --group printed with this mark',
  );

export const reviewDiscardCommand = (): Command =>
  byKind(
    bulkCommand(
      'discard',
      'discard entries: rejected and failed postings are not sent until they change, held jobs stay live; asks first if it covers several entries of a feed, or several kinds',
    ),
  )
    .option('--reason <text>', 'why, for the audit')
    .option('--also-new', ALSO_NEW)
    .option('--yes', 'do not ask');

export const reviewReopenCommand = (): Command =>
  byKind(bulkCommand('reopen', 'put discarded entries back into review'));

const DISCARDABLE = ENTRY_KINDS.filter((kind) => effectOn('discard', kind) !== undefined);

const byKind = (command: Command): Command =>
  command.addOption(
    new Option(
      '--kind <kind>',
      `only entries of this kind, may be given several times (${DISCARDABLE.join(', ')})`,
    ).argParser((kind: string, before: readonly EntryKind[] = []) => [...before, discardableKind(kind)]),
  );

function discardableKind(text: string): EntryKind {
  const kind = DISCARDABLE.find((known) => known === text);
  if (kind === undefined) throw new InvalidArgumentError(`It must be one of ${DISCARDABLE.join(', ')}.`);
  return kind;
}

const sending = (command: Command): Command =>
  command.option('--no-send', 'leave the sending to a running worker or to the next sync');

function bulkCommand(action: BulkAction, description: string): Command {
  return narrowing(new Command(action))
    .description(description)
    .argument('[id or feed...]', 'entry numbers, or feed names for all matching entries of a feed')
    .option('--count <n>', COUNT_HELP[action === 'approve' ? 'approve' : 'others'], wholeNumber)
    .option('--if-version <version>', IF_VERSION)
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object per entry and feed')
    .action((names: string[], options: BulkOptions) =>
      withApp(options, async (app, signal) => {
        const within = narrowed(app.config, options);
        process.exitCode =
          within === undefined
            ? await actOnNamed(app, action, names, options)
            : await actOnSelected(app, action, await ofFeed(app, within, names), options, signal);
      }),
    );
}

const COUNT_HELP = {
  approve:
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
  if (options.count !== undefined && action !== 'approve') {
    throw new UserError('--count needs a selection, such as --group GROUP');
  }
  if (options.alsoNew === true) throw new UserError('--also-new needs a group: --group GROUP');
  if (options.mark !== undefined) throw new UserError('--mark needs a selection, such as --group GROUP');
  const selected = await selectEntries(app.db, app.config, names);
  if (selected.kind === 'unknown') throw new UserError(selected.message);
  const selection = { ...selected.selection, ...(options.kind === undefined ? {} : { kinds: options.kind }) };
  const write = commandWriter(options.config);
  const refusal = await whyNotAtAll(app.db, app.config, action, selection);
  if (refusal !== undefined) throw new UserError(say(refusal, write));
  const only = selection.ids.length === 1 && selection.feeds.length === 0;
  if (options.ifVersion !== undefined && !only) throw new UserError(NOT_ONE);
  // A number binds the deletes of feeds, a version that of an entry.
  const toApprove = {
    feeds: options.count === undefined ? selection.feeds : [],
    ids: options.ifVersion === undefined ? selection.ids : [],
  };
  const asked = {
    ...(action === 'discard' ? await askToDiscard(app.db, selection, options.yes === true, write) : {}),
    ...(action === 'approve' ? await askToApprove(app, toApprove, write) : {}),
  };
  const actor = actorName(options.as);
  const { reason, ifVersion: version } = options;
  const bound = {
    expectHeld: options.count,
    version,
    ...asked,
  };
  const report = await actOnEntries(app.db, app.config, action, selection, { actor, reason, ...bound });
  if (report.kind === 'refused') throw new UserError(say(report.message, write));
  const send = options.send === true;
  const status = await sendAndTell(app, { action, ...report }, { json: options.json === true, send, write });
  if (action === 'discard') for (const line of afterDiscard(report.acted, write)) printNotice(line);
  return status;
}

/** All entries of a group or another selection, in batches. */
async function actOnSelected(
  app: App,
  action: BulkAction,
  within: EntryQuery,
  options: BulkOptions,
  signal: AbortSignal,
): Promise<ExitStatus> {
  if (options.ifVersion !== undefined) throw new UserError(NOT_ONE);
  const query = { ...within, kinds: options.kind };
  const { reason, mark, alsoNew, json = false, send = false } = options;
  const expected = options.count ?? (mark === undefined ? await agreedTo(app, action, query, options) : undefined);
  const request = { action, actor: actorName(options.as), expected, mark, alsoNew };
  const detail = { query, ...(reason === undefined ? {} : { reason }) };
  const write = commandWriter(options.config);
  return startBulkCommand(app, { ...request, detail }, { json, send, write, signal });
}

/** What the person agrees to when asked; `undefined`: the action needs no confirmation. */
async function agreedTo(
  app: App,
  action: BulkAction,
  query: EntryQuery,
  { yes, config }: BulkOptions,
): Promise<readonly SelectedCount[] | undefined> {
  const write = commandWriter(config);
  if (action === 'approve') return askAboutSelected(app, action, query, write);
  return action === 'discard' && yes !== true ? askAboutSelected(app, action, query, write) : undefined;
}
