// The state that a change enters once no attempt is open.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { targetState } from '../../src/store/change/life-cycle.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** What is desired, whether the posting has a job, the change's target state, and the state that it enters. */
const targetCases = [
  ['present', true, 'ready', 'ready'],
  ['present', false, 'ready', 'ready'],
  ['present', true, 'rejected', 'rejected'],
  ['present', false, 'rejected', 'rejected'],
  ['absent', true, 'ready', 'ready'],
  ['absent', true, 'held', 'held'],
  ['absent', false, 'ready', 'ready'],
  ['absent', false, 'held', 'ready'],
] as const;

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 1 });
});
beforeEach(() => db.query('truncate change, mapping'));
afterAll(async () => {
  await db.close();
  await database.drop();
});

it.each(targetCases)('%s, has a job: %s, %s: %s', async (desired, hasJob, target, state) => {
  // The job of another posting does not count.
  for (const key of hasJob ? ['a', 'b'] : ['b']) {
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', $1, 'board', $1, '', '')`,
      [key],
    );
  }
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, target_state, attempt_token)
     values ('acme', 'a', 'board', $1, $2, $3, 'sending', $4, gen_random_uuid())`,
    [desired, desired === 'absent' ? 'delete' : 'update', desired === 'absent' ? null : '{}', target],
  );
  expect(await db.query(`select ${targetState('c')} as state from change c`)).toEqual([{ state }]);
});
