// Fields that are set only on create, together with other commands: jobs are deleted, keep what they have, and no message promises more.
// @module-tag slow
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const LEFT = { create_only_fields: '[description]' };
const READINGS = [
  ['keep', { feed: LEFT }],
  ['clear', { feed: LEFT, site: { omitted_fields: 'clear' }, sandbox: { omittedFields: 'clear' } }],
] as const satisfies readonly (readonly [string, MirrorOptions])[];

const run = async (...args: readonly string[]) => {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
};
const jobs = async () => Object.fromEntries([...(await mirror.siteJobs())].sort());

describe.each(READINGS)('on a site that would %s omitted fields', (_, options) => {
  it('the job of a posting that is gone is deleted, beside creates and updates; an undo creates it again', async () => {
    mirror = await openMirror(options);
    await mirror.syncOf(postings(10));
    const next = [posting('p1', { title: 'Cook' }), ...postings(9).slice(1), posting('n1')];
    const second = await mirror.syncOf(next);
    expect(second).toMatchObject({ status: 'mirrored', created: 1, updated: 1, deleted: 1, failed: 0 });
    expect(Object.keys(await jobs())).toEqual(['n1', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9']);
    expect((await run('undo', String(second.pull), '--yes')).status).toBe(0);
    expect(Object.keys(await jobs())).toEqual(
      postings(10)
        .map(({ key }) => key)
        .sort(),
    );
    expect((await jobs()).p1).toMatchObject({ title: 'Nurse p1' });
  });
});

/** The posting of a number under a key that starts with `prefix`. */
const wards = (prefix: string, count: number, title = 'Nurse'): TestPosting[] =>
  Array.from({ length: count }, (_, at) =>
    posting(`${prefix}${at + 1}`, { title: `${title} ${at + 1}`, description: `<p>Ward ${at + 1}</p>` }),
  );

it('changed keys are recognised although the feed has other titles than were sent', async () => {
  mirror = await openMirror({ feed: { create_only_fields: '[title]' } });
  await mirror.syncOf(wards('a', 12));
  expect(await mirror.syncOf(wards('a', 12, 'Head nurse'))).toMatchObject({ unchanged: 12 });
  expect(await mirror.syncOf(wards('b', 12, 'Head nurse'))).toMatchObject({ created: 0, deleted: 0, pending: 12 });
  expect((await run('feeds', 'rekey', 'acme')).out).toContain('b1');
});

it('changed keys of a few postings are recognised although nothing else tells them apart', async () => {
  mirror = await openMirror({ feed: { create_only_fields: '[title, description]' } });
  await mirror.syncOf(wards('a', 4));
  expect(await mirror.syncOf(wards('a', 4, 'Head nurse'))).toMatchObject({ unchanged: 4 });
  expect(await mirror.syncOf(wards('b', 4, 'Head nurse'))).toMatchObject({ created: 0, deleted: 0, pending: 4 });
  expect((await run('feeds', 'rekey', 'acme')).out).toContain('0 sure, 4 unsure');
});

it('verify, and the undo of an edit, say what is left to the site', async () => {
  mirror = await openMirror({ feed: LEFT });
  await mirror.syncOf([posting('p1', { state: 'Jalisco' })]);
  const [entry] = (await run('review', 'list', '--json')).json();
  const values = ['description=Edited', 'location-state=Ohio'].flatMap((value) => ['--set', value]);
  expect((await run('review', 'edit', String(entry?.id), ...values)).status).toBe(0);
  const verified = await run('verify', 'acme', '--field', 'description');
  expect(verified.status).toBe(1);
  expect(verified.errors).toContain(
    'description is left to the site (create_only_fields of acme), so it is not compared',
  );
  expect((await run('review', 'undo-edit', 'acme', 'p1', 'description')).out).toContain(
    'undone: description; the job keeps description, which is set only on create',
  );
});

it('new keys of a feed that only creates jobs leave them as they are', async () => {
  mirror = await openMirror({ feed: { policy: 'create_only' } });
  await mirror.syncOf(wards('a', 12));
  expect(await mirror.syncOf(wards('b', 12))).toMatchObject({ created: 0, pending: 12 });
  expect((await run('feeds', 'rekey', 'acme', '--sure')).out).toContain(
    '12 jobs kept for their new keys. Policy create_only leaves what differs as it is.',
  );
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 12, updated: 0, created: 0, requests: 0 });
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 12, requests: 0 });
});

it('new keys are not bound where the feed is not configured: nobody knows there that it only creates jobs', async () => {
  mirror = await openMirror({ feed: { policy: 'create_only' } });
  await mirror.syncOf(wards('a', 12));
  await mirror.syncOf(wards('b', 12));
  const elsewhere = join(mirror.folder, 'elsewhere.yaml');
  await writeFile(elsewhere, (await readFile(mirror.configPath, 'utf8')).replace(/^ {2}acme:$/m, '  other:'));
  await mirror.stopEngine();
  const { folder, env } = mirror;
  for (const decision of [['--sure'], ['--posting', 'b1', '--was', 'a1']]) {
    const refused = await runProgram({ folder, env, configPath: elsewhere }, 'feeds', 'rekey', 'acme', ...decision);
    expect(refused).toMatchObject({ status: 1, errors: expect.stringContaining('decide where it is configured') });
  }
  expect(await mirror.sync()).toMatchObject({ created: 0, updated: 0, pending: 12 });
});

type WordsFor = (given: { readonly id: string; readonly file: string; readonly entry: string }) => string[];

describe('the jobs that a person made for a feed that only creates jobs stay as they are', () => {
  it.each([
    ['adopted', () => ['mappings', 'adopt', 'acme', '--sure']],
    ['adopted one by one', ({ id }) => ['mappings', 'adopt', 'acme', '--job', id, '--posting', 'p1']],
    ['recovered', () => ['recover', 'acme', '--yes']],
    ['imported', ({ file }) => ['mappings', 'import', file, '--unchecked']],
    ['named for an entry', ({ entry, id }) => ['review', 'settle', entry, '--exists', id]],
    ['adopted together', () => ['review', 'settle', 'acme', '--found', '--yes']],
  ] satisfies readonly (readonly [string, WordsFor])[])('when they are %s after a pull', async (_how, wordsFor) => {
    mirror = await openMirror({ feed: { policy: 'create_only' }, searched: true });
    const id = await makeJob(mirror, { ...jobOf(posting('p1')), description: 'By hand' });
    expect(await mirror.syncOf([posting('p1'), posting('p2')])).toMatchObject({ created: 1, in_doubt: 1 });
    const [entry] = (await run('review', 'list', '--json')).json();
    const file = join(mirror.folder, 'jobs.csv');
    await writeFile(file, `feed,key,site_job_id\nacme,p1,${id}\n`);
    const { status, out } = await run(...wordsFor({ id, file, entry: String(entry?.id) }));
    expect({ status, out }).toEqual({ status: 0, out: expect.not.stringContaining('sends what differs') });
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 2, updated: 0, requests: 0 });
    expect((await mirror.siteJobs()).get('p1')).toMatchObject({ description: 'By hand' });
  });

  it('when they are named for an entry by a process that is not configured with the feed', async () => {
    mirror = await openMirror({ feed: { policy: 'create_only' }, site: { list_path: undefined } });
    const elsewhere = join(mirror.folder, 'elsewhere.yaml');
    const config = await readFile(mirror.configPath, 'utf8');
    await mirror.sandbox.setFaults([{ name: '500', made: false, on: ['create'], count: 1 }]);
    expect(await mirror.syncOf([posting('p1')])).toMatchObject({ in_doubt: 1 });
    const id = await makeJob(mirror, { ...jobOf(posting('p1')), description: 'By hand' });
    const [entry] = (await run('review', 'list', '--json')).json();
    await writeFile(elsewhere, config.replace(/^ {2}acme:$/m, '  other:'));
    const { folder, env } = mirror;
    const words = ['review', 'settle', String(entry?.id), '--exists', id];
    expect((await runProgram({ folder, env, configPath: elsewhere }, ...words)).status).toBe(0);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 1, updated: 0, requests: 0 });
    expect(await jobs()).toEqual({ p1: expect.objectContaining({ description: 'By hand' }) });
  });

  it('when they are named for a create that was sent, although the feed has a newer version', async () => {
    mirror = await openMirror({ feed: { policy: 'create_only' }, site: { list_path: undefined } });
    await mirror.sandbox.setFaults([{ name: '500', made: false, on: ['create'], count: 1 }]);
    expect(await mirror.syncOf([posting('p1')])).toMatchObject({ in_doubt: 1 });
    const id = await makeJob(mirror, { ...jobOf(posting('p1')), description: 'By hand' });
    const newer = [posting('p1', { title: 'Cook' })];
    expect(await mirror.syncOf(newer)).toMatchObject({ in_doubt: 1 });
    const [entry] = (await run('review', 'list', '--json')).json();
    expect((await run('review', 'settle', String(entry?.id), '--exists', id)).status).toBe(0);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 1, updated: 0, requests: 0 });
    expect(await jobs()).toEqual({ p1: expect.objectContaining({ title: 'Nurse p1', description: 'By hand' }) });
    expect((await run('verify', 'acme', '--json')).json()).toMatchObject([{ jobs: 1, same: 1 }]);
  });
});
