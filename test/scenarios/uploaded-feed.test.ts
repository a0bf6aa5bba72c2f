// A feed that changes by upload, in each state that people, sites and pulls leave behind: a newer upload does what a file that changed does.
// @module-tag slow
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { undoPull } from '../../src/pull/undo-pull.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { readFeedState, resumeFeed } from '../../src/store/feed/feed-state.ts';
import { addUpload, restoreUpload } from '../../src/store/feed/feed-uploads.ts';
import { runProgram } from '../cli/run-program.ts';
import { acme, acting, openStage, type Stage } from '../review/stage.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';

type Medium = 'file' | 'upload';

const sourceOf = (medium: Medium) => (medium === 'upload' ? { feed: { source: 'upload://' } } : {});

/** Brings a newer file, and pulls. Each differs from all others. */
function bringing(stage: Stage, medium: Medium) {
  let files = 0;
  return async (feed: readonly TestPosting[], guard: Parameters<Stage['pull']>[1] = { percent: 100 }) => {
    files++;
    const xml = `${feedXml(feed)}<!-- ${files} -->`;
    const upload = { name: `${files}.xml`, content: Buffer.from(xml), actor: 'ada' };
    if (medium === 'upload') await stage.app.db.transaction((tx) => addUpload(tx, acme, upload));
    return stage.pull(medium === 'upload' ? 'not read' : xml, guard);
  };
}

/** What waits for each posting, and what is live. */
async function stateOf({ app: { db } }: Stage) {
  const changes = await db.query<{ key: string; state: string; operation: string; title: string | null }>(
    `select key, state, operation, fields->>'title' as title from change where feed = $1 order by key`,
    [acme],
  );
  const live = await db.query<{ key: string }>('select key from mapping where feed = $1 order by key', [acme]);
  return {
    changes: Object.fromEntries(changes.map(({ key, state, operation, title }) => [key, [state, operation, title]])),
    live: live.map(({ key }) => key),
  };
}

const STATES = ['live', 'held', 'kept', 'ready', 'rejected', 'failed', 'discarded', 'in_doubt', 'sending'] as const;
const NEXT = ['same', 'changed', 'gone'] as const;
const keysOf = (states: readonly string[]) => states.flatMap((state) => NEXT.map((next) => `${state}-${next}`));
const LIVE_BEFORE = keysOf(['live', 'held', 'kept']);
const NEW = keysOf(['ready', 'rejected', 'failed', 'discarded', 'in_doubt', 'sending']);

async function inEachState(medium: Medium) {
  const stage = await openStage(sourceOf(medium));
  try {
    const { db } = stage.app;
    const bring = bringing(stage, medium);
    const list = (keys: readonly string[]) => keys.map((key) => posting(key));
    await bring(list(['one', ...LIVE_BEFORE]));
    await stage.acceptAll();
    const second = list(['one', ...keysOf(['live']), ...NEW]);
    await bring(second, { percent: 0, count: 0 });
    for (const key of keysOf(['rejected', 'discarded'])) await stage.fail(key, 'rejected');
    for (const key of keysOf(['failed'])) await stage.fail(key, 'failed');
    for (const key of keysOf(['in_doubt'])) await stage.fail(key, 'in_doubt');
    for (const key of keysOf(['sending'])) await stage.claim(key);
    for (const key of keysOf(['discarded', 'kept'])) {
      const id = await stage.entry(key);
      await db.transaction((tx) => discardEntries(tx, [id], acting.actor));
    }
    const before = await stateOf(stage);
    const third = keysOf(STATES).flatMap((key) =>
      key.endsWith('-gone') ? [] : [posting(key, key.endsWith('-changed') ? { title: `Changed ${key}` } : {})],
    );
    const pulled = await bring([posting('one'), ...third]);
    const after = await stateOf(stage);
    // The second file again.
    if (medium === 'upload') {
      const restored = await db.transaction((tx) => restoreUpload(tx, acme, { version: 2, actor: 'ada' }));
      expect(restored).toEqual({ version: 4, isNew: true });
    }
    await stage.pull(medium === 'upload' ? 'not read' : `${feedXml(second)}<!-- 2 -->`, { percent: 0, count: 0 });
    return { before, complete: pulled.complete, after, restored: await stateOf(stage) };
  } finally {
    await stage.close();
  }
}

it('in each state of a review entry', async () => {
  const uploaded = await inEachState('upload');
  expect(uploaded).toEqual(await inEachState('file'));
  const { before, complete, after, restored } = uploaded;
  expect(complete).toBe(true);
  expect(before.changes).toMatchObject({
    'held-same': ['held', 'delete', null],
    'kept-same': ['discarded', 'delete', null],
  });
  expect(before.live).toEqual(['one', ...LIVE_BEFORE].sort());
  // What came back is compared with what the site has when it is sent: no request is made for what is the same.
  expect(after.changes).toEqual({
    'discarded-changed': ['ready', 'create', 'Changed discarded-changed'],
    'discarded-same': ['discarded', 'create', 'Nurse discarded-same'],
    'failed-changed': ['ready', 'create', 'Changed failed-changed'],
    'failed-same': ['failed', 'create', 'Nurse failed-same'],
    'held-changed': ['ready', 'update', 'Changed held-changed'],
    'held-gone': ['held', 'delete', null],
    'held-same': ['ready', 'update', 'Nurse held-same'],
    'in_doubt-changed': ['in_doubt', 'create', 'Changed in_doubt-changed'],
    'in_doubt-gone': ['in_doubt', 'delete', null],
    'in_doubt-same': ['in_doubt', 'create', 'Nurse in_doubt-same'],
    'kept-changed': ['ready', 'update', 'Changed kept-changed'],
    'kept-gone': ['discarded', 'delete', null],
    'kept-same': ['ready', 'update', 'Nurse kept-same'],
    'live-changed': ['ready', 'update', 'Changed live-changed'],
    'live-gone': ['ready', 'delete', null],
    'ready-changed': ['ready', 'create', 'Changed ready-changed'],
    'ready-same': ['ready', 'create', 'Nurse ready-same'],
    'rejected-changed': ['ready', 'create', 'Changed rejected-changed'],
    'rejected-same': ['rejected', 'create', 'Nurse rejected-same'],
    'sending-changed': ['sending', 'create', 'Changed sending-changed'],
    'sending-gone': ['sending', 'delete', null],
    'sending-same': ['sending', 'create', 'Nurse sending-same'],
  });
  // No delete of a job is sent for what a person keeps, and the newest file counts for all others.
  expect(restored.live).toEqual(before.live);
  expect(restored.changes).toMatchObject({
    'kept-gone': ['discarded', 'delete', null],
    'held-gone': ['held', 'delete', null],
    'live-gone': ['ready', 'update', 'Nurse live-gone'],
    'in_doubt-changed': ['in_doubt', 'create', 'Nurse in_doubt-changed'],
    'in_doubt-gone': ['in_doubt', 'create', 'Nurse in_doubt-gone'],
    'sending-gone': ['sending', 'create', 'Nurse sending-gone'],
    'rejected-same': ['rejected', 'create', 'Nurse rejected-same'],
    'ready-gone': ['ready', 'create', 'Nurse ready-gone'],
  });
});

async function undone(medium: Medium) {
  const stage = await openStage(sourceOf(medium));
  try {
    const { db, config } = stage.app;
    const bring = bringing(stage, medium);
    await bring(postings(3));
    await stage.acceptAll();
    const second = [posting('p1', { title: 'Wrong' }), posting('p2'), posting('p4')];
    const { pull } = await bring(second);
    await stage.acceptAll();
    const [setup] = feedSetups(config, ['acme']);
    if (setup === undefined) throw new Error('no feed');
    const currentPull = (await readFeedState(db, acme))?.currentPull;
    const end = await undoPull(setup, { db }, { ...acting, pull, keptDays: 30, currentPull });
    expect(end.kind).toBe('undone');
    const planned = await stateOf(stage);
    await stage.acceptAll();
    const back = await stateOf(stage);
    // The feed is stopped: a newer file waits until a person says that the source is right.
    const whileStopped = await bring(postings(2)).then(
      () => 'pulled',
      (error: Error) => error.message,
    );
    await db.transaction((tx) => resumeFeed(tx, acme));
    await bring([...postings(2), posting('p5')]);
    return { planned, back, whileStopped, resumed: await stateOf(stage) };
  } finally {
    await stage.close();
  }
}

it('after the undo of a pull', async () => {
  const uploaded = await undone('upload');
  expect(uploaded).toEqual(await undone('file'));
  expect(uploaded.planned.changes).toEqual({
    p1: ['ready', 'update', 'Nurse p1'],
    p3: ['ready', 'create', 'Nurse p3'],
    p4: ['ready', 'delete', null],
  });
  expect(uploaded.back).toEqual({ changes: {}, live: ['p1', 'p2', 'p3'] });
  expect(uploaded.whileStopped).toBe('the pull ended failed');
  expect(uploaded.resumed.changes).toEqual({ p3: ['ready', 'delete', null], p5: ['ready', 'create', 'Nurse p5'] });
});

describe.each([
  ['that let pulls go on', []],
  ['that stop pulls', ['--pulls']],
])('during pauses %s', (_, options) => {
  async function paused(medium: Medium) {
    const mirror = await openMirror(sourceOf(medium));
    const file = join(mirror.folder, 'newer.xml');
    const bring = async (feed: readonly TestPosting[]) => {
      await writeFile(file, feedXml(feed));
      if (medium === 'file') await mirror.writeFeed(feedXml(feed));
      else expect(await runProgram(mirror, 'feeds', 'upload', 'acme', file)).toMatchObject({ status: 0 });
    };
    const seen: [unknown, number][] = [];
    const sync = async () => {
      const [{ pending } = {}] = (await runProgram(mirror, 'sync', 'acme', '--json')).json();
      seen.push([pending, await mirror.sandbox.inspect.count()]);
    };
    try {
      await bring(postings(3));
      await sync();
      await runProgram(mirror, 'pause', 'acme', '--reason', 'a check', ...options);
      await bring(postings(4));
      await sync();
      // What came between is never sent.
      await bring([...postings(2), posting('p5')]);
      await sync();
      await runProgram(mirror, 'resume', 'acme');
      await sync();
      return { seen, jobs: [...(await mirror.siteJobs()).keys()].sort() };
    } finally {
      await mirror.close();
    }
  }

  it('the newest file counts once they end', async () => {
    const uploaded = await paused('upload');
    expect(uploaded).toEqual(await paused('file'));
    expect(uploaded.jobs).toEqual(['p1', 'p2', 'p5']);
    expect(uploaded.seen.map(([, jobs]) => jobs)).toEqual([3, 3, 3, 3]);
  });
});
