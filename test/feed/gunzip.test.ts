// Gzip that arrives in small pieces, as from a server that sends each record at once, and is read slowly.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import { expect, it } from 'vitest';
import { decompress } from '../../src/feed/decode/gunzip.ts';

async function zippedOneByOne(texts: readonly string[]): Promise<Buffer[]> {
  const zipper = createGzip();
  const pieces: Buffer[] = [];
  zipper.on('data', (piece: Buffer) => pieces.push(piece));
  for (const text of texts) {
    zipper.write(text);
    await new Promise<void>((flushed) => zipper.flush(constants.Z_SYNC_FLUSH, flushed));
  }
  zipper.end();
  await once(zipper, 'end');
  return pieces;
}

it('small pieces are not joined, and none is lost, while the consumer waits', async () => {
  const texts = Array.from({ length: 40 }, (_, n) => `record ${n} `.repeat(100));
  const pieces = await zippedOneByOne(texts);
  const read: string[] = [];
  const length = { isProven: false };
  for await (const chunk of decompress(arriving(pieces), length)) {
    read.push(chunk.toString());
    // Time in which the next pieces arrive.
    await pause(10);
    // Still valid.
    expect(chunk.toString()).toBe(read.at(-1));
  }
  expect(read).toEqual(texts);
  expect(length.isProven).toBe(true);
});

async function* arriving(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    await pause(0);
    yield piece;
  }
}
