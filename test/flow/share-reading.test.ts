// One reading for all who ask at the same time, and none that began before its caller asked.
import { expect, it } from 'vitest';
import { shareReading } from '../../src/flow/share-reading.ts';

/** Readings that end when told to; each results in the value at its begin. */
function readings() {
  const owner = {};
  let value = 0;
  const ends: ((error?: Error) => void)[] = [];
  const read = (name = 'status') =>
    shareReading(owner, name, () => {
      const seen = value;
      return new Promise<number>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve(seen) : reject(error)));
      });
    });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { read, ends, settle, change: () => ++value };
}

it('those who ask while one is read share the next one, which sees what changed before they asked', async () => {
  const { read, ends, settle, change } = readings();
  const first = read();
  change();
  const others = [read(), read(), read()];
  expect(ends).toHaveLength(1);
  ends[0]?.();
  expect(await first).toBe(0);
  await settle();
  expect(ends).toHaveLength(2);
  change();
  const late = read();
  ends[1]?.();
  expect(await Promise.all(others)).toEqual([1, 1, 1]);
  await settle();
  ends[2]?.();
  expect(await late).toBe(2);
});

it('is read anew once nobody waits', async () => {
  const { read, ends, change, settle } = readings();
  const first = read();
  ends[0]?.();
  await first;
  await settle();
  change();
  const second = read();
  ends[1]?.();
  expect(await second).toBe(1);
});

it('an error reaches those who share the reading, and not the next ones', async () => {
  const { read, ends, settle } = readings();
  const first = read();
  const second = read();
  ends[0]?.(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await settle();
  ends[1]?.();
  expect(await second).toBe(0);
});

it('readings of other names run beside it', async () => {
  const { read, ends } = readings();
  const both = [read('status'), read('sites')];
  expect(ends).toHaveLength(2);
  for (const end of ends) end();
  expect(await Promise.all(both)).toEqual([0, 0]);
});
