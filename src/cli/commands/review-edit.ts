// `jobmirror review edit`: sets fields of one rejected or failed posting, and sends it.
import { Command, InvalidArgumentError } from 'commander';
import { editEntry } from '../../review/edit-entry.ts';
import { ExitStatus, UserError, worst } from '../../runtime/exit-status.ts';
import { actorName } from '../actor.ts';
import { commandWriter } from '../command-line.ts';
import { entryNumber } from '../option-values.ts';
import { reportAct } from '../report-actions.ts';
import { withApp } from '../with-app.ts';
import { say } from '../write-action.ts';

interface EditOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly set: ReadonlyMap<string, string>;
  readonly send: boolean;
}

export function reviewEditCommand(): Command {
  return new Command('edit')
    .description('set fields of one rejected or failed posting; an edit applies until the feed changes that field')
    .argument('<id>', 'number of the entry', entryNumber)
    .requiredOption('--set <field=value...>', 'a site field and its text; an empty text removes the field', addField)
    .option('--no-send', 'leave the sending to a running worker or to the next sync')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((id: number, options: EditOptions) =>
      withApp(options, async (app) => {
        const report = await editEntry(app.db, app.config, id, Object.fromEntries(options.set), {
          actor: actorName(options.as),
        });
        if (report.kind === 'refused')
          throw new UserError(`entry ${id}: ${say(report.message, commandWriter(options.config))}`);
        const { feed, key, remaining } = report;
        const message = remaining === undefined ? 'edited, ready to be sent' : `edited, still rejected: ${remaining}`;
        const entries = [{ entry: id, feed, key, result: 'done', message }] as const;
        const act = { action: 'edit', entries, feeds: [], acted: [{ id, feed }] };
        const send = options.send && remaining === undefined;
        const write = commandWriter(options.config);
        const status = await reportAct(app, act, { json: options.json === true, send, write });
        process.exitCode = worst([status, remaining === undefined ? ExitStatus.done : ExitStatus.review]);
      }),
    );
}

function addField(text: string, before: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be FIELD=VALUE.');
  const name = text.slice(0, at).trim();
  if (before?.has(name)) throw new InvalidArgumentError(`${name} is set twice.`);
  return new Map(before).set(name, text.slice(at + 1));
}
