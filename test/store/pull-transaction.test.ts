// An abandoned pull leaves nothing behind, whatever was still in progress.
import { expect, it } from 'vitest';
import type { DesiredChange } from '../../src/plan/desired-change.ts';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { PullTransaction } from '../../src/store/pull/pull-transaction.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', { max: 2 }, (opened) => {
  db = opened;
});

const hash = Buffer.alloc(16, 1);

/** More than RowCopier buffers before it sends. */
const desiredChanges: DesiredChange[] = Array.from({ length: 600 }, (_, n) => ({
  desired: 'present',
  key: postingKey(`p${n}`),
  operation: 'create',
  fields: { description: 'x'.repeat(2_000) },
  recordHash: hash,
  contentHash: hash,
  target: 'ready',
}));

const lookUp = (pullTx: PullTransaction) => pullTx.lookUp([postingKey('p1')]);
const addChanges = (pullTx: PullTransaction) => pullTx.addNew(desiredChanges).then(() => pullTx.flush());
const noteHash = (pullTx: PullTransaction) =>
  pullTx.refreshMappings([{ key: postingKey('p1'), recordHash: Buffer.alloc(16, 2) }]);

it.each([
  ['reads postings and then adds changes', lookUp, addChanges],
  ['reads postings and then refreshes a hash', lookUp, noteHash],
  ['is about to add changes', async () => undefined, addChanges],
  ['is about to refresh a hash', async () => undefined, noteHash],
])('leaves nothing behind when it is abandoned while the planner %s', async (_what, before, after) => {
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     values ('acme', 'p1', 'board', '1', $1, $1) on conflict do nothing`,
    [hash],
  );
  const pullTx = await PullTransaction.open(db, { pull: 1, feed: feedName('acme'), site: siteName('board') });
  await pullTx.loadIndex();
  const planning = before(pullTx).then(() => after(pullTx));
  await Promise.all([pullTx.abandon(), expect(planning).rejects.toThrow()]);
  expect(await db.query('select key from change')).toEqual([]);
  expect(await db.query('select record_hash from mapping')).toEqual([{ record_hash: hash }]);
});
