// Records an attempt's outcome, retrying as long as the process lives: only this process knows the site's answer.
import { onAbort } from '../flow/pause.ts';
import { backoffMs, type RetryPolicy, retry } from '../flow/retry.ts';
import { problemsInOneSentence, type Reason, reasonOfTaken, reasonOfTakenFields } from '../plan/desired-change.ts';
import { adviceOf, type Message, plural, reword, textOf } from '../plan/message.ts';
import { fieldOf } from '../plan/same-meaning.ts';
import type { Problem } from '../posting/posting.ts';
import { type Outcome, withRevealedFields } from '../site/exchange.ts';
import type {
  Attempt,
  AttemptNotAccepted,
  AttemptOutcome,
  FreedValues,
  Recorded,
  Result,
} from '../store/change/attempt.ts';
import { isOfStatement, isPassing } from '../store/postgres/transient-error.ts';
import { announceAttempt } from '../telemetry/events.ts';
import type { SiteContext, SitePolicy } from './site-context.ts';

/** As long as the process lives. */
const INSIST: RetryPolicy = { firstDelayMs: 50, maxDelayMs: 2_000 };
/** Time that pending work has after the process is asked to end; then the outcome goes to the log. */
const LAST_WORD_MS = 400;

/**
 * Records the outcome. Rejects only if the process ends, or the database refuses the statement itself twice. The log
 * then holds the job ID, recorded nowhere else, for whoever resolves the doubt by hand.
 */
export async function recordOutcome(
  siteContext: SiteContext,
  outcome: AttemptOutcome,
  signal: AbortSignal,
): Promise<Recorded> {
  const { attempt, result } = outcome;
  const fields = {
    site: siteContext.site,
    feed: attempt.feed,
    key: attempt.key,
    operation: attempt.request.kind,
    ...(result.kind === 'created' ? { siteJobId: result.siteJobId } : {}),
  };
  let trying = outcome;
  try {
    const recorded = await keepTrying(
      () => siteContext.writeOutcome(trying),
      signal,
      (error) => {
        siteContext.log.warn({ err: error, ...fields }, 'outcome not recorded yet');
        if (!isOfStatement(error)) return true;
        // The exchange record may hold what the database cannot store; the outcome matters more than its record.
        const last = trying.record === undefined;
        trying = { ...outcome, record: undefined };
        return !last;
      },
    );
    announceOutcome(outcome, recorded);
    return recorded;
  } catch (error) {
    siteContext.log.error({ err: error, ...fields }, 'outcome not recorded');
    throw error;
  }
}

function announceOutcome({ attempt, result, record }: AttemptOutcome, recorded: Recorded): void {
  announceAttempt({
    site: attempt.site,
    feed: attempt.feed,
    operation: attempt.request.kind,
    outcome: outcomeName(result, recorded),
    request: record === undefined ? undefined : { status: record.status ?? 0, durationMs: record.durationMs },
  });
}

/** A disputed outcome is recorded, and announced, once more. */
function outcomeName(result: Result, recorded: Recorded): string | undefined {
  if (recorded !== 'recorded') return recorded === 'disputed' ? undefined : recorded;
  if (result.kind !== 'returned') return result.kind;
  return result.back.to === 'ready' ? 'retried' : result.back.to;
}

/** Retries work that must follow an answer, such as pausing the site, as long as the process lives. */
export const retryUntilDone = <Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> =>
  keepTrying(work, signal, isPassing);

/** @param worthAgain whether to try again after this failure. */
const keepTrying = <Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
  worthAgain: (error: unknown) => boolean,
): Promise<Result> => retry(() => untilTheEnd(work(), signal), INSIST, { signal, worthAgain });

/** A hanging connection must not delay what has to be logged before the process ends. */
function untilTheEnd<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const forget = onAbort(signal, () => {
      timer = setTimeout(() => reject(new Error('the process ended before the database answered')), LAST_WORD_MS);
    });
    const end = (): void => {
      forget();
      clearTimeout(timer);
    };
    work.finally(end).then(resolve, reject);
  });
}

// Decides the result of an attempt, such as another try later: from outcome to result. The state that follows from a result is
// decided in `src/plan/after-attempt.ts`.

/** After this many delays, other postings have mostly shown whether the site refuses all of them. */
const SET_UP_DELAYS = 5;

type Policy = Pick<SitePolicy, 'retry' | 'onMissing' | 'doubts' | 'referenceField'>;

/**
 * | outcome       | create       | update                    | delete          |
 * | ------------- | ------------ | ------------------------- | --------------- |
 * | created       | mapped       | as accepted               | -               |
 * | accepted      | in doubt     | recorded                  | mapping removed |
 * | gone          | failed       | created anew, or rejected | mapping removed |
 * | rejected      | rejected     | rejected                  | rejected        |
 * | set_up        | ready later; not counted as an attempt                      |||
 * | forbidden     | failed       | failed                    | failed          |
 * | unauthorized  | ready, or in doubt again | ready (the site is paused) | ready |
 * | throttled     | ready when the site says; not counted as an attempt         |||
 * | unreachable   | ready later; not counted as an attempt                      |||
 * | unknown       | in doubt     | retry, then failed        | retry, then failed |
 * | foreign       | -            | in doubt, for a person    | mapping removed |
 * | unconfirmed   | -            | retry, then failed; in doubt if no list can tell | retry, then failed |
 * | misconfigured | retry, then failed (the site is paused if this continues)   |||
 *
 * A create that is refused with 401 after a list has shown an earlier one as not made is in doubt again: the list may have been read
 * without the rights of the token.
 *
 * An update or delete that is unknown or misconfigured, or rejected only because of a word in the answer, may have
 * been done anyway; the result records that.
 * @param random in [0, 1), for the jitter of retries.
 */
export function resultOf(outcome: Outcome, attempt: Attempt, policy: Policy, random = Math.random()): Result {
  const operation = attempt.request.kind;
  switch (outcome.kind) {
    case 'created':
      if (operation !== 'create') return { kind: 'updated' };
      return {
        kind: 'created',
        siteJobId: outcome.siteJob.siteJobId,
        url: outcome.siteJob.url,
        ...(outcome.isRead === true ? { isRead: true } : {}),
        evidence: {
          shown: withRevealedFields(outcome.siteJob).fields,
          types: outcome.siteJob.types,
          referenceField: policy.referenceField,
          asked: false,
          mayLandMs: policy.doubts.resolveAfterMs,
        },
      };
    case 'accepted':
      if (operation === 'create') return inDoubt('the site accepted the create but named no job ID');
      return { kind: operation === 'delete' ? 'deleted' : 'updated' };
    case 'gone':
      return gone(operation, policy);
    case 'rejected':
      if (outcome.denied === 'open')
        return untilListed(reasonOf('rejected', outcome.problems), outcome.perhapsDone && 0);
      return returned({
        to: 'rejected',
        reason:
          outcome.takenBy !== undefined
            ? reasonOfTakenFields(outcome.problems, outcome.takenBy, attempt.accepted?.fields)
            : outcome.taken === undefined
              ? reasonOf('rejected', outcome.problems)
              : reasonOfTaken(attempt, outcome.taken),
        ...(outcome.perhapsDone ? { mayLandMs: 0 } : {}),
      });
    case 'set_up': {
      const { retry } = policy;
      const delayMs = Math.min(retry.maxDelayMs, SET_UP_DELAYS * retry.firstDelayMs) * (0.5 + random / 2);
      return returned({ to: 'ready', delayMs, counted: false, reason: reasonOf('set_up', outcome.problems) });
    }
    case 'forbidden':
      return returned({ to: 'failed', reason: reasonOf('forbidden', outcome.problems) });
    case 'unauthorized':
      if (operation === 'create' && attempt.wasDoubted === true) {
        return inDoubt(
          'the site does not accept the token (401), so the list that did not show its job proves nothing',
        );
      }
      return notCounted('unauthorized', 'the site does not accept the token (401)', 0);
    case 'throttled':
      return notCounted('throttled', 'the site asked to wait', outcome.retryAfterMs ?? policy.retry.firstDelayMs);
    case 'unreachable':
      return notCounted('unreachable', outcome.message, policy.retry.firstDelayMs * (0.5 + random / 2));
    case 'unknown':
      if (operation === 'create') return inDoubt(outcome.message, { taken: outcome.taken, made: outcome.perhapsMade });
      return again(outcome, attempt, policy, random, policy.doubts.resolveAfterMs);
    case 'foreign':
      // The job to delete is gone; whichever job has its ID now is left alone.
      if (operation === 'delete') return { kind: 'deleted', isOthers: true };
      return { kind: 'disowned', reason: plain('foreign', leftAlone(attempt, outcome.message)) };
    case 'unconfirmed':
      if (outcome.isUntraceable === true && operation !== 'delete')
        return { kind: 'disowned', reason: plain('unconfirmed', `${outcome.message}. ${SAY_WHICH_JOB}`) };
      return again(outcome, attempt, policy, random, undefined);
    case 'misconfigured':
      return again(outcome, attempt, policy, random, 0);
    /* v8 ignore next -- @preserve: the types leave nothing else */
    default:
      return outcome satisfies never;
  }
}

const ENDS_JOB: ReadonlySet<Result['kind']> = new Set(['deleted', 'vanished', 'disowned']);

/** Longer texts are nothing that only one job of a site may have. */
const MOST_VALUE = 300;

/** What the job of the posting no longer has after this result. */
export function freedValues(
  { request, before }: Attempt,
  result: Result,
  { referenceField: reference }: Pick<Policy, 'referenceField'>,
): FreedValues | undefined {
  if (request.kind === 'create') return undefined;
  const isGone = result.kind === 'returned' && result.back.reason.kind === 'gone';
  const short = before && Object.entries(before).filter(([, value]) => value.length <= MOST_VALUE);
  const values = short && Object.fromEntries(short);
  if (isGone || ENDS_JOB.has(result.kind)) return { reference, values };
  if (result.kind !== 'updated' || values === undefined || !('fields' in request)) return undefined;
  const replaced = Object.entries(request.fields).flatMap(([name, value]) =>
    (fieldOf(values, name) ?? value) === value ? [] : [name],
  );
  return replaced.length === 0 ? undefined : { reference, values, replaced };
}

const SAY_WHICH_JOB = 'Say which job this posting has, or that it has none: then it is created again';

function leftAlone({ request }: Attempt, why: string): string {
  const job = 'siteJobId' in request ? request.siteJobId : '';
  return `job ${job} seems to belong to another posting: ${why}; jobmirror no longer changes or deletes it. ${SAY_WHICH_JOB}`;
}

function gone(operation: Attempt['request']['kind'], policy: Policy): Result {
  if (operation === 'delete') return { kind: 'deleted' };
  if (operation === 'create') {
    return returned({ to: 'failed', reason: plain('misconfigured', 'the site has no create action at this address') });
  }
  if (policy.onMissing === 'create') return { kind: 'vanished' };
  const message = 'the job is no longer on the site, and `on_missing: leave` says not to create it again';
  return returned({ to: 'rejected', reason: plain('gone', message) });
}

function again(
  { kind, message, ...outcome }: Extract<Outcome, { kind: 'unknown' | 'unconfirmed' | 'misconfigured' }>,
  attempt: Attempt,
  policy: Policy,
  random: number,
  mayLandMs: number | undefined,
): Result {
  const reason = plain(kind, message);
  const denied = 'denied' in outcome ? outcome.denied : undefined;
  if (denied === 'open') return untilListed(reason, mayLandMs);
  const landing = mayLandMs === undefined ? {} : { mayLandMs };
  if (attempt.number >= policy.retry.attempts) {
    const last = plain(
      kind,
      reword(message, (text) => `${text} (gave up after ${plural(attempt.number, 'attempt')})`),
    );
    return returned({ to: 'failed', reason: last, ...landing });
  }
  const delayMs = backoffMs(policy.retry, attempt.number, random);
  return returned({
    to: 'ready',
    delayMs,
    counted: true,
    reason: denied === undefined ? reason : { ...reason, denied },
    ...landing,
  });
}

/** Less than `sync` waits for a change, and long enough for the next round of maintenance to begin. */
const UNTIL_LISTED_MS = 25_000;

const untilListed = (reason: Reason, mayLandMs: number | undefined): Result =>
  returned({
    to: 'ready',
    delayMs: UNTIL_LISTED_MS,
    counted: true,
    reason: { ...reason, denied: 'open' },
    ...(mayLandMs === undefined ? {} : { mayLandMs }),
  });

const notCounted = (kind: string, message: string, delayMs: number): Result =>
  returned({ to: 'ready', delayMs, counted: false, reason: plain(kind, message) });

const inDoubt = (message: Message, { taken, made }: Pick<Reason, 'taken' | 'made'> = {}): Result =>
  returned({
    to: 'in_doubt',
    reason: {
      ...plain('unknown', message),
      ...(taken === undefined ? {} : { taken }),
      ...(made === undefined ? {} : { made }),
    },
  });

const returned = (back: AttemptNotAccepted): Result => ({ kind: 'returned', back });

function plain(kind: string, message: Message): Reason {
  const text = textOf(message);
  const next = adviceOf(message);
  return { kind, message: text, ...(next.length === 0 ? {} : { next }), problems: [{ message: text }] };
}

const reasonOf = (kind: string, problems: readonly Problem[]): Reason => ({
  kind,
  message: problemsInOneSentence(problems),
  problems,
});
