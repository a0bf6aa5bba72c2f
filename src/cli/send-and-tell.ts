// Sends the changes that a review action made ready, and tells the outcome of each entry.
import type { ActResult, EntryReport, FeedReport } from '../review/act-on-entries.ts';
import { type EntryOutcome, outcomeOf, outcomesOf, STATE_WORDS } from '../review/entry-outcome.ts';
import { actedJson } from '../review/read-model/acted.ts';
import type { App } from '../runtime/app.ts';
import { ExitStatus, worstStatus } from '../runtime/exit-status.ts';
import { printJson, printLine } from '../telemetry/print.ts';
import type { WriteCommand } from './command-line.ts';
import { actionWriter, say } from './write-action.ts';

/** The result of a review action with the word that names it. */
export interface NamedResult extends ActResult {
  readonly action: string;
}

export interface TellOptions {
  readonly json: boolean;
  /** Whether to send the ready changes in this process. */
  readonly send: boolean;
  readonly write: WriteCommand;
}

/** Reports, sends, and reports the outcomes; with `json`, prints all of it at the end. Returns the exit status. */
export async function sendAndTell(app: App, act: NamedResult, options: TellOptions): Promise<ExitStatus> {
  const { json, send, write } = options;
  if (!json) {
    for (const entry of act.entries) await printLine(entryLine(entry, describeResult(entry, write)));
    for (const feed of act.feeds) await printLine(`${feed.feed}: ${feedMessage(feed)}`);
  }
  const sends = send && act.acted.length > 0;
  if (sends) {
    // Loaded here: showing and refusing entries needs nothing of what sends.
    const { sendWaiting } = await import('../runtime/send-waiting.ts');
    await sendWaiting(app, [...new Set(act.acted.map((entry) => entry.feed))]);
  }
  const statuses = [await reportEntries(app, act, options, sends), await reportFeeds(app, act, json, sends)];
  return worstStatus(statuses);
}

async function reportEntries(
  app: App,
  act: NamedResult,
  { json, write }: TellOptions,
  sent: boolean,
): Promise<ExitStatus> {
  const statuses: ExitStatus[] = [];
  for (const entry of act.entries) {
    const done = entry.result === 'done';
    const now = sent && done ? await outcomeOf(app.db, entry) : undefined;
    statuses.push(done ? statusOf(now?.outcome) : ExitStatus.failed);
    if (json) await printJson(actedJson(act.action, entry, now, actionWriter(write)));
    else if (now !== undefined) await printLine(entryLine(entry, say(now.message, write)));
  }
  return worstStatus(statuses);
}

async function reportFeeds(app: App, act: NamedResult, json: boolean, sent: boolean): Promise<ExitStatus> {
  const statuses: ExitStatus[] = [];
  const outcomes = sent && act.feeds.length > 0 ? await outcomesOf(app.db, act.acted) : undefined;
  for (const reported of act.feeds) {
    const { feed, done, kinds } = reported;
    const counts = [...(outcomes?.get(feed) ?? [])].filter(([, count]) => count > 0);
    statuses.push(...counts.map(([outcome]) => statusOf(outcome)));
    if (json) {
      const now = outcomes === undefined ? null : Object.fromEntries(counts);
      const message = feedMessage(reported);
      await printJson({ action: act.action, feed, done, message, ...(kinds === undefined ? {} : { kinds }), now });
    } else if (counts.length > 0) {
      const parts = counts.map(([outcome, count]) => `${count} ${STATE_WORDS[outcome]}`);
      await printLine(`${feed}: ${parts.join(', ')}`);
    }
  }
  return worstStatus(statuses);
}

/** A change that is still ready or sending could not be sent now; any other that is not done needs a person again. */
function statusOf(outcome: EntryOutcome | undefined): ExitStatus {
  if (outcome === undefined || outcome === 'done' || outcome === 'discarded') return ExitStatus.done;
  return outcome === 'ready' || outcome === 'sending' ? ExitStatus.failed : ExitStatus.review;
}

const feedMessage = ({ message, leftInDoubt }: FeedReport): string =>
  leftInDoubt === undefined ? message : `${message}; ${leftInDoubt} not discarded: in doubt, use review settle`;

const describeResult = ({ result, message }: EntryReport, write: WriteCommand): string =>
  result === 'done' ? say(message, write) : `not applicable: ${say(message, write)}`;

function entryLine({ entry, feed, key }: EntryReport, text: string): string {
  return `${entry} ${feed}${key === null ? '' : ` ${key}`}: ${text}`;
}
