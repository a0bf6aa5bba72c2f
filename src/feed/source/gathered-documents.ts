// Buffers the first documents of a source in memory, so waiting for them does not hold up anything else.
import { ALWAYS_GATHERED, type GatheredBody, gatheredBody, type Wait } from './gathered-body.ts';
import { BrokenOff, type SourceDocument } from './source.ts';

/** A gathered document takes this much besides its bytes. */
const DOCUMENT_BYTES = 1024;

/** Documents whose beginning, or all of them, is in memory. */
export interface GatheredDocuments {
  /**
   * Reads documents until they exceed `limit` together. Resolves to whether those were all. Call it at most once, before
   * `documents`.
   */
  gather(limit: number): Promise<boolean>;
  /** All documents from the first. Can be called repeatedly if everything was gathered, otherwise once. */
  documents(wait: Wait): AsyncGenerator<SourceDocument>;
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

  async function* rest(wait: Wait): AsyncGenerator<SourceDocument> {
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
