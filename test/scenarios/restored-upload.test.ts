// A database that was restored from a backup has the uploaded files of that time: what came with a newer one is neither deleted nor set back.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let database: TestDatabase;
let mirror: Mirror;
beforeEach(async () => {
  database = await createTestDatabase();
  mirror = await openMirror({ databaseUrl: database.url, searched: true, feed: { source: 'upload://' } });
});
afterEach(async () => {
  await mirror.close();
  await database.drop();
});

const run = (...args: readonly string[]) => runProgram(mirror, ...args);
async function upload(feed: readonly TestPosting[]): Promise<string> {
  const file = join(mirror.folder, 'jobs.xml');
  await writeFile(file, feedXml(feed));
  const uploaded = await run('feeds', 'upload', 'acme', file);
  expect(uploaded.errors).toBe('');
  return uploaded.out;
}
async function sync() {
  const report = await mirror.sync();
  await mirror.stopEngine();
  return report;
}
const jobs = async () =>
  (await mirror.sandbox.inspect.jobs()).map(({ id, fields }) => [id, fields.number, fields.title]).sort();
const uploads = async () => (await run('feeds', 'uploads', 'acme', '--json')).json();

async function backUp(): Promise<string> {
  const file = join(mirror.folder, 'of.backup');
  expect((await run('backup', file)).status).toBe(0);
  return file;
}
const restore = (file: string) => run('restore', file, '--replace', '--yes', '--json');

it('nothing is read of the file of the backup, until the newest one is uploaded again', async () => {
  await upload(postings(5));
  expect(await sync()).toMatchObject({ created: 5 });
  // A wrong file, which nobody pulls, and another one after the backup.
  await upload([posting('p1', { title: 'Wrong' }), ...postings(4).slice(1)]);
  const file = await backUp();
  const newest = [posting('p1', { title: 'Newest' }), ...postings(5).slice(1), posting('p6')];
  await upload(newest);
  expect(await sync()).toMatchObject({ created: 1, updated: 1, deleted: 0 });
  const before = await jobs();

  expect((await restore(file)).json()).toMatchObject([{ unread_uploads: 1 }]);
  expect(await uploads()).toMatchObject([
    { version: 2, present: false, of_backup: true },
    { version: 1, present: false, of_backup: true },
  ]);
  expect((await run('feeds', 'uploads', 'acme')).out).toContain('of a backup, not read');
  const refused = await sync();
  expect(refused).toMatchObject({ status: 'failed', message: expect.stringContaining('upload the newest file again') });
  expect((await run('plan', 'acme')).errors).toContain('upload the newest file again');
  expect(await jobs()).toEqual(before);

  expect(await upload(newest)).toContain('File 3 is uploaded for feed acme');
  expect(await sync()).toMatchObject({ complete: true, deleted: 0, in_doubt: 1 });
  expect(await jobs()).toEqual(before);
});

it.each([
  ['uploaded again', async () => upload(postings(3))],
  ['put back', async () => (await run('feeds', 'restore-upload', 'acme', '1')).out],
])('a file that is the newest is read once it is %s', async (_, again) => {
  await upload(postings(3));
  expect(await sync()).toMatchObject({ created: 3 });
  await restore(await backUp());
  expect(await sync()).toMatchObject({ status: 'failed' });
  expect(await again()).toMatch(/file 2\b/i);
  expect(await uploads()).toMatchObject([
    { version: 2, present: true, of_backup: false },
    { version: 1, present: false, of_backup: true },
  ]);
  expect(await sync()).toMatchObject({ status: 'mirrored', unchanged: 3, requests: 0 });
  expect(await upload(postings(3))).toContain('reads this file already, as file 2');
});
