// What a person has paused is not claimed, by whatever process, from the moment at which the pause is committed.
import { expect, it, vi } from 'vitest';
import { readUntilPaused } from '../../src/apply/maintain-backlog.ts';
import type { PauseSubject } from '../../src/plan/pause-words.ts';
import { type FeedName, postingKey, type SiteName, siteJobId } from '../../src/posting/identifiers.ts';
import { createClaimer, renewAttempt } from '../../src/store/change/claim.ts';
import { endPauseOf, joinPauses, listPauses, type NewPause, pauseSubject } from '../../src/store/locks/pauses.ts';
import { feedsToSend } from '../../src/store/locks/processes.ts';
import { dueOrphans, takeOrphan } from '../../src/store/site/orphan-site-jobs.ts';
import { acme, openStage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const board = 'board' as SiteName;
const PAUSE: NewPause = { actor: 'ana', reason: 'the site moves', until: undefined, stopsPulls: false };

const stage = openedForEach(() => openStage());

const claim = () => createClaimer(stage.app.db.prepared, 1, new Map())({ feed: acme, key: postingKey('a') });
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
  expect(second).toEqual({ ...first, id: second.id, reason: undefined, until: undefined, stopsPulls: true });
  expect(second.id).toBeGreaterThan(first.id);
  expect(await claim()).toEqual({ kind: 'not_due' });
  // Begun an hour before, so that the next one can be told from it in any millisecond.
  await db.query("update pause set since = since - interval '1 hour', until = now() - interval '1 second'");
  expect(await listPauses(db)).toEqual([]);
  expect(await claim()).toMatchObject({ kind: 'attempt' });
  const third = await pause({ feed: acme });
  expect(third.since.getTime()).toBeGreaterThanOrEqual(first.since.getTime());
  expect(third.id).toBeGreaterThan(second.id);
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

it('a pause does not wait for a dump of the database, nor does what is sent', async () => {
  await stage.pull([posting('a'), posting('b')]);
  await stage.app.db.transaction(async (tx) => {
    // What pg_dump holds until it ends.
    await tx.query('lock table send_gate, pause in access share mode');
    await pause({ site: 'other' as SiteName });
    expect(await claim()).toMatchObject({ kind: 'attempt' });
  });
});

it('an attempt that has asked for its job is not renewed once it is paused', async () => {
  const { db } = stage.app;
  await stage.pull([posting('a')]);
  const claimed = await claim();
  if (claimed.kind !== 'attempt') throw new Error('nothing was claimed');
  expect(await renewAttempt(db, claimed.attempt)).toBe(true);
  await pause({ feed: acme });
  expect(await renewAttempt(db, claimed.attempt)).toBe(false);
});

it.each([
  ['neither ends', undefined, undefined, undefined],
  ['one ends', undefined, 1, undefined],
  ['both end', 1, 2, 2],
])('joins the pauses of two feeds of which %s, and leaves out one that is over', async (_, first, second, joined) => {
  const { db } = stage.app;
  const at = (hours: number | undefined) =>
    hours === undefined ? undefined : new Date(2_000_000_000_000 + hours * 3_600_000);
  const other = 'globex' as FeedName;
  await pause({ feed: acme }, { until: at(first) });
  await pause({ feed: other }, { until: at(second), stopsPulls: true });
  await db.transaction((tx) => joinPauses(tx, acme, other));
  expect(await listPauses(db)).toMatchObject([{ feed: acme, until: at(joined), stopsPulls: true }]);
  await pause({ feed: other });
  await db.query("update pause set until = now() - interval '1 second' where feed = $1", [acme]);
  await db.transaction((tx) => joinPauses(tx, acme, other));
  expect(await listPauses(db)).toMatchObject([{ feed: other }]);
});

it('ends a reading of the site soon after a pause, and nothing else does', async () => {
  const { db, log } = stage.app;
  const context = { db, site: board, log };
  const { signal } = new AbortController();
  expect(await readUntilPaused(context, signal, async () => 7)).toEqual({ kind: 'done', result: 7 });
  const reading = readUntilPaused(
    context,
    signal,
    (ends) => new Promise((_resolve, reject) => ends.addEventListener('abort', () => reject(ends.reason))),
  );
  await pause({ site: board });
  expect(await reading).toEqual({ kind: 'paused' });
  await expect(readUntilPaused(context, signal, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
});

async function waiting(): Promise<number> {
  const rows = await stage.app.db.query(
    `select from pg_locks where not granted and relation = 'send_gate'::regclass
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows.length;
}
