// Places: how many are taken at a time, in which order they are given, and what becomes of who waits when there are no more.
import { describe, expect, it } from 'vitest';
import { semaphoreFor } from '../../src/site/semaphore.ts';

type Leave = (() => void) | undefined;

/** Asks for a place for each of these; gives who has been answered, with what gives the place back. */
function askAll(requestSlots: ReturnType<typeof semaphoreFor>, who: readonly string[]): Map<string, Leave> {
  const answered = new Map<string, Leave>();
  for (const name of who) void requestSlots.take().then((leave) => answered.set(name, leave));
  return answered;
}

const idle = () => new Promise(setImmediate);

describe('places', () => {
  it('are as many as there are, and go on to those who wait, in their order', async () => {
    const answered = askAll(semaphoreFor(2), ['a', 'b', 'c', 'd']);
    await idle();
    expect([...answered.keys()]).toEqual(['a', 'b']);
    answered.get('b')?.();
    await idle();
    expect([...answered.keys()]).toEqual(['a', 'b', 'c']);
    answered.get('a')?.();
    answered.get('c')?.();
    await idle();
    expect([...answered.keys()]).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are given back once, however often that is said', async () => {
    const answered = askAll(semaphoreFor(1), ['a', 'b', 'c']);
    await idle();
    answered.get('a')?.();
    answered.get('a')?.();
    await idle();
    expect([...answered.keys()]).toEqual(['a', 'b']);
  });

  it('that nobody waits for are kept', async () => {
    const requestSlots = semaphoreFor(1);
    (await requestSlots.take())?.();
    const answered = askAll(requestSlots, ['a', 'b']);
    await idle();
    expect([...answered.keys()]).toEqual(['a']);
  });

  it('are not given any more once they are closed, and stay with those who have one', async () => {
    const requestSlots = semaphoreFor(1);
    const answered = askAll(requestSlots, ['a', 'b', 'c']);
    await idle();
    expect(requestSlots.closed).toBe(false);
    requestSlots.close();
    await idle();
    expect(requestSlots.closed).toBe(true);
    expect([...answered.keys()]).toEqual(['a', 'b', 'c']);
    expect([answered.get('b'), answered.get('c')]).toEqual([undefined, undefined]);
    answered.get('a')?.();
    expect(await requestSlots.take()).toBeUndefined();
  });
});
