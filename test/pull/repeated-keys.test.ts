// Keys that occur again in a feed of several pages.
import { describe, expect, it } from 'vitest';
import { RecordIndex, RecordMark } from '../../src/compact/record-index.ts';
import { interpretedHash, keyHash, recordHash } from '../../src/posting/hash.ts';
import { postingKey } from '../../src/posting/identifiers.ts';
import { PullLedger, RepeatedKeys } from '../../src/pull/pull-ledger.ts';

const page = (list: string, number: number, start: number, end: number) => ({
  list,
  name: `page ${number}`,
  start,
  end,
});
const PAGES = [page('a', 1, 0, 3), page('a', 2, 3, 3), page('a', 3, 3, 6), page('b', 1, 8, 9)];

describe('two records with one key', () => {
  it.each<[string, [number, number], RegExp | undefined]>([
    ['on one page', [0, 2], undefined],
    ['on two pages of a list', [2, 3], /^1 posting is on more than one page \(page 1 and page 3\): the list changed/],
    ['in the other order', [5, 0], /\(page 3 and page 1\)/],
    ['in two lists', [0, 8], undefined],
    ['on a page and elsewhere', [2, 7], undefined],
    ['elsewhere and on a page', [7, 2], undefined],
  ])('%s', (_, [one, other], expected) => {
    const repeats = new RepeatedKeys();
    repeats.note(one, other);
    const shortfall = repeats.shortfall(PAGES);
    if (expected === undefined) expect(shortfall).toBeUndefined();
    else expect(shortfall).toMatch(expected);
  });

  it('are on two pages if the first is too far back to be remembered', () => {
    const repeats = new RepeatedKeys();
    const hashOf = (number: number) => keyHash(postingKey(`key ${number}`));
    for (let at = 0; at <= 50_000; at++) repeats.see(hashOf(at), at);
    const pages = [page('a', 1, 0, 60_000)];
    repeats.noteKey(hashOf(1), 50_001);
    expect(repeats.shortfall(pages)).toBeUndefined();
    repeats.noteKey(hashOf(0), 50_002);
    expect(repeats.shortfall(pages)).toMatch(/^1 posting is .*\(page 1\)/);
  });

  it('are counted up to a limit', () => {
    const repeats = new RepeatedKeys();
    for (let times = 0; times < 10_001; times++) repeats.note(0, 3);
    expect(repeats.shortfall(PAGES)).toMatch(/^more than 10000 postings are/);
  });
});

describe('the ledger of a feed with pages', () => {
  const READING = recordHash(Buffer.from('one way of reading'));
  const bytesOf = (text: string) => recordHash(Buffer.from(text));
  const stored = (text: string) => interpretedHash(bytesOf(text), 0, READING);
  const key = keyHash(postingKey('a'));
  const known = {
    mapping: {
      key: postingKey('a'),
      siteJobId: '1',
      recordHash: stored('a1'),
      contentHash: stored('c1'),
      missingPulls: 0,
    },
    open: undefined,
  } as unknown as Parameters<PullLedger['seePosting']>[3];
  const unknown = { mapping: undefined, open: undefined };
  const ledgerOf = () => {
    const index = new RecordIndex(1);
    index.add(stored('a1'), RecordMark.mapped);
    return new PullLedger(index, READING, { isPaged: true });
  };
  const see = (ledger: PullLedger, bytes: string, content: string, entry = unknown as typeof known) => {
    const record = ledger.seeRecord(bytesOf(bytes));
    if (record !== undefined) ledger.seePosting(record, key, bytesOf(content), entry);
  };
  const pages = [page('a', 1, 0, 1), page('a', 2, 1, 2)];

  it.each<[string, (ledger: PullLedger) => void]>([
    ['a known record twice', (ledger) => ['a1', 'a1'].forEach((bytes) => void see(ledger, bytes, 'c1', known))],
    [
      'a known record, then a changed one',
      (ledger) => ['a1', 'a2'].forEach((bytes) => void see(ledger, bytes, bytes, known)),
    ],
    [
      'a changed record, then the known one',
      (ledger) => ['a2', 'a1'].forEach((bytes) => void see(ledger, bytes, bytes, known)),
    ],
    ['a new record twice', (ledger) => ['x', 'x'].forEach((bytes) => void see(ledger, bytes, 'c'))],
    ['a new record with another content', (ledger) => ['x', 'y'].forEach((bytes) => void see(ledger, bytes, bytes))],
    [
      'a changed record that is parsed after the known one was seen',
      (ledger) => {
        const waiting = ledger.seeRecord(bytesOf('a2'));
        see(ledger, 'a1', 'c1', known);
        if (waiting !== undefined) ledger.seePosting(waiting, key, bytesOf('c2'), known);
      },
    ],
  ])('notices %s', (_, seeBoth) => {
    const ledger = ledgerOf();
    seeBoth(ledger);
    expect(ledger.duplicates).toBe(1);
    expect(ledger.repeats?.shortfall(pages)).toMatch(/page 1|page 2/);
    expect(ledger.repeats?.shortfall([page('a', 1, 0, 2)])).toBeUndefined();
  });
});
