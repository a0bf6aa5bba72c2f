// A decision about held deletes is about these deletes: later ones, and postings that came back, are left alone.
import { beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import { feedName, type SiteName, siteName } from '../../src/posting/identifiers.ts';
import { actOnEntries, presentFor, readNamed } from '../../src/review/act-on-entries.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { previewBulk, startBulk } from '../../src/review/bulk/start-bulk.ts';
import { listGroups } from '../../src/review/list-groups.ts';
import { seenIn, tokenOf } from '../../src/review/seen.ts';
import { renameFeed } from '../../src/store/mapping/rename-feed.ts';
import { skippedOfBulk } from '../../src/store/review/bulk-actions.ts';
import { holdAlso } from '../support/hold-also.ts';
import { feedXml, posting, postings, recordXml } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, acting, openStage } from './stage.ts';

const stage = openedForEach(() => openStage());
beforeEach(async () => {
  await stage.pull(postings(8));
  await stage.acceptAll();
  await pull(1);
});

const pull = (count: number) => stage.pull(postings(count), { percent: 10, count: 1 });
const HELD = { kinds: ['held'] } as const;
const ALTERED = 'it has changed since it was selected';

async function approve(batch = 2, stopAfter = 1): Promise<number> {
  const started = await startBulk(stage.app.db, stage.app.config, {
    action: 'approve',
    actor: 'ann',
    detail: { query: HELD },
    seen: { count: 7 },
  });
  if (started.kind === 'refused') throw new Error(textOf(started.message));
  let batches = 0;
  const stopping = new AbortController();
  if (stopAfter > 0)
    await runBulk(stage.app.db, stage.app.config, started.bulk.id, {
      signal: stopping.signal,
      batch,
      onProgress: () => {
        batches++;
        if (batches === stopAfter) stopping.abort();
      },
    });
  return started.bulk.id;
}
const goOn = (id: number) =>
  runBulk(stage.app.db, stage.app.config, id, { signal: new AbortController().signal, batch: 2 });
const approved = async () =>
  (await stage.app.db.query<{ key: string }>('select key from change where approved order by key')).map(
    ({ key }) => key,
  );

describe('an approval that continues after its process ended', () => {
  it('deletes no job whose posting came back, as it was or altered', async () => {
    const id = await approve();
    expect(await approved()).toEqual(['p2', 'p3']);
    await stage.pull([...postings(4), posting('p5', { title: 'Back' })], { percent: 10, count: 1 });
    expect((await goOn(id))?.bulk).toMatchObject({ state: 'done', done: 5, skipped: 2 });
    expect(await approved()).toEqual(['p6', 'p7', 'p8']);
    expect(await skippedOfBulk(stage.app.db, id)).toEqual([{ message: ALTERED, count: 2 }]);
    await stage.acceptAll();
    const jobs = await stage.app.db.query<{ key: string }>('select key from mapping order by key');
    expect(jobs.map(({ key }) => key)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
  });

  it('approves no delete that was held again after its posting had come back', async () => {
    const id = await approve();
    await pull(8);
    await pull(1);
    expect((await goOn(id))?.bulk).toMatchObject({ done: 2, skipped: 5 });
    expect(await approved()).toEqual([]);
  });

  it('approves no delete of a feed that was renamed since', { tags: 'slow' }, async () => {
    const id = await approve(2, 0);
    const { db } = stage.app;
    const [{ site } = { site: siteName('none') }] = await db.query<{ site: SiteName }>('select site from feed_state');
    const before = await listGroups(db, HELD, { groups: 1, values: 1 });
    expect(await renameFeed(db, acme, { feed: feedName('other'), site }, 'ann')).toMatchObject({ kind: 'renamed' });
    const after = await listGroups(db, HELD, { groups: 1, values: 1 });
    expect(after.map(({ count, feeds }) => [count, feeds])).toEqual([[7, [{ of: 'other', count: 7 }]]]);
    expect(after[0]?.id).not.toBe(before[0]?.id);
    expect((await goOn(id))?.bulk).toMatchObject({ done: 0, skipped: 7 });
    expect(await approved()).toEqual([]);
  });
});

describe('a discard of records that continues after its process ended', () => {
  const keyless = (title: string) => `<job><title>${title}</title><state>MA</state></job>`;
  const read = (...records: readonly string[]) =>
    stage.pull(feedXml(postings(8)).replace('</source>', `${records.join('\n')}</source>`));
  const records = () =>
    stage.app.db.query<{ id: number; excerpt: string }>('select id, discarded, excerpt from record_problem');
  async function startDiscard(): Promise<number> {
    const detail = { query: { kinds: ['unreadable'] } } as const;
    const started = await startBulk(stage.app.db, stage.app.config, {
      action: 'discard',
      actor: 'ann',
      detail,
      seen: { count: 1 },
    });
    if (started.kind === 'refused') throw new Error(textOf(started.message));
    return started.bulk.id;
  }
  const act = async (action: 'discard' | 'reopen') =>
    actOnEntries(
      stage.app.db,
      stage.app.config,
      action,
      [{ ids: (await records()).slice(0, 1).map(({ id }) => id) }],
      acting,
    );

  it('leaves an entry alone that has another record by now', async () => {
    await read(keyless('Nobody'));
    const [before] = await records();
    const id = await startDiscard();
    await read(keyless('Somebody else'));
    const [after, ...others] = await records();
    expect([after?.id, others]).toEqual([before?.id, []]);
    expect(after?.excerpt).toContain('Somebody else');
    expect((await goOn(id))?.bulk).toMatchObject({ done: 0, skipped: 1 });
    expect(await records()).toMatchObject([{ discarded: false }]);
  });

  it('leaves an entry alone that was discarded and reopened by now', { tags: 'slow' }, async () => {
    await read(keyless('Nobody'));
    const id = await startDiscard();
    await act('discard');
    await act('reopen');
    expect((await goOn(id))?.bulk).toMatchObject({ done: 0, skipped: 1 });
    expect(await records()).toMatchObject([{ discarded: false }]);
  });

  it('discards a record that only stands elsewhere in the feed', { tags: 'slow' }, async () => {
    await read(keyless('Nobody'));
    const id = await startDiscard();
    await read(recordXml(posting('another')), keyless('Nobody'));
    expect((await goOn(id))?.bulk).toMatchObject({ done: 1, skipped: 0 });
    expect(await records()).toMatchObject([{ discarded: true }]);
  });
});

describe('an approval of what was shown', () => {
  const start = (shown: Parameters<typeof tokenOf>[0]) =>
    startBulk(stage.app.db, stage.app.config, {
      action: 'approve',
      actor: 'ann',
      detail: { query: HELD },
      seen: { tokens: [tokenOf(shown)] },
    });

  it('is refused after the selection has grown, or as many others took the place of some', async () => {
    const { db, config } = stage.app;
    const preview = async () => (await previewBulk(db, config, 'approve', HELD)).selected;
    const shown = await preview();
    expect(shown).toMatchObject([{ feed: 'acme', kind: 'held', n: 7 }]);
    await holdAlso(db, 'beta', 3);
    expect(await start(shown)).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/changed since you saw it.*\n {2}acme: 7 held\n {2}beta: 3 held$/),
    });
    await db.query(`delete from change where feed = 'beta'`);
    await pull(2);
    await holdAlso(db, acme, 1);
    expect(await start(shown)).toMatchObject({ kind: 'refused' });
    await db.query(`delete from change where key like 'pother%'`);
    await pull(8);
    await pull(1);
    expect(await preview()).toMatchObject([{ feed: 'acme', kind: 'held', n: 7 }]);
    expect(await start(shown)).toMatchObject({ kind: 'refused' });
    expect(await db.query('select from bulk_action')).toEqual([]);
    expect(await start(await preview())).toMatchObject({
      kind: 'started',
      bulk: { total: 7 },
    });
  });

  it('covers one feed: held deletes of two feeds are two groups', { tags: 'slow' }, async () => {
    await holdAlso(stage.app.db, 'beta', 3);
    const groups = await listGroups(stage.app.db, HELD, { groups: undefined, values: 1 });
    expect(groups.map(({ count, feeds }) => [count, feeds])).toEqual([
      [7, [{ of: 'acme', count: 7 }]],
      [3, [{ of: 'beta', count: 3 }]],
    ]);
  });
});

it('agreeing to named deletes covers none that was not held when it was shown', async () => {
  const { db, config } = stage.app;
  const queries = [{ ids: [await stage.entry('p2'), await stage.entry('p3')] }];
  // Its attempt is under way, and it is held again once that ends.
  await db.query(`update change set state = 'ready' where key = 'p3'`);
  const seen = seenIn(await presentFor(db, config, await readNamed(db, 'approve', queries)));
  await db.query(`update change set state = 'held', since = now() where key = 'p3'`);
  expect(await actOnEntries(db, config, 'approve', queries, { actor: 'ann', seen })).toMatchObject({
    kind: 'refused',
    stale: true,
  });
  expect(await approved()).toEqual([]);
});
