// Turns gzip into what it holds, several members and two layers of it too; anything else passes through untouched.
import { MessageChannel } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { BrokenOff, reasonOf } from '../source/source-body.ts';
import { readHead } from './read-head.ts';

const OUTPUT_BYTES = 524_288;
/** A `.gz` file that a server compresses once more while sending has two; more is no feed. */
const MAX_LAYERS = 2;

/**
 * Decompresses by the bytes themselves (RFC 1952), whatever names and headers say. A chunk is valid until the next is asked
 * for. Throws {@link BrokenOff}.
 */
export async function* decompress(chunks: AsyncIterable<Buffer>, layers = 0): AsyncGenerator<Buffer> {
  const { head, all } = await readHead(chunks, 2);
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    yield* all;
  } else if (layers === MAX_LAYERS) {
    await all.return(undefined);
    throw new BrokenOff(`it is compressed more than ${MAX_LAYERS} times`);
  } else {
    yield* decompress(gunzip(all), layers + 1);
  }
}

async function* gunzip(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const engine = createGunzip({ chunkSize: OUTPUT_BYTES });
  let fed = 0;
  const feed = async () => {
    for await (const chunk of chunks) {
      fed += chunk.length;
      // The chunk is in use until it is written, and may be reused then.
      await new Promise((resolve) => engine.write(chunk, resolve));
    }
    engine.end();
  };
  feed().catch((error) => engine.destroy(error));
  let before: ArrayBufferLike | undefined;
  try {
    for await (const chunk of engine as AsyncIterable<Buffer>) {
      // The engine fills one memory after the other; nobody needs the one before any more.
      if (chunk.buffer !== before) {
        release(before);
        before = chunk.buffer;
      }
      yield chunk;
    }
  } catch (error) {
    throw error instanceof Error && 'code' in error && String(error.code).startsWith('Z_') ? explain(error) : error;
  } finally {
    engine.destroy();
    await chunks.return(undefined);
  }
  // After the last member, the engine takes nothing more (zero bytes, which it knows as padding): then it ends early.
  if (engine.bytesWritten < fed) throw new BrokenOff('something else follows the end of the gzip data');
}

const { port1: bin, port2: nobody } = new MessageChannel();
nobody.close();
bin.unref();

/**
 * Gives memory back at once, by sending it to nobody. Left to the garbage collector, each 64 MB of it cost a collection of
 * the whole heap: a fifth of the time of a pull.
 */
function release(memory: ArrayBufferLike | undefined): void {
  if (memory instanceof ArrayBuffer) bin.postMessage(undefined, [memory]);
}

const explain = (error: Error & { code?: unknown }): BrokenOff =>
  error.code === 'Z_BUF_ERROR'
    ? new BrokenOff('the gzip data ends in the middle')
    : new BrokenOff(`the gzip data is damaged, or followed by something else: ${reasonOf(error)}`);
