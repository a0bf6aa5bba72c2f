// A posting loses its job while a pull that has read a change of it is running.
import { afterEach, expect, it } from 'vitest';
import { siteJobId, siteName } from '../../src/posting/identifiers.ts';
import type { Result } from '../../src/store/change/attempt.ts';
import { recordAll } from '../../src/store/change/record-outcomes.ts';
import { recoverAbandoned } from '../../src/store/change/restored-database.ts';
import { feedsToCheck } from '../../src/store/change/site-search.ts';
import { lockOutcomesShared } from '../../src/store/locks/advisory-locks.ts';
import { takeSigns } from '../../src/store/site/ahead-signs.ts';
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

it.each(['is not answered', 'has failed as its worker has died'] as const)(
  'a posting whose update %s meanwhile is created again, after the search of the site that this causes',
  async (end) => {
    stage = await openStage();
    const { db } = stage.app;
    await stage.pull([posting('old')]);
    await stage.acceptAll();
    await stage.pull([posting('old', { title: 'Second' }), posting('new')]);
    const update = await stage.claim('old');
    const create = await stage.claim('new');
    const evidence = { shown: create.accepted?.fields, referenceField: 'number', asked: true, mayLandMs: 0 };
    const created = { kind: 'created', siteJobId: siteJobId('job-old'), url: undefined, evidence } as const;
    const record = (attempt: typeof create, result: Result) =>
      db.transaction((tx) => recordAll(tx, [{ attempt, result, record: undefined }]));
    expect(await record(create, created)).toEqual(['recorded']);
    if (end === 'is not answered') {
      const reason = { kind: 'unknown', message: 'a timeout', problems: [] };
      const back = { to: 'ready', delayMs: 0, counted: true, reason, mayLandMs: 0 } as const;
      expect(await record(update, { kind: 'returned', back })).toEqual(['recorded']);
    } else {
      const limits = { deadlineMs: 0, mayLandMs: 0, mostTries: 10 };
      expect(await recoverAbandoned(db.prepared, board, limits)).toBe(1);
    }
    expect(await stage.change('old')).toMatchObject({ state: 'ready', operation: 'create' });
    expect(await takeSigns(db, board, undefined)).toEqual(['job-old']);
    expect(await feedsToCheck(db, board, 0)).toEqual([acme]);
  },
);
