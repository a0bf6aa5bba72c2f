// An edit is tried before it is made, and is of one feed unless all are meant: the same on the command line, in the API and on the pages.
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { listGroups } from '../../src/review/list-groups.ts';
import type { App } from '../../src/runtime/app.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { listBulk } from '../../src/store/review/bulk-actions.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { boxesOf, visitorOf } from '../web/form-visitor.ts';
import { type Served, serve } from '../web/served.ts';

const FIELD = 'location-state';

let app: App;
let served: Served;
const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  await appendFile(mirror.configPath, '  munich:\n    site: board\n    source: munich.xml\n    format: indeed\n');
  app = await mirror.app();
  await mirror.writeFeed(feedXml(['a', 'b'].map((key) => posting(key, { state: 'Jalisco' }))));
  await writeFile(join(mirror.folder, 'munich.xml'), feedXml([posting('m', { state: 'Bavaria' })]));
  for (const setup of feedSetups(app.config, ['acme', 'munich'])) {
    const end = await pullFeed(setup, { db: app.db, log: app.log, signal: new AbortController().signal });
    expect(end.kind).toBe('committed');
  }
  served = await serve(mirror);
});
afterEach(async () => {
  await served?.close();
});

interface Ask {
  readonly value: string;
  readonly count: number;
  /** `undefined`: none was said. */
  readonly feed?: 'acme' | 'all';
  readonly anyway?: true;
}

/** What is told if nothing was done; `undefined`: it was done. */
type Told = Promise<string | undefined>;

interface Medium {
  edit(group: string, ask: Ask): Told;
  /** An entry alone. */
  editOne(id: number, value: string, anyway?: true): Told;
  alsoNew(group: string): Promise<void>;
}

const throughTerminal = (): Medium => {
  const run = async (...args: readonly string[]): Told => {
    const { status, errors } = await runProgram(mirror, 'review', 'edit', ...args, '--no-send');
    return status === 1 ? errors : undefined;
  };
  return {
    edit: (group, { value, count, feed, anyway }) =>
      run(
        ...(feed === 'acme' ? [feed] : []),
        ...['--group', group, '--set', `${FIELD}=${value}`, '--count', String(count)],
        ...(feed === 'all' ? ['--all-feeds'] : []),
        ...(anyway === true ? ['--anyway'] : []),
      ),
    editOne: (id, value, anyway) =>
      run(String(id), '--set', `${FIELD}=${value}`, ...(anyway === true ? ['--anyway'] : [])),
    async alsoNew(group) {
      const { status, errors } = await runProgram(mirror, 'review', 'rules', 'add', group, '--set', `${FIELD}=Texas`);
      expect(status, errors).toBe(0);
    },
  };
};

const throughApi = (): Medium => {
  const post = async (path: string, body: object): Told => {
    const answer = await served.api('POST', path, body);
    if (answer.status < 300) return undefined;
    expect(answer.status, answer.text).toBe(422);
    return JSON.stringify(answer.body);
  };
  const edit = (value: string) => ({ set: { [FIELD]: value } });
  return {
    edit: (group, { value, count: expected, feed, anyway }) =>
      post('review/actions', {
        action: 'edit',
        filter: { group, ...(feed === 'acme' ? { feed } : {}) },
        expected,
        edit: edit(value),
        ...(feed === 'all' ? { all_feeds: true } : {}),
        anyway,
      }),
    editOne: (id, value, anyway) => post(`review/${id}/edit`, { fields: edit(value).set, anyway }),
    alsoNew: async (group) =>
      expect(await post('review/rules', { action: 'edit', group, edit: edit('Texas') })).toBeUndefined(),
  };
};

const throughPages = async (): Promise<Medium> => {
  const anna = await visitorOf(served, 'anna');
  return {
    async edit(group, { value, count, feed = '', anyway }) {
      const page = await anna.get(`/review/entries?group=${group}`);
      const answer = await anna.press(page, /^Set for/, {
        value,
        edit_feed: feed === 'all' ? '*' : feed,
        ...(anyway === true ? { anyway: 'true' } : {}),
      });
      if (answer.status === 200) {
        expect(answer.text).toContain(`${count}`);
        return undefined;
      }
      expect(answer.status, answer.text).toBe(422);
      return answer.text;
    },
    // The page of a posting offers no edit that leaves it rejected.
    async editOne(id, value, anyway) {
      const [row] = await app.db.query<{ feed: string; key: string }>('select feed, key from change where id = $1', [
        id,
      ]);
      if (anyway === true) return throughTerminal().editOne(id, value, anyway);
      const page = await anna.get(`/posting?feed=${row?.feed}&key=${row?.key}`);
      const answer = await anna.press(page, 'Save and send', { [`field.${FIELD}`]: value });
      return answer.status === 200 ? undefined : answer.text;
    },
    async alsoNew(group) {
      const page = await anna.get(`/review/entries?group=${group}`);
      const answer = await anna.press(page, /^Set for/, { value: 'Texas', also_new: 'true' });
      expect(answer.status, answer.text).toBe(200);
    },
  };
};

const values = async (): Promise<string[]> => {
  const rows = await app.db.query<{ said: string }>(
    `select key || ' ' || state || ' ' || (fields->>'${FIELD}') as said from change order by feed, key`,
  );
  return rows.map(({ said }) => said);
};

/** Carries out what an adapter has only started. */
async function finish(): Promise<void> {
  const [newest] = await listBulk(app.db, 1);
  if (newest?.state === 'open') await runBulk(app.db, app.config, newest.id, { signal: new AbortController().signal });
}

it.each([
  ['on the command line', throughTerminal],
  ['in the API', throughApi],
  ['on the pages', throughPages],
] as const)('%s', async (_, open) => {
  const medium = await open();
  const [{ id: group = '' } = {}] = await listGroups(app.db, {}, { groups: 1, values: 1 });
  const before = ['a rejected Jalisco', 'b rejected Jalisco', 'm rejected Bavaria'];
  expect(await values()).toEqual(before);

  const several = await medium.edit(group, { value: 'Texas', count: 3 });
  expect(several).toMatch(/2 feeds/);
  expect(several).toMatch(/acme.*2.*munich.*1/s);
  const mistyped = await medium.edit(group, { value: 'Illinoiss', count: 2, feed: 'acme' });
  expect(mistyped).toMatch(/2 of 2 entries would still be rejected/);
  expect(mistyped).toMatch(/did you mean Illinois\?/);
  expect(await values()).toEqual(before);
  expect(await listBulk(app.db, 1)).toEqual([]);

  const [, , munich] = await app.db.query<{ id: number }>('select id from change order by feed, key');
  const one = await medium.editOne(munich?.id ?? 0, 'Texaz');
  expect(one).toMatch(/did you mean Texas\?/);
  expect(await values()).toEqual(before);
  expect(await medium.editOne(munich?.id ?? 0, 'Texaz', true)).toBeUndefined();
  expect((await values()).at(-1)).toBe('m rejected Texaz');

  expect(await medium.edit(group, { value: 'Utaah', count: 3, feed: 'all', anyway: true })).toBeUndefined();
  await finish();
  expect(await values()).toEqual(['a rejected Utaah', 'b rejected Utaah', 'm rejected Utaah']);
  expect(await medium.edit(group, { value: 'Illinois', count: 2, feed: 'acme' })).toBeUndefined();
  await finish();
  expect(await values()).toEqual(['a ready Illinois', 'b ready Illinois', 'm rejected Utaah']);

  // New entries of another feed may come into the group later.
  await medium.alsoNew(group);
  expect(await app.db.query('select feed from review_rule')).toEqual([{ feed: 'munich' }]);
});

it('entries that are chosen one by one are of one feed as well, unless all feeds are meant', async () => {
  const rows = await app.db.query<{ id: number }>('select id from change order by feed, key');
  const ids = rows.map(({ id }) => id);
  const refused = await runProgram(
    mirror,
    'review',
    'edit',
    ...ids.map(String),
    '--set',
    `${FIELD}=Texas`,
    '--no-send',
  );
  expect([refused.status, refused.errors]).toEqual([1, expect.stringMatching(/2 feeds.*--all-feeds/s)]);
  const body = { action: 'edit', filter: { ids }, expected: 3, edit: { set: { [FIELD]: 'Texas' } } };
  const api = await served.api('POST', 'review/actions', body);
  expect([api.status, api.body.feeds]).toEqual([
    422,
    [
      { feed: 'acme', count: 2 },
      { feed: 'munich', count: 1 },
    ],
  ]);
  const anna = await visitorOf(served, 'anna');
  const [{ id: group = '' } = {}] = await listGroups(app.db, {}, { groups: 1, values: 1 });
  const page = await anna.get(`/review/entries?group=${group}`);
  const entry = boxesOf(page);
  const mixed = await anna.press(page, /^Set for/, { value: 'Texas', entry });
  expect([mixed.status, mixed.text]).toEqual([422, expect.stringContaining('2 feeds')]);
  expect(await listBulk(app.db, 1)).toEqual([]);
  expect((await anna.press(page, /^Set for/, { value: 'Texas', entry, edit_feed: '*' })).status).toBe(200);
  await finish();
  expect(await values()).toEqual(['a ready Texas', 'b ready Texas', 'm ready Texas']);
});

it('the commands that a group of several feeds shows are each of one feed', async () => {
  const [{ id: group = '' } = {}] = await listGroups(app.db, {}, { groups: 1, values: 1 });
  const { out } = await runProgram(mirror, 'review', 'show', '--group', group);
  expect(out).toMatch(/review edit acme --set location-state=VALUE --group \S+ --count 2/);
  expect(out).toMatch(/review edit munich --set location-state=VALUE --group \S+ --count 1/);
  const page = await (await visitorOf(served, 'anna')).get(`/review/entries?group=${group}`);
  expect(page.text).toMatch(/<option value="acme">acme \(2\)<\/option>/);
  expect(page.text).toMatch(/<option value="Massachusetts"/);
});
