// The stored lines of a feed whose keys have changed are those of a complete comparison, whatever became of a posting since.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { feedName, type PostingKey } from '../../src/posting/identifiers.ts';
import { compareRekey } from '../../src/store/change/rekey/compare-rekey.ts';
import { readLines, type StoredLine, streamLines, withRekey } from '../../src/store/change/rekey/read-rekey.ts';
import { rekeyPostings } from '../../src/store/change/rekey/rekey-postings.ts';
import { type Database, inSnapshot, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const acme = feedName('acme');
let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url);
  // Few contents and likenesses, so that groups overlap: by both, by one, and by none.
  await db.query(
    `insert into rekey_posting (feed, is_new, key, content, likeness, proven)
     select 'acme', is_new, case when is_new then 'b' else 'a' end || n, case when n % 7 > 0 then (n * n + is_new::int) % 23 end,
       case when n % 11 > 0 then (n * 5) % 17 end, true
     from generate_series(1, 60) n, unnest(array[true, false]) is_new where n % (case when is_new then 13 else 9 end) > 0`,
  );
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash, missing_pulls)
     select 'acme', key, 'board', 'j' || key, '', sha256(key::bytea), 1 from rekey_posting where not is_new`,
  );
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state)
     select 'acme', key, 'board', 'present', 'create', json_build_object('title', key), '', sha256(key::bytea), 'ready'
     from rekey_posting where is_new`,
  );
  await db.query(
    `insert into feed_state (feed, site, rekey_since, rekey_note, rekey_set) values ('acme', 'board', now(), '{"text":"why"}', 1)`,
  );
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const compareAll = () => db.query('update feed_state set rekey_set = rekey_set + 1');
const places = async () =>
  new Set((await db.query<{ at: string }>('select ctid::text as at from rekey_line')).map(({ at }) => at));

const isCurrent = () =>
  inSnapshot(db, async (session) => (await session.query('select from rekey_touched')).length === 0);

async function read(): Promise<{ lines: StoredLine[]; counts: unknown; marks: unknown }> {
  const read = await withRekey(db, acme, async (session, { current, counts, marks }) => {
    const lines: StoredLine[] = [];
    for await (const each of streamLines(session, acme)) lines.push(...each);
    return { current, lines, counts, marks };
  });
  expect(read?.current).toBe(true);
  return read as NonNullable<typeof read>;
}

const pairAt = (lines: readonly StoredLine[], at: number) => {
  const { key, oldKey } = lines.filter((line) => line.key !== undefined && line.oldKey !== undefined)[at] ?? {};
  return { key: key as PostingKey, oldKey: oldKey as PostingKey };
};

async function bind(...pairs: readonly { key: PostingKey; oldKey: PostingKey }[]): Promise<void> {
  expect(await rekeyPostings(db, { feed: acme, actor: 'tester', policy: undefined }, pairs)).toEqual([]);
}

it('pairs groups of all sizes, each posting once', async () => {
  const { lines, counts } = await read();
  const pairs = lines.filter((line) => line.key !== undefined && line.oldKey !== undefined);
  expect(pairs.length).toBeGreaterThan(30);
  expect(counts).toMatchObject({ sure: expect.any(Number), unsure: expect.any(Number) });
  expect(new Set(pairs.map(({ verdict }) => verdict)).size).toBe(2);
  const named = lines.flatMap(({ key, oldKey }) => [key, oldKey]).filter((key) => key !== undefined);
  const all = await db.query<{ key: string }>('select key from rekey_posting');
  expect(named.sort()).toEqual(all.map(({ key }) => key).sort());
});

it.each<[string, (lines: readonly StoredLine[]) => Promise<unknown>]>([
  ['a job was deleted', (lines) => db.query('delete from mapping where key = $1', [pairAt(lines, 3).oldKey])],
  [
    'another job has its place',
    (lines) => db.query(`update mapping set site_job_id = 'x' where key = $1`, [pairAt(lines, 0).oldKey]),
  ],
  [
    'a job was updated',
    (lines) => db.query(`update mapping set content_hash = 'x' where key = $1`, [pairAt(lines, 1).oldKey]),
  ],
  [
    'a new posting was edited',
    (lines) => db.query(`update change set content_hash = 'x' where key = $1`, [pairAt(lines, 2).key]),
  ],
  [
    'a missing posting was edited',
    (lines) =>
      db.query(`insert into override (feed, key, field, source_value, value) values ('acme', $1, 'title', 'x', 'y')`, [
        pairAt(lines, 4).oldKey,
      ]),
  ],
  ['a new posting is gone', (lines) => db.query('delete from change where key = $1', [pairAt(lines, 5).key])],
  [
    'a new posting got a job',
    (lines) =>
      db.query(
        `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', $1, 'board', 'own', 'r', 'c')`,
        [pairAt(lines, 6).key],
      ),
  ],
  [
    'a job has ended',
    async (lines) => {
      const key = pairAt(lines, 7).oldKey;
      await db.query(`insert into posting_expiry (feed, key, expired_at) values ('acme', $1, now())`, [key]);
      await db.query('delete from mapping where key = $1', [key]);
    },
  ],
  [
    'and it is to begin anew',
    () => db.query('update posting_expiry set expired_at = null, renewed_at = now() where expired_at is not null'),
  ],
  ['a pair was bound', (lines) => bind(pairAt(lines, 8))],
  [
    'two pairs were bound crosswise',
    (lines) =>
      bind(
        { key: pairAt(lines, 1).key, oldKey: pairAt(lines, 9).oldKey },
        { key: pairAt(lines, 9).key, oldKey: pairAt(lines, 1).oldKey },
      ),
  ],
])('%s: only the lines around it are written again, and they are those of a complete comparison', async (_, happen) => {
  const before = await read();
  const stayed = await places();
  await happen(before.lines);
  expect(await isCurrent()).toBe(false);
  const after = await read();
  expect(after.marks).not.toEqual(before.marks);
  expect([...(await places())].some((place) => stayed.has(place))).toBe(true);
  await compareAll();
  expect(await read()).toEqual(after);
});

it('another posting that a pull finds has all of them compared', async () => {
  const { lines } = await read();
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state)
     values ('acme', 'b99', 'board', 'present', 'create', '{"title":"b99"}', 'r99', 'c99', 'ready')`,
  );
  await db.query(`insert into rekey_posting values ('acme', true, 'b99', '1', '1', true)`);
  const after = await read();
  expect(after.lines.flatMap(({ key }) => key ?? []).sort()).toEqual(
    [...lines.flatMap(({ key }) => key ?? []), 'b99'].sort(),
  );
});

it('a change that is committed only after the comparison is noticed', async () => {
  const { lines } = await read();
  await db.transaction(async (tx) => {
    await tx.query(`update mapping set content_hash = 'later' where key = $1`, [pairAt(lines, 0).oldKey]);
    await compareAll();
    expect((await read()).lines).toEqual(lines);
  });
  expect(await isCurrent()).toBe(false);
  const after = await read();
  expect(after.lines).not.toEqual(lines);
  await compareAll();
  expect(await read()).toEqual(after);
});

it('a read-only server shows the former lines, and says so', async () => {
  const { lines, counts, marks } = await read();
  const url = new URL(database.url);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const standby = openDatabase(url.href);
  try {
    await db.query(`update mapping set content_hash = 'meanwhile' where key = $1`, [pairAt(lines, 0).oldKey]);
    const shown = await withRekey(standby, acme, async (session, compared) => ({
      ...compared,
      lines: await readLines(session, acme, 'unsure', 1_000),
    }));
    const unsure = lines.filter(({ verdict }) => verdict === 'unsure');
    expect(shown).toMatchObject({ current: false, counts, marks, lines: unsure });
  } finally {
    await standby.close();
  }
  expect((await read()).marks).not.toEqual(marks);
});

it('other postings and other feeds leave it as it is', async () => {
  const before = await read();
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values
       ('acme', 'other', 'board', 'jo', 'r', 'c'), ('beta', 'a1', 'board', 'jb', 'r', 'c')`,
  );
  await db.query(`update mapping set content_hash = 'd' where key = 'other' or feed = 'beta'`);
  await db.query(`delete from mapping where key = 'other' or feed = 'beta'`);
  expect(await isCurrent()).toBe(true);
  await compareRekey(db, acme);
  expect(await read()).toEqual(before);
});

it('binds a pair of which both keys had one job before', async () => {
  const pair = pairAt((await read()).lines, 2);
  for (const table of ['ended_claim', 'refuted_job'])
    await db.query(
      `insert into ${table} (site, site_job_id, feed, key) select 'board', 'former', 'acme', unnest($1::text[])`,
      [[pair.key, pair.oldKey]],
    );
  await bind(pair);
  const rows = 'select key from ended_claim union all select key from refuted_job';
  expect(await db.query(rows)).toEqual([{ key: pair.key }, { key: pair.key }]);
});
