// Webhooks over real HTTP: signed as the Standard Webhooks specification says, and what each answer means.
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import type { AlertPayload } from '../../../src/telemetry/alert-message.ts';
import { type Channel, deliverAlert, postWebhook } from '../../../src/telemetry/deliver.ts';
import { startReceiver } from '../../support/http-receiver.ts';
import { openedForEach } from '../../support/opened.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const receiver = openedForEach(() => startReceiver());

const at = '2026-03-20T10:00:00.000Z';
const message: { readonly id: string; readonly payload: AlertPayload } = {
  id: 'msg_1',
  payload: {
    type: 'alert.opened',
    timestamp: at,
    data: {
      alert: 'paused',
      site: 'board',
      feed: null,
      message: 'site board is paused; run: jobmirror resume board',
      detail: 'it said <b>401 & more</b>',
      count: null,
      since: at,
    },
  },
};
const webhook = (path = '/hook'): Channel => ({ kind: 'webhook', url: `${receiver.url}${path}`, secret: SECRET });

/** As the specification defines it, without the library. */
function signature(id: string, timestamp: string, body: string): string {
  const key = Buffer.from(SECRET.replace('whsec_', ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

it('the signature is that of the published example', () => {
  const expected = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  const body = '{"test": 2432232314}';
  expect(signature('msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', body)).toBe(expected);
  const signed = new Webhook(SECRET).sign('msg_p5jXN8AQM9LWM0D4loKWxJek', new Date(1_614_265_330_000), body);
  expect(signed).toBe(expected);
});

it('posts the payload with a signature that a receiver can verify', async () => {
  expect(await deliverAlert(webhook(), message)).toEqual({ kind: 'delivered' });
  const [{ path, headers = {}, body = '' } = {}] = receiver.received;
  expect(path).toBe('/hook');
  expect(JSON.parse(body)).toEqual(message.payload);
  expect(headers['content-type']).toBe('application/json');
  expect(headers['webhook-id']).toBe('msg_1');
  const sentAt = String(headers['webhook-timestamp']);
  expect(Math.abs(Number(sentAt) - Date.now() / 1000)).toBeLessThan(120);
  expect(headers['webhook-signature']).toBe(signature('msg_1', sentAt, body));
  expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toEqual(message.payload);
});

it('writes text for Slack, in which nothing is markup, without a signature', async () => {
  expect(await deliverAlert({ kind: 'slack', url: `${receiver.url}/T0/B0/x` }, message)).toEqual({ kind: 'delivered' });
  const [{ headers = {}, body = '' } = {}] = receiver.received;
  expect(JSON.parse(body)).toEqual({
    text: 'site board is paused; run: jobmirror resume board\nit said &lt;b&gt;401 &amp; more&lt;/b&gt;',
  });
  expect(headers['webhook-signature']).toBeUndefined();
});

it('says that an alert is over', async () => {
  const payload = {
    ...message.payload,
    type: 'alert.recovered',
    data: { ...message.payload.data, detail: null },
  } as const;
  await deliverAlert({ kind: 'slack', url: receiver.url }, { id: 'msg_2', payload });
  expect(JSON.parse(receiver.received[0]?.body ?? '').text).toMatch(/^Recovered: site board/);
});

it.each([
  [500, {}, { kind: 'failed', reason: 'it answered 500' }],
  [404, {}, { kind: 'failed', reason: 'it answered 404' }],
  [400, {}, { kind: 'failed', reason: 'it answered 400', isRefused: true }],
  [422, {}, { kind: 'failed', reason: 'it answered 422', isRefused: true }],
  [429, { 'retry-after': '90' }, { kind: 'failed', reason: 'it answered 429', retryAfterMs: 90_000 }],
  [410, {}, { kind: 'failed', reason: 'it answered 410', isFinal: true }],
])('an answer of %d is a failure', async (status, headers, expected) => {
  receiver.answer = (response) => response.writeHead(status, headers).end('no');
  expect(await deliverAlert(webhook(), message)).toEqual(expected);
});

it('follows no redirect, as the message is signed for one address only', async () => {
  receiver.answer = (response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end();
  expect(await deliverAlert(webhook(), message)).toEqual({ kind: 'failed', reason: 'it answered 307' });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
});

it('reads only the beginning of an endless answer', async () => {
  receiver.answer = (response) => {
    response.writeHead(200);
    const write = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    };
    response.on('drain', write);
    write();
  };
  expect(await deliverAlert(webhook(), message)).toEqual({ kind: 'delivered' });
});

it('waits for a slow and endless answer only until the deadline', async () => {
  let timer: NodeJS.Timeout | undefined;
  receiver.answer = (response) => {
    response.writeHead(200);
    timer = setInterval(() => response.write('x'), 20);
  };
  const channel = { url: `${receiver.url}/hook`, secret: SECRET };
  // AbortSignal.timeout counts by the clock: the status must arrive in time also if the process is stopped for some seconds.
  expect(await postWebhook(channel, message, { timeoutMs: 6_000 })).toEqual({ kind: 'delivered' });
  clearInterval(timer);
});

it.each([
  ['nobody listens', 'http://127.0.0.1:1/a-secret-path', /^not sent: ECONNREFUSED$/],
  ['there is no such host', 'http://host.invalid/a-secret-path', /^not sent: E[A-Z_]+$/],
])('says why it was not sent, without the address: %s', async (_name, url, reason) => {
  const end = await deliverAlert({ kind: 'slack', url }, message);
  expect(end).toEqual({ kind: 'failed', reason: expect.stringMatching(reason) });
});
