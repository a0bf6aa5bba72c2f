// `jobmirror report`: what became of each posting of a feed, for whoever produces the feed.

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Command, Option } from 'commander';
import { z } from 'zod';
import { fileErrorInWords } from '../../config/settings-file.ts';
import { namedFeed } from '../../operations/operation.ts';
import {
  type PostingReport,
  readFeedReport,
  reportLineOf,
  reportLineOutput,
  reportOf,
  reportOutput,
} from '../../operations/report.ts';
import { momentOf, momentText } from '../../operations/scalars.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { type App, configSecrets } from '../../runtime/app.ts';
import { UserError } from '../../runtime/stop-signal.ts';
import { inSnapshot, type Session } from '../../store/postgres/database.ts';
import {
  LINE_STATES,
  type LineFilter,
  type LineState,
  type ReportLine,
  reportLines,
} from '../../store/status/report-lines.ts';
import { createScrub } from '../../telemetry/log.ts';
import { printData, printLines, terminalText } from '../../telemetry/print.ts';
import { CONFIG, type CommonOptions, fileToReplace, positiveNumber } from '../adapter/command-line.ts';
import { printing, readerOf } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import { reportHtml } from '../output/report-html.ts';
import { reportHeader, reportRow, reportText } from '../output/report-text.ts';
import type { Section } from '../output/report-words.ts';

interface ReportOptions extends CommonOptions {
  readonly html?: boolean;
  readonly csv?: boolean;
  readonly output?: string;
  readonly state?: readonly LineState[];
  readonly since?: Date;
  readonly pulls: number;
  readonly limit?: number;
}

const SHOWN_LINES = 10;
const HTML_LINES = 500;
const TREND_PULLS = 15;

export function reportCommand(): Command {
  const command = new Command('report')
    .argument('<feed>', 'name of the feed')
    .addOption(
      new Option('--html', 'one page to mail: no scripts, nothing loaded from elsewhere').conflicts(['csv', 'json']),
    )
    .addOption(new Option('--csv', 'a line per posting, for spreadsheets').conflicts(['html', 'json']))
    .addOption(new Option('--json', 'one JSON object with the counts, then one per posting').conflicts(['html', 'csv']))
    .option('--output <file>', 'write to this file, which is replaced once the report is whole')
    .addOption(new Option('--state <state...>', 'list only postings and records in these states').choices(LINE_STATES))
    .option('--since <time>', 'list only what came into its state since then, such as 2026-03-20', (text) =>
      momentOf(readerOf(momentText)(text)),
    )
    .option('--pulls <n>', 'pulls in the trend', positiveNumber, TREND_PULLS)
    .option(
      '--limit <n>',
      `postings at most in each list (default: ${SHOWN_LINES}, with --html ${HTML_LINES}; --csv and --json list all)`,
      positiveNumber,
    )
    .option(...CONFIG);
  return printing(command, reportOutput, reportLineOutput).action((name: string, options: ReportOptions) =>
    withApp(options, async (app, signal) => {
      const feed = await namedFeed(app, name);
      if (options.limit !== undefined && (options.csv === true || options.json === true)) {
        throw new UserError('--limit applies to the lists of --html and of the terminal; --csv and --json list all');
      }
      if (options.csv !== true && options.json !== true && options.html !== true && options.output === undefined) {
        return printLines(await inSnapshot(app.db, (session) => textLines(sourceOf(session, app, feed), options)));
      }
      await deliver(options.output, async (write) => {
        const writeOn: Write = (text) => {
          signal.throwIfAborted();
          return write(text);
        };
        await inSnapshot(app.db, (session) => writeReport(sourceOf(session, app, feed), options, writeOn));
      });
    }),
  );
}

/** Reads the parts of a report, without secrets: a text that is cut afterwards could show a part of one. */
interface ReportSource {
  readonly feed: FeedName;
  report(options: ReportOptions): Promise<PostingReport>;
  lines(filter: LineFilter): AsyncGenerator<ReportLine>;
}

function sourceOf(session: Session, { config }: App, feed: FeedName): ReportSource {
  const scrub = createScrub(configSecrets(config));
  return {
    feed,
    report: async ({ pulls, since }) => scrubbed(await readFeedReport(session, config, feed, { pulls, since }), scrub),
    async *lines(filter) {
      for await (const line of reportLines(session, feed, filter)) yield scrubbed(line, scrub);
    },
  };
}

async function writeReport(source: ReportSource, options: ReportOptions, write: Write): Promise<void> {
  const filter = { states: options.state ?? LINE_STATES, since: options.since };
  if (options.csv === true) {
    await write(`${reportHeader}\n`);
    for await (const line of source.lines(filter)) await write(`${reportRow(source.feed, line)}\n`);
  } else if (options.json === true) {
    const writeJson = (value: unknown) => write(`${terminalText(JSON.stringify(value))}\n`);
    await writeJson(z.encode(reportOutput, reportOf(await source.report(options))));
    for await (const line of source.lines(filter)) await writeJson(z.encode(reportLineOutput, reportLineOf(line)));
  } else if (options.html === true) {
    const report = await source.report(options);
    await write(reportHtml(report, await sectionsOf(source, report, options, HTML_LINES, LINE_STATES)));
  } else {
    await write(`${(await textLines(source, options)).map(terminalText).join('\n')}\n`);
  }
}

async function textLines(source: ReportSource, options: ReportOptions): Promise<string[]> {
  const report = await source.report(options);
  const states = LINE_STATES.filter((state) => state !== 'live');
  return reportText(report, await sectionsOf(source, report, options, SHOWN_LINES, states));
}

/** The lists of the report, each with its first lines. */
async function sectionsOf(
  source: ReportSource,
  { listed, since }: PostingReport,
  { state: states, limit }: ReportOptions,
  usualLimit: number,
  usualStates: readonly LineState[],
): Promise<Section[]> {
  const sections: Section[] = [];
  for (const state of LINE_STATES) {
    if (!(states ?? usualStates).includes(state) || listed.lines[state] === 0) continue;
    const lines: ReportLine[] = [];
    for await (const line of source.lines({ states: [state], since, limit: limit ?? usualLimit })) lines.push(line);
    sections.push({ state, total: listed.lines[state], lines });
  }
  return sections;
}

/** The same with every text scrubbed. */
function scrubbed<T>(value: T, scrub: (text: string) => string): T {
  if (typeof value === 'string') return scrub(value) as T;
  if (Array.isArray(value)) return value.map((each) => scrubbed(each, scrub)) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, scrubbed(each, scrub)])) as T;
}

// Delivers a report that may be larger than the memory: to a file, which appears once it is whole, or to standard output.

/** Takes the next text, with its line feeds; resolves when more may be written. */
type Write = (text: string) => Promise<void>;

/**
 * Delivers what `work` writes.
 * @param file `undefined`: standard output, once everything is read, as a slow reader must not hold up the database.
 * @throws UserError if the file can't be written; then a former file of that name is unchanged.
 */
async function deliver(file: string | undefined, work: (write: Write) => Promise<void>): Promise<void> {
  if (file !== undefined) return writeFile(resolve(file), work);
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-report-'));
  try {
    const spool = join(folder, 'report');
    await writeFile(spool, work);
    const lines = createInterface({ input: createReadStream(spool, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) await printData(line);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeFile(path: string, work: (write: Write) => Promise<void>): Promise<void> {
  fileToReplace(path);
  const partial = `${path}.partial`;
  const out = createWriteStream(partial);
  const closed = once(out, 'close');
  const failed = once(out, 'error').then(([error]) => Promise.reject(error as Error));
  // Reported by the next write or by the end; never an unhandled rejection meanwhile.
  failed.catch(() => undefined);
  closed.catch(() => undefined);
  try {
    await Promise.race([once(out, 'open'), failed]);
    await work(async (text) => {
      if (out.errored !== null) throw out.errored;
      if (!out.write(text)) await Promise.race([once(out, 'drain'), failed]);
    });
    out.end();
    await Promise.race([closed, failed]);
    await rename(partial, path);
  } catch (error) {
    out.destroy();
    await rm(partial, { force: true });
    throw isOfFile(error)
      ? new UserError(`${path} can't be written: ${fileErrorInWords(error)}`, { cause: error })
      : error;
  }
}

const isOfFile = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && ['open', 'write', 'close', 'rename'].includes(String(error.syscall));
