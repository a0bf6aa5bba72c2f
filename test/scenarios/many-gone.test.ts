// A complete pull that misses more postings than one batch holds: all of them are found, held and counted.
// @module-tag slow
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MISSING_LIMITS } from '../../src/store/change/merge/mark-missing.ts';
import { postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const MANY = 210;

const { batch: usualBatch } = MISSING_LIMITS;
let mirror: Mirror;
beforeEach(() => {
  MISSING_LIMITS.batch = 100;
});
afterEach(() => {
  MISSING_LIMITS.batch = usualBatch;
  return mirror?.close();
});

const CASES = [
  { desired: 'nothing', missingPulls: 1 },
  { desired: 'an update', missingPulls: 1 },
  { desired: 'an update', missingPulls: 2 },
];

it.each(CASES)(
  'with $desired open for them, due after $missingPulls',
  { timeout: 180_000 },
  async ({ desired, missingPulls }) => {
    mirror = await openMirror({ feed: { delete_guard: `{ missing_pulls: ${missingPulls} }` } });
    await mirror.syncOf(postings(3));
    await mirror.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     select 'acme', 'gone ' || n, 'board', 'x' || n, decode(md5('record ' || n), 'hex'), decode(md5('content ' || n), 'hex')
     from generate_series(1, $1::int) n`,
      [MANY],
    );
    if (desired === 'an update') {
      await mirror.query(
        `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, pull, state)
       select 'acme', key, 'board', 'present', 'update', '{}', decode(md5('newer ' || key), 'hex'), content_hash, 1, 'failed'
       from mapping where key like 'gone %'`,
      );
    }
    const found = missingPulls === 1 ? { held: MANY, grace: 0 } : { held: 0, grace: MANY };
    expect(await mirror.sync()).toMatchObject({
      complete: true,
      seen: 3,
      unchanged: 3,
      gone: MANY,
      requests: 0,
      ...found,
    });
    expect(await mirror.sync()).toMatchObject({ complete: true, gone: MANY, held: MANY, grace: 0, requests: 0 });
  },
);

it('held deletes have the reason of the last complete pull', async () => {
  mirror = await openMirror();
  await mirror.syncOf(postings(20));
  const reasons = async (left: number) => {
    await mirror.syncOf(postings(left));
    const versions = () => mirror.query('select key, xmin::text, reason from change order by key');
    const before = await versions();
    await mirror.sync();
    expect(await versions()).toEqual(before);
    const rows = await mirror.query<{ reason: string }>(
      `select distinct reason->>'message' as reason from change where state = 'held'`,
    );
    return rows.map(({ reason }) => reason);
  };
  expect(await reasons(0)).toEqual(['the feed is empty: all 20 of its live jobs would be deleted']);
  expect(await reasons(12)).toEqual(['8 of 20 live jobs would be deleted: 40.0 %, above the limit of 5 and 20 %']);
  expect(await reasons(10)).toEqual(['10 of 20 live jobs would be deleted: 50.0 %, above the limit of 5 and 20 %']);
  expect(await reasons(0)).toEqual(['the feed is empty: all 20 of its live jobs would be deleted']);
  // A deleted job counts for a day.
  const fewer = '8 of 20 live jobs would be deleted: 40.0 %, above the limit of 5 and 20 %';
  expect(await reasons(12)).toEqual([fewer]);
  await mirror.query(`insert into deletion (feed, key) values ('acme', 'x')`);
  expect(await reasons(12)).toEqual([fewer]);
  await mirror.query('delete from deletion');
  expect(await reasons(18)).toEqual([
    '2 of 20 live jobs would be deleted, which is within the limit by now, but an earlier pull has held them',
  ]);
  expect(await reasons(20)).toEqual([]);
});
