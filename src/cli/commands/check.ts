// `jobmirror check`: says how the configuration was understood, and on request what the sites answer.
import { Command } from 'commander';
import { CronExpressionParser } from 'cron-parser';
import type { Config, FeedConfig, SiteConfig } from '../../config/config.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import type { WriteCommand } from '../../review/possible-actions.ts';
import { createSiteClient } from '../../site/client.ts';
import type { Probe } from '../../site/exchange.ts';
import { readConfig } from '../books.ts';
import { type BooksCheck, checkBooks } from '../check-books.ts';
import { commandWriter, completeCommands } from '../command-line.ts';
import { ExitStatus } from '../exit-status.ts';
import { plainText, printJson, printLines } from '../print.ts';
import { formatTime } from '../times.ts';

type Answers = ReadonlyMap<SiteName, Probe>;

export function checkCommand(): Command {
  return new Command('check')
    .description('check the configuration, and say how it is understood')
    .option('--online', 'ask each site with one harmless GET whether its interface is there and takes the token')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action(async (options: { config?: string; json?: boolean; online?: boolean }) => {
      const config = await readConfig(options);
      const answers: Answers = options.online === true ? await probeSites(config) : new Map();
      const books = completed(await checkBooks(config), commandWriter(options.config));
      if (options.json === true) await printJson(toJson(config, answers, books));
      else await printLines(describe(config, answers, books));
      const wrong = [...answers.values()].some(({ kind }) => kind !== 'accepted');
      process.exitCode = wrong || books.problems.length > 0 ? ExitStatus.failed : ExitStatus.done;
    });
}

async function probeSites({ sites }: Config): Promise<Answers> {
  const answers = new Map<SiteName, Probe>();
  for (const { name, options } of sites.values()) {
    const client = createSiteClient(options);
    try {
      answers.set(name, await client.probe());
    } finally {
      await client.close();
    }
  }
  return answers;
}

const completed = ({ problems, warnings }: BooksCheck, write: WriteCommand): BooksCheck => ({
  problems: problems.map((text) => completeCommands(text, write)),
  warnings: warnings.map((text) => completeCommands(text, write)),
});

function describe(config: Config, answers: Answers, books: BooksCheck): string[] {
  return [
    books.problems.length === 0 ? `${config.path} is right.` : `${config.path} does not go with the books: see below.`,
    `database: ${config.database.kind === 'embedded' ? `embedded, in ${config.dataDir}` : 'Postgres'}`,
    `queue: ${config.queue.kind === 'database' ? 'in the database' : 'Redis'}`,
    ...[...config.sites.values()].flatMap((site) => describeSite(site, answers.get(site.name))),
    ...[...config.feeds.values()].flatMap(describeFeed),
    ...[...config.warnings, ...books.warnings].map((warning) => `warning: ${warning}`),
    ...books.problems.map((problem) => `problem: ${problem}`),
  ];
}

function describeSite({ name, options, requestsPerSecond, stateField }: SiteConfig, answer?: Probe): string[] {
  const doubts =
    options.listPath === undefined
      ? 'creates in doubt wait for a person: there is no list_path'
      : `creates in doubt are looked for in ${options.listPath}`;
  return [
    '',
    `site ${name}: ${options.baseUrl.href}`,
    `  at most ${requestsPerSecond} requests a second, ${options.concurrency} at once, ${options.timeoutMs / 1000} s each`,
    `  the state stands in ${stateField.name}, as ${stateField.values}; ${doubts}`,
    ...(answer === undefined ? [] : [`  asked now: ${ANSWERS[answer.kind]}: ${plainText(answer.message)}`]),
  ];
}

const ANSWERS: Readonly<Record<Probe['kind'], string>> = {
  accepted: 'it answers, and takes the token',
  forbidden: 'it takes the token, but not for this',
  unauthorized: 'it does not take the token',
  throttled: 'it has no time',
  unreachable: 'it is out of reach',
  unknown: 'nothing is proven',
  misconfigured: 'the interface does not show itself',
};

function describeFeed(feed: FeedConfig): string[] {
  const { percent, count, missingPulls } = feed.guard;
  const next = nextRun(feed);
  const schedule =
    next === undefined
      ? 'pulled only by sync'
      : `pulled at "${feed.schedule}" (${feed.timeZone}), next ${formatTime(next)}`;
  const grace = missingPulls > 1 ? `, after ${missingPulls} pulls without the posting` : '';
  return [
    '',
    `feed ${feed.name}: ${placeOf(feed)}`,
    `  into site ${feed.siteName}; ${schedule}`,
    `  key: ${feed.mapping.key.paths.join(' | ')}; fields: ${Object.keys(feed.mapping.fields).join(', ')}`,
    `  deletes are held above ${count} and ${percent} % in 24 hours${grace}`,
  ];
}

/** Without its query, in which keys are sent that are nobody else's business. */
function placeOf({ source: { location } }: FeedConfig): string {
  const query = URL.canParse(location) ? location.indexOf('?') : -1;
  return query < 0 ? location : `${location.slice(0, query)}?…`;
}

const nextRun = ({ schedule, timeZone }: FeedConfig): Date | undefined =>
  schedule === undefined ? undefined : CronExpressionParser.parse(schedule, { tz: timeZone }).next().toDate();

function toJson(config: Config, answers: Answers, books: BooksCheck): object {
  return {
    path: config.path,
    database: config.database.kind,
    queue: config.queue.kind,
    sites: [...config.sites.values()].map(({ name, options }) => ({
      site: name,
      base_url: options.baseUrl.href,
      reference_field: options.referenceField ?? null,
      list_path: options.listPath ?? null,
      answer: answers.get(name)?.kind ?? null,
      answer_message: answers.get(name)?.message ?? null,
    })),
    feeds: [...config.feeds.values()].map((feed) => ({
      feed: feed.name,
      site: feed.siteName,
      source: placeOf(feed),
      schedule: feed.schedule ?? null,
      time_zone: feed.timeZone,
      next_run: nextRun(feed) ?? null,
      fields: Object.keys(feed.mapping.fields),
    })),
    warnings: [...config.warnings, ...books.warnings],
    problems: books.problems,
  };
}
