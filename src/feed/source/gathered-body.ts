// Gathers the first bytes of a source in memory, so that nobody else is held up while it is waited for.
import { BrokenOff } from './source-body.ts';

/** Bytes that all sources together may have gathered, and what each may have whatever the others have (law 8). */
const MOST_GATHERED = 32 * 1024 * 1024;
const ALWAYS_GATHERED = 64 * 1024;
let gatheredBytes = 0;

/** Waits for the source's next bytes. It may do something else meanwhile. */
export type Wait = <T>(next: Promise<T>) => Promise<T>;

/** A stream of bytes of which the beginning, or all, is in memory. */
export interface GatheredBody {
  /** Reads until there are more bytes than `limit`. Resolves to whether that is all there is. */
  gather(limit: number): Promise<boolean>;
  /** All bytes from the first on; as often as one likes where all were gathered, once otherwise. */
  chunks(wait: Wait): AsyncGenerator<Buffer>;
  /** Ends the source, and frees the memory. */
  close(): void;
}

/** @param source a chunk of it is valid until the next is asked for. */
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
    async gather(limit) {
      while (!ended && bytes <= limit && (gatheredBytes <= MOST_GATHERED || bytes <= ALWAYS_GATHERED)) {
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
        // Not awaited: a source that hangs would never answer to this either.
        if (!ended) iterator.return?.().catch(() => undefined);
      }
    },
    close() {
      free();
      iterator.return?.().catch(() => undefined);
    },
  };
}
