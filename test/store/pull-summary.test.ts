// Pulls whose process seems to have ended: which are concluded, and what the others keep.
import { expect, it } from 'vitest';
import { HELD_LOCK_KEYS } from '../../src/store/locks/processes.ts';
import type { Database, Queryable, Transaction } from '../../src/store/postgres/database.ts';
import { concludeAbandonedPulls, summarisePull, summariseWithin } from '../../src/store/status/pull-summary.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', {}, (opened) => {
  db = opened;
});

const addPull = async (): Promise<number> => {
  const [row] = await db.query<{ id: number }>(`insert into pull (feed, site) values ('acme', 'board') returning id`);
  return row?.id as number;
};

const statusOf = async (pull: number): Promise<string | undefined> =>
  (await db.query<{ status: string }>('select status from pull where id = $1', [pull]))[0]?.status;

it('one that is not committed has failed', async () => {
  const pull = await addPull();
  await concludeAbandonedPulls(db);
  expect(await statusOf(pull)).toBe('failed');
});

it('one that is committed and gives back its lock while it is read has not failed', async () => {
  const pull = await addPull();
  const commit = () => db.query('update pull set committed_at = now(), complete = true where id = $1', [pull]);
  const query: Database['query'] = async (text, values) => {
    if (text === HELD_LOCK_KEYS) await commit();
    return db.query(text, values);
  };
  await concludeAbandonedPulls({ ...db, query });
  expect(await statusOf(pull)).toBe('running');
});

it('one that is committed is running while changes are left, and ended afterwards', async () => {
  const pull = await addPull();
  await db.query('update pull set committed_at = now(), complete = true, seen = 1 where id = $1', [pull]);
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, pull, state)
     values ('acme', 'A-1', 'board', 'present', 'create', '{}', '', '', $1, 'ready')`,
    [pull],
  );
  await concludeAbandonedPulls(db);
  expect(await statusOf(pull)).toBe('running');
  await db.query(`delete from change where feed = 'acme'`);
  await db.query(`update pull set unchanged = 1 where id = $1`, [pull]);
  await concludeAbandonedPulls(db);
  expect(await statusOf(pull)).toBe('mirrored');
});

it('what updates have set before is looked for where a pull ends, and not in reports of many pulls', async () => {
  const pull = await addPull();
  await db.query('update pull set committed_at = now(), complete = true, seen = 1 where id = $1', [pull]);
  await db.query(`insert into outcome_count (pull, outcome, shard, n) values ($1, 'updated', 0, 1)`, [pull]);
  const asked: string[] = [];
  const spyOn = (queryable: Queryable): Queryable => ({
    ...queryable,
    async query(text, values) {
      asked.push(text);
      return queryable.query(text, values);
    },
  });
  await summariseWithin(spyOn(db), pull);
  expect(asked.length).toBeGreaterThan(0);
  const isLookedFor = () => asked.some((text) => text.includes('former_document'));
  expect(isLookedFor()).toBe(false);
  const transaction = (work: (tx: Transaction) => Promise<unknown>) => db.transaction((tx) => work(spyOn(tx) as never));
  await summarisePull({ ...db, transaction } as Database, pull);
  expect(isLookedFor()).toBe(true);
});
