// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// Alerts of a running installation, to real endpoints: one message for each change of state, whatever dies or fails.
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, it, vi } from 'vitest';
import { type App, openApp } from '../../src/runtime/app.ts';
import { evaluateAlerts, evaluatorKeys, sendMessages, startAlerts } from '../../src/runtime/run-alerts.ts';
import { claimMessage } from '../../src/store/status/outbox.ts';
import type { AlertPayload } from '../../src/telemetry/alert-message.ts';
import { runProgram } from '../cli/run-program.ts';
import { startReceiver } from '../support/http-receiver.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { withEnv } from '../support/with-env.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const FAST = { evaluateEveryMs: 20, sendEveryMs: 20, subscribeEveryMs: 1_000 };

let mirror: Mirror;
const ends: (() => Promise<unknown>)[] = [];
const receiver = openedForEach(() => startReceiver());
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await mirror.close();
});

/** An installation with one destination, and an app as a process of it has one. */
async function open(settings = '', feed: Record<string, string> = {}): Promise<App> {
  const opened = await openMirror({ feed });
  // Its own app reads the configuration without the destination.
  await opened.app();
  const path = `/services/a-long-secret-path-of-a-chat`;
  mirror = { ...opened, env: { ...opened.env, OPS_SECRET: SECRET, OPS_URL: `${receiver.url}${path}` } };
  await appendFile(mirror.configPath, `alerts: { ops: { url: "\${OPS_URL}", secret: "\${OPS_SECRET}"${settings} } }\n`);
  return anotherApp();
}

async function anotherApp(): Promise<App> {
  const app = await withEnv(mirror.env, () => openApp({ config: mirror.configPath, quiet: true }));
  app.log.level = 'silent';
  ends.push(() => app.close());
  return app;
}

const ops = (app: App) => {
  const destination = app.config.alerts.get('ops');
  if (destination === undefined) throw new Error('no destination');
  return destination;
};
const longAgo = new Date(0);
const evaluate = async (app: App, since = longAgo) =>
  evaluateAlerts(app, ops(app), (await evaluatorKeys(app))('ops'), since);
const send = (app: App) => sendMessages(app, ops(app), 'alert', { signal: new AbortController().signal });
const pause = (app: App, cause = 'the token is refused') =>
  app.db.query(
    `insert into site_state (site, paused_since, pause_cause) values ('board', now(), to_jsonb($1::text))
     on conflict (site) do update set paused_since = now(), pause_cause = excluded.pause_cause`,
    [cause],
  );
const resume = (app: App) => app.db.query('update site_state set paused_since = null, pause_cause = null');

/** Messages as the receiver got them, in short, each verified. */
const told = (): string[] =>
  receiver.received.map(({ body, headers }) => {
    const { type, data } = new Webhook(SECRET).verify(body, headers as Record<string, string>) as AlertPayload;
    return `${type} ${data.alert} ${data.site ?? data.feed}`;
  });

it('tells that the keys of a feed seem to have changed, also if no delete of it is ever held', async () => {
  const app = await open('', { policy: 'upsert_only' });
  const sync = async (prefix: string) => {
    const list = [1, 2, 3].map((n) => posting(`${prefix}${n}`, { title: `Nurse ${n}`, description: `Ward ${n}` }));
    return mirror.syncOf(list);
  };
  expect(await sync('a')).toMatchObject({ created: 3 });
  expect(await sync('b')).toMatchObject({ created: 0, held: 0, pending: 3 });
  expect([await evaluate(app), await evaluate(app)]).toEqual([1, 0]);
  await send(app);
  expect(told()).toEqual(['alert.opened held acme']);
});

it('tells that a site is paused once, and once that it is not any more', async () => {
  const app = await open();
  await pause(app);
  expect([await evaluate(app), await evaluate(app)]).toEqual([1, 0]);
  await send(app);
  await send(app);
  expect(told()).toEqual(['alert.opened paused board']);
  const { data, timestamp } = JSON.parse(receiver.received[0]?.body ?? '') as AlertPayload;
  expect(data).toMatchObject({ message: expect.stringMatching(/^site board is paused; /), feed: null });
  expect(data.detail).toBe('the token is refused');
  expect(data.since).toBe(timestamp);
  await resume(app);
  expect([await evaluate(app), await evaluate(app)]).toEqual([1, 0]);
  await send(app);
  expect(told()).toEqual(['alert.opened paused board', 'alert.recovered paused board']);
});

it('several processes that notice at the same time write one message, and one of them sends it', async () => {
  const app = await open();
  const apps = [app, await anotherApp(), await anotherApp()];
  await pause(app);
  const written = await Promise.all(apps.map((each) => evaluate(each)));
  expect(written.reduce((sum, n) => sum + n)).toBe(1);
  await Promise.all(apps.map(send));
  expect(told()).toEqual(['alert.opened paused board']);
  await resume(app);
  const ended = await Promise.all(apps.map((each) => evaluate(each)));
  expect(ended.reduce((sum, n) => sum + n)).toBe(1);
});

it('running processes tell each change of state once', async () => {
  const app = await open();
  const apps = [app, await anotherApp()];
  const running = await Promise.all(apps.map((each) => startAlerts(each, FAST)));
  const stop = () => Promise.all(running.map((alerts) => alerts.stop(5_000)));
  ends.push(stop);
  const queries = apps.map((each) => vi.spyOn(each.db, 'query'));
  const evaluations = () =>
    queries.flatMap(({ mock }) => mock.calls).filter(([text]) => text.includes('from open_alert')).length;
  await pause(app);
  await expect.poll(told).toEqual(['alert.opened paused board']);
  await resume(app);
  const both = ['alert.opened paused board', 'alert.recovered paused board'];
  await expect.poll(told).toEqual(both);
  // A repetition would be written by a later evaluation, and sent in a later round.
  const before = evaluations();
  await expect.poll(() => evaluations() - before).toBeGreaterThan(2);
  await stop();
  await send(app);
  expect(told()).toEqual(both);
});

it('a message that a process died with is sent again under the same ID, by another', async () => {
  const app = await open();
  await pause(app);
  await evaluate(app);
  const claimed = await claimMessage(app.db, 'ops', 'alert');
  expect(claimed).toBeDefined();
  // Until its time is over, nobody else sends it.
  await send(await anotherApp());
  expect(told()).toEqual([]);
  await app.db.query('update alert_message set not_before = now(), claimed_until = now()');
  await send(await anotherApp());
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([claimed?.id]);
});

/** Seconds. */
const WAITS = [5, 30, 120, 600, 1_800, 7_200, 21_600, 64_800];

it('retries ever more seldom, then lists the message as dead, which a command sends again', {
  tags: 'slow',
}, async () => {
  const app = await open();
  await pause(app);
  await evaluate(app);
  receiver.answer = (response) => response.writeHead(503).end();
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 9; attempt++) {
    const [before] = await app.db.query<{ at: string }>('select clock_timestamp()::text as at');
    await send(app);
    const [row] = await app.db.query<{ most: number; took: number; state: string }>(
      `select extract(epoch from not_before - $1::timestamptz)::float8 as most,
         extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as took, state from alert_message`,
      [before?.at],
    );
    // The wait began at some time of the attempt, however long that took.
    const least = (row?.most ?? 0) - (row?.took ?? 0);
    const expected = WAITS[attempt - 1] ?? 0;
    const isWithin = least <= expected && expected <= (row?.most ?? 0);
    if (row?.state === 'pending') waits.push(isWithin ? expected : least);
    await app.db.query('update alert_message set not_before = now()');
  }
  expect(waits).toEqual(WAITS);
  await send(app);
  expect(receiver.received).toHaveLength(9);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);

  const listed = await runProgram(mirror, 'alerts', 'list');
  expect(listed.out).toMatch(/^open: paused, site board, since /m);
  expect(listed.out).toMatch(
    /^dead: msg_\w+ to ops, 9 attempts, it answered 503, not sent again by itself: site board/m,
  );
  const refused = await runProgram(mirror, 'alerts', 'resend', '--json');
  expect([refused.status, refused.json()]).toEqual([1, [{ delivered: 0, waiting: 1 }]]);
  receiver.answer = (response) => response.writeHead(200).end();
  const [message] = (await runProgram(mirror, 'alerts', 'list', '--json'))
    .json()
    .filter(({ item }) => item === 'message');
  const resent = await runProgram(mirror, 'alerts', 'resend', String(message?.id));
  expect([resent.status, resent.out]).toEqual([0, '1 message delivered.\n']);
  expect((await runProgram(mirror, 'alerts', 'list')).out).toMatch(/^open: paused[^\n]*\n$/);
  const unknown = await runProgram(mirror, 'alerts', 'resend', 'msg_none');
  expect([unknown.status, unknown.errors]).toEqual([1, 'jobmirror: no undelivered message has the ID msg_none\n']);
});

it('a message that a running process sends is not sent again on demand', { tags: 'slow' }, async () => {
  const app = await open();
  await pause(app);
  await evaluate(app);
  const [message] = await app.db.query<{ id: string }>('select id from alert_message');
  const id = message?.id ?? '';
  // A wrong ID beside a right one: nothing is done.
  const half = await runProgram(mirror, 'alerts', 'resend', id, 'msg_none');
  expect([half.status, half.errors]).toEqual([1, 'jobmirror: no undelivered message has the ID msg_none\n']);
  expect(told()).toEqual([]);
  const [untouched] = await app.db.query<{ at: number }>(
    'select extract(epoch from not_before)::float8 as at from alert_message',
  );
  expect(untouched?.at).toBeGreaterThan(0);
  const answers: (() => void)[] = [];
  receiver.answer = (response) => answers.push(() => response.writeHead(204).end());
  const sending = send(app);
  await expect.poll(told).toHaveLength(1);
  const refused = await runProgram(mirror, 'alerts', 'resend', id);
  expect([refused.status, refused.errors]).toEqual([
    1,
    `jobmirror: a running process is sending ${id} now; see: alerts list\n`,
  ]);
  for (const answer of answers) answer();
  await sending;
  expect(told()).toEqual(['alert.opened paused board']);
});

it('sends again only what was asked for', { tags: 'slow' }, async () => {
  const app = await open();
  await app.db.query(
    `insert into alert_message (destination, topic, state, payload) select 'ops', topic, state, jsonb_build_object('type',
       'posting.mirrored', 'data', jsonb_build_object('key', topic || ' ' || state))
     from (values ('alert'), ('posting')) t(topic), (values ('pending'), ('dead')) s(state)`,
  );
  const { status, out } = await runProgram(mirror, 'alerts', 'resend');
  expect([status, out]).toEqual([0, '2 messages delivered.\n']);
  const keys = receiver.received.map(({ body }) => JSON.parse(body).data.key);
  expect(keys).toEqual(['alert dead', 'posting dead']);
});

it('an endpoint that is gone gets nothing more by itself', async () => {
  const app = await open();
  await pause(app);
  await evaluate(app);
  receiver.answer = (response) => response.writeHead(410).end();
  await send(app);
  const [message] = await app.db.query('select state, attempts, last_error from alert_message');
  expect(message).toEqual({ state: 'dead', attempts: 1, last_error: 'it answered 410' });
});

it('tells held deletes and their end', async () => {
  const app = await open();
  await mirror.syncOf(postings(3));
  await mirror.syncOf([]);
  await evaluate(app);
  await mirror.syncOf(postings(3));
  await evaluate(app);
  await send(app);
  expect(told()).toEqual(['alert.opened held acme', 'alert.recovered held acme']);
  const { data } = JSON.parse(receiver.received[0]?.body ?? '') as AlertPayload;
  expect(data.message).toMatch(/^feed acme: 3 changes are held and wait for approval; to see and approve them: /);
});

it('tells again when far more is held, not when somewhat more is', { tags: 'slow' }, async () => {
  const app = await open(', on: [held]');
  const hold = (from: number, to: number) =>
    app.db.query(
      `insert into change (feed, key, site, operation, desired, state, target_state, revision, pull)
       select 'acme', 'k' || n, 'board', 'delete', 'absent', 'held', 'held', n, 1 from generate_series($1::int, $2::int) n`,
      [from, to],
    );
  const decide = (from: number) =>
    app.db.query(`delete from change where key in (select 'k' || n from generate_series($1::int, 1000) n)`, [from]);
  await app.db.query(`insert into feed_state (feed, site) values ('acme', 'board') on conflict do nothing`);
  await hold(1, 10);
  expect(await evaluate(app)).toBe(1);
  await hold(11, 19);
  expect(await evaluate(app)).toBe(0);
  await hold(20, 20);
  expect([await evaluate(app), await evaluate(app)]).toEqual([1, 0]);
  // What was decided is not counted as told.
  await decide(4);
  expect(await evaluate(app)).toBe(0);
  await hold(21, 23);
  expect([await evaluate(app), await evaluate(app)]).toEqual([1, 0]);
  // All are new, although not more.
  await decide(1);
  await app.db.query(`delete from change`);
  await hold(31, 36);
  expect([await evaluate(app), await evaluate(app)]).toEqual([1, 0]);
  await app.db.query(`delete from change`);
  expect(await evaluate(app)).toBe(1);
  await send(app);
  expect(told()).toEqual([
    'alert.opened held acme',
    'alert.updated held acme',
    'alert.updated held acme',
    'alert.updated held acme',
    'alert.recovered held acme',
  ]);
  const payloads = receiver.received.map(({ body }) => JSON.parse(body) as AlertPayload);
  expect(payloads.map(({ data }) => data.count)).toEqual([10, 20, 6, 6, null]);
  expect(new Set(payloads.map(({ data }) => data.since)).size).toBe(1);
});

it('tells that a group of review entries has appeared, and that it is decided', async () => {
  const app = await open(', on: [new_group]');
  const abroad = (n: number) => Array.from({ length: n }, (_, at) => posting(`x${at}`, { state: 'Jalisco' }));
  const pull = async (rejected: number, untitled: number) => {
    const rest = postings(4).map((each, at) => (at < untitled ? { ...each, title: '' } : each));
    await mirror.syncOf([...rest, ...abroad(rejected)]);
  };
  await pull(2, 0);
  expect([await evaluate(app), await evaluate(app)]).toEqual([1, 0]);
  // More entries of the same group are no further group.
  await pull(5, 0);
  expect(await evaluate(app)).toBe(0);
  await pull(5, 1);
  expect(await evaluate(app)).toBe(1);
  const groups = await app.db.query<{ group_id: string }>('select distinct group_id from review_entry');
  await pull(0, 0);
  expect([await evaluate(app), await evaluate(app)]).toEqual([1, 0]);
  await send(app);
  expect(told()).toEqual([
    'alert.opened new_group acme',
    'alert.updated new_group acme',
    'alert.recovered new_group acme',
  ]);
  const [first, second] = receiver.received.map(({ body }) => (JSON.parse(body) as AlertPayload).data);
  expect(first?.message).toMatch(/^feed acme: 1 new group in review, with 2 entries; see: /);
  expect(first?.detail).toMatch(/^rejected: location-state: is not a valid U\.S\. state/);
  expect([second?.count, second?.message]).toEqual([
    2,
    expect.stringContaining('2 new groups in review, the largest with 5 entries'),
  ]);
  // A group that had entries longer ago is not new when it has some again.
  await app.db.query(
    `insert into review_group_count (group_id, at, n) select g, now() - interval '25 hours', 1 from unnest($1::text[]) g`,
    [groups.map(({ group_id }) => group_id)],
  );
  await pull(5, 1);
  expect(await evaluate(app)).toBe(0);
});

it('tells a rejected share above its own limit', { tags: 'slow' }, async () => {
  const app = await open(', on: [rejected_share], rejected_percent: 40');
  const abroad = (n: number) => Array.from({ length: n }, (_, at) => posting(`x${at}`, { state: 'Jalisco' }));
  await mirror.syncOf([...postings(10), ...abroad(6)]);
  expect(await evaluate(app)).toBe(0);
  await mirror.syncOf([...postings(10), ...abroad(8)]);
  expect(await evaluate(app)).toBe(1);
  await send(app);
  expect(told()).toEqual(['alert.opened rejected_share acme']);
});

it('takes the share of the whole feed, whatever an incomplete pull saw', { tags: 'slow' }, async () => {
  const app = await open(', on: [rejected_share], rejected_percent: 40');
  const abroad = (n: number) => Array.from({ length: n }, (_, at) => posting(`x${at}`, { state: 'Jalisco' }));
  const pull = async (text: string) => {
    await mirror.writeFeed(text);
    return (await mirror.sync()).complete;
  };
  const cut = (text: string, records: number) =>
    text
      .split('<job>')
      .slice(0, records + 1)
      .join('<job>');
  const few = feedXml([...abroad(6), ...postings(20)]);
  // Before any complete pull, the one that saw most counts.
  expect([await pull(cut(few, 7)), await evaluate(app)]).toEqual([false, 1]);
  expect([await pull(cut(few, 25)), await evaluate(app)]).toEqual([false, 1]);
  expect([await pull(cut(few, 7)), await evaluate(app)]).toEqual([false, 0]);
  expect([await pull(few), await evaluate(app)]).toEqual([true, 0]);
  expect([await pull(cut(few, 7)), await evaluate(app)]).toEqual([false, 0]);
  // A feed that has grown is as large as what was seen of it.
  expect([await pull(cut(feedXml([...abroad(18), ...postings(42)]), 59)), await evaluate(app)]).toEqual([false, 0]);
  const many = feedXml([...abroad(20), ...postings(20)]);
  expect([await pull(many), await evaluate(app)]).toEqual([true, 1]);
  expect([await pull(cut(many, 0)), await evaluate(app)]).toEqual([false, 0]);
  await send(app);
  expect(told().map((text) => text.split(' ')[0])).toEqual(['alert.opened', 'alert.recovered', 'alert.opened']);
});

it('tells a feed that fails and is overdue; a restart is no recovery', async () => {
  const app = await open('', { schedule: '"* * * * *"' });
  await mirror.writeFeed('<html>Sorry</html>');
  await mirror.sync();
  expect(await evaluate(app, new Date())).toBe(1);
  expect(await evaluate(app)).toBe(1);
  await send(app);
  expect(told().sort()).toEqual(['alert.opened feed_failed acme', 'alert.opened overdue acme']);
  // A process that has just started gives the feed time.
  expect(await evaluate(app, new Date())).toBe(0);
  await mirror.syncOf(postings(3));
  expect(await evaluate(app, new Date())).toBe(2);
});

it('tells only what the destination asks for', async () => {
  const app = await open(', on: [overdue]');
  await pause(app);
  expect(await evaluate(app)).toBe(0);
});

it('no secret is in a message, a row or an output', async () => {
  const app = await open();
  const { BOARD_TOKEN = '', OPS_URL = '' } = mirror.env;
  await pause(app, `it said: ${BOARD_TOKEN} and ${SECRET} and ${new URL(OPS_URL).pathname}`);
  await evaluate(app);
  receiver.answer = (response) => response.writeHead(500).end(BOARD_TOKEN);
  await send(app);
  const rows = JSON.stringify(await app.db.query('select * from alert_message'));
  const outputs = await Promise.all([
    runProgram(mirror, 'alerts', 'list', '--json'),
    runProgram(mirror, 'alerts', 'test'),
    runProgram(mirror, 'check', '--json'),
  ]);
  const all = [rows, ...receiver.received.map(({ body }) => body), ...outputs.map(({ out, errors }) => out + errors)];
  for (const secret of [BOARD_TOKEN, SECRET, SECRET.replace('whsec_', ''), 'a-long-secret-path'])
    for (const text of all) expect(text).not.toContain(secret);
  expect(rows).toContain('[secret]');
});

it('alerts test tries each destination', async () => {
  await open();
  const text = (await readFile(mirror.configPath, 'utf8')).replace(
    /^alerts: \{/m,
    'alerts: { chat: { url: "http://127.0.0.1:1/", format: slack },',
  );
  await writeFile(mirror.configPath, text);
  const both = await runProgram(mirror, 'alerts', 'test');
  expect([both.status, both.out]).toEqual([1, 'chat: not delivered: not sent: ECONNREFUSED\nops: delivered\n']);
  const one = await runProgram(mirror, 'alerts', 'test', 'ops', '--json');
  expect([one.status, one.json()]).toEqual([0, [{ destination: 'ops', delivered: true, reason: null }]]);
  expect(told()).toEqual(['alert.test test null', 'alert.test test null']);
  const none = await runProgram(mirror, 'alerts', 'test', 'nobody');
  expect([none.status, none.errors]).toEqual([
    1,
    'jobmirror: there is no alert destination nobody; destinations: chat, ops\n',
  ]);
});
