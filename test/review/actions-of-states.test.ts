// What review offers for a change in each state is what the statements do, and nothing else.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { possibleActions } from '../../src/review/possible-actions.ts';
import {
  approveChanges,
  discardEntries,
  type EntryState,
  reopenEntries,
  retryChanges,
} from '../../src/store/change/act-in-review.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 1 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const actions = { retry: retryChanges, approve: approveChanges, discard: discardEntries, reopen: reopenEntries };

const states: readonly (readonly [EntryState['state'], 'present' | 'absent', invalid: boolean])[] = [
  ['ready', 'present', false],
  ['ready', 'absent', false],
  ['sending', 'present', false],
  ['sending', 'absent', false],
  ['in_doubt', 'present', false],
  ['in_doubt', 'absent', false],
  ['held', 'absent', false],
  ['rejected', 'present', false],
  ['rejected', 'present', true],
  ['rejected', 'absent', false],
  ['failed', 'present', false],
  ['failed', 'absent', false],
  ['discarded', 'present', false],
  ['discarded', 'absent', false],
];

it.each(
  states.flatMap((state) =>
    (Object.keys(actions) as (keyof typeof actions)[]).map((kind) => [kind, ...state] as const),
  ),
)('%s of a change that is %s (%s, invalid: %s)', async (kind, state, desired, invalid) => {
  await db.query('delete from change');
  const isOpen = state === 'sending' || state === 'in_doubt';
  const [row] = await db.query<{ id: number }>(
    `insert into change (feed, key, site, desired, operation, fields, state, discarded_from, invalid, attempt_token, reason)
     values ('acme', 'p1', 'board', $1, case when $1 = 'present' then 'update' else 'delete' end,
       case when $1 = 'present' then '{}'::json end, $2,
       case when $2 = 'discarded' then case when $1 = 'absent' then 'held' else 'rejected' end end, $3,
       case when $4 then gen_random_uuid() end, '{"kind":"rules","message":"why","problems":[]}') returning id`,
    [desired, state, invalid, isOpen],
  );
  const id = row?.id ?? 0;
  const offered = possibleActions({ id, state, desired, invalid }).some((action) => action.kind === kind);
  const acted = await db.transaction((tx) => actions[kind](tx, { ids: [id], feeds: [] }, 'anna'));
  expect(acted.map((entry) => entry.feed)).toEqual(offered ? [feedName('acme')] : []);
});
