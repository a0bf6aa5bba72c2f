// What review offers for a change in each state is what the statements do, and nothing else.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { possibleActions } from '../../src/review/possible-actions.ts';
import {
  approveChanges,
  discardEntries,
  type EntryState,
  findEntries,
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

/** What the feed is asked about its keys: nothing, about all of its postings, about this one, about others. */
const questions = ['none', 'all', 'this', 'others'] as const;

it.each(
  states.flatMap((state) =>
    (Object.keys(actions) as (keyof typeof actions)[]).flatMap((kind) =>
      questions.map((question) => [kind, ...state, question] as const),
    ),
  ),
)(
  '%s of a change that is %s (%s, invalid: %s), question about keys: %s',
  async (kind, state, desired, invalid, asked) => {
    await db.query('delete from change');
    await db.query('delete from rekey_posting');
    await db.query('delete from feed_state');
    await db.query(
      `insert into feed_state (feed, site, rekey_since, rekey_all) values ('acme', 'board', case when $1 <> 'none' then now() end, $1 = 'all')`,
      [asked],
    );
    await db.query(
      `insert into rekey_posting (feed, is_new, key, content, likeness, proven)
     values ('acme', false, case when $1 = 'others' then 'p2' else 'p1' end, 'x', 'x', true)`,
      [asked],
    );
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
    const [entry] = await findEntries(db, [id]);
    const isAsked =
      desired === 'absent' && ['held', 'rejected', 'failed'].includes(state) && ['all', 'this'].includes(asked);
    expect(entry?.inQuestion).toBe(isAsked);
    const ways = possibleActions({ id, feed: feedName('acme'), state, desired, invalid, inQuestion: isAsked });
    if (isAsked) expect(ways.map((way) => way.kind)).toEqual(['compare_keys']);
    const offered = ways.some((action) => action.kind === kind);
    const acted = await db.transaction((tx) => actions[kind](tx, { ids: [id], feeds: [] }, 'anna'));
    expect(acted.map((entry) => entry.feed)).toEqual(offered ? [feedName('acme')] : []);
  },
);
