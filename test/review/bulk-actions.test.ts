// Retry, approve and discard: on entries and on feeds, in one transaction, with audit, and never on changes in flight.
import { describe, expect, it } from 'vitest';
import { selectEntries } from '../../src/cli/bulk-command.ts';
import type { BulkAction } from '../../src/plan/action.ts';
import { type ActionReport, actOnEntries } from '../../src/review/act-on-entries.ts';
import { outcomeOf, outcomesOf } from '../../src/review/entry-facts.ts';
import { newestHoldReason } from '../../src/store/status/feed-overview.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, acting, openStage, said } from './stage.ts';

const stage = openedForEach(() => openStage());

type Acted = Extract<ActionReport, { kind: 'acted' }>;

const onEntries = (action: BulkAction, ids: readonly number[]) =>
  actOnEntries(stage.app.db, stage.app.config, action, [{ ids }], acting) as Promise<Acted>;
const onFeed = (action: BulkAction, expectHeld?: number) =>
  actOnEntries(stage.app.db, stage.app.config, action, [{ feed: acme }], { ...acting, seen: { count: expectHeld } });
const audit = () =>
  stage.app.db.query<{ actor: string; action: string; key: string }>(
    'select actor, action, key from audit order by key',
  );
const stateOf = async (key: string) => (await stage.change(key))?.state;

/** Ten live jobs; two of them are left in the feed. */
async function holdEight(): Promise<void> {
  await stage.pull(postings(10));
  await stage.acceptAll();
  await stage.pull(postings(2));
}

describe('retry', () => {
  it('makes rejected and failed changes ready, with all attempts and a new revision', async () => {
    await stage.pull(postings(3));
    await stage.fail('p1', 'rejected');
    await stage.fail('p2', 'failed');
    const read = () => stage.app.db.query<{ revision: number }>('select key, revision from change order by key');
    const before = await read();
    const report = await onEntries('retry', [await stage.entry('p1'), await stage.entry('p2')]);
    expect(report.entries.map(({ key, result }) => [key, result])).toEqual([
      ['p1', 'done'],
      ['p2', 'done'],
    ]);
    const after = await read();
    expect(after.slice(0, 2).every((row, at) => row.revision > Number(before[at]?.revision))).toBe(true);
    expect(await stage.change('p1')).toMatchObject({ state: 'ready', attempts: 0, reason: undefined });
    expect((await stage.claim('p1')).number).toBe(1);
    expect(await audit()).toEqual([
      { actor: 'tester', action: 'retry', key: 'p1' },
      { actor: 'tester', action: 'retry', key: 'p2' },
    ]);
  });

  it('skips changes that break a rule or are in doubt, held, waiting or in flight', { tags: 'slow' }, async () => {
    await holdEight();
    await stage.pull([
      ...postings(2),
      posting('odd', { state: 'Jalisco' }),
      ...['a', 'b', 'c'].map((key) => posting(key)),
    ]);
    await stage.fail('a', 'in_doubt');
    await stage.claim('b');
    const keys = ['odd', 'a', 'b', 'c', 'p3'];
    const ids = await Promise.all(keys.map((key) => stage.entry(key)));
    const { entries, acted } = await onEntries('retry', ids);
    expect(acted).toEqual([]);
    expect(entries.map(({ key, result, message }) => [key, result, said(message)])).toEqual([
      ['odd', 'not_applicable', expect.stringContaining(`review edit ${ids[0]} --set FIELD=VALUE`)],
      ['a', 'not_applicable', expect.stringContaining(`review settle ${ids[1]} --exists JOBID`)],
      ['b', 'not_applicable', 'it is being sent right now'],
      ['c', 'not_applicable', 'it is waiting to be sent'],
      ['p3', 'not_applicable', expect.stringContaining(`review approve ${ids[4]}`)],
    ]);
    expect(await Promise.all(keys.map(stateOf))).toEqual(['rejected', 'in_doubt', 'sending', 'ready', 'held']);
    expect(await audit()).toEqual([]);
  });

  it('applies to all eligible entries of a named feed', { tags: 'slow' }, async () => {
    await stage.pull([...postings(3), posting('odd', { state: 'Jalisco' })]);
    await stage.fail('p1', 'rejected');
    await stage.fail('p2', 'failed');
    await stage.fail('p3', 'in_doubt');
    const report = (await onFeed('retry')) as Acted;
    expect(report.feeds).toEqual([
      {
        feed: 'acme',
        done: 2,
        message: '2 ready to be sent again; 1 not retried: content that breaks rules of the site',
      },
    ]);
    expect(report.entries).toEqual([]);
    expect((await onFeed('retry')) as Acted).toMatchObject({
      feeds: [{ done: 0, message: expect.stringContaining('nothing to retry') }],
    });
  });
});

describe('approve', () => {
  it('makes held deletes ready, and the guard counts none of them', async () => {
    await holdEight();
    expect(await onFeed('approve')).toMatchObject({ feeds: [{ feed: 'acme', done: 8 }] });
    expect(await stage.change('p3')).toMatchObject({ state: 'ready', approved: true });
    expect((await audit()).length).toBe(8);
    await stage.acceptAll();
    const [counts] = await stage.app.db.query(
      'select (select count(*) from mapping) as live, (select count(*) from deletion) as counted',
    );
    expect(counts).toEqual({ live: 2, counted: 0 });
  });

  it('lifts the hold of the feed once nothing is held', { tags: 'slow' }, async () => {
    await holdEight();
    const holds = async () => (await newestHoldReason(stage.app.db, acme)) !== undefined;
    await onEntries('approve', [await stage.entry('p3')]);
    expect(await holds()).toBe(true);
    await onFeed('approve');
    expect(await holds()).toBe(false);
  });

  it('refuses if more or fewer are held than the person saw', async () => {
    await holdEight();
    for (const expected of [7, 9]) {
      const report = await onFeed('approve', expected);
      expect(report.kind === 'refused' && said(report.message)).toBe(
        `the selection has changed since you saw it (8 entries now, not ${expected}); look at it again. Nothing was done.\n  acme: 8 held`,
      );
    }
    expect(await stateOf('p3')).toBe('held');
    expect(await onFeed('approve', 8)).toMatchObject({ kind: 'acted', feeds: [{ done: 8 }] });
  });

  it('approves nothing but held deletes', { tags: 'slow' }, async () => {
    await stage.pull(postings(2));
    await stage.acceptAll();
    await stage.pull([posting('p1'), posting('odd', { state: 'Jalisco' })]);
    await stage.fail('p2', 'rejected');
    const ids = [await stage.entry('odd'), await stage.entry('p2')];
    expect((await onEntries('approve', ids)).entries.map(({ key, message }) => [key, message])).toEqual([
      ['odd', 'it is rejected, not held'],
      ['p2', 'it is rejected, not held'],
    ]);
    expect((await onFeed('approve')) as Acted).toMatchObject({ acted: [], feeds: [{ done: 0 }] });
    expect(await stateOf('p2')).toBe('rejected');
  });

  it('skips a posting that has come back meanwhile', { tags: 'slow' }, async () => {
    await holdEight();
    const id = await stage.entry('p3');
    await stage.pull([...postings(2), posting('p3', { title: 'Back' })]);
    expect(await onEntries('approve', [id])).toMatchObject({
      entries: [{ key: 'p3', result: 'not_applicable', message: 'it is waiting to be sent' }],
    });
    expect(await stage.change('p3')).toMatchObject({ desired: 'present', approved: false });
  });
});

describe('discard', () => {
  it('keeps a held job live, through later pulls too, until its posting comes back', async () => {
    await holdEight();
    await onEntries('discard', [await stage.entry('p3')]);
    const { pull } = await stage.pull(postings(2));
    expect(await stateOf('p3')).toBe('discarded');
    expect((await stage.entries()).some((entry) => entry.key === 'p3')).toBe(false);
    expect(pull).toBeGreaterThan(0);
    await stage.pull([...postings(2), posting('p3', { title: 'Back' })]);
    expect(await stage.change('p3')).toMatchObject({ state: 'ready', desired: 'present', operation: 'update' });
  });

  it('leaves a rejection alone until the posting changes', async () => {
    await stage.pull([posting('odd', { state: 'Jalisco' })]);
    await onEntries('discard', [await stage.entry('odd')]);
    await stage.pull([posting('odd', { state: 'Jalisco' }), posting('p1')]);
    expect(await stateOf('odd')).toBe('discarded');
    expect(await stage.entries()).toEqual([]);
    await stage.pull([posting('odd', { state: 'Ohio' }), posting('p1')]);
    expect(await stateOf('odd')).toBe('ready');
  });

  it('excludes an unreadable record: the feed counts as complete without it', async () => {
    const broken = feedXml([posting('p1')]).replace('</source>', '<job><title>Nobody</title></job></source>');
    expect(await stage.pull(broken)).toMatchObject({ complete: false });
    const [entry] = await stage.entries();
    expect(await onEntries('discard', [entry?.id ?? 0])).toMatchObject({ entries: [{ result: 'done', key: null }] });
    expect(await stage.pull(broken)).toMatchObject({ complete: true });
    expect(await stage.entries()).toEqual([]);
  });

  it('skips doubts, and says how to resolve them', async () => {
    await stage.pull(postings(2));
    await stage.fail('p1', 'in_doubt');
    await stage.fail('p2', 'failed');
    const id = await stage.entry('p1');
    const { entries } = await onEntries('discard', [id]);
    expect(entries).toMatchObject([{ result: 'not_applicable' }]);
    expect(entries.map(({ message }) => said(message))).toEqual([
      expect.stringContaining(`review settle ${id} --missing`),
    ]);
    expect(((await onFeed('discard')) as Acted).feeds).toEqual([
      {
        feed: 'acme',
        done: 1,
        message: '1 discarded (1 failed); 1 not discarded: in doubt, to be resolved instead',
        kinds: { failed: 1 },
      },
    ]);
    expect(await stateOf('p1')).toBe('in_doubt');
  });
});

describe('selectEntries', () => {
  it('selects each name once, and names every unknown entry and feed', async () => {
    await stage.pull(postings(1));
    const id = String(await stage.entry('p1'));
    expect(await selectEntries(stage.app.db, stage.app.config, [id, 'acme', id, 'acme'])).toEqual({
      kind: 'selected',
      queries: [{ ids: [Number(id)] }, { feed: 'acme' }],
    });
    expect(await selectEntries(stage.app.db, stage.app.config, ['99', 'acme', 'nobody'])).toEqual({
      kind: 'unknown',
      message: 'there is no open review entry 99; there is no feed nobody; feeds: acme. Nothing was done.',
    });
  });
});

describe('the outcome of entries', () => {
  it('is reported for each, and counted by feed', async () => {
    await stage.pull(postings(3));
    for (const key of ['p1', 'p2', 'p3']) await stage.fail(key, 'rejected');
    const ids = await Promise.all(['p1', 'p2', 'p3'].map((key) => stage.entry(key)));
    const { acted, entries } = await onEntries('retry', ids);
    await stage.fail('p1', 'rejected', 'still odd');
    const [waiting] = await stage.app.db.query<{ id: number }>(
      `update change set not_before = now() + interval '1 hour' where key = 'p2' returning id`,
    );
    await stage.acceptAll();
    expect(await Promise.all(entries.map((entry) => outcomeOf(stage.app.db, entry)))).toEqual([
      { outcome: 'rejected', message: 'rejected: still odd' },
      { outcome: 'ready', message: 'still to be sent' },
      { outcome: 'done', message: 'done: job job-p3 on site board is up to date' },
    ]);
    expect(waiting?.id).toBe(ids[1]);
    expect(Object.fromEntries((await outcomesOf(stage.app.db, acted)).get(acme) ?? [])).toEqual({
      done: 1,
      rejected: 1,
      ready: 1,
    });
  });
});
