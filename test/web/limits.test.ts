// How often each client may ask, and who waits for costly work.
import { describe, expect, it } from 'vitest';
import { contestedSlots, limiter } from '../../src/web/limits.ts';

it('what is allowed refills evenly, and what is refused does not count', () => {
  let now = 0;
  const three = limiter(3, 60_000, () => now);
  expect([1, 2, 3, 4, 5].map(() => three.take('a'))).toEqual([0, 0, 0, 20, 20]);
  expect(three.take('b')).toBe(0);
  now += 20_000;
  expect([three.take('a'), three.take('a')]).toEqual([0, 20]);
  three.giveBack('a');
  expect(three.take('a')).toBe(0);
});

describe('of those who wait for costly work', () => {
  const LIMITS = { atOnce: 1, waiting: 4, ofOne: 2 };

  /** Who is served, in order, and who is refused, once they have all asked. */
  async function served(who: readonly string[]) {
    const slots = contestedSlots(LIMITS);
    const [order, refused]: [string[], string[]] = [[], []];
    const done = who.map(async (name, at) => {
      const release = await slots.take(name);
      (release === undefined ? refused : order).push(`${name}${at}`);
      release?.();
    });
    await Promise.all(done);
    return { order, refused };
  }

  it('the newest and the oldest come in turn', async () => {
    expect(await served(['a', 'b', 'c', 'd', 'e'])).toEqual({ order: ['a0', 'e4', 'b1', 'd3', 'c2'], refused: [] });
  });

  it('those in the middle are refused where too many wait', async () => {
    expect(await served(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toEqual({
      order: ['a0', 'g6', 'b1', 'f5', 'c2'],
      refused: ['d3', 'e4'],
    });
  });

  it('only a few are of one network', async () => {
    expect(await served(['a', 'a', 'a', 'a', 'b'])).toEqual({ order: ['a0', 'b4', 'a1', 'a2'], refused: ['a3'] });
  });
});
