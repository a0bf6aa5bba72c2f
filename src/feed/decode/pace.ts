// Holds a source to time: turns its chunks into the same chunks, or breaks off where it is too slow.
import { BrokenOff } from '../source/source-body.ts';

export interface PaceLimits {
  /** From the start to the last byte, in milliseconds. */
  readonly totalTimeoutMs: number;
  /** From the start to the first byte, in milliseconds; absent: no limit of its own. */
  readonly firstByteTimeoutMs?: number;
  /** Bytes a second, averaged over windows of time spent waiting; absent: no limit. */
  readonly minBytesPerSecond?: number;
  /** Length of such a window, in milliseconds. */
  readonly rateWindowMs: number;
}

export interface Pace {
  /** Aborted with a {@link BrokenOff} where a limit is passed, and when the pace is stopped. */
  readonly signal: AbortSignal;
  /** The same chunks. Throws the signal's reason once it is aborted, even if the source never answers. */
  watch(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer>;
  /** Ends all timers, and the source. */
  stop(): void;
}

/** Starts the clock. `outer` ends it as well, with its own reason. */
export function startPace(limits: PaceLimits, outer: AbortSignal): Pace {
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, outer]);
  const breakOff = (why: string) => controller.abort(new BrokenOff(why));
  const startTimer = (ms: number, why: string) => setTimeout(breakOff, Math.min(ms, MAX_TIMER_MS), why);
  const total = startTimer(limits.totalTimeoutMs, `reading took longer than ${limits.totalTimeoutMs / 1000} s`);
  const { firstByteTimeoutMs } = limits;
  const firstByte =
    firstByteTimeoutMs === undefined
      ? undefined
      : startTimer(firstByteTimeoutMs, `no byte came within ${firstByteTimeoutMs / 1000} s`);
  const rate =
    limits.minBytesPerSecond === undefined ? undefined : meterRate(limits, limits.minBytesPerSecond, breakOff);

  return {
    signal,
    async *watch(chunks) {
      const source = chunks[Symbol.asyncIterator]();
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      aborted.catch(() => undefined);
      try {
        for (;;) {
          signal.throwIfAborted();
          rate?.wait();
          const next = await Promise.race([source.next(), aborted]);
          rate?.take(next.done ? 0 : next.value.length);
          if (next.done) return;
          clearTimeout(firstByte);
          yield next.value;
        }
      } finally {
        // Not awaited: a source that hangs would never answer to this either.
        source.return?.().catch(() => undefined);
      }
    },
    stop() {
      clearTimeout(total);
      clearTimeout(firstByte);
      rate?.stop();
      controller.abort(new BrokenOff('reading was ended'));
    },
  };
}

/** The longest time that a timer can hold; about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Counts bytes and the time spent waiting for them. Time that the reader takes for itself is not the source's fault. */
function meterRate(limits: PaceLimits, minimum: number, breakOff: (why: string) => void) {
  let bytes = 0;
  let waitedMs = 0;
  let since = 0;
  let timer: NodeJS.Timeout | undefined;

  /** At the end of a window: enough has come, and the next one begins; or not. */
  const judge = () => {
    if (bytes < (minimum * waitedMs) / 1000) {
      breakOff(
        `only ${bytes} bytes came in ${limits.rateWindowMs / 1000} s; at least ${minimum} a second are expected`,
      );
    }
    bytes = 0;
    waitedMs = 0;
  };
  const stop = () => clearTimeout(timer);
  const wait = () => {
    since = performance.now();
    timer = setTimeout(() => {
      waitedMs = limits.rateWindowMs;
      judge();
      wait();
    }, limits.rateWindowMs - waitedMs);
  };
  const take = (length: number) => {
    stop();
    bytes += length;
    waitedMs += performance.now() - since;
    if (waitedMs >= limits.rateWindowMs) judge();
  };
  return { wait, take, stop };
}
