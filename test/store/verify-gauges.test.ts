// What monitoring is told of verifications: when each feed was compared last, what that found, and how late the next one is.
import { expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { gaugeValues } from '../../src/runtime/http/gauges.ts';
import { endVerify, recordVerify, setVerifySchedules } from '../../src/store/feed/feed-verify.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { readGauges } from '../../src/store/status/gauges.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('file', {}, (opened) => {
  db = opened;
});

const RESULT = { jobs: 9, same: 4, changed: 2, gone: 1, foreign: 1, untold: 1, marked: 0, left: 3 };

async function samples() {
  const facts = { workers: 0, pauses: [], schedules: [], overdue: new Map(), feeds: new Map(), queues: new Map() };
  const values = gaugeValues({ ...(await readGauges(db)), ...facts });
  return Object.fromEntries(
    values.flatMap(({ name, samples: found }) =>
      name.startsWith('jobmirror_verify_')
        ? [
            [
              name.slice('jobmirror_verify_'.length),
              found.map(({ labels, value }) => [...Object.values(labels), value]),
            ],
          ]
        : [],
    ),
  );
}

it('is the last run of each feed, and the delay of the next one', async () => {
  await db.query(
    `insert into feed_state (feed, site) values ('acme', 'board'), ('byhand', 'board'), ('never', 'board')`,
  );
  expect(await samples()).toEqual({ last_run_timestamp_seconds: [], jobs: [], findings_left: [], late_seconds: [] });
  const schedule = { feed: feedName('acme'), pattern: '0 3 * * *', timeZone: 'UTC' };
  const inAnHour = (_cron: unknown, now: Date) => new Date(now.getTime() + 3_600_000);
  await setVerifySchedules(db, [schedule, { ...schedule, feed: feedName('never') }], inAnHour);
  await db.query(`update feed_verify set run_by = 7, due_at = now() - interval '2 hours' where feed = 'acme'`);
  expect((await samples()).late_seconds?.toSorted()).toEqual([
    ['acme', expect.closeTo(7200, -2)],
    ['never', 0],
  ]);
  await endVerify(db, 7, schedule, RESULT, inAnHour);
  await recordVerify(db, feedName('byhand'), { ...RESULT, left: 0 });
  const told = await samples();
  const now = Date.now() / 1000;
  expect(told.last_run_timestamp_seconds?.toSorted()).toEqual([
    ['acme', expect.closeTo(now, -2)],
    ['byhand', expect.closeTo(now, -2)],
  ]);
  expect(told.findings_left?.toSorted()).toEqual([
    ['acme', 3],
    ['byhand', 0],
  ]);
  expect(told.jobs?.filter(([feed]) => feed === 'acme')).toEqual([
    ['acme', 'same', 4],
    ['acme', 'changed', 2],
    ['acme', 'gone', 1],
    ['acme', 'foreign', 1],
    ['acme', 'untold', 1],
  ]);
  // No schedule, so no delay.
  expect(told.late_seconds?.toSorted()).toEqual([
    ['acme', 0],
    ['never', 0],
  ]);
});
