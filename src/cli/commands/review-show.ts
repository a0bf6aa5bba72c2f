// `jobmirror review show`: all about one entry, and the exact commands that can be run for it.
import { Command } from 'commander';
import { escalates } from '../../review/escalation.ts';
import { actionsOfEntry, entryJson } from '../../review/read-model/entry.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { readEntry } from '../../store/review/review-entry.ts';
import { printJson, printLines } from '../../telemetry/print.ts';
import { commandWriter } from '../command-line.ts';
import { entryNumber } from '../option-values.ts';
import { describeEntry } from '../output/describe-entry.ts';
import { withApp } from '../with-app.ts';
import { actionLine, actionWriter, writeAction } from '../write-action.ts';

export function reviewShowCommand(): Command {
  return new Command('show')
    .description('show all about one entry, and what can be done about it')
    .argument('<id>', 'number of the entry', entryNumber)
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((id: number, options: { config?: string; json?: boolean }) =>
      withApp(options, async ({ db, config }) => {
        const entry = await readEntry(db, id);
        if (entry === undefined) throw new UserError(`there is no open review entry ${id}`);
        const escalated = entry.kind === 'change' && escalates({ ...entry.change, kind: entry.change.state }, config);
        const actions = actionsOfEntry(entry);
        const write = commandWriter(options.config);
        if (options.json === true) {
          const commands = actions.map((action) => writeAction(action, write));
          return printJson({ ...entryJson(entry, escalated, actionWriter(write)), commands });
        }
        const lines = actions.map((action) => actionLine(action, write));
        const possible = lines.length === 0 ? [] : ['', 'Possible:', ...lines];
        return printLines([...describeEntry(entry, escalated, write), ...possible]);
      }),
    );
}
