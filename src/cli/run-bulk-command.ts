// Starts or continues an action on many review entries, shows its progress, sends what became ready, and tells the result.
import { plural } from '../plan/plural.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { DONE } from '../review/act-on-entries.ts';
import { runBulk } from '../review/bulk/run-bulk.ts';
import { type BulkRequest, startBulk } from '../review/bulk/start-bulk.ts';
import { bulkJson } from '../review/read-model/bulk.ts';
import type { App } from '../runtime/app.ts';
import { ExitStatus, UserError, worst } from '../runtime/exit-status.ts';
import type { ActedEntry } from '../store/change/act-in-review.ts';
import { type BulkKind, type BulkRow, skippedOfBulk } from '../store/review/bulk-actions.ts';
import { printJson, printLine, printNotice } from '../telemetry/print.ts';
import { startProgressLine } from '../telemetry/progress-line.ts';
import type { WriteCommand } from './command-line.ts';
import { sendAndTell } from './send-and-tell.ts';

export interface BulkCommandOptions {
  readonly json: boolean;
  readonly send: boolean;
  readonly write: WriteCommand;
  readonly signal: AbortSignal;
}

/** Help of the option. */
export const ALSO_NEW = 'do it for new entries of the group as well, see: review rules';

/** Returns the exit status. Throws a UserError if nothing was started. */
export async function startBulkCommand(
  app: App,
  request: BulkRequest,
  options: BulkCommandOptions,
): Promise<ExitStatus> {
  const start = await startBulk(app.db, request);
  if (start.kind === 'refused') throw new UserError(start.message);
  if (start.rule !== undefined) {
    const end = options.write(['review', 'rules', 'end', String(start.rule)]);
    printNotice(`Rule ${start.rule} does the same for new entries of the group. To end it: ${end}`);
  }
  return runBulkCommand(app, start.bulk.id, options);
}

/** Carries out an action that was started. */
export async function runBulkCommand(app: App, id: number, options: BulkCommandOptions): Promise<ExitStatus> {
  const { json, send, write, signal } = options;
  const progress = startProgressLine();
  const run = await runBulk(app.db, app.config, id, {
    signal,
    onProgress: ({ done, skipped, total }, waitsFor) => {
      const wait = waitsFor === undefined ? '' : `, waiting for a pull of feed ${waitsFor} to end`;
      progress.show(`${done + skipped} of ${plural(total, 'entry', 'entries')}${wait}`);
    },
  }).finally(() => progress.clear());
  if (run === undefined) throw new UserError(`there is no bulk action ${id}`);
  const { bulk, acted } = run;
  if (bulk.state !== 'done') {
    printNotice(`${describeProgress(bulk)}. To continue: ${write(['review', 'continue', String(id)])}`);
    if (signal.aborted) return ExitStatus.failed;
  }
  const feeds = countFeeds(acted).map(([feed, done]) => ({
    feed,
    done,
    message: `${done} ${DONE_OR_EDITED[bulk.action]}`,
  }));
  const sends = send && SENDS.has(bulk.action);
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
  return worst([status, bulk.remaining + bulk.skipped > 0 ? ExitStatus.review : ExitStatus.done]);
}

const describeProgress = ({ id, action, done, skipped, total }: BulkRow): string =>
  `bulk action ${id} (${action}) is not done: ${done + skipped} of ${plural(total, 'entry', 'entries')}`;

const DONE_OR_EDITED: Readonly<Record<BulkKind, string>> = {
  ...DONE,
  edit: 'edited',
  missing: 'to be sent again',
  check: 'to be looked for in the list of the site again',
};

const SENDS: ReadonlySet<BulkKind> = new Set(['edit', 'retry', 'approve', 'missing', 'check']);

function countFeeds(acted: readonly ActedEntry[]): [FeedName, number][] {
  const counts = new Map<FeedName, number>();
  for (const { feed } of acted) counts.set(feed, (counts.get(feed) ?? 0) + 1);
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
}
