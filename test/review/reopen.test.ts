// Discarding entries of some kinds only, listing discarded entries, and returning them to review in their former state.
import { describe, expect, it } from 'vitest';
import type { BulkAction } from '../../src/plan/action.ts';
import { postingKey, siteJobId } from '../../src/posting/identifiers.ts';
import { type ActionReport, actOnEntries } from '../../src/review/act-on-entries.ts';
import { ENTRY_KINDS, type EntryKind } from '../../src/store/backlog/open-counts.ts';
import { holdDeleteOfReplaced, holdRestoredDeletes } from '../../src/store/change/restored-database.ts';
import type { ReviewEntry } from '../../src/store/review/review-entries.ts';
import { reviewEntries } from '../../src/store/review/review-page.ts';
import { newestHoldReason } from '../../src/store/status/feed-overview.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, acting, openStage } from './stage.ts';

const stage = openedForEach(() => openStage());

type Acted = Extract<ActionReport, { kind: 'acted' }>;

const onFeed = (action: BulkAction, kinds?: readonly EntryKind[]) =>
  actOnEntries(stage.app.db, stage.app.config, action, [{ feed: acme, kinds }], acting) as Promise<Acted>;
const onEntry = (action: BulkAction, id: number) =>
  actOnEntries(stage.app.db, stage.app.config, action, [{ ids: [id] }], acting) as Promise<Acted>;

async function discarded(): Promise<string[]> {
  const found: ReviewEntry[] = [];
  const filter = { feed: undefined, kinds: ENTRY_KINDS, discarded: true };
  for await (const entry of reviewEntries(stage.app.db, filter, undefined)) found.push(entry);
  return found.map(({ key, kind }) => `${key ?? '-'} ${kind}`).sort();
}
const waiting = async () => (await stage.entries()).map(({ key, kind }) => `${key ?? '-'} ${kind}`).sort();

const ODD = posting('odd', { state: 'Jalisco' });
const NOBODY = '<job><title>Nobody</title></job>';
const withNobody = (feed: string) => feed.replace('</source>', `${NOBODY}</source>`);

/** Creates one entry of each kind that can be discarded: 12 jobs are live, 4 of them left in the feed. */
async function oneOfEach(): Promise<void> {
  await stage.pull(postings(12));
  await stage.acceptAll();
  await stage.pull([...postings(3), ODD, posting('bad'), posting('p1', { title: 'Another' })]);
  await stage.fail('bad', 'failed');
  await stage.pull(withNobody(feedXml([...postings(3), ODD, posting('bad'), posting('p1', { title: 'Another' })])));
}

const HELD = ['p10', 'p11', 'p12', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9'].map((key) => `${key} held`);
const ALL = ['- unreadable', 'bad failed', 'odd rejected', 'p1 duplicate', ...HELD].sort();

it('returns each entry to its former state, and counts by kind', async () => {
  await oneOfEach();
  expect(await waiting()).toEqual(ALL);
  const [done] = (await onFeed('discard')).feeds;
  expect(done).toMatchObject({
    done: 13,
    kinds: { rejected: 1, failed: 1, held: 9, unreadable: 1, duplicate: 1 },
    message: expect.stringMatching(/^13 discarded \(.*9 held.*\)$/),
  });
  expect(await waiting()).toEqual([]);
  expect(await discarded()).toEqual(ALL);
  const [back] = (await onFeed('reopen')).feeds;
  expect(back).toMatchObject({ done: 13, kinds: { held: 9, unreadable: 1 } });
  expect(await waiting()).toEqual(ALL);
  expect(await discarded()).toEqual([]);
  const acts = await stage.app.db.query<{ action: string }>(
    `select action, detail->>'kind' as kind, count(*) as n from audit group by 1, 2 order by 1, 2`,
  );
  expect(acts.filter(({ action }) => action === 'reopen')).toEqual([
    { action: 'reopen', kind: 'duplicate', n: 1 },
    { action: 'reopen', kind: 'failed', n: 1 },
    { action: 'reopen', kind: 'held', n: 9 },
    { action: 'reopen', kind: 'rejected', n: 1 },
    { action: 'reopen', kind: 'unreadable', n: 1 },
  ]);
});

it('applies to the named kinds, and to no others', { tags: 'slow' }, async () => {
  await oneOfEach();
  expect((await onFeed('discard', ['rejected', 'failed'])).feeds[0]).toMatchObject({ done: 2 });
  expect(await discarded()).toEqual(['bad failed', 'odd rejected']);
  expect(await onEntry('discard', await stage.entry('p4'))).toMatchObject({ entries: [{ result: 'done' }] });
  expect((await onFeed('reopen', ['failed'])).feeds[0]).toMatchObject({ done: 1, kinds: { failed: 1 } });
  expect(await discarded()).toEqual(['odd rejected', 'p4 held']);
  const report = await actOnEntries(
    stage.app.db,
    stage.app.config,
    'discard',
    [{ ids: [await stage.entry('p5')], kinds: ['rejected'] }],
    acting,
  );
  expect(report).toMatchObject({
    entries: [{ result: 'not_applicable', message: 'its kind is not the one that was asked for' }],
  });
});

describe('a delete that was held', () => {
  it('is held and counted by the guard again, unless its posting is back, and deletes nothing by itself', async () => {
    await oneOfEach();
    const holds = async () => (await newestHoldReason(stage.app.db, acme)) !== undefined;
    await onFeed('discard', ['held']);
    expect(await holds()).toBe(false);
    const id = await stage.entry('p9');
    const feed = [...postings(3), ODD, posting('bad'), posting('p9', { title: 'Back' })];
    await stage.pull(feed);
    expect(await onEntry('reopen', id)).toMatchObject({
      entries: [{ result: 'not_applicable', message: 'it is not discarded, but ready' }],
    });
    expect(await stage.change('p9')).toMatchObject({ state: 'ready', desired: 'present' });
    await onFeed('reopen');
    expect(await holds()).toBe(true);
    await stage.pull(feed);
    await stage.acceptAll();
    expect(await stage.change('p8')).toMatchObject({ state: 'held', desired: 'absent' });
    expect(await stage.app.db.query('select count(*) as n from mapping')).toEqual([{ n: 12 }]);
    expect(await actOnEntries(stage.app.db, stage.app.config, 'approve', [{ feed: acme }], acting)).toMatchObject({
      feeds: [{ done: 8 }],
    });
  });
});

describe('a delete that the site refused before a person discarded it', () => {
  const LATER = {
    'a record without a key may be any posting': async () => {
      await stage.pull(withNobody(feedXml(postings(11))));
    },
    'the database was restored from a backup': async () => {
      expect(await stage.app.db.transaction((tx) => holdRestoredDeletes(tx))).toBe(0);
    },
    'its posting got another job': () =>
      holdDeleteOfReplaced(stage.app.db, {
        feed: acme,
        key: postingKey('p12'),
        from: siteJobId('job-p12'),
        to: siteJobId('other'),
      }),
  };
  it.each(Object.entries(LATER))('is held once it is reopened if %s', async (_, happen) => {
    await stage.pull(postings(12));
    await stage.acceptAll();
    await stage.pull(postings(11));
    await stage.fail('p12', 'failed');
    const id = await stage.entry('p12');
    await onEntry('discard', id);
    await happen();
    expect(await discarded()).toEqual(['p12 held']);
    await onEntry('reopen', id);
    expect(await stage.change('p12')).toMatchObject({ state: 'held', desired: 'absent' });
    expect(await onEntry('retry', id)).toMatchObject({ entries: [{ result: 'not_applicable' }] });
    // The next complete pull decides again.
    await stage.pull(postings(11));
    expect(await stage.change('p12')).toMatchObject({ state: 'ready', desired: 'absent' });
  });
});

it('entries that changed meanwhile, or are in doubt or in flight, are skipped', { tags: 'slow' }, async () => {
  await stage.pull([ODD, posting('a'), posting('b'), posting('c')]);
  await stage.fail('a', 'in_doubt');
  await stage.claim('b');
  await stage.fail('c', 'rejected');
  await onFeed('discard');
  expect(await discarded()).toEqual(['c rejected', 'odd rejected']);
  await stage.pull([posting('odd', { state: 'Ohio' }), posting('a'), posting('b'), posting('c')]);
  const acted = await onFeed('reopen');
  expect(acted.feeds).toMatchObject([{ done: 1, message: expect.stringContaining('1 rejected') }]);
  expect(await Promise.all(['odd', 'a', 'b', 'c'].map(async (key) => (await stage.change(key))?.state))).toEqual([
    'ready',
    'in_doubt',
    'sending',
    'rejected',
  ]);
});

describe('an unreadable record', () => {
  it('is read again by the next pull, even if the source says it has not changed', async () => {
    await stage.pull(withNobody(feedXml(postings(2))));
    await onFeed('discard');
    await stage.pull(withNobody(feedXml(postings(2))));
    await stage.app.db.query(`update feed_state set source_version = 'one'`);
    await onFeed('reopen');
    expect(await stage.app.db.query('select source_version from feed_state')).toEqual([{ source_version: null }]);
    expect(await stage.pull(withNobody(feedXml(postings(1))))).toMatchObject({ complete: false });
  });

  it('is not reopened during a pull that treats it as discarded', { tags: 'slow' }, async () => {
    await stage.pull(withNobody(feedXml(postings(2))));
    await onFeed('discard');
    const release = await holdPullLock(stage.app.db, acme);
    expect(await onFeed('reopen')).toEqual({
      kind: 'refused',
      message: 'feed acme is being pulled right now; try again when that has ended. Nothing was reopened.',
    });
    await release();
    expect(await onFeed('reopen')).toMatchObject({ feeds: [{ done: 1 }] });
  });
});

it('an entry that is resolved before the action is left out of its report', { tags: 'slow' }, async () => {
  await stage.pull([ODD]);
  const id = await stage.entry('odd');
  await stage.app.db.query('delete from change where id = $1', [id]);
  expect(await onEntry('retry', id)).toMatchObject({ kind: 'acted', entries: [], acted: [] });
});
