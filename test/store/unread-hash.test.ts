// What the source has of a posting: program and database judge a record hash alike.
import { afterEach, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { isSourceUnknown, unreadHash, WHY_UNREAD, type WhyUnread } from '../../src/store/pull/record-hashes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
afterEach(async () => {
  await db.close();
  await database.drop();
});

it('the database judges each reason to read a record anew as the program does', async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 1 });
  const key = postingKey('A/1');
  const judged = async (hash: Buffer | null) =>
    (await db.query<{ unknown: boolean }>('select is_source_unknown($1, $2) as unknown', [hash, key]))[0]?.unknown;
  for (const why of Object.keys(WHY_UNREAD) as WhyUnread[]) {
    const hash = unreadHash(why, key);
    expect([why, isSourceUnknown(hash, key)]).toEqual([why, WHY_UNREAD[why]]);
    expect([why, await judged(hash)]).toEqual([why, WHY_UNREAD[why]]);
    expect(await judged(unreadHash(why, postingKey('A/2')))).toBe(false);
  }
  expect(await judged(null)).toBe(true);
});
