// Rules: new entries of a group are decided without asking again, each of them once, and never a delete or a doubt.
import { describe, expect, it } from 'vitest';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { type BulkRequest, startBulk } from '../../src/review/bulk/start-bulk.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { listGroups } from '../../src/review/list-groups.ts';
import { addRule, applyRules, endRuleOf, type RuleRequest, startRules } from '../../src/review/rules.ts';
import { startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import type { EntryKind } from '../../src/store/backlog/open-counts.ts';
import { findRule } from '../../src/store/review/rules.ts';
import { forgetOldRows } from '../../src/store/status/retention.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, acting, openStage } from './stage.ts';

const stage = openedForEach(() => openStage());

const goOn = new AbortController().signal;
const TEXAS = { set: { 'location-state': 'Texas' } };
const odd = (key: string, state = 'Jalisco') => posting(key, { state });
const apply = () => applyRules(stage.app.db, stage.app.config, [acme], goOn);
const stateOf = async (key: string) => (await stage.change(key))?.state;

async function groupOf(kind: EntryKind): Promise<string> {
  const [group] = await listGroups(stage.app.db, { kinds: [kind] }, { groups: 1, values: 1 });
  if (group === undefined) throw new Error(`nothing is ${kind}`);
  return group.id;
}

const add = async (request: Partial<RuleRequest>) =>
  addRule(stage.app.db, {
    group: request.group ?? (await groupOf('rejected')),
    feed: undefined,
    action: 'edit',
    detail: { edit: TEXAS },
    actor: 'ann',
    ...request,
  });

async function rule(request: Partial<RuleRequest> = {}): Promise<number> {
  const made = await add(request);
  if (made.kind !== 'done') throw new Error(made.message);
  return made.rule.id;
}

const counted = async (id: number) => {
  const { done, leftAlone } = (await findRule(stage.app.db, id)) ?? {};
  return { done, leftAlone };
};
const audited = (key: string) =>
  stage.app.db.query('select actor, action, detail from audit where key = $1 order by id', [key]);

describe('a rule', () => {
  it('edits entries that come later, through a bulk action in the name of its maker, and leaves those that waited', async () => {
    await stage.pull([odd('a')]);
    const id = await rule();
    expect(await apply()).toEqual([]);
    await stage.pull([odd('a'), odd('b'), odd('c', 'Sonora'), posting('fine')]);
    expect((await apply()).map((entry) => entry.id).sort()).toEqual([await stage.entry('b'), await stage.entry('c')]);
    expect([await stateOf('a'), await stateOf('b'), await stateOf('c')]).toEqual(['rejected', 'ready', 'ready']);
    const [bulk] = await stage.app.db.query<{ id: number }>('select id, rule, actor, state, done from bulk_action');
    expect(bulk).toMatchObject({ rule: id, actor: 'ann', state: 'done', done: 2 });
    expect(await audited('b')).toEqual([
      {
        actor: 'ann',
        action: 'edit',
        detail: {
          entry: await stage.entry('b'),
          edits: TEXAS.set,
          former: { 'location-state': 'Jalisco' },
          bulk: bulk?.id,
          rule: id,
        },
      },
    ]);
    expect(await counted(id)).toEqual({ done: 2, leftAlone: 0 });
    // The edit lasts, and the next pull finds nothing to decide.
    await stage.pull([odd('a'), odd('b'), odd('c', 'Sonora'), posting('fine')]);
    expect(await apply()).toEqual([]);
  });

  it('decides each entry once, although the site rejects it again and again', { tags: 'slow' }, async () => {
    await stage.pull(postings(2));
    await stage.fail('p1', 'rejected', 'not today');
    const id = await rule({ action: 'retry', detail: {} });
    await stage.fail('p2', 'rejected', 'not today');
    expect(await apply()).toHaveLength(1);
    await stage.fail('p2', 'rejected', 'not today');
    expect(await apply()).toEqual([]);
    expect(await stateOf('p2')).toBe('rejected');
    expect(await counted(id)).toEqual({ done: 1, leftAlone: 0 });
    expect(await audited('p2')).toHaveLength(1);
  });

  it('does not replace what a person has set, nor discard again what a person reopened', async () => {
    const feed = [odd('a'), posting('b'), posting('c')];
    await stage.pull(feed);
    const edits = await rule();
    await stage.fail('b', 'rejected', 'bad title');
    // Moves into the group by an edit.
    await editEntry(stage.app.db, stage.app.config, await stage.entry('b'), { 'location-state': 'Puebla' }, acting);
    expect(await apply()).toEqual([]);
    expect((await stage.change('b'))?.fields).toMatchObject({ 'location-state': 'Puebla' });
    expect(await counted(edits)).toEqual({ done: 0, leftAlone: 1 });
    await endRuleOf(stage.app.db, edits, 'ann');
    await rule({ action: 'discard', detail: { reason: 'abroad' } });
    await stage.pull([...feed, odd('d')]);
    await apply();
    expect([await stateOf('b'), await stateOf('d')]).toEqual(['rejected', 'discarded']);
    expect(await audited('d')).toMatchObject([{ action: 'discard', detail: { reason: 'abroad' } }]);
    await actOnEntries(stage.app.db, stage.app.config, 'reopen', [{ ids: [await stage.entry('d')] }], acting);
    expect(await apply()).toEqual([]);
    expect(await stateOf('d')).toBe('rejected');
  });

  it('never decides a delete or a doubt', async () => {
    await stage.pull(postings(9));
    await stage.acceptAll();
    await stage.pull([...postings(2), posting('new'), posting('other')]);
    await stage.fail('new', 'in_doubt');
    await stage.fail('other', 'failed', 'no');
    for (const kind of ['held', 'in_doubt'] as const) {
      for (const action of ['retry', 'discard'] as const) {
        expect(await add({ group: await groupOf(kind), action, detail: {} })).toMatchObject({ kind: 'refused' });
      }
    }
    await rule({ group: await groupOf('failed'), action: 'retry', detail: {} });
    await stage.app.db.query(
      `update change set state = 'ready', target_state = 'ready', approved = true where key = 'p9'`,
    );
    await stage.fail('p9', 'failed', 'no');
    await expect(stage.change('p9')).resolves.toMatchObject({ state: 'failed', desired: 'absent' });
    expect(await apply()).toEqual([]);
    expect(await stateOf('p9')).toBe('failed');
  });

  it('refuses a second one for the same entries, an unknown group, and records that could not be read', {
    tags: 'slow',
  }, async () => {
    await stage.pull('<source><job><title>Nobody</title></job></source>');
    expect(await add({ group: await groupOf('unreadable'), action: 'discard', detail: {} })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('could be any posting'),
    });
    await stage.pull([odd('a')]);
    const id = await rule({ feed: acme });
    expect(await add({})).toMatchObject({ kind: 'refused', message: expect.stringContaining(`rule ${id} of ann`) });
    expect(await add({ group: 'g0000000000' })).toMatchObject({ kind: 'unknown' });
    expect(await endRuleOf(stage.app.db, id, 'ben')).toMatchObject({ kind: 'done', rule: { endedBy: 'ben' } });
    expect(await endRuleOf(stage.app.db, id, 'ann')).toMatchObject({ kind: 'refused' });
    await stage.pull([odd('a'), odd('b')]);
    expect(await apply()).toEqual([]);
    await rule();
  });
});

describe('the processes', () => {
  it('that apply a rule at once decide each entry once', { tags: 'slow' }, async () => {
    await stage.pull([odd('a')]);
    await rule({ action: 'discard', detail: {} });
    await stage.pull([odd('a'), ...Array.from({ length: 20 }, (_, at) => odd(`n${at}`))]);
    const ends = await Promise.all([apply(), apply(), apply()]);
    expect(ends.flat()).toHaveLength(20);
    const [row] = await stage.app.db.query<{ n: number }>(`select count(*) as n from audit where action = 'discard'`);
    expect(row?.n).toBe(20);
  });

  it('continue what one of them took before it ended, also with what it had not begun', async () => {
    await stage.pull([odd('a')]);
    const id = await rule();
    await stage.pull([odd('a'), odd('b'), odd('c'), odd('d')]);
    const { db, config } = stage.app;
    // Two are taken and one of them is edited; then the process ends.
    const [bulk = 0] = await startRules(db, config, [acme], 2);
    const stopping = new AbortController();
    await runBulk(db, config, bulk, { signal: stopping.signal, batch: 1, onProgress: () => stopping.abort() });
    expect(await counted(id)).toEqual({ done: 1, leftAlone: 0 });
    await db.query(`update bulk_action set touched_at = now() - interval '1 minute'`);
    const runner = startBulkRunner(stage.app, () => undefined);
    await expect.poll(() => counted(id)).toEqual({ done: 3, leftAlone: 0 });
    await runner.stop(5_000);
    for (const key of ['b', 'c', 'd']) expect(await audited(key)).toHaveLength(1);
  });

  it('take nothing if they die while they take it', async () => {
    await stage.pull([odd('a')]);
    const id = await rule();
    await stage.pull([odd('a'), odd('b')]);
    const { db } = stage.app;
    await db.query(`create function fail() returns trigger language plpgsql as $$ begin raise 'no'; end $$`);
    await db.query('create trigger fail before insert on bulk_entry for each row execute function fail()');
    await expect(apply()).rejects.toThrow('no');
    await db.query('drop trigger fail on bulk_entry');
    await apply();
    expect(await counted(id)).toEqual({ done: 1, leftAlone: 0 });
  });

  it('leave the entries of a feed that they can not edit to others', { tags: 'slow' }, async () => {
    await stage.pull([odd('a')]);
    const id = await rule();
    await stage.pull([odd('a'), odd('b')]);
    const { db, config } = stage.app;
    expect(await startRules(db, { ...config, feeds: new Map() }, [acme])).toEqual([]);
    await apply();
    expect(await counted(id)).toEqual({ done: 1, leftAlone: 0 });
  });
});

describe('a decision that also counts for new entries', () => {
  const start = (more: Partial<BulkRequest> = {}) =>
    startBulk(stage.app.db, stage.app.config, {
      action: 'edit',
      actor: 'ann',
      detail: { query: {}, edit: TEXAS },
      alsoNew: true,
      ...more,
    });

  it('takes those that were selected by itself, and makes a rule for the others', async () => {
    await stage.pull([odd('a'), odd('b')]);
    const query = { groups: [await groupOf('rejected')] };
    const started = await start({ detail: { query, edit: TEXAS } });
    if (started.kind === 'refused' || started.rule === undefined) throw new Error('refused');
    expect(await apply()).toEqual([]);
    await runBulk(stage.app.db, stage.app.config, started.bulk.id, { signal: goOn });
    await stage.pull([odd('a'), odd('b'), odd('c')]);
    expect(await apply()).toHaveLength(1);
    expect(await counted(started.rule)).toEqual({ done: 1, leftAlone: 0 });
    // Ending it stops what it has begun.
    await stage.pull([odd('a'), odd('b'), odd('c'), odd('d')]);
    const [bulk = 0] = await startRules(stage.app.db, stage.app.config, [acme]);
    await endRuleOf(stage.app.db, started.rule, 'ben');
    expect(await runBulk(stage.app.db, stage.app.config, bulk, { signal: goOn })).toMatchObject({ acted: [] });
    await forgetOldRows(stage.app.db, { requests: 1, failures: 1, audit: 1, pulls: 1, undo: 1 }, goOn);
    expect(await stage.app.db.query('select from rule_entry')).toEqual([]);
  });

  it('needs one group, and changes nothing without', async () => {
    await stage.pull([odd('a')]);
    const refused = await start();
    expect(refused).toMatchObject({ kind: 'refused', message: expect.stringContaining('one group') });
    const groups = [await groupOf('rejected')];
    expect(await start({ detail: { query: { groups, text: 'a' }, edit: TEXAS } })).toMatchObject({ kind: 'refused' });
    expect(await stage.app.db.query('select from bulk_action')).toEqual([]);
  });
});
