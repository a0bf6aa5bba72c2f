// Recovery of attempts whose worker died, including changes with which workers died repeatedly.
import { expect, it } from 'vitest';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { readProgress } from '../../src/store/backlog/backlog.ts';
import { recoverAbandoned } from '../../src/store/change/restored-database.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', { max: 2 }, (opened) => {
  db = opened;
});

it('releases attempts of dead workers, and fails changes that were tried too often', async () => {
  const changes = [
    ['update, 10 times', 'present', 'update', 10, null],
    ['update, 11 times', 'present', 'update', 11, null],
    ['delete, 10 times', 'absent', 'delete', 10, null],
    ['delete, 11 times', 'absent', 'delete', 11, null],
    ['update, 11 times, with a newer version', 'present', 'update', 11, 1],
    ['create, 11 times', 'present', 'create', 11, null],
  ] as const;
  for (const [key, desired, operation, attempts, sentRevision] of changes) {
    await db.query(
      `insert into change (feed, key, site, desired, operation, fields, state, attempts, sent_revision,
         attempt_token, attempt_operation, attempt_started, attempt_worker)
       values ('acme', $1, 'board', $2, $3, $4, 'sending', $5, $6, gen_random_uuid(), $3, now(), 1)`,
      [key, desired, operation, desired === 'present' ? '{}' : null, attempts, sentRevision],
    );
  }
  const limits = { deadlineMs: 60_000, mayLandMs: 60_000, mostTries: 10 };
  expect(await recoverAbandoned(db, siteName('board'), limits)).toBe(6);
  const rows = await db.query(`select key, state, reason->>'kind' as kind from change order by id`);
  expect(rows).toEqual([
    { key: 'update, 10 times', state: 'ready', kind: 'orphaned' },
    { key: 'update, 11 times', state: 'failed', kind: 'poisoned' },
    { key: 'delete, 10 times', state: 'ready', kind: 'orphaned' },
    { key: 'delete, 11 times', state: 'failed', kind: 'poisoned' },
    { key: 'update, 11 times, with a newer version', state: 'ready', kind: 'orphaned' },
    { key: 'create, 11 times', state: 'in_doubt', kind: 'orphaned' },
  ]);
  expect(await recoverAbandoned(db, siteName('board'), limits)).toBe(0);
});

it('a newer version that breaks a rule keeps its reason when it is rejected', async () => {
  const reason = { kind: 'rules', message: 'no title', problems: [] };
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, target_state, invalid, sent_revision, reason,
       attempt_token, attempt_operation, attempt_started, attempt_worker)
     values ('rules', 'a', 'board', 'present', 'update', '{}', 'sending', 'rejected', true, 1, $1,
       gen_random_uuid(), 'update', now(), 1)`,
    [JSON.stringify(reason)],
  );
  await recoverAbandoned(db, siteName('board'), { deadlineMs: 60_000, mayLandMs: 60_000, mostTries: 10 });
  expect(await db.query(`select state, reason from change where feed = 'rules'`)).toEqual([
    { state: 'rejected', reason },
  ]);
});

it('the worker itself still counts a create as being sent that was taken for abandoned', async () => {
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, attempt_token, attempt_operation,
       attempt_started, attempt_worker)
     values ('zenith', 'z', 'board', 'present', 'create', '{}', 'sending', gen_random_uuid(), 'create', now(), 2)`,
  );
  await recoverAbandoned(db, siteName('board'), { deadlineMs: 60_000, mayLandMs: 60_000, mostTries: 10 });
  const progressOf = (worker: number) => readProgress(db, [feedName('zenith')], worker);
  expect(await progressOf(2)).toMatchObject({ sending: true, inDoubt: true });
  expect(await progressOf(3)).toMatchObject({ sending: false, inDoubt: true });
  await db.query(`update change set reason = '{"kind":"unknown","message":"a timeout"}' where key = 'z'`);
  expect(await progressOf(2)).toMatchObject({ sending: false, inDoubt: true });
});
