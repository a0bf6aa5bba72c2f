// The time limits on a source: what passes through them is not kept in memory.
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { startPace } from '../../src/feed/decode/pace.ts';

const MEBIBYTE = 1024 * 1024;

/** As a network delivers them: each chunk has memory of its own. */
async function* chunks(count: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < count; at++) yield Buffer.alloc(MEBIBYTE);
}

it('keeps no chunk that was passed on, however long the source is', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const heldMebibytes = async () => {
    // The memory of what the first one found is freed beside it.
    collectGarbage();
    await nextTurn();
    collectGarbage();
    return process.memoryUsage().arrayBuffers / MEBIBYTE;
  };
  const pace = startPace({ totalTimeoutMs: 60_000, rateWindowMs: 30_000 }, new AbortController().signal);
  const before = await heldMebibytes();
  let passed = 0;
  let most = 0;
  for await (const chunk of pace.watch(chunks(128), ({ length }) => length)) {
    passed += chunk.length;
    if (passed % (32 * MEBIBYTE) === 0) most = Math.max(most, (await heldMebibytes()) - before);
  }
  pace.stop();
  expect(passed).toBe(128 * MEBIBYTE);
  expect(most).toBeLessThan(16);
});

it('leaves no timer where a document fails and the reading goes on', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const limits = { totalTimeoutMs: 60_000, rateWindowMs: 30_000, minBytesPerSecond: 1_024 };
    const pace = startPace(limits, new AbortController().signal);
    const documents = pace.watch(Readable.from(['one', 'two']), () => 0);
    for await (const name of documents) {
      const failing = async function* (): AsyncGenerator<Buffer> {
        yield Buffer.from(String(name));
        throw new Error('it was cut');
      };
      const read = async () => {
        for await (const _chunk of pace.watch(failing(), ({ length }) => length));
      };
      await expect(read()).rejects.toThrow('it was cut');
    }
    pace.stop();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
