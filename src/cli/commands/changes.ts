// `jobmirror changes`: what was created, updated and deleted on the sites, when and why.
import { Command, Option } from 'commander';
import { z } from 'zod';
import {
  allChanges,
  changeOutput,
  changesAsCsv,
  changesKeptSince,
  type ListedChange,
  listChanges,
} from '../../operations/changes.ts';
import type { OperationContext } from '../../operations/operation.ts';
import { membersOf } from '../../operations/scalars.ts';
import { oneLine, printData, printJson, printLines } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { type CommonOptions, commandWriter, positiveNumber } from '../adapter/command-line.ts';
import { addOptions, askedHere, inputOf, olderOnes, printing, withCommon } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import { formatRows, type RowColumn } from '../output/table.ts';

const SHOWN = 50;

interface ChangesOptions extends Readonly<Record<string, unknown>>, CommonOptions {
  readonly csv?: boolean;
  readonly limit?: number;
  readonly before?: number;
}

export function changesCommand(): Command {
  const command = addOptions(new Command('changes'), membersOf(listChanges.input), {})
    .option('--before <n>', 'only what is older than this number of the list', positiveNumber)
    .option('--limit <n>', `changes at most (default: ${SHOWN}; with --json and --csv all)`, positiveNumber)
    .addOption(new Option('--csv', 'a line for each, for spreadsheets').conflicts('json'));
  return printing(withCommon(command, 'print one JSON object for each'), changeOutput).action(
    (options: ChangesOptions, called: Command) =>
      withApp(options, async (app) => {
        const input = inputOf(listChanges, { name: 'changes' }, [], options);
        const asked = askedHere(app, options);
        const all = { limit: options.limit ?? Number.POSITIVE_INFINITY, before: options.before };
        if (options.csv === true) {
          for await (const part of changesAsCsv(input, asked, all)) await printData(part.replace(/\n$/, ''));
        } else if (options.json === true) {
          for await (const items of allChanges(input, asked, all))
            for (const item of items) await printJson(z.encode(changeOutput, item));
        } else await printLines(await shownChanges(input, asked, options, called));
      }),
  );
}

async function shownChanges(
  input: z.output<typeof listChanges.input>,
  asked: OperationContext,
  options: ChangesOptions,
  called: Command,
): Promise<string[]> {
  const { limit = SHOWN, before } = options;
  const after = before === undefined ? undefined : { before };
  const { shown, next } = await listChanges.run(input, { limit, after }, asked);
  const kept = `What was done before ${formatTime(changesKeptSince(asked))} is not kept (retention: requests_days).`;
  if (shown.items.length === 0) return ['Nothing like that was done on the sites.', kept];
  const write = commandWriter(options.config);
  const end = next === undefined ? kept : olderOnes(called, next.before, write);
  return [...formatRows(COLUMNS, shown.items), '', end, `More about one of them: ${write(['why', 'FEED', 'KEY'])}`];
}

const COLUMNS: readonly RowColumn<ListedChange>[] = [
  { title: 'WHEN', cell: ({ at }) => formatTime(at) },
  { title: 'OPERATION', cell: ({ operation }) => operation },
  { title: 'FEED', cell: ({ feed }) => feed },
  { title: 'KEY', cell: ({ key }) => oneLine(key, 40) },
  { title: 'TITLE', cell: ({ title }) => (title === null ? '-' : oneLine(title, 60)) },
  { title: 'JOB', cell: ({ site_job_id: job }) => (job === null ? '-' : oneLine(job, 40)) },
  { title: 'WHY', cell: ({ why, fields }) => oneLine(fields.length === 0 ? why : `${why}: ${fields.join(', ')}`, 200) },
];
