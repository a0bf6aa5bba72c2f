// Starts or continues an action on many review entries, shows its progress, sends what became ready, and tells the result.
import { pause } from '../../flow/pause.ts';
import { bulkJson, bulkOutput } from '../../operations/bulk-actions.ts';
import { type ActInput, actedOutput, feedResult, startAction } from '../../operations/decisions.ts';
import { operationWords, sendsAnything } from '../../plan/allowed.ts';
import { plural } from '../../plan/plural.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { BulkOptions, BulkRun } from '../../review/bulk/run-bulk.ts';
import { describeLeftAlone } from '../../review/describe-selected.ts';
import type { App } from '../../runtime/app.ts';
import { carryOutBulk } from '../../runtime/carry-out-bulk.ts';
import { ExitStatus, UserError, worstStatus } from '../../runtime/exit-status.ts';
import type { ActedEntry } from '../../store/change/act-in-review.ts';
import { type BulkRow, findBulk, operationOf, skippedOfBulk } from '../../store/review/bulk-actions.ts';
import { printJson, printLine, printNotice } from '../../telemetry/print.ts';
import { startProgressLine } from '../../telemetry/progress-line.ts';
import type { WriteCommand } from '../adapter/command-line.ts';
import { sendAndTell } from './send-and-tell.ts';

export interface BulkCommandOptions {
  readonly json: boolean;
  readonly send: boolean;
  readonly write: WriteCommand;
  readonly signal: AbortSignal;
}

/** What a command prints that decides about entries, perhaps in batches. */
export const PRINTED_DECISIONS = [
  actedOutput.describe('For entries that are named by number, one object each:'),
  feedResult.describe('For a feed, or an action on many entries, one object per feed:'),
  bulkOutput.describe('And one for the action:'),
] as const;

/** Help of the option. */
export const ALSO_NEW = 'do it for new entries of the group as well, see: review rules';

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
