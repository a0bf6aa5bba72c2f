// `jobmirror review show`: all about one entry or one group, and the exact commands that can be run for it.
import { Command } from 'commander';
import { markOf, previewBulk } from '../../review/bulk/start-bulk.ts';
import { escalates } from '../../review/escalation.ts';
import { listGroups } from '../../review/list-groups.ts';
import { actionsOfEntry, entryJson } from '../../review/read-model/entry.ts';
import { groupJson } from '../../review/read-model/group.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { questionedDeletes } from '../../store/backlog/open-question.ts';
import type { Database } from '../../store/postgres/database.ts';
import { readEntry } from '../../store/review/review-entry.ts';
import { printJson, printLines } from '../../telemetry/print.ts';
import { commandWriter } from '../command-line.ts';
import { type CompareOptions, compareJobs } from '../compare-jobs.ts';
import { entryNumber, groupId } from '../option-values.ts';
import { describeEntry } from '../output/describe-entry.ts';
import { describeGroup } from '../output/describe-group.ts';
import { withApp } from '../with-app.ts';
import { actionLine, actionWriter, writeAction } from '../write-action.ts';

interface ShowOptions extends CompareOptions {
  readonly group?: string;
  readonly candidates?: boolean;
}

export function reviewShowCommand(): Command {
  return new Command('show')
    .description('show all about one entry or one group, and what can be done about it')
    .argument('[id]', 'number of the entry', entryNumber)
    .option('--group <group>', 'the group, see: review groups', groupId)
    .option('--candidates', 'of a create in doubt: compare it with the jobs that it may have made, read from the site')
    .option(
      '--job <job id>',
      'of a create in doubt: compare it with this job of the site, may be given several times',
      (job: string, before: readonly string[] = []) => [...before, job],
    )
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((id: number | undefined, options: ShowOptions) =>
      withApp(options, async (app) => {
        const { db, config } = app;
        if ((id === undefined) === (options.group === undefined)) {
          throw new UserError('name one entry by its number, or one group: --group GROUP');
        }
        const compares = options.candidates === true || options.job !== undefined;
        if (compares && id === undefined)
          throw new UserError('--candidates and --job are for one entry: name its number');
        if (options.candidates === true && options.job !== undefined) {
          throw new UserError('say --candidates, or --job for each job to compare with');
        }
        if (id === undefined) return showGroup(db, options.group ?? '', options);
        if (compares) {
          process.exitCode = await compareJobs(app, id, options);
          return;
        }
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

/** How many values of a group are shown. */
const VALUES = { people: 20, scripts: 10_000 };

async function showGroup(db: Database, id: string, options: { config?: string; json?: boolean }): Promise<void> {
  const limits = { groups: 1, values: options.json === true ? VALUES.scripts : VALUES.people };
  const [waiting] = await listGroups(db, { groups: [id] }, limits);
  const [discarded] = await listGroups(db, { groups: [id], discarded: true }, limits);
  const group = waiting ?? discarded;
  if (group === undefined) throw new UserError(`there is no entry in group ${id}; see: review groups`);
  const write = commandWriter(options.config);
  const binding = waiting?.kind === 'held' ? 'approve' : waiting?.kind === 'in_doubt' ? 'missing' : undefined;
  const feeds = new Set(waiting?.feeds.map(({ of }) => of));
  const questioned = (await questionedDeletes(db)).filter(
    ({ feed, kind }) => kind === waiting?.kind && feeds.has(feed),
  );
  const inQuestion = questioned.map(({ feed }) => feed);
  const mark = inQuestion.length > 0 ? undefined : binding && markOf(await previewBulk(db, binding, { groups: [id] }));
  const place = { isDiscarded: waiting === undefined, discarded: discarded?.count ?? 0, mark, inQuestion };
  if (options.json === true) {
    const marked = mark === undefined ? {} : { mark };
    const first =
      inQuestion.length === 0 ? {} : { answer_first: inQuestion.map((feed) => write(['feeds', 'rekey', feed])) };
    return printJson({ ...groupJson(group, actionWriter(write)), discarded: place.discarded, ...marked, ...first });
  }
  return printLines(describeGroup(group, place, write));
}
