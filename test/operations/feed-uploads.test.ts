// Files that people upload as feeds: through the API, the command line and pages; what a pull reads of them; and what must not happen.
import { execFile } from 'node:child_process';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { addUpload, findUpload, readUploads, restoreUpload } from '../../src/store/feed/feed-uploads.ts';
import { renameFeed } from '../../src/store/mapping/rename-feed.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { runProgram } from '../cli/run-program.ts';
import { createTestDatabase } from '../support/database.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { setEnv } from '../support/with-env.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { type Answer, type Served, type ServeOptions, serve, TOKENS } from '../web/served.ts';

let served: Served;
let restoreEnv: () => void;
const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  restoreEnv = setEnv(mirror.env);
});
afterEach(async () => {
  restoreEnv();
  await served?.close();
});
const start = async (options: ServeOptions = {}) => {
  served = await serve(mirror, { include: true, ...options });
};
const post = (path: string, body: object, as: keyof typeof TOKENS = 'admin'): Promise<Answer> =>
  served.api('POST', path, body, { as });
const base64 = (content: string | Buffer): string => Buffer.from(content).toString('base64');
const keep = async (content: string | Buffer, name = 'jobs.xml'): Promise<string> =>
  (await post('feeds/samples', { name, content: base64(content) })).body.id;
const TEXT = 'source: upload://\nformat: indeed\nsite: board\n';
const paper = feedName('paper');
/** The configuration of a process that started after the feed was saved. */
const restart = async () => {
  await served.close();
  await start();
};
const saveFeed = async (content = feedXml(postings(3))) => {
  const saved = await post('feeds/paper/file', { text: TEXT, sample: await keep(content) });
  expect(saved.body, saved.text).toMatchObject({ result: 'saved' });
  await restart();
};
const uploads = async () => (await served.api('GET', 'feeds/paper/uploads', undefined, { as: 'admin' })).body.items;
const sync = async (): Promise<Record<string, unknown>> => {
  const ran = await runProgram(
    { ...mirror, configPath: join(mirror.folder, 'served.yaml') },
    'sync',
    'paper',
    '--json',
  );
  return ran.json()[0] as Record<string, unknown>;
};

/** The jobs of the site once nothing waits to be sent, however slow the machine is. */
async function jobsOnceMirrored(): Promise<number> {
  for (let left = 1; left > 0; ) left = Number((await sync()).pending);
  return mirror.sandbox.inspect.count();
}

it('is saved with the settings of a feed, replaced over all three ways, read again, and mirrored', async () => {
  await start();
  const sample = await keep(feedXml(postings(3)), '../../etc/jobs\u202e.xml');
  const recognised = (await post('feeds/recognise', { source: 'upload://', sample, site: 'board', feed: 'paper' }))
    .body;
  expect(recognised).toMatchObject({ format: 'indeed', text: expect.stringMatching(/^source: upload:\/\/\n/) });
  const tried = (await post('feeds/paper/try', { text: recognised.text, sample })).body;
  expect(tried).toMatchObject({ valid: true, on_sample: true, trial: { complete: true, sent: 3 } });
  const saved = await post('feeds/paper/file', { text: recognised.text, sample });
  expect(saved.body, saved.text).toMatchObject({ result: 'saved', new: true });
  await restart();
  expect(await uploads()).toMatchObject([{ version: 1, name: 'jobs.xml', actor: 'token admin', present: true }]);
  expect(await jobsOnceMirrored()).toBe(3);
  // Nothing is read again.
  expect(await sync()).toMatchObject({ unchanged: 3, requests: 0 });

  const over = await post('feeds/paper/uploads', { name: 'two.xml', content: base64(feedXml(postings(2))) });
  expect(over.body).toMatchObject({ result: 'uploaded', version: 2, sent: 2, rejected: 0, complete: true });
  expect(await jobsOnceMirrored()).toBe(2);

  const file = join(mirror.folder, 'three.xml.gz');
  await writeFile(file, gzipSync(feedXml([...postings(2), posting('new')])));
  const program = { ...mirror, configPath: join(mirror.folder, 'served.yaml') };
  const uploaded = await runProgram(program, 'feeds', 'upload', 'paper', file, '--as', 'ada');
  expect(uploaded.out).toMatch(/^File 3 is uploaded for feed paper: 3 postings would be sent, 0 rejected\./);
  const again = await runProgram(program, 'feeds', 'upload', 'paper', file);
  expect(again.out).toMatch(/reads this file already, as file 3/);
  expect((await runProgram(program, 'feeds', 'uploads', 'paper')).out).toMatch(
    /ada .*three\.xml\.gz .*read by the feed/,
  );
  expect(await jobsOnceMirrored()).toBe(3);

  const ada = await visitorOf(served, 'ada');
  const page = await ada.get('/feed/uploads?feed=paper');
  const sent = await ada.upload(
    '/feed/uploads',
    { feed: 'paper', go: 'wait', seen: '3' },
    {
      field: 'file',
      name: 'four.xml',
      bytes: Buffer.from(feedXml(postings(4))),
    },
  );
  expect(sent.status).toBe(303);
  const restored = await ada.press(await ada.get('/feed/uploads?feed=paper'), 'Read file 2 again');
  expect(restored.text).toContain('two.xml');
  expect(page.text).toContain('It changes only when a newer one is uploaded');
  expect((await uploads()).map(({ version, name }: { version: number; name: string }) => [version, name])).toEqual([
    [5, 'two.xml'],
    [4, 'four.xml'],
    [3, 'three.xml.gz'],
    [2, 'two.xml'],
    [1, 'jobs.xml'],
  ]);
  expect(await jobsOnceMirrored()).toBe(2);
  const activity = (await served.api('GET', 'activity?limit=2')).body.items;
  expect(activity).toContainEqual(expect.objectContaining({ actor: 'ada', action: 'upload feed', feed: 'paper' }));
});

it('is refused if the feed finds nothing in it that would be sent, unless whoever uploads it insists', async () => {
  await start();
  await saveFeed();
  const other = base64('ref;name\n1;Nurse\n');
  const refused = await post('feeds/paper/uploads', { content: other });
  expect([refused.status, refused.text]).toEqual([
    422,
    expect.stringContaining('does not look like a file of feed paper'),
  ]);
  expect((await post('feeds/paper/uploads', { content: '' })).status).toBe(422);
  expect((await post('feeds/paper/uploads', { content: 'not Base64!' })).status).toBe(400);
  expect(await uploads()).toHaveLength(1);
  expect((await post('feeds/paper/uploads', { content: other, anyway: true })).body).toMatchObject({
    version: 2,
    sent: 0,
  });
  expect(await sync()).toMatchObject({ complete: false, deleted: 0 });
  const ada = await visitorOf(served, 'ada');
  const half = await ada.upload(
    '/feed/uploads',
    { feed: 'paper', seen: '2' },
    { field: 'file', name: 'x', bytes: Buffer.from('a;b\n') },
  );
  expect(half.text).toContain('Upload it anyway');
  expect((await ada.press(half, 'Upload it anyway')).text).toContain('read by the feed');
  expect(await uploads()).toHaveLength(3);
});

it('with unchanged settings is asked about as an upload is', async () => {
  await start();
  await saveFeed();
  const { seen } = (await served.api('GET', 'feeds/paper/file', undefined, { as: 'admin' })).body;
  const save = async (content: string, more: object = {}) =>
    post('feeds/paper/file', { text: TEXT, seen, sample: await keep(content), ...more });
  const torn = await save(feedXml(postings(3)).replaceAll('state>', 'region>'));
  expect([torn.status, torn.body]).toMatchObject([409, { may_insist: true, records: 3, sent: 0, rejected: 3 }]);
  const same = await save(feedXml([posting('a'), posting('a', { title: 'Other' })]));
  expect([same.status, same.body.conflicting]).toEqual([409, 1]);
  const other = await save('ref;name\n1;Nurse\n');
  expect([other.status, other.body.detail]).toEqual([
    409,
    expect.stringContaining("these settings can't read the file"),
  ]);
  expect(await uploads()).toHaveLength(1);
  expect((await save('ref;name\n1;Nurse\n', { anyway: true })).body).toMatchObject({ result: 'unchanged' });
});

it('is bound to the file that was shown: on pages, by the API and on the command line', async () => {
  await start();
  await saveFeed();
  const ada = await visitorOf(served, 'ada');
  const shown = await ada.get('/feed/uploads?feed=paper');
  const content = (n: number) => base64(feedXml(postings(n)));
  expect((await post('feeds/paper/uploads', { content: content(1), seen: 0 })).body).toMatchObject({
    status: 409,
    seen: 1,
  });
  expect((await post('feeds/paper/uploads', { name: 'two.xml', content: content(2), seen: 1 })).body).toMatchObject({
    version: 2,
  });
  const late = await post('feeds/paper/uploads', { content: content(4), seen: 1 });
  expect([late.status, late.body.seen]).toEqual([409, 2]);
  expect(late.body.detail).toContain('token admin has uploaded another file since, file 2, two.xml');
  // The same again, such as after an answer that was lost, is no other file.
  expect((await post('feeds/paper/uploads', { content: content(2), seen: 1 })).body).toMatchObject({
    result: 'unchanged',
  });
  expect((await post('feeds/paper/uploads/1/restore', { seen: 1 })).body).toMatchObject({ status: 409, seen: 2 });
  const program = { ...mirror, configPath: join(mirror.folder, 'served.yaml') };
  const file = join(mirror.folder, 'four.xml');
  await writeFile(file, feedXml(postings(4)));
  for (const args of [
    ['upload', 'paper', file],
    ['restore-upload', 'paper', '1'],
  ]) {
    expect(await runProgram(program, 'feeds', ...args, '--seen', '1')).toMatchObject({
      status: 1,
      errors: expect.stringContaining('has uploaded another file since'),
    });
  }
  const four = { field: 'file', name: 'four.xml', bytes: Buffer.from(feedXml(postings(4))) };
  const stale = await ada.upload('/feed/uploads', { feed: 'paper', seen: '1' }, four);
  expect(stale.text).toContain('another file since');
  expect((await post('feeds/paper/uploads', { content: content(5) })).body).toMatchObject({ version: 3 });
  // It was shown file 2.
  expect((await ada.press(stale, 'Upload it anyway')).text).toContain('file 3');
  const csrf = /name="csrf" value="([^"]*)"/.exec(shown.text)?.[1] ?? '';
  expect((await ada.post('/feed/uploads/restore', { csrf, feed: 'paper', version: '1' })).status).toBe(400);
  expect((await ada.upload('/feed/uploads', { feed: 'paper' }, four)).status).toBe(400);
  expect(await uploads()).toHaveLength(3);
  const again = await ada.press(
    await ada.upload('/feed/uploads', { feed: 'paper', seen: '1' }, four),
    'Upload it anyway',
  );
  expect(again.text).toContain('four.xml');
  expect(await uploads()).toHaveLength(4);
});

it('is taken only for a feed that reads it, and only from those who may configure', async () => {
  await start();
  await saveFeed();
  const content = base64(feedXml(postings(1)));
  const acme = await post('feeds/acme/uploads', { content });
  expect([acme.status, acme.text]).toEqual([409, expect.stringContaining('does not read uploaded files')]);
  expect((await post('feeds/nowhere/uploads', { content })).status).toBe(404);
  expect((await post('feeds/..%2facme/uploads', { content })).status).toBe(404);
  expect((await post('feeds/paper/uploads/9/restore', {})).status).toBe(404);
  for (const name of Object.keys(TOKENS) as (keyof typeof TOKENS)[]) {
    if (name === 'admin') continue;
    expect((await post('feeds/paper/uploads', { content }, name)).status, name).toBe(403);
    expect((await post('feeds/paper/uploads/1/restore', {}, name)).status, name).toBe(403);
    expect((await served.api('GET', 'feeds/paper/uploads', undefined, { as: name })).status, name).toBe(403);
  }
  const wrong = await post('feeds/other/file', {
    text: TEXT.replace('upload://', 'https://a.example/x'),
    sample: await keep('a'),
  });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('does not read an uploaded file')]);
  const named = await post('feeds/other/file', { text: TEXT.replace('upload://', 'upload://paper') });
  expect([named.status, named.text]).toEqual([422, expect.stringContaining('must be upload:// alone')]);
  expect(await uploads()).toHaveLength(1);
});

it('of more than 1 MiB is taken over the API, and of more than 32 MiB refused', async () => {
  await start();
  await saveFeed();
  const long = feedXml([...postings(2), posting('long', { description: 'x'.repeat(1_500_000) })]);
  expect((await post('feeds/paper/uploads', { content: base64(long) })).body).toMatchObject({ version: 2, sent: 3 });
  const tooLong = await post('feeds/paper/uploads', { content: base64(Buffer.alloc(33 * 1024 * 1024)) });
  expect(tooLong.status).toBe(413);
  expect(await uploads()).toHaveLength(2);
});

it('is taken from a pipe, which may have been cut, only if its content shows its end', async () => {
  await start();
  await saveFeed();
  const fields = '{ title: title, description: title, location-city: city, location-state: state }';
  const table = `source: upload://\nformat: { type: csv, key: id, fields: ${fields} }\nsite: board\n`;
  const { seen } = (await served.api('GET', 'feeds/paper/file', undefined, { as: 'admin' })).body;
  // The file that is there is none of these settings.
  expect((await post('feeds/paper/file', { text: table, seen, anyway: true })).body).toMatchObject({ result: 'saved' });
  await restart();
  const half = base64('id,title,city,state\n1,Nurse,Austin,TX\n2,Cook,Austin,TX\n');
  for (const asked of [{}, { anyway: true }]) {
    const cut = await post('feeds/paper/uploads', { content: half, piped: true, ...asked });
    expect([cut.status, cut.text]).toEqual([422, expect.stringContaining('came through a pipe')]);
  }
  expect(await uploads()).toHaveLength(1);
  expect((await post('feeds/paper/uploads', { content: half })).status).toBe(200);

  const now = (await served.api('GET', 'feeds/paper/file', undefined, { as: 'admin' })).body.seen;
  expect((await post('feeds/paper/file', { text: TEXT, seen: now, anyway: true })).body).toMatchObject({
    result: 'saved',
  });
  const pipe = join(mirror.folder, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  const program = { ...mirror, configPath: join(mirror.folder, 'served.yaml') };
  const whole = feedXml(postings(4));
  const write = async (content: string) => {
    const [ran] = await Promise.all([
      runProgram(program, 'feeds', 'upload', 'paper', pipe, '--anyway'),
      writeFile(pipe, content),
    ]);
    return ran;
  };
  const torn = await write(whole.slice(0, -20));
  expect([torn.status, torn.out + torn.errors]).toEqual([1, expect.stringContaining('came through a pipe')]);
  expect(await write(whole)).toMatchObject({ status: 0, out: expect.stringContaining('4 postings would be sent') });
});

it('does not replace what a feed reads if its settings are not saved', async () => {
  await start();
  await saveFeed();
  const { seen } = (await served.api('GET', 'feeds/paper/file', undefined, { as: 'admin' })).body;
  await writeFile(join(mirror.folder, 'feeds/paper.yaml'), `${TEXT}# By hand.\n`);
  const late = await post('feeds/paper/file', {
    text: `${TEXT}schedule: "0 3 * * *"\n`,
    seen,
    sample: await keep(feedXml(postings(1))),
  });
  expect([late.status, late.body.text]).toEqual([409, expect.stringContaining('# By hand.')]);
  expect(await uploads()).toMatchObject([{ version: 1 }]);
  expect(await readFile(join(mirror.folder, 'feeds/paper.yaml'), 'utf8')).toContain('By hand');
});

it('is read by a running process with the settings that it was saved with, or not at all', async () => {
  await mirror.configure('feeds:\n', 'include: feeds/*.yaml\nfeeds:\n');
  const [text, sample] = [join(mirror.folder, 'text.yaml'), join(mirror.folder, 'sample.xml')];
  const save = async (settings: string, feed: readonly TestPosting[]) => {
    await writeFile(text, settings);
    await writeFile(sample, feedXml(feed));
    const [shown] = (await runProgram(mirror, 'feeds', 'show-file', 'paper', '--json')).json();
    const seen = shown === undefined ? [] : ['--seen', String(shown.seen)];
    const saved = await runProgram(mirror, 'feeds', 'save-file', 'paper', text, ...seen, '--sample', sample);
    expect(saved).toMatchObject({ status: 0, errors: '' });
  };
  await save(TEXT, postings(3));
  expect(await mirror.sync('paper')).toMatchObject({ status: 'mirrored', created: 3 });
  // As it is read, no posting of it is to be on the site.
  await save(`${TEXT}skip: { city: Boston }\nfields: { title: { value: Skipped } }\n`, [
    ...postings(2),
    posting('new', { city: 'Salem' }),
  ]);
  const before = await mirror.siteJobs();
  expect(await mirror.sync('paper')).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('the settings of the feed have changed since this process read them'),
  });
  expect(await mirror.siteJobs()).toEqual(before);
  // As a process that has taken them over.
  await mirror.stopEngine();
  expect(await mirror.sync('paper')).toMatchObject({ status: 'mirrored', created: 1, deleted: 3 });
  // No setting has changed.
  await save(`${TEXT}skip: { city: Boston } # By the clinic.\nfields: { title: { value: Skipped } }\n`, [
    posting('newer', { city: 'Salem' }),
  ]);
  expect(await mirror.sync('paper')).toMatchObject({ status: 'mirrored', created: 1, deleted: 1 });
  // What a look-up table has is read again once somebody asks for it.
  await writeFile(join(mirror.folder, 'titles.csv'), 'Nurse,Caregiver\n');
  const mapped = `${TEXT}fields: { title: { from: title, map: titles.csv, otherwise: keep } }\n`;
  await save(mapped, [posting('p1', { title: 'Nurse' })]);
  await mirror.stopEngine();
  expect(await mirror.sync('paper')).toMatchObject({ status: 'mirrored', created: 1, deleted: 1 });
  await writeFile(join(mirror.folder, 'titles.csv'), 'Nurse,Carer\n');
  await writeFile(sample, feedXml([posting('p1', { title: 'Nurse' }), posting('p2', { title: 'Nurse' })]));
  expect(await runProgram(mirror, 'feeds', 'upload', 'paper', sample)).toMatchObject({ status: 0, errors: '' });
  expect(await mirror.sync('paper')).toMatchObject({ status: 'mirrored', created: 1, unchanged: 1 });
  expect((await mirror.siteJobs()).get('p2')).toMatchObject({ title: 'Caregiver' });
  // A mistake elsewhere says nothing about the feed.
  await writeFile(sample, feedXml(['p1', 'p2', 'p3'].map((key) => posting(key, { title: 'Nurse' }))));
  expect(await runProgram(mirror, 'feeds', 'upload', 'paper', sample)).toMatchObject({ status: 0, errors: '' });
  await appendFile(mirror.configPath, 'nonsense: 1\n');
  expect(await mirror.sync('paper')).toMatchObject({ status: 'mirrored', created: 1, unchanged: 2 });
});

it('is kept for a feed whose settings somebody has to commit', async () => {
  await start();
  (served.app.config.web as { readOnlyConfiguration: boolean }).readOnlyConfiguration = true;
  const sample = await keep(feedXml(postings(3)));
  const shown = (await post('feeds/paper/file', { text: TEXT, sample })).body;
  expect(shown).toMatchObject({ result: 'to_commit', text: TEXT });
  await mkdir(join(mirror.folder, 'feeds'));
  await writeFile(shown.file, TEXT);
  await restart();
  expect(await sync()).toMatchObject({ complete: true, seen: 3 });
});

it('before anything was uploaded, the pull fails and says so', async () => {
  await start();
  expect((await post('feeds/paper/file', { text: TEXT })).body).toMatchObject({ result: 'saved' });
  const ran = await runProgram({ ...mirror, configPath: join(mirror.folder, 'served.yaml') }, 'sync', 'paper');
  expect([ran.status, ran.out + ran.errors]).toEqual([
    1,
    expect.stringContaining('no file has been uploaded for it yet'),
  ]);
  const tried = await runProgram({ ...mirror, configPath: join(mirror.folder, 'served.yaml') }, 'try', 'paper');
  expect(tried.out + tried.errors).toContain('is in the database');
});

describe('in the database', () => {
  beforeEach(() => start());
  const add = (content: string | Buffer, name = 'x') =>
    served.app.db.transaction((tx) => addUpload(tx, paper, { name, content: Buffer.from(content), actor: 'anna' }));
  const read = async (found: Awaited<ReturnType<typeof findUpload>>): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const chunk of found?.chunks ?? []) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks).toString();
  };

  it('a pull that reads a file goes on with that one while a newer one comes', async () => {
    const former = Array.from({ length: 200_000 }, () => Math.random().toString(36)).join('\n');
    await add(former);
    const found = await findUpload(served.app.db, paper);
    const iterator = found?.chunks[Symbol.asyncIterator]();
    const chunks = [Buffer.from((await iterator?.next())?.value ?? '')];
    await add('newer');
    for (let next = await iterator?.next(); next?.done === false; next = await iterator?.next()) {
      chunks.push(Buffer.from(next.value));
    }
    expect(Buffer.concat(chunks).toString() === former).toBe(true);
    expect(await read(await findUpload(served.app.db, paper))).toBe('newer');
  });

  it('a file that is removed while it is read does not end as if it were whole', async () => {
    await add(Array.from({ length: 200_000 }, () => Math.random().toString(36)).join('\n'));
    const found = await findUpload(served.app.db, paper);
    const iterator = found?.chunks[Symbol.asyncIterator]();
    await iterator?.next();
    for (let n = 0; n < 10; n++) await add(`newer ${n}`);
    const rest = async () => {
      for (let next = await iterator?.next(); next?.done === false; next = await iterator?.next());
    };
    await expect(rest()).rejects.toThrow();
  });

  it('two uploads at once are two files, and the last ten are kept', async () => {
    await Promise.all([add('one'), add('two'), add('three')]);
    for (let n = 0; n < 12; n++) await add(`further ${n}`);
    const rows = await served.app.db.query<{ version: number }>(
      'select version from feed_upload where feed = $1 order by 1',
      [paper],
    );
    expect(rows.map(({ version }) => version)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    const parts = await served.app.db.query('select distinct version from feed_upload_part where feed = $1', [paper]);
    expect(parts).toHaveLength(10);
    const restored = await served.app.db.transaction((tx) => restoreUpload(tx, paper, { version: 6, actor: 'ada' }));
    expect(restored).toEqual({ version: 16, isNew: true });
    expect(await read(await findUpload(served.app.db, paper))).toBe('further 2');
  });

  it('goes with a backup, and with a new name, under which another may have been uploaded', async () => {
    await add('one');
    await add('two');
    const file = join(mirror.folder, 'made.backup');
    expect((await runProgram(mirror, 'backup', file)).status).toBe(0);
    const target = await createTestDatabase({ empty: true });
    try {
      const other = { ...mirror, env: { ...mirror.env, DATABASE_URL: target.url } };
      expect(await runProgram(other, 'restore', file)).toMatchObject({ status: 0 });
      const restored = openDatabase(target.url, { max: 2 });
      expect(await read(await findUpload(restored, paper))).toBe('two');
      await restored.close();
    } finally {
      await target.drop();
    }
    await served.app.db.query(
      `insert into feed_state (feed, site) select 'paper', site from (values ('board')) s (site)`,
    );
    const next = feedName('acme');
    await served.app.db.transaction((tx) =>
      addUpload(tx, next, { name: 'y', content: Buffer.from('three'), actor: 'anna' }),
    );
    const renamed = await renameFeed(served.app.db, paper, { feed: next, site: siteName('board') }, 'anna');
    expect(renamed).toMatchObject({ kind: 'renamed' });
    expect(await read(await findUpload(served.app.db, next))).toBe('three');
    expect((await readUploads(served.app.db, next)).map(({ name }) => name)).toEqual(['y', 'x', 'x']);
    expect(await findUpload(served.app.db, paper)).toBeUndefined();
    // After that, numbers may be further apart than the files that are kept.
    await add('four');
    await served.app.db.query('update feed_state set feed = $1 where feed = $2', [paper, next]);
    for (const table of ['feed_upload', 'feed_upload_part']) {
      await served.app.db.query(
        `update ${table} set version = case when feed = $1 then 13 when version > 2 then 24 else version end`,
        [paper],
      );
    }
    expect(await renameFeed(served.app.db, paper, { feed: next, site: siteName('board') }, 'anna')).toMatchObject({
      kind: 'renamed',
    });
    expect(await read(await findUpload(served.app.db, next))).toBe('three');
  });
});
