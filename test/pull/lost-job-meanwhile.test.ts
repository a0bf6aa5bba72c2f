// A posting loses its job while a pull that has read a change of it is running.
import { afterEach, expect, it } from 'vitest';
import { siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { recordAll } from '../../src/store/change/record-outcomes.ts';
import { lockOutcomesShared } from '../../src/store/locks/advisory-locks.ts';
import { takeSigns } from '../../src/store/site/ahead-signs.ts';
import { feedsToCheck } from '../../src/store/site/site-search.ts';
import { acme, openStage, type Stage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';

let stage: Stage;
afterEach(() => stage.close());

const board = siteName('board');

it.each([
  ['without an open change', []],
  ['with an open change', [posting('old', { title: 'Second' })]],
] as const)('a posting %s is created again, after the search of the site that this causes', async (_what, waiting) => {
  stage = await openStage();
  const { app } = stage;
  // A small feed is compared as a whole before it is planned.
  const large = posting('large', { description: 'x'.repeat(3 << 20) });
  await stage.pull([posting('old'), large]);
  await stage.acceptAll();
  await stage.pull([...(waiting.length === 0 ? [posting('old')] : waiting), posting('new'), large]);
  const attempt = await stage.claim('new');
  const waits = () =>
    app.db.query(`select from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`);
  let pulling: Promise<unknown> = Promise.resolve();
  await app.db.transaction(async (tx) => {
    await lockOutcomesShared(tx, [acme]);
    pulling = stage.pull([posting('old', { title: 'Third' }), posting('new'), large]);
    await expect.poll(waits, { timeout: 60_000 }).not.toEqual([]);
    // The site has given the ID of the older job to the new one.
    const evidence = { shown: attempt.accepted?.fields, referenceField: 'number', asked: true, mayLandMs: 0 };
    const result = { kind: 'created', siteJobId: siteJobId('job-old'), url: undefined, evidence } as const;
    expect(await recordAll(tx, [{ attempt, result, record: undefined }])).toEqual(['recorded']);
  });
  await pulling;
  expect(await app.db.query('select key, site_job_id as id from mapping')).toContainEqual({
    key: 'new',
    id: 'job-old',
  });
  expect(await takeSigns(app.db, board, undefined)).toEqual(['job-old']);
  expect(await feedsToCheck(app.db, board, 0)).toEqual([acme]);
});
