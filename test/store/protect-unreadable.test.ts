// The SQL that protects the jobs of postings with unreadable records agrees with the rule of the plan.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ProtectedChange, UnreadableChange } from '../../src/plan/protected-change.ts';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { protectUnreadable } from '../../src/store/change/protect-unreadable.ts';
import { type Database, openDatabase, type Row } from '../../src/store/postgres/database.ts';
import { PullTransaction } from '../../src/store/pull/pull-transaction.ts';
import { protectedCases } from '../plan/protected-cases.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 2 });
});
beforeEach(() => db.query('truncate change, mapping, document, uncertain_write'));
afterAll(async () => {
  await db.close();
  await database.drop();
});

const OPERATION = { present: 'update', absent: 'delete' } as const;
const ACCEPTED = { title: 'Accepted' };
const SENT = { title: 'Sent' };
const DESIRED = { title: 'Desired' };

/** Writes the open change of posting `a`, and what the database knows of its job. */
async function write({ desired, attempt, uncertain, contentKnown }: UnreadableChange): Promise<void> {
  // What an ended attempt sent stays in the row until the next one.
  const hasSent = desired === 'absent' && attempt !== 'delete';
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, state, target_state, missing_pulls, gone,
       attempt_token, attempt_operation, sent_fields, sent_record_hash, sent_content_hash, sent_revision)
     values ('acme', 'a', 'board', $1, $2, $3, $4, 'ready', $8, $9, $5, $6, $7, $10, $10, $11)`,
    [
      desired,
      OPERATION[desired],
      desired === 'present' ? DESIRED : null,
      attempt === undefined ? 'ready' : 'sending',
      attempt === undefined ? null : crypto.randomUUID(),
      attempt ?? null,
      hasSent ? SENT : null,
      desired === 'present' ? 1 : 0,
      desired === 'present',
      hasSent ? Buffer.alloc(16, 1) : null,
      hasSent ? 1 : null,
    ],
  );
  if (attempt !== 'create') {
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', 'a', 'board', '7', '', '')`,
    );
  }
  if (contentKnown && attempt !== 'create') {
    await db.query(`insert into document (feed, key, fields) values ('acme', 'a', $1)`, [ACCEPTED]);
  }
  if (uncertain) {
    await db.query(
      `insert into uncertain_write (feed, key, revision, fields, until) values ('acme', 'a', 1, '{title}', now() + interval '1 hour')`,
    );
  }
}

/** The open change after a pull that saw an unreadable record of posting `a`, and no other. */
async function protect(): Promise<Row | undefined> {
  const pullTx = await PullTransaction.open(db, { pull: 1, feed: feedName('acme'), site: siteName('board') });
  try {
    await pullTx.loadIndex();
    await pullTx.addUnreadableKeys([postingKey('a')]);
    await protectUnreadable(pullTx, () => false);
    const [row] = await pullTx.session.query(
      `select desired, operation, fields, state, target_state, gone, unseen, missing_pulls, sent_revision is not null as superseded
       from change`,
    );
    return row;
  } finally {
    await pullTx.abandon();
  }
}

/** What the rule's result means in the table. */
function expected({ attempt }: UnreadableChange, becomes: ProtectedChange): Row | undefined {
  const isOpen = attempt !== undefined;
  const state = isOpen ? 'sending' : 'ready';
  const seen = { state, target_state: 'ready', gone: false, unseen: true, missing_pulls: 0 };
  switch (becomes) {
    case 'kept':
      return { ...seen, desired: 'present', operation: 'update', fields: DESIRED, superseded: false };
    case 'dropped':
      return undefined;
    case 'as_sent':
      return { ...seen, desired: 'present', operation: attempt, fields: SENT, superseded: false };
    case 'restored':
      return { ...seen, desired: 'present', operation: 'update', fields: ACCEPTED, superseded: isOpen };
    case 'held':
      return {
        ...{ desired: 'absent', operation: 'delete', fields: null, state: isOpen ? 'sending' : 'held' },
        ...{ target_state: 'held', gone: false, unseen: false, missing_pulls: 0, superseded: isOpen },
      };
    default:
      throw new Error(becomes satisfies never);
  }
}

it.each(protectedCases)('%j: %s', async (change, becomes) => {
  await write(change);
  expect(await protect()).toEqual(expected(change, becomes));
});
