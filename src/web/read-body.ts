// Reads the body of a request up to a limit.
import type { HonoRequest } from 'hono';
import { ProblemError } from './problem.ts';

/** @throws {ProblemError} if it is larger, or ends early */
export async function receiveBody(request: HonoRequest, mostBytes: number): Promise<Buffer> {
  const tooLarge = new ProblemError({ status: 413, detail: `the body has more than ${mostBytes} bytes` });
  if (Number(request.header('content-length') ?? 0) > mostBytes) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.raw.body ?? []) {
      size += chunk.length;
      if (size > mostBytes) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw new ProblemError({ status: 400, detail: 'the body ended early' });
  }
  return Buffer.concat(chunks);
}
