// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests are about ${NAME} in the configuration.
// The files of feeds through API and command line: the same answers, only for those who may configure.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keyFault } from '../../src/operations/save-questions.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { type Served, type ServeOptions, serve, TOKENS } from '../web/served.ts';

let served: Served;
const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  // The process has what its configuration names.
  for (const [name, value] of Object.entries(mirror.env)) vi.stubEnv(name, value);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await served?.close();
});
const start = async (options: ServeOptions = { include: true }) => {
  served = await serve(mirror, options);
};

const FEED = '# Theirs.\nsource: https://acme.example/jobs.xml\nformat: indeed\nsite: board\n';
const as = { as: 'admin' } as const;
const onDisk = () => readFile(join(mirror.folder, 'feeds/beta.yaml'), 'utf8');

it('saves, shows and restores over the API, and refuses with what is wrong or has changed', async () => {
  await start();
  const wrong = await served.api('POST', 'feeds/beta/file', { text: `${FEED}shedule: x\n` }, as);
  expect([wrong.status, wrong.body.problems]).toEqual([
    422,
    [
      {
        file: expect.stringMatching(/feeds\/beta\.yaml$/),
        line: 5,
        column: 1,
        setting: 'feeds.beta.shedule',
        message: 'is not a setting; did you mean schedule?',
      },
    ],
  ]);
  const checked = await served.api('POST', 'feeds/beta/file/check', { text: FEED }, as);
  expect(checked.body).toEqual({ feed: 'beta', right: true, problems: [], warnings: [] });
  const saved = await served.api('POST', 'feeds/beta/file', { text: FEED }, as);
  expect(saved.body).toMatchObject({ feed: 'beta', result: 'saved', version: 1, new: true, text: null });
  expect(await onDisk()).toBe(FEED);
  const again = await served.api('POST', 'feeds/beta/file', { text: `${FEED}schedule: "0 3 * * *"\n` }, as);
  expect([again.status, again.body.text, again.body.seen]).toEqual([409, FEED, saved.body.seen]);
  const { seen } = (await served.api('GET', 'feeds/beta/file', undefined, as)).body;
  const next = await served.api('POST', 'feeds/beta/file', { text: `${FEED}schedule: "0 3 * * *"\n`, seen }, as);
  expect(next.body).toMatchObject({ result: 'saved', version: 2, new: false });
  const versions = (await served.api('GET', 'feeds/beta/file/versions?limit=1', undefined, as)).body;
  expect(versions.items).toMatchObject([{ version: 2, actor: 'token admin', present: true, lines: 5 }]);
  const older = await served.api('GET', `feeds/beta/file/versions?cursor=${versions.next_cursor}`, undefined, as);
  expect(older.body.items).toMatchObject([{ version: 1, present: false }]);
  expect((await served.api('GET', 'feeds/beta/file/versions/1', undefined, as)).body.text).toBe(FEED);
  const restored = await served.api('POST', 'feeds/beta/file/versions/1/restore', { seen: next.body.seen }, as);
  expect(restored.body).toMatchObject({ result: 'saved', version: 3 });
  expect(await onDisk()).toBe(FEED);
  expect((await served.api('GET', 'feeds/beta/file/versions/9', undefined, as)).status).toBe(404);
  const activity = (await served.api('GET', 'activity?limit=1')).body.items;
  expect(activity).toMatchObject([{ actor: 'token admin', action: 'save feed file', feed: 'beta' }]);
});

it('is for those who may configure: no other token, and nobody where nobody signs in', async () => {
  await start();
  for (const name of Object.keys(TOKENS) as (keyof typeof TOKENS)[]) {
    const status = name === 'admin' ? 200 : 403;
    expect((await served.api('GET', 'feeds/acme/file', undefined, { as: name })).status, name).toBe(status);
    const check = await served.api('POST', 'feeds/beta/file/check', { text: FEED }, { as: name });
    expect(check.status, name).toBe(status);
    if (name === 'admin') continue;
    for (const path of ['feeds/beta/file', 'feeds/beta/file/versions/1/restore']) {
      expect((await served.api('POST', path, { text: FEED }, { as: name })).status, name).toBe(403);
    }
  }
  await served.close();
  await start({ open: true, include: true });
  expect((await served.api('GET', 'feeds/acme/file', undefined, { as: null })).status).toBe(403);
  expect((await served.api('POST', 'feeds/beta/file', { text: FEED }, { as: null })).status).toBe(403);
  await expect(onDisk()).rejects.toThrow('ENOENT');
});

it('does the same on the command line', async () => {
  await mkdir(join(mirror.folder, 'feeds'));
  const file = join(mirror.folder, 'draft.yaml');
  await writeFile(file, FEED);
  const run = (...args: string[]) => runProgram(mirror, 'feeds', ...args);
  const unwritten = await run('save-file', 'beta', file);
  expect(unwritten).toMatchObject({ status: 1, out: expect.stringContaining('add the line include: feeds/*.yaml') });
  expect(unwritten.out).toContain('# Theirs.\nsource:');
  await writeFile(mirror.configPath, `${await readFile(mirror.configPath, 'utf8')}include: feeds/*.yaml\n`);
  const [saved] = (await run('save-file', 'beta', file, '--json', '--as', 'ada')).json();
  expect(saved).toMatchObject({ result: 'saved', version: 1 });
  expect((await run('show-file', 'beta')).out).toBe(`# ${join(mirror.folder, 'feeds/beta.yaml')}\n${FEED}`);
  expect((await run('show-file', 'acme')).out).toContain('is in jobmirror.yaml');
  await writeFile(file, `${FEED}nonsense: 1\n`);
  expect(await run('check-file', 'beta', file)).toMatchObject({
    status: 1,
    out: expect.stringMatching(/problem: .*feeds\/beta\.yaml:5:1 feeds\.beta\.nonsense: is not a setting/),
  });
  expect(await run('save-file', 'beta', file)).toMatchObject({ status: 1, errors: expect.stringMatching(/nonsense/) });
  await writeFile(file, `${FEED}schedule: "0 3 * * *"\n`);
  expect(await run('save-file', 'beta', file)).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/look at it again/),
  });
  expect((await run('save-file', 'beta', file, '--seen', String(saved?.seen))).out).toMatch(/saved, as version 2/);
  expect((await run('versions', 'beta', '--json')).json()).toMatchObject([
    { version: 2, present: true },
    { version: 1, actor: 'ada' },
  ]);
  expect((await run('show-version', 'beta', '1')).out).toBe(FEED);
  const [shown] = (await run('show-file', 'beta', '--json')).json();
  expect((await run('restore-version', 'beta', '1', '--seen', String(shown?.seen))).out).toMatch(/as version 3/);
  expect(await onDisk()).toBe(FEED);
});

it('asks before a key is saved that does not identify the records: on pages, by the API and on the command line', async () => {
  const rows = ['Nurse,1,TX', 'Nurse,2,TX', 'Nurse,,TX', 'Cook,4,TX'];
  const feed = createServer((_request, response) => response.end(`title,ref,state\n${rows.join('\n')}\n`));
  await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve));
  try {
    const textOf = (key: string) =>
      `source: http://127.0.0.1:${(feed.address() as AddressInfo).port}/jobs.csv\nsite: board\nformat: { type: csv, key: ${key}, fields: { title: title, location-state: state, number: ref } }\n`;
    await start({ include: true, privateSources: true });
    const refused = await served.api('POST', 'feeds/beta/file', { text: textOf('title') }, as);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { key: ['title'], records: 4, sent: 2, conflicting: 2, keyless: 0 },
    ]);
    expect(refused.body.detail).toContain(
      '"title" does not identify the records: 2 of 4 would never be sent, 2 with the key of an earlier record and other content',
    );
    const keyless = await served.api('POST', 'feeds/beta/file', { text: textOf('ref') }, as);
    expect([keyless.status, keyless.body.keyless, keyless.body.conflicting]).toEqual([409, 1, 0]);
    // A sample that is gone says nothing: the source does.
    const gone = await served.api('POST', 'feeds/beta/file', { text: textOf('title'), tried_on: 'A'.repeat(24) }, as);
    expect([gone.status, gone.body.conflicting]).toEqual([409, 2]);
    await expect(onDisk()).rejects.toThrow('ENOENT');

    const ada = await visitorOf(served, 'ada');
    const asked = await ada.press(await ada.get('/feed/file?feed=beta'), 'Save', { text: textOf('title') });
    expect(asked.text).toMatch(/role="alert".*&quot;title&quot; does not identify the records.*name="anyway"/s);
    await expect(onDisk()).rejects.toThrow('ENOENT');
    const insisted = await ada.press(asked, 'Save', { anyway: 'true' });
    expect(await onDisk()).toBe(textOf('title'));
    // What leaves the keys as they are is not asked again.
    await ada.press(insisted, 'Save', { text: `${textOf('title')}schedule: "0 3 * * *"\n` });
    expect(await onDisk()).toContain('0 3');

    const config = `${await readFile(mirror.configPath, 'utf8')}include: feeds/*.yaml\nweb: { private_sources: true }\n`;
    await writeFile(mirror.configPath, config);
    const file = join(mirror.folder, 'draft.yaml');
    await writeFile(file, textOf('title'));
    const tried = await runProgram(mirror, 'feeds', 'try-file', 'gamma', file);
    expect(tried.out).toMatch(/^4 records: 2 would be sent, .*\nwarning: "title" does not identify the records/ms);
    const planned = await runProgram(mirror, 'feeds', 'plan-file', 'gamma', file);
    expect(planned.out).toContain('A sync would create 2, update 0 and delete 0 of 0 jobs');
    const save = (...options: string[]) => runProgram(mirror, 'feeds', 'save-file', 'gamma', file, ...options);
    expect(await save()).toMatchObject({ status: 1, errors: expect.stringContaining('save it anyway') });
    expect((await save('--anyway')).out).toMatch(/saved, as version 1/);
  } finally {
    feed.close();
  }
});

it('asks before a feed is saved that would send nothing: on pages, by the API and on the command line', async () => {
  let rows: readonly string[] = ['1,Nurse,TX', '2,Cook,TX', '3,Clerk,TX'];
  const feed = createServer((_request, response) => response.end(['id,title,state', ...rows, ''].join('\n')));
  await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(feed.address() as AddressInfo).port}/jobs.csv`;
  const textOf = (state: string, source = address) =>
    `source: ${source}\nsite: board\nformat:\n  type: csv\n  key: id\n  fields: { number: id, title: title, description: title, location-city: { value: Austin }, location-state: ${state} }\n`;
  const nowhere = textOf('title');
  try {
    await start({ include: true, privateSources: true });
    const save = (text: string, more: object = {}) => served.api('POST', 'feeds/beta/file', { text, ...more }, as);
    const refused = await save(nowhere);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { may_insist: true, records: 3, sent: 0, rejected: 3, unreadable: 0, skipped: 0 },
    ]);
    expect(refused.body.detail).toContain(
      'nothing was saved: it would send nothing: of 3 records, 3 would be rejected, most for "location-state: ',
    );
    const ada = await visitorOf(served, 'ada');
    const asked = await ada.press(await ada.get('/feed/file?feed=beta'), 'Save', { text: nowhere });
    expect(asked.text).toMatch(/role="alert".*it would send nothing.*name="anyway"/s);
    const config = `${await readFile(mirror.configPath, 'utf8')}include: feeds/*.yaml\nweb: { private_sources: true }\n`;
    await writeFile(mirror.configPath, config);
    const file = join(mirror.folder, 'draft.yaml');
    await writeFile(file, nowhere);
    const run = (command: string, ...options: string[]) =>
      runProgram(mirror, 'feeds', command, 'beta', file, ...options);
    expect((await run('try-file')).out).toContain('warning: it would send nothing: of 3 records');
    expect(await run('save-file')).toMatchObject({
      status: 1,
      errors: expect.stringContaining('it would send nothing'),
    });
    await expect(onDisk()).rejects.toThrow('ENOENT');
    expect((await run('save-file', '--anyway')).out).toMatch(/saved, as version 1/);
    // Nothing is known of what can't be read: it is saved, and said, also on the page.
    const unread = await ada.press(await ada.get('/feed/file?feed=beta'), 'Save', {
      text: textOf('state', 'http://127.0.0.1:9/other.csv'),
    });
    expect(unread.text).toMatch(/It is saved, as version 2\..*Warning: what it would send is not known, as it can/s);
    expect(unread.text).not.toContain('Nothing is saved yet');
    const { seen } = (await served.api('GET', 'feeds/beta/file', undefined, as)).body;
    const gone = await save(textOf('state', 'http://127.0.0.1:9/jobs.csv'), { seen });
    expect(gone.body).toMatchObject({
      result: 'saved',
      warnings: [expect.stringContaining("what it would send is not known, as it can't be read now")],
    });
    const right = await save(textOf('state'), { seen: gone.body.seen });
    expect(right.body, right.text).toMatchObject({ result: 'saved', warnings: [] });

    // With live jobs, the question says what becomes of them.
    expect(await runProgram(mirror, 'sync', 'beta')).toMatchObject({ status: 0 });
    expect(await mirror.sandbox.inspect.count()).toBe(3);
    const stay = await save(nowhere, { seen: right.body.seen });
    expect([stay.status, stay.body]).toMatchObject([409, { live: 3, delete: 0 }]);
    expect(stay.body.detail).toContain('Its 3 live jobs would stay as they are, without further updates');
    rows = [];
    const emptied = await save(`${textOf('state')}lenient: true\n`, { seen: right.body.seen });
    expect([emptied.status, emptied.body]).toMatchObject([409, { records: 0, live: 3, delete: 3 }]);
    expect(emptied.body.detail).toMatch(
      /no records where it looks for them, at least now\. 3 of its 3 live jobs would be deleted, but only once somebody approves that: the feed is empty/,
    );
    const guard = 'delete_guard: { missing_pulls: 2 }\n';
    const slowly = await save(`${textOf('state')}lenient: true\n${guard}`, { seen: right.body.seen });
    expect([slowly.status, slowly.body]).toMatchObject([409, { records: 0, live: 3, delete: 0 }]);
    expect(slowly.body.detail).toContain('3 of its 3 live jobs would be deleted once further complete pulls lack them');
    // What sends the same postings as before is not asked.
    const later = await save(`${textOf('state')}schedule: "0 3 * * *"\n`, { seen: right.body.seen });
    expect(later.body, later.text).toMatchObject({ result: 'saved', warnings: [] });
  } finally {
    feed.close();
  }
});

it('asks the same before a former version is restored: on pages, by the API and on the command line', async () => {
  let rows: readonly string[] = ['1,Nurse,TX', '2,Cook,TX', '3,Clerk,TX'];
  const feed = createServer((_request, response) => response.end(['id,title,state', ...rows, ''].join('\n')));
  await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(feed.address() as AddressInfo).port}/jobs.csv`;
  const textOf = (state: string, more = '') =>
    `source: ${address}\nsite: board\nformat:\n  type: csv\n  key: id\n  fields: { number: id, title: title, description: title, location-city: { value: Austin }, location-state: ${state} }\n${more}`;
  try {
    // By hand, with an address that is not public: it may come back, and is read for the question.
    await start({ include: true });
    const config = `${await readFile(mirror.configPath, 'utf8')}include: feeds/*.yaml\n`;
    await writeFile(mirror.configPath, config);
    await mkdir(join(mirror.folder, 'feeds'), { recursive: true });
    const file = join(mirror.folder, 'feeds/beta.yaml');
    await writeFile(file, textOf('title'));
    const seenNow = async () => String((await served.api('GET', 'feeds/beta/file', undefined, as)).body.seen);
    const save = (text: string, seen: string) =>
      served.api('POST', 'feeds/beta/file', { text, seen, anyway: true }, as);
    expect((await save(textOf('state'), await seenNow())).body).toMatchObject({ result: 'saved', version: 2 });
    expect(await runProgram(mirror, 'sync', 'beta')).toMatchObject({ status: 0 });

    const restore = (more: object) => served.api('POST', 'feeds/beta/file/versions/1/restore', more, as);
    const refused = await restore({ seen: await seenNow() });
    expect([refused.status, refused.body], refused.text).toMatchObject([
      409,
      { may_insist: true, records: 3, sent: 0, rejected: 3, live: 3, delete: 0 },
    ]);
    expect(refused.body.detail).toMatch(
      /^nothing was saved: it would send nothing: of 3 records.*choose another version, or restore it anyway/,
    );
    expect(await onDisk()).toBe(textOf('state'));

    const onCommandLine = (...options: string[]) =>
      runProgram(mirror, 'feeds', 'restore-version', 'beta', '1', ...options);
    expect(await onCommandLine('--seen', await seenNow())).toMatchObject({
      status: 1,
      errors: expect.stringContaining('it would send nothing'),
    });
    expect((await onCommandLine('--seen', await seenNow(), '--anyway')).out).toMatch(/saved, as version 3/);
    expect(await onDisk()).toBe(textOf('title'));
    expect((await save(textOf('state'), await seenNow())).body).toMatchObject({ result: 'saved', version: 4 });

    const ada = await visitorOf(served, 'ada');
    const asked = await ada.press(await ada.get('/feed/file?feed=beta'), 'Restore version 1');
    expect(asked.text).toMatch(/role="alert".*it would send nothing.*Restore version 1 anyway/s);
    expect(asked.text).not.toContain('name="anyway" value="true" /> Save it anyway');
    expect(await onDisk()).toBe(textOf('state'));
    // It is still refused if the file has changed since.
    await writeFile(file, `# By hand.\n${textOf('state')}`);
    const changed = await ada.press(asked, 'Restore version 1 anyway');
    expect(changed.text).toContain('has another text than was shown; look at it again');
    await writeFile(file, textOf('state'));
    await ada.press(asked, 'Restore version 1 anyway');
    expect(await onDisk()).toBe(textOf('title'));

    // What can't be read now is restored, and said.
    rows = [];
    expect((await restore({ seen: await seenNow(), anyway: true })).body).toMatchObject({ result: 'unchanged' });
  } finally {
    feed.close();
  }
});

it('recognises a source and a file, tries and saves them on the command line as pages and API do', async () => {
  const jobs = feedXml(postings(3));
  const feed = createServer((_request, response) => response.end(jobs));
  await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve));
  const source = `http://127.0.0.1:${(feed.address() as AddressInfo).port}/ats/jobs.xml`;
  try {
    await start({ include: true, privateSources: true });
    const over = await served.api('POST', 'feeds/recognise', { source, feed: 'beta' }, as);
    expect(over.body, over.text).toMatchObject({ format: 'indeed', sample: { upload: false, whole: true } });
    const config = `${await readFile(mirror.configPath, 'utf8')}include: feeds/*.yaml\nweb: { private_sources: true }\n`;
    await writeFile(mirror.configPath, config);
    const run = (...args: string[]) => runProgram(mirror, 'feeds', ...args);
    const [here] = (await run('recognise', source, '--feed', 'beta', '--json')).json();
    expect(here).toEqual({ ...over.body, sample: null });

    const file = join(mirror.folder, 'jobs.xml');
    await writeFile(file, jobs);
    const drafted = await run('recognise', file, '--feed', 'beta');
    expect(drafted.out).toMatch(
      /^# Recognised: indeed, .*\n# 3 records at its beginning; fills .*\nsource: upload:\/\/$/ms,
    );
    const draft = join(mirror.folder, 'draft.yaml');
    await writeFile(draft, drafted.out);
    const few = join(mirror.folder, 'few.xml');
    await writeFile(few, feedXml(postings(2)));
    expect((await run('try-file', 'beta', draft, '--sample', few)).out).toContain('2 records: 2 would be sent');
    expect((await run('plan-file', 'beta', draft, '--sample', few)).out).toContain('would create 2, update 0');
    const none = join(mirror.folder, 'none.xml');
    await writeFile(none, feedXml([]));
    expect(await run('save-file', 'beta', draft, '--sample', none)).toMatchObject({
      status: 1,
      errors: expect.stringContaining('it would send nothing'),
    });
    expect((await run('save-file', 'beta', draft, '--sample', file)).out).toMatch(/saved, as version 1/);
    expect((await run('uploads', 'beta')).out).toContain('jobs.xml');
    expect(await onDisk()).toBe(drafted.out);

    const secret = ['--credential', 'basic.user=acme', '--credential', 'basic.password=c4nary secret'];
    const refused = await run('recognise', source, ...secret);
    expect([refused.status, refused.errors]).toEqual([
      1,
      expect.stringContaining('basic.password must be the name of'),
    ]);
    expect(refused.errors).not.toContain('c4nary');
    expect((await run('recognise', source, '--credential', 'basic.pass=X')).errors).toContain('basic.password');
    expect((await run('recognise', join(mirror.folder, 'gone.xml'))).errors).toContain("gone.xml can't be read");
  } finally {
    feed.close();
  }
});

it('takes only records without a key for a fault of the key, each once', () => {
  const trialOf = (...unreadable_records: readonly { readonly message: string; readonly count: number }[]) =>
    keyFault({
      key: ['id', 'place'],
      trial: { records: 10, sent: 9, conflicting: 0, unreadable: 1, unreadable_records },
    } as unknown as Parameters<typeof keyFault>[0])?.counts.keyless;
  expect(trialOf({ message: 'the record is not well-formed', count: 1 })).toBeUndefined();
  const missing = (path: string) => ({ message: `the record has no key: no value found at ${path}`, count: 1 });
  expect(trialOf(missing('id'), missing('place'))).toBe(1);
  expect(trialOf({ message: 'the key is empty', count: 1 })).toBe(1);
});
