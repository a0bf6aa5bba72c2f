import { afterAll, beforeAll, expect, it } from 'vitest';
import { RecordMark } from '../../src/plan/record-index.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { loadRecordIndex } from '../../src/store/index-loader.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

const MAPPINGS = 5_000;
const acme = feedName('acme');

let database: FreshDatabase;
let db: Database;
beforeAll(async () => {
  database = await freshDatabase();
  db = openDatabase(database.url, { max: 2 });
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash, missing_pulls)
     select 'acme', n, 'board', n, decode(md5('record ' || n), 'hex'), '\\x00', (n % 10 = 0)::int
     from generate_series(1, ${MAPPINGS}) n`,
  );
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

it.each([
  ['no pull', []],
  ['a pull that saw them all', [MAPPINGS]],
  ['a pull that saw nothing', [0]],
  ['a pull that saw few', [10]],
  ['a pull that saw many more', [20 * MAPPINGS]],
  ['pulls that saw few and all', [MAPPINGS, 10, 0]],
])('the index holds every mapping after %s', async (_what, seen) => {
  await db.query('truncate pull cascade');
  for (const n of seen) {
    await db.query(`insert into pull (feed, site, seen, committed_at) values ('acme', 'board', $1, now())`, [n]);
  }
  const session = await db.session();
  const index = await loadRecordIndex(session, acme, false);
  await session.end();
  expect(index.size).toBe(MAPPINGS);
  const hashes = await db.query<{ hash: Buffer; missing: number }>(
    'select record_hash as hash, missing_pulls as missing from mapping',
  );
  const marks = hashes.map(({ hash }) => index.mark(index.find(hash)));
  expect(marks).toEqual(hashes.map(({ missing }) => (missing === 0 ? RecordMark.settled : RecordMark.contested)));
});
