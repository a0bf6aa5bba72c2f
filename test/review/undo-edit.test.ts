// Edits are undone in whatever state their posting is: the next pull brings back what the source has.
import { describe, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { editEntry, editsVersion, undoEdits } from '../../src/review/edit-posting.ts';
import { editsOfPosting } from '../../src/store/change/edit.ts';
import { findLiveJob } from '../../src/store/review/posting-history.ts';
import { firstOf } from '../support/extent.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, acting, openStage } from './stage.ts';

const stage = openedForEach(() => openStage());

const key = postingKey('p1');
const feed = [posting('p1', { title: 'Nurse' }), posting('p2')];
const undo = (options: { fields?: readonly string[]; version?: string; policy?: 'create_only' } = {}) =>
  undoEdits(stage.app.db, acme, key, { ...acting, ...options });
const edits = () => editsOfPosting(stage.app.db, acme, key);
const title = async () => (await stage.change('p1'))?.fields?.title;
const titleOnSite = async () => (await findLiveJob(stage.app.db, acme, key))?.fields?.title;

async function edited(): Promise<void> {
  await stage.pull(feed);
  await stage.fail('p1', 'rejected');
  const set = await editEntry(stage.app.db, stage.app.config, await stage.entry('p1'), { title: 'Chef' }, acting);
  expect(set).toMatchObject({ kind: 'edited', remaining: undefined });
}

describe('undoing an edit', () => {
  it('that waits: it is not sent, if the pull comes first', async () => {
    await edited();
    expect(await undo()).toEqual({
      kind: 'undone',
      fields: ['title'],
      message: 'the next pull brings back what the source has',
    });
    expect(await edits()).toEqual([]);
    await stage.pull(feed);
    expect(await title()).toBe('Nurse');
    await stage.acceptAll();
    expect(await titleOnSite()).toBe('Nurse');
  });

  it('of a job that the feed only creates says that the job keeps what it has', async () => {
    await edited();
    await stage.acceptAll();
    const message = "the job keeps what it has, as the feed's policy is create_only";
    expect(await undo({ policy: 'create_only' })).toMatchObject({ kind: 'undone', message });
  });

  it('that waits and is sent before the next pull: that one sets it back', { tags: 'slow' }, async () => {
    await edited();
    await undo();
    await stage.acceptAll();
    expect(await titleOnSite()).toBe('Chef');
    await stage.pull(feed);
    expect(await stage.change('p1')).toMatchObject({ operation: 'update', state: 'ready', fields: { title: 'Nurse' } });
    await stage.acceptAll();
    expect(await titleOnSite()).toBe('Nurse');
    await stage.pull(feed);
    expect(await stage.change('p1')).toBeUndefined();
  });

  it('that the site has accepted: the next pull updates it, although the feed is the same', async () => {
    await edited();
    await stage.acceptAll();
    await stage.pull(feed);
    expect(await stage.change('p1')).toBeUndefined();
    expect(await undo()).toMatchObject({ kind: 'undone' });
    await stage.pull(feed);
    await stage.acceptAll();
    expect(await titleOnSite()).toBe('Nurse');
  });

  it.each(firstOf(['rejected', 'failed'] as const, 1))(
    'that was %s: the next pull makes it ready again',
    async (state) => {
      await edited();
      await stage.fail('p1', state);
      expect(await undo()).toMatchObject({ kind: 'undone' });
      await stage.pull(feed);
      expect(await stage.change('p1')).toMatchObject({ state: 'ready', fields: { title: 'Nurse' } });
    },
  );

  it('that was discarded: the next pull takes up the posting again', { tags: 'slow' }, async () => {
    await edited();
    await stage.fail('p1', 'rejected');
    await actOnEntries(stage.app.db, stage.app.config, 'discard', [{ ids: [await stage.entry('p1')] }], acting);
    expect(await undo()).toMatchObject({ kind: 'undone' });
    await stage.pull(feed);
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', fields: { title: 'Nurse' } });
  });

  it('in flight or in doubt is refused, as the end of the attempt would keep what was edited', async () => {
    await edited();
    await stage.claim('p1');
    expect(await undo()).toMatchObject({ kind: 'refused', message: expect.stringContaining('being sent') });
    await stage.app.db.query(`update change set state = 'ready', attempt_token = null where key = 'p1'`);
    await stage.fail('p1', 'in_doubt');
    expect(await undo()).toMatchObject({ kind: 'refused', message: expect.stringContaining('doubt') });
    expect(await edits()).toHaveLength(1);
  });

  it('without effect, as the source has changed since, only removes it', { tags: 'slow' }, async () => {
    await edited();
    await stage.acceptAll();
    const later = [posting('p1', { title: 'Doctor' }), posting('p2')];
    await stage.pull(later);
    await stage.acceptAll();
    expect(await undo()).toMatchObject({ kind: 'undone' });
    await stage.pull(later);
    expect(await stage.change('p1')).toBeUndefined();
    expect(await titleOnSite()).toBe('Doctor');
  });

  it('of a posting that is missing now deletes nothing early', async () => {
    await edited();
    await stage.acceptAll();
    await undo();
    await stage.pull([posting('p2')], { missingPulls: 2 });
    await stage.pull(feed);
    await stage.acceptAll();
    expect(await titleOnSite()).toBe('Nurse');
  });

  it('is about the edits that were seen, and the fields that are named', async () => {
    await edited();
    expect(await undo({ version: editsVersion([]) })).toMatchObject({ kind: 'refused', stale: true });
    expect(await undo({ fields: ['category-name'] })).toMatchObject({ kind: 'refused' });
    expect(await undo({ fields: ['title'], version: editsVersion(await edits()) })).toMatchObject({ kind: 'undone' });
    expect(await undo()).toMatchObject({ kind: 'refused', message: expect.stringContaining('has no edits') });
    const acts = await stage.app.db.query(`select actor from audit where action = 'undo edit'`);
    expect(acts).toEqual([{ actor: 'tester' }]);
  });
});
