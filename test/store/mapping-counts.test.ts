// The numbers of live jobs and open changes on pages and in metrics are those of the tables, whatever was written, and by whom.
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { countLive } from '../../src/store/mapping/find-jobs.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { foldReviewCounts } from '../../src/store/review/review-totals.ts';
import { readOverview } from '../../src/store/status/feed-overview.ts';
import { readGauges } from '../../src/store/status/gauges.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

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

/** Both in one statement for all feeds, so that writers beside it do not matter. */
const differences = (of: Database) =>
  of.query(
    `select feed, counted.n as counted, actual.n as actual
     from (select feed, sum(n)::bigint as n from (select * from mapping_total union all select * from mapping_tally) counts
           group by feed having sum(n) <> 0) counted
       full join (select feed, count(*) as n from mapping group by feed) actual using (feed)
     where counted.n is distinct from actual.n`,
  );

const MAP = `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
  select 'feed' || trunc(random() * 3), 'k' || n, 'board', 'job' || nextval('entry_number'), '', ''
  from generate_series(1, 20) n where random() < 0.5`;
const STATEMENTS = [
  `${MAP} on conflict do nothing`,
  `${MAP} on conflict (feed, key) do update set missing_pulls = 1`,
  'delete from mapping where random() < 0.3',
  // As outcomes are recorded: rows are removed and added in one statement.
  `with gone as (delete from mapping where random() < 0.2) ${MAP} on conflict do nothing`,
  `update mapping set feed = feed || 'new', key = 'u' || nextval('entry_number') where random() < 0.1`,
  `update mapping set key = 'u' || nextval('entry_number') where random() < 0.1`,
  'select fold_mapping_tally()',
] as const;

it('count live jobs after transactions that run side by side, of which some are rolled back', async () => {
  const run = async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query(`set deadlock_timeout = '10ms'`);
      for (let transactions = 0; transactions < 12; transactions += 1) {
        try {
          await client.query('begin');
          for (let at = 0; at < 4; at += 1) {
            await client.query('savepoint s');
            await client.query(STATEMENTS[Math.floor(Math.random() * STATEMENTS.length)] ?? '');
            if (Math.random() < 0.2) await client.query('rollback to savepoint s');
          }
          await client.query(Math.random() < 0.2 ? 'rollback' : 'commit');
        } catch (error) {
          if ((error as { code?: string }).code !== '40P01') throw error;
          await client.query('rollback');
        }
        expect(await differences(db)).toEqual([]);
      }
    } finally {
      await client.end();
    }
  };
  await Promise.all([run(), run(), run()]);
  await db.query(STATEMENTS[0]);
  const live = await db.query<{ feed: string; n: number }>('select feed, count(*) as n from mapping group by feed');
  expect(await countLive(db)).toEqual(new Map(live.map(({ feed, n }) => [feed, n])));
});

it('are folded once there are many', { tags: 'slow' }, async () => {
  for (let at = 0; at < 1_001; at += 1)
    await db.prepared.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', $1, 'board', $1, '', '')`,
      [String(at)],
    );
  expect(await countLive(db)).toEqual(new Map([[feedName('acme'), 1_001]]));
  expect(await db.query('select from mapping_tally')).toEqual([]);
});

it('the overview and the metrics count each state', async () => {
  const states = ['ready', 'sending', 'in_doubt', 'held', 'rejected', 'failed', 'discarded'];
  await db.transaction(async (tx) => {
    await tx.query(`set local session_replication_role = replica`);
    await tx.query(`insert into feed_state (feed, site) values ('acme', 'board'), ('other', 'board')`);
    // States in which no change can begin; the triggers of review follow below.
    await tx.query(
      `insert into change (feed, key, site, desired, operation, fields, state, attempt_token, gone, reason, since)
       select feed, feed || state || n, 'board', case when n = 1 then 'absent' else 'present' end, 'create',
         case when n = 1 then null else '{}'::json end, state,
         case when state in ('sending', 'in_doubt') then gen_random_uuid() end, n = 2, '{"message": "no"}',
         now() - make_interval(hours => at::int * (20 - n))
       from unnest($1::text[]) with ordinality s(state, at), unnest(array['acme', 'other']) feed,
         generate_series(1, (at + case feed when 'acme' then 2 else 0 end)::int) n`,
      [states],
    );
  });
  await db.query(
    `select write_review_entry(id, case state when 'discarded' then 'rejected' else state end, state = 'discarded', feed, key, site,
       fields, reason, since, revision, change_circumstances(desired, pull, gone, invalid, record_hash, key)) from change where state not in ('ready', 'sending')`,
  );
  await db.query(
    `insert into record_problem (feed, kind, record_hash, problems, excerpt, first_pull, records, discarded)
     select 'acme', kind, sha256(n::text::bytea), '[]', '', 1, n, n = 5
     from unnest(array['unreadable', 'duplicate']) kind, generate_series(1, 5) n`,
  );
  const expected = await db.query<{ minutes: number }>(
    `select feed, state, count(*) as n, floor(extract(epoch from clock_timestamp() - min(since)) / 60) as minutes
     from change group by 1, 2 order by 1, 2`,
  );
  const gauges = await readGauges(db);
  expect(
    gauges.changes
      .map(({ feed, state, n, age }) => ({ feed, state, n, minutes: String(Math.floor(age / 60)) }))
      .sort((a, b) => (`${a.feed} ${a.state}` < `${b.feed} ${b.state}` ? -1 : 1)),
  ).toEqual(expected.map((row) => ({ ...row, minutes: String(row.minutes) })));
  expect(gauges.records.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual([
    { feed: 'acme', kind: 'duplicate', n: 4 },
    { feed: 'acme', kind: 'unreadable', n: 4 },
  ]);
  const [acme] = await readOverview(db, new Map(), feedName('acme'));
  expect(acme).toMatchObject({
    site: siteName('board'),
    live: 0,
    ready: 3,
    sending: 4,
    in_doubt: 5,
    held: 6,
    rejected: 7,
    failed: 8,
    // Of 9 changes one is of a posting that shall be absent, and one of a posting that is gone; a record covers five more.
    discarded: 7 + 5,
    unreadable: 4,
    duplicates: 4,
  });
  const hours = (ms: number | undefined) => Math.floor((ms ?? 0) / 3_600_000);
  expect([hours(acme?.heldForMs), hours(acme?.inDoubtForMs)]).toEqual([4 * 19, 3 * 19]);
});

it('and those of review entries are read while the server is read-only', async () => {
  await db.query("insert into mapping_tally select 'acme', 1 from generate_series(1, 5000)");
  await db.query(
    `insert into review_tally (discarded, group_id, kind, feed, n, mark)
     select false, 'g', 'rejected', 'acme', 1, 0 from generate_series(1, 5000)`,
  );
  const url = new URL(database.url);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const standby = openDatabase(url.href, { max: 1 });
  try {
    expect(await countLive(standby)).toEqual(new Map([['acme', 5000]]));
    await foldReviewCounts(standby);
    expect(await standby.query('select count(*) as n from review_tally')).toEqual([{ n: 5000 }]);
  } finally {
    await standby.close();
  }
});
