// What a person has paused is not claimed, by whatever process, from the moment at which the pause is committed.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { PauseSubject } from '../../src/plan/pause-words.ts';
import { postingKey, type SiteName, siteJobId } from '../../src/posting/identifiers.ts';
import { claimer } from '../../src/store/change/claim.ts';
import { endPauseOf, listPauses, type NewPause, pauseSubject } from '../../src/store/locks/pauses.ts';
import { feedsToSend } from '../../src/store/locks/processes.ts';
import { dueOrphans, takeOrphan } from '../../src/store/site/orphan-site-jobs.ts';
import { acme, openStage, type Stage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';

const board = 'board' as SiteName;
const PAUSE: NewPause = { actor: 'ana', reason: 'the site moves', until: undefined, stopsPulls: false };

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const claim = () => claimer(stage.app.db.prepared, 1, new Map())({ feed: acme, key: postingKey('a') });
const pause = (subject: PauseSubject, change: Partial<NewPause> = {}) =>
  stage.app.db.transaction((tx) => pauseSubject(tx, subject, { ...PAUSE, ...change }));

it.each([
  ['everything', {}],
  ['the site', { site: board }],
  ['the feed', { feed: acme }],
])('claims nothing while %s is paused, and all of it afterwards', async (_, subject) => {
  const { db } = stage.app;
  await stage.pull([posting('a')]);
  await pause({ site: 'other' as SiteName });
  await pause(subject);
  expect(await claim()).toEqual({ kind: 'not_due' });
  expect(await feedsToSend(db, board, [acme])).toEqual([]);
  expect(await endPauseOf(db, subject)).toMatchObject({ ...PAUSE, ...subject });
  expect(await feedsToSend(db, board, [acme])).toEqual([acme]);
  expect(await claim()).toMatchObject({ kind: 'attempt' });
  expect(await endPauseOf(db, subject)).toBeUndefined();
});

it('ends by itself at its time, which a later pause may change', async () => {
  const { db } = stage.app;
  await stage.pull([posting('a')]);
  const first = await pause({ feed: acme }, { until: new Date(Date.now() + 3_600_000) });
  const second = await pause({ feed: acme }, { reason: undefined, stopsPulls: true });
  expect(second).toEqual({ ...first, reason: undefined, until: undefined, stopsPulls: true });
  expect(await claim()).toEqual({ kind: 'not_due' });
  await db.query("update pause set until = now() - interval '1 second'");
  expect(await listPauses(db)).toEqual([]);
  expect(await claim()).toMatchObject({ kind: 'attempt' });
  expect((await pause({ feed: acme })).since.getTime()).toBeGreaterThan(first.since.getTime());
});

it('a claim that begins while the pause commits waits for it, and then sees it', async () => {
  const { db } = stage.app;
  await stage.pull([posting('a')]);
  await db.query(`insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '7', 'acme', 'b')`);
  const orphan = siteJobId('7');
  expect(await dueOrphans(db, board, 1)).toEqual([orphan]);
  const at = { site: board, address: 'https://jobs.example.com' };
  const settled: string[] = [];
  const noting = <T>(name: string, work: Promise<T>) => work.finally(() => settled.push(name));
  const [claimed, taken] = await db
    .transaction(async (tx) => {
      await pauseSubject(tx, { site: board }, PAUSE);
      const begun = [noting('claim', claim()), noting('orphan', takeOrphan(db, at, orphan, 60_000))] as const;
      // Both statements are waiting for the lock of this transaction.
      await vi.waitFor(async () => expect(await waiting()).toBe(2), { timeout: 30_000 });
      expect(settled).toEqual([]);
      return { begun };
    })
    .then(({ begun }) => Promise.all(begun));
  expect([claimed, taken]).toEqual([{ kind: 'not_due' }, false]);
  expect(await dueOrphans(db, board, 1)).toEqual([]);
});

async function waiting(): Promise<number> {
  const rows = await stage.app.db.query(
    `select from pg_locks where not granted and relation = 'send_gate'::regclass
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows.length;
}
