// Reads standard input as a source. All that can be known about its end is that the program before the pipe closed it.
import type { Readable } from 'node:stream';
import { BrokenOff, oneDocument, reasonOf, type SourceKind } from '../source.ts';

export interface StdinConfig {
  readonly kind: 'stdin';
}

export const stdinSource: SourceKind<StdinConfig> = {
  isRemote: false,
  isRepeatable: false,
  open: async (_config, { stdin = process.stdin }) => oneDocument({ name: 'standard input', chunks: readInput(stdin) }),
  request: ({ kind }) => ({ kind }),
  placeOf: () => '-',
  secretsOf: () => [],
  publicConfig: () => ({ place: '-' }),
};

async function* readInput(input: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of input) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    throw new BrokenOff(`reading standard input failed: ${reasonOf(error)}`);
  }
}
