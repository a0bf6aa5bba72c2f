// Semaphore: how many slots are taken at a time, in which order they are granted, and what happens to waiters when it
// closes.
import { describe, expect, it } from 'vitest';
import { semaphoreFor } from '../../src/flow/semaphore.ts';

type Leave = (() => void) | undefined;

/** Requests a slot for each name; returns who got an answer, with its release function. */
function askAll(requestSlots: ReturnType<typeof semaphoreFor>, who: readonly string[]): Map<string, Leave> {
  const answered = new Map<string, Leave>();
  for (const name of who) void requestSlots.take().then((leave) => answered.set(name, leave));
  return answered;
}

const idle = () => new Promise(setImmediate);

describe('slots', () => {
  it('are limited in number, and are passed on to waiters in order', async () => {
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

  it('are released once, however often release is called', async () => {
    const answered = askAll(semaphoreFor(1), ['a', 'b', 'c']);
    await idle();
    answered.get('a')?.();
    answered.get('a')?.();
    await idle();
    expect([...answered.keys()]).toEqual(['a', 'b']);
  });

  it('that nobody waits for become free', async () => {
    const requestSlots = semaphoreFor(1);
    (await requestSlots.take())?.();
    const answered = askAll(requestSlots, ['a', 'b']);
    await idle();
    expect([...answered.keys()]).toEqual(['a']);
  });

  it('are no longer granted once closed, but stay with their holders', async () => {
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
