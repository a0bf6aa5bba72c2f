// A job is edited, and something withdraws the update before it is sent. The feed still has the record that the site has accepted, so
// only the edit makes the next pull send anything.
import { afterEach, expect, it } from 'vitest';
import { refusingControl } from '../../src/operations/control.ts';
import { renewFeed } from '../../src/operations/feeds.ts';
import { postingKey } from '../../src/posting/identifiers.ts';
import { undoPull } from '../../src/pull/undo-pull.ts';
import { editEntry, editPosting } from '../../src/review/edit-posting.ts';
import { readPullSums } from '../../src/review/pulled-changes.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { editsOfPosting } from '../../src/store/change/edit.ts';
import { resumeFeed } from '../../src/store/feed/feed-state.ts';
import { findLiveJob } from '../../src/store/review/posting-history.ts';
import { posting } from '../support/indeed-feed.ts';
import { acme, acting, openStage, type Stage, said } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const key = postingKey('p1');
const other = posting('p2');
const feed = [posting('p1', { title: 'Nurse' }), other];
const edit = (edits: Readonly<Record<string, string>>) =>
  editPosting(stage.app.db, stage.app.config, { feed: acme, key }, edits, acting);
const onSite = async () => (await findLiveJob(stage.app.db, acme, key))?.fields;

async function edited() {
  await stage.pull(feed);
  await stage.acceptAll();
  expect(await edit({ title: 'Chef' })).toMatchObject({ kind: 'edited' });
}

/** Another edit, which would end the first one, is refused; the next pull sends it. */
async function isSentByTheNextPull() {
  expect(await stage.change('p1')).toBeUndefined();
  const again = await edit({ 'location-city': 'Salem' });
  expect(again.kind === 'refused' && said(again.message)).toContain('known only after the next pull');
  expect(await editsOfPosting(stage.app.db, acme, key)).toHaveLength(1);
  const { pull } = await stage.pull(feed);
  const sums = async () => await readPullSums(stage.app.db, pull);
  expect(await sums()).toMatchObject({ fault: undefined, seen: { unchanged: 1, pending: 1 } });
  await stage.acceptAll();
  expect(await sums()).toMatchObject({ fault: undefined, seen: { unchanged: 1, updated: 1 } });
  expect(await onSite()).toMatchObject({ title: 'Chef', 'location-city': 'Boston' });
  const { pull: quiet } = await stage.pull(feed);
  expect(await readPullSums(stage.app.db, quiet)).toMatchObject({
    fault: undefined,
    seen: { unchanged: 2, pending: 0 },
  });
}

it('holds after a renewal that withdraws the delete which replaced it', { tags: 'slow' }, async () => {
  stage = await openStage({ feed: { expire_after_days: '30' } });
  await edited();
  await stage.app.db.query(`update mapping set mapped_at = now() - interval '31 days' where key = 'p1'`);
  await stage.pull(feed);
  expect(await stage.change('p1')).toMatchObject({ desired: 'absent' });
  const context = { app: stage.app, control: refusingControl('not here'), ...acting };
  expect(await renewFeed.run({ feed: acme, keys: [key] }, context)).toEqual({ feed: acme, renewed: 1 });
  await isSentByTheNextPull();
});

it('holds after the undo of a pull that changed the posting, once the feed is as before', async () => {
  stage = await openStage();
  await edited();
  const { pull } = await stage.pull([posting('p1', { title: 'Nurse', city: 'Salem' }), other]);
  await undo(pull);
  await isSentByTheNextPull();
});

it('holds after the undo of a pull that changed the posting back, if it was made while that waited', {
  tags: 'slow',
}, async () => {
  stage = await openStage();
  await stage.pull(feed);
  await stage.acceptAll();
  await stage.pull([posting('p1', { title: 'Midwife' }), other]);
  const { pull } = await stage.pull(feed);
  const report = await editEntry(stage.app.db, stage.app.config, await stage.entry('p1'), { title: 'Cook' }, acting);
  expect(report).toMatchObject({ kind: 'refused' });
  expect(await edit({ title: 'Chef' })).toMatchObject({ kind: 'edited' });
  await undo(pull);
  await isSentByTheNextPull();
});

it('holds after the delete which replaced it is withdrawn, because the record can no longer be read', async () => {
  stage = await openStage();
  await edited();
  await stage.pull([other], { percent: 1, count: 0 });
  expect(await stage.change('p1')).toMatchObject({ desired: 'absent', state: 'held' });
  await stage.pull('<source><job><referencenumber>p1</referencenumber><title>&nix;</title></job></source>');
  await isSentByTheNextPull();
});

async function undo(pull: number) {
  const [setup] = feedSetups(stage.app.config, ['acme']);
  if (setup === undefined) throw new Error('no feed');
  const end = await undoPull(setup, { db: stage.app.db }, { pull, keptDays: 30, currentPull: pull, ...acting });
  expect(end).toMatchObject({ kind: 'undone', findings: { withdrawn: 1 } });
  await resumeFeed(stage.app.db, acme);
}
