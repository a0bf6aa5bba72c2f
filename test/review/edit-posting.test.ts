// Edits by a reviewer: they fix a rejection, hold while the source value stays the same, and survive every pull.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { editsOfPosting } from '../../src/store/review/override.ts';
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

  it('of a field edited before keeps the recorded source value', async () => {
    await stage.pull([odd()]);
    await edit('odd', { 'location-state': 'Nowhere' });
    await edit('odd', { 'location-state': 'Ohio' });
    expect(await edits('odd')).toEqual([{ field: 'location-state', sourceValue: 'Jalisco', value: 'Ohio' }]);
  });

  it('removes a field, or restores the source value', async () => {
    await stage.pull([posting('p1')]);
    await stage.fail('p1', 'rejected');
    await edit('p1', { 'category-name': '' });
    expect((await stage.change('p1'))?.fields).not.toHaveProperty('category-name');
    await stage.fail('p1', 'rejected');
    await edit('p1', { 'category-name': 'Health', title: 'Other' });
    expect(await edits('p1')).toEqual([{ field: 'title', sourceValue: 'Nurse p1', value: 'Other' }]);
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

  it('drops an earlier edit if the source has changed the field since', async () => {
    await stage.pull([odd()]);
    await edit('odd', { 'location-state': 'Ohio' });
    await stage.pull([odd({ state: 'Chihuahua' })]);
    await edit('odd', { 'location-state': 'Texas' });
    expect(await edits('odd')).toEqual([{ field: 'location-state', sourceValue: 'Chihuahua', value: 'Texas' }]);
  });

  it('of a failed posting allows all attempts again', async () => {
    await stage.pull([posting('p1')]);
    await stage.fail('p1', 'failed');
    await edit('p1', { title: 'Other' });
    expect((await stage.claim('p1')).number).toBe(1);
  });
});

describe('refused', () => {
  it.each<{ name: string; edits: Record<string, string>; message: string }>([
    { name: 'an unknown field', edits: { titel: 'x' }, message: 'has no field titel; fields: category-name' },
    { name: 'an edit that changes nothing', edits: { 'location-state': 'Jalisco' }, message: 'nothing would change' },
  ])('$name', async ({ edits: given, message }) => {
    await stage.pull([odd()]);
    expect(await edit('odd', given)).toEqual({ kind: 'refused', message: expect.stringContaining(message) });
    expect(await edits('odd')).toEqual([]);
    expect(await stage.change('odd')).toMatchObject({ state: 'rejected' });
  });

  it.each([
    { name: 'a waiting change', prepare: async () => undefined, message: 'it is waiting to be sent' },
    { name: 'a change in flight', prepare: () => stage.claim('p1'), message: 'it is being sent right now' },
    {
      name: 'a change in doubt',
      prepare: () => stage.fail('p1', 'in_doubt'),
      message: 'the site may have made the job',
    },
  ])('$name', async ({ prepare, message }) => {
    await stage.pull([posting('p1')]);
    await prepare();
    const report = await edit('p1', { title: 'x' });
    expect(report.kind === 'refused' && said(report.message)).toContain(message);
    expect(await edits('p1')).toEqual([]);
  });

  it('an unknown entry', async () => {
    expect(await editEntry(stage.app.db, stage.app.config, 99, { title: 'x' }, acting)).toEqual({
      kind: 'refused',
      message: 'there is no open review entry 99',
    });
  });
});

it('an edit waits for a running pull, which would undo it', async () => {
  await stage.pull([odd()]);
  const release = await holdPullLock(stage.app.db, acme);
  const editing = edit('odd', { 'location-state': 'Ohio' });
  // The edit queues for the lock before the lock is released.
  for (;;) {
    const [row] = await stage.app.db.query(
      `select count(*) as n from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    if (row?.n > 0) break;
  }
  expect(await stage.change('odd')).toMatchObject({ state: 'rejected' });
  await release();
  expect(await editing).toMatchObject({ kind: 'edited' });
});
