import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { posting, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

/** Its content does not depend on the key. */
const ward = (prefix: string, n: number, fields: Omit<TestPosting, 'key'> = {}): TestPosting =>
  posting(`${prefix}${n}`, { title: `Nurse ${n}`, description: `<p>Ward ${n}</p>`, ...fields });

const wards = (prefix: string, count: number, changed: Omit<TestPosting, 'key'> = {}): TestPosting[] =>
  Array.from({ length: count }, (_, at) => ward(prefix, at + 1, at === 0 ? changed : {}));

/** Nothing of a posting depends on its key, so that binding a new key leaves nothing to send. */
const WITHOUT_KEYS: MirrorOptions = {
  site: { reference_field: undefined },
  feed: { fields: '{ number: { value: none }, contact-web-address: { value: "https://jobs.example.com/" } }' },
};

async function open(list: readonly TestPosting[], options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
  await syncOf(list);
}

async function syncOf(list: readonly TestPosting[]) {
  const report = await mirror.syncOf(list);
  await mirror.stopEngine();
  return report;
}

const run = (...args: readonly string[]) => runProgram(mirror, ...args);
const undo = (pull: number | null | undefined) => run('undo', String(pull), '--yes', '--json');
const titles = async () => (await mirror.sandbox.inspect.jobs()).map(({ fields }) => fields.title ?? '').sort();
const idOf = async (title: string) =>
  (await mirror.sandbox.inspect.jobs()).find(({ fields }) => fields.title === title)?.id;
const mapped = async () =>
  (await mirror.query<{ site_job_id: string }>('select key, site_job_id from mapping order by key')) ?? [];

const OTHER = { description: '<p>Other</p>' };

describe('a pull from before its feed got new keys', () => {
  it('that found a job gone is undone under the new key: no second job', async () => {
    await open(wards('a', 7));
    await mirror.sandbox.inspect.removeJob((await idOf('Nurse 1')) as string);
    const recreated = await syncOf(wards('a', 7, OTHER));
    expect(recreated).toMatchObject({ status: 'mirrored' });
    const before = await titles();
    expect(before).toHaveLength(7);
    await syncOf(wards('b', 7, OTHER));
    expect((await run('feeds', 'rekey', 'acme', '--sure')).out).toContain('7 jobs kept');
    expect(await syncOf(wards('b', 7, OTHER))).toMatchObject({ status: 'mirrored', updated: 7 });
    const undone = await run('undo', String(recreated.pull), '--yes');
    expect(undone.errors).toContain('1 posting left out');
    expect(await titles()).toEqual(before);
  });

  it('is set back at the new keys, if nothing else has changed since', async () => {
    await open(wards('a', 7), WITHOUT_KEYS);
    const id = await idOf('Nurse 1');
    const { pull } = await syncOf(wards('a', 7, { title: 'Wrong' }));
    await syncOf(wards('b', 7, { title: 'Wrong' }));
    expect((await run('feeds', 'rekey', 'acme', '--sure')).out).toContain('7 jobs kept');
    expect(await syncOf(wards('b', 7, { title: 'Wrong' }))).toMatchObject({ status: 'mirrored', requests: 0 });
    expect((await undo(pull)).json()).toContainEqual(expect.objectContaining({ key: 'b1', operation: 'update' }));
    expect(await idOf('Nurse 1')).toBe(id);
    expect(await titles()).toHaveLength(7);
  });

  it('that deleted a posting whose key another posting has now does not create it beside that one', async () => {
    const first = [...wards('a', 7), posting('b1', { title: 'Cook', description: '<p>Kitchen</p>' })];
    await open(first, WITHOUT_KEYS);
    const id = await idOf('Nurse 1');
    const { pull } = await syncOf(wards('a', 7, { title: 'Wrong' }));
    await syncOf(wards('b', 7, { title: 'Wrong' }));
    expect((await run('feeds', 'rekey', 'acme', '--sure')).out).toContain('7 jobs kept');
    await syncOf(wards('b', 7, { title: 'Wrong' }));
    await undo(pull);
    expect(await idOf('Nurse 1')).toBe(id);
    expect(await titles()).toHaveLength(7);
  });
});

describe('a feed whose keys seem to have changed', () => {
  it('no longer waits for a person once the pull with the new keys is undone', async () => {
    await open(wards('a', 7));
    const before = await titles();
    const jobs = await mapped();
    await mirror.stopEngine();
    const { pull } = await syncOf(wards('b', 7));
    await syncOf(wards('b', 7));
    expect(await undo(pull)).toMatchObject({ status: 0 });
    expect(await mirror.query('select from change')).toEqual([]);
    await mirror.stopEngine();
    expect((await run('feeds', 'rekey', 'acme')).out).toContain('do not seem to have changed');
    expect(await titles()).toEqual(before);
    await run('feeds', 'resume', 'acme');
    // The same keys again: the same question again.
    expect(await syncOf(wards('b', 7))).toMatchObject({ status: 'review', held: 7, pending: 7, requests: 0 });
    expect(await mapped()).toEqual(jobs);
  });

  it('creates nothing again by undoing an earlier pull until a person decides, and says so', async () => {
    await open([...wards('a', 7), posting('gone', { title: 'Cook' })]);
    const { pull } = await syncOf(wards('a', 7));
    await syncOf(wards('b', 7));
    const undone = await run('undo', String(pull), '--yes');
    expect(undone.errors).toContain('feeds rekey acme');
    expect(await titles()).not.toContain('Cook');
    expect((await run('feeds', 'rekey', 'acme', '--sure')).out).toContain('7 jobs kept');
    await mirror.sync();
    await mirror.stopEngine();
    expect(await titles()).toContain('Cook');
    expect(await titles()).toHaveLength(8);
  });

  it('keeps its jobs if the new keys are bound after an undo, while the feed is stopped', async () => {
    await open([...wards('a', 7), posting('gone', { title: 'Cook' })]);
    const before = await mapped();
    await mirror.stopEngine();
    const { pull } = await syncOf(wards('a', 7));
    await syncOf(wards('b', 7));
    await undo(pull);
    await run('feeds', 'rekey', 'acme', '--sure');
    await run('feeds', 'resume', 'acme');
    expect(await syncOf(wards('b', 7))).toMatchObject({ status: 'mirrored', seen: 7 });
    expect(await titles()).toHaveLength(7);
    const ids = new Set(before.map(({ site_job_id }) => site_job_id));
    expect((await mapped()).filter(({ site_job_id }) => !ids.has(site_job_id))).toEqual([]);
  });
});

it('a posting within its grace that an undo sets back keeps its job under its new key', async () => {
  await open(wards('a', 7), { feed: { delete_guard: '{ percent: 20, count: 5, missing_pulls: 3 }' } });
  const { pull } = await syncOf(wards('a', 7, { title: 'Wrong' }));
  const before = (await mirror.sandbox.inspect.jobs()).map(({ id }) => id).sort();
  await syncOf(wards('b', 7, { title: 'Wrong' }));
  await undo(pull);
  expect((await run('feeds', 'rekey', 'acme', '--sure')).out).toContain('7 jobs kept');
  await run('feeds', 'resume', 'acme');
  expect(await syncOf(wards('b', 7))).toMatchObject({ status: 'mirrored', seen: 7, created: 0, gone: 0 });
  expect((await mirror.sandbox.inspect.jobs()).map(({ id }) => id).sort()).toEqual(before);
});

describe('a renamed feed', () => {
  const rename = async (from: string, to: string) => {
    await mirror.configure(`\n  ${from}:\n`, `\n  ${to}:\n`);
    expect(await run('feeds', 'rename', from, to)).toMatchObject({ status: 0 });
  };

  it('stays stopped by its undo, which can be undone under the new name', async () => {
    await open(wards('a', 7));
    const wrong = wards('a', 7, { title: 'Wrong' });
    const { pull } = await syncOf(wrong);
    await undo(pull);
    await rename('acme', 'apex');
    expect((await run('sync', 'apex')).errors).toContain('feeds resume apex');
    const again = await run('undo', String((pull as number) + 1), '--yes');
    expect(again.status).toBe(0);
    expect(await titles()).toContain('Wrong');
    expect(await titles()).toHaveLength(7);
  });

  it('keeps its question about new keys', async () => {
    await open(wards('a', 7));
    const before = await titles();
    await syncOf(wards('b', 7));
    await rename('acme', 'apex');
    expect((await run('feeds', 'rekey', 'apex', '--sure')).out).toContain('7 jobs kept');
    expect(await run('sync', 'apex')).toMatchObject({ status: 0 });
    expect(await titles()).toEqual(before);
  });
});
