// Starts or continues an action on many review entries, shows its progress, sends what became ready, and tells the result.
import type { Command } from 'commander';
import type { z } from 'zod';
import { type Config, namedFeeds } from '../config/config.ts';
import { pause } from '../flow/pause.ts';
import { bulkJson, bulkOutput } from '../operations/bulk-actions.ts';
import { type ActInput, actedOutput, feedResult, startAction } from '../operations/decisions.ts';
import { filterMembers, type filterSchema } from '../operations/review.ts';
import { operationWords, sendsAnything } from '../plan/allowed.ts';
import { plural } from '../plan/message.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { NamedQuery } from '../review/act-on-entries.ts';
import type { BulkOptions, BulkRun } from '../review/bulk/run-bulk.ts';
import { describeLeftAlone } from '../review/describe-selected.ts';
import type { App } from '../runtime/app.ts';
import { carryOutBulk } from '../runtime/bulk-runner.ts';
import { ExitStatus, UserError, worstStatus } from '../runtime/stop-signal.ts';
import { type ActedEntry, findEntries, knownFeeds } from '../store/change/act-in-review.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type BulkRow, findBulk, operationOf, skippedOfBulk } from '../store/review/bulk-actions.ts';
import { printJson, printLine, printNotice, startProgressLine } from '../telemetry/print.ts';
import { type CommonOptions, isEntryNumber, type WriteCommand } from './adapter/command-line.ts';
import { addOptions, type GivenOptions, givenMembers } from './adapter/operation-command.ts';
import { sendAndTell } from './send-and-tell.ts';

export interface BulkCommandOptions {
  readonly json: boolean;
  readonly send: boolean;
  readonly write: WriteCommand;
  readonly signal: AbortSignal;
}

/** Options of all commands that decide about entries. */
export interface DecisionOptions extends GivenOptions, CommonOptions {
  readonly count?: number;
  readonly seen?: string;
  readonly ifVersion?: string;
}

/** What a command prints that decides about entries, perhaps in batches. */
export const PRINTED_DECISIONS = [
  actedOutput.describe('For entries that are named by number, one object each:'),
  feedResult.describe('For a feed, or an action on many entries, one object per feed:'),
  bulkOutput.describe('And one for the action:'),
] as const;

/** Help of the option. */
export const ALSO_NEW_HELP = 'do it for new entries of the group as well, see: review rules';

/** Returns the exit status. @throws {OperationRefused} if nothing was started */
export async function startBulkCommand(
  app: App,
  request: ActInput,
  options: BulkCommandOptions & { readonly actor: string },
): Promise<ExitStatus> {
  const start = await startAction(request, { app, actor: options.actor });
  if (start.others.length > 0) {
    printNotice(['Left as they are:', ...describeLeftAlone(start.others)].join('\n  '));
  }
  if (start.rule !== undefined) {
    const end = options.write(['review', 'rules', 'end', String(start.rule)]);
    printNotice(`Rule ${start.rule} does the same for new entries of the group. To end it: ${end}`);
  }
  return runBulkCommand(app, start.bulk.id, options);
}

/** Carries out an action that was started. */
export async function runBulkCommand(app: App, id: number, options: BulkCommandOptions): Promise<ExitStatus> {
  const { json, send, write, signal } = options;
  const { bulk, acted } = await runShowing(app, id, options);
  if (bulk.state !== 'done' && signal.aborted) return ExitStatus.failed;
  const feeds = countFeeds(acted).map(([feed, done]) => ({
    feed,
    done,
    message: `${done} ${operationWords(operationOf(bulk.action)).done}`,
  }));
  const sends = send && sendsAnything(operationOf(bulk.action));
  const status = await sendAndTell(
    app,
    { action: bulk.action, entries: [], feeds, acted },
    { json, send: sends, write },
  );
  const skipped = await skippedOfBulk(app.db, id);
  if (json) await printJson(bulkJson(bulk, skipped));
  else {
    if (bulk.remaining > 0)
      await printLine(`${bulk.remaining} of them are still rejected, see: ${write(['review', 'groups'])}`);
    for (const { message, count } of skipped) await printLine(`${count} left alone: ${message}`);
  }
  if (bulk.state !== 'done' || bulk.done === 0) return ExitStatus.failed;
  return worstStatus([status, bulk.remaining + bulk.skipped > 0 ? ExitStatus.review : ExitStatus.done]);
}

/** Carries it out and shows the progress; says how to continue it if it is not done. @throws {UserError} if there is no such action */
export async function runShowing(
  app: App,
  id: number,
  { write, signal }: Pick<BulkCommandOptions, 'write' | 'signal'>,
): Promise<BulkRun> {
  const progress = startProgressLine();
  const onProgress: BulkOptions['onProgress'] = ({ done, skipped, total }, waitsFor) => {
    const wait = waitsFor === undefined ? '' : `, waiting for a pull of feed ${waitsFor} to end`;
    progress.show(`${done + skipped} of ${plural(total, 'entry', 'entries')}${wait}`);
  };
  const run = await carryOutAlone(app, id, { signal, onProgress }).finally(() => progress.clear());
  if (run === undefined) throw new UserError(`there is no bulk action ${id}`);
  if (run.bulk.state !== 'done') {
    printNotice(`${describeProgress(run.bulk)}. To continue: ${write(['review', 'continue', String(id)])}`);
  }
  return run;
}

const ASK_AGAIN_MS = 500;

/** While another process carries it out, shows how far that is. */
async function carryOutAlone(app: App, id: number, options: BulkOptions): Promise<BulkRun | undefined> {
  for (;;) {
    const run = await carryOutBulk(app, id, options);
    if (run !== 'taken') return run;
    const bulk = await findBulk(app.db, id);
    if (bulk === undefined) return undefined;
    if (bulk.state !== 'open' || options.signal.aborted) return { bulk, acted: [] };
    options.onProgress?.(bulk, undefined);
    await pause(ASK_AGAIN_MS, options.signal).catch(() => undefined);
  }
}

function describeProgress({ id, action, done, skipped, total, waitsFor }: BulkRow): string {
  const why = waitsFor === null ? '' : `; ${waitsFor}`;
  return `bulk action ${id} (${action}) is not done: ${done + skipped} of ${plural(total, 'entry', 'entries')}${why}`;
}

function countFeeds(acted: readonly ActedEntry[]): [FeedName, number][] {
  const counts = new Map<FeedName, number>();
  for (const { feed } of acted) counts.set(feed, (counts.get(feed) ?? 0) + 1);
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
}

// Options and arguments of review commands that select entries: by group, site, text and age, by feed, or by number.

/** What a selection is as the input of an operation. */
export type EntryFilter = z.output<typeof filterSchema>;

const { feed: _feed, ...NARROWING } = filterMembers;

/** How the members of a filter are called on the command line. */
export const FILTER_FORM = {
  flags: {
    group: 'group <group>',
    site: 'site <site>',
    q: 'text <text>',
    older_than: 'older-than <duration>',
    newer_than: 'newer-than <duration>',
    kind: 'kind <kind>',
  },
  help: {
    feed: 'only of this feed',
    group: 'only entries of this group, see: review groups',
    site: 'only of this site',
    q: 'only entries with words that begin with those of the text, in key, title, value or message',
    older_than: 'only entries that have waited so long, such as 12h or 3d',
    newer_than: 'only entries that have waited less, such as 30min',
  },
} as const;

/** Adds the options that narrow a selection. */
export const withFilterOptions = (command: Command): Command => addOptions(command, NARROWING, FILTER_FORM);

/** What the options select; `undefined` without any. */
export function filterOf(options: GivenOptions): EntryFilter | undefined {
  const given = givenMembers(NARROWING, FILTER_FORM, options);
  // A variable of a script may be empty; that must not select everything.
  if (typeof given.q === 'string' && given.q.trim() === '') throw new UserError('--text must name a word');
  return Object.keys(given).length === 0 ? undefined : (given as EntryFilter);
}

/** Narrows further to the feed that is named besides the options, if any. */
export function ofFeed(filter: EntryFilter, names: readonly string[]): EntryFilter {
  const [feed, other] = names;
  if (feed === undefined) return filter;
  if (other !== undefined || /^\d+$/.test(feed)) {
    throw new UserError('with --group or another selection, name at most one feed, and no entries');
  }
  return { ...filter, feed };
}

/** Entries by number and feeds by name. @throws {UserError} with all that are unknown: an entry may have been resolved since it was listed */
export async function namedQueries({ db, config }: App, names: readonly string[]): Promise<readonly NamedQuery[]> {
  const selected = await selectEntries(db, config, names);
  if (selected.kind === 'unknown') throw new UserError(selected.message);
  return selected.queries;
}

// Resolves entry numbers and feed names to what selects these entries, or reports those that do not exist.

export type Selected =
  | { readonly kind: 'selected'; readonly queries: readonly NamedQuery[] }
  /** Do nothing at all; `message` names everything unknown. */
  | { readonly kind: 'unknown'; readonly message: string };

/**
 * A name of digits only is an entry number. Feeds that are no longer configured are known as long as the database has
 * them.
 */
export async function selectEntries(db: Queryable, config: Config, names: readonly string[]): Promise<Selected> {
  const ids = [...new Set(names.filter(isEntryNumber).map(Number))];
  const feeds = [...new Set(names.filter((name) => !isEntryNumber(name)))] as FeedName[];
  const found = new Set((await findEntries(db, ids)).map((entry) => entry.id));
  const known = new Set([...namedFeeds(config), ...(feeds.length > 0 ? await knownFeeds(db) : [])]);
  const problems = [
    ...ids.filter((id) => !found.has(id)).map((id) => `there is no open review entry ${id}`),
    ...feeds
      .filter((feed) => !known.has(feed))
      .map((feed) => `there is no feed ${feed}; feeds: ${[...known].join(', ')}`),
  ];
  if (problems.length > 0) return { kind: 'unknown', message: `${problems.join('; ')}. Nothing was done.` };
  return { kind: 'selected', queries: [...(ids.length === 0 ? [] : [{ ids }]), ...feeds.map((feed) => ({ feed }))] };
}
