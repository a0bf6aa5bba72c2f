// Feed schedules in the database: whose configuration applies, who claims a run, and how runs of the dead are recovered.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { describeLate, nextRun } from '../../src/runtime/schedule/next-run.ts';
import {
  endRun,
  type FeedSchedule,
  giveBackForgotten,
  giveBackRuns,
  readSchedules,
  setSchedules,
  takeDueRuns,
} from '../../src/store/feed/feed-schedule.ts';
import { setVerifySchedules } from '../../src/store/feed/feed-verify.ts';
import { enterAsWorker, type WorkerLease } from '../../src/store/locks/processes.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const [acme, globex] = [feedName('acme'), feedName('globex')];
const noon = (feed = acme, digest = 'one'): FeedSchedule => ({ feed, pattern: '0 12 * * *', timeZone: 'UTC', digest });
const atOne = (feed = acme): FeedSchedule => ({ feed, pattern: '0 13 * * *', timeZone: 'UTC', digest: 'two' });

let testDatabase: TestDatabase;
let db: Database;
let first: WorkerLease;
let second: WorkerLease;

const enter = () => {
  const feeds = new Map([
    [acme, siteName('board')],
    [globex, siteName('board')],
  ]);
  return enterAsWorker(db, { command: 'start', host: 'here', pid: 1, parts: {}, feeds }, () => undefined);
};
const set = (who: WorkerLease, ...schedules: FeedSchedule[]) => setSchedules(db, who, schedules, [], nextRun);
const take = async (who: WorkerLease, ...schedules: FeedSchedule[]) =>
  (await takeDueRuns(db, who.worker, schedules, 10, nextRun)).map(({ feed }) => feed).sort();
const makeDue = () => db.query(`update feed_schedule set due_at = now() - interval '1 minute'`);
const patterns = async () => (await readSchedules(db)).map(({ feed, pattern }) => `${feed} ${pattern}`);

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase(testDatabase.url, { max: 2 });
  first = await enter();
  second = await enter();
});
afterEach(async () => {
  await first.leave();
  await second.leave();
  await db.close();
  await testDatabase.drop();
});

describe('schedules', () => {
  it('use their own time zones', async () => {
    await set(first, { ...noon(), timeZone: 'America/New_York' }, { ...noon(globex), timeZone: 'Asia/Kolkata' });
    const times = (await readSchedules(db)).map(({ timeZone, nextAt }) =>
      nextAt.toLocaleTimeString('en-GB', { timeZone }),
    );
    expect(times).toEqual(['12:00:00', '12:00:00']);
  });

  it('of a feed of another process are not touched', async () => {
    await set(first, noon());
    await set(second, noon(globex));
    await set(first, noon());
    expect(await patterns()).toEqual(['acme 0 12 * * *', 'globex 0 12 * * *']);
  });

  it('that the newest live process has removed are not set again by an older one', async () => {
    await set(first, noon());
    await setSchedules(db, second, [], [acme], nextRun);
    await set(first, noon());
    expect(await patterns()).toEqual([]);
    await second.leave();
    await set(first, noon());
    expect(await patterns()).toEqual(['acme 0 12 * * *']);
  });

  it('come from the newest live process if two disagree', async () => {
    await set(first, noon());
    await set(second, atOne());
    await set(first, noon());
    expect(await patterns()).toEqual(['acme 0 13 * * *']);
    await second.leave();
    await set(first, noon());
    expect(await patterns()).toEqual(['acme 0 12 * * *']);
  });

  it('end when the newest process has the feed without a schedule', async () => {
    await set(second, noon());
    await setSchedules(db, first, [], [acme], nextRun);
    expect(await patterns()).toHaveLength(1);
    await setSchedules(db, second, [], [acme], nextRun);
    expect(await patterns()).toEqual([]);
  });

  it('come from the process with the higher number of two that started in the same millisecond', async () => {
    const { startedAt } = second;
    const [lower, higher] = [
      { ...first, startedAt },
      { ...second, startedAt },
    ];
    await db.query('update process set started_at = $1', [startedAt]);
    await set(higher, noon());
    await set(lower, atOne());
    expect(await patterns()).toEqual(['acme 0 12 * * *']);
    await setSchedules(db, lower, [], [acme], nextRun);
    expect(await patterns()).toEqual(['acme 0 12 * * *']);
    await set(higher, atOne());
    expect(await patterns()).toEqual(['acme 0 13 * * *']);
    await setSchedules(db, higher, [], [acme], nextRun);
    await set(lower, noon());
    expect(await patterns()).toEqual([]);
  });
});

describe('a run', () => {
  it('that came due while no process ran is still due, once', async () => {
    await set(first, noon());
    await makeDue();
    await set(second, noon());
    expect(await take(first, noon())).toEqual(['acme']);
    await endRun(db, first.worker, acme);
    expect(await take(first, noon())).toEqual([]);
  });

  it('that was planned while the clock was ahead is due at its time again', async () => {
    await set(first, noon(), atOne(globex));
    await setVerifySchedules(db, [noon()], nextRun);
    const times = async () =>
      db.query(
        `select feed, due_at as at from feed_schedule union all select 'verify', due_at from feed_verify order by 1`,
      );
    const before = await times();
    for (const table of ['feed_schedule', 'feed_verify'])
      await db.query(`update ${table} set due_at = due_at + interval '400 days'`);
    expect(await set(first, noon(), atOne(globex))).toEqual([]);
    await setVerifySchedules(db, [noon()], nextRun);
    expect(await times()).toEqual(before);
  });

  it('stays due when the schedule changes', async () => {
    await set(first, noon());
    await makeDue();
    await set(second, atOne());
    expect(await take(second, atOne())).toEqual(['acme']);
  });

  it('is claimed by one process with the scheduled configuration', async () => {
    await set(second, atOne(), noon(globex));
    await makeDue();
    expect(await take(first, noon(), noon(globex))).toEqual(['globex']);
    expect(await take(second, atOne(), noon(globex))).toEqual(['acme']);
  });

  it('of a dead process is claimed by another one', async () => {
    await set(first, noon());
    await makeDue();
    await take(first, noon());
    expect(await take(second, noon())).toEqual([]);
    expect((await readSchedules(db))[0]).toMatchObject({ lateMs: 0, processes: 2, running: {} });
    await first.leave();
    expect((await readSchedules(db))[0]).toMatchObject({ running: undefined, processes: 1 });
    expect((await readSchedules(db))[0]?.lateMs).toBeGreaterThan(59_000);
    expect(await take(second, noon())).toEqual(['acme']);
    expect(await take(second, noon())).toEqual([]);
  });

  it('that was released, or forgotten by its process, is due as before', async () => {
    await set(first, noon(), noon(globex));
    await makeDue();
    await take(first, noon(), noon(globex));
    await giveBackRuns(db, first.worker, [acme]);
    await giveBackForgotten(db, first.worker, [globex]);
    expect(await take(second, noon(), noon(globex))).toEqual(['acme']);
    await giveBackForgotten(db, first.worker, []);
    expect(await take(second, noon(), noon(globex))).toEqual(['globex']);
    expect((await readSchedules(db)).every(({ running }) => running !== undefined)).toBe(true);
  });

  it('of a feed with an invalid stored schedule uses the configured one and reports it; other runs are claimed too', async () => {
    await set(first, noon(), noon(globex));
    await makeDue();
    await db.query(`update feed_schedule set pattern = 'every now and then' where feed = 'acme'`);
    const reported: string[] = [];
    const report = (feed: string) => reported.push(feed);
    const taken = await takeDueRuns(db, first.worker, [noon(), noon(globex)], 10, nextRun, report);
    expect(taken.map(({ feed }) => feed).sort()).toEqual(['acme', 'globex']);
    expect(reported).toEqual(['acme']);
    const [schedule] = await readSchedules(db, [acme]);
    expect(schedule?.nextAt.getUTCHours()).toBe(12);
  });

  it('of a feed without a valid schedule waits and is late for that reason; other runs are claimed', async () => {
    await set(first, noon(), noon(globex));
    await makeDue();
    const odd = { ...noon(), pattern: 'every now and then' };
    await db.query('update feed_schedule set pattern = $1 where feed = $2', [odd.pattern, acme]);
    const reported: string[] = [];
    const report = (feed: string) => reported.push(feed);
    const taken = await takeDueRuns(db, first.worker, [odd, noon(globex)], 10, nextRun, report);
    expect(taken.map(({ feed }) => feed)).toEqual(['globex']);
    expect(reported).toContain('acme');
    const [schedule = ''] = (await readSchedules(db, [acme])).map(describeLate);
    expect(textOf(schedule)).toMatch(
      /^feed acme: its run is 1 min late: in the database, the schedule "every now and then" \(UTC\) can't be read/,
    );
    expect(await setSchedules(db, first, [odd, noon(globex)], [], nextRun, report)).toEqual([]);
  });

  it('is restored to the configuration after an edit by hand', async () => {
    await set(first, noon(), noon(globex));
    await db.query(`update feed_schedule set pattern = 'every now and then' where feed = 'acme'`);
    expect(await set(first, noon(), noon(globex))).toEqual(['acme']);
    expect(await patterns()).toEqual(['acme 0 12 * * *', 'globex 0 12 * * *']);
    expect(await set(first, noon(), noon(globex))).toEqual([]);
  });
});
