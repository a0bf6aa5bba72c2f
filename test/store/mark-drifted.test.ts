// Differences are marked only for a posting that is as it was when its job was asked for, and then are all that is sent.
import { beforeEach, expect, it } from 'vitest';
import { type PostingKey, siteJobId } from '../../src/posting/identifiers.ts';
import { type DriftedJob, markDrifted } from '../../src/store/change/mark-drifted.ts';
import { acme, openStage } from '../review/stage.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const stage = openedForEach(() => openStage());
beforeEach(async () => {
  await stage.pull(postings(3));
  await stage.acceptAll();
});

/** Two fields of p1 as verifying finds them. */
async function found(key = 'p1', finding: DriftedJob['finding'] = 'changed'): Promise<DriftedJob> {
  const [row] = await stage.app.db.query<{ key: PostingKey; site_job_id: string; content_hash: Buffer; last: number }>(
    `select key, site_job_id, content_hash,
       coalesce((select max(q.id) from request q where q.feed = m.feed and q.key = m.key), 0) as last
     from mapping m where key = $1`,
    [key],
  );
  if (row === undefined) throw new Error(`posting ${key} has no job`);
  return {
    feed: acme,
    key: row.key,
    siteJobId: siteJobId(row.site_job_id),
    contentHash: row.content_hash,
    lastRequest: row.last,
    names: ['title', 'description'],
    finding,
  };
}

async function mark(...jobs: readonly DriftedJob[]): Promise<readonly string[]> {
  const session = await stage.app.db.session();
  try {
    const unmarked = await markDrifted(session, acme, 'anna', jobs);
    return unmarked.map(({ key, message }) => `${key}: ${message}`).sort();
  } finally {
    await session.end();
  }
}

const marks = () => stage.app.db.query<{ key: string }>('select key, fields from uncertain_write order by key');

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

it('leaves postings alone that are not as they were when their jobs were asked for, and marks the others', async () => {
  const list = postings(9);
  await stage.pull(list);
  await stage.acceptAll();
  const { db } = stage.app;
  /** Gives a posting a new title in the feed. */
  const rewrite = async (key: string) => {
    const at = list.findIndex((each) => each.key === key);
    list[at] = posting(key, { title: 'New' });
    await stage.pull(list);
  };
  const ALTERED: readonly (readonly [message: string, happen: (key: string) => Promise<unknown>])[] = [
    [
      'the job has been sent meanwhile',
      async (key) => {
        await rewrite(key);
        await stage.acceptAll();
      },
    ],
    [
      'the job has been sent meanwhile',
      // With the same content.
      (key) =>
        db.query(
          `insert into request (feed, key, operation, outcome, duration_ms) values ('acme', $1, 'update', 'accepted', 1)`,
          [key],
        ),
    ],
    [
      'a request for it is in flight',
      async (key) => {
        await rewrite(key);
        await stage.claim(key);
      },
    ],
    [
      'its posting is no longer in the feed',
      (key) =>
        stage.pull(
          list.filter((each) => each.key !== key),
          { percent: 1, count: 0 },
        ),
    ],
    ['it is already marked', async (key) => mark(await found(key))],
    [
      'the posting has no such job any more',
      (key) => db.query(`update mapping set site_job_id = 'other' where key = $1`, [key]),
    ],
    ['the posting has no such job any more', (key) => db.query('delete from mapping where key = $1', [key])],
  ];
  const jobs = await Promise.all(list.map(({ key }) => found(key)));
  for (const [at, [, happen]] of ALTERED.entries()) await happen(`p${at + 1}`);
  const before = await marks();
  expect(before.map(({ key }) => key)).toEqual(['p5']);
  expect(await mark(...jobs)).toEqual(ALTERED.map(([message], at) => `p${at + 1}: ${message}`));
  expect((await marks()).map(({ key }) => key)).toEqual(['p5', 'p8', 'p9']);
  expect((await marks())[0]).toEqual(before[0]);
});

it.each(['rejected', 'failed'] as const)(
  'a change that is %s keeps its state, and is sent with the marked fields later',
  { tags: 'slow' },
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
