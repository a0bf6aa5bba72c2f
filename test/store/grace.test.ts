// The SQL for missing postings agrees with the rule of the plan: for mapped postings and for creates that may be made.
import { expect, it } from 'vitest';
import { pullsBeforeDue } from '../../src/plan/policy.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import {
  collectMissing,
  collectMissingChanges,
  extendGrace,
  markAbsent,
} from '../../src/store/change/merge/mark-missing.ts';
import {
  countMaybeMade,
  extendMaybeMadeGrace,
  mergeChanges,
  withdrawMaybeMade,
} from '../../src/store/change/merge/merge-planned.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { PullTransaction } from '../../src/store/pull/pull-transaction.ts';
import { graceCases } from '../plan/grace-cases.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', { max: 2 }, (opened) => {
  db = opened;
});

const hash = Buffer.alloc(16, 1);

/** Works in a pull that is rolled back. */
async function inPull(work: (pullTx: PullTransaction) => Promise<void>): Promise<void> {
  const pullTx = await PullTransaction.open(db, { pull: 1, feed: feedName('acme'), site: siteName('board') });
  try {
    await pullTx.loadIndex();
    await work(pullTx);
  } finally {
    await pullTx.abandon();
  }
}

it.each(graceCases)('mapped: to be missing %i times, missing %i times before: %s', async (pulls, before, end) => {
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash, missing_pulls)
     values ('acme', 'p1', 'board', '1', $1, $1, $2) on conflict (feed, key) do update set missing_pulls = $2`,
    [hash, before],
  );
  await inPull(async (pullTx) => {
    const limit = pullsBeforeDue(pulls);
    const counts = await collectMissing(pullTx, [hash], () => false, limit);
    expect(counts).toEqual({ missing: 1, inGrace: end === 'due' ? 0 : 1, due: end === 'due' ? 1 : 0 });
    await extendGrace(pullTx, limit);
    await markAbsent(pullTx, limit, undefined);
    await mergeChanges(pullTx);
    const [after] = await pullTx.session.query<{ missing_pulls: number }>('select missing_pulls from mapping');
    const changes = await pullTx.session.query('select desired, state from change');
    expect(after?.missing_pulls).toBe(end === 'due' ? before : before + 1);
    expect(changes).toEqual(end === 'due' ? [{ desired: 'absent', state: 'ready' }] : []);
  });
});

it.each(graceCases)('may be made: to be missing %i times, missing %i times before: %s', async (pulls, before, end) => {
  await db.query('delete from mapping');
  await db.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state, missing_pulls,
       attempt_token, attempt_operation, attempt_started)
     values ('acme', 'p1', 'board', 'present', 'create', '{}', $1, $1, 'in_doubt', $2, gen_random_uuid(), 'create', now())
     on conflict (feed, key) do update set missing_pulls = $2`,
    [hash, before],
  );
  await inPull(async (pullTx) => {
    await collectMissingChanges(pullTx, 'unmapped', () => false);
    const limit = pullsBeforeDue(pulls);
    expect(await countMaybeMade(pullTx, limit)).toEqual({ inGrace: end === 'due' ? 0 : 1, due: end === 'due' ? 1 : 0 });
    await withdrawMaybeMade(pullTx, limit, undefined);
    await extendMaybeMadeGrace(pullTx, limit);
    const [after] = await pullTx.session.query('select desired, gone, missing_pulls from change');
    expect(after).toEqual(
      end === 'due'
        ? { desired: 'absent', gone: false, missing_pulls: 0 }
        : { desired: 'present', gone: true, missing_pulls: before + 1 },
    );
  });
});
