// Answers with a CSV file that is made while it is read, for the API and the pages.

/** The first part is made before the answer begins, so that what is wrong with the request still has its own answer. */
export async function csvResponse(parts: AsyncIterable<string>, name: string): Promise<Response> {
  const made = parts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const ahead = [await made.next(), await made.next()];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = ahead.shift() ?? (await made.next());
      if (part.done === true) controller.close();
      else controller.enqueue(encoder.encode(part.value));
    },
    async cancel() {
      await made.return?.();
    },
  });
  return new Response(body, {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
      'Cache-Control': 'private, no-cache',
    },
  });
}
