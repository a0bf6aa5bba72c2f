// Tables that grow with the jobs: the planner learns that mappings have grown while a first pull is sent, as plans that were made
// before read all jobs of a feed; the fields of jobs are compressed; and claims stay in the pages of their changes.
import { expect, it, vi } from 'vitest';
import { siteJobId } from '../../src/posting/identifiers.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { attemptOf } from '../apply/site-context.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('test', { max: 2 }, (opened) => {
  db = opened;
});

const mapMore = (from: number, to: number) =>
  db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     select 'acme', 'k' || n, 'board', n::text, '', '' from generate_series($1::int, $2::int) n`,
    [from, to],
  );

const known = async () => {
  const [row] = await db.query<{ n: number }>(`select reltuples as n from pg_class where oid = 'mapping'::regclass`);
  return row?.n;
};

it('analyzes mappings once they have doubled, and not before', async () => {
  const record = outcomeRecorder(db.prepared);
  const attempt = { ...attemptOf('create'), token: '00000000-0000-4000-8000-000000000000' };
  // Their attempts are over: they stand for creates of other postings.
  const recordCreated = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, at) =>
        record({
          attempt,
          result: { kind: 'created', siteJobId: siteJobId(`o${at}`), url: undefined },
          record: undefined,
        }),
      ),
    );
  // The server would analyze the table too, whenever its turn comes.
  await db.query('alter table mapping set (autovacuum_enabled = false)');
  await db.query('vacuum mapping');
  const before = await known();
  await mapMore(1, 700);
  await recordCreated(499);
  expect(await known()).toBe(before);
  await recordCreated(1);
  await vi.waitFor(async () => expect(await known()).toBe(700), { timeout: 10_000 });
  await mapMore(701, 1500);
  await recordCreated(699);
  expect(await known()).toBe(700);
  await recordCreated(2);
  await vi.waitFor(async () => expect(await known()).toBe(1500), { timeout: 10_000 });
});

it('nine in ten claims write the row of their change again in its page', async () => {
  const fields = JSON.stringify({ description: 'A long text. '.repeat(200) });
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, pull, state)
     select 'acme', 'key-' || n, 'board', 'present', 'create', $1, decode(md5(n::text), 'hex'), decode(md5(n::text), 'hex'), 1, 'ready'
     from generate_series(1, 200) n`,
    [fields],
  );
  const pages = () => db.query<{ page: number }>(`select (ctid::text::point)[0] as page from change order by key`);
  const before = await pages();
  await db.query(
    `update change set state = 'sending', since = now(), attempts = 1, attempt_token = gen_random_uuid(), attempt_operation = 'create',
       attempt_started = now(), attempt_worker = 1`,
  );
  const moved = (await pages()).filter(({ page }, at) => page !== before[at]?.page);
  expect(moved.length).toBeLessThanOrEqual(20);
});

it.each(['document', 'former_document'])('compresses the long fields of %s', async (table) => {
  const words = Array.from({ length: 600 }, (_, at) => `word${at % 97}`).join(' ');
  const row = table === 'document' ? `('acme', 'k', $1)` : `('acme', 'k', 1, true, $1)`;
  const columns = table === 'document' ? 'feed, key, fields' : 'feed, key, pull, whole, fields';
  await db.query(`insert into ${table} (${columns}) values ${row}`, [JSON.stringify({ description: words })]);
  const [stored] = await db.query<{ inRow: number; text: number }>(
    `select pg_column_size(t.*) as "inRow", octet_length(fields::text) as text from ${table} t`,
  );
  expect(stored?.text).toBeGreaterThan(3_000);
  expect(stored?.inRow).toBeLessThan(1_500);
});
