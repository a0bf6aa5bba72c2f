// A feed changes the keys of its postings: nothing is created or deleted until a person decides, and jobs keep their IDs.

import { afterEach, describe, expect, it } from 'vitest';
import type { FeedName } from '../../src/posting/identifiers.ts';
import { suspectedPairs } from '../../src/review/decide-rekey.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { readPullSums } from '../../src/review/pulled-changes.ts';
import { approveChanges, discardEntries } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

const ACME = 'acme' as FeedName;

let mirror: Mirror;
afterEach(() => mirror?.close());

/** The posting of a number under a key that starts with `prefix`. Its content does not depend on the key. */
const ward = (prefix: string, n: number, fields: Omit<TestPosting, 'key'> = {}): TestPosting =>
  posting(`${prefix}${n}`, { title: `Nurse ${n}`, description: `<p>Ward ${n}</p>`, ...fields });

const wards = (prefix: string, count: number, from = 1): TestPosting[] =>
  Array.from({ length: count }, (_, at) => ward(prefix, from + at));

const cut = (list: readonly TestPosting[]): string => {
  const xml = feedXml(list);
  return xml.slice(0, xml.lastIndexOf('<job>'));
};

async function open(list: readonly TestPosting[], options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
  await syncOf(list);
}

async function syncOf(list: readonly TestPosting[] | string) {
  await mirror.writeFeed(typeof list === 'string' ? list : feedXml(list));
  mirror.sandbox.requests.clear();
  return mirror.sync();
}

const run = (...args: readonly string[]) => runProgram(mirror, ...args);
/** Nothing is sent before the next sync. */
const rekey = async (...args: readonly string[]) => {
  await mirror.stopEngine();
  return run('feeds', 'rekey', 'acme', ...args);
};
const sent = () => mirror.sandbox.requests.recent().flatMap(({ method }) => (method === 'GET' ? [] : [method]));
/** The IDs of the site's jobs by their titles; the same title several times has several IDs. */
async function ids(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { id, fields } of await mirror.sandbox.inspect.jobs()) {
    const title = fields.title ?? '';
    found[title] = [...(found[title] ?? []), id];
  }
  for (const each of Object.values(found)) each.sort();
  return found;
}
const numbers = async () => [...(await mirror.siteJobs()).keys()].sort();
const db = async () => (await mirror.app()).db;

describe('all keys change', () => {
  it('nothing is sent until the certain pairs are bound; then their jobs are updated', async () => {
    await open(wards('a', 8));
    const before = await ids();
    const first = await syncOf(wards('b', 8));
    expect(first).toMatchObject({ status: 'review', complete: true, gone: 8, held: 8, pending: 8, requests: 0 });
    expect(first.message).toContain('jobmirror feeds rekey acme');
    expect(first.message).toContain('jobmirror feeds rekey acme --not-rekey');
    expect(sent()).toEqual([]);
    // A second pull before the decision changes nothing.
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'review', held: 8, pending: 8, requests: 0 });
    const status = await run('status');
    expect(status.out).toContain('their keys seem to have changed');
    expect(status.out).toMatch(/feeds rekey acme/);

    const shown = await rekey('--json');
    expect(shown.status).toBe(2);
    expect(shown.json()).toHaveLength(8);
    expect(shown.json()[0]).toEqual({
      feed: 'acme',
      key: 'b1',
      old_key: 'a1',
      job_id: before['Nurse 1']?.[0],
      verdict: 'sure',
      reasons: ['same content'],
      bound: false,
    });
    expect((await rekey('--sure')).out).toContain('8 jobs kept for their new keys');
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'mirrored', updated: 8, created: 0, deleted: 0 });
    expect(sent()).toEqual(Array(8).fill('PUT'));
    expect(await ids()).toEqual(before);
    expect(await numbers()).toEqual(
      wards('b', 8)
        .map(({ key }) => key)
        .sort(),
    );
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'mirrored', unchanged: 8, requests: 0 });
    expect((await rekey()).out).toContain('do not seem to have changed');
    expect((await rekey('--sure', '--json')).status).toBe(0);
  });

  it('in an incomplete pull: nothing is created, and a complete pull proves which postings are gone', async () => {
    await open(wards('a', 8));
    const before = await ids();
    const report = await syncOf(cut(wards('b', 8)));
    expect(report).toMatchObject({ status: 'incomplete', created: 0, pending: 7, requests: 0 });
    expect(report.message).toContain('jobmirror feeds rekey acme');
    expect(sent()).toEqual([]);
    const unproven = await rekey('--sure', '--json');
    expect(unproven.json().filter(({ verdict }) => verdict === 'sure')).toEqual([]);
    expect(unproven.json().filter(({ bound }) => bound)).toEqual([]);
    expect(await syncOf(cut(wards('b', 7)))).toMatchObject({ created: 0, requests: 0 });
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'review', created: 0, held: 8, requests: 0 });
    expect((await rekey('--yes', '--json')).status).toBe(0);
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'mirrored', updated: 8, created: 0 });
    expect(await ids()).toEqual(before);
  });

  it('and a posting that the next incomplete pull sees again is bound: the counts of that pull add up', async () => {
    await open(wards('a', 8));
    await syncOf(cut(wards('b', 8)));
    const again = [ward('a', 1, { state: 'Jalisco' }), ...wards('a', 7, 2)];
    const { pull } = await syncOf(cut([...again, ...wards('b', 8)]));
    expect((await rekey('--posting', 'b1', '--was', 'a1')).status).toBe(0);
    const sums = await readPullSums(await db(), pull as number);
    expect(sums).toMatchObject({ seen: { seen: 15, unchanged: 8, pending: 7 }, fault: undefined });
  });

  it('and the job of a posting stays whose record cannot be read, also once that record is discarded', async () => {
    await open(wards('a', 8), { feed: { delete_guard: '{ percent: 100, count: 100 }' } });
    const before = await ids();
    const broken = feedXml(wards('b', 8)).replace('<![CDATA[<p>Ward 8</p>]]>', 'Ward & 8');
    expect(await syncOf(broken)).toMatchObject({ status: 'incomplete', unreadable: 1, pending: 7, requests: 0 });
    await (await db()).transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
    expect(await syncOf(broken)).toMatchObject({ complete: true, unreadable: 1, held: 8, requests: 0 });
    expect((await rekey('--sure')).out).toContain('7 jobs kept for their new keys');
    expect(await syncOf(broken)).toMatchObject({ updated: 7, deleted: 0, held: 1 });
    expect(await syncOf(broken)).toMatchObject({ requests: 0, held: 1 });
    expect(await ids()).toEqual(before);
    expect(await syncOf(wards('b', 8))).toMatchObject({ created: 1, deleted: 1, held: 0 });
  });

  it('but they are other postings, as a person says: they are created, and the guard decides about the others', {
    tags: 'slow',
  }, async () => {
    await open(wards('a', 8));
    await syncOf(wards('b', 8));
    const denied = await rekey('--not-rekey');
    expect(denied.out).toContain('8 creates');
    expect(denied.out).toContain('review approve acme');
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'review', created: 8, held: 8, deleted: 0 });
    await (await db()).transaction(async (tx) => approveChanges(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
    await syncOf(wards('b', 8));
    expect(await numbers()).toEqual(
      wards('b', 8)
        .map(({ key }) => key)
        .sort(),
    );
  });

  it('and a person who approves the deletes is asked first: none of them is', { tags: 'slow' }, async () => {
    await open(wards('a', 8));
    const before = await ids();
    await syncOf(wards('b', 8));
    const approve = () =>
      db().then((open) =>
        open.transaction(async (tx) => approveChanges(tx, await selectedIds(tx, { feed: ACME }), 'a person')),
      );
    expect(await approve()).toEqual([]);
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'review', held: 8, deleted: 0, created: 0 });
    expect(await ids()).toEqual(before);
  });

  it('and return before a person decides: nothing is sent; and again after the feed was empty for a while', {
    tags: 'slow',
  }, async () => {
    await open(wards('a', 8));
    const before = await ids();
    await syncOf(wards('b', 8));
    expect(await syncOf(wards('a', 8))).toMatchObject({ status: 'mirrored', unchanged: 8, requests: 0 });
    expect((await rekey()).out).toContain('do not seem to have changed');
    expect(await syncOf([])).toMatchObject({ status: 'review', held: 8 });
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'review', held: 8, pending: 8, requests: 0 });
    await rekey('--sure');
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'mirrored', updated: 8 });
    expect(await ids()).toEqual(before);
  });

  it('within the grace of the missing postings', { tags: 'slow' }, async () => {
    await open(wards('a', 8), { feed: { delete_guard: '{ missing_pulls: 3 }' } });
    const before = await ids();
    expect(await syncOf(wards('b', 8))).toMatchObject({
      status: 'review',
      grace: 8,
      held: 0,
      pending: 8,
      requests: 0,
    });
    await rekey('--sure');
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'mirrored', updated: 8, created: 0 });
    expect(await ids()).toEqual(before);
  });
});

describe('a part of the keys changes', () => {
  it('the other postings are mirrored meanwhile, and a small part is no change of keys', { tags: 'slow' }, async () => {
    await open([...wards('a', 30)]);
    const before = await ids();
    const changed = (from: number) => [...wards('a', from - 1), ...wards('b', 31 - from, from)];
    // Two new postings of thirty with old content: ordinary changes.
    expect(await syncOf(changed(29))).toMatchObject({ status: 'mirrored', created: 2, deleted: 2 });
    const list = [...wards('a', 18), ...wards('b', 12, 19)].map((each, at) =>
      at === 0 ? { ...each, description: 'Other' } : each,
    );
    // Ten more, below the limit of the delete guard only if they were alone.
    expect(await syncOf(list)).toMatchObject({ status: 'review', updated: 1, created: 0, deleted: 0, pending: 10 });
    await rekey('--sure');
    expect(await syncOf(list)).toMatchObject({ status: 'mirrored', updated: 10, created: 0, deleted: 0 });
    const after = await ids();
    for (let n = 1; n <= 28; n++) expect(after[`Nurse ${n}`]).toEqual(before[`Nurse ${n}`]);
  });

  it('all of a small feed', { tags: 'slow' }, async () => {
    await open(wards('a', 2));
    const before = await ids();
    expect(await syncOf(wards('b', 2))).toMatchObject({
      status: 'review',
      created: 0,
      deleted: 0,
      held: 2,
      requests: 0,
    });
    await rekey('--sure');
    expect(await syncOf(wards('b', 2))).toMatchObject({ status: 'mirrored', updated: 2 });
    expect(await ids()).toEqual(before);
  });

  it('one of two postings, or with the setting off: they are other postings', { tags: 'slow' }, async () => {
    await open(wards('a', 8), { feed: { rekey_guard: '{ percent: 100 }', delete_guard: '{ percent: 100 }' } });
    expect(await syncOf(wards('b', 8))).toMatchObject({ status: 'mirrored', created: 8, deleted: 8 });
  });
});

describe('content that is not unique', () => {
  const same = { title: 'Cook', description: 'Cooks' };
  const cooks = (prefix: string, count: number) => wards(prefix, count).map((each) => ({ ...each, ...same }));

  it('as many missing as new ones: interchangeable, and each job keeps its ID', { tags: 'slow' }, async () => {
    await open(cooks('a', 8));
    const before = await ids();
    await syncOf(cooks('b', 8));
    const shown = (await rekey('--sure', '--json')).json();
    expect(shown).toHaveLength(8);
    expect(shown.every(({ bound, verdict }) => bound === true && verdict === 'sure')).toBe(true);
    expect(shown.map(({ key, old_key }) => [old_key, key])).toContainEqual(['a7', 'b7']);
    expect(await syncOf(cooks('b', 8))).toMatchObject({ status: 'mirrored', updated: 8, created: 0, deleted: 0 });
    expect(await ids()).toEqual(before);
  });

  it('not as many: a person decides one by one, and what is left is created or deleted', { tags: 'slow' }, async () => {
    await open([...cooks('a', 8), ...wards('c', 6)]);
    const before = await ids();
    const list = [...cooks('b', 7), ...wards('d', 6)];
    await syncOf(list);
    const bound = await rekey('--sure', '--json');
    expect(bound.status).toBe(2);
    expect(bound.json().filter(({ verdict }) => verdict === 'sure')).toHaveLength(6);
    expect(bound.json().filter(({ verdict }) => verdict === 'unsure')).toHaveLength(7);
    expect(bound.json().filter(({ verdict }) => verdict === 'unmatched')).toMatchObject([{ key: null, old_key: 'a8' }]);
    // The rest waits, however few are left.
    expect(await syncOf(list)).toMatchObject({ status: 'review', updated: 6, created: 0, deleted: 0, pending: 7 });
    expect((await rekey('--posting', 'b3', '--was', 'a8', '--json')).json()).toEqual([
      { feed: 'acme', key: 'b3', old_key: 'a8', bound: true },
    ]);
    expect((await rekey('--posting', 'b4', '--was', 'a8')).errors).toContain('posting a8 has no job any more');
    expect((await rekey('--not-rekey', '--json')).json()).toMatchObject([{ not_rekey: true, creates: 6 }]);
    expect(await syncOf(list)).toMatchObject({ created: 6, pending: 0 });
    expect((await mirror.siteJobs()).get('b3')).toBeDefined();
    expect(before.Cook).toContain((await jobIdOf('b3')) ?? '');
  });

  it('only the same title and place: suspected, but never certain', { tags: 'slow' }, async () => {
    const retold = (list: readonly TestPosting[]) =>
      list.map((each) => ({ ...each, description: `${each.description} told again` }));
    await open(wards('a', 8));
    const list = retold(wards('b', 8));
    expect(await syncOf(list)).toMatchObject({ status: 'review', created: 0, requests: 0 });
    const shown = (await rekey('--sure', '--json')).json();
    expect(shown[0]).toMatchObject({
      verdict: 'unsure',
      bound: false,
      reasons: ['same title and place', 'contact-web-address, description, number differ'],
    });
    for (const { key, old_key } of shown) await rekey('--posting', String(key), '--was', String(old_key));
    expect(await syncOf(list)).toMatchObject({ status: 'mirrored', updated: 8, created: 0 });
  });
});

async function jobIdOf(key: string): Promise<string | undefined> {
  const [row] = await (await db()).query<{ id: string }>('select site_job_id as id from mapping where key = $1', [key]);
  return row?.id;
}

describe('what belongs to an old key', () => {
  const broken = { state: 'Nowhere' };

  /** Mirrors eight postings, one of which a person has edited. @returns the same under new keys */
  async function openEdited(): Promise<readonly TestPosting[]> {
    await open([ward('a', 1, broken), ...wards('a', 7, 2)]);
    // Only the next sync sends, and so counts, what the edit makes ready.
    await edit('a1');
    expect(await syncOf([ward('a', 1, broken), ...wards('a', 7, 2)])).toMatchObject({ unchanged: 7, created: 1 });
    return [ward('b', 1, broken), ...wards('b', 7, 2)];
  }

  async function edit(key: string): Promise<void> {
    const [entry] = await (await db()).query<{ id: number }>('select id from change where key = $1', [key]);
    await mirror.stopEngine();
    const { config } = await mirror.app();
    await editEntry(await db(), config, entry?.id ?? 0, { 'location-state': 'Ohio' }, { actor: 'a person' });
  }

  it('is recognised although the posting under its new key is edited as well', async () => {
    const list = await openEdited();
    await syncOf(list);
    await edit('b1');
    await syncOf(list);
    expect((await rekey('--json')).json().filter(({ verdict }) => verdict === 'sure')).toHaveLength(8);
  });

  it('moves along: edits; and a posting that is rejected, discarded or in doubt stays so', async () => {
    const list = await openEdited();
    const before = await ids();
    // The new posting of the edited one breaks the rule again, and is discarded before the keys are bound.
    expect(await syncOf(list)).toMatchObject({ status: 'review', rejected: 1, pending: 7, held: 8 });
    await (await db()).transaction(async (tx) =>
      discardEntries(tx, await selectedIds(tx, { feed: ACME, kinds: ['rejected'] }), 'a person'),
    );
    // What is shown before is what is sent afterwards: the edit stays.
    const app = await mirror.app();
    const suspected = await suspectedPairs(app.db, ACME, { show: undefined, after: undefined, limit: 20 });
    const edited = suspected?.items.find(({ key }) => key === 'b1');
    expect(edited?.differences?.map(({ field }) => field)).toEqual(['number', 'contact-web-address']);
    await mirror.stopEngine();
    const shown = (await rekey('--sure', '--json')).json();
    expect(shown.filter(({ bound }) => bound)).toHaveLength(8);
    expect(await syncOf(list)).toMatchObject({ status: 'mirrored', updated: 8, rejected: 0, created: 0 });
    expect((await mirror.siteJobs()).get('b1')).toMatchObject({ 'location-state': 'Ohio' });
    expect(await ids()).toEqual(before);
    expect(await syncOf(list)).toMatchObject({ status: 'mirrored', unchanged: 8, requests: 0 });
  });

  it('an update in flight, and a create in doubt, are left until they have ended', { tags: 'slow' }, async () => {
    await open(wards('a', 8));
    await syncOf(wards('b', 8));
    // Nothing may be sent meanwhile.
    await mirror.stopEngine();
    const database = await db();
    await database.query(`update change set state = 'ready' where key = 'a1'`);
    await database.query(
      `update change set state = 'sending', attempt_token = gen_random_uuid(), attempt_operation = 'delete',
         attempt_started = now(), attempt_worker = -1 where key = 'a1'`,
    );
    await database.query(
      `update change set state = 'in_doubt', attempt_token = gen_random_uuid(), attempt_operation = 'create',
         attempt_started = now(), not_before = 'infinity' where key = 'b2'`,
    );
    const shown = (await rekey('--sure', '--json')).json();
    expect(shown.filter(({ bound }) => bound)).toHaveLength(6);
    const left = shown.filter(({ bound }) => !bound);
    expect(left.map(({ key, message }) => [key, message])).toEqual([
      ['b1', expect.stringContaining('a request for posting a1 is in flight')],
      ['b2', expect.stringContaining('a create of posting b2 is in flight or in doubt')],
    ]);
    expect(await (await db()).query(`select key from mapping where key in ('a1', 'a2')`)).toHaveLength(2);
  });
});
