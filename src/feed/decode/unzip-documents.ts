// Replaces each document that is a zip archive by the files in it; passes other documents on.
import type { SourceDocument } from '../source/source.ts';
import type { SizeLimits } from './gunzip.ts';

/** The first bytes of a file in an archive, and of an archive without files (APPNOTE, 4.3.7 and 4.3.16). */
const SIGNATURES = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('PK\x05\x06', 'latin1')];

/** @param head at least its first four bytes. */
export const isZip = (head: Buffer): boolean => SIGNATURES.some((signature) => signature.equals(head.subarray(0, 4)));

/** @param signal ends reading an archive. */
export async function* unzipDocuments(
  documents: AsyncIterable<SourceDocument>,
  limits: SizeLimits,
  signal: AbortSignal,
): AsyncGenerator<SourceDocument> {
  for await (const document of documents) {
    const { head, chunks } = await peek(document.chunks);
    if (!isZip(head)) {
      yield { ...document, chunks };
    } else {
      // Commands that meet no archive do not load the library.
      const { readZip } = await import('./read-zip.ts');
      yield* readZip({ ...document, chunks }, limits, signal);
    }
  }
}

/** The first bytes of a stream, and the stream from its start. It fails where the stream failed, and ends the stream. */
async function peek(
  stream: AsyncIterable<Buffer>,
): Promise<{ readonly head: Buffer; readonly chunks: AsyncIterableIterator<Buffer> }> {
  const source = stream[Symbol.asyncIterator]();
  const passed: Promise<IteratorResult<Buffer>>[] = [];
  let head = Buffer.alloc(0);
  while (head.length < 4) {
    const next = source.next();
    // Whoever reads the stream sees the failure again.
    const result = await next.catch(() => undefined);
    if (result === undefined || result.done) {
      passed.push(next);
      break;
    }
    // Copied only if it is too short to decide, because the source may reuse it.
    const isEnough = head.length + result.value.length >= 4;
    passed.push(isEnough ? next : Promise.resolve({ done: false, value: Buffer.from(result.value) }));
    head = Buffer.concat([head, result.value.subarray(0, 4)]);
  }
  return {
    head,
    chunks: {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => passed.shift() ?? source.next(),
      return: async () => {
        await source.return?.();
        return { done: true, value: undefined };
      },
    },
  };
}
