// Webhooks that say that a feed or a posting has changed: only signed ones count, each once, and none is lost during a pull.
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockFeed } from '../../src/store/locks/feed-locks.ts';
import { serveWeb } from '../feed/web-server.ts';
import { acme, openStage, type Stage } from '../review/stage.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Answer, rawRequest, type Served, serve, WEBHOOK_SECRET } from './served.ts';

let stage: Stage;
let served: Served;
beforeEach(async () => {
  stage = await openStage();
  served = await serve(stage.mirror, { sends: true });
  await stage.mirror.writeFeed(feedXml(postings(2)));
});
afterEach(async () => {
  await served.close();
  await stage.close();
});

const CHANGED = { type: 'feed.changed', data: { feed: 'acme' } };
const now = () => Math.floor(Date.now() / 1000);

interface SendOptions {
  readonly id?: string;
  readonly at?: number;
  readonly secret?: string;
  readonly sender?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Signs as the specification says, not by the library that verifies. */
function send(
  message: unknown,
  { id = 'msg_1', at = now(), secret, sender = 'ats', headers }: SendOptions = {},
): Promise<Answer> {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  const key = Buffer.from(secret ?? WEBHOOK_SECRET, 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  return rawRequest(served.url, {
    method: 'POST',
    path: `/webhooks/${sender}`,
    headers: { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}`, ...headers },
    body,
  });
}

const pulls = async () => (await stage.app.db.query('select id from pull')).length;
const untilMirrored = (jobs: number) => expect.poll(async () => (await stage.mirror.siteJobs()).size).toBe(jobs);

it('a changed feed is pulled, and the sender is recorded', async () => {
  const answer = await send({ ...CHANGED, timestamp: '2026-01-01T00:00:00Z', more: 1 });
  expect([answer.status, answer.body]).toEqual([202, { feed: 'acme', pull: expect.any(Number) }]);
  await untilMirrored(2);
  expect(await stage.app.db.query('select actor, action, feed from audit')).toEqual([
    { actor: 'webhook ats', action: 'pull', feed: 'acme' },
  ]);
});

it('so is the feed of a changed posting, and the same message again does nothing again', async () => {
  const ofPosting = { type: 'posting.changed', data: { feed: 'acme', key: 'p1' } };
  const first = await send(ofPosting);
  expect(first.status).toBe(202);
  await untilMirrored(2);
  const again = await send(ofPosting, { at: now() - 1 });
  expect([again.status, again.text]).toEqual([202, first.text]);
  expect(await pulls()).toBe(1);
});

it('changes during a pull are pulled once more after it, however many', async () => {
  const lock = await lockFeed(stage.app.db, acme);
  const answers = await Promise.all(['one', 'two', 'three'].map((id) => send(CHANGED, { id })));
  expect(answers.map(({ status, body }) => [status, body.pull])).toEqual(Array(3).fill([202, null]));
  expect(await pulls()).toBe(0);
  await lock?.release();
  await untilMirrored(2);
  expect(await pulls()).toBe(1);
});

it('a pull that the end of its process cut off is made by the next process', async () => {
  let isSlow = true;
  const source = await serveWeb((_, response) => {
    if (!isSlow) response.end(feedXml(postings(2)));
  });
  await served.close();
  await stage.close();
  stage = await openStage({ feed: { source: `${source.origin}/feed.xml` } });
  served = await serve(stage.mirror, { sends: true });
  expect((await send(CHANGED)).body).toEqual({ feed: 'acme', pull: expect.any(Number) });
  await expect.poll(() => source.requests.length).toBe(1);
  await served.close();
  isSlow = false;
  served = await serve(stage.mirror, { sends: true });
  await untilMirrored(2);
  await served.close();
  served = await serve(stage.mirror, { sends: true });
  await stage.app.db.query('select pg_sleep(1)');
  expect(await pulls()).toBe(2);
  await source.close();
});

it('a message that a process which died had taken counts once it is sent again', async () => {
  const { db } = stage.app;
  await db.query(`insert into web_request (who, key, request, claimed_at) values ('webhook ats', 'msg_1', '', now())`);
  expect((await send(CHANGED)).status).toBe(409);
  await db.query(`update web_request set claimed_at = now() - interval '6 minutes'`);
  const answers = await Promise.all([send(CHANGED), send(CHANGED)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([202, expect.toBeOneOf([202, 409])]);
  await untilMirrored(2);
  expect((await send(CHANGED)).status).toBe(202);
  expect(await pulls()).toBe(1);
});

const UNSIGNED: readonly (readonly [string, SendOptions])[] = [
  ['another secret', { secret: Buffer.alloc(32).toString('base64') }],
  ['an old message', { at: now() - 600 }],
  ['a message from the future', { at: now() + 86_400 }],
  ['an unknown sender', { sender: 'nobody' }],
  ['__proto__', { sender: '__proto__' }],
  ['no signature', { headers: { 'webhook-signature': '' } }],
  ['a signature of another kind', { headers: { 'webhook-signature': 'v1a,x v1 v1,' } }],
  ['another message under the signature', { headers: { 'webhook-id': 'msg_2' } }],
  ['a token instead', { headers: { 'webhook-signature': '', Authorization: `Bearer ${WEBHOOK_SECRET}` } }],
];

const SIGNED: readonly (readonly [string, unknown, number])[] = [
  ['no JSON', '{', 400],
  ['nothing', '', 400],
  ['another type', { type: 'feed.deleted', data: { feed: 'acme' } }, 400],
  ['no feed', { type: 'feed.changed', data: {} }, 400],
  ['no key', { type: 'posting.changed', data: { feed: 'acme' } }, 400],
  ['an unknown feed', { type: 'feed.changed', data: { feed: 'nothing' } }, 404],
  ['too large', { ...CHANGED, more: 'x'.repeat(70_000) }, 413],
];

it('refused is what is not signed by a known sender, and what says nothing about a feed that it may speak of', async () => {
  for (const [name, options] of UNSIGNED) {
    const answer = await send(CHANGED, options);
    expect([name, answer.status]).toEqual([name, 401]);
    expect(answer.text).not.toContain(WEBHOOK_SECRET);
  }
  for (const [name, message, status] of SIGNED) {
    expect([name, (await send(message, { id: name })).status]).toEqual([name, status]);
  }
  // Nor does it learn which others there are.
  const ofNone = { ...CHANGED, data: { feed: 'unknown' } };
  const [ofAcme, unknown] = [
    await send(CHANGED, { sender: 'other' }),
    await send(ofNone, { sender: 'other', id: 'msg_2' }),
  ];
  expect([ofAcme.status, ofAcme.body.detail]).toEqual([403, 'webhook other may not speak of feed acme']);
  expect([unknown.status, unknown.body.detail]).toEqual([403, 'webhook other may not speak of feed unknown']);
  expect(await pulls()).toBe(0);
});
