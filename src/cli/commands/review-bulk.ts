// `jobmirror review retry`, `approve`, `discard` and `reopen`: one decision for many entries, or for all of a feed.
import { Command, InvalidArgumentError, Option } from 'commander';
import { actOnEntries } from '../../review/act-on-entries.ts';
import { selectEntries } from '../../review/select-entries.ts';
import type { BulkAction } from '../../review/why-not.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { ENTRY_KINDS, type EntryKind } from '../../store/review/review-entries.ts';
import { printNotice } from '../../telemetry/print.ts';
import { actorName } from '../actor.ts';
import { afterDiscard, askToDiscard } from '../ask-to-discard.ts';
import { commandWriter } from '../command-line.ts';
import { wholeNumber } from '../option-values.ts';
import { reportAct } from '../report-actions.ts';
import { withApp } from '../with-app.ts';
import { say } from '../write-action.ts';

interface BulkOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly count?: number;
  readonly kind?: readonly EntryKind[];
  readonly yes?: boolean;
  /** False with `--no-send`; absent for actions that send nothing. */
  readonly send?: boolean;
}

export const reviewRetryCommand = (): Command =>
  sending(bulkCommand('retry', 'send again what was rejected or failed'));

export const reviewApproveCommand = (): Command =>
  sending(bulkCommand('approve', 'delete what is held for approval')).option(
    '--count <n>',
    'only if exactly this many deletes are held in the named feeds',
    wholeNumber,
  );

export const reviewDiscardCommand = (): Command =>
  byKind(
    bulkCommand(
      'discard',
      'discard entries: rejected and failed postings are not sent until they change, held jobs stay live; asks first if it covers several entries of a feed, or several kinds',
    ),
  ).option('--yes', 'do not ask');

export const reviewReopenCommand = (): Command =>
  byKind(bulkCommand('reopen', 'put discarded entries back into review'));

/** A create in doubt is never discarded. */
const DISCARDABLE = ENTRY_KINDS.filter((kind) => kind !== 'in_doubt');

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
  return new Command(action)
    .description(description)
    .argument('<id or feed...>', 'entry numbers, or feed names for all matching entries of a feed')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object per entry and feed')
    .action((names: string[], options: BulkOptions) =>
      withApp(options, async (app) => {
        const selected = await selectEntries(app.db, app.config, names);
        if (selected.kind === 'unknown') throw new UserError(selected.message);
        const selection = { ...selected.selection, ...(options.kind === undefined ? {} : { kinds: options.kind }) };
        const write = commandWriter(options.config);
        const asked = action === 'discard' ? await askToDiscard(app.db, selection, options.yes === true, write) : {};
        const actor = actorName(options.as);
        const report = await actOnEntries(app.db, action, selection, {
          actor,
          expectHeld: options.count,
          ...asked,
        });
        if (report.kind === 'refused') throw new UserError(say(report.message, write));
        const send = options.send === true;
        process.exitCode = await reportAct(app, { action, ...report }, { json: options.json === true, send, write });
        if (action !== 'discard') return;
        for (const line of afterDiscard(report.acted, write)) printNotice(line);
      }),
    );
}
