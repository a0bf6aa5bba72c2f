// Very many events of postings for a destination, or events that it refuses: its alerts are told all the same.
// @module-tag slow
import { EventEmitter, once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { sendMessages } from '../../src/runtime/run-alerts.ts';
import {
  type Alerting,
  type AlertingProcess,
  openAlerting,
  pauseSite,
  resumeSite,
  writeEvents,
} from '../support/alerting.ts';

let alerting: Alerting;
afterEach(() => alerting.close());

const send = ({ app, ops }: AlertingProcess, topic: 'alert' | 'posting') =>
  sendMessages(app, ops, topic, { signal: new AbortController().signal });
const states = ({ app }: AlertingProcess) =>
  app.db.query(`select payload->'data'->>'key' as key, state, attempts from alert_message order by seq`);

it('alerts are told while events wait for a slow destination', async () => {
  alerting = await openAlerting();
  const { receiver, told } = alerting;
  const process = await alerting.process();
  await writeEvents(process.app, 'posting.mirrored', ['a', 'b', 'c']);
  const finished = new EventEmitter();
  receiver.answer = async (response) => {
    const isEvent = receiver.received.at(-1)?.body.includes('posting.') === true;
    if (isEvent) await Promise.race([once(finished, 'event'), once(response, 'close')]);
    if (!response.destroyed) response.writeHead(204).end();
  };
  await process.start();
  await expect.poll(told).toEqual(['posting.mirrored a']);
  await pauseSite(process.app);
  await expect.poll(told).toEqual(['posting.mirrored a', 'alert.opened paused board']);
  finished.emit('event');
  await expect.poll(() => told().slice(2)).toEqual(['posting.mirrored b']);
  await resumeSite(process.app);
  await expect.poll(() => told().slice(3)).toEqual(['alert.recovered paused board']);
  finished.emit('event');
  await expect.poll(() => told().slice(4)).toEqual(['posting.mirrored c']);
  finished.emit('event');
});

it.each([400, 422])(
  'an event that the destination refuses with %d fails alone, and is sent again only on demand',
  async (status) => {
    alerting = await openAlerting();
    const { receiver, told } = alerting;
    const process = await alerting.process();
    await writeEvents(process.app, 'posting.mirrored', ['a', 'b']);
    await writeEvents(process.app, 'posting.rejected', ['c']);
    receiver.answer = (response) =>
      response.writeHead(receiver.received.at(-1)?.body.includes('posting.mirrored') ? status : 204).end();
    expect(await send(process, 'posting')).toEqual({ delivered: 1, failed: 2 });
    expect(told()).toEqual(['posting.mirrored a', 'posting.mirrored b', 'posting.rejected c']);
    expect(await states(process)).toEqual([
      { key: 'a', state: 'dead', attempts: 1 },
      { key: 'b', state: 'dead', attempts: 1 },
      { key: 'c', state: 'delivered', attempts: 1 },
    ]);
  },
);

it.each([500, 404, 401])('with %d, the destination counts as down: the other events wait', async (status) => {
  alerting = await openAlerting();
  const process = await alerting.process();
  await writeEvents(process.app, 'posting.mirrored', ['a', 'b']);
  alerting.receiver.answer = (response) => response.writeHead(status).end();
  expect(await send(process, 'posting')).toEqual({ delivered: 0, failed: 1 });
  expect(await states(process)).toEqual([
    { key: 'a', state: 'pending', attempts: 1 },
    { key: 'b', state: 'pending', attempts: 0 },
  ]);
});

it('an alert that the destination refuses is sent again by itself', async () => {
  alerting = await openAlerting();
  const process = await alerting.process();
  await process.app.db.query(
    `insert into alert_message (destination, payload) values ('ops', '{"type": "alert.opened"}')`,
  );
  alerting.receiver.answer = (response) => response.writeHead(400).end();
  expect(await send(process, 'alert')).toEqual({ delivered: 0, failed: 1 });
  expect(await states(process)).toEqual([{ key: null, state: 'pending', attempts: 1 }]);
});
