// The counts of review entries, which are kept while entries are written, are those of the entries themselves.
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { listGroups } from '../../src/review/list-groups.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import type { EntryQuery } from '../../src/store/review/found-entries.ts';
import { countEntries } from '../../src/store/review/review-entries.ts';
import { countSelected, ENTRY_COUNTS, foldReviewCounts, VALUE_COUNTS } from '../../src/store/review/review-totals.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { countOf } from '../support/extent.ts';

let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 2 });
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

/** What the counts say and the entries don't, or the other way round; revisions are those of changes, their doubts, and records. */
async function differences(of: Database): Promise<unknown[]> {
  return of.query(
    `with entry as (
       select e.*, coalesce(p.revision, entry_revision(c.state, c.revision, c.attempt_token, c.found_job_id, c.reason)) as own from review_entry e
         left join change c on c.id = e.id left join record_problem p on p.id = e.id),
     counted as (
       select discarded, group_id, kind, feed, site, null as value, sum(n)::bigint as n, sum(mark)::text as mark
       from ${ENTRY_COUNTS} group by 1, 2, 3, 4, 5 having sum(n) <> 0 or sum(mark) <> 0
       union all
       select discarded, group_id, kind, feed, site, value, sum(n)::bigint, null from ${VALUE_COUNTS}
       group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0),
     actual as (
       select discarded, group_id, kind, feed, site, null as value, count(*) as n, sum(hashint8extended(id, own))::text as mark
       from entry group by 1, 2, 3, 4, 5
       union all
       select discarded, group_id, kind, feed, site, value, count(*), null from entry where value is not null
       group by 1, 2, 3, 4, 5, 6)
     (select 'counted', * from (select * from counted except all select * from actual) more)
     union all (select 'missing', * from (select * from actual except all select * from counted) less)`,
  );
}

const SAID = `jsonb_build_object('message', 'refused', 'problems', jsonb_build_array(jsonb_build_object(
  'field', 'title', 'value', nullif('v' || trunc(random() * 3)::text, 'v0'), 'message', 'no ' || chr(97 + trunc(random() * 3)::int))))`;
const STATE = `(array['rejected', 'held', 'ready'])[1 + trunc(random() * 3)::int]`;
/** A way that the life cycle of changes has. */
const NEXT_STATE = `case when random() < 0.5 then case state when 'ready' then 'failed' when 'rejected' then 'discarded' else 'ready' end
  else case state when 'discarded' then 'failed' else 'held' end end`;
const SOME = 'random() < 0.4';
const FEED = `'feed' || trunc(random() * 2)`;

const STATEMENTS = [
  `insert into change (feed, key, site, desired, operation, state, reason)
   select ${FEED}, gen_random_uuid(), 'board', 'absent', 'delete', ${STATE}, ${SAID} from generate_series(1, 5)
   on conflict do nothing`,
  `insert into record_problem (feed, kind, record_hash, problems, excerpt, first_pull)
   select ${FEED}, 'unreadable', sha256(random()::text::bytea), ${SAID}->'problems', '', 1 from generate_series(1, 3)`,
  `update change set state = ${NEXT_STATE}, reason = ${SAID}, attempt_token = null where ${SOME}`,
  `update change set state = 'in_doubt', attempt_token = gen_random_uuid() where state = 'ready' and ${SOME}`,
  `update change set attempt_token = gen_random_uuid() where state = 'in_doubt' and ${SOME}`,
  `update change set reason = reason || jsonb_build_object('candidates', jsonb_build_array(random())) where state = 'in_doubt' and ${SOME}`,
  `update change set revision = nextval('revision_number') where ${SOME}`,
  `update change set since = now() - interval '1 hour' where ${SOME}`,
  `update record_problem set discarded = not discarded, revision = nextval('revision_number') where ${SOME}`,
  `update change set feed = 'renamed' where feed = 'feed1' and ${SOME}`,
  `update review_entry set feed = 'renamed' where feed = 'feed1' and ${SOME}`,
  `delete from change where random() < 0.2`,
  `delete from record_problem where random() < 0.2`,
  'select fold_review_tally()',
] as const;

it('are right after transactions that run side by side, of which some are rolled back', async () => {
  const clients = await Promise.all(
    [0, 1, 2].map(async () => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(`set deadlock_timeout = '10ms'`);
      return client;
    }),
  );
  const perClient = countOf(undefined, 12, 4);
  const pick = <Of>(from: readonly Of[]): Of => from[Math.floor(Math.random() * from.length)] as Of;
  const run = async (client: pg.Client): Promise<void> => {
    for (let transactions = 0; transactions < perClient; transactions += 1) {
      try {
        await client.query('begin');
        for (let at = 0; at < 4; at += 1) {
          await client.query(`savepoint s; ${pick(STATEMENTS)}`);
          if (Math.random() < 0.2) await client.query('rollback to savepoint s');
        }
        await client.query(Math.random() < 0.2 ? 'rollback' : 'commit');
      } catch (error) {
        // Deadlocks: each statement takes its rows in another order.
        if ((error as { code?: string }).code !== '40P01') throw error;
        await client.query('rollback');
      }
      // Whatever the others have not committed yet, a statement sees each change with its entry and its counts.
      expect(await differences(db)).toEqual([]);
    }
  };
  try {
    await Promise.all(clients.map(run));
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
  await db.query(STATEMENTS[1]);
  await db.query('select fold_review_tally()');
  expect(await db.query('select from review_tally union all select from review_total where n = 0')).toEqual([]);
  expect(await differences(db)).toEqual([]);
});

it('are folded once there are many, and by one at a time', { tags: 'slow' }, async () => {
  const unfolded = async () => (await db.query('select from review_tally')).length;
  const add = (n: number) =>
    db.query(
      `insert into change (feed, key, site, desired, operation, state, reason)
       select 'acme', 'k' || nextval('entry_number'), 'board', 'absent', 'delete', 'held', '{}' from generate_series(1, $1::int)`,
      [n],
    );
  await add(2_000);
  await foldReviewCounts(db);
  expect(await unfolded()).toBe(2_000);
  await add(1);
  await db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(5206114902)');
    await foldReviewCounts(db);
    expect(await unfolded()).toBe(2_001);
  });
  await foldReviewCounts(db);
  expect(await unfolded()).toBe(0);
  expect(await differences(db)).toEqual([]);
});

it('give the same groups and sums as reading the entries', async () => {
  await db.query(`insert into feed_state (feed, site) values ('feed0', 'board'), ('feed1', 'other')`);
  await db.transaction(async (tx) => {
    await tx.query('select setseed(0.4)');
    for (let round = 0; round < 8; round += 1) for (const at of [0, 1, 2, 5]) await tx.query(STATEMENTS[at] ?? '');
    await tx.query('select fold_review_tally()');
    for (const at of [0, 1, 2, 5, 3]) await tx.query(STATEMENTS[at] ?? '');
    // Which rows the random statements change depends on their order in the table.
    await tx.query(
      `insert into change (feed, key, site, desired, operation, state, discarded_from, reason)
       select 'feed0', 'discarded' || n, 'board', 'absent', 'delete', 'discarded', 'rejected', ${SAID} from generate_series(1, 3) n`,
    );
  });
  const group = (await listGroups(db, {}, { groups: 1, values: 3 }))[0]?.id ?? '';
  const queries: EntryQuery[] = [
    {},
    { feed: feedName('feed1') },
    { site: siteName('other') },
    { site: siteName('board'), kinds: ['held', 'unreadable'] },
    { groups: [group] },
    { discarded: true },
    { discarded: true, kinds: ['rejected'], feed: feedName('feed0') },
  ];
  for (const query of queries) {
    // All entries have waited for at least no time, but that is not counted.
    const read = { ...query, olderThanMs: 0 };
    const limits = { groups: undefined, values: 2 };
    const withoutAge = (groups: Awaited<ReturnType<typeof listGroups>>) =>
      groups.map(({ history, trend, ...rest }) => rest);
    const counted = withoutAge(await listGroups(db, query, limits));
    expect(counted.length, JSON.stringify(query)).toBeGreaterThan(0);
    expect(counted).toEqual(withoutAge(await listGroups(db, read, limits)));
    // The message of each entry has this text.
    expect(counted).toEqual(withoutAge(await listGroups(db, { ...query, text: 'no ' }, limits)));
    expect(await countSelected(db, query)).toEqual(await countSelected(db, read));
    expect(await countEntries(db, query)).toEqual(await countEntries(db, read));
  }
});
