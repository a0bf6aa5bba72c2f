// A feed of several sources or files, one of which had postings and has none: what is gone waits until it has postings again.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { sendJson, serveWeb } from '../feed/web-server.ts';
import { zipOf } from '../feed/zip-writer.ts';
import { openMirror } from '../support/mirror.ts';

const FORMAT = `{ type: json, records: jobs, key: id, fields: { number: id, title: text, location-state: { from: state, as: us_state } } }`;

/** The IDs of the postings of each source, by its path or name; `undefined`: it cannot be read. */
type Lists = Readonly<Record<string, string | undefined>>;
let lists: Lists = {};
beforeEach(() => {
  lists = { a: 'a1 a2 a3 a4 a5 a6 a7 a8 a9', b: 'b1 b2 b3' };
});
const documentOf = (ids: string) => ({
  jobs: ids
    .split(' ')
    .filter((id) => id !== '')
    .map((id) => ({ id, text: `Nurse ${id}`, state: 'MA' })),
});

/** @param feed settings; `sources` names the paths of a web server */
async function open(feed: Readonly<Record<string, string>> = {}, paths: readonly string[] = ['a', 'b']) {
  const web = await serveWeb(({ path }, response) => {
    const ids = lists[path.slice(1)];
    if (ids === undefined) response.writeHead(404).end();
    else sendJson(response, documentOf(ids));
  });
  const mirror = await openMirror({ feed: { source: 'inbox', format: FORMAT, ...feed } });
  const use = (named: readonly string[]) =>
    mirror.configure(/sources?: .*/, `sources: [${named.map((path) => `"${web.origin}/${path}"`)}]`);
  if (feed.source === undefined) await use(paths);
  onTestFinished(async () => {
    await mirror.close();
    await web.close();
  });
  const sync = (changed: Lists, name?: string) => {
    lists = { ...lists, ...changed };
    return mirror.sync(name);
  };
  const run = async (...args: string[]) => {
    await mirror.stopEngine();
    const ran = await runProgram(mirror, ...args);
    expect([0, 2], ran.errors).toContain(ran.status);
  };
  return { ...mirror, sync, run, use, mirror, origin: web.origin };
}
type Opened = Awaited<ReturnType<typeof open>>;
const messages = (own: Opened) =>
  own.query<{ why: string }>("select distinct reason->>'message' as why from change where state = 'held'");

it('has its deletes held until it has postings again', async () => {
  const own = await open();
  expect(await own.sync({})).toMatchObject({ created: 12 });
  expect(await own.sync({ b: '' })).toMatchObject({ complete: true, deleted: 0, held: 3 });
  expect(await messages(own)).toEqual([
    {
      why: `${own.origin}/b had postings before and has none now: what is gone (3 of the feed's postings) may be its postings. Once there are postings again, they are checked again. If what is gone is gone indeed, approve the deletes; if sources are often empty, set expect: { empty_sources: true }`,
    },
  ]);
  expect(await own.sync({ a: 'a1 a2 a3 a4 a5 a6 a7 a8' })).toMatchObject({ deleted: 0, held: 4 });
  expect(await own.sync({ b: 'b1 b2 b4' })).toMatchObject({ deleted: 2, held: 0, created: 1 });
});

it('that always was empty, or is new, holds none', async () => {
  const own = await open({}, ['a', 'none']);
  await own.sync({ none: '' });
  expect(await own.sync({ a: 'a1 a2 a3 a4 a5 a6 a7' })).toMatchObject({ deleted: 2, held: 0 });
  await own.use(['a', 'none', 'new']);
  expect(await own.sync({ a: 'a1 a2 a3 a4 a5 a6', new: '' })).toMatchObject({ deleted: 1, held: 0 });
});

it('of which only the last ones are gone holds none, but several of such sources do', async () => {
  const own = await open({}, ['a', 'b', 'c', 'd']);
  await own.sync({ b: 'b1', c: 'c1 c2', d: 'd1' });
  expect(await own.sync({ c: '' })).toMatchObject({ deleted: 2, held: 0 });
  await own.sync({ c: 'c3' });
  expect(await own.sync({ b: '', c: '', d: '' })).toMatchObject({ deleted: 0, held: 3 });
});

it('is known also where nothing has changed since an update, or the feed was not complete', async () => {
  const own = await open();
  await own.sync({});
  await own.query('update feed_state set filled_sources = null');
  await own.sync({});
  expect(await own.sync({ a: undefined, b: 'b1 b2' })).toMatchObject({ complete: false });
  expect(await own.sync({ a: lists.a ?? 'a1 a2 a3 a4 a5 a6 a7 a8 a9', b: '' })).toMatchObject({ deleted: 0, held: 3 });
});

it('stays known while its postings are missing too briefly to be deleted', async () => {
  const own = await open({ delete_guard: '{ missing_pulls: 2 }' });
  await own.sync({});
  expect(await own.sync({ b: '' })).toMatchObject({ grace: 3, held: 0 });
  expect(await own.sync({})).toMatchObject({ deleted: 0, held: 3 });
});

it('says so, too, where the guard holds them', async () => {
  const own = await open({ delete_guard: '{ percent: 5, count: 0 }' });
  await own.sync({});
  expect(await own.sync({ b: '' })).toMatchObject({ deleted: 0, held: 3 });
  expect(await messages(own)).toEqual([{ why: expect.stringMatching(/above the limit.*\/b had postings before/) }]);
  await own.run('review', 'approve', 'acme');
  expect((await own.siteJobs()).size).toBe(9);
});

it('holds none once a person has approved that it is empty, not even of other sources', async () => {
  const own = await open();
  await own.sync({});
  await own.sync({ b: '' });
  const [entry] = await own.query<{ id: number }>("select id from change where state = 'held' order by id");
  await own.run('review', 'approve', `${entry?.id}`);
  expect(await own.sync({})).toMatchObject({ held: 2, deleted: 0 });
  await own.run('review', 'approve', 'acme');
  expect(await own.sync({ a: 'a1 a2 a3 a4 a5 a6 a7 a8' })).toMatchObject({ deleted: 1, held: 0 });
  expect((await own.siteJobs()).size).toBe(8);
  expect(await own.sync({ b: 'b5 b6 b7' })).toMatchObject({ created: 3 });
  expect(await own.sync({ b: '' })).toMatchObject({ deleted: 0, held: 3 });
});

it('holds none once it is no longer configured, or if sources may be empty', async () => {
  const own = await open({ delete_guard: '{ percent: 50 }' });
  await own.sync({});
  expect(await own.sync({ b: '' })).toMatchObject({ held: 3 });
  await own.use(['a', 'c']);
  expect(await own.sync({ c: 'c1 c2 c3' })).toMatchObject({ deleted: 3, held: 0, created: 3 });
  expect(await own.sync({ c: '' })).toMatchObject({ held: 3 });
  await own.configure(/format: /, 'expect: { empty_sources: true }\n    format: ');
  expect(await own.sync({})).toMatchObject({ deleted: 3, held: 0 });
});

it('is told from a page of a list, which may be empty, and from one whose address differs in what is secret', async () => {
  const own = await open({}, ['a', 'b?page=1', 'b?page=2', 'c?key=1', 'c?key=2']);
  lists = { a: lists.a, 'b?page=1': 'b1 b2 b3', 'b?page=2': 'b4 b5', 'c?key=1': 'c1 c2', 'c?key=2': 'c3 c4 c5' };
  await own.sync({});
  await own.sync({ 'b?page=2': '' });
  expect(await own.sync({})).toMatchObject({ deleted: 2, held: 0 });
  await own.sync({ 'c?key=2': '' });
  expect(await own.sync({})).toMatchObject({ deleted: 0, held: 3 });
  expect((await messages(own))[0]?.why).toContain('/c (2) had postings before');
});

describe('files of a folder', () => {
  const put = ({ mirror: own }: Opened, files: Lists) => {
    const folder = join(own.folder, 'inbox');
    mkdirSync(folder, { recursive: true });
    for (const [name, ids] of Object.entries(files)) {
      if (ids === undefined) rmSync(join(folder, name));
      else writeFileSync(join(folder, name), JSON.stringify(documentOf(ids)));
    }
    return own.sync();
  };
  const A = 'a1 a2 a3 a4 a5 a6 a7 a8 a9';

  it('are sources, whatever numbers their names have', async () => {
    const own = await open({ source: 'inbox', files: 'all' });
    await put(own, { 'a-1.json': A, 'b-1.json': 'b1 b2 b3', 'c-1.json': '' });
    expect(await put(own, { 'b-1.json': '' })).toMatchObject({ deleted: 0, held: 3 });
    const next = { 'a-1.json': undefined, 'b-1.json': undefined, 'c-1.json': undefined, 'a-2.json': A, 'c-2.json': '' };
    expect(await put(own, { ...next, 'b-2.json': '' })).toMatchObject({ deleted: 0, held: 3 });
    expect((await messages(own))[0]?.why).toContain('b-1.json had postings before');
    expect(await put(own, { 'b-2.json': undefined })).toMatchObject({ deleted: 0, held: 3 });
    expect(await put(own, { 'b-3.json': 'b2' })).toMatchObject({ deleted: 2, held: 0 });
    // Another file for each day, of which one is always empty; and one that is removed.
    const day = { 'a-2.json': undefined, 'c-2.json': undefined, 'a-3.json': 'a1 a2 a3 a4 a5 a6 a7 a8', 'c-3.json': '' };
    expect(await put(own, day)).toMatchObject({ deleted: 1, held: 0 });
    expect(await put(own, { 'b-3.json': undefined })).toMatchObject({ deleted: 1, held: 0 });
  });

  it('that are removed are held like empty ones, unless others have their postings', async () => {
    const own = await open({ source: 'inbox', files: 'all', delete_guard: '{ percent: 100 }' });
    const B = 'b1 b2 b3 b4';
    await put(own, { 'a.json': A, 'b.json': B });
    expect(await put(own, { 'b.json': undefined })).toMatchObject({ complete: true, deleted: 0, held: 4 });
    expect((await messages(own))[0]?.why).toContain('/inbox/*, b.json (no longer there) had postings before');
    expect(await put(own, { 'a.json': 'a1 a2 a3 a4 a5 a6 a7 a8' })).toMatchObject({ deleted: 0, held: 5 });
    expect(await put(own, { 'b.json': B })).toMatchObject({ deleted: 1, held: 0 });
    // One file replaces another, and has most of its postings.
    expect(await put(own, { 'b.json': undefined, 'c.json': 'b1 b2 b3' })).toMatchObject({ deleted: 1, held: 0 });
    expect(await put(own, { 'c.json': undefined })).toMatchObject({ deleted: 0, held: 3 });
    await own.run('review', 'approve', 'acme');
    expect(await put(own, { 'a.json': 'a1 a2 a3 a4 a5 a6 a7' })).toMatchObject({ deleted: 1, held: 0 });
    await put(own, { 'd.json': 'd1 d2 d3' });
    // The files that are read are configured.
    await own.configure('source: inbox', 'source: inbox/a*');
    expect(await own.sync({})).toMatchObject({ deleted: 3, held: 0 });
  });

  it('of one posting each are removed with them', async () => {
    const own = await open({ source: 'inbox', files: 'all' });
    await put(own, Object.fromEntries('abcdefgh'.split('').map((id) => [`${id}.json`, id])));
    const gone = { 'f.json': undefined, 'g.json': undefined, 'h.json': undefined };
    expect(await put(own, gone)).toMatchObject({ deleted: 3, held: 0 });
  });

  const upload = (own: Opened, path: string) => own.run('feeds', 'upload', 'acme', path);
  it.each<[string, Readonly<Record<string, string>>, (own: Opened, path: string) => unknown]>([
    ['an archive', { source: 'inbox/monday.zip' }, (_, path) => renameSync(path, join(path, '..', 'monday.zip'))],
    ['the newest archive', { source: 'inbox', files: 'newest' }, () => undefined],
    ['an uploaded archive', { source: 'upload://' }, upload],
  ])('in %s are, too', async (_, feed, act) => {
    const own = await open(feed);
    const put = async (name: string, b: string | undefined) => {
      const files = { 'a.json': A, ...(b === undefined ? {} : { 'b.json': b }) };
      const zipped = Object.entries(files).map(([file, ids]) => ({
        name: file,
        content: JSON.stringify(documentOf(ids)),
      }));
      mkdirSync(join(own.folder, 'inbox'), { recursive: true });
      writeFileSync(join(own.folder, 'inbox', name), zipOf(zipped));
      await act(own, join(own.folder, 'inbox', name));
      return own.sync({});
    };
    await put('monday.zip', 'b1 b2 b3');
    expect(await put('tuesday.zip', '')).toMatchObject({ deleted: 0, held: 3 });
    expect((await messages(own))[0]?.why).toMatch(/, b\.json had postings before/);
    expect(await put('wednesday.zip', undefined)).toMatchObject({ deleted: 0, held: 3 });
    expect(await put('thursday.zip', 'b1 b2 b4')).toMatchObject({ deleted: 1, held: 0, created: 1 });
    expect(await put('friday.zip', undefined)).toMatchObject({ deleted: 0, held: 3 });
  });
});

it.each<[string, (own: Opened) => Promise<unknown>]>([
  ['its feed is paused', (own) => own.run('pause', 'acme').then(() => own.run('resume', 'acme'))],
  [
    'they are kept and reopened',
    (own) => own.run('review', 'discard', 'acme', '--yes').then(() => own.run('review', 'reopen', 'acme')),
  ],
  ['the database is restored', (own) => own.run('restore', 'backup.gz', '--replace', '--yes')],
  ['the pull is undone', (own) => own.run('undo', '2', '--yes').then(() => own.run('feeds', 'resume', 'acme'))],
  [
    'the feed is renamed',
    (own) => own.configure('acme:', 'globex:').then(() => own.run('feeds', 'rename', 'acme', 'globex')),
  ],
  [
    'the feed deletes nothing for a while',
    async (own) => {
      await own.configure(/format: /, 'policy: upsert_only\n    format: ');
      expect(await own.sync({})).toMatchObject({ held: 0, grace: 3 });
      await own.configure('policy: upsert_only', 'policy: mirror');
    },
  ],
])('holds the deletes although %s', { tags: 'slow' }, async (_, act) => {
  const own = await open();
  await own.sync({});
  await own.run('backup', 'backup.gz');
  expect(await own.sync({ b: '' })).toMatchObject({ held: 3 });
  await act(own);
  const [feed] = (await own.app()).config.feeds.keys();
  expect(await own.sync({ a: 'a1 a2 a3 a4 a5 a6 a7 a8' }, feed)).toMatchObject({ deleted: 0, held: 4 });
  expect(await own.sync({ b: 'b1 b2 b3' }, feed)).toMatchObject({ deleted: 1, held: 0 });
  expect((await own.siteJobs()).size).toBe(11);
});
