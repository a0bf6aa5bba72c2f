// The pair of two postings is the same whether all postings of a feed whose keys have changed are read or only what decides about it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { type RekeyLine, withPairs } from '../../src/store/change/rekey/read-rekey.ts';
import type { RekeyPair } from '../../src/store/change/rekey/rekey-postings.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const acme = feedName('acme');
let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const read = (only?: RekeyPair): Promise<RekeyLine[]> =>
  withPairs(
    db,
    acme,
    async (pairs) => {
      const all: RekeyLine[] = [];
      for await (const lines of pairs()) all.push(...lines);
      return all;
    },
    only,
  );

it('with groups of all sizes', async () => {
  // Few contents and likenesses, so that groups overlap: by both, by one, and by none.
  await db.query(
    `insert into rekey_posting (feed, is_new, key, content, likeness, proven)
     select 'acme', is_new, case when is_new then 'b' else 'a' end || n, case when n % 7 > 0 then (n * n + is_new::int) % 23 end,
       case when n % 11 > 0 then (n * 5) % 17 end, true
     from generate_series(1, 60) n, unnest(array[true, false]) is_new where n % (case when is_new then 13 else 9 end) > 0`,
  );
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     select 'acme', key, 'board', 'j' || key, '', sha256(key::bytea) from rekey_posting where not is_new`,
  );
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state)
     select 'acme', key, 'board', 'present', 'create', json_build_object('title', key), '', sha256(key::bytea), 'ready'
     from rekey_posting where is_new`,
  );
  await db.query(
    `insert into override (feed, key, field, source_value, value) values ('acme', 'a4', 'title', 'x', 'y')`,
  );
  const all = await read();
  const pairs = all.filter((line) => line.key !== undefined && line.oldKey !== undefined);
  expect(pairs.length).toBeGreaterThan(30);
  expect(new Set(pairs.map(({ verdict }) => verdict)).size).toBe(2);
  expect(new Set(all.flatMap(({ key }) => key ?? [])).size).toBe(all.filter(({ key }) => key !== undefined).length);
  for (const pair of pairs) {
    const found = (await read(pair as RekeyPair)).find(({ key, oldKey }) => key === pair.key && oldKey === pair.oldKey);
    expect(found).toEqual(pair);
  }
  const [one, other] = pairs;
  const crossed = { key: one?.key, oldKey: other?.oldKey } as RekeyPair;
  expect((await read(crossed)).some(({ key, oldKey }) => key === crossed.key && oldKey === crossed.oldKey)).toBe(false);
});
