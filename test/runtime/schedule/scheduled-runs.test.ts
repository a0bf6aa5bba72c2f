// Scheduled runs in a process that stops or takes another configuration over: none keeps it alive, none is lost.
import { expect, it, onTestFinished, vi } from 'vitest';
import { feedName } from '../../../src/posting/identifiers.ts';
import { nextRun } from '../../../src/runtime/schedule/next-run.ts';
import { type RunEnd, startScheduledRuns } from '../../../src/runtime/schedule/scheduled-runs.ts';
import { makeDue, nextDueInMs, setSchedules } from '../../../src/store/feed/feed-schedule.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { createTestDatabase } from '../../support/database.ts';

it('a stop leaves no timer once all runs have ended', async () => {
  const testDatabase = await createTestDatabase();
  const db = openDatabase(testDatabase.url);
  const feed = feedName('acme');
  const schedules = [{ feed, pattern: '0 3 1 1 *', timeZone: 'UTC', digest: 'one' }];
  await setSchedules(db, { worker: 1, startedAt: new Date() }, schedules, [], nextRun);
  await makeDue(db, [feed]);
  let end: (how: RunEnd) => void = () => undefined;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const run = (): Promise<RunEnd> => {
    begin();
    return new Promise((resolve) => {
      end = resolve;
    });
  };
  const onError = (error: unknown) => expect(error).toBeUndefined();
  const runs = startScheduledRuns({
    db,
    worker: 1,
    schedules,
    mostAtOnce: 1,
    run,
    onError,
    onInvalidSchedule: onError,
  });
  await begun;
  const graceMs = 87_654_321;
  const set = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  onTestFinished(() => void vi.restoreAllMocks());
  const stopped = runs.stop(graceMs);
  await vi.waitFor(() => expect(set.mock.calls.some(([, ms]) => ms === graceMs)).toBe(true), { timeout: 60_000 });
  end('over');
  await stopped;
  const timer = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === graceMs)]?.value;
  expect(cleared.mock.calls.some(([given]) => given === timer)).toBe(true);
  await db.close();
  await testDatabase.drop();
});

it.each(['ends to be started again', 'is cut off by the stop'])('a left run that %s is due at once', async (how) => {
  const testDatabase = await createTestDatabase();
  const db = openDatabase(testDatabase.url);
  const feed = feedName('acme');
  const schedules = [{ feed, pattern: '0 3 1 1 *', timeZone: 'UTC', digest: 'one' }];
  await setSchedules(db, { worker: 1, startedAt: new Date() }, schedules, [], nextRun);
  await makeDue(db, [feed]);
  let end: (how: RunEnd) => void = () => undefined;
  const onError = (error: unknown) => expect(error).toBeUndefined();
  const runs = startScheduledRuns({
    db,
    worker: 1,
    schedules,
    mostAtOnce: 1,
    run: () =>
      new Promise((resolve) => {
        end = resolve;
      }),
    onError,
    onInvalidSchedule: onError,
  });
  // In microseconds: a run may be read in the millisecond in which it became due.
  const isDue = async () => ((await nextDueInMs(db, [feed])) ?? 1) <= 0;
  await vi.waitFor(() => expect(runs.isPulling(feed)).toBe(true), { timeout: 60_000 });
  let onEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    onEnded = resolve;
  });
  await runs.leave(onEnded);
  expect(await isDue()).toBe(false);
  if (how === 'is cut off by the stop') {
    await runs.stop(0);
  } else {
    end('again');
    await ended;
    await runs.stop(60_000);
  }
  expect(await isDue()).toBe(true);
  await db.close();
  await testDatabase.drop();
});
