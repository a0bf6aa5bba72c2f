// `jobmirror review show`: all about one entry or one group, and the exact commands that can be run for it.
import { Command } from 'commander';
import { z } from 'zod';
import { comparedDoubtJson, comparedDoubtOutput, compareWith } from '../../operations/candidates.ts';
import { entryOutput, showEntry, shownGroupOutput, showReviewGroup } from '../../operations/review.ts';
import { needsSeen } from '../../plan/allowed.ts';
import { MOST_COMPARED } from '../../review/compare-doubt.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError } from '../../runtime/exit-status.ts';
import { printJson, printLines } from '../../telemetry/print.ts';
import { commandWriter } from '../adapter/command-line.ts';
import { printing, runSingle, withCommon } from '../adapter/operation-command.ts';
import { entryNumber, groupId } from '../adapter/option-values.ts';
import { withApp } from '../adapter/with-app.ts';
import { actionLine, writeAction } from '../adapter/write-action.ts';
import { describeComparedDoubt } from '../output/describe-compared-doubt.ts';
import { describeEntry } from '../output/describe-entry.ts';
import { describeGroup, groupCommands } from '../output/describe-group.ts';
import { siteJobIdOf } from '../review/site-job-id.ts';

interface ShowOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** The jobs to compare with; none: those that it may have made. */
  readonly job?: readonly string[];
  readonly group?: string;
  readonly candidates?: boolean;
}

const commands = z.array(z.string()).describe('What can be done about it, as commands.');
const printedEntry = entryOutput
  .extend({ commands })
  .describe('Of an entry; what a record or a change does not have is absent:');
const printedGroup = shownGroupOutput
  .extend({
    mark: z.string().optional().describe('For `--mark`, if the group can be approved or sent again as a whole.'),
    answer_first: z
      .array(z.string())
      .optional()
      .describe('Commands that answer the question which has to be answered before; absent if there is none.'),
    commands,
  })
  .describe('Of a group:');

export const reviewShowCommand = (): Command =>
  withCommon(
    printing(new Command('show'), printedEntry, printedGroup)
      .description('show all about one entry or one group, and what can be done about it')
      .argument('[id]', 'number of the entry', entryNumber)
      .option('--group <group>', 'the group, see: review groups', groupId)
      .option(
        '--candidates',
        'of a create in doubt: compare it with the jobs that it may have made, read from the site',
      )
      .option(
        '--job <job id>',
        'of a create in doubt: compare it with this job of the site, may be given several times',
        (job: string, before: readonly string[] = []) => [...before, job],
      ),
    'print one JSON object',
  ).action(async (id: number | undefined, options: ShowOptions) => {
    const { group } = options;
    const compares = options.candidates === true || options.job !== undefined;
    if ((id === undefined) === (group === undefined))
      throw new UserError('name one entry by its number, or one group: --group GROUP');
    if (compares && id === undefined) throw new UserError('--candidates and --job are for one entry: name its number');
    if (options.candidates === true && options.job !== undefined)
      throw new UserError('say --candidates, or --job for each job to compare with');
    if (id === undefined) return showGroup(group ?? '', options);
    if (!compares) return showOne(id, options);
    return withApp(options, async (app) => {
      process.exitCode = await compareJobs(app, id, options);
    });
  });

const showOne = (id: number, options: ShowOptions): Promise<void> =>
  runSingle(
    showEntry,
    { id },
    {
      async follow(entry) {
        const write = commandWriter(options.config);
        const actions = entry.actions as Parameters<typeof actionLine>[0][];
        if (options.json === true) {
          const written = actions.map((action) => writeAction(action, write));
          return printJson(z.encode(printedEntry, { ...entry, commands: written }));
        }
        const lines = actions.map((action) => actionLine(action, write));
        return printLines([...describeEntry(entry), ...(lines.length === 0 ? [] : ['', 'Possible:', ...lines])]);
      },
    },
    { ...options },
  );

const showGroup = (group: string, options: ShowOptions): Promise<void> =>
  runSingle(
    showReviewGroup,
    { group },
    {
      async follow(shown) {
        const write = commandWriter(options.config);
        if (options.json !== true) return printLines(describeGroup(shown, write));
        const bound = shown.offers.find(({ action, seen }) => needsSeen(action) && seen !== null);
        const asked = shown.in_question.map((feed) => write(['feeds', 'rekey', feed]));
        const printed = {
          ...shown,
          ...(bound?.seen == null ? {} : { mark: bound.seen }),
          ...(asked.length === 0 ? {} : { answer_first: asked }),
          commands: groupCommands(shown, write).map(([command]) => command),
        };
        return printJson(z.encode(printedGroup, printed));
      },
    },
    { ...options },
  );

/** Shows a create in doubt beside jobs of its site. Returns the exit status: the site has to tell about each job. */
async function compareJobs(app: App, id: number, options: ShowOptions): Promise<ExitStatus> {
  const named = [...new Set((options.job ?? []).map(siteJobIdOf))];
  if (named.length > MOST_COMPARED) throw new UserError(`at most ${MOST_COMPARED} jobs can be compared at once`);
  const { doubt, candidates } = await compareWith(app, id, named);
  if (options.json === true) await printJson(z.encode(comparedDoubtOutput, comparedDoubtJson(doubt, candidates)));
  else await printLines(describeComparedDoubt(doubt, candidates, commandWriter(options.config)));
  return candidates.some(({ kind }) => kind === 'unchecked') ? ExitStatus.failed : ExitStatus.done;
}
