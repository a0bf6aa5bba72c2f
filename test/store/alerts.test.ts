// Alerts in the database under concurrency: one message per change of state, one sender per message.
import { expect, it } from 'vitest';
import type { Database } from '../../src/store/postgres/database.ts';
import { changeAlerts } from '../../src/store/status/open-alerts.ts';
import { claimMessage, listUndelivered, noteDelivered, noteFailed } from '../../src/store/status/outbox.ts';
import { forgetOldRows } from '../../src/store/status/retention.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('test', { max: 8 }, (opened) => {
  db = opened;
});

const paused = { kind: 'paused', subject: 'site board' };
const ALONE = {
  evaluator: '1',
  repeated: [],
  lowered: [],
  confirmed: [],
  unknown: [],
  repeatedPayload: () => ({ n: 3 }),
};
const change = (opened: readonly (typeof paused)[], ended: readonly (typeof paused)[], evaluator = '1') =>
  changeAlerts(db, 'ops', {
    ...ALONE,
    evaluator,
    opened,
    ended,
    openedPayload: () => ({ n: 1 }),
    endedPayload: () => ({ n: 2 }),
  });
const messages = async () =>
  (await db.query<{ payload: { n: number } }>('select payload from alert_message order by seq')).map(
    ({ payload }) => payload.n,
  );
const EIGHT = Array.from({ length: 8 });

it('whoever records a change of state writes its message, nobody else', async () => {
  const opened = await Promise.all(EIGHT.map(() => change([paused], [])));
  expect(opened.sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  const ended = await Promise.all(EIGHT.map(() => change([], [paused])));
  expect(ended.sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  expect(await messages()).toEqual([1, 2]);
});

it('a state and its message are recorded together, or neither is', async () => {
  const failing = changeAlerts(db, 'ops', {
    ...ALONE,
    opened: [paused],
    ended: [],
    openedPayload: () => {
      throw new Error('the process dies here');
    },
    endedPayload: () => undefined,
  });
  await expect(failing).rejects.toThrow('the process dies here');
  expect(await change([paused], [])).toBe(1);
});

it('an alert is told again once, by whoever records it', async () => {
  await change([paused], []);
  const again = () =>
    changeAlerts(db, 'ops', {
      ...ALONE,
      opened: [],
      ended: [],
      repeated: [{ alert: { ...paused, count: 5 }, messages: 1 }],
      openedPayload: () => ({ n: 1 }),
      endedPayload: () => ({ n: 2 }),
    });
  const told = await Promise.all(EIGHT.map(again));
  expect(told.sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  expect(await messages()).toEqual([1, 3]);
});

it('an alert ends when no live evaluator sees it any more, whoever opened it', async () => {
  await change([paused], [], '1');
  await change([paused], [], '2');
  const session = await db.session();
  await session.query('select pg_advisory_lock(2)');
  // Also of an evaluator that has no part in it.
  for (const evaluator of ['1', '3']) expect(await change([], [paused], evaluator)).toBe(0);
  await session.query('select pg_advisory_unlock(2)');
  expect(await change([], [paused], '1')).toBe(1);
  await session.end();
});

it("a message that one process is claiming is no other process's", async () => {
  await db.query(`insert into alert_message (destination, payload) select 'ops', '{}' from generate_series(1, 2)`);
  await db.transaction(async (tx) => {
    const first = await claimMessage(tx, 'ops', 'alert');
    const second = await claimMessage(db, 'ops', 'alert');
    expect(second?.id).not.toBe(first?.id);
    expect(second).toBeDefined();
    expect(await claimMessage(db, 'ops', 'alert')).toBeUndefined();
  });
});

it('undelivered events of postings are kept for a week, alerts for longer', async () => {
  for (const topic of ['alert', 'posting'])
    for (const state of ['pending', 'dead', 'delivered'])
      for (const days of [0, 2, 8])
        await db.query(
          `insert into alert_message (destination, topic, state, payload, created_at)
           values ('ops', $1, $2, jsonb_build_object('days', $3::int), now() - make_interval(days => $3))`,
          [topic, state, days],
        );
  const days = { requests: 90, failures: 90, audit: 90, pulls: 90, undo: 30 };
  await forgetOldRows(db, days, new AbortController().signal);
  const kept = await db.query<{ kept: string }>(
    `select topic || ' ' || state || ' ' || (payload->>'days') as kept from alert_message order by seq`,
  );
  expect(kept.map((row) => row.kept)).toEqual([
    ...['alert pending 0', 'alert pending 2', 'alert pending 8', 'alert dead 0', 'alert dead 2', 'alert dead 8'],
    ...['alert delivered 0', 'alert delivered 2', 'posting pending 0', 'posting pending 2'],
    ...['posting dead 0', 'posting dead 2', 'posting delivered 0'],
  ]);
});

it('lists alerts before events of postings', async () => {
  await db.query(
    `insert into alert_message (destination, topic, payload) select 'hr', 'posting', '{}' from generate_series(1, 5)`,
  );
  await db.query(
    `insert into alert_message (destination, state, payload) values ('ops', 'dead', '{}'), ('ops', 'pending', '{}')`,
  );
  const listed = await listUndelivered(db, 3);
  expect(listed.map(({ destination, state }) => `${destination} ${state}`)).toEqual([
    'ops pending',
    'ops dead',
    'hr pending',
  ]);
});

it('a late failure leaves the message to the process that has taken it over', async () => {
  await change([paused], []);
  const first = await claimMessage(db, 'ops', 'alert');
  await db.query(`update alert_message set not_before = now(), claimed_until = now()`);
  const second = await claimMessage(db, 'ops', 'alert');
  await noteFailed(db, first ?? { id: '', claim: '' }, 'no answer in time', 0);
  expect(await claimMessage(db, 'ops', 'alert')).toBeUndefined();
  await noteFailed(db, second ?? { id: '', claim: '' }, 'it answered 503', 0);
  expect((await claimMessage(db, 'ops', 'alert'))?.attempt).toBe(3);
});

it('a message keeps the recipients that have not got it, over attempts that reach nobody', async () => {
  await change([paused], []);
  const claim = async () => {
    const message = await claimMessage(db, 'ops', 'alert');
    if (message === undefined) throw new Error('nothing is due');
    return message;
  };
  const first = await claim();
  expect(first.left).toBeNull();
  await noteFailed(db, first, 'refused 1 of 2 recipients for now', 0, ['new@example.com']);
  await noteFailed(db, await claim(), 'no answer in time', 0);
  expect((await claim()).left).toEqual(['new@example.com']);
});

it('a late failure does not undo a delivery', async () => {
  await change([paused], []);
  const message = await claimMessage(db, 'ops', 'alert');
  const { id, claim } = message ?? { id: '', claim: '' };
  await noteDelivered(db, id);
  await noteFailed(db, { id, claim }, 'no answer in time', 5_000);
  const [row] = await db.query<{ state: string }>('select state from alert_message');
  expect(row?.state).toBe('delivered');
});
