// Decides when an open alert is told again, because far more is wrong than was told.
import type { AlertKind } from '../telemetry/alerts/alert-message.ts';

/** What is wrong now. */
export interface AlertCount {
  readonly count: number;
  /** When the oldest began, in Unix time in seconds by the database's clock; `undefined`: it does not matter. */
  readonly oldestAt?: number | undefined;
}

/** What was told last. */
export interface ToldCount {
  /** The fewest since then: what was decided meanwhile is not counted as told. */
  readonly count: number;
  /** When, in Unix time in seconds by the database's clock: ages that are read one after the other can't be compared. */
  readonly at: number;
  readonly agoSeconds: number;
}

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/**
 * | what                                               | told again              |
 * |----------------------------------------------------|-------------------------|
 * | as many or fewer, some of them older than the last message | no              |
 * | twice as many or more                              | yes                     |
 * | all are newer than the last message                | yes                     |
 * | some more, and each needs a person                 | once a day              |
 * | more new groups                                    | once an hour            |
 */
export function isToldAgain(kind: AlertKind, told: ToldCount, now: AlertCount): boolean {
  if (now.count >= 2 * told.count) return true;
  if (now.oldestAt !== undefined && now.oldestAt > told.at) return true;
  if (now.count <= told.count) return false;
  const needsPerson = kind === 'held' || kind === 'in_doubt';
  return (needsPerson && told.agoSeconds >= DAY_SECONDS) || (kind === 'new_group' && told.agoSeconds >= HOUR_SECONDS);
}
