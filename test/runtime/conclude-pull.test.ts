// The printed report of a pull.
import { expect, it } from 'vitest';
import { describePull } from '../../src/cli/output/describe-pull.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { failedReport } from '../../src/runtime/conclude-pull.ts';

const write = (words: readonly string[]): string => `jobmirror ${words.join(' ')}`;
const heldOffer = { feed: feedName('acme'), approvable: 2, inQuestion: false, barred: [] };
const NOTHING = { ...failedReport(feedName('acme'), 1, '', 0), notes: [] };

it.each([
  [1, 'acme: mirrored, with review: 1 seen, 1 held, 1 delete refused, 1 duplicate; 1 request in 0.0 s'],
  [2, 'acme: mirrored, with review: 2 seen, 2 held, 2 deletes refused, 2 duplicates; 2 requests in 0.0 s'],
])('counts %i of each kind', (n, line) => {
  const counts = { seen: n, held: n, failed_deletes: n, duplicates: n, requests: n, review: n };
  const [first, held, review] = describePull({ ...NOTHING, ...counts, status: 'review' }, write, heldOffer).split('\n');
  expect(first).toBe(line);
  expect(held).toContain(n === 1 ? '1 delete waits for approval' : '2 deletes wait for approval');
  expect(review).toContain(n === 1 ? '1 entry waits for review' : '2 entries wait for review');
});

it('a failed feed is named first', () => {
  expect(JSON.stringify(failedReport(feedName('acme'), null, 'no', 0))).toMatch(/^\{"feed":"acme","pull":null,/);
});
