import { afterEach, beforeEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { sendJson, serveWeb, type WebServer } from '../feed/web-server.ts';
import { checkCounts } from '../laws/laws.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const FIELDS =
  'fields: { number: id, title: title, description: detail/text, location-state: { from: state, as: us_state } }';

interface Job {
  readonly id: string;
  readonly title: string;
  readonly state: string;
}
const jobs = (count: number): Job[] =>
  Array.from({ length: count }, (_, at) => ({ id: `j${at + 1}`, title: `Nurse j${at + 1}`, state: 'MA' }));

let mirror: Mirror;
let source: WebServer;
let list: readonly Job[];
let failing: ReadonlySet<string>;

beforeEach(async () => {
  list = jobs(6);
  failing = new Set();
  source = await serveWeb(({ path }, response) => {
    const id = /^\/jobs\/(\w+)/.exec(path)?.[1];
    if (id === undefined) return sendJson(response, { jobs: list, total: list.length });
    if (failing.has(id)) return sendJson(response, {}, 500);
    sendJson(response, { id, text: `About ${id}` });
  });
  mirror = await openMirror({
    feed: {
      source: `"${source.origin}/jobs"`,
      format: `{ type: json, records: jobs, total: total, key: id, ${FIELDS} }`,
      details: '{ url: "jobs/{id}", match: { id: id } }',
      limits: '{ requests_per_second: 5000, attempts: 1, max_wait_seconds: 0.01 }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
      rekey_guard: '{ percent: 100, count: 100 }',
      expire_after_days: '30',
    },
  });
});
afterEach(async () => {
  await mirror.close();
  await source.close();
});

const age = async (...keys: string[]) =>
  mirror.query(`update mapping set mapped_at = now() - interval '31 days' where key = any($1)`, [keys]);
async function sync() {
  const before = source.requests.length;
  const report = checkCounts(await mirror.sync());
  const asked = source.requests.slice(before).flatMap(({ path }) => /^\/jobs\/(\w+)/.exec(path)?.[1] ?? []);
  return { ...report, asked: asked.sort() };
}
const change = (id: string, fields: Partial<Job>) => {
  list = list.map((each) => (each.id === id ? { ...each, ...fields } : each));
};
const live = async () => [...(await mirror.siteJobs()).keys()].sort();
async function run(...args: string[]) {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
}

it('an expired posting is not requested again, and renewed with its detail', async () => {
  expect(await sync()).toMatchObject({ created: 6, asked: ['j1', 'j2', 'j3', 'j4', 'j5', 'j6'] });
  await age('j1');
  expect(await sync()).toMatchObject({ expired: 1, deleted: 1, asked: [] });
  expect(await sync()).toMatchObject({ expired: 1, deleted: 0, created: 0, requests: 0, asked: [] });
  change('j1', { title: 'Changed' });
  expect(await sync()).toMatchObject({ expired: 1, created: 0, requests: 0, asked: ['j1'] });
  expect(await sync()).toMatchObject({
    status: 'mirrored',
    complete: true,
    expired: 1,
    created: 0,
    requests: 0,
    asked: [],
  });
  const renewed = await run('feeds', 'renew', 'acme', 'j1');
  expect(renewed.status, renewed.out).toBe(0);
  const again = await sync();
  expect(again).toMatchObject({ created: 1, expired: 0, asked: [] });
  expect((await mirror.siteJobs()).get('j1')).toMatchObject({ title: 'Changed', description: 'About j1' });
  expect(await sync()).toMatchObject({ created: 0, updated: 0, requests: 0 });
});

it('a posting whose detail fails expires like others, and neither is made again', async () => {
  await sync();
  await age('j1', 'j2');
  change('j2', { title: 'Changed' });
  change('j3', { title: 'Changed' });
  failing = new Set(['j2', 'j3']);
  expect(await sync()).toMatchObject({ complete: false, unreadable: 2, created: 0, deleted: 0 });
  failing = new Set();
  expect(await sync()).toMatchObject({ complete: true, expired: 2, created: 0, updated: 1, deleted: 2 });
  expect(await live()).toEqual(['j3', 'j4', 'j5', 'j6']);
  expect(await sync()).toMatchObject({ status: 'mirrored', complete: true, expired: 2, created: 0, requests: 0 });
});

it('a changed mapping makes no expired posting again', async () => {
  await sync();
  await age('j1');
  await sync();
  await mirror.configure('title: title', 'title: { template: "{title} (m/f)" }');
  expect(await sync()).toMatchObject({ expired: 1, created: 0, updated: 5, asked: [] });
  expect(await live()).toEqual(['j2', 'j3', 'j4', 'j5', 'j6']);
});

it('undo of the pull in which a posting expired brings it back once', async () => {
  await sync();
  await age('j1');
  const { pull } = await sync();
  expect((await run('undo', String(pull), '--yes')).status).toBe(0);
  expect((await run('feeds', 'resume', 'acme')).status).toBe(0);
  for (const _ of [1, 2]) {
    expect(await sync()).toMatchObject({ status: 'mirrored', unchanged: 6, expired: 0, requests: 0, asked: [] });
  }
  expect(await mirror.sandbox.inspect.count()).toBe(6);
});
