// Decides when an open alert is told again, because far more is wrong than was told.
import type { AlertKind } from '../telemetry/alerts/alert-message.ts';

/** What is wrong now. */
export interface AlertCount {
  readonly count: number;
  /** Seconds that the oldest has waited; `undefined`: it does not matter. */
  readonly oldestSeconds?: number | undefined;
}

/** What was told last. */
export interface ToldCount {
  /** The fewest since then: what was decided meanwhile is not counted as told. */
  readonly count: number;
  readonly agoSeconds: number;
}

const DAY_SECONDS = 86_400;

/**
 * | what                                               | told again              |
 * |----------------------------------------------------|-------------------------|
 * | as many or fewer, some of them older than the last message | no              |
 * | twice as many or more                              | yes                     |
 * | all are newer than the last message                | yes                     |
 * | some more, and each needs a person                 | once a day              |
 */
export function isToldAgain(kind: AlertKind, told: ToldCount, now: AlertCount): boolean {
  if (now.count >= 2 * told.count) return true;
  if (now.oldestSeconds !== undefined && now.oldestSeconds < told.agoSeconds) return true;
  const needsPerson = kind === 'held' || kind === 'in_doubt';
  return needsPerson && now.count > told.count && told.agoSeconds >= DAY_SECONDS;
}
