// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// A list without descriptions: they are requested for each posting whose record in the list is new or has changed.

import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { anyDetailDue } from '../../src/pull/detailed-list.ts';
import { planFeed } from '../../src/pull/preview/dry-run.ts';
import { describeHistory } from '../../src/review/describe-history.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { configuredHere } from '../../src/review/health/configured-policy.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { readStory } from '../../src/store/review/posting-history.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { forgetOldRows } from '../../src/store/status/retention.ts';
import { sendJson, serveWeb, type WebServer } from '../feed/web-server.ts';
import { checkCounts } from '../laws/laws.ts';
import { acme } from '../review/stage.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const FIELDS =
  'fields: { number: id, title: text, description: detail/text, location-state: { from: state, as: us_state } }';
const FORMAT = `{ type: json, records: jobs, total: total, key: id, ${FIELDS} }`;
const DETAILS = '{ url: "jobs/{id}?lang={source:lang}", match: { id: id } }';
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
/** Answers for a detail; by default its text is `About ID`. */
let answer: (id: string, response: ServerResponse, asked: number) => void;
let text: (id: string) => string;
/** In every record of the list. */
let posted: string;
const detail = (id: string, response: ServerResponse) => sendJson(response, { id, text: text(id) });

const detailsAsked = (from = 0) =>
  source.requests
    .slice(from)
    .flatMap(({ path }) => /^\/jobs\/([^?]*)\?lang=en$/.exec(path)?.[1] ?? [])
    .sort();

async function open(feed: Readonly<Record<string, string>> = {}): Promise<void> {
  mirror = await openMirror({
    feed: {
      source: `"${source.origin}/jobs?lang=en"`,
      format: FORMAT,
      pages: `{ by: page, size: ${PAGE}, end: short_page }`,
      details: DETAILS,
      limits: '{ requests_per_second: 1000, attempts: 2, max_wait_seconds: 1, total_timeout_seconds: 20 }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
      rekey_guard: '{ percent: 100, count: 100 }',
      ...feed,
    },
  });
}

beforeEach(async () => {
  list = jobs(6);
  text = (id) => `About ${id}`;
  posted = 'today';
  answer = detail;
  const asked = new Map<string, number>();
  source = await serveWeb(({ path, query }, response) => {
    const id = /^\/jobs\/([^?]*)/.exec(path)?.[1];
    if (id !== undefined) {
      asked.set(id, (asked.get(id) ?? 0) + 1);
      return answer(id, response, asked.get(id) ?? 0);
    }
    const number = Number(query.get('page'));
    const page = list.slice((number - 1) * PAGE, number * PAGE).map((one) => ({ ...one, posted: { on: posted } }));
    sendJson(response, { jobs: page, total: list.length });
  });
});
afterEach(async () => {
  await mirror.close();
  await source.close();
});

const sync = async () => checkCounts(await mirror.sync());

/** The report of a pull, and which details it requested. */
async function syncAsking() {
  const before = source.requests.length;
  const report = await sync();
  return { ...report, asked: detailsAsked(before), requested: source.requests.length - before };
}

const ids = (...list: string[]) => list.sort();
const all = (count: number) => ids(...jobs(count).map(({ id }) => id));

const change = (id: string, changed: Partial<Job>) => {
  list = list.map((one) => (one.id === id ? { ...one, ...changed } : one));
};

describe('details', () => {
  beforeEach(() => open());

  it('are requested once for each posting, and then for those whose records have changed', async () => {
    expect(await syncAsking()).toMatchObject({ status: 'mirrored', created: 6, complete: true, asked: all(6) });
    expect((await mirror.siteJobs()).get('j3')).toMatchObject({ title: 'Nurse j3', description: 'About j3' });
    expect(await syncAsking()).toMatchObject({ unchanged: 6, requests: 0, requested: 2 });
    const story = await readStory((await mirror.app()).db, acme, postingKey('j3'));
    const lines = describeHistory(
      story,
      { at: () => 'TIME', span: () => '' },
      configuredHere((await mirror.app()).config),
    );
    expect(JSON.stringify(lines)).toContain('TIME: its detail was received: {\\"id\\":\\"j3\\"');
    change('j2', { text: 'Cook' });
    list = [...list.filter(({ id }) => id !== 'j5'), job('new')];
    const third = await syncAsking();
    expect(third).toMatchObject({ updated: 1, created: 1, deleted: 1, complete: true, asked: ids('j2', 'new') });
    expect(third.requested).toBe(2 + 2);
    expect(await syncAsking()).toMatchObject({ unchanged: 6, requests: 0, asked: [] });
  });

  it('are kept when fields or the key change, and requested again when their address does', async () => {
    list = jobs(3);
    await sync();
    await mirror.configure('title: text', 'title: { template: "{text}!" }');
    expect(await syncAsking()).toMatchObject({ updated: 3, asked: [] });
    await mirror.configure('key: id', 'key: text');
    expect(await syncAsking()).toMatchObject({ created: 3, deleted: 3, asked: [] });
    await mirror.configure('jobs/{id}', 'jobs/{+id}');
    text = (id) => `More about ${id}`;
    expect(await syncAsking()).toMatchObject({ updated: 3, asked: all(3) });
  });

  it.each([
    ['a parameter of the list that their address has', '/jobs?lang=de', /^\/jobs\/j\d\?lang=de$/],
    ['the address of the list', '/list?lang=en', /^\/jobs\/j\d\?lang=en$/],
  ])('are requested again when %s changes', async (_name, address, path) => {
    await sync();
    await mirror.configure('/jobs?lang=en', address);
    text = (id) => `More about ${id}`;
    const before = source.requests.length;
    expect(await sync()).toMatchObject({ updated: 6 });
    expect(source.requests.slice(before).filter((each) => path.test(each.path))).toHaveLength(6);
    expect(await sync()).toMatchObject({ unchanged: 6 });
  });

  it('are not requested again for a posting that the site would reject, or for one with an edit', {
    tags: 'slow',
  }, async () => {
    change('j4', { state: 'Jalisco' });
    expect(await sync()).toMatchObject({ created: 5, rejected: 1 });
    expect(await syncAsking()).toMatchObject({ unchanged: 5, rejected: 1, asked: [] });
    // Only the next sync sends, and so counts, what the edit makes ready.
    await mirror.stopEngine();
    const { db, config } = await mirror.app();
    const [entry] = await db.query<{ id: number }>(`select id from change where key = 'j4'`);
    await editEntry(db, config, entry?.id ?? 0, { 'location-state': 'Texas' }, { actor: 'a person' });
    expect(await syncAsking()).toMatchObject({ created: 1, rejected: 0, asked: [] });
    await mirror.configure('title: text', 'title: { template: "{text}!" }');
    expect(await syncAsking()).toMatchObject({ updated: 6, asked: [] });
    const edited = { title: 'Nurse j4!', 'location-state': 'Texas', description: 'About j4' };
    expect((await mirror.siteJobs()).get('j4')).toMatchObject(edited);
    change('j4', { state: 'OH' });
    expect(await syncAsking()).toMatchObject({ updated: 1, rejected: 0, asked: ['j4'] });
    expect((await mirror.siteJobs()).get('j4')?.['location-state']).toBe('Ohio');
  });

  it('of changes that are held or in doubt are not requested again', { tags: 'slow' }, async () => {
    await sync();
    list = [];
    expect(await syncAsking()).toMatchObject({ held: 6, deleted: 0, asked: [] });
    list = jobs(6);
    expect(await syncAsking()).toMatchObject({ unchanged: 6, held: 0, asked: [] });
    list = [...list, job('new')];
    await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 1 }]);
    const doubtful = await syncAsking();
    expect({ ...doubtful, open: doubtful.in_doubt + doubtful.created }).toMatchObject({ open: 1, asked: ['new'] });
    await mirror.sandbox.setFaults([]);
    expect(await syncAsking()).toMatchObject({ complete: true, asked: [] });
    expect((await mirror.siteJobs()).size).toBe(7);
  });

  it('are requested once for two records with one key, and kept for each of them', { tags: 'slow' }, async () => {
    list = [...list, { ...job('j1'), text: 'Another nurse' }];
    expect(await syncAsking()).toMatchObject({ created: 6, duplicates: 1 });
    expect(await syncAsking()).toMatchObject({ unchanged: 6, duplicates: 1, asked: [] });
    await mirror.configure('title: text', 'title: { template: "{text}!" }');
    expect(await syncAsking()).toMatchObject({ updated: 6, duplicates: 1, asked: [] });
    await mirror.configure('{text}!', '{text}?');
    expect(await syncAsking()).toMatchObject({ updated: 6, duplicates: 1, asked: [] });
    list.pop();
    change('j1', { text: 'Cook' });
    expect(await syncAsking()).toMatchObject({ updated: 1, complete: true, asked: ['j1'] });
    const stored = await mirror.query(`select from detail where key = 'j1'`);
    expect(stored).toHaveLength(1);
  });

  it('are requested for a plan too, which stores nothing', async () => {
    list = jobs(25);
    const { db, log, config } = await mirror.app();
    const [setup] = feedSetups(config, ['acme']);
    const lines: unknown[] = [];
    const progress: string[] = [];
    const onDetails = (done: number, all: number) => void progress.push(`${done}/${all}`);
    const context = { db, log, signal: new AbortController().signal, onDetails };
    const end = await planFeed(setup ?? expect.fail(), context, (line) => void lines.push(line));
    expect(end).toMatchObject({ kind: 'planned', seen: 25 });
    expect(lines).toHaveLength(25);
    expect(detailsAsked()).toEqual(all(25));
    expect(await db.query('select from detail')).toEqual([]);
    expect(progress).toEqual(['0/25', '16/25']);
  });

  it('that fail leave their postings as they are, until they are there again', async () => {
    list = jobs(5);
    await sync();
    change('j2', { text: 'Cook' });
    list = [...list.filter(({ id }) => id !== 'j4'), job('new')];
    answer = (id, response) => (id === 'j2' || id === 'new' ? sendJson(response, {}, 404) : detail(id, response));
    for (let pull = 0; pull < 2; pull++) {
      const report = await syncAsking();
      expect(report).toMatchObject({
        status: 'incomplete',
        created: 0,
        updated: 0,
        deleted: 0,
        gone: 0,
        unreadable: 2,
        asked: ids('j2', 'new'),
      });
      const onSite = await mirror.siteJobs();
      expect([onSite.size, onSite.get('j2')?.title, onSite.has('j4')]).toEqual([5, 'Nurse j2', true]);
    }
    answer = detail;
    expect(await sync()).toMatchObject({ complete: true, created: 1, updated: 1, deleted: 1, unreadable: 0 });
    expect((await mirror.siteJobs()).get('j2')).toMatchObject({ title: 'Cook', description: 'About j2' });
  });

  it('that fail for hours are requested less and less often, and count as failed meanwhile', {
    tags: 'slow',
  }, async () => {
    answer = (id, response) =>
      id === 'j2' ? sendJson(response, {}, 404) : id === 'j3' ? detail('j4', response) : detail(id, response);
    const failing = { complete: false, created: 0, unreadable: 2, shortfalls: [expect.stringContaining('2 records')] };
    expect(await sync()).toMatchObject({ ...failing, created: 4 });
    const { db } = await mirror.app();
    const later = (hours: number) =>
      db.query(
        `update failed_detail set since = since - make_interval(hours => $1),
        tried_at = tried_at - make_interval(hours => $1)`,
        [hours],
      );
    const entries = () => db.query('select id, key, problems, excerpt, shape, fault from record_problem order by id');
    await later(3);
    expect(await syncAsking()).toMatchObject({ ...failing, asked: ids('j2', 'j3') });
    const before = await entries();
    await later(2);
    expect(await syncAsking()).toMatchObject({ ...failing, asked: [] });
    expect(await entries()).toEqual(before);
    await later(2);
    expect(await syncAsking()).toMatchObject({ ...failing, asked: ids('j2', 'j3') });
    expect(await syncAsking()).toMatchObject({ ...failing, asked: [] });
    // At most a day, however long it has been failing.
    await db.query(`update failed_detail set since = since - interval '90 days'`);
    await later(24);
    expect(await syncAsking()).toMatchObject({ ...failing, asked: ids('j2', 'j3') });
    change('j2', { text: 'Cook' });
    expect(await syncAsking()).toMatchObject({ ...failing, asked: ['j2'] });
    await mirror.configure('title: text', 'title: { template: "{text}!" }');
    answer = detail;
    expect(await syncAsking()).toMatchObject({ complete: true, created: 2, updated: 4, asked: ids('j2', 'j3') });
  });

  it('that fail can be discarded: the feed is complete, the job stays, and they are requested now and then', {
    tags: 'slow',
  }, async () => {
    await sync();
    for (const id of ['j2', 'j3']) change(id, { text: 'Cook' });
    list = list.filter(({ id }) => id !== 'j5');
    answer = (id, response) => (['j2', 'j3'].includes(id) ? sendJson(response, {}, 410) : detail(id, response));
    expect(await sync()).toMatchObject({ complete: false, deleted: 0 });
    const { db } = await mirror.app();
    const entries = await db.query(
      `select key, problems->0->>'message' as message, excerpt from record_problem order by key`,
    );
    const entryOf = (key: string) => ({
      key,
      message: expect.stringMatching(
        `^the detail of the posting can't be had: http.*/jobs/${key}\\?… answered 410 Gone; the posting may`,
      ),
      excerpt: expect.stringContaining('"text":"Cook"'),
    });
    expect(entries).toEqual([entryOf('j2'), entryOf('j3')]);
    await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: acme }), 'a person'));
    expect(await sync()).toMatchObject({ complete: true, deleted: 1, unreadable: 2 });
    await db.query(`update failed_detail set since = since - interval '5 hours'`);
    expect(await syncAsking()).toMatchObject({ complete: true, unreadable: 2, asked: [] });
    const onSite = await mirror.siteJobs();
    expect(['j2', 'j3'].map((key) => onSite.get(key)?.title)).toEqual(['Nurse j2', 'Nurse j3']);
    // One leaves the list, and the detail of the other one is there again.
    list = list.filter(({ id }) => id !== 'j3');
    answer = detail;
    await db.query(
      `update failed_detail set since = since - interval '6 hours', tried_at = tried_at - interval '6 hours'`,
    );
    const back = { complete: true, updated: 1, deleted: 1, unreadable: 0, asked: ['j2'] };
    expect(await syncAsking()).toMatchObject(back);
    expect(await syncAsking()).toMatchObject({ unchanged: 4, asked: [] });
  });

  it('that cannot be used are a failure of their postings alone', async () => {
    list = jobs(15);
    const failing: Record<string, [(response: ServerResponse) => unknown, RegExp]> = {
      j2: [
        (response) => response.writeHead(200).end('<!DOCTYPE html><html><title>Sign in</title></html>'),
        /the detail is no JSON: HTML .*"Sign in"/,
      ],
      j4: [(response) => detail('j3', response), /another posting: its id is "j3", not "j4"/],
      j6: [(response) => sendJson(response, { text: 'x' }), /another posting: its id is missing/],
      j8: [(response) => response.end('{ "id": "j8", "text": "Ab'), /the detail can't be read: .*JSON/],
      j10: [(response) => sendJson(response, ['j10']), /no object/],
      j12: [(response) => response.writeHead(200, { 'content-length': 99 }).end('{'), /broke off/],
      j14: [(response) => sendJson(response, {}, 503), /answered 503/],
    };
    answer = (id, response) => (failing[id] ? failing[id][0](response) : detail(id, response));
    expect(await sync()).toMatchObject({ created: 8, complete: false, unreadable: 7 });
    const rows = await mirror.query<{ key: string; message: string }>(
      `select key, problems->0->>'message' as message from record_problem`,
    );
    expect(Object.fromEntries(rows.map(({ key, message }) => [key, message]))).toEqual(
      Object.fromEntries(Object.entries(failing).map(([id, [, message]]) => [id, expect.stringMatching(message)])),
    );
  });

  it('are requested again after failures that pass, as Retry-After says', async () => {
    list = jobs(3);
    const times: number[] = [];
    answer = (id, response, asked) => {
      if (id !== 'j2') return detail(id, response);
      times.push(performance.now());
      return asked === 1 ? sendJson(response, {}, 429, { 'retry-after': '1' }) : detail(id, response);
    };
    expect(await sync()).toMatchObject({ created: 3, complete: true });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(990);
  });

  it('are not requested any more if the source asks to wait for too long; the next pull continues', async () => {
    list = jobs(25);
    answer = (id, response) =>
      id === 'j10' ? sendJson(response, {}, 429, { 'retry-after': '3600' }) : detail(id, response);
    const report = await sync();
    expect(report).toMatchObject({ complete: false, status: 'incomplete' });
    expect(report.created).toBeLessThan(25);
    expect(report.shortfalls).toContainEqual(expect.stringMatching(/not requested: .*429.*the next pull continues/));
    answer = detail;
    const next = await syncAsking();
    expect(next).toMatchObject({ complete: true, created: 25 - report.created, unreadable: 0 });
    expect(next.asked).toHaveLength(25 - report.created);
  });
});

describe('while the source is in trouble', () => {
  it('a few details are tried at random, and those that answer are mirrored', { tags: 'slow' }, async () => {
    list = jobs(70);
    await open({ limits: '{ requests_per_second: 5000, attempts: 2, max_wait_seconds: 0.01 }' });
    answer = (_, response) => sendJson(response, {}, 500);
    const first = await syncAsking();
    expect(first).toMatchObject({ complete: false, created: 0, unreadable: 70 });
    expect(first.shortfalls).toContainEqual(expect.stringMatching(/not requested: 10 failed in a row.*500/));
    expect(first.asked.length).toBeLessThan(60);
    // The first ones fail forever, as if the source would not show them: the others do not wait for them.
    answer = (id, response) => (Number(id.slice(1)) <= 12 ? sendJson(response, {}, 500) : detail(id, response));
    for (let pull = 0; pull < 10 && (await mirror.siteJobs()).size < 58; pull++) await sync();
    expect((await mirror.siteJobs()).size).toBe(58);
    answer = detail;
    expect(await sync()).toMatchObject({ complete: true, unreadable: 0 });
    expect((await mirror.siteJobs()).size).toBe(70);
  });

  it('details that take too long wait for the next pull', { tags: 'slow' }, async () => {
    list = jobs(25);
    // More than half of the details are answered in this time, also if the process is stopped for some of it.
    await open({ limits: '{ requests_per_second: 1000, total_timeout_seconds: 6 }' });
    answer = (id, response) => {
      if (Number(id.slice(1)) < 20) detail(id, response);
    };
    const report = await sync();
    expect(report).toMatchObject({ complete: false });
    expect(report.shortfalls).toContainEqual(
      expect.stringMatching(/not requested: requesting details took longer than 6 s/),
    );
    expect(report.created).toBeGreaterThan(10);
    answer = detail;
    expect(await syncAsking()).toMatchObject({ complete: true, created: 25 - report.created });
  });
});

describe('records that are skipped', () => {
  it('by their own texts need no detail; by those of the detail, only one', async () => {
    list = jobs(5);
    const skip = '[{ state: TX }, { detail/text: Internal }, { state: MA, detail/text: Draft }]';
    await open({ skip });
    change('j1', { state: 'TX' });
    text = (id) => ({ j2: 'Internal', j3: 'Draft' })[id] ?? `About ${id}`;
    expect(await syncAsking()).toMatchObject({ created: 2, skipped: 3, asked: all(5).filter((id) => id !== 'j1') });
    expect(await syncAsking()).toMatchObject({ unchanged: 2, skipped: 3, requests: 0, asked: [] });
  });
});

describe('with ignore', () => {
  it('a change that says nothing about the detail requests none, also of records with one key, but fields have it', {
    tags: 'slow',
  }, async () => {
    const fields = FIELDS.replace('title: text', 'title: { template: "{text}, {posted/on}" }');
    await open({
      format: FORMAT.replace(FIELDS, fields),
      details: DETAILS.replace(/ }$/, ', ignore: posted/on, refresh_days: 7 }'),
    });
    // On one page: a key on two pages may be a list that moves.
    list = [...jobs(3), { ...job('j1'), text: 'Another nurse' }];
    expect(await sync()).toMatchObject({ complete: true, created: 3, duplicates: 1 });
    posted = 'yesterday';
    list = list.map((one) => (one.text === 'Another nurse' ? { ...one, text: 'A cook' } : one));
    expect(await syncAsking()).toMatchObject({ complete: true, updated: 3, duplicates: 1, asked: ['j1'] });
    expect((await mirror.siteJobs()).get('j3')?.title).toBe('Nurse j3, yesterday');
    posted = 'long ago';
    expect(await syncAsking()).toMatchObject({ complete: true, updated: 3, duplicates: 1, asked: [] });
    list.pop();
    change('j3', { text: 'Cook' });
    expect(await syncAsking()).toMatchObject({ complete: true, updated: 1, duplicates: 0, asked: ['j3'] });
    // The record in the list is not the one that the detail was requested for.
    const { db } = await mirror.app();
    await db.query(`update detail set fetched_at = now() - interval '8 days' where key in ('j1', 'j3')`);
    expect(await syncAsking()).toMatchObject({ unchanged: 3, asked: ids('j1', 'j3') });
    expect(await syncAsking()).toMatchObject({ unchanged: 3, asked: [] });
    // The former detail of a posting with another key is not due for ever.
    await mirror.configure('key: id', 'key: text');
    await sync();
    expect(await mirror.query('select from detail')).toHaveLength(3);
  });
});

describe('with refresh_days', () => {
  const age = async (days: number) =>
    mirror.query('update detail set fetched_at = fetched_at - make_interval(days => $1)', [days]);
  const forget = async () => {
    const days = { requests: 30, failures: 30, audit: 30, pulls: 30, undo: 30 };
    const { db } = await mirror.app();
    await db.query('update detail set unlisted_at = unlisted_at - make_interval(days => 30)');
    await forgetOldRows(db, days, new AbortController().signal);
  };
  const isAnyDue = async () => {
    const { db, config } = await mirror.app();
    const [setup] = feedSetups(config, ['acme']);
    return anyDetailDue(db, setup ?? expect.fail());
  };

  it('a record that its detail had skipped is mirrored once another detail shows a posting', {
    tags: 'slow',
  }, async () => {
    list = jobs(3);
    await open({ details: DETAILS.replace(/ }$/, ', refresh_days: 7 }'), skip: '[{ detail/text: Draft }]' });
    text = (id) => (id === 'j2' ? 'Draft' : `About ${id}`);
    expect(await sync()).toMatchObject({ created: 2, skipped: 1 });
    text = (id) => `About ${id}`;
    await age(2);
    await forget();
    expect(await syncAsking()).toMatchObject({ unchanged: 2, skipped: 1, asked: [] });
    await age(30);
    expect(await syncAsking()).toMatchObject({ created: 1, skipped: 0, asked: all(3) });
    expect(await isAnyDue()).toBe(false);
    list = jobs(1);
    expect(await sync()).toMatchObject({ deleted: 2 });
    await forget();
    expect(await mirror.query('select key from detail')).toEqual([{ key: 'j1' }]);
  });

  it('details of postings that the list no longer has are not due, however long their deletes are held', {
    tags: 'slow',
  }, async () => {
    const details = DETAILS.replace(/ }$/, ', refresh_days: 7 }');
    await open({ details, delete_guard: '{ percent: 0, count: 0, missing_pulls: 1 }' });
    await sync();
    const [gone] = list.splice(4, 1);
    expect(await sync()).toMatchObject({ complete: true, held: 1 });
    await age(30);
    expect(await isAnyDue()).toBe(true);
    expect(await syncAsking()).toMatchObject({ unchanged: 5, held: 1, asked: ids(...list.map(({ id }) => id)) });
    expect(await isAnyDue()).toBe(false);
    expect(await syncAsking()).toMatchObject({ unchanged: 5, held: 1, asked: [] });
    await forget();
    list.push(gone ?? expect.fail());
    expect(await syncAsking()).toMatchObject({ unchanged: 6, held: 0, asked: [] });
    // It is listed again, and so it is due.
    expect(await isAnyDue()).toBe(true);
    expect(await syncAsking()).toMatchObject({ unchanged: 6, asked: ['j5'] });
    expect(await isAnyDue()).toBe(false);
  });

  it('a detail is due again once its record can be read again, as it was before', async () => {
    await open({ details: DETAILS.replace(/ }$/, ', refresh_days: 7 }') });
    await sync();
    const before = list;
    list = list.map((one) => (one.id === 'j5' ? { ...one, text: '\ud800' } : one));
    expect(await sync()).toMatchObject({ unreadable: 1, complete: false });
    const { db } = await mirror.app();
    await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: acme }), 'a person'));
    expect(await sync()).toMatchObject({ unreadable: 1, complete: true });
    list = before;
    expect(await syncAsking()).toMatchObject({ unchanged: 6, asked: [] });
    await age(30);
    expect(await syncAsking()).toMatchObject({ unchanged: 6, asked: all(6) });
  });

  it('a detail that a new rule no longer needs is not due', { tags: 'slow' }, async () => {
    await open({ details: DETAILS.replace(/ }$/, ', refresh_days: 7 }'), skip: '[{ state: TX }]' });
    await sync();
    await mirror.configure('state: TX', 'id: j3');
    expect(await syncAsking()).toMatchObject({ deleted: 1, skipped: 1, complete: true, asked: [] });
    await age(30);
    expect(await syncAsking()).toMatchObject({ unchanged: 5, skipped: 1 });
    expect(await isAnyDue()).toBe(false);
  });

  it('known details are requested again, less often if that fails, and what only they show is mirrored', async () => {
    list = jobs(4);
    await open({ details: DETAILS.replace(/ }$/, ', refresh_days: 7 }') });
    await sync();
    text = (id) => `More about ${id}`;
    expect(await syncAsking()).toMatchObject({ unchanged: 4, asked: [] });
    await mirror.query(`update detail set fetched_at = now() - interval '3 days'`);
    expect(await syncAsking()).toMatchObject({ unchanged: 4, asked: [] });
    await mirror.query(`update detail set fetched_at = now() - interval '8 days' where key in ('j1', 'j2', 'j3')`);
    answer = (id, response) => (id === 'j3' ? sendJson(response, {}, 500) : detail(id, response));
    expect(await syncAsking()).toMatchObject({ updated: 2, unchanged: 2, complete: true });
    expect((await mirror.siteJobs()).get('j3')?.description).toBe('About j3');
    answer = (id, response) => (id === 'j3' ? sendJson(response, {}, 404) : detail(id, response));
    expect(await syncAsking()).toMatchObject({ complete: true, unchanged: 4, asked: ['j3'] });
    expect(await isAnyDue()).toBe(true);
    await mirror.query(`update failed_detail set since = since - interval '2 hours'`);
    expect(await isAnyDue()).toBe(false);
    expect(await syncAsking()).toMatchObject({ complete: true, unchanged: 4, asked: [] });
    await mirror.query(`update failed_detail set tried_at = tried_at - interval '2 hours'`);
    answer = detail;
    expect(await syncAsking()).toMatchObject({ updated: 1, unchanged: 3, asked: ['j3'] });
  });

  it('details that were requested for an older copy of the list are mirrored with the newest one', async () => {
    const older = jobs(3);
    const newer = older.map((one) => (one.id === 'j1' ? { ...one, text: 'Cook' } : one));
    await open({ details: DETAILS.replace(/ }$/, ', refresh_days: 7 }') });
    for (list of [older, newer, older, newer]) await sync();
    const pull = (copy: Job[]) => {
      list = copy;
      return syncAsking();
    };
    expect(await pull(older)).toMatchObject({ updated: 0, unchanged: 3 });
    expect(await pull(newer)).toMatchObject({ updated: 0, unchanged: 3 });
    await age(30);
    text = (id) => `More about ${id}`;
    expect(await pull(older)).toMatchObject({ updated: 0, unchanged: 3, asked: all(3) });
    expect(await pull(newer)).toMatchObject({ updated: 3 });
    await age(30);
    expect(await pull(newer)).toMatchObject({ unchanged: 3, asked: all(3) });
  });
});

it('of a list that is a single document are requested with its credentials and headers', { tags: 'slow' }, async () => {
  list = jobs(3);
  await open({
    source: `"${source.origin}/jobs?lang=en&page=1"`,
    headers: '{ X-Client: us }',
    credentials: '{ query: { name: key, value: "${BOARD_TOKEN}" } }',
  });
  await mirror.configure(`    pages: { by: page, size: ${PAGE}, end: short_page }\n`, '');
  await mirror.configure('?lang={source:lang}', '?lang={source:lang}&more=1');
  expect(await sync()).toMatchObject({ created: 3, complete: true });
  const { BOARD_TOKEN: token } = mirror.env;
  expect(source.requests).toHaveLength(1 + 3);
  for (const { headers, query } of source.requests) {
    expect([headers['x-client'], query.get('key')]).toEqual(['us', token]);
  }
  expect(await mirror.sync()).toMatchObject({ unchanged: 3 });
  expect(source.requests).toHaveLength(1 + 3 + 1);
});
