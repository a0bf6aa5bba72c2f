// A feed that comes in pages: its list moves while it is read, and nothing is deleted because of that.
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { sendJson, serveWeb, type WebServer } from '../feed/web-server.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const FORMAT = `{
      type: json, records: jobs, total: total, key: id,
      fields: { number: id, title: text, location-state: { from: state, as: us_state } }
    }`;
const PAGE = 4;

interface Job {
  readonly id: string;
  readonly text: string;
  readonly state: string;
}

const job = (id: string): Job => ({ id, text: `Nurse ${id}`, state: 'MA' });
const jobs = (count: number) => Array.from({ length: count }, (_, at) => job(`j${at + 1}`));

let mirror: Mirror;
let source: WebServer;
let list: Job[];
let hasTotal: boolean;
/** Called before each page but the first. */
let between: (page: number) => void;
beforeEach(async () => {
  list = jobs(14);
  hasTotal = false;
  between = () => undefined;
  source = await serveWeb(({ query }, response) => {
    const number = Number(query.get('page'));
    if (number > 1) between(number);
    const page = list.slice((number - 1) * PAGE, number * PAGE);
    sendJson(response, { jobs: page, ...(hasTotal ? { total: list.length } : {}) });
  });
  mirror = await openMirror({
    feed: {
      source: `${source.origin}/jobs`,
      format: FORMAT,
      pages: `{ by: page, size: ${PAGE}, end: short_page }`,
      limits: '{ requests_per_second: 1000 }',
      delete_guard: '{ percent: 100, count: 100 }',
    },
  });
});
afterEach(async () => {
  await mirror.close();
  await source.close();
});

it('is mirrored as one feed; a job is deleted once its posting was missing twice', async () => {
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 14, created: 14, complete: true });
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 14, requests: 0 });
  list = [job('new'), ...list.slice(2).map((one, at) => (at === 0 ? { ...one, text: 'Cook' } : one))];
  expect(await mirror.sync()).toMatchObject({ created: 1, updated: 1, deleted: 0, gone: 2, grace: 2, complete: true });
  expect(await mirror.sync()).toMatchObject({ unchanged: 13, deleted: 2, gone: 2, complete: true });
  expect((await mirror.siteJobs()).size).toBe(13);
  expect(source.requests).toHaveLength(4 * 4);
});

it('deletes nothing while the list is capped, whatever its total says, and says how to split it', async () => {
  await mirror.sync();
  await mirror.close();
  const capped = (cap: string) => ({
    feed: {
      source: `${source.origin}/jobs`,
      format: FORMAT,
      pages: `{ by: page, size: ${PAGE}, cap: 12 }`,
      expect: cap,
      limits: '{ requests_per_second: 1000 }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
    },
  });
  mirror = await openMirror(capped('{}'));
  hasTotal = true;
  list = jobs(12).slice(0, 11);
  expect(await mirror.sync()).toMatchObject({ complete: true, created: 11 });
  list = [job('new'), ...jobs(12).slice(0, 11)];
  expect(await mirror.sync()).toMatchObject({ complete: false, created: 1 });
  // The list is longer now, but the source does not say so: the last postings are beyond the cap.
  list = [job('newer'), job('new'), ...jobs(12).slice(0, 10)];
  for (let pull = 0; pull < 3; pull++) {
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'incomplete', complete: false, deleted: 0, gone: 0 });
    expect(report.shortfalls).toEqual([
      expect.stringMatching(/has 12 records, and the source lists at most 12, .*split it: .*expect: \{ cap: none \}/),
    ]);
  }
  expect((await mirror.siteJobs()).size).toBe(13);
});

it.each([
  ['known', (one: Job) => one],
  ['changed', (one: Job) => ({ ...one, text: `${one.text} again` })],
])('is not complete if its list moves down, which repeats a %s posting', async (_, change) => {
  await mirror.sync();
  await mirror.sync();
  between = (page) => {
    // All of the second page would be missing if the reading counted.
    if (page === 2) list = [job('new'), ...list.slice(0, PAGE - 1), ...list.slice(PAGE - 1).map(change)];
  };
  const report = await mirror.sync();
  expect(report).toMatchObject({ status: 'incomplete', complete: false, deleted: 0, gone: 0 });
  expect(report.shortfalls).toEqual([
    '1 posting is on more than one page (page 1 and page 2): the list changed while it was read, so others may have been missed',
  ]);
});

it('is not complete if its list moves up, which the total shows', { tags: 'slow' }, async () => {
  hasTotal = true;
  await mirror.sync();
  between = (page) => {
    if (page === 2) list = list.slice(1);
  };
  expect(await mirror.sync()).toMatchObject({
    status: 'incomplete',
    deleted: 0,
    shortfalls: [expect.stringContaining('the total changed from 14 to 13 on page 2')],
  });
});

it('deletes no posting that was missed once because the list moved, which nothing shows', async () => {
  await mirror.sync();
  between = (page) => {
    if (page === 2) list = list.slice(1);
  };
  // j1 is gone, and j5 has moved to the first page, which was read before.
  expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 0, gone: 1, grace: 1 });
  between = () => undefined;
  expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 0, gone: 1, grace: 1 });
  expect(await mirror.sync()).toMatchObject({ complete: true, deleted: 1, gone: 1 });
  expect((await mirror.siteJobs()).has('j5')).toBe(true);
});

it('is complete with a posting twice on one page', async () => {
  list = [...jobs(3), job('j2'), ...jobs(9).slice(3)];
  expect(await mirror.sync()).toMatchObject({ complete: true, created: 9, duplicates: 1 });
  expect(await mirror.sync()).toMatchObject({ complete: true, unchanged: 9, duplicates: 1 });
});

it('counts sources that are pages of one list as its pages', async () => {
  await mirror.configure(
    /source: .*/,
    `sources: [${[1, 2, 3, 4].map((page) => `${source.origin}/jobs?page=${page}`)}]`,
  );
  await mirror.configure(/ +pages: .*\n/, '');
  expect(await mirror.sync()).toMatchObject({ complete: true, created: 14 });
  between = (page) => {
    if (page === 2) list = [job('new'), ...list];
  };
  expect((await mirror.sync()).shortfalls).toEqual([
    expect.stringMatching(/^1 posting is on more than one page \(source 1 .* and source 2 .*\): the list changed/),
  ]);
  between = () => undefined;
  await mirror.sync();
  list = list.slice(1);
  expect(await mirror.sync()).toMatchObject({ complete: true, gone: 1, grace: 1, deleted: 0 });
});

describe('a document that may list only its newest postings', () => {
  const formatOf = (records: string) => FORMAT.replace('records: jobs, total: total', `records: ${records}`);
  const open = async ({ query = '', ...feed }: Readonly<Record<string, string>> = {}) => {
    const web = await serveWeb(({ path, query }, response) => {
      if (query.has('counted')) response.setHeader('X-Total-Count', newest.length);
      const item = path === '/others' ? Array.from({ length: others }, (_, at) => job(`other${at}`)) : newest;
      sendJson(response, { jobs: item, channel: { item }, ...(query.has('feed') ? { version: JSON_FEED } : {}) });
    });
    const own = await openMirror({
      feed: {
        source: `${web.origin}/jobs${query}`,
        format: formatOf('channel/item'),
        ...feed,
      },
    });
    onTestFinished(async () => {
      await own.close();
      await web.close();
    });
    return { ...own, origin: web.origin };
  };
  const JSON_FEED = 'https://jsonfeed.org/version/1.1';
  let newest: Job[] = [];
  let others = 2;
  beforeEach(() => {
    others = 2;
  });
  const sync = (own: Mirror, ids: readonly number[]) => {
    newest = ids.map((id) => job(`j${id}`));
    return own.sync();
  };
  const from = (first: number, count = 10) => Array.from({ length: count }, (_, at) => first + at);

  it('deletes no job whose posting newer ones may have pushed out', async () => {
    const own = await open();
    expect(await sync(own, from(1))).toMatchObject({ created: 10 });
    expect(await sync(own, from(2))).toMatchObject({ created: 1, deleted: 0, held: 1, complete: true });
    expect(await own.query("select reason->>'message' as why from change where state = 'held'")).toEqual([
      { why: expect.stringMatching(/exactly 10 records, .*expect: \{ cap: none \}/) },
    ]);
    expect(await sync(own, from(3))).toMatchObject({ created: 1, deleted: 0, held: 2 });
    expect(await sync(own, from(1))).toMatchObject({ deleted: 0, held: 2 });
    // A list that is not full lists all.
    expect(await sync(own, from(1, 9))).toMatchObject({ deleted: 3, held: 0 });
  });

  it('nor if a rule skips the newer one', async () => {
    const own = await open({ skip: '{ state: TX }' });
    const skipped = (id: string) => ({ ...job(id), state: 'TX' });
    await sync(own, from(1));
    newest = [...from(2, 9).map((id) => job(`j${id}`)), skipped('j11')];
    expect(await own.sync()).toMatchObject({ skipped: 1, deleted: 0, held: 1 });
    // One that is skipped now is still listed.
    newest = newest.map((one) => (one.id === 'j2' ? skipped('j2') : one));
    expect(await own.sync()).toMatchObject({ skipped: 2, deleted: 1, held: 1 });
  });

  it('nor if the postings have several places', async () => {
    const format = formatOf('channel/item').replace('from: state', 'from: places/state');
    const own = await open({ format, places: '{ path: places, use: each, fields: [location-state] }' });
    const placed = (id: number) => ({ ...job(`j${id}`), places: [{ state: 'MA' }, { state: 'TX' }, { state: 'OH' }] });
    newest = from(1).map(placed);
    expect(await own.sync()).toMatchObject({ seen: 30, created: 30 });
    newest = from(2).map(placed);
    expect(await own.sync()).toMatchObject({ seen: 30, created: 3, deleted: 0, held: 3 });
  });

  it('nor at the first pull, with imported mappings', async () => {
    const own = await open();
    await sync(own, from(1));
    await own.query('delete from pull');
    expect(await sync(own, from(2))).toMatchObject({ created: 1, deleted: 0, held: 1 });
  });

  it('deletes no job whose posting may have been pushed out of one of several sources', async () => {
    const own = await open();
    await own.configure(/source: .*/, `sources: [${own.origin}/jobs, ${own.origin}/others]`);
    expect(await sync(own, from(1))).toMatchObject({ created: 12 });
    expect(await sync(own, from(2))).toMatchObject({ created: 1, deleted: 0, held: 1, complete: true });
    expect(await sync(own, from(2, 9))).toMatchObject({ deleted: 2, held: 0 });
  });

  it('nor if another source changes at the same time', async () => {
    const own = await open();
    await own.configure(/source: .*/, `sources: [${own.origin}/jobs, ${own.origin}/others]`);
    await sync(own, from(1));
    others = 3;
    expect(await sync(own, from(2))).toMatchObject({ created: 2, deleted: 0, held: 1 });
    others = 2;
    expect(await sync(own, from(2))).toMatchObject({ deleted: 0, held: 2 });
  });

  it('nor while the list fills up', async () => {
    const own = await open();
    await sync(own, from(1, 9));
    expect(await sync(own, from(2))).toMatchObject({ created: 2, deleted: 0, held: 1 });
    expect(await sync(own, from(2))).toMatchObject({ deleted: 0, held: 1 });
  });

  it('drops no create that waits until newer postings have pushed it out, but those of another key and skipped ones', async () => {
    const own = await open({ policy: 'upsert_only', skip: '{ state: TX }' });
    await sync(own, from(1));
    await runProgram(own, 'pause', '--all');
    await sync(own, from(3));
    expect(await sync(own, from(13))).toMatchObject({ pending: 10 });
    const others = [
      { ...job('again'), text: 'Nurse j12' },
      { ...job('j11'), state: 'TX' },
    ];
    newest = [...from(13, 8).map((id) => job(`j${id}`)), ...others];
    await own.sync();
    await runProgram(own, 'resume', '--all');
    expect(await own.sync()).toMatchObject({ created: 9 });
    const made = from(1, 22)
      .map((id) => `j${id}`)
      .filter((id) => id !== 'j11' && id !== 'j12');
    expect(new Set((await own.siteJobs()).keys())).toEqual(new Set([...made, 'again']));
  });

  it('drops a create that waits if the list is not full', async () => {
    const own = await open();
    await sync(own, from(1));
    await runProgram(own, 'pause', '--all');
    await sync(own, from(3));
    await sync(own, from(3, 9));
    await runProgram(own, 'resume', '--all');
    expect(await own.sync()).toMatchObject({ created: 1, deleted: 2 });
  });

  const without = (ids: readonly number[], ...gone: readonly number[]) => ids.filter((id) => !gone.includes(id));
  it.each<[string, readonly number[], readonly number[], number]>([
    ['cut at 20 instead of 25', from(1, 25), from(6, 20), 5],
    ['cut at 20 instead of 25, while others go', from(1, 25), [...without(from(6, 20), 9), 26], 6],
    ['cut at its end', from(1, 14), from(1), 4],
    ['cut at its end, while others come', from(1, 14), [...from(1, 8), 15, 16], 6],
    ['cut at its beginning', from(1, 12), from(3), 2],
    ['not cut: others are gone', from(1, 12), without(from(1, 12), 5, 12), 0],
    ['not cut: one is gone', from(1, 31), from(1, 30), 0],
    ['not cut: it has another number', from(1, 25), from(6, 19), 0],
  ])('holds what was pushed out of a list that is %s', async (_, before, after, held) => {
    const own = await open({ delete_guard: '{ percent: 100, count: 100 }' });
    await sync(own, before);
    await sync(own, before);
    const gone = before.filter((id) => !after.includes(id)).length;
    newest = after.map((id) => job(`j${id}`));
    const planned = await runProgram(own, 'plan', 'acme');
    expect(/pushed out|may list only/.test(planned.out + planned.errors), planned.out + planned.errors).toBe(held > 0);
    expect(await sync(own, after)).toMatchObject({ held, deleted: gone - held });
    expect(await sync(own, after)).toMatchObject({ held, deleted: 0 });
  });

  it('holds what was cut off although a record changes, and postings wait longer', async () => {
    const own = await open({ delete_guard: '{ missing_pulls: 2 }' });
    await sync(own, from(1, 14));
    newest = from(1).map((id) => ({ ...job(`j${id}`), ...(id === 9 ? { text: 'Cook' } : {}) }));
    expect(await own.sync()).toMatchObject({ grace: 4, updated: 1 });
    expect(await own.sync()).toMatchObject({ held: 4, deleted: 0 });
    newest.pop();
    expect(await own.sync()).toMatchObject({ held: 0, deleted: 4, grace: 1 });
  });

  it('holds what was pushed out of a list that keeps an unusual number of records', async () => {
    const own = await open({ delete_guard: '{ percent: 100, count: 100 }' });
    await sync(own, from(1, 12));
    expect(await sync(own, from(2, 12))).toMatchObject({ created: 1, deleted: 0, held: 1 });
    expect(await sync(own, from(3, 11))).toMatchObject({ deleted: 2, held: 0 });
    await sync(own, from(3, 12));
    await sync(own, from(4, 12));
    // It is read far more often than it changes.
    await own.query(
      `insert into pull (feed, site, started_at, status, complete, seen, copy)
       select feed, site, started_at, status, complete, seen, copy from (select * from pull order by id desc limit 1) p, generate_series(1, 50)`,
    );
    expect(await sync(own, from(5, 12))).toMatchObject({ created: 1, deleted: 0, held: 1 });
    expect(await sync(own, from(5, 12))).toMatchObject({ deleted: 0, held: 1 });
    expect(await sync(own, from(7, 12))).toMatchObject({ created: 2, deleted: 0, held: 3 });
    expect(await sync(own, from(8, 11))).toMatchObject({ deleted: 4, held: 0 });
    await sync(own, from(8, 12));
    await sync(own, from(9, 12));
    expect(await sync(own, [...without(from(9, 12), 12), 21])).toMatchObject({ created: 1, deleted: 1, held: 0 });
  });

  const acts: readonly [string, (own: Mirror, run: (...args: string[]) => Promise<unknown>) => Promise<unknown>][] = [
    [
      'it is paused',
      (own, run) =>
        run('pause', 'acme')
          .then(() => own.sync())
          .then(() => run('resume', 'acme')),
    ],
    ['what pushed it out is edited', (_, run) => run('review', 'edit', 'acme', 'j11', '--set', 'title=Cook')],
    [
      'the delete is reopened',
      (_, run) => run('review', 'discard', 'acme', '--yes').then(() => run('review', 'reopen', 'acme')),
    ],
    ['the database is restored', (_, run) => run('restore', 'backup.gz', '--replace', '--yes')],
    ['its pull is undone', (_, run) => run('undo', '2', '--yes').then(() => run('feeds', 'resume', 'acme'))],
    [
      'it is renamed',
      (own, run) => own.configure('acme:', 'globex:').then(() => run('feeds', 'rename', 'acme', 'globex')),
    ],
  ];
  describe.each([
    ['newer ones pushed out', from(1), 1],
    ['was cut off', from(1, 12), 2],
  ])('holds what %s', (_, before, held) => {
    it.each(acts)('although %s', { tags: 'slow' }, async (_, act) => {
      const own = await open({ delete_guard: '{ percent: 100, count: 100 }' });
      const run = async (...args: string[]) => {
        await own.stopEngine();
        expect(await runProgram(own, ...args)).toMatchObject({ status: 0 });
      };
      await sync(own, before);
      await run('backup', 'backup.gz');
      expect(await sync(own, from(1 + held))).toMatchObject({ held });
      await act(own, run);
      newest = from(2 + held).map((id) => job(`j${id}`));
      const [feed] = (await own.app()).config.feeds.keys();
      expect(await own.sync(feed)).toMatchObject({ held: held + 1, deleted: 0 });
      expect((await own.siteJobs()).has('j1')).toBe(true);
      newest.pop();
      expect(await own.sync(feed)).toMatchObject({ held: 0, deleted: held + 2 });
    });
  });

  it('leaves to a person what the guard holds', async () => {
    const own = await open();
    await sync(own, from(1, 20));
    expect(await sync(own, from(1, 12))).toMatchObject({ deleted: 0, held: 8 });
    expect(await sync(own, from(1, 19))).toMatchObject({ deleted: 0, held: 1 });
    expect(await sync(own, [...from(1, 19), 21])).toMatchObject({ deleted: 0, held: 1 });
    expect(await sync(own, [...from(1, 19), 21])).toMatchObject({ deleted: 0, held: 1 });
    expect(await sync(own, [...from(1, 18), 21])).toMatchObject({ deleted: 1, held: 1 });
  });

  it.each<[string, Readonly<Record<string, string>>, readonly number[], readonly number[], number]>([
    ['it lists all', { expect: '{ cap: none }' }, from(1), from(2), 1],
    ['it is neither RSS nor Atom', { format: formatOf('jobs') }, from(1), from(2), 1],
    ['nothing of a JSON Feed', { format: formatOf('jobs'), query: '?feed' }, from(1), from(2), 0],
    ['nothing of JSON with as many as APIs list', { format: formatOf('jobs') }, from(1, 100), from(2, 100), 0],
    ['nothing of JSON that had more before', { format: formatOf('jobs') }, from(1, 104), from(5, 100), 0],
    ['a header states its total', { format: formatOf('jobs'), query: '?counted' }, from(1, 100), from(2, 100), 1],
    ['it has become smaller', {}, from(1), from(2, 9), 1],
    ['it had more records before', {}, from(1, 11), from(2), 1],
    ['nothing, if as many come first as last ones go, whatever its number', {}, from(1, 11), from(2, 11), 0],
    ['it has a number that no list is cut at, and another goes', {}, from(1, 11), [...without(from(1, 11), 5), 12], 1],
    [
      'it has a number that no list is cut at, and none comes first',
      {},
      from(1, 11),
      [...from(2, 5), 12, ...from(7, 5)],
      1,
    ],
    ['nothing, if it is missing twice', { delete_guard: '{ missing_pulls: 2 }' }, from(1), from(2), 0],
  ])('deletes what is gone: %s', async (_, feed, before, after, deleted) => {
    const own = await open(feed);
    await sync(own, before);
    await sync(own, after);
    await sync(own, after);
    expect((await own.siteJobs()).size).toBe(new Set([...before, ...after]).size - deleted);
  });
});
