// `jobmirror review edit`: sets fields of one posting, or of all rejected or failed ones that are selected, and sends them.
import { Command } from 'commander';
import { feedName, postingKey } from '../../posting/identifiers.ts';
import { editEntry, editedMessage, editPosting } from '../../review/edit-posting.ts';
import { findPosting } from '../../review/find-posting.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError, worstStatus } from '../../runtime/exit-status.ts';
import type { EntryQuery } from '../../store/review/entry-query.ts';
import { actorName } from '../actor.ts';
import { commandWriter } from '../command-line.ts';
import { addField, type EditValues, editOf, tableOption } from '../edit-values.ts';
import { knownFeed } from '../feed-name.ts';
import { type Narrowing, namedEntries, narrowed, narrowing, ofFeed } from '../narrow-entries.ts';
import { NOT_ONE, wholeNumber } from '../option-values.ts';
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
      'set fields of one posting, by the number of its entry or by its feed and key, or of all rejected or failed ones that are selected; an edit applies until the feed changes that field',
    )
    .argument(
      '[id or feed...]',
      'numbers of entries; a feed and the key of a posting, also of one whose job is on the site; with --group or another selection, a feed',
    )
    .option('--set <field=value...>', 'a site field and its text; an empty text removes the field', addField)
    .option(
      '--set-map <field=file>',
      'a site field and a CSV file with two columns, its old and its new text',
      tableOption,
    )
    .option('--count <n>', 'only if exactly this many entries are selected', wholeNumber)
    .option('--also-new', ALSO_NEW)
    .option(
      '--if-version <version>',
      'only if the entry is still as review show printed it with this version, or the posting as why --json did',
    )
    .option('--no-send', 'leave the sending to a running worker or to the next sync')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object; with a selection one per feed, and one for the action')
    .action((names: string[], options: EditOptions) =>
      withApp(options, async (app, signal) => {
        const within = narrowed(app.config, options) ?? (await ofEntries(app, names));
        process.exitCode =
          within === undefined
            ? await editOne(app, names, options)
            : await editSelected(app, within.ids ? within : await ofFeed(app, within, names), options, signal);
      }),
    );
}

/** Several entries by their numbers. */
async function ofEntries(app: App, names: readonly string[]): Promise<EntryQuery | undefined> {
  if (names.length < 2 || !names.every((name) => /^\d{1,15}$/.test(name))) return undefined;
  const [name = '', key, more] = names;
  if (more === undefined && app.config.feeds.has(feedName(name))) {
    throw new UserError(
      `${name} may be an entry or the feed of posting ${key}: name one entry at a time, or edit the posting on its page`,
    );
  }
  return { ids: await namedEntries(app, names) };
}

async function editOne(app: App, names: readonly string[], options: EditOptions): Promise<ExitStatus> {
  const [name, key, more] = names;
  const isEntry = key === undefined && name !== undefined && /^\d{1,15}$/.test(name);
  if (!isEntry && (key === undefined || more !== undefined)) {
    throw new UserError(
      'name one entry by its number, see: review list; or one posting by its feed and key; or select a group: --group GROUP',
    );
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
  const edits = Object.fromEntries(options.set);
  const { db, config } = app;
  const acting = { actor: actorName(options.as), version: options.ifVersion };
  const subject = isEntry ? `entry ${name}` : `posting ${key}`;
  const report = isEntry
    ? await editEntry(db, config, Number(name), edits, acting)
    : await editPosting(db, config, await postingOf(app, String(name), String(key)), edits, acting);
  const write = commandWriter(options.config);
  if (report.kind === 'refused') throw new UserError(`${subject}: ${say(report.message, write)}`);
  if (report.kind === 'invalid') {
    const problems = report.problems.map(({ message }) => message).join('; ');
    throw new UserError(`${subject}: nothing was saved, as the site would refuse it: ${problems}`);
  }
  const { entry, feed, remaining } = report;
  const entries = [{ entry, feed, key: report.key, result: 'done', message: editedMessage(remaining) }] as const;
  const act = { action: 'edit', entries, feeds: [], acted: [{ id: entry, feed }] };
  const send = options.send && remaining === undefined;
  const status = await sendAndTell(app, act, { json: options.json === true, send, write });
  return worstStatus([status, remaining === undefined ? ExitStatus.done : ExitStatus.review]);
}

async function postingOf({ db, config }: App, name: string, text: string) {
  const feed = await knownFeed(db, config, name);
  const key = postingKey(text.trim());
  if ((await findPosting(db, feed, key)) !== undefined) return { feed, key };
  throw new UserError(`no posting ${key} is recorded for feed ${feed}; keys must match exactly`);
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
  const expected = count ?? query.ids?.length;
  const request = { action: 'edit', actor: actorName(as), expected, alsoNew, detail: { query, edit } } as const;
  return startBulkCommand(app, request, { json, send, write: commandWriter(config), signal });
}
