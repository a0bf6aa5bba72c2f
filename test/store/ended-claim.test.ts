// A site uses the ID of a job again while a request to the older posting's job is in flight: nothing stays uncertain for that posting.
import { expect, it } from 'vitest';
import { siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { recoverAbandoned } from '../../src/store/change/restored-database.ts';
import { openStage } from '../review/stage.ts';
import { posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const stage = openedForEach(() => openStage());

const uncertain = () =>
  stage.app.db.query('select key, fields is not null as uncertain from uncertain_write order by key');

/** Posting p1 is live and being updated when the create of p2 is answered with the ID of p1's job. */
async function reuseWhileUpdating(...others: TestPosting[]) {
  await stage.pull([...postings(1), ...others]);
  if (others.length === 0) await stage.acceptAll();
  await stage.pull([posting('p1', { title: 'Newer' }), posting('p2'), ...others]);
  const update = await stage.claim('p1');
  const create = await stage.claim('p2');
  const evidence = { shown: create.accepted?.fields, referenceField: 'number', asked: true, mayLandMs: 60_000 };
  await outcomeRecorder(stage.app.db.prepared)({
    attempt: create,
    result: { kind: 'created', siteJobId: siteJobId('job-p1'), url: undefined, evidence },
    record: undefined,
  });
  expect(await stage.app.db.query('select key from mapping')).toEqual([{ key: 'p2' }]);
  return update;
}

it('if the outcome of that request is unknown', async () => {
  const attempt = await reuseWhileUpdating();
  const reason = { kind: 'unknown', message: 'time-out', problems: [] };
  const back = { to: 'ready', delayMs: 0, counted: true, mayLandMs: 60_000, reason } as const;
  await outcomeRecorder(stage.app.db.prepared)({ attempt, result: { kind: 'returned', back }, record: undefined });
  expect(await uncertain()).toEqual([{ key: 'p2', uncertain: true }]);
  expect(await stage.change('p1')).toMatchObject({ state: 'ready', desired: 'present' });
});

it('if its worker dies', async () => {
  await reuseWhileUpdating();
  const limits = { deadlineMs: 0, mayLandMs: 60_000, mostTries: 10 };
  expect(await recoverAbandoned(stage.app.db, siteName('board'), limits)).toBe(1);
  expect(await uncertain()).toEqual([{ key: 'p2', uncertain: true }]);
  expect(await stage.change('p1')).toMatchObject({ state: 'ready', desired: 'present' });
});

it.for(['board', 'another name of the site'])(
  'what was refused for the reference of that posting is sent again: %s',
  async (site) => {
    await stage.pull(postings(1));
    await stage.acceptAll();
    await stage.pull([...postings(1), posting('p3')]);
    const reason = { kind: 'rejected', message: 'taken', problems: [], taken: [{ message: 'taken' }] };
    const refused = {
      attempt: await stage.claim('p3'),
      result: { kind: 'returned', back: { to: 'rejected', reason } },
    } as const;
    await outcomeRecorder(stage.app.db.prepared)({ ...refused, record: undefined });
    expect(await stage.change('p3')).toMatchObject({ state: 'rejected' });
    await stage.app.db.query(
      `insert into site_state (site, address) values ('board', 'https://a'), ('another name of the site', 'https://a')
     on conflict (site) do update set address = excluded.address`,
    );
    await stage.app.db.query(`update change set site = $1 where key = 'p3'`, [site]);
    await reuseWhileUpdating(posting('p3'));
    expect(await stage.change('p3')).toMatchObject({ state: 'ready' });
  },
);
