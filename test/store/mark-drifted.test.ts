// Differences are marked only for a posting that is as it was when its job was asked for, and then are all that is sent.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { siteJobId } from '../../src/posting/identifiers.ts';
import { type DriftedJob, markDrifted } from '../../src/store/change/mark-drifted.ts';
import { acme, openStage, type Stage } from '../review/stage.ts';
import { itInAll } from '../support/in-all.ts';
import { posting, postings } from '../support/indeed-feed.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
  await stage.pull(postings(3));
  await stage.acceptAll();
});
afterEach(() => stage.close());

/** Two fields of p1 as verifying finds them. */
async function found(key = 'p1', finding: DriftedJob['finding'] = 'changed'): Promise<DriftedJob> {
  const [row] = await stage.app.db.query(
    `select key, site_job_id, content_hash,
       coalesce((select max(q.id) from request q where q.feed = m.feed and q.key = m.key), 0) as last
     from mapping m where key = $1`,
    [key],
  );
  return {
    feed: acme,
    key: row?.key,
    siteJobId: siteJobId(row?.site_job_id),
    contentHash: row?.content_hash,
    lastRequest: row?.last,
    names: ['title', 'description'],
    finding,
  };
}

async function mark(...jobs: readonly DriftedJob[]): Promise<readonly string[]> {
  const session = await stage.app.db.session();
  try {
    return (await markDrifted(session, acme, 'anna', jobs)).map(({ message }) => message);
  } finally {
    await session.end();
  }
}

const marks = () => stage.app.db.query('select key, fields from uncertain_write order by key');

it('has the next pull plan an update of exactly these fields, once', async () => {
  expect(await mark(await found('p1'), await found('p2', 'gone'))).toEqual([]);
  expect(await marks()).toEqual([
    { key: 'p1', fields: ['title', 'description'] },
    { key: 'p2', fields: ['title', 'description'] },
  ]);
  await stage.pull(postings(3));
  const { request } = await stage.claim('p1');
  expect(request).toEqual({
    kind: 'update',
    siteJobId: 'job-p1',
    fields: { title: 'Nurse p1', description: '<p>Work p1</p>' },
  });
  expect(await stage.change('p3')).toBeUndefined();
  await stage.acceptAll();
  await stage.pull(postings(3));
  expect(await stage.change('p2')).toBeUndefined();
  expect(await stage.app.db.query('select actor, action, key from audit order by key')).toEqual([
    { actor: 'anna', action: 'set again what differs on the site', key: 'p1' },
    { actor: 'anna', action: 'set again what differs on the site', key: 'p2' },
  ]);
});

it('has the next pull read the feed, although it is not modified', async () => {
  const version = () => stage.app.db.query('select source_version is null as unknown from feed_state');
  await stage.app.db.query(`update feed_state set source_version = 'x'`);
  expect(await version()).toEqual([{ unknown: false }]);
  await mark(await found());
  expect(await version()).toEqual([{ unknown: true }]);
});

describe('leaves a posting alone', () => {
  it.each<[string, () => Promise<unknown>, string]>([
    [
      'whose request is in flight',
      async () => {
        await stage.pull([posting('p1', { title: 'New' }), ...postings(3).slice(1)]);
        await stage.claim('p1');
      },
      'a request for it is in flight',
    ],
    [
      'that was sent meanwhile',
      async () => {
        await stage.pull([posting('p1', { title: 'New' }), ...postings(3).slice(1)]);
        await stage.acceptAll();
      },
      'the job has been sent meanwhile',
    ],
    [
      'that was sent with the same content meanwhile',
      () =>
        stage.app.db.query(
          `insert into request (feed, key, operation, outcome, duration_ms) values ('acme', 'p1', 'update', 'accepted', 1)`,
        ),
      'the job has been sent meanwhile',
    ],
    [
      'that is no longer in the feed',
      () => stage.pull(postings(3).slice(1), { percent: 1, count: 0 }),
      'its posting is no longer in the feed',
    ],
    ['that is already marked', async () => mark(await found()), 'it is already marked'],
    [
      'that has another job',
      () => stage.app.db.query(`update mapping set site_job_id = 'other' where key = 'p1'`),
      'the posting has no such job any more',
    ],
    [
      'that has no job',
      () => stage.app.db.query(`delete from mapping where key = 'p1'`),
      'the posting has no such job any more',
    ],
  ])('%s', async (_, happen, message) => {
    const [one, two] = [await found('p1'), await found('p2')];
    await happen();
    const before = await marks();
    expect(await mark(one, two)).toEqual([message]);
    expect((await marks()).filter(({ key }) => key === 'p1')).toEqual(before);
    expect((await marks()).map(({ key }) => key)).toContain('p2');
  });
});

itInAll.each(['rejected', 'failed'] as const)(
  'a change that is %s keeps its state, and is sent with the marked fields later',
  async (state) => {
    const newer = [posting('p1', { city: 'Salem' }), ...postings(3).slice(1)];
    await stage.pull(newer);
    await stage.fail('p1', state);
    expect(await mark(await found())).toEqual([]);
    expect(await stage.change('p1')).toMatchObject({ state });
    await stage.pull(newer);
    expect(await stage.change('p1')).toMatchObject({ state });
    await stage.pull([posting('p1', { city: 'Lynn' }), ...postings(3).slice(1)]);
    const { request } = await stage.claim('p1');
    expect(Object.keys('fields' in request ? request.fields : {}).sort()).toEqual([
      'description',
      'location-city',
      'title',
    ]);
  },
);
