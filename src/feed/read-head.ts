// Looks at the first bytes of a stream: turns it into those bytes, and the whole stream again.

/** Reads at least `length` bytes, if there are as many. `all` then gives the stream from its start; it must be read or returned. */
export async function readHead(
  chunks: AsyncIterable<Buffer>,
  length: number,
): Promise<{ head: Buffer; all: AsyncGenerator<Buffer> }> {
  const source = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let ended = false;
  while (head.length < length && !ended) {
    const next = await source.next();
    ended = next.done === true;
    // A copy: the source may reuse its chunk.
    if (!next.done) head = Buffer.concat([head, next.value]);
  }
  async function* all(): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head;
      while (!ended) {
        const next = await source.next();
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await source.return?.();
    }
  }
  return { head, all: all() };
}
