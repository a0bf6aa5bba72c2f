// Entries of postings that have left their feed: nothing is sent for them until they are back.
import { afterEach, expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import { postingKey } from '../../src/posting/identifiers.ts';
import { actOnEntries, type NamedQuery } from '../../src/review/act-on-entries.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { editEntry, editPosting, undoEdits } from '../../src/review/edit-posting.ts';
import { addRule, applyRules } from '../../src/review/rules.ts';
import { skippedOfBulk } from '../../src/store/review/bulk-actions.ts';
import { posting } from '../support/indeed-feed.ts';
import { acme, acting, openStage, type Stage, said } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const MISSING = 'the feed no longer has it, so nothing is sent for it';
const other = posting('p2');
const feed = [posting('p1', { title: 'Chef' }), other];
const goOn = new AbortController().signal;

/** An update that the site has refused. */
async function rejected(): Promise<number> {
  await stage.pull([posting('p1', { title: 'Nurse' }), other]);
  await stage.acceptAll();
  await stage.pull(feed);
  await stage.fail('p1', 'rejected');
  return stage.entry('p1');
}

/** The same of a posting that has left a feed which deletes nothing. */
async function missing(): Promise<number> {
  stage = await openStage({ feed: { policy: 'upsert_only' } });
  const entry = await rejected();
  await stage.pull([other]);
  expect(await stage.change('p1')).toMatchObject({ state: 'rejected', missing: true });
  return entry;
}

it('they are not edited', async () => {
  const entry = await missing();
  const report = await editEntry(stage.app.db, stage.app.config, entry, { title: 'Cook' }, acting);
  expect(report.kind === 'refused' && said(report.message)).toBe(MISSING);
  expect(await stage.change('p1')).toMatchObject({ state: 'rejected', fields: { title: 'Chef' } });
});

it('an edit that is undone says when the source has effect again', async () => {
  stage = await openStage({ feed: { policy: 'upsert_only' } });
  const { db, config } = stage.app;
  await stage.pull(feed);
  await stage.acceptAll();
  await editPosting(db, config, { feed: acme, key: postingKey('p1') }, { title: 'Cook' }, acting);
  await stage.acceptAll();
  await stage.pull([other]);
  expect(await undoEdits(db, acme, postingKey('p1'), acting)).toMatchObject({
    kind: 'undone',
    message: 'once the feed has the posting again, the next pull brings back what the source has',
  });
  await stage.pull(feed);
  expect((await stage.claim('p1')).request).toMatchObject({ kind: 'update', fields: { title: 'Chef' } });
});

it('they are not sent again before they are back', async () => {
  const entry = await missing();
  const retry = (query: NamedQuery) => actOnEntries(stage.app.db, stage.app.config, 'retry', [query], acting);
  expect(await retry({ ids: [entry] })).toMatchObject({ entries: [{ result: 'not_applicable', message: MISSING }] });
  expect(await retry({ feed: acme })).toMatchObject({
    feeds: [{ done: 0, message: 'nothing to retry; 1 not retried: the feed no longer has them' }],
  });
  expect(await stage.change('p1')).toMatchObject({ state: 'rejected' });
  await stage.pull(feed);
  expect(await retry({ ids: [entry] })).toMatchObject({ entries: [{ result: 'done' }] });
  expect((await stage.claim('p1')).request).toMatchObject({ kind: 'update', fields: { title: 'Chef' } });
});

it('an action on many entries leaves them alone, with the reason', async () => {
  await missing();
  const { db, config } = stage.app;
  const edit = { set: { title: 'Cook' } };
  for (const detail of [{ query: { feed: acme } }, { query: { feed: acme }, edit }]) {
    const action = 'edit' in detail ? 'edit' : 'retry';
    const start = await startBulk(db, config, { action, ...acting, detail });
    expect(start.kind === 'refused' && textOf(start.message)).toContain(`acme: 1 rejected: ${MISSING}`);
    const ids = [await stage.entry('p1')];
    const named = await startBulk(db, config, { action, ...acting, detail: { ...detail, query: { ids } } });
    if (named.kind === 'refused') throw new Error(textOf(named.message));
    const end = await runBulk(db, config, named.bulk.id, { signal: goOn });
    expect(end?.bulk).toMatchObject({ state: 'done', done: 0, skipped: 1 });
    expect(await skippedOfBulk(db, named.bulk.id)).toEqual([{ message: MISSING, count: 1 }]);
  }
});

it('a rule decides them once they are back', async () => {
  stage = await openStage({ feed: { policy: 'upsert_only' } });
  const { db, config } = stage.app;
  // A rule is about entries that come later.
  await rejected();
  const [entry] = await stage.entries();
  const rows = await db.query<{ group_id: string }>('select group_id from review_entry where id = $1', [entry?.id]);
  const request = { group: rows[0]?.group_id ?? '', feed: undefined, action: 'retry', detail: {}, ...acting } as const;
  expect(await addRule(db, request)).toMatchObject({ kind: 'done' });
  await stage.pull([posting('p1', { title: 'Nurse' }), other]);
  await stage.acceptAll();
  await stage.pull(feed);
  await stage.fail('p1', 'rejected');
  await stage.pull([other]);
  expect(await applyRules(db, config, [acme], goOn)).toEqual([]);
  await stage.pull(feed);
  expect(await applyRules(db, config, [acme], goOn)).toHaveLength(1);
  expect(await stage.change('p1')).toMatchObject({ state: 'ready', missing: false });
});
