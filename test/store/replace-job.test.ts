// A posting whose job is replaced while that job waits to be deleted: nobody has decided about the other job.
import { expect, it } from 'vitest';
import { postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { replaceJob } from '../../src/store/change/restored-database.ts';
import { acme, acting, openStage } from '../review/stage.ts';
import { firstOf } from '../support/extent.ts';
import { postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const stage = openedForEach(() => openStage({ feed: { delete_guard: '{ missing_pulls: 1, count: 5, percent: 50 }' } }));

async function replace(): Promise<string | undefined> {
  const session = await stage.app.db.session();
  const subject = { feed: acme, site: siteName('board'), actor: 'tester', since: new Date() };
  const fields = { title: 'Another' };
  const [from, to] = [siteJobId('job-p1'), siteJobId('job-x')];
  const replacement = { key: postingKey('p1'), from, to, url: undefined, shown: fields };
  return replaceJob(session, subject, replacement).finally(() => session.end());
}

it.each(firstOf(['approved', 'ready', 'failed'] as const, 1))(
  'holds a delete that is %s until a complete pull',
  async (state) => {
    const list = postings(12);
    await stage.pull(list);
    await stage.acceptAll();
    const left = list.slice(1);
    await stage.pull(left, state === 'approved' ? { count: 0, percent: 0 } : {});
    if (state === 'failed') await stage.fail('p1', 'failed');
    if (state === 'approved')
      await actOnEntries(stage.app.db, stage.app.config, 'approve', [{ ids: [await stage.entry('p1')] }], acting);
    expect(await replace()).toBeUndefined();
    expect(await stage.change('p1')).toMatchObject({ state: 'held', approved: false, reason: { kind: 'restored' } });
    await stage.acceptAll();
    expect(await stage.app.db.query(`select site_job_id as id from mapping where key = 'p1'`)).toEqual([
      { id: 'job-x' },
    ]);
    // The posting is still gone.
    expect(await stage.pull(left)).toMatchObject({ complete: true });
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', desired: 'absent' });
  },
);

it('leaves a delete that the guard holds to a person, as another version', async () => {
  const list = postings(12);
  await stage.pull(list);
  await stage.acceptAll();
  await stage.pull(list.slice(1), { count: 0, percent: 0 });
  const before = await stage.change('p1');
  expect(await replace()).toBeUndefined();
  const after = await stage.change('p1');
  expect(after).toMatchObject({ state: 'held', reason: { kind: 'guard' } });
  expect(after?.revision).not.toBe(before?.revision);
});
