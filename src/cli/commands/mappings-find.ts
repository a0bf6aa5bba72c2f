// `jobmirror mappings find`: finds postings and their jobs by key, job ID or words of a title, as the page /jobs does.
import { Command } from 'commander';
import { UserError } from '../../runtime/exit-status.ts';
import { findJobs, type JobOfPosting } from '../../store/mapping/find-jobs.ts';
import { oneLine, printJson, printLine, printLines } from '../../telemetry/print.ts';
import { knownFeed } from '../adapter/feed-name.ts';
import { positiveNumber } from '../adapter/option-values.ts';
import { withApp } from '../adapter/with-app.ts';
import { formatTable } from '../output/table.ts';

interface FindOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly limit?: number;
}

const SHOWN = 50;

export function findCommand(): Command {
  return new Command('find')
    .description('find postings and their jobs by key, job ID or words of a title')
    .argument('<text>', 'a whole key or job ID, or beginnings of words of a title')
    .argument('[feed]', 'only of this feed')
    .option('--limit <n>', `titles at most (default: ${SHOWN})`, positiveNumber)
    .option('--json', 'print one JSON object per posting')
    .action((text: string, name: string | undefined, options: FindOptions) =>
      withApp(options, async ({ db, config }) => {
        if (text.trim() === '') throw new UserError('the text is empty: name a key, a job ID or words of a title');
        const feed = name === undefined ? undefined : await knownFeed(db, config, name);
        const { named, titled, more } = await findJobs(db, text.trim(), feed, options.limit ?? SHOWN);
        const found = [...named, ...titled];
        if (options.json === true) {
          for (const job of found) await printJson(jobJson(job));
          return;
        }
        if (found.length === 0) return printLine(`Nothing was found. ${WAITING}`);
        await printLines(formatTable(COLUMNS, found.map(rowOf)));
        if (more) await printLine('There are more: add words, or raise --limit.');
      }),
    );
}

const WAITING = 'A posting that waits to be created is found by its key only.';

const jobJson = ({ feed, key, site, siteJobId, url, title, state }: JobOfPosting) => ({
  feed,
  key,
  site,
  job_id: siteJobId,
  url,
  title,
  state,
});

const COLUMNS = [
  { title: 'FEED' },
  { title: 'KEY' },
  { title: 'JOB' },
  { title: 'STATE' },
  { title: 'TITLE' },
  { title: 'URL' },
] as const;

const rowOf = ({ feed, key, siteJobId, state, title, url }: JobOfPosting): string[] => [
  feed,
  oneLine(key, 120),
  siteJobId ?? '-',
  state?.replace('_', ' ') ?? '-',
  title === null ? '-' : oneLine(title, 100),
  url ?? '-',
];
