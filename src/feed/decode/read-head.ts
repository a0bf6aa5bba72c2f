// Looks at the first bytes of a stream: turns it into those bytes, and the whole stream again.

/**
 * Reads at least `length` bytes, if there are as many. `all` then gives the stream from its start, and fails where the
 * stream failed, even if that was within its head; it must be read or returned.
 */
export async function readHead(
  chunks: AsyncIterable<Buffer>,
  length: number,
): Promise<{ head: Buffer; all: AsyncGenerator<Buffer> }> {
  const source = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let next = source.next();
  // A failure is met again by whoever reads on; until then it must not count as unhandled.
  next.catch(() => undefined);
  while (head.length < length) {
    const chunk = await next.catch(() => undefined);
    if (chunk === undefined || chunk.done) break;
    // A copy: the source may reuse its chunk.
    head = Buffer.concat([head, chunk.value]);
    next = source.next();
    next.catch(() => undefined);
  }
  async function* all(): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head;
      for (let chunk = await next; !chunk.done; chunk = await source.next()) yield chunk.value;
    } finally {
      await source.return?.();
    }
  }
  return { head, all: all() };
}
