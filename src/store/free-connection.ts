// Waits for a database connection when the server has none to spare.
import { pause } from './postgres/with-retry.ts';

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

/** The same as for a database that is unreachable. */
const WAIT_MS = 2 * 60_000;
/** An outcome still to be recorded may wait a little while a process stops. */
const WAIT_WHILE_STOPPING_MS = 2_000;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2_000;
const STAYS_SMALL_MS = 10_000;
const REPORT_EVERY_MS = 10_000;

/** Whether the server refused a connection for lack of free ones: SQLSTATE 53300. */
export const isShortage = (error: unknown): boolean => (error as { code?: unknown }).code === '53300';

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

  return async (pool, connect) => {
    const giveUpAt = performance.now() + WAIT_MS;
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 1.5)) {
      try {
        return await connect();
      } catch (error) {
        if (!isShortage(error) || performance.now() > Math.min(giveUpAt, stopsAt)) throw error;
        report(error);
        if (pool !== undefined) keepSmall(pool);
        // A pool with connections gets one back soon. The random delay keeps waiting processes from retrying together.
        const longestMs = pool !== undefined && pool.totalCount > 0 ? FIRST_DELAY_MS : delayMs;
        await pause(longestMs * (0.5 + Math.random() / 2), new AbortController().signal);
      }
    }
  };
}
