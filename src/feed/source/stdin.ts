// Opens standard input as a source. All that can be known about its end is that the program before the pipe closed it.
import type { Readable } from 'node:stream';
import { BrokenOff, type OpenedSource, reasonOf } from './source-body.ts';

/** Reads `input` to its end. */
export const openStdin = (input: Readable): OpenedSource => ({
  kind: 'body',
  body: { chunks: readInput(input) },
});

async function* readInput(input: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of input) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    throw new BrokenOff(`reading standard input failed: ${reasonOf(error)}`);
  }
}
