// Conditions on dates: their outcome changes although the feed does not, by the clock of the database, and what follows is planned,
// guarded and stored like any other change.
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { checkCounts } from '../laws/laws.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 1, 9);
/** An instant, some days after the first pull. */
const day = (days: number): string => new Date(NOW + days * DAY_MS).toISOString();

let mirror: Mirror;
let server: Server | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await mirror.close();
  server?.close();
  server = undefined;
});

const OLD = { skip: '{ postedAt: { older_than: 30d } }' };
const open = async (feed: MirrorOptions['feed'] = OLD, options: MirrorOptions = {}) => {
  mirror = await openMirror({ ...options, feed: { ...feed } });
};
const has = (list: readonly TestPosting[]) => mirror.writeFeed(feedXml(list));

/** Days by the clock of the source. */
let sourceDays = 0;

/** Pulls with a database whose clock is so many days after {@link NOW}. */
async function sync(days: number, bySource = days) {
  sourceDays = bySource;
  const { db } = await mirror.app();
  const query = db.query.bind(db);
  const shifted = vi
    .spyOn(db, 'query')
    .mockImplementation(async (text, values) =>
      text === 'select clock_timestamp() as now' ? [{ now: new Date(NOW + days * DAY_MS) }] : query(text, values),
    );
  try {
    return checkCounts(await mirror.sync());
  } finally {
    shifted.mockRestore();
  }
}

const live = async () => [...(await mirror.siteJobs()).keys()].sort();
const rows = async () =>
  mirror.query<{ due: Date | null; key: string | null }>(
    'select due_at as due, skipped_key as key from dated_record order by due_at nulls first, skipped_key',
  );
const db = async () => (await mirror.app()).db;

/** Serves the feed with an ETag. Returns its address, and how often it answered with a document. */
async function serve(list: () => readonly TestPosting[]) {
  let sent = 0;
  server = createServer((request, response) => {
    const content = feedXml(list());
    const etag = `"${content.length}"`;
    response.setHeader('date', new Date(NOW + sourceDays * DAY_MS).toUTCString());
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    sent++;
    return response.writeHead(200, { etag, 'content-type': 'application/xml' }).end(content);
  });
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return { source: `http://127.0.0.1:${port}/feed.xml`, sent: () => sent };
}

const FRESH = postings(4).map((one) => ({ ...one, postedAt: day(0) }));

describe('an unchanged feed whose posting turns 31 days old', () => {
  const list = [...FRESH, posting('old', { postedAt: day(-10) })];

  it('loses its job then, on the fast path, and says nothing more', async () => {
    await open();
    await has(list);
    expect(await sync(0)).toMatchObject({ status: 'mirrored', created: 5, skipped: 0 });
    expect(await sync(19.9)).toMatchObject({ unchanged: 5, skipped: 0, requests: 0 });
    expect(await sync(20.1)).toMatchObject({ complete: true, unchanged: 4, skipped: 1, gone: 1, deleted: 1 });
    expect(await live()).toEqual(['p1', 'p2', 'p3', 'p4']);
    for (const days of [20.2, 29.9]) {
      expect(await sync(days)).toMatchObject({ unchanged: 4, skipped: 1, gone: 0, requests: 0 });
    }
    expect(await rows()).toEqual([
      { due: null, key: 'old' },
      ...FRESH.map(() => ({ due: new Date(NOW + 30 * DAY_MS), key: null })),
    ]);
  });

  it('although the source says that nothing has changed', async () => {
    const { source, sent } = await serve(() => list);
    await open({ ...OLD, source });
    await sync(0);
    expect(await sync(1)).toMatchObject({ status: 'not_modified' });
    expect(await sync(20.1)).toMatchObject({ status: 'mirrored', skipped: 1, deleted: 1 });
    expect(await sync(20.2)).toMatchObject({ status: 'not_modified', skipped: 1, unchanged: 4 });
    expect(sent()).toBe(2);
  });

  it('after its grace, which only complete pulls count', async () => {
    const { source } = await serve(() => list);
    await open({ ...OLD, source, delete_guard: '{ missing_pulls: 3 }' });
    await sync(0);
    expect(await sync(21)).toMatchObject({ skipped: 1, grace: 1, deleted: 0 });
    expect(await sync(21)).toMatchObject({ skipped: 1, grace: 1, deleted: 0 });
    expect(await sync(21)).toMatchObject({ skipped: 1, grace: 0, deleted: 1 });
    expect(await sync(21)).toMatchObject({ status: 'not_modified' });
  });

  it('with many others, only once a person has approved the deletes', async () => {
    await open();
    const many = postings(7).map((one) => ({ ...one, postedAt: day(-1) }));
    await has([...many, ...postings(7).map(({ key }) => posting(`n${key}`, { postedAt: day(5) }))]);
    await sync(0);
    expect(await sync(30)).toMatchObject({ status: 'review', held: 7, deleted: 0, skipped: 7, gone: 7 });
    expect(await sync(30)).toMatchObject({ held: 7, deleted: 0, skipped: 7, gone: 7, requests: 0 });
    expect(await live()).toHaveLength(14);
    await mirror.stopEngine();
    expect((await runProgram(mirror, 'review', 'approve', 'acme', '--count', '7')).status).toBe(0);
    await sync(30);
    expect(await live()).toHaveLength(7);
  });

  it('stays live under a policy that deletes nothing', { tags: 'slow' }, async () => {
    await open({ ...OLD, policy: 'upsert_only' });
    await has(list);
    await sync(0);
    for (const days of [21, 22, 23]) {
      expect(await sync(days)).toMatchObject({ complete: true, unchanged: 4, skipped: 1, deleted: 0 });
    }
    expect(await live()).toHaveLength(5);
  });

  it('is in the plan, which stores nothing', async () => {
    await open({ skip: '{ date: postedAt, older_than: 30d }' });
    const past = new Date(Date.now() - 31 * DAY_MS).toISOString();
    await has([posting('p1', { postedAt: new Date().toISOString() }), posting('old', { postedAt: past })]);
    await mirror.stopEngine();
    expect((await runProgram(mirror, 'plan', 'acme', '--json')).json()).toMatchObject([{ key: 'p1' }]);
    expect(await rows()).toEqual([]);
  });
});

it('creates a posting at its start date, and ends it after its closing date, in the time zone of the feed', async () => {
  await open({
    skip: '[{ date: startsAt, future: true }, { closesAt: { past: true } }]',
    time_zone: 'America/New_York',
  });
  await has([...FRESH, posting('new', { startsAt: '2026-11-10', closesAt: '11 Nov 2026' })]);
  const ofDay = (time: string) => (Date.parse(time) - NOW) / DAY_MS;
  expect(await sync(0)).toMatchObject({ created: 4, skipped: 1 });
  expect(await sync(ofDay('2026-11-10T04:59:59Z'))).toMatchObject({ unchanged: 4, skipped: 1, requests: 0 });
  expect(await sync(ofDay('2026-11-10T05:00:00Z'))).toMatchObject({ created: 1, skipped: 0 });
  expect(await live()).toContain('new');
  expect(await sync(ofDay('2026-11-12T04:59:59Z'))).toMatchObject({ unchanged: 5, skipped: 0, requests: 0 });
  expect(await sync(ofDay('2026-11-12T05:00:00Z'))).toMatchObject({ unchanged: 4, skipped: 1, deleted: 1 });
  expect(await live()).not.toContain('new');
});

it('updates a posting if a date chooses another value of a field', async () => {
  await open({
    fields: '{ category-name: [{ when: { closesAt: { past: false } }, value: Open }, { value: Late }] }',
  });
  await has([posting('p1', { closesAt: day(5) }), posting('p2', { closesAt: day(50) }), posting('p3')]);
  await sync(0);
  const categories = async () =>
    Object.fromEntries([...(await mirror.siteJobs())].map(([key, fields]) => [key, fields['category-name']]));
  expect(await categories()).toEqual({ p1: 'Open', p2: 'Open', p3: 'Late' });
  expect(await sync(4.9)).toMatchObject({ unchanged: 3, requests: 0 });
  expect(await sync(5.1)).toMatchObject({ updated: 1, unchanged: 2 });
  expect(await categories()).toEqual({ p1: 'Late', p2: 'Open', p3: 'Late' });
  expect(await sync(5.2)).toMatchObject({ unchanged: 3, requests: 0 });
  expect(await rows()).toHaveLength(1);
});

it('ends all jobs of a record with several places, and counts each', async () => {
  await open({
    ...OLD,
    places: '{ path: city, split: ";", use: each }',
    delete_guard: '{ percent: 100, count: 100 }',
  });
  await has([...FRESH, posting('old', { postedAt: day(-10), city: 'Boston;Salem;Lowell' })]);
  expect(await sync(0)).toMatchObject({ created: 7 });
  expect(await sync(1)).toMatchObject({ unchanged: 7, requests: 0 });
  expect(await sync(21)).toMatchObject({ unchanged: 4, skipped: 1, gone: 3, deleted: 3 });
  expect(await sync(22)).toMatchObject({ unchanged: 4, skipped: 1, requests: 0 });
});

it('reads a due record of a list with its stored detail, and requests a detail only of what is a posting', async () => {
  const asked: string[] = [];
  const jobs = [
    { id: 'a', closes: day(5) },
    { id: 'b', closes: day(50) },
    { id: 'c', starts: day(7), closes: day(50) },
  ];
  server = createServer((request, response) => {
    const id = /^\/jobs\/(\w+)$/.exec(request.url ?? '')?.[1];
    if (id !== undefined) asked.push(id);
    const { closes } = jobs.find((one) => one.id === id) ?? {};
    response.setHeader('date', new Date(NOW + sourceDays * DAY_MS).toUTCString());
    response.setHeader('content-type', 'application/json');
    const list = jobs.map((one) => ({ id: one.id, title: `Nurse ${one.id}`, state: 'MA', starts: one.starts }));
    response.end(JSON.stringify(id === undefined ? list : { id, text: 'Work', closes }));
  });
  await listen(server);
  const { port } = server.address() as AddressInfo;
  await open({
    source: `http://127.0.0.1:${port}/jobs`,
    format:
      '{ type: json, key: id, fields: { number: id, title: title, description: detail/text, location-state: { from: state, as: us_state } } }',
    details: '{ url: "jobs/{id}" }',
    skip: '[{ date: detail/closes, past: true }, { starts: { future: true } }]',
  });
  expect(await sync(0)).toMatchObject({ complete: true, created: 2, skipped: 1 });
  expect(await sync(4)).toMatchObject({ unchanged: 2, skipped: 1, requests: 0 });
  expect(await sync(5)).toMatchObject({ unchanged: 1, skipped: 2, deleted: 1 });
  expect(asked.sort()).toEqual(['a', 'b']);
  expect(await sync(8)).toMatchObject({ unchanged: 1, created: 1, skipped: 1 });
  expect(asked.sort()).toEqual(['a', 'b', 'c']);
  expect(await sync(9)).toMatchObject({ unchanged: 2, skipped: 1, requests: 0 });
  expect(await live()).toEqual(['b', 'c']);
});

it('holds for a feed of several sources, of which one has nothing new', { tags: 'slow' }, async () => {
  const { source } = await serve(() => FRESH);
  await open();
  await mirror.configure('source: feed.xml', `sources: ["${source}", old.xml]`);
  await writeFile(`${mirror.folder}/old.xml`, feedXml([posting('old', { postedAt: day(-10) })]));
  expect(await sync(0)).toMatchObject({ created: 5 });
  expect(await sync(21)).toMatchObject({ unchanged: 4, skipped: 1, deleted: 1 });
  expect(await sync(22)).toMatchObject({ unchanged: 4, skipped: 1, requests: 0 });
});

it('lets a posting return in its grace, and while its delete is held', { tags: 'slow' }, async () => {
  await open({ skip: '{ date: closesAt, past: true }', delete_guard: '{ percent: 0, count: 0, missing_pulls: 2 }' });
  const list = [...FRESH, posting('p5', { closesAt: day(3) })];
  await has(list);
  await sync(0);
  expect(await sync(4)).toMatchObject({ skipped: 1, grace: 1 });
  await has([...FRESH, posting('p5', { closesAt: day(8) })]);
  expect(await sync(5)).toMatchObject({ unchanged: 5, skipped: 0, grace: 0 });
  expect(await sync(9)).toMatchObject({ skipped: 1, grace: 1 });
  expect(await sync(9)).toMatchObject({ skipped: 1, held: 1 });
  await has([...FRESH, posting('p5', { closesAt: day(80) })]);
  expect(await sync(10)).toMatchObject({ unchanged: 5, held: 0, requests: 0 });
  expect(await live()).toHaveLength(5);
});

it('why says since when, and until when, the record of a posting is skipped', async () => {
  await open({ skip: '[{ postedAt: { older_than: 30d } }, { startsAt: { future: true } }]' });
  await has([...FRESH, posting('old', { postedAt: day(-40) }), posting('new', { startsAt: day(5) })]);
  await sync(0);
  await mirror.stopEngine();
  const old = await runProgram(mirror, 'why', 'acme', 'old');
  expect(old.out).toMatch(
    /^The record of posting old in feed acme is skipped by its dates \(setting skip\) since .*: it has no job\./,
  );
  expect((await runProgram(mirror, 'why', 'acme', 'new')).out).toMatch(
    /skipped by its dates \(setting skip\) until .*: it has no job\. The first pull after that reads the record again/,
  );
  const [story] = (await runProgram(mirror, 'why', 'acme', 'new', '--json')).json();
  expect(story).toMatchObject({ skipped_by_date: { since: null, until: day(5) } });
  expect((await runProgram(mirror, 'why', 'acme', 'p1', '--json')).json()).toMatchObject([{ skipped_by_date: null }]);
});

describe('a due record', () => {
  const list = [posting('old', { postedAt: day(-10) }), ...FRESH];
  const cut = (keep: number) => {
    const whole = feedXml(list);
    return whole.slice(0, whole.split('<job>').slice(0, keep).join('<job>').length);
  };

  // How many records come before the cut: the due one is the first.
  it.each([[[2, 2]], [[0, 0]], [[2, 0]], [[0, 2]]])(
    'of incomplete pulls of %j records is decided by the next complete one',
    async (pulls) => {
      await open();
      await has(list);
      await sync(0);
      for (const records of pulls) {
        await mirror.writeFeed(cut(records + 1));
        expect(await sync(21)).toMatchObject({ complete: false, skipped: Math.min(1, records), deleted: 0 });
      }
      await has(list);
      expect(await sync(21)).toMatchObject({ complete: true, skipped: 1, deleted: 1 });
      expect(await sync(21)).toMatchObject({ unchanged: 4, skipped: 1, requests: 0 });
    },
  );

  it('that is a posting from then on is created by an incomplete pull, and stays one', async () => {
    await open({ skip: '{ startsAt: { future: true } }' });
    const later = [posting('new', { startsAt: day(3) }), ...FRESH];
    await has(later);
    expect(await sync(0)).toMatchObject({ created: 4, skipped: 1 });
    const whole = feedXml(later);
    await mirror.writeFeed(whole.slice(0, whole.lastIndexOf('<job>')));
    expect(await sync(4)).toMatchObject({ complete: false, created: 1, skipped: 0 });
    expect(await sync(4)).toMatchObject({ complete: false, unchanged: 4, skipped: 0, requests: 0 });
    await has(later);
    expect(await sync(4)).toMatchObject({ complete: true, unchanged: 5, skipped: 0, requests: 0 });
  });

  it('stays due if the pull ends before its commit', async () => {
    const { source } = await serve(() => list);
    await open({ ...OLD, source });
    await sync(0);
    await (await db()).query(
      `create function fail() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$`,
    );
    await (await db()).query(
      `create trigger fail before update on pull for each row when (new.committed_at is not null) execute function fail()`,
    );
    await expect(sync(21)).rejects.toThrow('killed');
    await (await db()).query('drop trigger fail on pull');
    expect(await sync(21)).toMatchObject({ status: 'mirrored', skipped: 1, deleted: 1 });
  });

  it('is neither ended nor created while the clocks of database and source disagree about it', async () => {
    const { source } = await serve(() => list);
    await open({ ...OLD, source });
    await sync(0);
    const report = await sync(21, 19);
    expect(report).toMatchObject({ complete: false, skipped: 1, deleted: 0 });
    expect(report.shortfalls[0]).toMatch(
      /^whether 1 record is a posting by their dates is uncertain: the source's clock/,
    );
    expect(await sync(21)).toMatchObject({ complete: true, skipped: 1, deleted: 1 });
  });
});

describe('what is stored', () => {
  it('goes with the record, and with the rule; the source is not read without need', async () => {
    let list: readonly TestPosting[] = [...FRESH, posting('old', { postedAt: day(-10) })];
    const { source } = await serve(() => list);
    await open({ ...OLD, source });
    await sync(0);
    expect(await rows()).toHaveLength(5);
    list = FRESH;
    expect(await sync(1)).toMatchObject({ deleted: 1 });
    expect(await rows()).toHaveLength(4);
    expect(await sync(25)).toMatchObject({ status: 'not_modified' });
    await mirror.configure('older_than: 30d', 'older_than: 60d');
    expect(await sync(25)).toMatchObject({ unchanged: 4, requests: 0 });
    expect((await rows()).map(({ due }) => due)).toEqual(FRESH.map(() => new Date(NOW + 60 * DAY_MS)));
    expect(await sync(35)).toMatchObject({ status: 'not_modified' });
    await mirror.configure('{ postedAt: { older_than: 60d } }', '{ city: Nowhere }');
    expect(await sync(36)).toMatchObject({ unchanged: 4, requests: 0 });
    expect(await rows()).toEqual([]);
    expect(await sync(90)).toMatchObject({ status: 'not_modified' });
  });

  it('is nothing for dates that are none, or that decide nothing', async () => {
    await open();
    await has([
      posting('p1', { postedAt: 'soon' }),
      posting('p2', { postedAt: '0001-01-01T00:00:00Z' }),
      posting('p3', { postedAt: '9999-12-31' }),
      posting('p4'),
    ]);
    expect(await sync(0)).toMatchObject({ created: 4, skipped: 0 });
    expect(await rows()).toEqual([]);
  });
});

describe('random histories', () => {
  /** Uniform in [0, 1), the same in each run. */
  function randomOf(seed: number): () => number {
    let state = seed;
    return () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return ((state >>> 8) & 0xffff) / 0x10000;
    };
  }

  it.each([1, 2, 3, 4])('end with the jobs of the postings of the last day (%i)', { tags: 'slow' }, async (seed) => {
    const random = randomOf(seed);
    const below = (most: number) => Math.floor(random() * most);
    const missing = 1 + below(2);
    await open({
      skip: '[{ startsAt: { future: true } }, { date: closesAt, past: true }]',
      fields: '{ category-name: [{ when: { postedAt: { newer_than: 5d } }, value: New }, { value: Other }] }',
      delete_guard: `{ percent: 100, count: 100, missing_pulls: ${missing} }`,
      ...(seed % 2 === 0 ? { places: '{ path: city, split: ";", use: each }' } : {}),
    });
    const record = (key: string, now: number) =>
      posting(key, {
        city: seed % 2 === 0 && random() < 0.5 ? 'Boston;Salem' : 'Boston',
        postedAt: day(now - below(8)),
        startsAt: day(now - 3 + below(8)),
        closesAt: day(now + below(12)),
      });
    let now = 0.5;
    let list = Array.from({ length: 8 }, (_, at) => record(`k${at}`, now));
    for (let step = 0; step < 14; step++) {
      now += random() < 0.4 ? 0 : below(3);
      if (random() < 0.5) list = list.map((one) => (random() < 0.2 ? record(one.key, now) : one));
      if (random() < 0.3) list = list.toReversed();
      if (random() < 0.2) list = [...list.slice(1), record(`n${step}`, now)];
      const whole = feedXml(list);
      const isCut = random() < 0.3;
      await mirror.writeFeed(
        isCut
          ? whole
              .split('<job>')
              .slice(0, 1 + below(list.length))
              .join('<job>')
          : whole,
      );
      await sync(now);
    }
    await has(list);
    for (let pull = 0; pull < missing; pull++) await sync(now);
    expect(await sync(now)).toMatchObject({ complete: true, gone: 0, requests: 0 });
    const at = NOW + now * DAY_MS;
    const timeOf = (date = '') => Date.parse(date);
    const expected = list
      .filter(({ startsAt, closesAt }) => timeOf(startsAt) <= at && timeOf(closesAt) > at)
      .flatMap(({ key, city = '', postedAt }) =>
        city.split(';').map((each) => `${key} ${each} ${timeOf(postedAt) + 5 * DAY_MS > at ? 'New' : 'Other'}`),
      );
    const jobs = (await mirror.sandbox.inspect.jobs()).map(
      ({ fields }) => `${fields.number} ${fields['location-city']} ${fields['category-name']}`,
    );
    expect(jobs.sort()).toEqual(expected.sort());
  });
});
