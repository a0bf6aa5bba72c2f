// Enforces time limits on a source: passes its documents and their chunks through, and breaks off if it is too slow.
import { MAX_TIMER_MS } from '../../flow/pause.ts';
import { FeedReadingError } from '../source/source.ts';

/** The time over which the rate of a single document is averaged. */
export const SOURCE_RATE_WINDOW_MS = 30_000;

export interface PaceLimits {
  /** From the start to the last byte, in milliseconds. */
  readonly totalTimeoutMs: number;
  /** From the start to the first byte, in milliseconds; absent: no separate limit. */
  readonly firstByteTimeoutMs?: number;
  /** Bytes per second, averaged over windows of waiting time; absent: no limit. */
  readonly minBytesPerSecond?: number;
  /** Length of a window, in milliseconds. */
  readonly rateWindowMs: number;
}

export interface FeedPace {
  /** Aborted with a {@link FeedReadingError} when a limit is exceeded and when the pace is stopped. */
  readonly signal: AbortSignal;
  /**
   * Passes items through, one stream at a time. Throws the signal's reason once aborted, even if the source hangs.
   * @param bytesOf how much of the feed has arrived with an item
   */
  watch<Item>(items: AsyncIterable<Item>, bytesOf: (item: Item) => number): AsyncGenerator<Item>;
  /** Starts the limit on the first byte again, after a wait. Does nothing once a byte has arrived. */
  restart(afterMs: number): void;
  /** Stops all timers and ends the source. */
  stop(): void;
}

/** Starts the clock. `outer` aborts it as well, with its own reason. */
export function startPace(limits: PaceLimits, outer: AbortSignal): FeedPace {
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, outer]);
  const breakOff = (why: string) => controller.abort(new FeedReadingError(why));
  const startTimer = (ms: number, why: string) => setTimeout(breakOff, Math.min(ms, MAX_TIMER_MS), why);
  const total = startTimer(limits.totalTimeoutMs, `reading took longer than ${limits.totalTimeoutMs / 1000} s`);
  const { firstByteTimeoutMs } = limits;
  const startFirstByte = (afterMs: number) =>
    firstByteTimeoutMs === undefined
      ? undefined
      : startTimer(afterMs + firstByteTimeoutMs, `no data arrived within ${firstByteTimeoutMs / 1000} s`);
  let firstByte = startFirstByte(0);
  let hasArrived = false;
  const rate =
    limits.minBytesPerSecond === undefined ? undefined : meterRate(limits, limits.minBytesPerSecond, breakOff);

  return {
    signal,
    async *watch<Item>(items: AsyncIterable<Item>, bytesOf: (item: Item) => number) {
      const source = items[Symbol.asyncIterator]();
      let breakOffNext: (reason: unknown) => void = () => {};
      const onAbort = () => breakOffNext(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      // Not a race with one promise for all items: that would keep every item in memory.
      const nextItem = () =>
        new Promise<IteratorResult<Item>>((resolve, reject) => {
          breakOffNext = reject;
          source.next().then(resolve, reject);
        });
      try {
        for (;;) {
          signal.throwIfAborted();
          rate?.wait();
          const next = await nextItem();
          const bytes = next.done ? 0 : bytesOf(next.value);
          rate?.take(bytes);
          if (next.done) return;
          if (bytes > 0 && !hasArrived) {
            hasArrived = true;
            clearTimeout(firstByte);
          }
          yield next.value;
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
        // Where the source failed, nothing arrived that would have ended the wait.
        rate?.stop();
        // Not awaited: a source that hangs would not complete this either.
        source.return?.().catch(() => undefined);
      }
    },
    restart(afterMs) {
      if (hasArrived || signal.aborted) return;
      clearTimeout(firstByte);
      firstByte = startFirstByte(afterMs);
    },
    stop() {
      clearTimeout(total);
      clearTimeout(firstByte);
      rate?.stop();
      controller.abort(new FeedReadingError('reading was stopped'));
    },
  };
}

/** Counts bytes and the time spent waiting for them. Time that the reader itself takes does not count. */
function meterRate(limits: PaceLimits, minimum: number, breakOff: (why: string) => void) {
  let bytes = 0;
  let waitedMs = 0;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Ends a window: breaks off if too little arrived, then starts the next one. */
  const endWindow = () => {
    if (bytes < (minimum * waitedMs) / 1000) {
      breakOff(`only ${bytes} bytes arrived in ${limits.rateWindowMs / 1000} s; the minimum is ${minimum} per second`);
    }
    bytes = 0;
    waitedMs = 0;
  };
  const stop = () => clearTimeout(timer);
  const wait = () => {
    since = performance.now();
    timer = setTimeout(() => {
      waitedMs = limits.rateWindowMs;
      endWindow();
      wait();
    }, limits.rateWindowMs - waitedMs);
  };
  const take = (length: number) => {
    stop();
    bytes += length;
    waitedMs += performance.now() - since;
    if (waitedMs >= limits.rateWindowMs) endWindow();
  };
  return { wait, take, stop };
}
