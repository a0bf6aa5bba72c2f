// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// Details that may not be those of their postings: errors with status 200, redirects, and rules that leave out too much.
// @module-tag slow

import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { readStory } from '../../src/store/review/posting-history.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { sendJson, serveWeb, type WebServer } from '../feed/web-server.ts';
import { checkCounts } from '../laws/laws.ts';
import { acme } from '../review/stage.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const FIELDS =
  'fields: { number: id, title: text, description: detail/text, location-state: { from: state, as: us_state } }';
const FORMAT = `{ type: json, records: jobs, total: total, key: id, ${FIELDS} }`;

interface Job {
  readonly id: string;
  readonly text: string;
}
const job = (id: string): Job => ({ id, text: `Nurse ${id}` });

let mirror: Mirror;
let source: WebServer;
let list: Job[];
/** How a record of the list is written. */
let written: (one: Job) => object;
let answer: (id: string, response: ServerResponse) => void;
const detail = (id: string, response: ServerResponse) => sendJson(response, { id, text: `About ${id}` });
const error = (_: string, response: ServerResponse) => sendJson(response, { error: 'rate limited' });

async function open(feed: Readonly<Record<string, string>> = {}): Promise<void> {
  mirror = await openMirror({
    feed: {
      source: `${source.origin}/jobs`,
      format: FORMAT,
      details: '{ url: "jobs/{id}" }',
      limits: '{ requests_per_second: 1000, attempts: 1 }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
      ...feed,
    },
  });
}

beforeEach(async () => {
  list = ['j1', 'j2', 'j3'].map(job);
  written = (one) => ({ ...one, state: 'MA' });
  answer = detail;
  source = await serveWeb(({ path, headers }, response) => {
    const id = /^\/jobs\/(.*)/.exec(path)?.[1];
    if (id !== undefined) return answer(id, response);
    const body = { jobs: list.map(written), total: list.length };
    const etag = `"${JSON.stringify(body).replace(/\W/g, '')}"`;
    if (headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else sendJson(response, body, 200, { etag });
  });
});
afterEach(async () => {
  await mirror.close();
  await source.close();
});

/** The report of a pull, and which details it requested. */
async function sync() {
  const before = source.requests.length;
  const report = checkCounts(await mirror.sync());
  const asked = source.requests.slice(before).flatMap(({ path }) => /^\/jobs\/(.*)/.exec(path)?.[1] ?? []);
  return { ...report, asked: asked.sort() };
}

const descriptions = async () =>
  Object.fromEntries([...(await mirror.siteJobs())].map(([key, { description }]) => [key, description]));
const messages = async () =>
  mirror.query(`select key, problems->0->>'message' as message from record_problem order by key`);
const ABOUT_ALL = { j1: 'About j1', j2: 'About j2', j3: 'About j3' };

describe('an error with status 200', () => {
  it('is no detail: its posting stays as it is until there is one', async () => {
    await open();
    await sync();
    list = [...list.map((one) => (one.id === 'j1' ? { ...one, text: 'Cook' } : one)), job('new')];
    answer = error;
    expect(await sync()).toMatchObject({
      complete: false,
      created: 0,
      updated: 0,
      unreadable: 2,
      asked: ['j1', 'new'],
    });
    expect(await descriptions()).toEqual(ABOUT_ALL);
    const message = expect.stringMatching(
      /none of the texts that the mapping reads from it \(detail\/text\).*details\.match/,
    );
    expect(await messages()).toEqual(['j1', 'new'].map((key) => ({ key, message })));
    answer = detail;
    expect(await sync()).toMatchObject({ complete: true, created: 1, updated: 1, asked: ['j1', 'new'] });
    expect(await descriptions()).toEqual({ ...ABOUT_ALL, new: 'About new' });
  });

  it.each([
    ['without match', '{ url: "jobs/{id}", refresh_days: 7 }', error],
    [
      'with match',
      '{ url: "jobs/{id}", match: { id: id }, refresh_days: 7 }',
      (id: string, response: ServerResponse) => sendJson(response, { id }),
    ],
  ])('never replaces a detail that is known, %s', async (_, details, failing) => {
    await open({ details });
    await sync();
    const { db } = await mirror.app();
    const due = () => db.query(`update detail set fetched_at = fetched_at - interval '30 days'`);
    await due();
    answer = failing;
    expect(await sync()).toMatchObject({ unchanged: 3, updated: 0, asked: ['j1', 'j2', 'j3'] });
    await mirror.configure('title: text', 'title: { template: "{text}!" }');
    expect(await sync()).toMatchObject({ updated: 3 });
    expect(await descriptions()).toEqual(ABOUT_ALL);
  });

  it('may lack all texts where match proves that it is the detail', async () => {
    await open({ details: '{ url: "jobs/{id}", match: { id: id } }' });
    answer = (id, response) => (id === 'j2' ? sendJson(response, { id }) : detail(id, response));
    expect(await sync()).toMatchObject({ complete: true, unreadable: 0, asked: ['j1', 'j2', 'j3'] });
    expect(await sync()).toMatchObject({ complete: true, asked: [] });
  });
});

describe('a redirect', () => {
  const redirect = (to: (id: string) => string) => (id: string, response: ServerResponse) =>
    id === 'j2' ? void response.writeHead(302, { location: to(id) }).end() : detail(id.replace(/\/$/, ''), response);

  it('to another posting is a failure', async () => {
    await open();
    answer = redirect(() => '/jobs/j3');
    expect(await sync()).toMatchObject({ complete: false, created: 2, unreadable: 1 });
    expect(await messages()).toEqual([
      {
        key: 'j2',
        message: expect.stringMatching(/was redirected to http.*\/jobs\/j3, which may be another posting's/),
      },
    ]);
  });

  it('that keeps the path or the query is none', async () => {
    await open();
    answer = redirect((id) => `/jobs/${id}/`);
    expect(await sync()).toMatchObject({ complete: true, created: 3 });
  });

  it('is left to match', async () => {
    await open({ details: '{ url: "jobs/{id}", match: { text: text } }' });
    answer = (id, response) =>
      id === 'j2'
        ? void response.writeHead(302, { location: '/jobs/the-nurse' }).end()
        : sendJson(response, { text: `Nurse ${id === 'the-nurse' ? 'j2' : id}` });
    expect(await sync()).toMatchObject({ complete: true, created: 3 });
  });
});

describe('ignore with a condition', () => {
  const ID = '"field[name=id]/value"';
  let stamp: string;
  const FORMAT_OF_FIELDS = FORMAT.replace('key: id', `key: ${ID}`).replace('number: id', `number: ${ID}`);
  beforeEach(() => {
    stamp = '1';
    written = ({ id }) => ({
      field: [
        { name: 'id', value: id },
        { name: 'updated', value: stamp },
      ],
      text: 'Nurse',
      state: 'MA',
    });
  });

  it('leaves out what it names alone, and takes no posting for another', async () => {
    await open({ format: FORMAT_OF_FIELDS, details: `{ url: "jobs/{field[name=id]/value}" }` });
    expect(await sync()).toMatchObject({ created: 3 });
    await mirror.configure('/value}" }', '/value}", ignore: "field[name=updated]/value" }');
    expect(await sync()).toMatchObject({ complete: true, unchanged: 3, deleted: 0, duplicates: 0 });
    stamp = '2';
    const again = { complete: true, unchanged: 3, deleted: 0, duplicates: 0 };
    expect(await sync()).toMatchObject({ ...again, asked: ['j1', 'j2', 'j3'] });
    stamp = '3';
    expect(await sync()).toMatchObject({ ...again, asked: [] });
    expect(await descriptions()).toEqual(ABOUT_ALL);
  });

  it('takes no posting for another if it leaves out the only difference', async () => {
    const format = FORMAT_OF_FIELDS.replaceAll(ID, '"*[name=id]/value"');
    await open({ format, details: '{ url: "jobs/{*[name=id]/value}", ignore: "field/value" }' });
    expect(await sync()).toMatchObject({ complete: true, created: 3, duplicates: 0 });
    expect(await descriptions()).toEqual(ABOUT_ALL);
  });
});

it('the repairs of a detail are reported', async () => {
  await open({ lenient: 'true' });
  answer = (id, response) =>
    id === 'j2' ? void response.end('{ "id": "j2", "text": "About j2", }') : detail(id, response);
  expect(await sync()).toMatchObject({ created: 3, repaired: 1, repaired_example: 'j2' });
  const { notes } = await readStory((await mirror.app()).db, acme, postingKey('j2'));
  expect(notes).toEqual([{ repaired: true, message: expect.stringMatching(/was repaired: .* \(in its detail\)$/) }]);
});

it('excerpts show no credentials that the source repeats, in the list or in details', async () => {
  await open({ credentials: '{ query: { name: api_key, value: "${BOARD_TOKEN}" } }' });
  const key = mirror.env.BOARD_TOKEN ?? '';
  written = (one) => ({ ...one, self: `/jobs?api_key=${key}`, state: 'MA', ...(one.id === 'j3' ? { id: '' } : {}) });
  answer = (id, response) =>
    sendJson(response, { self: `/x?api_key=${key}`, ...(id.startsWith('j2') ? {} : { text: 'About' }) });
  expect(await sync()).toMatchObject({ created: 1, unreadable: 2 });
  const rows = JSON.stringify(await mirror.query('select excerpt, problems from record_problem'));
  expect(rows.match(/api_key=\[secret\]/g)).toHaveLength(3);
  expect(rows).not.toContain(key);
});

it('a list is no longer "not modified" while a detail that was discarded is missing', async () => {
  await open();
  answer = (id, response) => (id === 'j2' ? sendJson(response, {}, 503) : detail(id, response));
  expect(await sync()).toMatchObject({ complete: false, created: 2 });
  const { db } = await mirror.app();
  await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: acme }), 'a person'));
  expect(await sync()).toMatchObject({ complete: true, asked: ['j2'] });
  answer = detail;
  expect(await sync()).toMatchObject({ complete: true, created: 1, asked: ['j2'] });
  expect(await sync()).toMatchObject({ status: 'not_modified', asked: [] });
});
