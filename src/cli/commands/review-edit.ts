// `jobmirror review edit`: sets fields of one rejected or failed posting, or of all that are selected, and sends them.
import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { Fields } from '../../posting/posting.ts';
import { editEntry } from '../../review/edit-entry.ts';
import { readValueTable } from '../../review/value-table.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError, worst } from '../../runtime/exit-status.ts';
import type { EntryQuery } from '../../store/review/entry-query.ts';
import { actorName } from '../actor.ts';
import { commandWriter } from '../command-line.ts';
import { type Narrowing, narrowed, narrowing, ofFeed } from '../narrow-entries.ts';
import { wholeNumber } from '../option-values.ts';
import { startBulkCommand } from '../run-bulk-command.ts';
import { sendAndTell } from '../send-and-tell.ts';
import { withApp } from '../with-app.ts';
import { say } from '../write-action.ts';

interface EditOptions extends Narrowing {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly set?: ReadonlyMap<string, string>;
  readonly setMap?: TableOption;
  readonly count?: number;
  readonly send: boolean;
}

export function reviewEditCommand(): Command {
  return narrowing(new Command('edit'))
    .description(
      'set fields of one rejected or failed posting, or of all that are selected; an edit applies until the feed changes that field',
    )
    .argument('[id or feed]', 'number of the entry; with --group or another selection, a feed')
    .option('--set <field=value...>', 'a site field and its text; an empty text removes the field', addField)
    .option(
      '--set-map <field=file>',
      'a site field and a CSV file with two columns, its old and its new text',
      tableOption,
    )
    .option('--count <n>', 'only if exactly this many entries are selected', wholeNumber)
    .option('--no-send', 'leave the sending to a running worker or to the next sync')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object; with a selection one per feed, and one for the action')
    .action((name: string | undefined, options: EditOptions) =>
      withApp(options, async (app, signal) => {
        const within = narrowed(app.config, options);
        process.exitCode =
          within === undefined
            ? await editOne(app, name, options)
            : await editSelected(app, await ofFeed(app, within, name === undefined ? [] : [name]), options, signal);
      }),
    );
}

async function editOne(app: App, name: string | undefined, options: EditOptions): Promise<ExitStatus> {
  if (name === undefined || !/^\d{1,15}$/.test(name)) {
    throw new UserError('name one entry by its number, see: review list; or select a group: --group GROUP');
  }
  if (options.setMap !== undefined || options.count !== undefined || options.set === undefined) {
    throw new UserError(
      options.set === undefined && options.setMap === undefined
        ? 'say what to set: --set FIELD=VALUE'
        : '--set-map and --count need a selection, such as --group GROUP',
    );
  }
  const id = Number(name);
  const report = await editEntry(app.db, app.config, id, Object.fromEntries(options.set), {
    actor: actorName(options.as),
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
  { set, setMap, count, as, json = false, send, config }: EditOptions,
  signal: AbortSignal,
): Promise<ExitStatus> {
  if (set === undefined && setMap === undefined) {
    throw new UserError('say what to set: --set FIELD=VALUE, or --set-map FIELD=FILE');
  }
  const map = setMap === undefined ? {} : { map: { field: setMap.field, values: await valuesOf(setMap) } };
  const edit = { ...(set === undefined ? {} : { set: Object.fromEntries(set) }), ...map };
  const request = { action: 'edit', actor: actorName(as), expected: count, detail: { query, edit } } as const;
  return startBulkCommand(app, request, { json, send, write: commandWriter(config), signal });
}

interface TableOption {
  readonly field: string;
  readonly file: string;
}

function tableOption(text: string): TableOption {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('It must be FIELD=FILE.');
  return { field: text.slice(0, at).trim(), file: text.slice(at + 1) };
}

async function valuesOf({ file }: TableOption): Promise<Fields> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UserError(`the table ${file} can't be read: ${(error as Error).message}`);
  }
  const table = readValueTable(text);
  if (table.kind === 'unusable') throw new UserError(`the table ${file} can't be used: ${table.message}`);
  return table.values;
}

function addField(text: string, before: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be FIELD=VALUE.');
  const name = text.slice(0, at).trim();
  if (before?.has(name)) throw new InvalidArgumentError(`${name} is set twice.`);
  return new Map(before).set(name, text.slice(at + 1));
}
