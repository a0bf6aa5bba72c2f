// Actions on many entries in batches: each entry once, stoppable and resumable, and only what was selected and is unaltered.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { type BulkRequest, startBulk } from '../../src/review/bulk/start-bulk.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { listGroups } from '../../src/review/list-groups.ts';
import { makeSafe } from '../../src/store/backup/restore-backup.ts';
import { type BulkKind, findBulk, setBulkState, skippedOfBulk } from '../../src/store/review/bulk-actions.ts';
import type { EntryQuery } from '../../src/store/review/found-entries.ts';
import { reviewPage } from '../../src/store/review/review-page.ts';
import { foldReviewCounts } from '../../src/store/review/review-totals.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { feedXml, posting, postings, recordXml } from '../support/indeed-feed.ts';
import { acme, acting, openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const goOn = new AbortController().signal;
const odd = (count: number) => Array.from({ length: count }, (_, at) => posting(`odd${at}`, { state: STATES[at % 3] }));
const STATES = ['Jalisco', 'Sonora', 'Ontario'];
const TEXAS = { set: { 'location-state': 'Texas' } };

async function start(action: BulkKind, more: Partial<BulkRequest['detail']> = {}, expected?: number): Promise<number> {
  const detail = { query: {}, ...more };
  const started = await startBulk(stage.app.db, stage.app.config, {
    action,
    actor: 'ann',
    detail,
    seen: { count: expected },
  });
  if (started.kind === 'refused') throw new Error(textOf(started.message));
  return started.bulk.id;
}
const run = (id: number, batch = 2, signal = goOn) => runBulk(stage.app.db, stage.app.config, id, { signal, batch });
const now = (id: number) => findBulk(stage.app.db, id);
const skipped = (id: number) => skippedOfBulk(stage.app.db, id);
const states = async () =>
  (
    await stage.app.db.query<{ state: string; n: number }>(
      'select state, count(*) as n from change group by 1 order by 1',
    )
  ).map((row) => [row.state, row.n]);
const audited = async () =>
  (
    await stage.app.db.query<{ key: string; n: number }>(`select key, count(*) as n from audit group by 1 order by 1`)
  ).map((row) => [row.key, row.n]);

it('that is continued after a restore leaves deletes that were held before to a person', async () => {
  await stage.pull(postings(6));
  await stage.acceptAll();
  await stage.pull(postings(1), { count: 0, percent: 0 });
  const id = await start('approve', { query: { kinds: ['held'] } }, 5);
  await stage.app.db.transaction((tx) => makeSafe(tx, { actor: 'ann', madeAt: '2026-11-26T00:00:00Z' }));
  expect(await now(id)).toMatchObject({ state: 'stopped' });
  await setBulkState(stage.app.db, id, 'open');
  expect((await run(id))?.bulk).toMatchObject({ state: 'done', done: 0, skipped: 5 });
  expect(await states()).toEqual([['held', 5]]);
});

describe('an edit of a group', () => {
  it('sets one value in all entries, in batches, and audits each', async () => {
    await stage.pull([...odd(5), posting('fine')]);
    const [group] = await listGroups(stage.app.db, {}, { groups: 1, values: 1 });
    const id = await start('edit', { query: { groups: [group?.id ?? ''] }, edit: TEXAS }, 5);
    const seen: number[] = [];
    const ended = await runBulk(stage.app.db, stage.app.config, id, {
      signal: goOn,
      batch: 2,
      onProgress: ({ done }) => seen.push(done),
    });
    expect(seen).toEqual([2, 4, 5]);
    expect(ended?.bulk).toMatchObject({ state: 'done', total: 5, done: 5, remaining: 0, skipped: 0 });
    expect(ended?.acted).toHaveLength(5);
    expect(await states()).toEqual([['ready', 6]]);
    expect((await stage.change('odd1'))?.fields).toMatchObject({ 'location-state': 'Texas' });
    const [row] = await stage.app.db.query(`select actor, action, detail from audit where key = 'odd1'`);
    expect(row).toEqual({
      actor: 'ann',
      action: 'edit',
      detail: {
        entry: await stage.entry('odd1'),
        edits: TEXAS.set,
        former: { 'location-state': expect.stringMatching(/^(Jalisco|Ontario|Sonora)$/) },
        bulk: id,
      },
    });
    // The edits last: the next pull of the same feed leaves the postings as they are.
    await stage.pull([...odd(5), posting('fine'), posting('another')]);
    expect(await states()).toEqual([['ready', 7]]);
    const overrides = await stage.app.db.query<{ source_value: string | null }>(
      'select distinct source_value from override order by 1',
    );
    expect(overrides.map((row) => row.source_value)).toEqual(['Jalisco', 'Ontario', 'Sonora']);
  });

  it('replaces values by a table, and leaves entries alone whose value it does not have', async () => {
    await stage.pull(odd(6));
    const values = { Jalisco: 'Texas', Sonora: 'Nowhere' };
    const id = await start('edit', { edit: { map: { field: 'location-state', values } } });
    await run(id);
    expect(await now(id)).toMatchObject({ state: 'done', done: 4, remaining: 2, skipped: 2 });
    expect(await skipped(id)).toEqual([{ message: 'the table has no line for location-state "Ontario"', count: 2 }]);
    expect((await stage.change('odd0'))?.fields).toMatchObject({ 'location-state': 'Texas' });
    expect(await stage.change('odd1')).toMatchObject({ state: 'rejected', fields: { 'location-state': 'Nowhere' } });
    expect(await stage.change('odd2')).toMatchObject({ state: 'rejected', fields: { 'location-state': 'Ontario' } });
  });

  it('continues after a stop, or after its process ended, and edits each entry exactly once', async () => {
    await stage.pull(odd(7));
    const id = await start('edit', { edit: TEXAS });
    const stopping = new AbortController();
    const first = await runBulk(stage.app.db, stage.app.config, id, {
      signal: stopping.signal,
      batch: 2,
      onProgress: () => stopping.abort(),
    });
    expect(first?.bulk).toMatchObject({ state: 'open', done: 2 });
    await setBulkState(stage.app.db, id, 'stopped');
    expect((await run(id))?.acted).toEqual([]);
    await setBulkState(stage.app.db, id, 'open');
    // Two processes at once.
    const ends = await Promise.all([run(id), run(id, 1)]);
    expect(ends.flatMap((end) => end?.acted ?? [])).toHaveLength(5);
    expect(await now(id)).toMatchObject({ state: 'done', done: 7, skipped: 0 });
    expect(await audited()).toEqual(odd(7).map(({ key }) => [key, 1]));
    expect(await setBulkState(stage.app.db, id, 'open')).toBe(false);
  });

  it('whose batch fails has done nothing of that batch', async () => {
    await stage.pull(odd(3));
    const id = await start('edit', { edit: TEXAS });
    await stage.app.db.query(`create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$`);
    await stage.app.db.query('create trigger fail before insert on audit for each row execute function fail()');
    await expect(run(id)).rejects.toThrow('no');
    expect(await states()).toEqual([['rejected', 3]]);
    await stage.app.db.query('drop trigger fail on audit');
    await run(id);
    expect(await states()).toEqual([['ready', 3]]);
  });

  it('leaves alone what changed since it was selected', { tags: 'slow' }, async () => {
    await stage.pull(odd(5));
    const id = await start('edit', { edit: TEXAS });
    const { db, config } = stage.app;
    await editEntry(db, config, await stage.entry('odd0'), { 'location-state': 'Puebla' }, acting);
    await actOnEntries(db, config, 'discard', [{ ids: [await stage.entry('odd1')] }], acting);
    await stage.pull([...odd(5).slice(0, 2), posting('odd2', { state: 'Yukon' }), posting('odd3'), ...odd(5).slice(4)]);
    await run(id, 10);
    expect(await now(id)).toMatchObject({ done: 1, skipped: 4 });
    expect(await skipped(id)).toEqual([{ message: 'it has changed since it was selected', count: 4 }]);
    expect((await stage.change('odd0'))?.fields).toMatchObject({ 'location-state': 'Puebla' });
    expect((await stage.change('odd1'))?.state).toBe('discarded');
    expect((await stage.change('odd2'))?.fields).toMatchObject({ 'location-state': 'Yukon' });
    expect((await stage.change('odd4'))?.fields).toMatchObject({ 'location-state': 'Texas' });
  });

  it('waits for a running pull of the feed', { tags: 'slow' }, async () => {
    await stage.pull(odd(1));
    const id = await start('edit', { edit: TEXAS });
    const release = await holdPullLock(stage.app.db, acme);
    const waited: (string | undefined)[] = [];
    const ended = await runBulk(stage.app.db, stage.app.config, id, {
      signal: goOn,
      onProgress: (_, waitsFor) => {
        waited.push(waitsFor);
        if (waitsFor !== undefined) void release();
      },
    });
    expect(waited).toEqual([acme, undefined]);
    expect(ended?.bulk).toMatchObject({ done: 1 });
  });
});

it('a selection of another size than the person saw, or of none, is refused, and a field that the feed does not have', async () => {
  await stage.pull(odd(2));
  await expect(start('discard', {}, 3)).rejects.toThrow('2 entries now, not 3); look at it again. Nothing was done');
  await expect(start('retry', { query: { text: 'nothing' } })).rejects.toThrow('no entry matches');
  expect(await stage.app.db.query('select from bulk_action')).toEqual([]);
  const id = await start('edit', { edit: { set: { 'location-sate': 'Texas' } } });
  await run(id);
  expect((await skipped(id))[0]?.message).toMatch(/^feed acme has no field location-sate; fields: .*location-state/);
});

/** One entry of each kind, each in a group of its own, and a discarded one. */
async function fillReview(): Promise<void> {
  const live = postings(8);
  await stage.pull(live);
  await stage.acceptAll();
  const keyless = '<job><title>Nobody</title><state>MA</state></job>';
  const records = [
    posting('invalid', { state: 'Jalisco' }),
    ...['refused', 'failed', 'doubtful', 'dropped'].map((key) => posting(key)),
    posting('twice'),
    posting('twice', { title: 'Another' }),
  ].map(recordXml);
  await stage.pull(feedXml(live).replace('</source>', `${[...records, keyless].join('\n')}</source>`));
  await stage.fail('refused', 'rejected', 'the site refuses it');
  await stage.fail('failed', 'failed');
  await stage.fail('doubtful', 'in_doubt');
  await stage.fail('dropped', 'rejected', 'dropped');
  await actOnEntries(stage.app.db, stage.app.config, 'discard', [{ ids: [await stage.entry('dropped')] }], acting);
}

async function fillWithHeld(): Promise<void> {
  await stage.pull(postings(8));
  await stage.acceptAll();
  await stage.pull(postings(1), { percent: 10, count: 1 });
}

const NOTHING_TO_SEND = (what: string) => `${what}, so there is nothing to send: fix it at the source, or discard it`;
const UNREADABLE = NOTHING_TO_SEND('the record could not be read');
const DUPLICATE = NOTHING_TO_SEND('the record repeats a key');
const RECORD = 'it is a record that did not become a posting, so there is nothing to edit';
const DOUBT = 'the site may have made the job: check there';
const RULE = 'it breaks a rule of the site, so sending it again would not help';

// What each action does to a group of each kind: the new state, or why the entries are left alone.
const TABLE: readonly (readonly [BulkKind, EntryQuery['text'] & string, string])[] = [
  ['edit', 'invalid', 'ready'],
  ['edit', 'refused', 'ready'],
  ['edit', 'failed', 'ready'],
  ['edit', 'doubtful', DOUBT],
  ['edit', 'twice', RECORD],
  ['edit', 'nobody', RECORD],
  ['retry', 'invalid', RULE],
  ['retry', 'refused', 'ready'],
  ['retry', 'failed', 'ready'],
  ['retry', 'doubtful', DOUBT],
  ['retry', 'twice', DUPLICATE],
  ['retry', 'nobody', UNREADABLE],
  ['discard', 'invalid', 'discarded'],
  ['discard', 'refused', 'discarded'],
  ['discard', 'failed', 'discarded'],
  ['discard', 'doubtful', 'the site may have made the job, so it is never discarded: check there'],
  ['discard', 'twice', 'discarded'],
  ['discard', 'nobody', 'discarded'],
  ['approve', 'invalid', 'it is rejected, not held'],
  ['approve', 'failed', 'it is failed, not held'],
  ['approve', 'doubtful', DOUBT],
  ['approve', 'twice', DUPLICATE],
  ['approve', 'nobody', UNREADABLE],
  ['reopen', 'dropped', 'rejected'],
];

describe('a group', () => {
  it('of each kind takes each action that its state allows, and no other', { tags: 'slow' }, async () => {
    for (const action of new Set(TABLE.map(([each]) => each))) {
      await stage.close();
      stage = await openStage();
      await fillReview();
      // A filter selects no entry of a kind that the action is not for, but a person can name it.
      await foldReviewCounts(stage.app.db);
      for (const [, text, effect] of TABLE.filter(([each]) => each === action)) {
        // The record without a key is found by its kind.
        const found = text === 'nobody' ? { kinds: ['unreadable'] as const } : { text };
        const { entries } = await reviewPage(stage.app.db, { ...found, discarded: action === 'reopen' }, 2);
        const query = { ids: entries.map(({ id }) => id) };
        const edit = { set: { title: 'Edited', 'location-state': 'Texas' } };
        const id = await start(action, { query, ...(action === 'edit' ? { edit } : {}) }, 1);
        const [before] = await stage.app.db.query<{ entry: number }>(
          'select entry, group_id from bulk_entry where bulk = $1',
          [id],
        );
        await run(id);
        const [state] = await stage.app.db.query<{ state: string }>(
          `select state from change where id = $1
           union all select case when discarded then 'discarded' else kind end from record_problem where id = $1`,
          [before?.entry],
        );
        const [left] = await skipped(id);
        expect([action, text, left?.message ?? state?.state]).toEqual([action, text, effect]);
        expect(await now(id)).toMatchObject(left === undefined ? { done: 1, skipped: 0 } : { done: 0, skipped: 1 });
        const [audits] = await stage.app.db.query(`select count(*) as n from audit where detail->>'bulk' = $1`, [id]);
        expect(audits).toEqual({ n: left === undefined ? 1 : 0 });
      }
    }
  });

  it('of held deletes is approved or discarded as a whole, with the reason in the audit', {
    tags: 'slow',
  }, async () => {
    await fillWithHeld();
    const approve = await start('approve', { query: { kinds: ['held'] } }, 7);
    await run(approve, 3);
    expect(await now(approve)).toMatchObject({ done: 7, skipped: 0 });
    expect(await states()).toEqual([['ready', 7]]);
    const approved = await stage.app.db.query('select distinct approved from change');
    expect(approved).toEqual([{ approved: true }]);
    await stage.close();
    stage = await openStage();
    await fillWithHeld();
    await run(await start('discard', { query: { kinds: ['held'] }, reason: 'still open' }, 7), 3);
    expect(await states()).toEqual([['discarded', 7]]);
    const reasons = await stage.app.db.query(`select distinct detail->>'reason' as reason from audit`);
    expect(reasons).toEqual([{ reason: 'still open' }]);
    await run(await start('reopen', {}, 7), 3);
    expect(await states()).toEqual([['held', 7]]);
  });
});
