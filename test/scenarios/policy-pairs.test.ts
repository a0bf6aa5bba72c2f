// A policy that deletes or updates no job, set while something else is open: a create in doubt, a delete of an undo, a discarded delete.
import { describe, expect, it } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import type { FeedPolicy } from '../../src/plan/policy.ts';
import { postingKey, siteJobId } from '../../src/posting/identifiers.ts';
import { undoPull } from '../../src/pull/undo-pull.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { adoptDoubt, findDoubt } from '../../src/store/change/doubt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { readFeedState, resumeFeed } from '../../src/store/feed/feed-state.ts';
import { summarisePull } from '../../src/store/status/pull-summary.ts';
import { forgetOldRows } from '../../src/store/status/retention.ts';
import { acme, acting, openStage } from '../review/stage.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const stage = openedForEach(() => openStage());

/** @param percent of the guard; 0: it holds every delete */
function setupWith(policy: FeedPolicy, percent = 0) {
  const [setup] = feedSetups(stage.app.config, ['acme']);
  if (setup === undefined) throw new Error('no feed');
  return { ...setup, policy, guard: { ...setup.guard, percent, count: 0 } };
}

/** Pulls once with this policy and returns the sums. The guard holds every delete. */
async function pullWith(policy: FeedPolicy, feed: readonly TestPosting[] | string) {
  const { db, log } = stage.app;
  await stage.mirror.writeFeed(typeof feed === 'string' ? feed : feedXml(feed));
  const end = await pullFeed(setupWith(policy), { db, log, signal: new AbortController().signal });
  if (end.kind !== 'committed') throw new Error(`the pull ended ${end.kind}`);
  return (await summarisePull(db, end.pull)).summary;
}

it.each(['upsert_only', 'create_only'] as const)(
  '%s keeps a job that is found for a create in doubt whose posting is gone',
  async (policy) => {
    const { db } = stage.app;
    await pullWith('mirror', [posting('a'), posting('b')]);
    await stage.fail('b', 'in_doubt');
    await stage.acceptAll();
    expect(await pullWith('mirror', [posting('a')])).toMatchObject({ gone: 1, pending_deletes: 1 });
    const { pull } = await pullWith(policy, [posting('a')]);
    const doubt = (await findDoubt(db, acme, postingKey('b'))) ?? expect.fail('b is not in doubt');
    const content = { fields: doubt.attempt.accepted.fields, uncertain: [], isProven: true };
    expect(await adoptDoubt(db, doubt, siteJobId('job-b'), undefined, content)).toBe('recorded');
    expect(await stage.change('b')).toBeUndefined();
    expect((await summarisePull(db, pull)).summary).toMatchObject({ gone: 1, grace: 1, pending_deletes: 0 });
    expect(await pullWith(policy, [posting('a')])).toMatchObject({ gone: 1, grace: 1, held: 0 });
    expect(await pullWith(policy, [posting('a'), posting('b')])).toMatchObject({ unchanged: 2, gone: 0 });
  },
);

it('upsert_only keeps a job whose posting is gone while its update is in flight', async () => {
  const { db } = stage.app;
  await pullWith('mirror', [posting('a'), posting('b')]);
  await stage.acceptAll();
  await pullWith('mirror', [posting('a'), posting('b', { title: 'Second' })]);
  const attempt = await stage.claim('b');
  expect(await pullWith('mirror', [posting('a')])).toMatchObject({ gone: 1, pending_deletes: 1 });
  const broken = feedXml([posting('a')]).replace('</source>', '<job><title>Nurse</title></job></source>');
  await pullWith('upsert_only', broken);
  const { pull } = await pullWith('upsert_only', [posting('a')]);
  expect(await stage.change('b')).toMatchObject({ state: 'sending', desired: 'present', missing: true });
  await outcomeRecorder(db.prepared)({ attempt, result: { kind: 'updated' }, record: undefined });
  expect(await stage.change('b')).toBeUndefined();
  expect((await summarisePull(db, pull)).summary).toMatchObject({ gone: 1, grace: 1, updated: 0 });
  const back = [posting('a'), posting('b', { title: 'Second' })];
  expect(await pullWith('upsert_only', back)).toMatchObject({ unchanged: 2, gone: 0 });
});

describe('upsert_only keeps the deletes of an undo', () => {
  /** The pull that has created `b` is undone, and the feed is resumed. */
  async function undoCreate(percent: number) {
    const { db } = stage.app;
    await pullWith('upsert_only', [posting('a')]);
    await stage.acceptAll();
    const { pull } = await pullWith('upsert_only', [posting('a'), posting('b')]);
    await stage.acceptAll();
    const currentPull = (await readFeedState(db, acme))?.currentPull;
    const options = { ...acting, pull, keptDays: 30, currentPull };
    expect(await undoPull(setupWith('upsert_only', percent), { db }, options)).toMatchObject({ kind: 'undone' });
    await db.transaction((tx) => resumeFeed(tx, acme));
  }

  it('that the guard holds', async () => {
    await undoCreate(0);
    expect(await pullWith('upsert_only', [posting('a')])).toMatchObject({ gone: 1, held: 1, grace: 0 });
    expect(await stage.change('b')).toMatchObject({ state: 'held' });
  });

  it('however long ago that was', async () => {
    const { db } = stage.app;
    await undoCreate(0);
    await db.query(`update pull set started_at = started_at - interval '400 days'`);
    await pullWith('upsert_only', [posting('a')]);
    const days = { requests: 30, failures: 90, audit: 365, pulls: 90, undo: 30 };
    await forgetOldRows(db, days, new AbortController().signal);
    expect(await pullWith('upsert_only', [posting('a')])).toMatchObject({ gone: 1, held: 1, grace: 0 });
  });

  it('that a record without a key has held, for a person', async () => {
    await undoCreate(100);
    expect(await stage.change('b')).toMatchObject({ state: 'ready' });
    const broken = feedXml([posting('a')]).replace('</source>', '<job><title>Nurse</title></job></source>');
    await pullWith('upsert_only', broken);
    expect(await stage.change('b')).toMatchObject({ state: 'held', reason: { kind: 'unreadable' } });
    expect(await pullWith('upsert_only', [posting('a')])).toMatchObject({ gone: 1, held: 1, grace: 0 });
    expect(await stage.change('b')).toMatchObject({ state: 'held', desired: 'absent' });
  });
});

it('create_only does not update a job whose posting is back while its delete is discarded', async () => {
  const { db } = stage.app;
  await pullWith('mirror', [posting('a'), posting('b')]);
  await stage.acceptAll();
  await pullWith('mirror', [posting('a')]);
  const ids = [await stage.entry('b')];
  await db.transaction((tx) => discardEntries(tx, ids, 'tester'));
  await pullWith('create_only', [posting('a')]);
  const back = [posting('a'), posting('b', { title: 'Changed' })];
  expect(await pullWith('create_only', back)).toMatchObject({ unchanged: 2, pending: 0, gone: 0 });
  expect(await stage.change('b')).toBeUndefined();
  expect(await pullWith('create_only', back)).toMatchObject({ unchanged: 2, gone: 0 });
});
