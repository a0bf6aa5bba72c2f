// Places: how many are taken at a time, in which order they are given, and what becomes of who no longer waits.
import { describe, expect, it } from 'vitest';
import { placesFor } from '../../src/site/places.ts';

/** Asks for places for each of these; gives who has got one, and what gives it back. */
function askAll(places: ReturnType<typeof placesFor>, who: readonly string[], signal?: AbortSignal) {
  const given = new Map<string, () => void>();
  const refused: string[] = [];
  for (const name of who) {
    places.take(signal).then(
      (leave) => given.set(name, leave),
      () => refused.push(name),
    );
  }
  return { given, refused };
}

const settled = () => new Promise(setImmediate);

describe('places', () => {
  it('are as many as there are, and go on to those who wait, in their order', async () => {
    const places = placesFor(2);
    const { given } = askAll(places, ['a', 'b', 'c', 'd']);
    await settled();
    expect([...given.keys()]).toEqual(['a', 'b']);
    given.get('b')?.();
    await settled();
    expect([...given.keys()]).toEqual(['a', 'b', 'c']);
    given.get('a')?.();
    given.get('c')?.();
    await settled();
    expect([...given.keys()]).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are given back once, however often that is said', async () => {
    const places = placesFor(1);
    const { given } = askAll(places, ['a', 'b', 'c']);
    await settled();
    given.get('a')?.();
    given.get('a')?.();
    await settled();
    expect([...given.keys()]).toEqual(['a', 'b']);
  });

  it('that nobody waits for are kept', async () => {
    const places = placesFor(1);
    const first = await places.take();
    first();
    const { given } = askAll(places, ['a', 'b']);
    await settled();
    expect([...given.keys()]).toEqual(['a']);
  });

  it('are not given to who no longer waits, and not lost either', async () => {
    const places = placesFor(1);
    const leave = await places.take();
    const stop = new AbortController();
    const leaving = askAll(places, ['a', 'b'], stop.signal);
    const staying = askAll(places, ['c']);
    stop.abort(new Error('stopped'));
    await settled();
    expect(leaving.refused).toEqual(['a', 'b']);
    leave();
    await settled();
    expect([...leaving.given.keys(), ...staying.given.keys()]).toEqual(['c']);
    staying.given.get('c')?.();
    await expect(places.take(AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    await expect(places.take(stop.signal)).rejects.toThrow('stopped');
    await places.take();
  });
});
