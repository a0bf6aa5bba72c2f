// Makes errors of the queue libraries safe to log: without secrets and without floods.
import { ErrorCode } from 'bullmq';

/** The queue was emptied while a job was in flight. Nothing is lost: its change is in the backlog, or was sent. */
export class LostJobError extends Error {
  override name = 'LostJobError';
}

/** Connections did not close in time. Nothing is lost, for the same reason. */
export class NotClosedError extends Error {
  override name = 'NotClosedError';
}

/** Redis refuses to store more. Nothing is lost: what is not queued stays in the backlog. */
export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

/**
 * A plain copy of an error: name, message and code, with each secret replaced. The original is not attached as the cause,
 * because ioredis attaches the refused command to its errors, and for `AUTH` that includes the password.
 */
export function reportedError(thrown: unknown, secrets: readonly string[]): Error {
  const original = thrown instanceof Error ? thrown : new Error(String(thrown));
  let message = original.message;
  for (const secret of secrets) if (secret !== '') message = message.replaceAll(secret, '***');
  // In a script, the line of the script precedes it.
  if (/\bOOM command not allowed/.test(message)) return new QueueFullError(message);
  if ('code' in original && original.code === ErrorCode.JobNotExist) return new LostJobError(message);
  if (original instanceof NotClosedError) return new NotClosedError(message);
  const copy: Error & { code?: unknown } = new Error(message);
  copy.name = original.name;
  if ('code' in original && typeof original.code === 'string') copy.code = original.code;
  return copy;
}

/**
 * Reports errors with the same message at most once a second, as a worker without its server retries often.
 *
 * @param report receives the remaining errors, without secrets.
 */
export function reporter(report: (error: Error) => void, secrets: readonly string[]): (thrown: unknown) => void {
  let lastMessage = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  return (thrown) => {
    const error = reportedError(thrown, secrets);
    const now = performance.now();
    if (error.message === lastMessage && now - lastAt < 1000) return;
    lastMessage = error.message;
    lastAt = now;
    report(error);
  };
}

/** The password of a URL, as written and decoded, so that both can be removed from messages. */
export function passwordForms({ password }: URL): string[] {
  if (password === '') return [];
  try {
    return [...new Set([password, decodeURIComponent(password)])];
  } catch {
    // A lone `%` cannot be decoded, so the password is only used as written.
    return [password];
  }
}
