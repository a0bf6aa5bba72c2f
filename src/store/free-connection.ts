// Waits for a connection where the server has none to spare: with those that a pool has, or until others end theirs.
import { pause } from './postgres/with-retry.ts';

/** What is to be known of a pool to have it do with the connections that it has. */
export interface GrowingPool {
  readonly totalCount: number;
  readonly options: { max?: number | undefined };
}

/**
 * Does what may open a connection, again and again while the server refuses it for want of one; nothing was sent then.
 * @param pool the pool that opens it: it is kept from growing for a while, so that what it has serves all.
 * @throws what the server said, once it has refused for too long or the process is to stop.
 */
export type WhenFree = <T>(pool: GrowingPool | undefined, connect: () => Promise<T>) => Promise<T>;

export interface FreeConnectionOptions {
  /** Hears that somebody waits, every now and then. */
  readonly onShortage?: ((error: Error) => void) | undefined;
  /** The process is to stop: nobody waits much longer. */
  readonly stopping?: AbortSignal | undefined;
}

/** As long as for a database that is away. */
const WAIT_MS = 2 * 60_000;
/** What has an answer to note may wait a little while a process stops. */
const WAIT_WHILE_STOPPING_MS = 2_000;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2_000;
const STAYS_SMALL_MS = 10_000;
const REPORT_EVERY_MS = 10_000;

/** Whether the server refused a connection because it has no more: SQLSTATE 53300. */
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
        // Where it has some, one is given back soon; others in want are not to ask at the same times.
        const longestMs = pool !== undefined && pool.totalCount > 0 ? FIRST_DELAY_MS : delayMs;
        await pause(longestMs * (0.5 + Math.random() / 2), new AbortController().signal);
      }
    }
  };
}
