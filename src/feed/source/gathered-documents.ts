// Buffers the first documents of a source in memory, so waiting for them does not hold up anything else.
import { BrokenOff, type SourceDocument } from './source.ts';

/** A gathered document takes this much besides its bytes. */
const DOCUMENT_BYTES = 1024;

/** Documents whose beginning, or all of them, is in memory. */
interface GatheredDocuments {
  /**
   * Reads documents until they exceed `limit` together. Resolves to whether those were all. Call it at most once, before
   * `documents`.
   */
  gather(limit: number): Promise<boolean>;
  /** All documents from the first. Can be called repeatedly if everything was gathered, otherwise once. */
  documents(wait: WaitForBytes): AsyncGenerator<SourceDocument>;
  /** Ends the source and frees the memory. */
  close(): void;
}

export function gatherDocuments(source: AsyncIterable<SourceDocument>): GatheredDocuments {
  const iterator = source[Symbol.asyncIterator]();
  const begun: { readonly document: SourceDocument; readonly body: GatheredBody }[] = [];
  let ended = false;
  let broken: BrokenOff | undefined;

  function begin(document: SourceDocument): GatheredBody {
    const body = gatheredBody(document.chunks);
    begun.push({ document, body });
    return body;
  }

  /** Begins the next document; `undefined` if there is none. */
  async function gatherNext(): Promise<GatheredBody | undefined> {
    try {
      const next = await iterator.next();
      if (!next.done) return begin(next.value);
    } catch (error) {
      if (!(error instanceof BrokenOff)) throw error;
      broken = error;
    }
    ended = true;
    return undefined;
  }

  async function* rest(wait: WaitForBytes): AsyncGenerator<SourceDocument> {
    for (;;) {
      const next = await wait(iterator.next());
      if (next.done) return;
      const body = begin(next.value);
      yield { ...next.value, chunks: body.chunks(wait) };
      begun.pop();
      await body.close();
    }
  }

  return {
    async gather(limit) {
      let room = limit;
      let always = ALWAYS_GATHERED;
      for (let body = await gatherNext(); body !== undefined; body = await gatherNext()) {
        const totalBytes = begun.at(-1)?.document.totalBytes ?? 0;
        if (room < 0 || totalBytes > room || !(await body.gather(room, always))) return false;
        room -= body.bytes + DOCUMENT_BYTES;
        always = Math.max(0, always - body.bytes);
      }
      return true;
    },
    async *documents(wait) {
      try {
        for (const { document, body } of begun) {
          yield { ...document, chunks: body.chunks(wait) };
          if (!ended) await body.close();
        }
        if (broken !== undefined) throw broken;
        if (!ended) yield* rest(wait);
      } finally {
        // Not awaited: a source that hangs would not complete this either.
        if (!ended) iterator.return?.().catch(() => undefined);
      }
    },
    close() {
      for (const { body } of begun) void body.close();
      iterator.return?.().catch(() => undefined);
    },
  };
}

// Buffers the first bytes of one document in memory.

/** Limit for the gathered bytes of all sources together, and what each source may always gather (law 8). */
const MAX_GATHERED = 32 * 1024 * 1024;
const ALWAYS_GATHERED = 64 * 1024;
let gatheredBytes = 0;

/** Waits for the source's next bytes. It may free a slot meanwhile. */
export type WaitForBytes = <T>(next: Promise<T>) => Promise<T>;

/** A stream whose beginning, or all of it, is in memory. */
interface GatheredBody {
  /** The gathered bytes. */
  readonly bytes: number;
  /**
   * Reads until there are more than `limit` bytes, or than `always` while all sources together have reached theirs.
   * Resolves to whether the stream ended.
   */
  gather(limit: number, always: number): Promise<boolean>;
  /** All bytes from the first. Can be called repeatedly if everything was gathered, otherwise once. */
  chunks(wait: WaitForBytes): AsyncGenerator<Buffer>;
  /** Frees the memory and ends the stream; resolves when a read that is under way has returned. */
  close(): Promise<void>;
}

/** @param source each of its chunks is valid until the next one is requested. */
function gatheredBody(source: AsyncIterable<Buffer>): GatheredBody {
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

  async function* rest(wait: WaitForBytes): AsyncGenerator<Buffer> {
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
