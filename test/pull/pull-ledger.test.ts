import { describe, expect, it } from 'vitest';
import { RecordIndex, RecordMark } from '../../src/compact/record-index.ts';
import type { Known } from '../../src/plan/plan-posting.ts';
import { interpretedHash, recordHash } from '../../src/posting/hash.ts';
import { postingKey, siteJobId } from '../../src/posting/identifiers.ts';
import { PullLedger } from '../../src/pull/pull-ledger.ts';

/** How the records of these tests are read. */
const READING = recordHash(Buffer.from('one way of reading'));
/** The hash of a record's bytes, as it comes with the record. */
const bytesOf = (text: string): Buffer => recordHash(Buffer.from(text));
/** The hash as stored. */
const hashOf = (text: string, reading = READING): Buffer => interpretedHash(bytesOf(text), 0, reading);
const UNKNOWN: Known = { mapping: undefined, open: undefined };

/** What the database has for posting `a`, whose record was `a1` with content `c1`. */
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

function ledgerIndex(record: string): RecordIndex {
  const index = new RecordIndex(1);
  index.add(hashOf(record), RecordMark.mapped);
  return index;
}

function ledgerWith(...records: [string, RecordMark][]): PullLedger {
  const index = new RecordIndex(records.length);
  for (const [record, mark] of records) index.add(hashOf(record), mark);
  return new PullLedger(index, READING);
}

describe('a skipped record', () => {
  const known = (...records: string[]) => {
    const index = new RecordIndex(records.length);
    for (const record of records) index.add(hashOf(record), RecordMark.mapped);
    return index;
  };

  it('of an earlier pull is never parsed, however often it comes', () => {
    const ledger = new PullLedger(new RecordIndex(), READING, { skipped: known('d1', 'd2') });
    expect(ledger.seeRecord(bytesOf('d1'))).toBeUndefined();
    expect(ledger.seeRecord(bytesOf('d1'))).toBeUndefined();
    expect(ledger).toMatchObject({ seen: 2, skipped: 2, unchanged: 0, duplicates: 0, isEmpty: true });
    expect([...ledger.unseenSkipped()]).toEqual([hashOf('d2')]);
  });

  it('is parsed again once records are read in another way', () => {
    const other = recordHash(Buffer.from('another way'));
    const ledger = new PullLedger(new RecordIndex(), other, { skipped: known('d1') });
    expect(ledger.seeRecord(bytesOf('d1'))).toEqual({ hash: hashOf('d1', other), ordinal: 0 });
    expect([...ledger.unseenSkipped()]).toEqual([hashOf('d1')]);
  });

  it('is parsed once per pull if it is new', () => {
    const ledger = ledgerWith();
    const seen = ledger.seeRecord(bytesOf('d1')) ?? expect.fail();
    const again = ledger.seeRecord(bytesOf('d1')) ?? expect.fail();
    expect([ledger.skipRecord(seen), ledger.skipRecord(again)]).toEqual([true, false]);
    expect(ledger.seeRecord(bytesOf('d1'))).toBeUndefined();
    expect(ledger).toMatchObject({ seen: 3, skipped: 3 });
    expect([...ledger.unseenSkipped()]).toEqual([]);
  });

  it.each(['known', 'new'])('that is %s and on two pages shows that the list moved', (kind) => {
    const options = { isPaged: true, ...(kind === 'known' ? { skipped: known('d1') } : {}) };
    const ledger = new PullLedger(new RecordIndex(), READING, options);
    for (const _page of [1, 2]) {
      const seen = ledger.seeRecord(bytesOf('d1'));
      if (seen !== undefined) ledger.skipRecord(seen);
    }
    const page = (start: number) => ({ name: `page ${start + 1}`, list: 'jobs', start, end: start + 1 });
    expect(ledger.repeats?.shortfall([page(0), page(1)])).toMatch(/1 posting is on more than one page/);
    expect(ledger.repeats?.shortfall([{ ...page(0), end: 2 }])).toBeUndefined();
  });

  it('leaves a feed with an unreadable one empty, but not with a posting', () => {
    const ledger = new PullLedger(ledgerIndex('a1'), READING, { skipped: known('d1') });
    expect(ledger.isEmpty).toBe(true);
    ledger.seeRecord(bytesOf('d1'));
    ledger.seeRecord(bytesOf('x1'));
    ledger.unreadable++;
    expect(ledger.isEmpty).toBe(true);
    ledger.seeRecord(bytesOf('a1'));
    expect(ledger.isEmpty).toBe(false);
  });
});

describe('a known record', () => {
  it('is unchanged and never parsed if no change is open', () => {
    const ledger = ledgerWith(['a1', RecordMark.mapped]);
    expect(ledger.seeRecord(bytesOf('a1'))).toBeUndefined();
    expect(ledger).toMatchObject({ seen: 1, unchanged: 1, openRecords: 0, duplicates: 0 });
    expect([...ledger.missingRecords()]).toEqual([]);
    expect(ledger.hasSeenChange(hashOf('a1'))).toBe(false);
  });

  it('is counted with its open change if that has the same desired state', () => {
    const ledger = ledgerWith(['a1', RecordMark.open], ['b1', RecordMark.open]);
    expect(ledger.seeRecord(bytesOf('a1'))).toBeUndefined();
    expect(ledger).toMatchObject({ unchanged: 0, openRecords: 1 });
    expect(ledger.hasSeenChange(hashOf('a1'))).toBe(true);
    expect(ledger.hasSeenChange(hashOf('b1'))).toBe(false);
    expect(ledger.hasSeenChange(hashOf('c1'))).toBe(false);
  });

  it('is parsed if an open change supersedes it', () => {
    const ledger = ledgerWith(['a1', RecordMark.superseding]);
    expect(ledger.seeRecord(bytesOf('a1'))).toEqual({ hash: hashOf('a1'), ordinal: 0 });
  });

  it('counts as a duplicate the second time', () => {
    const ledger = ledgerWith(['a1', RecordMark.mapped]);
    ledger.seeRecord(bytesOf('a1'));
    expect(ledger.seeRecord(bytesOf('a1'))).toBeUndefined();
    expect(ledger).toMatchObject({ seen: 2, unchanged: 1, duplicates: 1 });
  });
});

describe('a key that appears twice', () => {
  it.each([
    ['the same', 'c2', 'c2', 'identical'],
    ['different', 'c2', 'c3', 'conflicting'],
  ])('among parsed postings with %s content', (_name, first, second, kind) => {
    const ledger = ledgerWith();
    const [one, two] = [ledger.seeRecord(bytesOf('x1')), ledger.seeRecord(bytesOf('x2'))];
    if (one === undefined || two === undefined) throw new Error('both must be parsed');
    expect(ledger.seePosting(one, hashOf('x'), hashOf(first), UNKNOWN)).toEqual({ kind: 'first' });
    expect(ledger.seePosting(two, hashOf('x'), hashOf(second), UNKNOWN)).toEqual({ kind });
    expect(ledger.duplicates).toBe(1);
  });

  it('first known, then changed: the known one counts', () => {
    const ledger = ledgerWith(['a1', RecordMark.mapped]);
    ledger.seeRecord(bytesOf('a1'));
    const later = ledger.seeRecord(bytesOf('a2'));
    if (later === undefined) throw new Error('it must be parsed');
    expect(ledger.seePosting(later, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'conflicting' });
    expect(ledger).toMatchObject({ seen: 2, unchanged: 1, duplicates: 1 });
  });

  it('first changed, then as in an open change, before the first was parsed: the changed one counts', () => {
    const ledger = ledgerWith(['a1', RecordMark.open]);
    const first = ledger.seeRecord(bytesOf('a2'));
    ledger.seeRecord(bytesOf('a1'));
    if (first === undefined) throw new Error('it must be parsed');
    expect(ledger.seePosting(first, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'first_of_conflicting' });
    expect(ledger).toMatchObject({ seen: 2, openRecords: 0, unchanged: 0, duplicates: 1 });
  });

  it('first changed, then known, before the first was parsed: the known one counts', () => {
    const ledger = ledgerWith(['a1', RecordMark.mapped]);
    const first = ledger.seeRecord(bytesOf('a2'));
    ledger.seeRecord(bytesOf('a1'));
    if (first === undefined) throw new Error('it must be parsed');
    expect(ledger.seePosting(first, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'conflicting' });
    expect(ledger).toMatchObject({ seen: 2, unchanged: 1, duplicates: 1 });
    expect([...ledger.missingRecords()]).toEqual([]);
  });

  it('first changed, then known, after the first was parsed: the known one counts as well', () => {
    const ledger = ledgerWith(['a1', RecordMark.mapped]);
    const first = ledger.seeRecord(bytesOf('a2'));
    if (first === undefined) throw new Error('it must be parsed');
    expect(ledger.seePosting(first, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'first' });
    const second = ledger.seeRecord(bytesOf('a1'));
    if (second === undefined) throw new Error('it must be parsed');
    expect(ledger.seePosting(second, hashOf('a'), hashOf('c1'), MAPPED, true)).toEqual({
      kind: 'known_of_conflicting',
    });
    expect(ledger).toMatchObject({ seen: 2, unchanged: 0, duplicates: 1 });
    const third = ledger.seeRecord(bytesOf('a3'));
    if (third === undefined) throw new Error('it must be parsed');
    expect(ledger.seePosting(third, hashOf('a'), hashOf('c2'), MAPPED)).toEqual({ kind: 'conflicting' });
  });

  it('collapses if the bytes differ but the content is the known one', () => {
    const ledger = ledgerWith(['a1', RecordMark.mapped]);
    ledger.seeRecord(bytesOf('a1'));
    const again = ledger.seeRecord(bytesOf('a1 with a space'));
    if (again === undefined) throw new Error('it must be parsed');
    expect(ledger.seePosting(again, hashOf('a'), hashOf('c1'), MAPPED)).toEqual({ kind: 'identical' });
    expect(ledger).toMatchObject({ unchanged: 1, duplicates: 1 });
  });
});

describe('missing records', () => {
  it('are the mappings whose posting was seen on neither path', () => {
    const ledger = ledgerWith(['a1', RecordMark.mapped], ['b1', RecordMark.mapped], ['c1', RecordMark.superseding]);
    const seenRecord = ledger.seeRecord(bytesOf('a2'));
    if (seenRecord === undefined) throw new Error('it must be parsed');
    ledger.seePosting(seenRecord, hashOf('a'), hashOf('c2'), MAPPED);
    expect([...ledger.missingRecords()].map(String).sort()).toEqual([hashOf('b1'), hashOf('c1')].map(String).sort());
    expect(ledger.hasSeen(hashOf('a1'))).toBe(true);
    expect(ledger.hasSeen(hashOf('b1'))).toBe(false);
  });
});

describe('a record that was read under another interpretation', () => {
  it('is parsed, and accounts for no posting but its own', () => {
    const other = recordHash(Buffer.from('another way of reading'));
    const index = new RecordIndex(2);
    index.add(hashOf('a1', other), RecordMark.mapped);
    index.add(hashOf('b1', other), RecordMark.open);
    const ledger = new PullLedger(index, READING);
    const [one, two] = [ledger.seeRecord(bytesOf('a1')), ledger.seeRecord(bytesOf('b1'))];
    expect([one?.hash, two?.hash]).toEqual([hashOf('a1'), hashOf('b1')]);
    if (one === undefined) throw new Error('it must be parsed');
    ledger.seePosting(one, hashOf('z'), hashOf('c1'), UNKNOWN);
    expect([...ledger.missingRecords()].map(String).sort()).toEqual(
      [hashOf('a1', other), hashOf('b1', other)].map(String).sort(),
    );
    expect(ledger.hasSeen(hashOf('a1', other))).toBe(false);
    expect(ledger.hasSeenChange(hashOf('b1', other))).toBe(false);
  });

  it('is prefetched and found by its stored hash', () => {
    const ledger = ledgerWith(['a1', RecordMark.mapped]);
    ledger.expectRecord(bytesOf('a1'), 0);
    const padded = Buffer.concat([Buffer.of(7), bytesOf('a1')]);
    expect(ledger.seeRecord(padded, 1)).toBeUndefined();
  });
});
