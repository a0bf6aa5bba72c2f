// The time limits on a source: what passes through them is not kept in memory.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
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
