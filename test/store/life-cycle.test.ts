// The states of a change: those of the schema are those of the life cycle, and a test database refuses any other way.
import { expect, it } from 'vitest';
import { TRANSITIONS } from '../../src/store/change/life-cycle.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', { max: 1 }, (opened) => {
  db = opened;
});

const states = Object.keys(TRANSITIONS).filter((state) => state !== 'none');

it('has the states of the schema, and each can be reached and left', async () => {
  const [check] = await db.query<{ definition: string }>(
    `select pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = 'change'::regclass and contype = 'c' and pg_get_constraintdef(oid) like '%''sending''%''held''%'`,
  );
  expect([...(check?.definition.matchAll(/'(\w+)'::text/g) ?? [])].map(([, state]) => state).sort()).toEqual(
    [...states].sort(),
  );
  const reached = new Set<string>(Object.values(TRANSITIONS).flat());
  expect(states.filter((state) => !reached.has(state))).toEqual([]);
});

it('lets a change go only where the life cycle says', async () => {
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state)
     values ('acme', 'a', 'board', 'present', 'create', '{}', 'rejected')`,
  );
  await expect(
    db.query(`update change set state = 'sending', attempt_token = gen_random_uuid() where key = 'a'`),
  ).rejects.toThrow('a change may not go from rejected to sending: see src/store/change/life-cycle.ts');
  await db.query(`update change set state = 'ready' where key = 'a'`);
  await db.query(`update change set state = 'sending', attempt_token = gen_random_uuid() where key = 'a'`);
  await db.query(`delete from change where key = 'a'`);
});
