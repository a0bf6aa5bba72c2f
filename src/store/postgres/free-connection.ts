// Waits for a database connection when the server has none to spare.
import { backoffMs, type RetryPolicy, retry } from '../../flow/retry.ts';

/** The parts of a pool that are needed to keep it from growing. */
export interface GrowingPool {
  readonly totalCount: number;
  readonly options: { max?: number | undefined };
}

/**
 * Runs an operation that may open a connection, and retries it while the server refuses for lack of connections; nothing was
 * sent in that case.
 * @param pool the pool that opens the connection: it is kept from growing for a while, so its connections serve everybody.
 * @throws the server's error once it has refused for too long or the process is stopping.
 */
export type WhenFree = <T>(pool: GrowingPool | undefined, connect: () => Promise<T>) => Promise<T>;

export interface FreeConnectionOptions {
  /** Called now and then while somebody waits. */
  readonly onShortage?: ((error: Error) => void) | undefined;
  /** The process is stopping: nobody waits much longer. */
  readonly stopping?: AbortSignal | undefined;
}

/** For as long as with a database that is unreachable. */
const SHORTAGE: RetryPolicy = { firstDelayMs: 100, maxDelayMs: 2_000, factor: 1.5, forMs: 2 * 60_000 };
/** A pool with connections gets one back soon. */
const WITH_CONNECTIONS: RetryPolicy = { ...SHORTAGE, maxDelayMs: SHORTAGE.firstDelayMs };
/** An outcome still to be recorded may wait a little while a process stops. */
const WAIT_WHILE_STOPPING_MS = 2_000;
const STAYS_SMALL_MS = 10_000;
const REPORT_EVERY_MS = 10_000;

/** Whether the server refused a connection for lack of free ones: SQLSTATE 53300. */
const isShortage = (error: unknown): boolean => (error as { code?: unknown }).code === '53300';

export function connectionWaiter({ onShortage, stopping }: FreeConnectionOptions = {}): WhenFree {
  const small = new WeakSet<GrowingPool>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  let stopsAt = Number.POSITIVE_INFINITY;
  const stop = (): void => {
    stopsAt = performance.now() + WAIT_WHILE_STOPPING_MS;
  };
  if (stopping?.aborted) stop();
  else stopping?.addEventListener('abort', stop, { once: true });

  function report(error: unknown): void {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    onShortage?.(error as Error);
  }

  function keepSmall(pool: GrowingPool): void {
    if (small.has(pool)) return;
    small.add(pool);
    const { max } = pool.options;
    pool.options.max = Math.max(1, pool.totalCount);
    const grow = () => {
      small.delete(pool);
      pool.options.max = max;
    };
    setTimeout(grow, STAYS_SMALL_MS).unref();
  }

  return (pool, connect) =>
    retry(connect, SHORTAGE, {
      worthAgain: (error) => isShortage(error) && performance.now() <= stopsAt,
      onRetry(error) {
        report(error);
        if (pool !== undefined) keepSmall(pool);
      },
      // The random delay keeps waiting processes from retrying together.
      delayMs: (attempt) =>
        backoffMs(pool !== undefined && pool.totalCount > 0 ? WITH_CONNECTIONS : SHORTAGE, attempt, Math.random()),
    });
}
