// Scheduled runs in a process that stops: none of them keeps it alive.
import { expect, it, onTestFinished, vi } from 'vitest';
import { feedName } from '../../../src/posting/identifiers.ts';
import { nextRun } from '../../../src/runtime/schedule/next-run.ts';
import { type RunEnd, startScheduledRuns } from '../../../src/runtime/schedule/scheduled-runs.ts';
import { makeDue, setSchedules } from '../../../src/store/feed/feed-schedule.ts';
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
