import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { KeyIndex } from '../../src/plan/key-index.ts';

const hashOf = (n: number): Buffer => createHash('sha1').update(String(n)).digest().subarray(0, 16);

it('holds what a map would, while its tables become two again and again', () => {
  const keys = new KeyIndex();
  const total = 60_000;
  for (let n = 0; n < total; n++) {
    const hash = hashOf(n);
    expect(keys.noted(hash)).toBeUndefined();
    keys.note(hash, n);
    if (n % 9_973 === 0)
      for (let m = 0; m <= n; m++) if (keys.noted(hashOf(m)) !== m) expect.unreachable(`${m} of ${n}`);
  }
  for (let n = 0; n < total; n++) expect(keys.noted(hashOf(n))).toBe(n);
  for (let n = total; n < total + 1_000; n++) expect(keys.noted(hashOf(n))).toBeUndefined();
});

it('holds hashes that end alike, more than a table has room for', () => {
  const alike = Array.from({ length: 9_000 }, (_, at) => {
    const hash = Buffer.alloc(16, 0xff);
    hash.writeUInt32LE(at * 400_000, 0);
    return hash;
  });
  const keys = new KeyIndex();
  for (const [at, hash] of alike.entries()) keys.note(hash, at);
  expect(alike.every((hash, at) => keys.noted(hash) === at)).toBe(true);
  expect(keys.noted(Buffer.alloc(16, 0xff))).toBeUndefined();
});
