// Postings that expire, in every state that other commands leave behind: no job that a person keeps is deleted, and none is lost.
// @module-tag slow
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { feedName, postingKey } from '../../src/posting/identifiers.ts';
import { type JobOfPosting, jobsAfter, jobsFrom, jobsNamed } from '../../src/store/mapping/find-jobs.ts';
import { postingPage } from '../../src/store/status/report-lines.ts';
import { runProgram } from '../cli/run-program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let separate: TestDatabase | undefined;
afterEach(async () => {
  await mirror?.close();
  await separate?.drop();
  separate = undefined;
});

const open = async (feed: MirrorOptions['feed'] = {}, options: MirrorOptions = {}) => {
  mirror = await openMirror({ ...options, feed: { expire_after_days: '30', ...feed } });
};
const rows = async <Row extends object = object>(sql: string) => mirror.query<Row>(sql);
const live = async () => [...(await mirror.siteJobs()).keys()].sort();
const run = async (...args: readonly string[]) => {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
};
/** Lets postings have been on the site for a number of days. */
const age = async (days: number, ...keys: string[]) =>
  mirror.query(`update mapping set mapped_at = now() - make_interval(hours => $1) where key = any($2)`, [
    24 * days,
    keys,
  ]);
const daysOf = async (key: string) =>
  (
    await rows<{ days: number }>(
      `select round(extract(epoch from now() - mapped_at) / 86400)::int as days from mapping where key = '${key}'`,
    )
  )[0]?.days;
const numbered = (prefix: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `${prefix}${from + at}`);
const wards = (prefix: string, count: number): TestPosting[] =>
  Array.from({ length: count }, (_, at) =>
    posting(`${prefix}${at + 1}`, { title: `Nurse ${at + 1}`, description: `<p>Ward ${at + 1}</p>` }),
  );

it('new keys: the age follows, and a job that a person keeps is not deleted under its new key', async () => {
  await open();
  await mirror.syncOf(wards('a', 12));
  await age(40, ...numbered('a', 1, 8));
  expect(await mirror.sync()).toMatchObject({ held: 8, expired: 8 });
  expect((await run('review', 'discard', 'acme', '--kind', 'held', '--yes')).status).toBe(0);
  await age(29, 'a9', 'a10');
  expect(await mirror.syncOf(wards('b', 12))).toMatchObject({ created: 0, deleted: 0, pending: 12 });
  expect((await run('feeds', 'rekey', 'acme', '--sure')).out).toContain('12 jobs kept');
  expect(await mirror.sync()).toMatchObject({ updated: 12, held: 0, deleted: 0, expired: 0 });
  expect(await daysOf('b1')).toBe(40);
  expect(await daysOf('b9')).toBe(29);
  await age(30, 'b9', 'b10');
  expect(await mirror.sync()).toMatchObject({ deleted: 2, expired: 2 });
  expect(await live()).toHaveLength(10);
  // Those days are over, too, at some time.
  await rows(`update posting_expiry set renewed_at = now() - interval '720 hours' where key in ('b1', 'b2')`);
  expect(await mirror.sync()).toMatchObject({ deleted: 2, expired: 4 });
});

it('new keys after a job has ended: the posting stays ended, until it is renewed, and so it does after an incomplete pull', async () => {
  await open({ expect: '{ min_records: 12 }' });
  await mirror.syncOf(wards('a', 12));
  await age(40, 'a1', 'a2');
  expect(await mirror.sync()).toMatchObject({ deleted: 2, expired: 2 });
  expect(await mirror.syncOf(wards('b', 11))).toMatchObject({ complete: false, created: 0, pending: 11 });
  expect(await mirror.syncOf(wards('b', 12))).toMatchObject({ created: 0, deleted: 0, pending: 12 });
  const rekeyed = await run('feeds', 'rekey', 'acme', '--sure');
  expect(rekeyed.out).toContain('a1 -> b1 "Nurse 1": same content, its job has ended, so it gets none');
  expect(rekeyed.out).toContain('10 jobs kept for their new keys');
  expect(rekeyed.out).toContain('The jobs of 2 other postings have ended, and stay so.');
  expect(await mirror.sync()).toMatchObject({ created: 0, updated: 10, deleted: 0, expired: 2, pending: 0 });
  expect(await mirror.sync()).toMatchObject({ unchanged: 10, expired: 2, requests: 0 });
  expect(await live()).toEqual(numbered('b', 3, 12).sort());
  await run('feeds', 'renew', 'acme', 'b1');
  expect(await mirror.sync()).toMatchObject({ created: 1, expired: 1 });
  // If the postings are other ones, as a person says, they get jobs.
  await age(40, ...numbered('b', 3, 4));
  expect(await mirror.sync()).toMatchObject({ expired: 3 });
  expect(await mirror.syncOf(wards('c', 12))).toMatchObject({ created: 0, pending: 12 });
  expect((await run('feeds', 'rekey', 'acme', '--not-rekey')).status).toBe(0);
  expect(await mirror.sync()).toMatchObject({ created: 12, expired: 0 });
  expect(await rows('select key from posting_expiry where expired_at is not null')).toEqual([]);
});

it('more days: jobs whose deletes are held stay, although the source says that nothing has changed', async () => {
  const server = createServer((request, response) => {
    const etag = '"1"';
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    return response.writeHead(200, { etag, 'content-type': 'application/xml' }).end(feedXml(postings(12)));
  });
  const port = await listen(server);
  await open({ source: `http://127.0.0.1:${port}/feed.xml` });
  await mirror.sync();
  await age(40, ...numbered('p', 1, 12));
  const held = await mirror.sync();
  expect(held).toMatchObject({ held: 12, expired: 12 });
  expect(held.message).toContain('nothing was mirrored: all 12 postings expired');
  expect(await mirror.sync()).toMatchObject({ status: 'review', held: 12 });
  await mirror.configure('expire_after_days: 30', 'expire_after_days: 60');
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', held: 0, expired: 0, unchanged: 12, requests: 0 });
  expect(await rows('select key from posting_expiry')).toEqual([]);
  expect(await mirror.sync()).toMatchObject({ status: 'not_modified', unchanged: 12 });
  server.close();
});

it('mappings of another installation: renewed days are exported, expired postings are not', async () => {
  await open();
  await mirror.syncOf(postings(8));
  await age(40, 'p1', 'p2');
  expect((await run('feeds', 'renew', 'acme', 'p1')).status).toBe(0);
  expect(await mirror.sync()).toMatchObject({ deleted: 1, expired: 1 });
  const exported = await run('mappings', 'export');
  expect(exported.errors).toMatch(/1 posting without a job has expired, .* creates jobs for them/);
  await writeFile(`${mirror.folder}/jobs.csv`, exported.out);
  for (const table of ['change', 'mapping', 'document', 'posting_expiry']) await rows(`delete from ${table}`);
  expect((await run('mappings', 'import', `${mirror.folder}/jobs.csv`)).out).toContain('7 mappings imported');
  expect(await mirror.sync()).toMatchObject({ deleted: 0, expired: 0, created: 1, updated: 7 });
  expect(await daysOf('p1')).toBe(0);
  expect(await live()).toHaveLength(8);
});

it('lists show postings whose job has ended, with that state', async () => {
  await open();
  await mirror.syncOf(postings(5));
  await age(40, 'p3');
  expect(await mirror.sync()).toMatchObject({ deleted: 1, expired: 1 });
  const { db } = await mirror.app();
  const acme = feedName('acme');
  const brief = (jobs: readonly JobOfPosting[]) =>
    jobs.map(({ key, site, siteJobId, state }) => ({ key, site, siteJobId, state }));
  const ended = { key: 'p3', site: 'board', siteJobId: null, state: 'expired' };
  expect(brief(await jobsNamed(db, 'p3', undefined))).toEqual([ended]);
  const listed = brief(await jobsAfter(db, undefined, { feed: 'acme', key: 'p2' }, 2));
  expect(listed).toEqual([ended, { key: 'p4', site: 'board', siteJobId: expect.any(String), state: null }]);
  expect(brief(await jobsFrom(db, acme, 'p3', 1))).toEqual([ended]);
  const filter = { states: ['expired', 'live'] as const, keyOrJobId: undefined };
  const { postings: page } = await postingPage(db, acme, filter, 2, postingKey('p2'));
  expect(page).toMatchObject([
    { key: 'p3', state: 'expired', siteJobId: undefined },
    { key: 'p4', state: 'live' },
  ]);
  expect((await run('report', 'acme', '--json')).json()).toMatchObject([
    { postings: { total: 5, live: 4, expired: 1 } },
    ...[{}, {}, {}, {}, {}],
  ]);
  // With a job again, it is listed once.
  await run('feeds', 'renew', 'acme', 'p3');
  await mirror.sync();
  expect(await jobsAfter((await mirror.app()).db, acme, undefined, 9)).toHaveLength(5);
});

it('an older backup: recover finds the jobs of renewed postings, and days begin at the recovery', async () => {
  separate = await createTestDatabase();
  await open({}, { databaseUrl: separate.url });
  await mirror.syncOf(postings(10));
  await age(40, 'p1', 'p2');
  await age(29, 'p3');
  expect(await mirror.sync()).toMatchObject({ deleted: 2, expired: 2 });
  const file = `${mirror.folder}/older.backup`;
  expect((await run('backup', file)).status).toBe(0);
  // Since then a person has renewed one, and the job of another one was gone and made again.
  expect((await run('feeds', 'renew', 'acme', 'p1')).status).toBe(0);
  const [{ id }] = (await rows<{ id: string }>(`select site_job_id as id from mapping where key = 'p3'`)) as [
    { id: string },
  ];
  await mirror.sandbox.inspect.removeJob(id);
  expect((await run('verify', 'acme', '--repair')).status).toBe(0);
  expect(await mirror.sync()).toMatchObject({ created: 2 });
  expect((await run('restore', file, '--replace', '--yes')).status).toBe(0);
  expect(await mirror.sync()).toMatchObject({ expired: 2, created: 0, deleted: 0 });
  const recovered = await run('recover', 'acme', '--yes');
  expect(recovered.out).toContain('sure p1');
  expect(recovered.out).toContain('1 job mapped, 1 replaced, 0 marked');
  expect(await mirror.sync()).toMatchObject({ unchanged: 9, expired: 1, created: 0, deleted: 0 });
  expect(await daysOf('p1')).toBe(0);
  expect(await daysOf('p3')).toBe(0);
  expect(await live()).toHaveLength(9);
  expect(await rows('select key from posting_expiry')).toEqual([{ key: 'p2' }]);
  expect(await mirror.sync()).toMatchObject({ unchanged: 9, expired: 1, requests: 0 });
});
