// The job of a posting that the site has accepted is edited: in every state that another feature can leave behind.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { editEntry, editPosting, undoEdits } from '../../src/review/edit-posting.ts';
import { readPullSums } from '../../src/review/pulled-changes.ts';
import { tokenOfPosting } from '../../src/review/seen.ts';
import { editsOfPosting } from '../../src/store/change/edit.ts';
import { undoSubjects } from '../../src/store/change/merge/undo-changes.ts';
import { lockKey } from '../../src/store/locks/advisory-locks.ts';
import { findLiveJob, readStory } from '../../src/store/review/posting-history.ts';
import { posting } from '../support/indeed-feed.ts';
import { acme, acting, openStage, type Stage, said } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const key = postingKey('p1');
const other = posting('p2');
const feed = [posting('p1', { title: 'Nurse' }), other];
const edit = (edits: Readonly<Record<string, string>>, seen?: string) =>
  editPosting(stage.app.db, stage.app.config, { feed: acme, key }, edits, {
    ...acting,
    seen: seen === undefined ? undefined : { tokens: [seen] },
  });
const edits = () => editsOfPosting(stage.app.db, acme, key);
const onSite = async () => (await findLiveJob(stage.app.db, acme, key))?.fields;
const version = async () => tokenOfPosting(await readStory(stage.app.db, acme, key));

async function live(): Promise<number> {
  const { pull } = await stage.pull(feed);
  await stage.acceptAll();
  return pull;
}

/** Each posting of the pull is accounted for. */
async function accounted(pull: number) {
  const sums = await readPullSums(stage.app.db, pull);
  expect(sums).toMatchObject({ fault: undefined });
  return sums;
}

const refused = async (edits: Readonly<Record<string, string>> = { title: 'Chef' }) => {
  const report = await edit(edits);
  if (report.kind !== 'refused') throw new Error(`it was ${report.kind}`);
  return said(report.message);
};

describe('an edit of a job', () => {
  beforeEach(async () => {
    stage = await openStage();
  });

  it('is sent at once as an update, and holds until the source changes the field', async () => {
    await live();
    const report = await edit({ title: 'Chef' });
    expect(report).toEqual({ kind: 'edited', entry: expect.any(Number), feed: 'acme', key, remaining: undefined });
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', operation: 'update', fields: { title: 'Chef' } });
    expect(await edits()).toEqual([{ field: 'title', sourceValue: 'Nurse', value: 'Chef' }]);
    await stage.acceptAll();
    expect(await stage.change('p1')).toBeUndefined();
    expect(await onSite()).toMatchObject({ title: 'Chef', 'location-city': 'Boston' });

    // The record differs, but not in this field.
    await stage.pull([posting('p1', { title: 'Nurse', city: 'Salem' }), other]);
    await stage.acceptAll();
    expect(await onSite()).toMatchObject({ title: 'Chef', 'location-city': 'Salem' });
    await stage.pull([posting('p1', { title: 'Midwife', city: 'Salem' }), other]);
    await stage.acceptAll();
    expect(await onSite()).toMatchObject({ title: 'Midwife', 'location-city': 'Salem' });
    const [act] = await stage.app.db.query(`select detail from audit where action = 'edit'`);
    expect(act).toEqual({
      detail: { entry: 'entry' in report && report.entry, edits: { title: 'Chef' }, former: { title: 'Nurse' } },
    });
  });

  it('can be repeated while it waits and once it was sent, and be undone', { tags: 'slow' }, async () => {
    await live();
    await edit({ title: 'Chef' });
    expect(await edit({ 'location-city': 'Salem' })).toMatchObject({ kind: 'edited' });
    await stage.acceptAll();
    expect(await edit({ title: 'Cook' })).toMatchObject({ kind: 'edited' });
    expect(await edits()).toEqual([
      { field: 'location-city', sourceValue: 'Boston', value: 'Salem' },
      { field: 'title', sourceValue: 'Nurse', value: 'Cook' },
    ]);
    await stage.acceptAll();
    expect(await onSite()).toMatchObject({ title: 'Cook', 'location-city': 'Salem' });
    await undoEdits(stage.app.db, acme, key, { ...acting, fields: ['title'] });
    await stage.pull(feed);
    await stage.acceptAll();
    expect(await onSite()).toMatchObject({ title: 'Nurse', 'location-city': 'Salem' });
  });

  it('counts towards no pull until one sees its posting', async () => {
    const first = await live();
    await edit({ title: 'Chef' });
    expect((await accounted(first))?.seen).toMatchObject({ created: 2, updated: 0, pending: 0 });
    await stage.acceptAll();
    expect((await accounted(first))?.seen).toMatchObject({ created: 2, updated: 0 });
    await edit({ title: 'Cook' });
    const second = await stage.pull(feed);
    expect((await accounted(second.pull))?.seen).toMatchObject({ unchanged: 1, pending: 1 });
    await stage.acceptAll();
    expect((await accounted(second.pull))?.seen).toMatchObject({ unchanged: 1, updated: 1, pending: 0 });
    expect(await onSite()).toMatchObject({ title: 'Cook' });
  });

  it('is bound to the version that was seen', { tags: 'slow' }, async () => {
    await live();
    const seen = await version();
    await edit({ 'location-city': 'Salem' }, seen ?? '');
    expect(await edit({ title: 'Chef' }, seen ?? '')).toMatchObject({ kind: 'refused', stale: true });
    const waiting = await version();
    await stage.acceptAll();
    expect(await edit({ title: 'Chef' }, waiting ?? '')).toMatchObject({ kind: 'refused', stale: true });
    expect(await edit({ title: 'Chef' }, (await version()) ?? '')).toMatchObject({ kind: 'edited' });
  });

  it('that the site would refuse leaves the job as it is, also while another one waits, and so does one during a pull', async () => {
    await live();
    const session = await stage.app.db.session();
    await session.query('select pg_advisory_lock($1)', [lockKey('details', acme)]);
    expect(await refused()).toBe('feed acme is being pulled right now; try again when that has ended');
    expect(await edits()).toEqual([]);
    await session.end();
    for (const state of ['none', 'ready']) {
      if (state === 'ready') await edit({ title: 'Chef' });
      const report = await edit({ 'location-state': 'Jalisco' });
      expect(report).toMatchObject({ kind: 'invalid', problems: [{ field: 'location-state' }] });
      expect((await stage.change('p1'))?.state ?? 'none').toBe(state);
    }
    expect(await refused({ colour: 'red' })).toContain('has no field colour');
    expect(await refused({ title: 'Chef' })).toBe('nothing would change: the posting already has these values');
  });

  it('of a posting that is rejected is the edit of its entry', async () => {
    await stage.pull([posting('p1', { state: 'Jalisco' }), other]);
    expect(await edit({ title: 'Chef' })).toMatchObject({
      kind: 'edited',
      entry: await stage.entry('p1'),
      remaining: expect.stringContaining('Jalisco'),
    });
    expect(await edit({ 'location-state': 'MA' })).toMatchObject({ kind: 'edited', remaining: undefined });
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', operation: 'create' });
  });

  it('is refused while it is being sent, in doubt, discarded, or about to be deleted, and possible once it has failed', async () => {
    expect(await refused()).toBe('it has no job, and nothing of it waits to be sent');
    await stage.pull(feed);
    await stage.fail('p1', 'in_doubt');
    expect(await refused()).toMatch(/^the site may have made the job: check there/);
    await stage.app.db.query(`update change set state = 'ready', attempt_token = null where key = 'p1'`);
    await stage.fail('p1', 'failed');
    expect(await edit({ 'location-city': 'Lynn' })).toMatchObject({ kind: 'edited', remaining: undefined });
    await stage.acceptAll();
    await edit({ title: 'Chef' });
    const attempt = await stage.claim('p1');
    expect(attempt.request).toMatchObject({ kind: 'update', fields: { title: 'Chef' } });
    expect(await refused({ title: 'Cook' })).toBe('it is being sent right now');
    await stage.app.db.query(`update change set state = 'ready', attempt_token = null where key = 'p1'`);
    await stage.fail('p1', 'rejected');
    // The reference of a job stays, whichever way it is edited.
    const entry = await stage.entry('p1');
    const byEntry = await editEntry(stage.app.db, stage.app.config, entry, { number: 'x' }, acting);
    expect(byEntry).toMatchObject({ message: expect.stringContaining('its job is recognised by number') });
    expect(await refused({ number: 'x' })).toContain('its job is recognised by number');
    await actOnEntries(stage.app.db, stage.app.config, 'discard', [{ ids: [await stage.entry('p1')] }], acting);
    expect(await refused({ title: 'Cook' })).toMatch(/^it is discarded: review reopen/);
    await stage.pull([other], { percent: 1, count: 0 });
    expect(await refused({ title: 'Cook' })).toMatch(
      /^it is held; deletes the job: review approve .*; keeps the job on the site until the posting comes back: review discard/,
    );
  });

  it('is refused while the posting is missing from the feed, and once the site is another one', async () => {
    await live();
    await stage.pull([other], { missingPulls: 2 });
    expect(await refused()).toBe('the feed no longer has it, so nothing is sent for it');
    await stage.pull([other], { percent: 100, count: 10, missingPulls: 1 });
    expect(await refused()).toBe('its job is about to be deleted');
    await stage.pull(feed);
    await stage.acceptAll();
    await stage.app.db.query(`update mapping set site = 'former'`);
    expect(await refused()).toBe('its job is on site former, and the feed is configured for site board now');
  });

  it('is refused while what the source has is not known: its value would count as changed', {
    tags: 'slow',
  }, async () => {
    await live();
    await edit({ title: 'Chef' });
    await stage.acceptAll();
    await undoEdits(stage.app.db, acme, key, acting);
    const unknown = 'what the source has of it is known only after the next pull: edit it then';
    expect(await refused({ title: 'Cook' })).toBe(unknown);
    await stage.pull(feed);
    await stage.acceptAll();
    expect(await edit({ title: 'Cook' })).toMatchObject({ kind: 'edited' });
    await stage.acceptAll();
    expect(await onSite()).toMatchObject({ title: 'Cook' });
    await stage.app.db.query('delete from document');
    expect(await refused({ title: 'Chef' })).toBe(unknown);
  });

  it('survives the pull that finds its record unreadable, incomplete, or gone and back', async () => {
    await live();
    await edit({ title: 'Chef' });
    const broken = `<source><job><referencenumber>p1</referencenumber><title>&nix;</title></job></source>`;
    await stage.pull(broken);
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', fields: { title: 'Chef' } });
    await stage.pull([other], { missingPulls: 2 });
    expect(await stage.change('p1')).toMatchObject({ missing: true });
    expect(await refused({ title: 'Cook' })).toBe('the feed no longer has it, so nothing is sent for it');
    const back = await stage.pull(feed);
    await accounted(back.pull);
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', missing: false, fields: { title: 'Chef' } });
    await stage.acceptAll();
    expect(await onSite()).toMatchObject({ title: 'Chef' });
    expect(await edits()).toHaveLength(1);
  });

  it('leaves its posting out of the undo of an earlier pull', async () => {
    const first = await live();
    const second = await stage.pull([
      posting('p1', { title: 'Nurse', city: 'Salem' }),
      posting('p2', { city: 'Salem' }),
    ]);
    await stage.acceptAll();
    await edit({ title: 'Chef' });
    const changed = async (pull: number) => {
      const session = await stage.app.db.session();
      await session.query('begin');
      const found: [string, boolean][] = [];
      for await (const subjects of undoSubjects(session, acme, pull))
        found.push(...subjects.map(({ key, changedSince }): [string, boolean] => [key, changedSince]));
      await session.end();
      return Object.fromEntries(found);
    };
    expect(await changed(second.pull)).toEqual({ p1: true, p2: false });
    await stage.acceptAll();
    expect(await changed(second.pull)).toEqual({ p1: true, p2: false });
    expect(await changed(first)).toEqual({ p1: true, p2: true });
    const third = await stage.pull([posting('p1', { title: 'Nurse', city: 'Lynn' }), posting('p2', { city: 'Salem' })]);
    await stage.acceptAll();
    expect(await changed(third.pull)).toEqual({ p1: false });
  });
});

describe('of a feed that leaves something to the site, an edit', () => {
  it('of a field that is set only on create is refused, and that of another is not', async () => {
    stage = await openStage({ feed: { create_only_fields: '[title]' } });
    await live();
    expect(await refused()).toContain('title is set only on create');
    await edit({ 'location-city': 'Salem' });
    expect(await edits()).toEqual([{ field: 'location-city', sourceValue: 'Boston', value: 'Salem' }]);
  });

  it('of a job that is never updated is refused', async () => {
    stage = await openStage({ feed: { policy: 'create_only' } });
    await live();
    expect(await refused()).toBe("its job exists, and the feed's policy is create_only: change it on the site");
  });
});
