// Decides the state of a change whose attempt ends without the site having accepted it: from result to state. The result comes from
// the outcome, in `src/apply/record-outcome.ts`.

/** The states after an attempt. `target`: the state that the latest version asks for. */
export type NextState = 'ready' | 'in_doubt' | 'rejected' | 'failed' | 'target';

/** A change whose attempt ends. */
export interface EndedAttempt {
  /** Attempts of the version that was sent, including this one; 0 if its reference has become free since the attempt began. */
  readonly attempts: number;
  /** A newer version came while the attempt was open: it starts with all its attempts. */
  readonly superseded: boolean;
}

/** The next state, and the attempts that then count against the change. */
export interface AfterAttempt<State extends NextState = NextState> {
  readonly state: State;
  readonly attempts: number;
}

/**
 * The worker recorded an outcome. A create in doubt stays in doubt whatever came since: nothing may be sent for it.
 *
 * | outcome                    | the version sent is the latest | a newer version came |
 * | -------------------------- | ------------------------------ | -------------------- |
 * | in doubt                   | in doubt                       | in doubt             |
 * | ready, rejected or failed  | that state                     | target state         |
 *
 * @param counted whether the attempt counts. One that never reached the site does not.
 */
export function afterOutcome<To extends 'ready' | 'in_doubt' | 'rejected' | 'failed'>(
  to: To,
  counted: boolean,
  { attempts, superseded }: EndedAttempt,
): AfterAttempt<To | 'in_doubt' | 'target'> {
  const left = superseded ? 0 : counted ? attempts : Math.max(0, attempts - 1);
  if (to === 'in_doubt') return { state: 'in_doubt', attempts: left };
  return { state: superseded ? 'target' : to, attempts: left };
}

/**
 * The worker died before it recorded an outcome. Updates and deletes may be repeated, unless they seem to kill every
 * worker that sends them.
 *
 * | operation        | attempts of the latest version | next     |
 * | ---------------- | ------------------------------ | -------- |
 * | create           | any                            | in doubt |
 * | update or delete | more than `mostTries`          | failed   |
 * | update or delete | fewer, or superseded           | target   |
 */
export function stateAfterLostWorker(
  operation: 'create' | 'update' | 'delete',
  { attempts, superseded }: EndedAttempt,
  mostTries: number,
): 'in_doubt' | 'failed' | 'target' {
  if (operation === 'create') return 'in_doubt';
  return !superseded && attempts > mostTries ? 'failed' : 'target';
}

/** How often a create is tried whose reference the site says a job has, while nobody knows which. */
const MOST_TAKEN = 3;

/**
 * The site did not make the job of a create in doubt.
 *
 * | attempts of the latest version                                           | next     | attempts that count         |
 * | ------------------------------------------------------------------------ | -------- | --------------------------- |
 * | the site says that a job has its reference: 3, or 1 if it is known which | rejected | none: a person may retry it |
 * | the list says so, and the site failed `mostTries` times or more          | rejected | none: a person may retry it |
 * | `mostTries` or more                                                      | failed   | none: a person may retry it |
 * | fewer, or superseded                                                     | target   | as before                   |
 *
 * @param mostTries how often one version is tried; `Infinity` if a person asked to try again: none counts then.
 * @param taken who says that a job has the reference: the site, the list, which knows it for one of ours, or both
 */
export function stateAfterRefutedDoubt(
  { attempts, superseded }: EndedAttempt,
  mostTries: number,
  taken?: 'said' | 'listed' | 'both',
): AfterAttempt<'rejected' | 'failed' | 'target'> {
  const mostTaken = { both: 1, said: Math.min(MOST_TAKEN, mostTries), listed: mostTries }[taken ?? 'listed'];
  const isAsked = mostTries === Number.POSITIVE_INFINITY;
  if (taken !== undefined && !isAsked && !superseded && attempts >= mostTaken)
    return { state: 'rejected', attempts: 0 };
  if (!superseded && attempts >= mostTries) return { state: 'failed', attempts: 0 };
  return { state: 'target', attempts: isAsked ? 0 : attempts };
}

/**
 * The operation of a version that waited for an accepted attempt, or that lost its job.
 *
 * | wants   | the attempt                          | operation |
 * | ------- | ------------------------------------ | --------- |
 * | absent  | any                                  | delete    |
 * | present | deleted the job, or found it is gone | create    |
 * | present | any other                            | update    |
 */
export function nextOperation(
  desired: 'present' | 'absent',
  sent: 'create' | 'update' | 'delete',
  vanished: boolean,
): 'create' | 'update' | 'delete' {
  if (desired === 'absent') return 'delete';
  return sent === 'delete' || vanished ? 'create' : 'update';
}

/** The job turned out to be another posting's. An absent posting has nothing left to delete; otherwise a person decides. */
export const stateAfterForeignJob = (desired: 'present' | 'absent'): 'ready' | 'in_doubt' =>
  desired === 'absent' ? 'ready' : 'in_doubt';
