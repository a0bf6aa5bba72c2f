// Edits by a reviewer: they fix a rejection, hold while the source value stays the same, and survive every pull.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { editsOfPosting } from '../../src/store/change/edit.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { posting } from '../support/indeed-feed.ts';
import { acme, acting, openStage, type Stage, said } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const edit = async (key: string, edits: Readonly<Record<string, string>>) =>
  editEntry(stage.app.db, stage.app.config, await stage.entry(key), edits, acting);
const edits = (key: string) => editsOfPosting(stage.app.db, acme, postingKey(key));
const odd = (fields: Parameters<typeof posting>[1] = {}) => posting('odd', { state: 'Jalisco', ...fields });

describe('an edit', () => {
  it('that fixes the posting makes it ready, and records the source value', async () => {
    await stage.pull([odd()]);
    expect(await edit('odd', { 'location-state': 'Mass.' })).toEqual({
      kind: 'edited',
      entry: await stage.entry('odd'),
      feed: 'acme',
      key: 'odd',
      remaining: undefined,
    });
    expect(await stage.change('odd')).toMatchObject({
      state: 'ready',
      invalid: false,
      reason: undefined,
      fields: { 'location-state': 'Massachusetts' },
    });
    expect(await edits('odd')).toEqual([{ field: 'location-state', sourceValue: 'Jalisco', value: 'Mass.' }]);
    expect(await stage.app.db.query('select actor, action, feed, key, detail from audit')).toEqual([
      {
        actor: 'tester',
        action: 'edit',
        feed: 'acme',
        key: 'odd',
        detail: {
          entry: await stage.entry('odd'),
          edits: { 'location-state': 'Mass.' },
          former: { 'location-state': 'Jalisco' },
        },
      },
    ]);
  });

  it('that leaves other problems keeps the posting rejected for those', async () => {
    await stage.close();
    stage = await openStage({ site: { max_lengths: '{ title: 10 }' } });
    await stage.pull([odd({ title: 'A title that is too long' })]);
    const report = await edit('odd', { 'location-state': 'MA' });
    expect(report).toMatchObject({ kind: 'edited', remaining: expect.stringContaining('title has 24 characters') });
    expect(await stage.change('odd')).toMatchObject({ state: 'rejected', invalid: true });

    // The second edit keeps the source value recorded by the first.
    expect(await edit('odd', { title: 'Short' })).toMatchObject({ remaining: undefined });
    expect(await edits('odd')).toEqual([
      { field: 'location-state', sourceValue: 'Jalisco', value: 'MA' },
      { field: 'title', sourceValue: 'A title that is too long', value: 'Short' },
    ]);
    expect(await stage.change('odd')).toMatchObject({
      state: 'ready',
      fields: { title: 'Short', 'location-state': 'Massachusetts' },
    });
  });

  it('removes a field, or restores the source value, and allows all attempts again', async () => {
    await stage.pull([posting('p1')]);
    await stage.fail('p1', 'failed');
    await edit('p1', { 'category-name': '' });
    expect((await stage.change('p1'))?.fields).not.toHaveProperty('category-name');
    await stage.fail('p1', 'rejected');
    await edit('p1', { 'category-name': 'Health', title: 'Other' });
    expect(await edits('p1')).toEqual([{ field: 'title', sourceValue: 'Nurse p1', value: 'Other' }]);
    expect((await stage.claim('p1')).number).toBe(1);
  });

  it('holds in later pulls while the source value stays the same, and ends when it changes', async () => {
    await stage.pull([odd()]);
    await edit('odd', { 'location-state': 'Ohio' });
    await stage.acceptAll();
    await stage.pull([odd({ title: 'New title' })]);
    expect(await stage.change('odd')).toMatchObject({
      state: 'ready',
      operation: 'update',
      fields: { title: 'New title', 'location-state': 'Ohio' },
    });
    await stage.acceptAll();
    await stage.pull([odd({ state: 'Texas' })]);
    expect((await stage.change('odd'))?.fields).toMatchObject({ 'location-state': 'Texas' });
  });

  it('of a field edited before keeps the recorded source value, unless the source has changed the field since', async () => {
    await stage.pull([odd()]);
    await edit('odd', { 'location-state': 'Nowhere' });
    await edit('odd', { 'location-state': 'Ohio' });
    expect(await edits('odd')).toEqual([{ field: 'location-state', sourceValue: 'Jalisco', value: 'Ohio' }]);
    await stage.pull([odd({ state: 'Chihuahua' })]);
    await edit('odd', { 'location-state': 'Texas' });
    expect(await edits('odd')).toEqual([{ field: 'location-state', sourceValue: 'Chihuahua', value: 'Texas' }]);
  });
});

describe('refused', () => {
  it('an unknown field, an edit that changes nothing, and an unknown entry', async () => {
    await stage.pull([odd()]);
    for (const [given, message] of [
      [{ titel: 'x' }, 'has no field titel; fields: category-name'],
      [{ 'location-sate': 'x' }, '; did you mean location-state?'],
      [{ 'location-state': 'Jalisco' }, 'nothing would change'],
    ] as const) {
      expect(await edit('odd', given)).toEqual({ kind: 'refused', message: expect.stringContaining(message) });
    }
    expect(await edits('odd')).toEqual([]);
    expect(await stage.change('odd')).toMatchObject({ state: 'rejected' });
    expect(await editEntry(stage.app.db, stage.app.config, 99, { title: 'x' }, acting)).toEqual({
      kind: 'refused',
      message: 'there is no open review entry 99',
    });
  });

  it('a change that waits, is in flight or in doubt', async () => {
    await stage.pull([posting('p1'), posting('p2'), posting('p3')]);
    await stage.claim('p2');
    await stage.fail('p3', 'in_doubt');
    for (const [key, message] of [
      ['p1', 'it is waiting to be sent'],
      ['p2', 'it is being sent right now'],
      ['p3', 'the site may have made the job'],
    ] as const) {
      const report = await edit(key, { title: 'x' });
      expect([key, report.kind === 'refused' && said(report.message)]).toEqual([key, expect.stringContaining(message)]);
      expect(await edits(key)).toEqual([]);
    }
  });
});

it('an edit waits for a running pull, which would undo it', async () => {
  await stage.pull([odd()]);
  const release = await holdPullLock(stage.app.db, acme);
  const editing = edit('odd', { 'location-state': 'Ohio' });
  // The edit queues for the lock before the lock is released.
  const waiting = `select from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(() => stage.app.db.query(waiting)).not.toEqual([]);
  expect(await stage.change('odd')).toMatchObject({ state: 'rejected' });
  await release();
  expect(await editing).toMatchObject({ kind: 'edited' });
});
