// The SQL that selects due doubts agrees with the rule of the plan.
import { expect, it } from 'vitest';
import { checkDelays, checkDueMs } from '../../src/plan/policy.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import { dueDoubts } from '../../src/store/change/doubt.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', { max: 1 }, (opened) => {
  db = opened;
});

const MINUTE_MS = 60_000;

it.each([
  [0, 10],
  [1, 15],
  [2, 20],
  [5, 35],
])('after %i list checks a doubt is due %i minutes after its attempt', async (checks, minutes) => {
  const delays = checkDelays(10 * MINUTE_MS);
  expect(checkDueMs(delays, checks)).toBe(minutes * MINUTE_MS);
  await db.query('delete from change');
  for (const [key, age] of [
    ['early', minutes - 1],
    ['due', minutes + 1],
  ]) {
    await db.query(
      `insert into change (feed, key, site, desired, operation, fields, state, list_checks, attempt_token, attempt_operation,
         attempt_started)
       values ('acme', $1, 'board', 'present', 'create', '{}', 'in_doubt', $2, gen_random_uuid(), 'create',
         now() - make_interval(mins => $3))`,
      [key, checks, age],
    );
  }
  const due = await dueDoubts(db, siteName('board'), delays, 10);
  expect(due.map(({ attempt }) => attempt.key)).toEqual(['due']);
});

it('applies delays of less than a second', async () => {
  await expect(dueDoubts(db, siteName('board'), checkDelays(1), 10)).resolves.toHaveLength(2);
});
