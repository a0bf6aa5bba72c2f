// What surrounds requests for details: the records that wait for them, which are left out while they fail, and excerpts.
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as pauseFor } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { secretMask } from '../../src/feed/source/secret-mask.ts';
import { recordHash } from '../../src/posting/hash.ts';
import { compileListReader } from '../../src/posting/reader.ts';
import { excerptWith, FAILURES_IN_A_ROW, Sampling } from '../../src/pull/detail-reader.ts';
import { type AnsweredRecord, AnsweredRecords } from '../../src/pull/detailed-list.ts';
import { type PlanLine, spoolLines } from '../../src/pull/preview/trial-counts.ts';
import { RecordSpool } from '../../src/pull/record-spool.ts';
import { EXCERPT_BYTES } from '../../src/pull/unusable-records.ts';

const record = (ordinal: number) => {
  const bytes = Buffer.from(`record ${ordinal} `.repeat(ordinal % 7));
  return { hash: recordHash(bytes), ordinal, bytes };
};

describe('the records of a list', () => {
  it.each([0, 100, 1 << 20])('come back in their order, with %d bytes in memory', async (memoryBytes) => {
    const spool = new RecordSpool(memoryBytes);
    const records = Array.from({ length: 100 }, (_, at) => record(at));
    for (let at = 0; at < 100; at += 30) await spool.add(records.slice(at, at + 30));
    const groups: number[] = [];
    const found: unknown[] = [];
    for await (const group of spool.groups({ records: 16, bytes: 1 << 20 })) {
      groups.push(group.length);
      found.push(...group);
    }
    expect(groups).toEqual([16, 16, 16, 16, 16, 16, 4]);
    expect(found).toEqual(records);
    await spool.close();
  });

  it('come in smaller groups where they are large', async () => {
    const spool = new RecordSpool();
    const hash = recordHash(Buffer.from('x'));
    await spool.add([10, 90, 5, 120, 20].map((length, ordinal) => ({ hash, ordinal, bytes: Buffer.alloc(length) })));
    const groups: number[] = [];
    for await (const group of spool.groups({ records: 16, bytes: 100 })) groups.push(group.length);
    expect(groups).toEqual([2, 2, 1]);
  });

  it('are written in full, even if the system takes only a part at a time', async () => {
    const probe = await open(import.meta.filename);
    const file = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
    const write = file.write as (...args: readonly unknown[]) => Promise<{ bytesWritten: number }>;
    let parts = 0;
    const partly = vi.spyOn(file, 'write').mockImplementation(function (this: FileHandle, ...args: readonly unknown[]) {
      parts++;
      const [bytes, from, length, at] = args as [Buffer, number, number, number];
      return write.call(this, bytes, from, Math.ceil(length / 2), at);
    } as never);
    const spool = new RecordSpool(0);
    const records = Array.from({ length: 20 }, (_, at) => record(at));
    try {
      await spool.add(records);
    } finally {
      partly.mockRestore();
    }
    const found: unknown[] = [];
    for await (const group of spool.groups({ records: 16, bytes: 1 << 20 })) found.push(...group);
    expect(found).toEqual(records);
    expect(parts).toBeGreaterThan(20);
    await spool.close();
  });

  it('are copied, since their memory is reused', async () => {
    const spool = new RecordSpool();
    const one = record(3);
    const before = Buffer.from(one.bytes);
    await spool.add([one]);
    one.bytes.fill(0);
    for await (const [kept] of spool.groups({ records: 1, bytes: 1 << 20 })) expect(kept?.bytes).toEqual(before);
  });
});

it('a plan that cannot be written to its file fails, whatever it waits for at that time', async () => {
  async function* lines(): AsyncGenerator<PlanLine> {
    await pauseFor(50);
    yield { feed: 'acme' } as PlanLine;
  }
  await expect(spoolLines('/no/such/folder/spool', lines())).rejects.toThrow('ENOENT');
});

it('records come back with what became of their details', async () => {
  const outcomes: readonly AnsweredRecord['outcome'][] = [
    undefined,
    { kind: 'stored', listHash: recordHash(Buffer.from('x')) },
    { kind: 'document', bytes: Buffer.from('{"text":"é"}') },
    { kind: 'document', bytes: Buffer.alloc(0) },
    { kind: 'failed', message: 'it answered “gone”', excerpt: Buffer.from('the beginning') },
    { kind: 'failed', message: '', excerpt: Buffer.alloc(0) },
    { kind: 'postponed' },
  ];
  const answered = outcomes.map((outcome, at) => ({ record: record(at), outcome }));
  const records = new AnsweredRecords();
  await records.add(answered.slice(0, 3));
  await records.add(answered.slice(3));
  const found: unknown[] = [];
  for await (const group of records.groups({ records: 2, bytes: 1 << 20 })) found.push(...group);
  expect(found).toEqual(answered);
  await records.close();
});

describe('details that fail', () => {
  const fail = (sampling: Sampling, times: number) => {
    for (let at = 0; at < times; at++) sampling.fail();
  };

  it('are all requested until too many in a row have failed, and again after one that answers', () => {
    const sampling = new Sampling(() => 0.999);
    fail(sampling, FAILURES_IN_A_ROW - 1);
    expect([sampling.takes(), sampling.isInTrouble]).toEqual([true, false]);
    fail(sampling, 1);
    expect([sampling.takes(), sampling.isInTrouble]).toEqual([false, true]);
    sampling.succeed();
    expect([sampling.takes(), sampling.isInTrouble]).toEqual([true, false]);
  });

  it('leave out more and more, up to a limit', () => {
    const sampling = new Sampling(() => 0.999);
    const leftOut: number[] = [];
    fail(sampling, FAILURES_IN_A_ROW);
    for (let at = 0; at < 12; at++) {
      let count = 0;
      while (!sampling.takes()) count++;
      leftOut.push(count);
      sampling.fail();
    }
    expect(leftOut).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000]);
  });
});

describe('the record of a list', () => {
  it('is skipped by rules that need no detail, before its key is read', () => {
    const skip = [
      [{ path: 'state', is: ['TX'] }],
      [{ path: 'detail/kind', exists: false }],
      [{ path: '*/kind', exists: false }],
      [
        { path: 'open', is: ['false'] },
        { path: 'detail/kind', is: ['x'] },
      ],
    ];
    const read = compileListReader({ key: { paths: ['id'] }, skip }, 'detail');
    expect(read({ state: 'tx' })).toEqual({ kind: 'skipped' });
    expect(read({ id: '7', state: 'MA', open: 'false' })).toEqual({ kind: 'key', key: '7' });
    expect(read({ state: 'MA' })).toMatchObject({ kind: 'unreadable' });
  });

  it('shows no credentials in the excerpt, not even the half of one', () => {
    const secrets = [{ text: 'k3y-of-the-feed' }];
    const mask = secretMask([() => secrets]);
    for (const gap of [0, 1_000, 1_010, 1_016, 1_020, 2_040]) {
      const record = Buffer.from(`${'x'.repeat(gap)}k3y-of-the-feed${'y'.repeat(9_000)}`);
      expect(excerptWith(record, undefined, mask).toString()).not.toContain('k3y');
      expect(excerptWith(record, Buffer.alloc(9_000, 'd'), mask).toString()).not.toContain('k3y');
    }
  });

  it('and its detail each have a part of the excerpt', () => {
    const [long, short] = [Buffer.alloc(9000, 'l'), Buffer.from('short')];
    expect(excerptWith(long).toString()).toBe('l'.repeat(EXCERPT_BYTES));
    expect(excerptWith(short, short).toString()).toBe('short\n\nDetail:\nshort');
    for (const [record, detail] of [
      [long, long],
      [short, long],
      [long, short],
    ] as const) {
      const excerpt = excerptWith(record, detail).toString();
      expect(excerpt).toHaveLength(EXCERPT_BYTES);
      expect(excerpt).toContain('\n\nDetail:\n');
    }
  });
});
