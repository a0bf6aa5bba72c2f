// Peeks at the first bytes of a stream without consuming it.

/**
 * Reads at least `length` bytes, if there are that many. `all` is the stream from its start and fails where the stream
 * failed, even within the head; it must be read or returned.
 */
export async function readHead(
  chunks: AsyncIterable<Buffer>,
  length: number,
): Promise<{ head: Buffer; all: AsyncGenerator<Buffer> }> {
  const source = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let next = source.next();
  // Whoever continues reading sees the failure again; until then it must not count as unhandled.
  next.catch(() => undefined);
  while (head.length < length) {
    const chunk = await next.catch(() => undefined);
    if (chunk === undefined || chunk.done) break;
    // Copy, because the source may reuse its chunk.
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
