// Adopts the site jobs that a search found for a feed, where their posting is certain. Asks for confirmation first.
import { foundOf, siteOfFeed } from '../../operations/adoption.ts';
import { expectNotMoved } from '../../operations/sites.ts';
import { plural } from '../../plan/plural.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { type FoundJobsOfFeed, type LeftEntry, readFoundJobs, startAdoptingFound } from '../../review/adopt-found.ts';
import type { BulkRun } from '../../review/bulk/run-bulk.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError, worstStatus } from '../../runtime/exit-status.ts';
import { leftAlone } from '../../store/review/bulk-actions.ts';
import type { FoundOf } from '../../store/review/found-entries.ts';
import { ask, printJson, printLine } from '../../telemetry/print.ts';
import { actorName } from '../adapter/actor.ts';
import { commandWriter } from '../adapter/command-line.ts';
import { say } from '../adapter/write-action.ts';
import { runShowing } from '../review/run-bulk-command.ts';
import { sendAndTell } from '../review/send-and-tell.ts';

export interface AdoptFoundOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly yes?: boolean;
  readonly send: boolean;
}

const MOST_NAMED = 20;

export async function adoptFoundOf(
  app: App,
  feed: FeedName,
  options: AdoptFoundOptions,
  signal: AbortSignal,
): Promise<void> {
  const site = siteOfFeed(app, feed);
  await expectNotMoved(app, site);
  const of = foundOf(feed, site);
  const found = await readFoundJobs(app.db, of);
  const { sure, left: ambiguous } = found;
  if (sure.length > 0 && options.yes !== true) await askToAdopt(feed, sure.length, ambiguous.length, options);
  const run = sure.length === 0 ? undefined : await adopt(app, of, found.mark, options, signal);
  const isDone = run === undefined || run.bulk.state === 'done';
  if (!isDone && signal.aborted) {
    process.exitCode = ExitStatus.failed;
    return;
  }
  const acted = run?.acted ?? [];
  const left = [...ambiguous, ...(run === undefined ? [] : await refusedOf(app, run, found))];
  const message = describe(acted.length, left.length);
  const act = { action: 'settle', entries: [], feeds: [{ feed, done: acted.length, message }], acted };
  const status = await sendAndTell(app, act, {
    json: options.json === true,
    send: options.send,
    write: commandWriter(options.config),
  });
  await reportLeft(feed, left, options);
  const progress = isDone ? ExitStatus.done : ExitStatus.failed;
  process.exitCode = worstStatus([status, progress, left.length > 0 ? ExitStatus.review : ExitStatus.done]);
}

async function askToAdopt(feed: FeedName, sure: number, left: number, options: AdoptFoundOptions): Promise<void> {
  const lines = [
    `This adopts ${plural(sure, 'job')} on the site for feed ${feed}: each shows exactly the reference of a posting, or else ` +
      'everything that was found to be the same, and no other posting or job does. Their other fields are set to the values in the feed.',
    ...(left === 0 ? [] : [`${plural(left, 'found job')} ${left === 1 ? 'is' : 'are'} left: decide one by one.`]),
  ];
  const answer = await ask(`${lines.join('\n')}\nAdopt them? [y/N] `);
  if (answer === undefined) {
    const write = commandWriter(options.config);
    const ways = [
      `  see them:       ${write(['review', 'list', feed])}`,
      `  adopt them:     ${write(['review', 'settle', feed, '--found', '--yes'])}`,
    ];
    throw new UserError([...lines, 'Nothing was adopted.', ...ways].join('\n'));
  }
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new UserError('Nothing was adopted.');
}

/** Adopts exactly those that the person has seen. */
async function adopt(
  app: App,
  of: FoundOf,
  mark: string,
  options: AdoptFoundOptions,
  signal: AbortSignal,
): Promise<BulkRun> {
  const write = commandWriter(options.config);
  const start = await startAdoptingFound(app.db, app.config, { of, mark, actor: actorName(options.as) });
  if (start.kind === 'refused') throw new UserError(say(start.message, write));
  return runShowing(app, start.bulk.id, { write, signal });
}

/** The certain ones that were left alone, in their order. */
async function refusedOf({ db }: App, { bulk }: BulkRun, { sure }: FoundJobsOfFeed): Promise<LeftEntry[]> {
  const reasons = new Map((await leftAlone(db, bulk.id, sure.length)).map(({ entry, why }) => [entry, why]));
  return sure.flatMap(({ entry, key, siteJobId }) => {
    const message = reasons.get(entry);
    return message === undefined ? [] : [{ entry, key, siteJobId, message }];
  });
}

function describe(adopted: number, left: number): string {
  const done = adopted === 0 ? 'no job adopted' : `${plural(adopted, 'job')} adopted`;
  return left === 0 ? done : `${done}; ${plural(left, 'found job')} left: decide one by one`;
}

async function reportLeft(feed: FeedName, left: readonly LeftEntry[], options: AdoptFoundOptions): Promise<void> {
  if (options.json === true) {
    for (const { entry, key, siteJobId, message } of left) {
      await printJson({ action: 'settle', entry, feed, key, job_id: siteJobId, result: 'left', message });
    }
    return;
  }
  for (const { entry, key, message } of left.slice(0, MOST_NAMED)) {
    await printLine(`${entry} ${feed} ${key}: left: ${message}`);
  }
  if (left.length === 0) return;
  const write = commandWriter(options.config);
  if (left.length > MOST_NAMED)
    await printLine(`and ${left.length - MOST_NAMED} more: ${write(['review', 'list', feed])}`);
  await printLine(`Decide with: ${write(['review', 'settle', 'ID', '--exists', 'JOBID'])} or --missing`);
}
