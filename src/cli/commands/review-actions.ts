// `jobmirror review actions`, `continue` and `stop`: actions on many entries that run or ran in batches.
import { Command } from 'commander';
import { continueBulk, stopBulk } from '../../review/bulk/stop-bulk.ts';
import { bulkJson } from '../../review/read-model/bulk.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { type BulkRow, findBulk, listBulk, skippedOfBulk } from '../../store/review/bulk-actions.ts';
import { printJson, printLine, printLines } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { actorName } from '../actor.ts';
import { commandWriter } from '../command-line.ts';
import { positiveNumber } from '../option-values.ts';
import { formatTable } from '../output/table.ts';
import { runBulkCommand } from '../run-bulk-command.ts';
import { withApp } from '../with-app.ts';

interface Options {
  readonly config?: string;
  readonly json?: boolean;
  readonly limit?: number;
  readonly send?: boolean;
  readonly as?: string;
}

const SHOWN = 20;

export function reviewActionsCommand(): Command {
  return new Command('actions')
    .description('list the actions on many entries, with their progress, the newest first')
    .option('--limit <n>', `actions at most (default: ${SHOWN})`, positiveNumber)
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object per action')
    .action((options: Options) =>
      withApp(options, async ({ db }) => {
        const actions = await listBulk(db, options.limit ?? SHOWN);
        if (options.json === true) {
          for (const bulk of actions) await printJson(bulkJson(bulk, await skippedOfBulk(db, bulk.id)));
          return;
        }
        if (actions.length === 0) return printLine('There are no actions on many entries.');
        await printLines(formatTable(COLUMNS, actions.map(rowOf)));
        for (const { id, waitsFor } of actions) if (waitsFor !== null) await printLine(`${id} waits: ${waitsFor}`);
        const open = actions.find(({ state }) => state !== 'done');
        if (open === undefined) return;
        await printLine(`\nTo continue: ${commandWriter(options.config)(['review', 'continue', String(open.id)])}`);
      }),
    );
}

export function reviewContinueCommand(): Command {
  return new Command('continue')
    .description('continue an action on many entries that was stopped or interrupted')
    .argument('<action>', 'number of the action, see: review actions', positiveNumber)
    .option('--no-send', 'leave the sending to a running worker or to the next sync')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object per feed, and one for the action')
    .action((id: number, options: Options) =>
      withApp(options, async (app, signal) => {
        if (!(await continueBulk(app.db, id, actorName(options.as)))) throw new UserError(await whyNot(app.db, id));
        const write = commandWriter(options.config);
        const { json = false, send = true } = options;
        process.exitCode = await runBulkCommand(app, id, { json, send, write, signal });
      }),
    );
}

export function reviewStopCommand(): Command {
  return new Command('stop')
    .description('stop an action on many entries after its present batch; what it did stays')
    .argument('<action>', 'number of the action, see: review actions', positiveNumber)
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((id: number, options: Options) =>
      withApp(options, async ({ db }) => {
        if (!(await stopBulk(db, id, actorName(options.as)))) throw new UserError(await whyNot(db, id));
        const bulk = await findBulk(db, id);
        if (bulk === undefined) return;
        if (options.json === true) return printJson(bulkJson(bulk, await skippedOfBulk(db, id)));
        return printLine(`Stopped: ${bulk.done + bulk.skipped} of ${bulk.total} entries are done.`);
      }),
    );
}

const whyNot = async (db: Parameters<typeof findBulk>[0], id: number): Promise<string> =>
  (await findBulk(db, id)) === undefined ? `there is no bulk action ${id}` : `bulk action ${id} is done`;

const COLUMNS = [
  { title: 'ACTION', align: 'right' },
  { title: 'KIND' },
  { title: 'STATE' },
  { title: 'BY' },
  { title: 'STARTED' },
  { title: 'LAST PROGRESS' },
  { title: 'ENTRIES', align: 'right' },
  { title: 'DONE', align: 'right' },
  { title: 'LEFT ALONE', align: 'right' },
] as const;

const rowOf = (bulk: BulkRow): string[] => [
  String(bulk.id),
  bulk.action,
  bulk.state,
  bulk.actor,
  formatTime(bulk.startedAt),
  formatTime(bulk.touchedAt),
  String(bulk.total),
  String(bulk.done),
  String(bulk.skipped),
];
