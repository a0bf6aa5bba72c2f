import { afterAll, beforeAll, expect, it } from 'vitest';
import { RowCopier } from '../../src/store/postgres/copy-rows.ts';
import { type Database, openDatabase, type Session } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
let session: Session;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 1 });
  session = await db.session();
});
afterAll(async () => {
  await session.end();
  await db.close();
  await database.drop();
});

const COLUMNS = {
  key: 'text',
  fields: 'json',
  reason: 'jsonb',
  hash: 'bytea',
  invalid: 'boolean',
  n: 'integer',
  pull: 'bigint',
} as const;

async function tableOf(name: string): Promise<RowCopier> {
  const columns = Object.entries(COLUMNS).map(([column, type]) => `${column} ${type}`);
  await session.query(`create temporary table ${name} (id serial, ${columns.join(', ')})`);
  return new RowCopier(session, name, COLUMNS);
}

it('copies rows of every type, and nulls, unchanged', async () => {
  const copier = await tableOf('kinds');
  const texts = { title: 'Nurse "RN" – \\ night\n\tshift 𝄞', 'a "name"': '' };
  await copier.copy([
    ['é', texts, '[1, "two"]', Buffer.from([0, 255]), true, -1, 2 ** 52],
    ['', {}, '{"é": null}', Buffer.alloc(0), false, 2 ** 31 - 1, 0],
    ['ahead', Buffer.from('{"title":"é"}'), null, null, null, null, null],
    [null, null, null, null, null, null, null],
  ]);
  expect(await session.query(`select ${Object.keys(COLUMNS).join(', ')} from kinds order by id`)).toEqual([
    { key: 'é', fields: texts, reason: [1, 'two'], hash: Buffer.from([0, 255]), invalid: true, n: -1, pull: 2 ** 52 },
    { key: '', fields: {}, reason: { é: null }, hash: Buffer.alloc(0), invalid: false, n: 2 ** 31 - 1, pull: 0 },
    { key: 'ahead', fields: { title: 'é' }, reason: null, hash: null, invalid: null, n: null, pull: null },
    { key: null, fields: null, reason: null, hash: null, invalid: null, n: null, pull: null },
  ]);
});

it('keeps the order of rows of any size, including rows added during a send', async () => {
  const copier = await tableOf('sizes');
  const rowOf = (n: number) => [String(n), { text: `${n}–"`.repeat(n * 97) }, null, Buffer.alloc(n), n % 2 === 0, n, n];
  const all = Array.from({ length: 120 }, (_, n) => rowOf(n));
  let sending = Promise.resolve();
  for (let from = 0; from < all.length; from += 25) {
    copier.add(all.slice(from, from + 25));
    await sending;
    sending = copier.send();
  }
  await sending;
  const rows = await session.query<{ n: number; right: boolean }>(
    `select n, key = n::text and length(hash) = n and invalid = (n % 2 = 0) and pull = n
       and fields::jsonb = jsonb_build_object('text', repeat(n || '–"', n * 97)) as right from sizes order by id`,
  );
  expect(rows.map((row) => row.n)).toEqual(all.map((_, n) => n));
  expect(rows.filter((row) => !row.right)).toEqual([]);
});
