// Processes with different configurations and one alert destination: each tells of its own feeds and sites, and nothing of the
// others'.
// @module-tag slow
import { afterEach, expect, it, vi } from 'vitest';
import { evaluatorKeys } from '../../src/runtime/run-alerts.ts';
import { HELD_LOCK_KEYS } from '../../src/store/locks/processes.ts';
import { setSubscriptions } from '../../src/store/status/outbox.ts';
import {
  type Alerting,
  type AlertingProcess,
  IDLE_ALERTS,
  openAlerting,
  pauseSite,
  resumeSite,
} from '../support/alerting.ts';
import { posting, postings } from '../support/indeed-feed.ts';

let alerting: Alerting;
afterEach(() => alerting.close());

/** The configuration of another team: its feed is globex, its site second. */
const globex = (text: string): string =>
  text.replace('  board:', '  second:').replace('  acme:', '  globex:').replace('site: board', 'site: second');
const on = (kinds: string) => (text: string) => text.replace(/on: \[[^\]]*\]/, `on: [${kinds}]`);
const slower = (text: string): string => text.replace('concurrency: 8', 'concurrency: 7');

/** Waits until the process has evaluated twice more: what the first one wrote is there. */
async function evaluatesTwice({ app }: AlertingProcess): Promise<void> {
  const query = vi.spyOn(app.db, 'query');
  const evaluations = () => query.mock.calls.filter(([text]) => text.includes('from open_alert')).length;
  await expect.poll(evaluations).toBeGreaterThan(2);
  query.mockRestore();
}

it('each process tells of its own sites', async () => {
  alerting = await openAlerting();
  const [first, second] = [await alerting.process(), await alerting.process(globex)];
  await first.start();
  await evaluatesTwice(first);
  await second.start();
  await pauseSite(first.app, 'second');
  await expect.poll(alerting.told).toEqual(['alert.opened paused second']);
  await pauseSite(first.app, 'board');
  await expect.poll(() => alerting.told().slice(1)).toEqual(['alert.opened paused board']);
  await resumeSite(first.app, 'second');
  await expect.poll(() => alerting.told().slice(2)).toEqual(['alert.recovered paused second']);
  await evaluatesTwice(first);
  await evaluatesTwice(second);
  expect(alerting.told()).toHaveLength(3);
});

it('an alert of a process that restarts is not over for the others', async () => {
  alerting = await openAlerting('', { schedule: '"* * * * *"' });
  const [first, second] = [await alerting.process(), await alerting.process(globex)];
  expect(await first.evaluate()).toBeGreaterThan(0);
  const open = () => first.app.db.query(`select kind from open_alert where subject = 'feed acme'`);
  const before = await open();
  expect(before).toContainEqual({ kind: 'overdue' });
  await second.evaluate();
  expect(await open()).toEqual(before);
});

it('tells after an hour that nobody watches a feed any more', async () => {
  alerting = await openAlerting(', on: [overdue]', { schedule: '"* * * * *"' });
  const [first, second] = [await alerting.process(), await alerting.process(globex)];
  expect(await first.evaluate()).toBe(1);
  expect(await second.evaluate()).toBe(1);
  await first.app.db.query(`update open_alert set seen_at = now() - interval '59 minutes'`);
  expect(await second.evaluate()).toBe(0);
  await first.app.db.query(`update open_alert set seen_at = now() - interval '61 minutes' where subject = 'feed acme'`);
  expect(await second.evaluate()).toBe(1);
  const [last] = await first.app.db.query(
    `select payload->>'type' as type, payload->'data'->>'message' as message from alert_message order by seq desc limit 1`,
  );
  expect(last).toEqual({
    type: 'alert.recovered',
    message: 'feed acme is not watched any more: no running process has it in its configuration',
  });
});

it('a feed that a live process watches is not forgotten', async () => {
  alerting = await openAlerting(', on: [overdue]', { schedule: '"* * * * *"' });
  const [first, second] = [await alerting.process(), await alerting.process(globex)];
  await first.evaluate();
  await first.start(IDLE_ALERTS);
  const key = (await evaluatorKeys(first.app))('ops');
  const held = async () => (await first.app.db.query<{ key: string }>(HELD_LOCK_KEYS)).map((row) => row.key);
  await expect.poll(held).toContain(key);
  await first.app.db.query(`update open_alert set seen_at = now() - interval '2 hours'`);
  await second.evaluate();
  expect(await first.app.db.query(`select from open_alert where subject = 'feed acme'`)).toHaveLength(1);
});

it('what another configuration of the same feeds does not see stays open, and ends once', async () => {
  alerting = await openAlerting(', on: [paused]');
  const [first, second] = [await alerting.process(), await alerting.process(on('held'))];
  await first.start();
  await second.start();
  await pauseSite(first.app);
  await expect.poll(alerting.told).toEqual(['alert.opened paused board']);
  for (const process of [first, second, first]) await evaluatesTwice(process);
  expect(alerting.told()).toHaveLength(1);
  await resumeSite(first.app);
  await expect.poll(alerting.told).toEqual(['alert.opened paused board', 'alert.recovered paused board']);
});

it('a restart with another configuration ends what that ended', async () => {
  alerting = await openAlerting();
  const first = await alerting.process();
  await first.start();
  await pauseSite(first.app);
  await expect.poll(alerting.told).toEqual(['alert.opened paused board']);
  await resumeSite(first.app);
  await first.stop();
  const second = await alerting.process(slower);
  await second.start();
  await expect.poll(alerting.told).toEqual(['alert.opened paused board', 'alert.recovered paused board']);
});

const eventsOf = ({ app }: AlertingProcess) =>
  app.db.query<{ key: string }>(
    `with gone as (delete from alert_message where topic = 'posting' returning seq, payload->'data'->>'key' as key)
     select key from gone order by seq`,
  );

it('a process that does not ask for events leaves those that another one asks for', async () => {
  alerting = await openAlerting(', on: [posting.mirrored]');
  const first = await alerting.process();
  await first.start(IDLE_ALERTS);
  const second = await alerting.process((text) => on('held')(globex(text)));
  await second.start(IDLE_ALERTS);
  await alerting.mirror.syncOf([posting('a')]);
  expect(await eventsOf(second)).toEqual([{ key: 'a' }]);
  // While the first restarts, others begin: nothing is missed.
  await first.stop();
  const third = await alerting.process((text) => globex(text).replace(/^alerts:.*\n/m, ''));
  await third.start(IDLE_ALERTS);
  await alerting.mirror.syncOf([posting('a'), posting('b')]);
  expect(await eventsOf(second)).toEqual([{ key: 'b' }]);
});

it('events that several configurations ask for are written once', async () => {
  alerting = await openAlerting(', on: [posting.mirrored]');
  const all = [
    await alerting.process(),
    await alerting.process(globex),
    await alerting.process(on('posting.mirrored, posting.rejected')),
  ];
  for (const process of all) await process.start(IDLE_ALERTS);
  await alerting.mirror.syncOf([...postings(2), posting('x', { state: 'Jalisco' })]);
  const [first] = all;
  expect(first && (await eventsOf(first)).map(({ key }) => key).sort()).toEqual(['p1', 'p2', 'x']);
});

it('the subscription of a process that has just started is not ended by one that renews its own', async () => {
  alerting = await openAlerting(', on: [posting.mirrored]');
  const [first, second] = [await alerting.process(), await alerting.process(on('posting.rejected'))];
  const { db } = first.app;
  const own = { destination: 'ops', evaluator: (await evaluatorKeys(first.app))('ops'), feeds: undefined };
  await first.start(IDLE_ALERTS);
  await second.start(IDLE_ALERTS);
  await setSubscriptions(db, ['acme'], [{ ...own, events: ['posting.mirrored'] }]);
  expect(await db.query('select events from posting_subscription order by events')).toEqual([
    { events: ['posting.mirrored'] },
    { events: ['posting.rejected'] },
  ]);
});

it('a message whose receiver does not answer is cut off when its process stops, and sent again by another one', async () => {
  alerting = await openAlerting(', on: [paused]');
  const { receiver } = alerting;
  const { answer } = receiver;
  receiver.answer = () => undefined;
  const first = await alerting.process();
  await first.start();
  await pauseSite(first.app);
  await expect.poll(() => receiver.received).toHaveLength(1);
  await first.stop();
  const second = await alerting.process();
  expect(await second.app.db.query('select state, last_error from alert_message')).toEqual([
    { state: 'pending', last_error: 'the process was stopped' },
  ]);
  receiver.answer = answer;
  await second.start();
  await expect.poll(() => receiver.received).toHaveLength(2);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});
