// The status of a feed in each of its states: the command, the API and the pages show the same.
import { afterEach, expect, it } from 'vitest';
import { readStatus, type Status } from '../../src/operations/status.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import { pageAddress } from '../../src/web/pages/parts/addresses.ts';
import { runProgram } from '../cli/run-program.ts';
import { acme, openStage, type Stage } from '../review/stage.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { type Served, serve } from '../web/served.ts';

let stage: Stage;
let served: Served;
afterEach(async () => {
  await served.close();
  await stage.close();
});

const sql = (text: string) => stage.app.db.query(text);
const schedule = `insert into feed_schedule (feed, pattern, time_zone, digest, set_at, set_by, due_at)
  values ('acme', '* * * * *', 'UTC', '', now(), 0, now() - interval '1 hour')`;

/** `members`: of the JSON. `says`: in the text, and on the overview or the page of the feed. */
const STATES: readonly {
  readonly name: string;
  reach(): Promise<unknown>;
  readonly members: object;
  readonly says?: readonly RegExp[];
  readonly pages?: readonly RegExp[];
  readonly text?: readonly RegExp[];
}[] = [
  {
    name: 'never pulled',
    reach: async () => undefined,
    members: { configured: true, live: 0, last_pull: null, last_complete: null, next_run: null, stopped: null },
    says: [/never/, /no schedule/],
  },
  {
    name: 'mirrored',
    async reach() {
      await stage.pull(postings(3));
      await stage.acceptAll();
    },
    members: { live: 3, ready: 0, last_pull: { pull: 1, seen: 3, complete: true }, left: null, late: null },
    pages: [/3 live/],
  },
  {
    name: 'of a late schedule',
    reach: () => sql(schedule),
    members: { schedule: '* * * * *', time_zone: 'UTC', late: expect.stringContaining('no process runs its schedule') },
    text: [/^FAILING: feed acme: its run is 1 h/m],
    pages: [/Feed acme: its run is 1 h/],
  },
  {
    name: 'with entries of each kind',
    async reach() {
      const odd = posting('odd', { state: 'Jalisco' });
      await stage.pull([...postings(2), posting('wrong'), posting('doubt'), odd]);
      await stage.fail('wrong', 'failed');
      await stage.fail('doubt', 'in_doubt');
      await stage.acceptAll();
    },
    members: { live: 2, rejected: 1, failed: 1, in_doubt: 1, in_doubt_for_seconds: expect.any(Number) },
    text: [/acme: 1 create in doubt/, /acme: 2 more entries for review/],
    pages: [/1 rejected/, /1 failed/, /1 in doubt/, /1 create in doubt/, /2 entries wait for review/],
  },
  {
    name: 'with held deletes',
    async reach() {
      await stage.pull(postings(10));
      await stage.acceptAll();
      await stage.pull(postings(2));
    },
    members: {
      held: 8,
      held_for_seconds: expect.any(Number),
      hold_reason: expect.stringContaining('above the limit'),
      held_advice: { words: 'delete them', action: { kind: 'approve_held', feed: 'acme', count: 8 } },
    },
    says: [/8 deletes? held/, /above the limit/],
    pages: [/Decide about 8 held deletes/],
    text: [/delete them: {2}.* review approve acme --count 8/],
  },
  {
    name: 'stopped by an undo',
    async reach() {
      await stage.pull(postings(1));
      await sql(`insert into pull (feed, site, undoes) values ('acme', 'board', 1)`);
      await sql(`update feed_state set stopped_by = 2, stopped_at = now()`);
    },
    members: { stopped: { undo: 2, undone: 1, since: expect.any(String) } },
    pages: [/pull 1 was undone/],
  },
  {
    name: 'with changed keys',
    async reach() {
      await stage.pull(postings(1));
      await sql(`update feed_state set rekey_since = now(), rekey_all = true, rekey_note = '"its keys are new"'`);
    },
    members: { rekey: 'its keys are new' },
    says: [/its keys are new/],
  },
  {
    name: 'with a search that has failed',
    async reach() {
      await stage.pull(postings(1));
      await sql(`update feed_state set site_checked_at = null, site_check_note = '"the list can not be read"'`);
    },
    members: { search: 'the list can not be read' },
    text: [/acme: the list can not be read/],
  },
  {
    name: 'with warnings of its mapping',
    async reach() {
      await stage.pull(postings(1));
      await sql(`update feed_state set warnings = '["no record has the path x"]'`);
    },
    members: { warnings: ['no record has the path x'] },
    says: [/[wW]arning: no record has the path x/],
  },
  {
    name: 'verified',
    async reach() {
      await stage.pull(postings(1));
      await sql(`insert into feed_verify (feed, ended_at, result) values ('acme', now(),
        '{"jobs": 3, "same": 1, "changed": 2, "gone": 0, "foreign": 0, "untold": 0, "marked": 0, "left": 2}')`);
    },
    members: { last_verify: { jobs: 3, same: 1, changed: 2, left: 2, at: expect.any(String) } },
    text: [/acme: 2 jobs differ from what was sent/],
  },
  {
    name: 'incomplete',
    reach: () => stage.pull('<?xml version="1.0"?><source><job><referencenumber>p1</referencenumber></job>'),
    members: { last_pull: { complete: false, shortfalls: [expect.any(String)] }, last_complete: null },
    text: [/acme: pull 1: /],
  },
];

it.each(STATES)('a feed that is $name', async ({ reach, members, says = [], pages = [], text = [] }) => {
  stage = await openStage();
  served = await serve(stage.mirror);
  await reach();
  await expectSame('acme', members, { says, pages, text });
});

it.each([
  ['left', {}, { configured: false, retired: false, left: expect.stringContaining('2 changes are not sent') }],
  ['retired', { retired: true }, { configured: false, retired: true, left: null }],
] as const)('a feed that is %s is not late', async (_name, { retired = false }: { retired?: boolean }, members) => {
  stage = await openStage();
  served = await serve(stage.mirror);
  await stage.pull(postings(2));
  for (const table of ['feed_state', 'change', 'pull']) await sql(`update ${table} set feed = 'former'`);
  await sql(schedule.replace(`'acme'`, `'former'`));
  if (retired) await sql(`update feed_state set retired_at = now() where feed = 'former'`);
  const says = [retired ? /retired/ : /not configured/];
  await expectSame('former', { ...members, late: null }, { says, text: [/former/], pages: [] });
});

interface Expected {
  readonly says: readonly RegExp[];
  readonly pages: readonly RegExp[];
  readonly text: readonly RegExp[];
}

async function expectSame(feed: string, members: object, { says, pages, text }: Expected): Promise<void> {
  const printed = (await runProgram(stage.mirror, 'status', '--json')).json().find((each) => each.feed === feed);
  expect(printed).toMatchObject(members);
  const listed = await served.api('GET', 'feeds');
  const one = await served.api('GET', `feeds/${feed}`);
  const whole = await served.api('GET', 'status');
  const found = [listed.body.items, [one.body], whole.body.feeds].map((feeds: { feed: string }[]) =>
    steady(feeds.find((each) => each.feed === feed)),
  );
  // Commands name the configuration file that they were given.
  expect(found).toEqual([steady(printed), steady(printed), steady(printed)]);
  const told = (await runProgram(stage.mirror, 'status')).out;
  for (const expected of [...says, ...text]) expect(told).toMatch(expected);
  const anna = await visitorOf(served, 'anna');
  const shown = await Promise.all(['/', pageAddress.feed(feed as typeof acme)].map((path) => anna.get(path)));
  const page = shown.map(({ text }) => text.replaceAll(/<[^>]*>/g, '')).join('\n');
  for (const expected of [...says, ...pages]) expect(page).toMatch(expected);
}

/** Without what goes on while it is read, and the file that commands name. */
const steady = (feed: unknown): unknown =>
  JSON.parse(
    JSON.stringify(feed, (name, value) => (name.endsWith('_seconds') || name === 'next_run' ? undefined : value))
      .replaceAll(/node \S+main\.js/g, 'jobmirror')
      .replaceAll(/ --config \S+?\.yaml/g, '')
      .replaceAll(/its run is [^:"]* late/g, 'its run is late'),
  );

it('is read with the whole status at once, of one feed or of all', async () => {
  stage = await openStage();
  served = await serve(stage.mirror);
  await stage.pull(postings(2));
  const parts = ({ sites, feeds, check }: Status) => ({
    sites: sites.length,
    feeds: feeds.length,
    check: check.status,
  });
  expect(parts(await readStatus(stage.app))).toEqual({ sites: 1, feeds: 1, check: 'failing' });
  expect(parts(await readStatus(stage.app, acme))).toEqual({ sites: 1, feeds: 1, check: 'failing' });
});

it('takes few connections at a time, however many sites there are', async () => {
  stage = await openStage();
  served = await serve(stage.mirror);
  const { app } = stage;
  const [board] = app.config.sites.values();
  if (board === undefined) throw new Error('no site');
  const names = Array.from({ length: 60 }, (_, at) => siteName(`board-${at}`));
  const sites = new Map(names.map((name) => [name, { ...board, name }]));
  let [running, most] = [0, 0];
  const query: typeof app.db.query = async (...statement) => {
    most = Math.max(most, ++running);
    return app.db.query<never>(...statement).finally(() => running--);
  };
  const counting = { ...app.db, query, prepared: { ...app.db.prepared, query } };
  const read = await readStatus({ ...app, config: { ...app.config, sites }, db: counting });
  expect(read.sites.map(({ site }) => site)).toEqual(names);
  expect(most).toBeLessThan(20);
});
