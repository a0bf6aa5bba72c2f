import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { KeyIndex } from '../../src/compact/key-index.ts';
import { countOf } from '../support/extent.ts';

const hashOf = (n: number): Buffer => createHash('sha1').update(String(n)).digest().subarray(0, 16);

it('behaves like a map while its tables are split repeatedly', () => {
  const keys = new KeyIndex();
  const total = countOf(undefined, 60_000, 30_000);
  const hashes = Array.from({ length: total + 1_000 }, (_, n) => hashOf(n));
  const markOf = (n: number) => keys.markOf(hashes[n] as Buffer);
  for (let n = 0; n < total; n++) {
    if (markOf(n) !== undefined) expect.unreachable(`${n} before it was added`);
    keys.add(hashes[n] as Buffer, n);
    if (n % 9_973 === 0) for (let m = 0; m <= n; m++) if (markOf(m) !== m) expect.unreachable(`${m} of ${n}`);
  }
  for (const n of hashes.keys()) if (markOf(n) !== (n < total ? n : undefined)) expect.unreachable(`${n} at the end`);
});

it('holds more hashes with the same ending than fit in one table', () => {
  const alike = Array.from({ length: 9_000 }, (_, at) => {
    const hash = Buffer.alloc(16, 0xff);
    hash.writeUInt32LE(at * 400_000, 0);
    return hash;
  });
  const keys = new KeyIndex();
  for (const [at, hash] of alike.entries()) keys.add(hash, at);
  expect(alike.every((hash, at) => keys.markOf(hash) === at)).toBe(true);
  expect(keys.markOf(Buffer.alloc(16, 0xff))).toBeUndefined();
});
