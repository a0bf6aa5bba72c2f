// Buffers the first bytes of one document in memory.
import { BrokenOff } from './source.ts';

/** Limit for the gathered bytes of all sources together, and what each source may always gather (law 8). */
const MAX_GATHERED = 32 * 1024 * 1024;
export const ALWAYS_GATHERED = 64 * 1024;
let gatheredBytes = 0;

/** Waits for the source's next bytes. It may free a slot meanwhile. */
export type Wait = <T>(next: Promise<T>) => Promise<T>;

/** A stream whose beginning, or all of it, is in memory. */
export interface GatheredBody {
  /** The gathered bytes. */
  readonly bytes: number;
  /**
   * Reads until there are more than `limit` bytes, or than `always` while all sources together have reached theirs.
   * Resolves to whether the stream ended.
   */
  gather(limit: number, always: number): Promise<boolean>;
  /** All bytes from the first. Can be called repeatedly if everything was gathered, otherwise once. */
  chunks(wait: Wait): AsyncGenerator<Buffer>;
  /** Frees the memory and ends the stream; resolves when a read that is under way has returned. */
  close(): Promise<void>;
}

/** @param source each of its chunks is valid until the next one is requested. */
export function gatheredBody(source: AsyncIterable<Buffer>): GatheredBody {
  const iterator = source[Symbol.asyncIterator]();
  let gathered: Buffer[] = [];
  let bytes = 0;
  let ended = false;
  let broken: BrokenOff | undefined;

  function free(): void {
    gatheredBytes -= bytes;
    bytes = 0;
    gathered = [];
  }

  async function* rest(wait: Wait): AsyncGenerator<Buffer> {
    free();
    for (;;) {
      const next = await wait(iterator.next());
      if (next.done) return;
      yield next.value;
    }
  }

  return {
    get bytes() {
      return bytes;
    },
    async gather(limit, always) {
      while (!ended && bytes <= limit && (gatheredBytes <= MAX_GATHERED || bytes <= always)) {
        try {
          const next = await iterator.next();
          if (next.done) ended = true;
          else {
            gathered.push(Buffer.from(next.value));
            bytes += next.value.length;
            gatheredBytes += next.value.length;
          }
        } catch (error) {
          if (!(error instanceof BrokenOff)) throw error;
          ended = true;
          broken = error;
        }
      }
      return ended;
    },
    async *chunks(wait) {
      try {
        yield* gathered;
        if (broken !== undefined) throw broken;
        if (!ended) yield* rest(wait);
      } finally {
        // Not awaited: a source that hangs would not complete this either.
        if (!ended) iterator.return?.().catch(() => undefined);
      }
    },
    async close() {
      free();
      await iterator.return?.().catch(() => undefined);
    },
  };
}
