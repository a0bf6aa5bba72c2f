// Formats times and durations for people: times with their zone, durations in at most two units. Also publishes the steps that the
// process has crossed, at which tests end it.
import { channel } from 'node:diagnostics_channel';

const makeFormat = () =>
  new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  });

/** Made where it is needed first: it takes longer than loading most modules. */
let format: Intl.DateTimeFormat | undefined;

/** A time in the machine's zone: `2026-03-20 14:05:09 UTC`. */
export function formatTime(time: Date): string {
  format ??= makeFormat();
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second, timeZoneName } = parts;
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${timeZoneName}`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration: `3 d 4 h`, `12 min 5 s`, `0 s`. */
export function formatSpan(durationMs: number): string {
  let seconds = Math.max(0, Math.floor(durationMs / 1000));
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first < 0) return '0 s';
  const parts = UNITS.slice(first, first + 2).flatMap(([unit, size]) => {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.join(' ');
}

/** Milliseconds until then, to the second: what is shown a moment after it was read is not a second less. */
export const msUntil = (time: Date): number => Math.round((time.getTime() - Date.now()) / 1_000) * 1_000;

// Publishes the named steps of pulls and changes on a diagnostics channel. Nothing that ships subscribes; tests do, to kill
// the process at a step.

/** The steps at which a process may die. At each, another process must be able to continue from the database. */
export type Step =
  | 'pull-started'
  | 'records-read'
  | 'details-stored'
  | 'details-read'
  | 'changes-merged'
  | 'pull-committed'
  | 'intent-committed'
  | 'answer-received'
  | 'outcome-committed'
  | 'site-page-kept'
  | 'site-read'
  | 'site-searched'
  | 'doubt-listed'
  | 'doubt-resolved'
  | 'jobs-listed'
  | 'jobs-matched'
  | 'proposals-stored'
  | 'jobs-adopted'
  | 'matching-done'
  | 'found-checked'
  | 'found-adopted'
  | 'job-replaced'
  | 'postings-rekeyed'
  | 'jobs-verified'
  | 'differences-marked'
  | 'undo-started'
  | 'undo-merged'
  | 'undo-committed'
  | 'feed-file-kept'
  | 'feed-file-written'
  | 'feed-file-replaced';

const steps = channel('jobmirror:step');

/** Publishes that this step is reached, which costs nothing without subscribers. Subscribers run synchronously. */
export const crossStep = (step: Step): void => steps.publish(step);
