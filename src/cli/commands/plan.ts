// `jobmirror plan`: prints each change that a sync would send, field by field, without sending it.
import { Command } from 'commander';
import { planLineJson, plannedOutput, unsentOutput } from '../../operations/plan.ts';
import { plural } from '../../plan/message.ts';
import { describeNothingMirrored, type MirroredCounts, mirroredNothing } from '../../plan/set-up-suspicion.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { type PlanEnd, planFeed } from '../../pull/preview/dry-run.ts';
import { type App, openAppFor, readConfig } from '../../runtime/app.ts';
import { chooseFeeds } from '../../runtime/feed-setups.ts';
import { ExitStatus, untilSignalled, worstStatus } from '../../runtime/stop-signal.ts';
import {
  formatBytes,
  OutputFailedError,
  printJson,
  printLine,
  printNotice,
  startProgressLine,
  stopPrintingOn,
} from '../../telemetry/print.ts';
import { CONFIG, commandWriter, type WriteCommand } from '../adapter/command-line.ts';
import { printing } from '../adapter/operation-command.ts';
import { actionWriter, say } from '../adapter/write-action.ts';
import { describeChange, describeUnsent } from '../output/describe-pull.ts';

export function planCommand(): Command {
  const command = new Command('plan')
    .argument('[feed...]', 'names of feeds; all of the configuration if none is given')
    .option(...CONFIG)
    .option('--json', 'print one JSON object per change, and one per posting that is not sent');
  return printing(command, plannedOutput, unsentOutput).action(
    async (names: string[], options: { config?: string; json?: boolean }) => {
      const config = await readConfig(options);
      const { setups, broken } = chooseFeeds(config, names);
      const write = commandWriter(options.config);
      await untilSignalled(async (signal) => {
        stopPrintingOn(signal);
        const statuses: ExitStatus[] = broken.map(({ feed, message }) => fail(feed, message));
        if (setups.length > 0) {
          const app = await openAppFor(config, {
            quiet: true,
            json: options.json,
            signal,
            writeAction: actionWriter(write),
          });
          try {
            for (const setup of setups) statuses.push(await planOne(app, setup, signal, options.json === true, write));
          } finally {
            await app.close();
          }
        }
        process.exitCode = worstStatus(statuses);
      });
    },
  );
}

/** Prints the plan of one feed. A failure does not stop the other feeds. */
async function planOne(
  app: App,
  setup: FeedSetup,
  signal: AbortSignal,
  json: boolean,
  write: WriteCommand,
): Promise<ExitStatus> {
  const progress = startProgressLine();
  const counts = { create: 0, update: 0, delete: 0 };
  const onProgress = ({ records, bytes }: { records: number; bytes: number }) =>
    progress.show(`${setup.feed}: reading, ${records} records, ${formatBytes(bytes)}`);
  const onDetails = (done: number, all: number) =>
    progress.show(`${setup.feed}: requesting details, ${done} of ${all}`);
  try {
    const context = { db: app.db, log: app.log, signal, onProgress, onDetails };
    const end = await planFeed(setup, context, async (line) => {
      progress.clear();
      if (line.operation !== 'none') counts[line.operation]++;
      if (json) await printJson(planLineJson(line, app.writeAction));
      else if (line.operation === 'none') await printLine(describeUnsent(line, write));
      else await printLine(describeChange(line, write));
    });
    progress.clear();
    if (end.kind === 'busy') return fail(setup.feed, 'it is being pulled right now; try again later');
    if (end.kind === 'failed') return fail(setup.feed, say(end.message, write));
    printNotice(
      `${setup.feed}: ${end.seen} seen: ${counts.create} to create, ${counts.update} to update, ` +
        `${counts.delete} to delete, ${end.unchanged} unchanged, ${end.rejected} rejected, ` +
        `${plural(end.duplicates, 'duplicate')}, ${end.unreadable} unreadable${furtherCounts(end)}`,
    );
    for (const warning of end.warnings) printNotice(`${setup.feed}: warning: ${warning}`);
    const outcome = outcomeOf(end, counts);
    if (mirroredNothing(outcome)) {
      printNotice(`  ${say(describeNothingMirrored(outcome, end.common, end.live, 'would be'), write)}`);
    }
    if (end.holdReason !== undefined) printNotice(`  deletes would be held: ${say(end.holdReason, write)}`);
    for (const shortfall of end.shortfalls) {
      printNotice(`  nothing would be deleted: ${say(shortfall, write)}`);
    }
    return end.shortfalls.length > 0 ? ExitStatus.failed : ExitStatus.done;
  } catch (error) {
    if (signal.aborted || error instanceof OutputFailedError) throw error;
    return fail(setup.feed, error instanceof Error ? error.message : String(error));
  } finally {
    progress.clear();
  }
}

type Planned = Extract<PlanEnd, { kind: 'planned' }>;

/** The counts that are usually 0, if they are not. */
const furtherCounts = ({ skipped, failed, discarded, inDoubt }: Planned): string =>
  [
    skipped > 0 ? `, ${skipped} skipped` : '',
    failed > 0 ? `, ${failed} failed before` : '',
    discarded > 0 ? `, ${discarded} discarded` : '',
    inDoubt > 0 ? `, ${inDoubt} in doubt` : '',
  ].join('');

/** The counts that a sync would have. */
const outcomeOf = (
  end: Planned,
  planned: Readonly<Record<'create' | 'update' | 'delete', number>>,
): MirroredCounts => ({
  ...end,
  created: planned.create,
  updated: planned.update,
  deleted: planned.delete,
  pending: 0,
  in_doubt: end.inDoubt,
  rejected: end.rejected + end.discarded,
});

function fail(feed: FeedName, message: string): ExitStatus {
  printNotice(`${feed}: ${message}`);
  return ExitStatus.failed;
}
