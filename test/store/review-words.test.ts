// Review entries are found by the beginnings of the words of their key, title, value and message.
import { beforeAll, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { countEntries } from '../../src/store/review/review-entries.ts';
import { reviewGroups } from '../../src/store/review/review-groups.ts';
import { reviewPage } from '../../src/store/review/review-page.ts';
import { countSelected } from '../../src/store/review/review-totals.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', { max: 2 }, (opened) => {
  db = opened;
});
beforeAll(async () => {
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, invalid, reason)
     values ('acme', 'ICU-77/b', 'board', 'present', 'create', $1, 'rejected', true, $2)`,
    [
      JSON.stringify({ title: `Nurse’s aide (ICU/CCU) – C++ & "night"`, state: 'Jalísco' }),
      JSON.stringify({
        message: `State isn't valid: see https://example.com/list_of.states`,
        problems: [
          { field: 'state', message: `State isn't valid: see https://example.com/list_of.states`, value: 'Jalísco' },
        ],
      }),
    ],
  );
});

it.each([
  ['nurse', 1],
  ['NURSE aide', 1],
  ['aide nur', 1],
  ['nurse pilot', 0],
  // The beginning of a word, not its middle or end.
  ['urse', 0],
  ['jalís', 1],
  ['states example', 1],
  ['ccu', 1],
  ['icu/ccu', 1],
  ['ICU-77/b', 1],
  ['7', 0],
  ['77', 1],
  // One or two characters are a whole word.
  ['c++', 1],
  ['b', 1],
  ['ni', 0],
  ['nig', 1],
  [`isn't`, 1],
  // Nothing but punctuation, and what would be syntax of a text search.
  ['%', 0],
  ['', 0],
  ['—', 0],
  [`nurse' | 'pilot`, 0],
  ['nurse & !aide', 1],
  ['nurse:*\\', 1],
  ['=nurse', 1],
  ['x'.repeat(200), 0],
  ['nurse '.repeat(33), 1],
])('%j finds %d', async (text, n) => {
  const query = { text, feed: feedName('acme') };
  expect([...(await countEntries(db, query)).values()]).toEqual(n === 0 ? [] : [n]);
  expect((await countSelected(db, query)).map((row) => row.n)).toEqual(n === 0 ? [] : [n]);
  expect((await reviewPage(db, query, 5)).entries).toHaveLength(n);
  const { groups, totals } = await reviewGroups(db, query, { groups: 5, values: 1 });
  expect([groups.length, totals.entries]).toEqual([n, n]);
});
