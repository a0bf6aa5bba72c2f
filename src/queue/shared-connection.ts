// Shares one small pool and one listening connection among all queues and workers of a process, for any number of sites, and makes
// their errors safe to log.

import { EventEmitter } from 'node:events';
import {
  type BackendFactory,
  ErrorCode,
  PostgresConnection,
  type PostgresPoolConfig,
  PostgresQueueBackend,
} from 'bullmq';

/** Waits for a connection while the server has none to spare. */
export type WaitForConnection = <T>(
  pool: { readonly totalCount: number; readonly options: { max?: number | undefined } } | undefined,
  connect: () => Promise<T>,
) => Promise<T>;

/** The parts of `pg`'s pool that are used here; BullMQ's own type lacks them. */
interface Pool {
  readonly totalCount: number;
  readonly options: { max?: number | undefined };
  query(...statement: unknown[]): Promise<unknown>;
  connect(callback?: unknown): Promise<unknown>;
}

/** BullMQ's statements, by what they were. */
const onServersClock = new Map<string, string>();
/** What the comment before a statement of BullMQ calls the parameter with the time of the process. */
const TIME_PARAMETER = /\$(\d+) now(?:_ms)?\b/;
const COMMENT = /^(?:\s*--.*\n)+/;

/**
 * The statement with the server's time for that of the process. Locks and rate limits have times: a process whose clock is ahead takes
 * queue jobs that others are processing, and what it leaves holds for as long as it is ahead. In Redis, its own clock counts.
 */
function onServerClock(statement: unknown): unknown {
  if (typeof statement !== 'string') return statement;
  let changed = onServersClock.get(statement);
  if (changed === undefined) {
    const comment = COMMENT.exec(statement)?.[0] ?? '';
    const parameter = TIME_PARAMETER.exec(comment)?.[1];
    // The parameter stays, as the values have one for each.
    const time = `($${parameter}::bigint * 0 + (extract(epoch from clock_timestamp()) * 1000)::bigint)`;
    const uses = new RegExp(`\\$${parameter}\\b(?:::bigint)?`, 'g');
    changed = parameter === undefined ? statement : statement.slice(comment.length).replace(uses, () => time);
    onServersClock.set(statement, changed);
  }
  return changed;
}

function openWaiting(options: PostgresPoolConfig, whenFree: WaitForConnection): PostgresConnection {
  const connection = new PostgresConnection(options);
  const pool = connection.pool as unknown as Pool;
  const [query, connect] = [pool.query.bind(pool), pool.connect.bind(pool)];
  pool.query = (text, ...values) => whenFree(pool, () => query(onServerClock(text), ...values));
  // A call with a callback comes from the pool's own query.
  pool.connect = (callback) => (callback === undefined ? whenFree(pool, () => connect()) : connect(callback));
  // Each queue and each worker adds an error listener.
  connection.setMaxListeners(0);
  return connection;
}

/** One queue's or worker's share of the connection: closed with its user; the last share closes the connection. */
function shareOf(
  connection: PostgresConnection,
  whenFree: WaitForConnection,
  leave: () => Promise<void>,
): PostgresConnection {
  const events = new EventEmitter();
  const forwarded = (['error', 'ready', 'listenerinvalidated'] as const).map((name) => {
    const forward = (...values: unknown[]): void => {
      if (events.listenerCount(name) > 0) events.emit(name, ...values);
    };
    connection.on(name, forward);
    return { name, forward };
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      for (const { name, forward } of forwarded) connection.off(name, forward);
      await leave();
      events.emit('close');
    })();
    return closing;
  };
  const share = {
    pool: connection.pool,
    schema: connection.schema,
    on: (name: string, listener: (...values: unknown[]) => void) => events.on(name, listener),
    waitUntilReady: () => connection.waitUntilReady(),
    async getListenClient() {
      const client = await whenFree(undefined, () => connection.getListenClient());
      // Each worker adds listeners.
      (client as unknown as EventEmitter).setMaxListeners(0);
      return client;
    },
    // A name would belong to a single worker.
    setListenClientName: async () => undefined,
    get hasListenClientKeepAlive() {
      return connection.hasListenClientKeepAlive;
    },
    get isClosing() {
      return closing;
    },
    close,
    disconnect: close,
  };
  return share as unknown as PostgresConnection;
}

/** Creates BullMQ's backends on one connection of the process, which the first of them opens. */
export function sharingFactory(
  options: PostgresPoolConfig,
  whenFree: WaitForConnection,
): BackendFactory<PostgresQueueBackend, PostgresPoolConfig> {
  let current: { readonly connection: PostgresConnection; shares: number } | undefined;
  return (name, opts) => {
    current ??= { connection: openWaiting(options, whenFree), shares: 0 };
    const shared = current;
    shared.shares++;
    const leave = async (): Promise<void> => {
      shared.shares--;
      if (shared.shares > 0) return;
      if (current === shared) current = undefined;
      await shared.connection.close();
    };
    return new PostgresQueueBackend(shareOf(shared.connection, whenFree, leave), name, opts);
  };
}

// Makes errors of the queue libraries safe to log: without secrets and without floods.

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
