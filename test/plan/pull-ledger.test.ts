import { describe, expect, it } from 'vitest';
import type { Known } from '../../src/plan/plan-posting.ts';
import { PullLedger } from '../../src/plan/pull-ledger.ts';
import { RecordIndex, RecordMark } from '../../src/plan/record-index.ts';
import { interpretedHash, recordHash } from '../../src/posting/hash.ts';
import { postingKey, siteJobId } from '../../src/posting/identifiers.ts';

/** How the records of these tests are read. */
const READING = recordHash(Buffer.from('one way of reading'));
/** The hash of a record's bytes, as it comes with the record. */
const bytesOf = (text: string): Buffer => recordHash(Buffer.from(text));
/** The hash as it is stored. */
const hashOf = (text: string, reading = READING): Buffer => interpretedHash(bytesOf(text), 0, reading);
const UNKNOWN: Known = { mapping: undefined, open: undefined };

/** What the books have of posting `a`, whose record was `a1` with content `c1`. */
const MAPPED: Known = {
  mapping: {
    key: postingKey('a'),
    siteJobId: siteJobId('1'),
    recordHash: hashOf('a1'),
    contentHash: hashOf('c1'),
    missingPulls: 0,
  },
  open: undefined,
};

function ledgerWith(...records: [string, RecordMark][]): PullLedger {
  const index = new RecordIndex(records.length);
  for (const [record, mark] of records) index.add(hashOf(record), mark);
  return new PullLedger(index, READING);
}

describe('a record that is known', () => {
  it('is unchanged if it is settled, and never parsed', () => {
    const ledger = ledgerWith(['a1', RecordMark.settled]);
    expect(ledger.meetRecord(bytesOf('a1'))).toBeUndefined();
    expect(ledger).toMatchObject({ seen: 1, unchanged: 1, wished: 0, duplicates: 0 });
    expect([...ledger.unmetRecords()]).toEqual([]);
    expect(ledger.hasMetWish(hashOf('a1'))).toBe(false);
  });

  it('is wished if a change waits for it', () => {
    const ledger = ledgerWith(['a1', RecordMark.wished], ['b1', RecordMark.wished]);
    expect(ledger.meetRecord(bytesOf('a1'))).toBeUndefined();
    expect(ledger).toMatchObject({ unchanged: 0, wished: 1 });
    expect(ledger.hasMetWish(hashOf('a1'))).toBe(true);
    expect(ledger.hasMetWish(hashOf('b1'))).toBe(false);
    expect(ledger.hasMetWish(hashOf('c1'))).toBe(false);
  });

  it('is parsed if a change contests it', () => {
    const ledger = ledgerWith(['a1', RecordMark.contested]);
    expect(ledger.meetRecord(bytesOf('a1'))).toEqual({ hash: hashOf('a1'), ordinal: 0 });
  });

  it('counts as a duplicate the second time', () => {
    const ledger = ledgerWith(['a1', RecordMark.settled]);
    ledger.meetRecord(bytesOf('a1'));
    expect(ledger.meetRecord(bytesOf('a1'))).toBeUndefined();
    expect(ledger).toMatchObject({ seen: 2, unchanged: 1, duplicates: 1 });
  });
});

describe('a key that stands twice', () => {
  it.each([
    ['same', 'c2', 'c2', 'identical'],
    ['other', 'c2', 'c3', 'conflicting'],
  ])('among parsed postings with the %s content', (_name, first, second, kind) => {
    const ledger = ledgerWith();
    const [one, two] = [ledger.meetRecord(bytesOf('x1')), ledger.meetRecord(bytesOf('x2'))];
    if (one === undefined || two === undefined) throw new Error('both are to be parsed');
    expect(ledger.meetPosting(one, hashOf('x'), hashOf(first), UNKNOWN)).toEqual({ kind: 'first' });
    expect(ledger.meetPosting(two, hashOf('x'), hashOf(second), UNKNOWN)).toEqual({ kind });
    expect(ledger.duplicates).toBe(1);
  });

  it('first as known, then changed: the known one stands', () => {
    const ledger = ledgerWith(['a1', RecordMark.settled]);
    ledger.meetRecord(bytesOf('a1'));
    const later = ledger.meetRecord(bytesOf('a2'));
    if (later === undefined) throw new Error('it is to be parsed');
    expect(ledger.meetPosting(later, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'conflicting' });
    expect(ledger).toMatchObject({ seen: 2, unchanged: 1, duplicates: 1 });
  });

  it('first as changed, then as wished, before the first was parsed: the changed one stands', () => {
    const ledger = ledgerWith(['a1', RecordMark.wished]);
    const first = ledger.meetRecord(bytesOf('a2'));
    ledger.meetRecord(bytesOf('a1'));
    if (first === undefined) throw new Error('it is to be parsed');
    expect(ledger.meetPosting(first, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'first_of_conflicting' });
    expect(ledger).toMatchObject({ seen: 2, wished: 0, unchanged: 0, duplicates: 1 });
  });

  it('first as changed, then known, before the first was parsed: the changed one stands', () => {
    const ledger = ledgerWith(['a1', RecordMark.settled]);
    const first = ledger.meetRecord(bytesOf('a2'));
    ledger.meetRecord(bytesOf('a1'));
    if (first === undefined) throw new Error('it is to be parsed');
    expect(ledger.meetPosting(first, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'first_of_conflicting' });
    expect(ledger).toMatchObject({ seen: 2, unchanged: 0, duplicates: 1 });
    expect([...ledger.unmetRecords()]).toEqual([]);
  });

  it('first as changed, then known, after the first was parsed: the same comes out', () => {
    const ledger = ledgerWith(['a1', RecordMark.settled]);
    const first = ledger.meetRecord(bytesOf('a2'));
    if (first === undefined) throw new Error('it is to be parsed');
    expect(ledger.meetPosting(first, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'first' });
    const second = ledger.meetRecord(bytesOf('a1'));
    if (second === undefined) throw new Error('it is to be parsed');
    expect(ledger.meetPosting(second, hashOf('a'), hashOf('c1'), MAPPED)).toEqual({ kind: 'conflicting' });
    expect(ledger).toMatchObject({ seen: 2, unchanged: 0, duplicates: 1 });
  });

  it('in other bytes with the known content collapses', () => {
    const ledger = ledgerWith(['a1', RecordMark.settled]);
    ledger.meetRecord(bytesOf('a1'));
    const again = ledger.meetRecord(bytesOf('a1 with a space'));
    if (again === undefined) throw new Error('it is to be parsed');
    expect(ledger.meetPosting(again, hashOf('a'), hashOf('c1'), MAPPED)).toEqual({ kind: 'identical' });
    expect(ledger).toMatchObject({ unchanged: 1, duplicates: 1 });
  });
});

describe('what was not met', () => {
  it('are the mappings whose posting came on neither path', () => {
    const ledger = ledgerWith(['a1', RecordMark.settled], ['b1', RecordMark.settled], ['c1', RecordMark.contested]);
    const met = ledger.meetRecord(bytesOf('a2'));
    if (met === undefined) throw new Error('it is to be parsed');
    ledger.meetPosting(met, hashOf('a'), hashOf('c2'), MAPPED);
    expect([...ledger.unmetRecords()].map(String).sort()).toEqual([hashOf('b1'), hashOf('c1')].map(String).sort());
    expect(ledger.hasMet(hashOf('a1'))).toBe(true);
    expect(ledger.hasMet(hashOf('b1'))).toBe(false);
  });
});

describe('a record that was read in another way before', () => {
  it('is parsed, and accounts for no posting but its own', () => {
    const other = recordHash(Buffer.from('another way of reading'));
    const index = new RecordIndex(2);
    index.add(hashOf('a1', other), RecordMark.settled);
    index.add(hashOf('b1', other), RecordMark.wished);
    const ledger = new PullLedger(index, READING);
    const [one, two] = [ledger.meetRecord(bytesOf('a1')), ledger.meetRecord(bytesOf('b1'))];
    expect([one?.hash, two?.hash]).toEqual([hashOf('a1'), hashOf('b1')]);
    if (one === undefined) throw new Error('it is to be parsed');
    ledger.meetPosting(one, hashOf('z'), hashOf('c1'), UNKNOWN);
    expect([...ledger.unmetRecords()].map(String).sort()).toEqual(
      [hashOf('a1', other), hashOf('b1', other)].map(String).sort(),
    );
    expect(ledger.hasMet(hashOf('a1', other))).toBe(false);
    expect(ledger.hasMetWish(hashOf('b1', other))).toBe(false);
  });

  it('is fetched and found by its stored hash', () => {
    const ledger = ledgerWith(['a1', RecordMark.settled]);
    ledger.expectRecord(bytesOf('a1'), 0);
    const padded = Buffer.concat([Buffer.of(7), bytesOf('a1')]);
    expect(ledger.meetRecord(padded, 1)).toBeUndefined();
  });
});
