// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// posting.mirrored, posting.rejected and posting.removed: one event for each thing that becomes of a posting.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type App, openApp } from '../../src/runtime/app.ts';
import { startAlerts } from '../../src/runtime/run-alerts.ts';
import { setSubscriptions } from '../../src/store/status/outbox.ts';
import { runProgram } from '../cli/run-program.ts';
import { type HttpReceiver, startReceiver } from '../support/http-receiver.ts';
import { type feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { withEnv } from '../support/with-env.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ALL = 'on: [posting.mirrored, posting.rejected, posting.removed]';
/** Nothing is sent: what is written is what matters here. */
const IDLE = { evaluateEveryMs: 1e9, sendEveryMs: 1e9, subscribeEveryMs: 1e9 };

let mirror: Mirror;
let receiver: HttpReceiver | undefined;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopAll();
  await mirror.close();
  await receiver?.close();
  receiver = undefined;
});

/** Ends the processes, as a stop does. */
async function stopAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

/** A process that runs with this destination until it is stopped. */
async function start(settings: string, url = 'http://127.0.0.1:1/', timing = IDLE): Promise<App> {
  const text = (await readFile(mirror.configPath, 'utf8')).replace(/^alerts:.*\n/m, '');
  const config = join(mirror.folder, 'start.yaml');
  const alerts = settings === '' ? '' : `alerts: { hr: { url: "${url}", secret: "\${HR_SECRET}", ${settings} } }\n`;
  await writeFile(config, text + alerts);
  const app = await withEnv({ ...mirror.env, HR_SECRET: SECRET }, () => openApp({ config, quiet: true }));
  app.log.level = 'silent';
  const running = await startAlerts(app, timing);
  ends.push(async () => {
    await running.stop(5_000);
    await app.close();
  });
  return app;
}

interface Told {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events since the last call. */
async function told(app: App): Promise<Told[]> {
  const rows = await app.db.query<{ payload: Told }>(
    'with gone as (delete from alert_message returning seq, payload) select payload from gone order by seq',
  );
  return rows.map(({ payload }) => payload);
}
const short = (events: readonly Told[]): string[] =>
  events
    .map(({ type, data }) => `${type} ${data.key}${data.operation === undefined ? '' : ` ${data.operation}`}`)
    .sort();

async function pull(...list: Parameters<typeof feedXml>[0]): Promise<void> {
  await mirror.syncOf(list);
}

it('tells what becomes of each posting, once', async () => {
  mirror = await openMirror();
  const app = await start(ALL);
  await pull(posting('a'), posting('b'), posting('c', { state: 'Jalisco' }));
  const first = await told(app);
  expect(short(first)).toEqual([
    'posting.mirrored a created',
    'posting.mirrored b created',
    'posting.rejected c create',
  ]);
  const created = first.find(({ data }) => data.key === 'a');
  expect(created?.data).toMatchObject({ feed: 'acme', site: 'board', job_id: expect.any(String) });
  expect(Math.abs(Date.parse(created?.timestamp ?? '') - Date.now())).toBeLessThan(600_000);
  const rejected = first.find(({ data }) => data.key === 'c');
  expect(rejected?.data.problems).toEqual([{ field: 'location-state', message: expect.stringContaining('Jalisco') }]);

  await pull(posting('a'), posting('b'), posting('c', { state: 'Jalisco' }));
  expect(await told(app)).toEqual([]);

  await pull(posting('a', { title: 'Another' }), posting('c', { state: 'Sonora' }));
  expect(short(await told(app))).toEqual([
    'posting.mirrored a updated',
    'posting.rejected c create',
    'posting.removed b',
  ]);

  await pull(posting('a', { title: 'Another' }), posting('c'));
  expect(short(await told(app))).toEqual(['posting.mirrored c created']);
});

it('tells what the site refuses', async () => {
  mirror = await openMirror({ sandbox: { states: 'states' } });
  const app = await start(ALL);
  await pull(posting('a', { state: 'DC', city: 'Washington' }));
  expect(short(await told(app))).toEqual(['posting.rejected a create']);
  await pull(posting('a', { state: 'MD', city: 'Washington' }));
  expect(short(await told(app))).toEqual(['posting.mirrored a created']);
});

it('tells nothing of imported mappings, and nothing without a destination', { tags: 'slow' }, async () => {
  mirror = await openMirror();
  const app = await start('on: [held]');
  await pull(posting('a'));
  expect(await told(app)).toEqual([]);
  await start(ALL);
  await writeFile(join(mirror.folder, 'mappings.csv'), 'feed,key,site_job_id\nacme,z,990\n');
  const { status } = await runProgram(mirror, 'mappings', 'import', join(mirror.folder, 'mappings.csv'), '--unchecked');
  const [row] = await app.db.query<{ n: number }>('select count(*) as n from mapping');
  expect([status, row?.n]).toEqual([0, 2]);
  expect(await told(app)).toEqual([]);
});

it('tells a destination only of its feeds, and of what it asks for', { tags: 'slow' }, async () => {
  mirror = await openMirror();
  const former = await start('on: [posting.rejected], feeds: [acme]');
  await pull(posting('a'), posting('c', { state: 'Jalisco' }));
  expect(short(await told(former))).toEqual(['posting.rejected c create']);
  await stopAll();
  const app = await start('on: [posting.rejected], feeds: [globex]');
  await pull(posting('a'), posting('c', { state: 'Sonora' }));
  expect(await told(app)).toEqual([]);
});

it('ends when no live process has the destination any more', { tags: 'slow' }, async () => {
  mirror = await openMirror();
  await start(ALL);
  await stopAll();
  const app = await start('');
  await pull(posting('a'));
  expect(await told(app)).toEqual([]);
});

it('ends a day after the last process that asked for them', { tags: 'slow' }, async () => {
  mirror = await openMirror();
  const app = await start(ALL, undefined, { ...IDLE, subscribeEveryMs: 20 });
  const confirmedAgo = (hours: number) =>
    app.db.query('update posting_subscription set confirmed_at = now() - make_interval(hours => $1)', [hours]);
  // A running process keeps asking.
  await confirmedAgo(25);
  const isRecent = `select confirmed_at > now() - interval '1 hour' as recent from posting_subscription`;
  await expect.poll(() => app.db.query(isRecent)).toEqual([{ recent: true }]);
  await stopAll();
  const other = await mirror.app();
  await other.db.query(`update posting_subscription set confirmed_at = now() - interval '23 hours'`);
  await pull(posting('a'));
  expect(short(await told(other))).toEqual(['posting.mirrored a created']);
  await other.db.query(`update posting_subscription set confirmed_at = now() - interval '25 hours'`);
  await pull(posting('a'), posting('b'));
  expect(await told(other)).toEqual([]);
});

it('writes no more while too many are undelivered', { tags: 'slow' }, async () => {
  mirror = await openMirror();
  const app = await start(ALL);
  const [row] = await app.db.query<{ evaluator: string }>('select evaluator from posting_subscription');
  const own = { destination: 'hr', evaluator: row?.evaluator ?? '', events: ['posting.mirrored'], feeds: undefined };
  const limit = () => setSubscriptions(app.db, ['acme'], [own], 3);
  await pull(posting('a'), posting('b'));
  expect(await limit()).toEqual([]);
  await pull(posting('a'), posting('b'), posting('c'));
  await app.db.query(`update alert_message set state = 'dead' where payload->'data'->>'key' = 'a'`);
  expect(await limit()).toEqual([{ destination: 'hr', isFull: true }]);
  expect(await limit()).toEqual([]);
  await pull(posting('a'), posting('b'), posting('c'), posting('d'));
  expect(short(await told(app))).toEqual([
    'posting.mirrored a created',
    'posting.mirrored b created',
    'posting.mirrored c created',
  ]);
  expect(await limit()).toEqual([{ destination: 'hr', isFull: false }]);
  await pull(posting('a'), posting('b'), posting('c'), posting('d'), posting('e'));
  expect(short(await told(app))).toEqual(['posting.mirrored e created']);
});

it('delivers them, signed, and without a secret, whatever a feed says', async () => {
  mirror = await openMirror();
  receiver = await startReceiver();
  const { BOARD_TOKEN = '' } = mirror.env;
  await start(ALL, receiver.url, { ...IDLE, sendEveryMs: 20 });
  await pull(posting('a', { state: BOARD_TOKEN }), posting('b'));
  const types = () =>
    receiver?.received.map(({ body }) => JSON.parse(body)).map(({ type, data }) => `${type} ${data.key}`);
  await expect.poll(() => types()?.sort()).toEqual(['posting.mirrored b', 'posting.rejected a']);
  for (const { headers, body } of receiver.received) {
    expect(headers['webhook-signature']).toMatch(/^v1,/);
    expect(body).not.toContain(BOARD_TOKEN);
  }
  expect(receiver.received.map(({ body }) => body).join()).toContain('[secret]');
});
