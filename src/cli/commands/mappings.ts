// `jobmirror mappings`: lists, finds, exports, imports and adopts the mappings of postings to site jobs.

import { createReadStream } from 'node:fs';
import { Command, Option } from 'commander';
import { fileErrorInWords } from '../../config/settings-file.ts';
import { namedFeed } from '../../operations/operation.ts';
import { plural } from '../../plan/message.ts';
import { updatesJobs } from '../../plan/policy.ts';
import { headerLine, type MappingFormat, mappingLine, readMappingLines } from '../../review/jobs/mapping-file.ts';
import { askSites } from '../../runtime/check-import.ts';
import { UserError } from '../../runtime/stop-signal.ts';
import { addressOf } from '../../site/http/job-address.ts';
import {
  countMappings,
  findJobs,
  type JobOfPosting,
  listMappings,
  type MappingRow,
} from '../../store/mapping/find-jobs.ts';
import { type ImportEnd, importMappings } from '../../store/mapping/mapping-import.ts';
import { countExpired } from '../../store/pull/posting-expiry.ts';
import {
  oneLine,
  printData,
  printJson,
  printLine,
  printLines,
  printNotice,
  startProgressLine,
} from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { ACTOR, actorName, CONFIG, commandWriter, positiveNumber } from '../adapter/command-line.ts';
import { withApp } from '../adapter/with-app.ts';
import type { AdoptOptions } from '../adopt-mappings.ts';
import { formatRows, type RowColumn } from '../output/table.ts';

interface MappingOptions {
  readonly config?: string;
  readonly json?: boolean;
}

const SHOWN_MAPPINGS = 100;

export function mappingsCommand(): Command {
  const mappings = new Command('mappings');
  for (const part of [listCommand(), findCommand(), exportCommand(), importCommand(), adoptCommand()]) {
    mappings.addCommand(
      part
        .option(...CONFIG)
        .exitOverride()
        .showHelpAfterError('(see --help)'),
    );
  }
  return mappings;
}

function listCommand(): Command {
  return new Command('list')
    .description('list mappings')
    .argument('[feed]', 'only of this feed')
    .option('--limit <n>', `mappings at most (default: ${SHOWN_MAPPINGS}; with --json all)`, positiveNumber)
    .option('--json', 'print one JSON object per mapping')
    .action((name: string | undefined, options: MappingOptions & { limit?: number }) =>
      withApp(options, async (app) => {
        const feed = name === undefined ? undefined : await namedFeed(app, name);
        if (options.json === true) {
          for await (const row of listMappings(app.db, feed, options.limit)) await printLine(mappingLine(row, 'jsonl'));
          return;
        }
        const rows: MappingRow[] = [];
        for await (const row of listMappings(app.db, feed, options.limit ?? SHOWN_MAPPINGS)) rows.push(row);
        if (rows.length === 0) return printLine('There are no mappings.');
        await printLines(formatRows(COLUMNS, rows));
        const total = await countMappings(app.db, feed);
        if (total > rows.length) await printLine(`… and ${total - rows.length} more (--limit, --json)`);
      }),
    );
}

const COLUMNS: readonly RowColumn<MappingRow>[] = [
  { title: 'FEED', cell: ({ feed }) => feed },
  { title: 'KEY', cell: ({ key }) => key },
  { title: 'JOB', cell: ({ siteJobId }) => siteJobId },
  { title: 'SINCE', cell: ({ since }) => formatTime(since) },
  { title: 'URL', cell: ({ url }) => url ?? '-' },
];

function exportCommand(): Command {
  return new Command('export')
    .description('write all mappings to standard output, for `mappings import`')
    .argument('[feed]', 'only of this feed')
    .addOption(new Option('--format <format>', 'how to write them').choices(['csv', 'jsonl']).default('csv'))
    .action((name: string | undefined, options: MappingOptions & { format: MappingFormat }) =>
      withApp(options, async ({ db, config }) => {
        const feed = name === undefined ? undefined : await namedFeed({ db, config }, name);
        const header = headerLine(options.format);
        if (header !== undefined) await printData(header);
        for await (const row of listMappings(db, feed)) await printData(mappingLine(row, options.format));
        const expired = await countExpired(db, feed);
        if (expired > 0)
          printNotice(
            `${plural(expired, 'posting')} without a job ${expired === 1 ? 'has' : 'have'} expired, which this file does not say: an installation that imports it creates jobs for them. A backup says it: ${commandWriter(options.config)(['backup', 'FILE'])}`,
          );
      }),
    );
}

function importCommand(): Command {
  return new Command('import')
    .description('import mappings from a CSV or JSON lines file: all of them, or none')
    .argument('<file>', 'file with the columns feed, key and site_job_id, as written by export; - for standard input')
    .option('--unchecked', 'do not ask the site whether it has the jobs')
    .option(...ACTOR)
    .option('--json', 'print one JSON object')
    .action(async (file: string, options: MappingOptions & { as?: string; unchecked?: boolean }) => {
      await withApp(options, async (app, signal) => {
        const around = { progress: startProgressLine(), signal };
        const end = await importMappings(
          app.db,
          readMappingLines(linesOf(file), app.config),
          actorName(options.as),
          options.unchecked === true ? undefined : (lines) => askSites(app, lines, around),
          [...app.config.feeds.values()].filter(({ policy }) => !updatesJobs(policy)).map(({ name }) => name),
          new Map([...app.config.sites.values()].map(({ name, options }) => [name, addressOf(options)])),
        );
        const { added, known } = judge(end, file);
        if (options.json === true) return printJson({ added, known, checked: options.unchecked !== true });
        if (options.unchecked === true) printNotice('The site was not asked whether it has these jobs.');
        const before = known === 0 ? '' : `, ${known === 1 ? '1 was' : `${known} were`} there already`;
        const next =
          added === 0 ? '' : ' The next sync sends all fields of these postings, unless their feed only creates jobs.';
        return printLine(`${plural(added, 'mapping')} imported${before}.${next}`);
      });
    });
}

/** Opens the file when the first line is read. Throws a UserError if it can't be read to the end, or is not UTF-8. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  let line = 0;
  const decode = (bytes?: Buffer): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw new UserError(`${file} is not UTF-8 after line ${line}. Nothing was imported.`, { cause });
    }
  };
  try {
    for await (const chunk of input) {
      const lines = (rest + decode(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        line++;
        yield text.replace(/\r$/, '');
      }
    }
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(`${file} can't be read: ${fileErrorInWords(cause as NodeJS.ErrnoException)}`, { cause });
  }
  rest += decode();
  if (rest !== '') yield rest;
}

function judge(end: ImportEnd, file: string): Extract<ImportEnd, { kind: 'imported' }> {
  switch (end.kind) {
    case 'imported':
      return end;
    case 'busy':
      throw new UserError(`feed ${end.feed} is being pulled right now; try again when that has ended`);
    case 'refused': {
      const lines = end.problems.map(({ line, message }) => `${file}:${line}: ${message}`);
      throw new UserError([...lines, ...(end.more ? ['… and more'] : []), 'Nothing was imported.'].join('\n'));
    }
    default:
      return end satisfies never;
  }
}

// `jobmirror mappings find`: finds postings and their jobs by key, job ID or words of a title, as the page /jobs does.

const SHOWN = 50;

function findCommand(): Command {
  return new Command('find')
    .description('find postings and their jobs by key, job ID or words of a title')
    .argument('<text>', 'a whole key or job ID, or beginnings of words of a title')
    .argument('[feed]', 'only of this feed')
    .option('--limit <n>', `titles at most (default: ${SHOWN})`, positiveNumber)
    .option('--json', 'print one JSON object per posting')
    .action((text: string, name: string | undefined, options: MappingOptions & { limit?: number }) =>
      withApp(options, async ({ db, config }) => {
        if (text.trim() === '') throw new UserError('the text is empty: name a key, a job ID or words of a title');
        const feed = name === undefined ? undefined : await namedFeed({ db, config }, name);
        const { named, titled, more } = await findJobs(db, text.trim(), feed, options.limit ?? SHOWN);
        const found = [...named, ...titled];
        if (options.json === true) {
          for (const job of found) await printJson(jobJson(job));
          return;
        }
        if (found.length === 0) return printLine(`Nothing was found. ${WAITING}`);
        await printLines(formatRows(FOUND_COLUMNS, found));
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

const FOUND_COLUMNS: readonly RowColumn<JobOfPosting>[] = [
  { title: 'FEED', cell: ({ feed }) => feed },
  { title: 'KEY', cell: ({ key }) => oneLine(key, 120) },
  { title: 'JOB', cell: ({ siteJobId }) => siteJobId ?? '-' },
  { title: 'STATE', cell: ({ state }) => state?.replace('_', ' ') ?? '-' },
  { title: 'TITLE', cell: ({ title }) => (title === null ? '-' : oneLine(title, 100)) },
  { title: 'URL', cell: ({ url }) => url ?? '-' },
];

// `jobmirror mappings adopt`: finds the site's jobs that belong to postings of a feed, and maps those that are confirmed.

function adoptCommand(): Command {
  return new Command('adopt')
    .description('match the jobs that the site already has to the postings of a feed, and map those that are confirmed')
    .argument('<feed>', 'the feed')
    .option('--sure', 'map all certain matches; without it, only show what was found')
    .option('--job <id>', 'with --posting: map this job')
    .option('--posting <key>', 'with --job: to this posting')
    .option('--anyway', 'with --job: even if it seems to be another job, or another posting’s')
    .option(...ACTOR)
    .option('--json', 'print one JSON object per posting')
    .addHelpText(
      'after',
      '\nNothing is sent: the next sync sets what differs between the mapped jobs and their postings.',
    )
    .action((name: string, options: AdoptOptions) => {
      if ((options.job === undefined) !== (options.posting === undefined))
        throw new UserError('--job and --posting belong together: the job, and the posting that it belongs to');
      if (options.job !== undefined && options.sure === true)
        throw new UserError('--sure maps all certain matches, --job only one: give one of them');
      if (options.anyway === true && options.job === undefined)
        throw new UserError('--anyway belongs to --job and --posting; certain matches need none');
      return withApp(options, async (app, signal) => {
        // Reads feeds and sites, which the other commands of this group do not need.
        const { adopt } = await import('../adopt-mappings.ts');
        return adopt(app, name, options, signal);
      });
    });
}
