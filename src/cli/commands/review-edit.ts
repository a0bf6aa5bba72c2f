// `jobmirror review edit`: sets fields of one rejected or failed posting, or of all that are selected, and sends them.
import { Command } from 'commander';
import { editEntry } from '../../review/edit-entry.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError, worst } from '../../runtime/exit-status.ts';
import type { EntryQuery } from '../../store/review/entry-query.ts';
import { actorName } from '../actor.ts';
import { commandWriter } from '../command-line.ts';
import { addField, type EditValues, editOf, tableOption } from '../edit-values.ts';
import { type Narrowing, narrowed, narrowing, ofFeed } from '../narrow-entries.ts';
import { IF_VERSION, NOT_ONE, wholeNumber } from '../option-values.ts';
import { ALSO_NEW, startBulkCommand } from '../run-bulk-command.ts';
import { sendAndTell } from '../send-and-tell.ts';
import { withApp } from '../with-app.ts';
import { say } from '../write-action.ts';

interface EditOptions extends Narrowing, EditValues {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly count?: number;
  readonly ifVersion?: string;
  readonly alsoNew?: boolean;
  readonly send: boolean;
}

export function reviewEditCommand(): Command {
  return narrowing(new Command('edit'))
    .description(
      'set fields of one rejected or failed posting, or of all that are selected; an edit applies until the feed changes that field',
    )
    .argument('[id or feed...]', 'numbers of entries; with --group or another selection, a feed')
    .option('--set <field=value...>', 'a site field and its text; an empty text removes the field', addField)
    .option(
      '--set-map <field=file>',
      'a site field and a CSV file with two columns, its old and its new text',
      tableOption,
    )
    .option('--count <n>', 'only if exactly this many entries are selected', wholeNumber)
    .option('--also-new', ALSO_NEW)
    .option('--if-version <version>', IF_VERSION)
    .option('--no-send', 'leave the sending to a running worker or to the next sync')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object; with a selection one per feed, and one for the action')
    .action((names: string[], options: EditOptions) =>
      withApp(options, async (app, signal) => {
        const within = narrowed(app.config, options) ?? ofEntries(names);
        process.exitCode =
          within === undefined
            ? await editOne(app, names[0], options)
            : await editSelected(app, within.ids ? within : await ofFeed(app, within, names), options, signal);
      }),
    );
}

/** Several entries by their numbers. */
const ofEntries = (names: readonly string[]): EntryQuery | undefined =>
  names.length > 1 && names.every((name) => /^\d{1,15}$/.test(name)) ? { ids: names.map(Number) } : undefined;

async function editOne(app: App, name: string | undefined, options: EditOptions): Promise<ExitStatus> {
  if (name === undefined || !/^\d{1,15}$/.test(name)) {
    throw new UserError('name one entry by its number, see: review list; or select a group: --group GROUP');
  }
  if (
    options.setMap !== undefined ||
    options.count !== undefined ||
    options.alsoNew === true ||
    options.set === undefined
  ) {
    throw new UserError(
      options.set === undefined && options.setMap === undefined
        ? 'say what to set: --set FIELD=VALUE'
        : '--set-map, --count and --also-new need a selection, such as --group GROUP',
    );
  }
  const id = Number(name);
  const report = await editEntry(app.db, app.config, id, Object.fromEntries(options.set), {
    actor: actorName(options.as),
    ...(options.ifVersion === undefined ? {} : { version: options.ifVersion }),
  });
  const write = commandWriter(options.config);
  if (report.kind === 'refused') throw new UserError(`entry ${id}: ${say(report.message, write)}`);
  const { feed, key, remaining } = report;
  const message = remaining === undefined ? 'edited, ready to be sent' : `edited, still rejected: ${remaining}`;
  const entries = [{ entry: id, feed, key, result: 'done', message }] as const;
  const act = { action: 'edit', entries, feeds: [], acted: [{ id, feed }] };
  const send = options.send && remaining === undefined;
  const status = await sendAndTell(app, act, { json: options.json === true, send, write });
  return worst([status, remaining === undefined ? ExitStatus.done : ExitStatus.review]);
}

/** All entries of a group or another selection, in batches. */
async function editSelected(
  app: App,
  query: EntryQuery,
  options: EditOptions,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const { count, alsoNew, as, json = false, send, config } = options;
  if (options.ifVersion !== undefined) throw new UserError(NOT_ONE);
  const edit = await editOf(options);
  if (edit === undefined) throw new UserError('say what to set: --set FIELD=VALUE, or --set-map FIELD=FILE');
  const request = { action: 'edit', actor: actorName(as), expected: count, alsoNew, detail: { query, edit } } as const;
  return startBulkCommand(app, request, { json, send, write: commandWriter(config), signal });
}
