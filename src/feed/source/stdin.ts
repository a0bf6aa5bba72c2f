// Opens standard input as a source: it ends when the program before the pipe closes it, which is all that can be known.
import type { Readable } from 'node:stream';
import { BrokenOff, type OpenedSource, reasonOf } from './source-body.ts';

/** Reads `input` to its end. */
export const openStdin = (input: Readable): OpenedSource => ({
  kind: 'body',
  body: { chunks: readInput(input), validators: {} },
});

async function* readInput(input: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of input) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    throw new BrokenOff(`reading standard input failed: ${reasonOf(error)}`);
  }
}
