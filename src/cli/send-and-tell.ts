// Sends the changes that a review action made ready, and tells the outcome of each entry.
import type { z } from 'zod';
import type { actedOutput, decideNamed } from '../operations/decisions.ts';
import { type EntryOutcome, outcomeOf, outcomesOf, STATE_WORDS } from '../review/entry-facts.ts';
import type { App } from '../runtime/app.ts';
import { sendWaiting } from '../runtime/await-quiet.ts';
import { ExitStatus, worstStatus } from '../runtime/stop-signal.ts';
import type { ActedEntry } from '../store/change/act-in-review.ts';
import { printJson, printLine, printNotice } from '../telemetry/print.ts';
import type { WriteCommand } from './adapter/command-line.ts';
import { say, sayAll } from './adapter/write-action.ts';

type Acted = z.output<typeof actedOutput>;
type ActedFeed = z.output<typeof decideNamed.output>['feeds'][number];

/** The result of a review action with the word that names it. */
interface NamedResult {
  readonly action: string;
  readonly entries: readonly Acted[];
  readonly feeds: readonly Omit<ActedFeed, 'action' | 'now'>[];
  /** Every entry that was changed. */
  readonly acted: readonly ActedEntry[];
}

export interface TellOptions {
  readonly json: boolean;
  /** Whether to send the ready changes in this process. */
  readonly send: boolean;
  readonly write: WriteCommand;
}

/** Reports, sends, and reports the outcomes; with `json`, prints all of it at the end. Returns the exit status. */
export async function sendAndTell(app: App, act: NamedResult, options: TellOptions): Promise<ExitStatus> {
  const { json, send } = options;
  if (!json) {
    for (const entry of act.entries) await printLine(entryLine(entry, describeResult(entry)));
    for (const { feed, message } of act.feeds) await printLine(`${feed}: ${message}`);
  }
  const sends = send && act.acted.length > 0;
  const paused = sends ? await sendWaiting(app, [...new Set(act.acted.map((entry) => entry.feed))]) : [];
  if (paused.length > 0) printNotice(`${sayAll(paused, options.write)}. What is ready to be sent waits for that.`);
  const isPaused = paused.length > 0;
  const statuses = [
    await reportEntries(app, act, options, { sends, isPaused }),
    await reportFeeds(app, act, json, { sends, isPaused }),
  ];
  return worstStatus(statuses);
}

async function reportEntries(
  app: App,
  act: NamedResult,
  { json, write }: TellOptions,
  { sends, isPaused }: Sent,
): Promise<ExitStatus> {
  const statuses: ExitStatus[] = [];
  for (const entry of act.entries) {
    const done = entry.result === 'done';
    const now = sends && done ? await outcomeOf(app.db, entry) : undefined;
    statuses.push(done ? statusOf(now?.outcome, isPaused) : ExitStatus.failed);
    const told = now && say(now.message, write);
    if (json) await printJson({ ...entry, now: now?.outcome ?? null, detail: told ?? null });
    else if (told !== undefined) await printLine(entryLine(entry, told));
  }
  return worstStatus(statuses);
}

async function reportFeeds(app: App, act: NamedResult, json: boolean, { sends, isPaused }: Sent): Promise<ExitStatus> {
  const statuses: ExitStatus[] = [];
  const outcomes = sends && act.feeds.length > 0 ? await outcomesOf(app.db, act.acted) : undefined;
  for (const reported of act.feeds) {
    const { feed, done, message, kinds } = reported;
    const counts = [...(outcomes?.get(feed) ?? [])].filter(([, count]) => count > 0);
    statuses.push(...counts.map(([outcome]) => statusOf(outcome, isPaused)));
    if (json) {
      const now = outcomes === undefined ? null : Object.fromEntries(counts);
      await printJson({ action: act.action, feed, done, message, ...(kinds === undefined ? {} : { kinds }), now });
    } else if (counts.length > 0) {
      const parts = counts.map(([outcome, count]) => `${count} ${STATE_WORDS[outcome]}`);
      await printLine(`${feed}: ${parts.join(', ')}`);
    }
  }
  return worstStatus(statuses);
}

/** Whether this process has sent, and found that a person has paused some of it. */
interface Sent {
  readonly sends: boolean;
  readonly isPaused: boolean;
}

/**
 * A change that is still ready or sending could not be sent now; any other that is not done, or that a person has paused, needs a person
 * again.
 */
function statusOf(outcome: EntryOutcome | undefined, isPaused: boolean): ExitStatus {
  if (outcome === undefined || outcome === 'done' || outcome === 'discarded') return ExitStatus.done;
  return (outcome === 'ready' && !isPaused) || outcome === 'sending' ? ExitStatus.failed : ExitStatus.review;
}

const describeResult = ({ result, message }: Acted): string =>
  result === 'done' ? message : `not applicable: ${message}`;

function entryLine({ entry, feed, key }: Acted, text: string): string {
  return `${entry} ${feed}${key === null ? '' : ` ${key}`}: ${text}`;
}
