// Shows the undo of a pull, asks, commits it, sends what follows, and reports it like a pull.
import { planLineJson } from '../operations/plan.ts';
import { reportedPull } from '../operations/pulls.ts';
import { readUndo } from '../operations/undo.ts';
import { plural } from '../plan/message.ts';
import { readHeldOffers } from '../review/held-offer.ts';
import type { App } from '../runtime/app.ts';
import { exitStatusOf } from '../runtime/conclude-pull.ts';
import { type Engine, startEngine } from '../runtime/engine.ts';
import { sendAndConclude } from '../runtime/mirror-feed.ts';
import { STOP_WITHIN_MS, UserError } from '../runtime/stop-signal.ts';
import { commitUndoOf, type PlannedUndo } from '../runtime/undo-feed-pull.ts';
import { printJson, printLine, printNotice, startProgressLine } from '../telemetry/print.ts';
import { formatTime } from '../telemetry/times.ts';
import { actorName, type CommonOptions, commandWriter, type WriteCommand } from './adapter/command-line.ts';
import { expectAgreement } from './adapter/with-app.ts';
import { actionWriter, say } from './adapter/write-action.ts';
import { describeChange, describePull, describeUnsent } from './output/describe-pull.ts';

export interface UndoCommandOptions extends CommonOptions {
  readonly yes?: boolean;
}

/** @throws UserError if the pull can't be undone, or nobody confirms it; then nothing was changed. */
export async function undoAndSend(
  app: App,
  number: number,
  options: UndoCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const write = commandWriter(options.config);
  const plan = await readUndo(app, number, async (line) => {
    if (options.json === true) {
      await printJson(planLineJson(line, app.writeAction));
    } else await printLine(line.operation === 'none' ? describeUnsent(line, write) : describeChange(line, write));
  });
  const text = describeUndo(plan, write);
  if (changesNothing(plan.findings)) return printNotice(text);
  await confirm(text, number, options, write);
  await commitAndSend(app, plan, options, signal);
}

const changesNothing = ({ restored, deletes, withdrawn }: PlannedUndo['findings']): boolean =>
  restored + deletes + withdrawn === 0;

/** What the undo does, and what a person has to know before it. */
function describeUndo({ pull, findings }: PlannedUndo, write: WriteCommand): string {
  const { restored, createdAgain, createsWait, deletes, withdrawn, leftOut, holdReason } = findings;
  const { id, feed } = pull;
  if (changesNothing(findings)) {
    const why = leftOut === 0 ? 'the site is as it was before' : `${plural(leftOut, 'posting')} left out`;
    return `There is nothing to undo in pull ${id} of feed ${feed}: ${why}.`;
  }
  const left = leftOut === 0 ? '' : `; ${leftOut} left out`;
  return [
    `Undoing pull ${id} of feed ${feed}, of ${formatTime(pull.startedAt)}: ${createdAgain} to create again, ` +
      `${restored - createdAgain} to revert, ${deletes} to delete, ${plural(withdrawn, 'unsent change')} to withdraw${left}.`,
    ...(createdAgain === 0 ? [] : ['  Jobs that are created again get new job IDs.']),
    ...(createdAgain === 0 || !createsWait
      ? []
      : [
          `  They wait until somebody has decided about the changed keys of the feed: ${write(['feeds', 'rekey', feed])}`,
        ]),
    ...(holdReason === undefined ? [] : [`  The deletes are held: ${say(holdReason, write)}`]),
    `  Feed ${feed} is not pulled afterwards, because its source would bring this back, until: ${write(['feeds', 'resume', feed])}`,
  ].join('\n');
}

async function confirm(
  text: string,
  number: number,
  { yes, json }: UndoCommandOptions,
  write: WriteCommand,
): Promise<void> {
  if (yes === true) {
    if (json !== true) printNotice(text);
    return;
  }
  const unasked = ` To do it: ${write(['undo', String(number), '--yes'])}`;
  await expectAgreement([text], 'Undo it?', 'Nothing was changed.', unasked);
}

async function commitAndSend(
  app: App,
  { pull, currentPull }: PlannedUndo,
  options: UndoCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  const write = commandWriter(options.config);
  const undone = await commitUndoOf(app, pull.id, { currentPull }, actorName(options.as));
  if (undone.kind !== 'undone') throw new UserError(say(undone.message, write));
  const { setup, end, startedAt } = undone;
  const progress = startProgressLine();
  let engine: Promise<Engine> | undefined;
  const stopSending = async () => (await engine?.catch(() => undefined))?.stop(STOP_WITHIN_MS);
  try {
    const sending = () => {
      engine ??= startEngine(app, new Set([setup.site]));
      return engine;
    };
    const report = await sendAndConclude(app, sending, setup, { signal, progress, stopSending }, { end, startedAt });
    progress.clear();
    await (options.json === true
      ? printJson(reportedPull(report, actionWriter(write)))
      : printLine(describePull(report, write, (await readHeldOffers(app.db, app.config)).get(report.feed))));
    process.exitCode = exitStatusOf(report);
  } finally {
    progress.clear();
    await stopSending();
  }
}
