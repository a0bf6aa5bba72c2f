// One posting for each place of a record, whose texts are in one detail: whatever happens to places and details, no job is made twice,
// lost or wrongly deleted, all places of a record have the same detail, and it is requested once.
// @module-tag slow

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { feedName, postingKey } from '../../src/posting/identifiers.ts';
import { tryFeed } from '../../src/pull/preview/try-feed.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { readStory } from '../../src/store/review/posting-history.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { runProgram } from '../cli/run-program.ts';
import { sendJson, serveWeb, type WebServer } from '../feed/web-server.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { checkCounts } from './laws.ts';
import { randomOf } from './random.ts';

const FORMAT = [
  '{ type: json, records: jobs, total: total, key: id, fields: { number: id, title: title, description: detail/text,',
  'location-city: places/city, location-state: { from: places/state, as: us_state } } }',
].join(' ');

const ACME = feedName('acme');

interface Rec {
  readonly id: string;
  readonly title: string;
  readonly places: readonly { readonly city: string; readonly state: string }[];
}

const at = (city: string) => ({ city, state: 'MA' });
const rec = (id: string, cities: readonly string[], version = 1): Rec => ({
  id,
  title: `Nurse ${id} v${version}`,
  places: cities.map(at),
});

let source: WebServer;
let mirror: Mirror;
let list: readonly Rec[];
/** The total that the list states; by default it is right. */
let total: number | undefined;
/** Text of the detail; by default it follows the title. */
let text: (record: Rec) => string;
let failing: ReadonlySet<string>;

beforeEach(async () => {
  total = undefined;
  failing = new Set();
  text = ({ title }) => title.replace('Nurse', 'About');
  source = await serveWeb(({ path }, response) => {
    const id = /^\/jobs\/(\w+)/.exec(path)?.[1];
    if (id === undefined) return sendJson(response, { jobs: list, total: total ?? list.length });
    const record = list.findLast((one) => one.id === id);
    if (record === undefined || failing.has(id)) return sendJson(response, {}, 500);
    sendJson(response, { id, text: text(record) });
  });
});
afterEach(async () => {
  await mirror.close();
  await source.close();
});

async function open(feed: Readonly<Record<string, string>> = {}, searched = false): Promise<void> {
  mirror = await openMirror({
    searched,
    feed: {
      source: `"${source.origin}/jobs"`,
      format: FORMAT,
      places: '{ path: places, use: each }',
      details: '{ url: "jobs/{id}", match: { id: id }, ignore: places }',
      limits: '{ requests_per_second: 5000, attempts: 1, max_wait_seconds: 0.01 }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
      rekey_guard: '{ percent: 100, count: 100 }',
      ...feed,
    },
  });
}

/** The report of a pull, and the details that it requested. */
async function sync(...records: readonly Rec[]) {
  if (records.length > 0) list = records;
  const before = source.requests.length;
  const report = checkCounts(await mirror.sync());
  const asked = source.requests.slice(before).flatMap(({ path }) => /^\/jobs\/(\w+)/.exec(path)?.[1] ?? []);
  return { ...report, asked: asked.sort() };
}

/** The site's jobs, as `number city version`; no two may be for one place. */
async function jobs(): Promise<string[]> {
  const all = (await mirror.sandbox.inspect.jobs()).map(({ fields }) => fields);
  const places = all.map(({ number, 'location-city': city }) => `${number} ${city}`);
  expect(new Set(places).size, `no job twice: ${places.join(', ')}`).toBe(places.length);
  return all
    .map(({ number, title, description, 'location-city': city }) => {
      // Never the record of one version with the detail of another.
      expect(description).toBe(title?.replace('Nurse', 'About'));
      return `${number} ${city} ${title?.split(' ').at(-1)}`;
    })
    .sort();
}

async function discard(): Promise<void> {
  const { db } = await mirror.app();
  await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
}

const OTHER = rec('9', ['Boston']);
const NONE = { asked: [], requests: 0, complete: true };

describe('the detail of a record with several places', () => {
  it('is requested once, and again only if the record changes beyond its places', async () => {
    await open();
    const first = rec('1', ['Boston', 'Salem']);
    expect(await sync(first, OTHER)).toMatchObject({ seen: 3, created: 3, asked: ['1', '9'] });
    const { db } = await mirror.app();
    // If the record were read again, the altered content hash would cause an update.
    await db.query(`update mapping set content_hash = decode(md5('x'), 'hex') where key = '1|salem, ma'`);
    expect(await sync()).toMatchObject({ ...NONE, seen: 3, unchanged: 3 });
    expect(await sync(rec('1', ['Lynn', 'Salem', 'Boston']), OTHER)).toMatchObject({ created: 1, asked: [] });
    expect(await sync(rec('1', ['Boston', 'Lynn', 'Boston']), OTHER)).toMatchObject({ deleted: 1, gone: 1, asked: [] });
    expect(await sync(rec('1', ['Boston', 'Lynn'], 2), OTHER)).toMatchObject({ updated: 2, asked: ['1'] });
    expect(await jobs()).toEqual(['1 Boston v2', '1 Lynn v2', '9 Boston v1']);

    // A posting that is not known any more is created again, from the stored detail.
    await db.query(`delete from document where key = '1|lynn, ma'`);
    await db.query(`delete from mapping where key = '1|lynn, ma'`);
    expect(await sync()).toMatchObject({ unchanged: 2, created: 1, asked: [] });
    const story = await readStory(db, ACME, postingKey('1|lynn, ma'));
    expect(JSON.parse(`${story.detail?.document}`)).toEqual({ id: '1', text: 'About 1 v2' });

    expect(await sync(OTHER)).toMatchObject({ gone: 2, deleted: 2, asked: [] });
    expect(await sync(rec('1', ['Boston', 'Salem'], 2), OTHER)).toMatchObject({ created: 2, asked: [] });
    expect(await sync()).toMatchObject({ ...NONE, unchanged: 3 });
  });

  it('leaves all of its postings as they are if it fails, even when a person has discarded the entry', async () => {
    await open();
    await sync(rec('1', ['Boston', 'Salem']), OTHER);
    failing = new Set(['1']);
    const changed = [rec('1', ['Lynn', 'Boston'], 2), OTHER];
    const before = await jobs();
    const failed = { seen: 2, unreadable: 1, unchanged: 1, gone: 0, requests: 0 };
    expect(await sync(...changed)).toMatchObject({ ...failed, complete: false, asked: ['1'] });
    await discard();
    expect(await sync()).toMatchObject({ ...failed, complete: true });
    expect(await jobs()).toEqual(before);
    failing = new Set();
    expect(await sync()).toMatchObject({ created: 1, updated: 1, deleted: 1, complete: true, asked: ['1'] });
    expect(await jobs()).toEqual(['1 Boston v2', '1 Lynn v2', '9 Boston v1']);
    expect(await sync()).toMatchObject({ ...NONE, unchanged: 3 });
  });

  it('that is requested again applies to all places, in a pull that is not complete, too', async () => {
    await open({ details: '{ url: "jobs/{id}", match: { id: id }, ignore: [places, title], refresh_days: 1 }' });
    await sync(rec('1', ['Boston', 'Salem', 'Lynn']), OTHER);
    const { db } = await mirror.app();
    const age = () => db.query(`update detail set fetched_at = now() - interval '2 days'`);
    await age();
    expect(await sync()).toMatchObject({ unchanged: 4, requests: 0, asked: ['1', '9'] });
    await age();
    failing = new Set(['1']);
    // What is stored stays in use.
    expect(await sync()).toMatchObject({ unchanged: 4, requests: 0, asked: ['1', '9'], complete: true });
    failing = new Set();
    text = ({ id }) => `Refreshed ${id}`;
    await age();
    total = 3;
    expect(await sync()).toMatchObject({ updated: 4, complete: false, asked: ['1', '9'] });
    total = undefined;
    expect(await sync()).toMatchObject({ ...NONE, unchanged: 4 });
    const shown = (await mirror.sandbox.inspect.jobs()).map(({ fields }) => fields.description);
    expect(shown.sort()).toEqual(['Refreshed 1', 'Refreshed 1', 'Refreshed 1', 'Refreshed 9']);
  });

  it('that shows that the record is no posting ends all places of it, behind grace and guard, until it shows otherwise', async () => {
    await open({
      details: '{ url: "jobs/{id}", match: { id: id }, refresh_days: 1 }',
      skip: '{ detail/text: { matches: "^Closed" } }',
      delete_guard: '{ percent: 0, count: 1, missing_pulls: 2 }',
    });
    await sync(rec('1', ['Boston', 'Salem', 'Lynn']), OTHER);
    const { db } = await mirror.app();
    const refresh = async (prefix: string) => {
      text = ({ id, title }) => (id === '1' ? title.replace('Nurse', prefix) : title.replace('Nurse', 'About'));
      await db.query(`update detail set fetched_at = now() - interval '2 days'`);
    };
    await refresh('Closed');
    total = 3;
    expect(await sync()).toMatchObject({ skipped: 1, gone: 0, complete: false, asked: ['1', '9'] });
    total = undefined;
    expect(await sync()).toMatchObject({ skipped: 1, gone: 3, grace: 3, asked: [], complete: true });
    expect(await sync()).toMatchObject({ skipped: 1, gone: 3, held: 3, asked: [] });
    expect(await sync()).toMatchObject({ ...NONE, skipped: 1, unchanged: 1, gone: 3, held: 3 });
    await refresh('About');
    expect(await sync()).toMatchObject({ skipped: 0, gone: 0, held: 0, unchanged: 4, requests: 0, asked: ['1', '9'] });
    expect(await sync()).toMatchObject({ ...NONE, unchanged: 4 });
    expect(await jobs()).toEqual(['1 Boston v1', '1 Lynn v1', '1 Salem v1', '9 Boston v1']);
  });

  it('is kept when the mapping, the setting or the name of the feed changes, and counts once in records with one key', async () => {
    const places = '{ path: places, use: first }';
    await open({ places, details: '{ url: "jobs/{id}", match: { id: id } }' });
    expect(await sync(rec('1', ['Boston', 'Salem']), OTHER)).toMatchObject({ created: 2, asked: ['1', '9'] });
    await mirror.configure('use: first', 'use: each');
    expect(await sync()).toMatchObject({ created: 3, deleted: 2, asked: [] });
    await mirror.configure('title: title', 'title: { template: "{title} {id}" }');
    expect(await sync()).toMatchObject({ updated: 3, asked: [] });
    await mirror.configure('title: { template: "{title} {id}" }', 'title: title');
    await mirror.configure('acme:', 'other:');
    await mirror.stopEngine();
    expect((await runProgram(mirror, 'feeds', 'rename', 'acme', 'other')).status).toBe(0);
    const before = source.requests.length;
    const renamed = await mirror.sync('other');
    expect(renamed).toMatchObject({ updated: 3, created: 0, deleted: 0 });
    // The list, and no detail.
    expect(source.requests.length - before).toBe(1);
    expect(await jobs()).toEqual(['1 Boston v1', '1 Salem v1', '9 Boston v1']);

    // One row for each place, and one of them twice.
    list = [rec('1', ['Boston']), rec('1', ['Salem']), rec('1', ['Salem']), OTHER];
    const rows = await mirror.sync('other');
    expect(rows).toMatchObject({ seen: 4, duplicates: 1, created: 0, deleted: 0, requests: 0 });
    expect(await mirror.sync('other')).toMatchObject({ seen: 4, duplicates: 1, unchanged: 3, requests: 0 });

    const { config } = await mirror.app();
    const [setup] = feedSetups(config, ['other']).values();
    const trial = setup && (await tryFeed(setup, { signal: new AbortController().signal, samples: 1 }));
    expect(trial).toMatchObject({ seen: 4, postings: 3, withoutDetail: 2, repeated: 1, conflicting: 0 });
  });
});

it('recover makes no second job of a place, although the places of a record share a reference', async () => {
  await open({}, true);
  await sync(rec('1', ['Boston', 'Salem']), OTHER);
  const before = await jobs();
  for (const table of ['mapping', 'document', 'detail']) await mirror.query(`delete from ${table}`);
  await mirror.stopEngine();
  const recovered = await runProgram(mirror, 'recover', 'acme', '--yes', '--json');
  expect(recovered.json().at(-1)).toMatchObject({ unknown: 1, unsure: 2, without_job: 0, recorded: 1 });
  expect(await sync()).toMatchObject({ unchanged: 1, created: 0, in_doubt: 2, requests: 0, asked: ['1', '9'] });
  expect(await jobs()).toEqual(before);
});

describe('random lists, places and failures', () => {
  it.each([1, 2])(
    'seed %i: the site has exactly what could be read, and a quiet pull requests no detail',
    { tags: 'slow' },
    async (seed) => {
      await open();
      const random = randomOf(seed);
      const cities = ['Boston', 'Salem', 'Lynn', 'Quincy'];
      const known = new Map<string, Rec>();
      let expected = new Map<string, string>();
      for (let pull = 1; pull <= 12; pull++) {
        for (const id of ['1', '2', '3', '4']) {
          if (random.chance(40)) continue;
          if (random.chance(20)) known.delete(id);
          else known.set(id, rec(id, random.some(cities, 1 + random.number(4)), random.chance(50) ? pull : 1));
        }
        failing = new Set(random.chance(60) ? random.some(['1', '2', '3', '4'], 2) : []);
        list = [...known.values(), OTHER];
        total = random.chance(20) ? list.length + 1 : undefined;
        const before = expected;
        const report = await sync();
        const isFailed = ({ id }: Rec) => failing.has(id) && report.asked.includes(id);
        expect(report.unreadable).toBe(list.filter(isFailed).length);
        expect(report.complete).toBe(report.unreadable === 0 && total === undefined);
        const stays = (job: string) =>
          !report.complete || list.some((one) => isFailed(one) && job.startsWith(`${one.id} `));
        expected = new Map([...before].filter(([job]) => stays(job)));
        for (const one of list.filter((each) => !isFailed(each)))
          for (const { city } of one.places) expected.set(`${one.id} ${city}`, one.title.split(' ').at(-1) ?? '');
        const desired = [...expected].map(([job, version]) => `${job} ${version}`).sort();
        expect(await jobs(), `pull ${pull}`).toEqual(desired);
      }
      failing = new Set();
      total = undefined;
      await sync();
      const places = new Set(list.flatMap(({ id, places: all }) => all.map(({ city }) => `${id} ${city}`)));
      expect(await sync()).toMatchObject({ ...NONE, seen: places.size, unchanged: places.size });
    },
  );
});
