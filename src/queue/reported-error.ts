// Turns what the queue's libraries emit into errors that are safe to log: no secrets, and no floods.
import { ErrorCode } from 'bullmq';

/** The queue was emptied while a job was in work. Nothing is lost by that: the backlog has its change, or it was sent. */
export class LostJobError extends Error {
  override name = 'LostJobError';
}

/** Connections that did not go down when they were told to. Nothing is lost by that, for the same reason. */
export class NotClosedError extends Error {
  override name = 'NotClosedError';
}

/**
 * A plain copy of an error: name, message and code, with each secret replaced. The original is not kept as its cause:
 * ioredis hangs the refused command on its errors, and with `AUTH` that is the password.
 */
export function reportedError(thrown: unknown, secrets: readonly string[]): Error {
  const original = thrown instanceof Error ? thrown : new Error(String(thrown));
  let message = original.message;
  for (const secret of secrets) if (secret !== '') message = message.replaceAll(secret, '***');
  if ('code' in original && original.code === ErrorCode.JobNotExist) return new LostJobError(message);
  if (original instanceof NotClosedError) return new NotClosedError(message);
  const copy: Error & { code?: unknown } = new Error(message);
  copy.name = original.name;
  if ('code' in original && typeof original.code === 'string') copy.code = original.code;
  return copy;
}

/**
 * Reports errors with the same message once a second at most: a worker whose server is away tries again many times.
 *
 * @param report receives what is left, already free of secrets.
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
export function secretsOf({ password }: URL): string[] {
  if (password === '') return [];
  try {
    return [...new Set([password, decodeURIComponent(password)])];
  } catch {
    // A lone `%`: there is only the one way to write it.
    return [password];
  }
}
