// Whose the jobs are that a create in doubt may have made: which values other postings have too, and since when a job may be an open create's.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import type { Fields } from '../../src/posting/posting.ts';
import { openCreates, sharedValues, withSharedReference } from '../../src/store/change/candidate-owners.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const site = siteName('board');
let database: TestDatabase;
let db: Database;

async function addCreate(key: string, fields: Fields, doubtedAgo: string | null = null): Promise<void> {
  await db.query(
    `insert into change (feed, key, site, desired, operation, invalid, state, target_state, fields, record_hash, content_hash,
       attempt_operation, attempt_token, attempt_started, attempts, doubted_since)
     values ($1, $2::text, $3, 'present', 'create', false, 'in_doubt', 'ready', $4, '', sha256($2::text::bytea), 'create', gen_random_uuid(), now(), 1,
       now() - $5::interval)`,
    [feedName('acme'), key, site, JSON.stringify(fields), doubtedAgo],
  );
}

const ADDRESS = 'https://www.acme.example/jobs/a/';
const TEXT = '<p>You care for <b>twelve</b> patients &amp; report to Ann, every night of the week but Sunday.</p>';
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url);
  await addCreate('a', {
    url: ADDRESS,
    description: TEXT,
    contact_mail: 'HR@acme.example',
    own: 'https://acme.example/1',
  });
  await addCreate(
    'b',
    {
      url: 'http://acme.example/Jobs/a',
      description: 'You care for twelve patients & report to Ann, every night of the week but Sunday.',
      'contact-mail': 'hr@acme.example',
      own: 'https://acme.example/2',
    },
    '1 hour',
  );
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

it('a value that another posting has in another form is shared', async () => {
  const values = [
    { name: 'url', value: ADDRESS },
    { name: 'description', value: TEXT },
    { name: 'contact_mail', value: 'HR@acme.example' },
    { name: 'own', value: 'https://acme.example/1' },
  ];
  const shared = await sharedValues(db, site, values);
  expect([...shared].sort()).toEqual([`contact_mail HR@acme.example`, `description ${TEXT}`, `url ${ADDRESS}`]);
});

it('a reference is shared if another posting, and not only the same, has sent it', async () => {
  const [a, other] = ['a', 'other'].map((key) => ({ feed: feedName('acme'), key: postingKey(key) }) as const);
  const wanted = new Map([a, other].flatMap((one) => (one === undefined ? [] : [[one, 'https://acme.example/1']])));
  expect(await withSharedReference(db, site, 'own', wanted)).toEqual(new Set([other]));
});

it('a create that is in doubt again counts from its first attempt on', async () => {
  const { creates, areCut } = await openCreates(db, site);
  expect(areCut).toBe(false);
  const [a, b] = ['a', 'b'].map((key) => creates.find((one) => one.key === key)?.startedAt?.getTime() ?? 0);
  expect((a ?? 0) - (b ?? 0)).toBeGreaterThan(3_500_000);
  expect(await openCreates(db, site, 1)).toMatchObject({ creates: [{}], areCut: true });
});
