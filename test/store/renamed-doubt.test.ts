// A feed is renamed while a create is in flight: the job belongs to the posting under the new name.
import { beforeEach, expect, it } from 'vitest';
import { feedName, postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { adoptDoubt, type Doubt, findDoubt, refuteDoubt } from '../../src/store/change/doubt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { renameFeed } from '../../src/store/mapping/rename-feed.ts';
import { acme, openStage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

let doubt: Doubt;
const stage = openedForEach(() => openStage());
beforeEach(async () => {
  await stage.pull([posting('a')]);
  await stage.fail('a', 'in_doubt');
  doubt = (await findDoubt(stage.app.db, acme, postingKey('a'))) as Doubt;
});

const job = siteJobId('7');
const adopt = () =>
  adoptDoubt(stage.app.db, doubt, job, undefined, {
    fields: doubt.attempt.accepted.fields,
    uncertain: [],
    isProven: true,
  });
const rename = async () => {
  const to = { feed: feedName('globex'), site: siteName('board') };
  expect(await renameFeed(stage.app.db, acme, to, 'tester')).toMatchObject({ kind: 'renamed', changes: 1 });
};

async function expectMapped(): Promise<void> {
  const { db } = stage.app;
  expect(await db.query('select feed, key, site_job_id from mapping')).toEqual([
    { feed: 'globex', key: 'a', site_job_id: '7' },
  ]);
  expect(await db.query('select from orphan_site_job')).toEqual([]);
  expect(await db.query('select from change')).toEqual([]);
}

it('a doubt that was read before the rename is adopted, and its job does not become an orphan', async () => {
  await rename();
  expect(await adopt()).toBe('recorded');
  await expectMapped();
});

it('a late response is recorded', async () => {
  await rename();
  const result = { kind: 'created', siteJobId: job, url: undefined } as const;
  expect(await outcomeRecorder(stage.app.db.prepared)({ attempt: doubt.attempt, result, record: undefined })).toBe(
    'recorded',
  );
  await expectMapped();
});

it('a job that was found for a doubt is not deleted if the doubt was resolved differently meanwhile', async () => {
  expect(await refuteDoubt(stage.app.db, doubt, Number.POSITIVE_INFINITY)).toBe(true);
  expect(await adopt()).toBe('superseded');
  expect(await stage.app.db.query('select from orphan_site_job')).toEqual([]);
});
