// Tells transient database errors (a restart, a failover, a timeout) from those that need a person, and retries after them.
import { type RetryPolicy, retry } from '../../flow/retry.ts';

/** Errors of a driver that could not reach the server, or lost it. ENOENT: the socket file of a restarting server. */
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/**
 * Server states by SQLSTATE (PostgreSQL documentation, appendix A): these codes, and the whole classes 08 (connection; also
 * used by poolers), 53 (disk, memory, connections) and 58 (system error).
 */
const STATES: Readonly<Record<string, string>> = {
  '25006': 'it is read-only',
  '25P03': 'it ended a transaction that was idle for too long',
  '25P04': 'it ended a transaction that took too long',
  '40001': 'two transactions conflicted',
  '40P01': 'it ended a deadlock',
  '53300': 'all of its connections are taken: end other processes, or raise its max_connections',
  '55P03': 'a lock was not free in time',
  '57014': 'it cancelled a statement, which may have taken too long',
  '57P01': 'it is shutting down',
  '57P02': 'it was shut down after a crash',
  '57P03': 'it is starting, stopping or recovering',
  '57P04': 'the database is being replaced',
  '57P05': 'it ended a connection that was idle for too long',
};
const CLASSES: Readonly<Record<string, string>> = {
  '08': 'the connection to it broke',
  '53': 'it has run out of disk, memory or connections',
  '58': 'its system has an error',
};

interface CodedError {
  readonly code?: string;
  readonly message?: string;
  readonly cause?: unknown;
  readonly syscall?: string;
  readonly constraint?: string;
}

/** The prepared statement does not match the connection: a pooler swapped it, it was deallocated, or a table was altered. */
export function isOfPreparing(error: unknown): boolean {
  const { code, message } = error as CodedError;
  return code === '26000' || code === '42P05' || (code === '0A000' && message?.includes('cached plan') === true);
}

/** Whether the same statement may succeed a little later: after a restart, failover, deadlock, timeout or full disk. */
export function isPassing(error: unknown): boolean {
  return isOfPreparing(error) || stateOf(error) !== undefined;
}

/** Whether the server itself reported the error. If the server is unreachable, the address may be wrong. */
export function isSaidByServer(error: unknown): boolean {
  const { code } = error as CodedError;
  return code !== undefined && isSqlState(code) && isPassing(error);
}

/**
 * Whether the statement itself is at fault, by its values or text, or was never sent: the same statement would fail again.
 * Other errors, for example a password that is being changed, may be fixed while the process runs.
 */
export function isOfStatement(error: unknown): boolean {
  const { code } = error as CodedError;
  if (isPassing(error)) return false;
  if (code === undefined || code === '42501') return code === undefined;
  return isSqlState(code) && ['0A', '21', '22', '23', '42'].includes(code.slice(0, 2));
}

/** Describes the database's state with the server's own message; `undefined` if the error is not transient. */
export function describePassing(error: unknown): string | undefined {
  const state = isOfPreparing(error) ? 'its connections are being replaced' : stateOf(error);
  if (state === undefined) return undefined;
  const { code, message } = error as CodedError;
  return `the database can't be used at the moment: ${state} (${code === undefined ? '' : `${code}: `}${message})`;
}

function stateOf(error: unknown): string | undefined {
  const { code, message, cause, syscall, constraint } = error as CodedError;
  if (code !== undefined) {
    if (NETWORK.has(code) || (code === 'ENOENT' && syscall === 'connect')) return 'it cannot be reached';
    // A new part of the table has taken the row's place since its statement began; a table's own constraint has a name.
    if (code === '23514' && constraint === undefined) return 'a table gets a new part';
    return isSqlState(code) ? (STATES[code] ?? CLASSES[code.slice(0, 2)]) : undefined;
  }
  if (/terminated|Connection ended|timeout exceeded|not queryable|closed the connection/i.test(message ?? '')) {
    return 'the connection to it broke';
  }
  // A transaction that was rolled back has its first failed statement as the cause.
  return cause instanceof Error ? stateOf(cause) : undefined;
}

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && !NETWORK.has(code);

/** Longer than a restart or a failover takes, shorter than a person waits. */
const OUTAGE: RetryPolicy = { firstDelayMs: 1_000, maxDelayMs: 5_000, factor: 1.5, forMs: 2 * 60_000 };

export interface DatabaseRetryOptions {
  /** Whether to retry after an error; by default after transient errors. */
  readonly worthAgain?: (error: unknown) => boolean;
  /** Called for each failure that is followed by a retry. */
  readonly onRetry?: (error: unknown) => void;
}

/**
 * Runs work that is safe to repeat. Throws errors that are not transient, and any error two minutes after the first failure.
 */
export const withRetry = <Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
  { worthAgain = isPassing, onRetry }: DatabaseRetryOptions = {},
): Promise<Result> => retry(work, OUTAGE, { signal, worthAgain, onRetry });

/** Whether a statement gave up a lock that it was to wait for only so long, or not at all: SQLSTATE 55P03, `lock_not_available`. */
export const isLockTaken = (error: unknown): boolean => (error as { code?: unknown }).code === '55P03';
