// `undo` sets the site back to what it had before a pull, leaves out what has changed since, and keeps the feed from bringing it back.

import { describe, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { retryChanges } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { forgetOldRows } from '../../src/store/status/retention.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { runProgram } from './run-program.ts';

/** Twenty jobs; the wrong feed changes two, deletes two and adds two. */
const RIGHT = postings(20);
const WRONG = [
  ...RIGHT.slice(0, 18).map(({ key }) =>
    ['p1', 'p2'].includes(key) ? posting(key, { title: 'Wrong' }) : posting(key),
  ),
  posting('n1'),
  posting('n2'),
];

const mirror = openedForAll(() => openMirror());

const undo = (...args: readonly unknown[]) => runProgram(mirror, 'undo', ...args.map(String));

async function pull(list: readonly TestPosting[]) {
  const report = await mirror.syncOf(list);
  await mirror.stopEngine();
  return report;
}

/** Makes the site and the database agree with a feed again, however the case before ended. */
async function startOver(list: readonly TestPosting[] = RIGHT) {
  await mirror.sandbox.setFaults([]);
  let report = await pull(list);
  if (report.status === 'failed') {
    await runProgram(mirror, 'feeds', 'resume', 'acme');
    report = await pull(list);
  }
  if (report.held > 0) await runProgram(mirror, 'review', 'approve', 'acme');
  if (report.unchanged < list.length || report.held > 0) report = await pull(list);
  expect(report).toMatchObject({ status: 'mirrored', unchanged: list.length });
  await forgetDeletes();
  mirror.sandbox.requests.clear();
}

/** The guard counts the deletes of a whole day together. */
async function forgetDeletes() {
  await mirror.query('delete from deletion');
  await mirror.stopEngine();
}

const titles = async () =>
  Object.fromEntries([...(await mirror.siteJobs())].map(([key, fields]) => [key, fields.title ?? '']));
const titlesOf = (list: readonly TestPosting[]) =>
  Object.fromEntries(list.map(({ key, title }) => [key, title ?? `Nurse ${key}`]));

const sent = () => mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET').length;

describe('undo', () => {
  it('shows the reverse field by field, and changes nothing unless it is confirmed', { tags: 'slow' }, async () => {
    await startOver();
    const { pull: wrong } = await pull(WRONG);
    const before = await titles();
    mirror.sandbox.requests.clear();
    const { status, out, errors, json } = await undo(wrong, '--json');
    expect(json()).toEqual([
      expect.objectContaining({ key: 'n1', operation: 'delete' }),
      expect.objectContaining({ key: 'n2', operation: 'delete' }),
      expect.objectContaining({ key: 'p19', operation: 'create' }),
      expect.objectContaining({ key: 'p20', operation: 'create' }),
      expect.objectContaining({ key: 'p1', operation: 'update', fields: { title: { from: 'Wrong', to: 'Nurse p1' } } }),
      expect.objectContaining({ key: 'p2', operation: 'update', fields: { title: { from: 'Wrong', to: 'Nurse p2' } } }),
    ]);
    expect({ status, out }).toMatchObject({ status: 1 });
    expect(errors).toContain('2 to create again, 2 to revert, 2 to delete, 0 unsent changes to withdraw.');
    expect(errors).toContain('new job IDs');
    expect(errors).toContain('Nothing was changed.');
    expect(await titles()).toEqual(before);
    expect(sent()).toBe(0);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', requests: 0 });
    await mirror.stopEngine();
  });

  it('sets the site back, counts its requests, and keeps the feed from being pulled until it is resumed', async () => {
    await startOver();
    const { pull: wrong } = await pull(WRONG);
    const { status, out, errors } = await undo(wrong, '--yes');
    expect({ status, out, errors }).toMatchObject({ status: 0 });
    expect(out).toContain('2 created, 2 updated, 2 deleted');
    expect(await titles()).toEqual(titlesOf(RIGHT));
    await mirror.stopEngine();
    // Before a pull is refused and after, each once.
    const shown = await runProgram(mirror, 'status');
    expect(shown.out).toMatch(
      new RegExp(
        `^feed acme is not pulled since pull ${wrong} was undone\n  once its source is right: .* feeds resume acme`,
        'm',
      ),
    );
    const stopped = await mirror.sync();
    expect(stopped).toMatchObject({ status: 'failed', requests: 0 });
    expect(stopped.message).toContain(`is not pulled since pull ${wrong} was undone`);
    expect(stopped.message).toContain('jobmirror feeds resume acme');
    await mirror.stopEngine();
    expect((await runProgram(mirror, 'status')).out.match(/is not pulled since/g)).toHaveLength(1);
    expect(await titles()).toEqual(titlesOf(RIGHT));
    const planned = await runProgram(mirror, 'plan', 'acme', '--json');
    expect(planned.json()).toHaveLength(6);
    await runProgram(mirror, 'feeds', 'resume', 'acme');
    expect(await pull(RIGHT)).toMatchObject({ status: 'mirrored', unchanged: 20, requests: 0 });
  });

  it('is not done twice, and can be undone itself', { tags: 'slow' }, async () => {
    await startOver();
    const { pull: wrong } = await pull(WRONG);
    const first = await undo(wrong, '--yes', '--json');
    const report = first.json().at(-1);
    expect(report).toMatchObject({ status: 'mirrored', created: 2, updated: 2, deleted: 2 });
    const again = await undo(wrong, '--yes');
    expect(again).toMatchObject({ status: 1, out: '' });
    expect(again.errors).toContain(`was undone by ${report?.pull} already`);
    expect(again.errors).toContain(`undo ${report?.pull}`);
    await forgetDeletes();
    const back = await undo(report?.pull, '--yes');
    expect(back).toMatchObject({ status: 0 });
    expect(await titles()).toEqual(titlesOf(WRONG));
    const third = await undo(wrong, '--yes');
    expect(third.errors).toContain('the undo of pull');
    expect(third).toMatchObject({ status: 1 });
  });

  it('leaves out and lists what has changed since', { tags: 'slow' }, async () => {
    await startOver();
    const { pull: wrong } = await pull(WRONG);
    // p1 is changed once more, n1 goes, and p19 returns.
    const later = [
      ...WRONG.filter(({ key }) => key !== 'n1').map((p) => (p.key === 'p1' ? posting('p1', { title: 'Later' }) : p)),
      posting('p19'),
    ];
    await pull(later);
    const { json, status } = await undo(wrong, '--yes', '--json');
    expect(status).toBe(0);
    expect(json().filter(({ kind }) => kind === 'left_out')).toEqual([
      expect.objectContaining({ key: 'p1', operation: 'none' }),
      expect.objectContaining({ key: 'p19', operation: 'none' }),
    ]);
    expect(await titles()).toEqual({ ...titlesOf(RIGHT), p1: 'Later' });
  });

  it('deletes only within the guard', async () => {
    await startOver();
    const many = [...RIGHT, ...Array.from({ length: 12 }, (_, at) => posting(`m${at}`))];
    const { pull: wrong } = await pull(many);
    const { status, out, errors } = await undo(wrong, '--yes');
    expect({ status, errors }).toMatchObject({ status: 2 });
    expect(errors).toContain('The deletes are held: ');
    expect(out).toContain('12 deletes wait for approval');
    expect(await titles()).toEqual(titlesOf(many));
    expect(await runProgram(mirror, 'review', 'approve', 'acme')).toMatchObject({ status: 0 });
    expect(await titles()).toEqual(titlesOf(RIGHT));
  });

  it('withdraws what was not sent, but not what a person has discarded', { tags: 'slow' }, async () => {
    await startOver();
    // The site's rules refuse a posting that is in no state.
    const { pull: wrong } = await pull(
      WRONG.map(({ key }) => posting(key, /^(p[12]|n.)$/.test(key) ? { state: 'XX' } : {})),
    );
    const listed = await runProgram(mirror, 'review', 'list', 'acme', '--json');
    const entry = listed.json<{ id: number; key: string }>().find(({ key }) => key === 'n2')?.id;
    expect(await runProgram(mirror, 'review', 'discard', String(entry))).toMatchObject({ status: 0 });
    const { status, errors, json } = await undo(wrong, '--yes', '--json');
    expect({ status, errors }).toMatchObject({ status: 0 });
    expect(json().at(-1)).toMatchObject({ created: 2, updated: 0, deleted: 0 });
    expect(await titles()).toEqual(titlesOf(RIGHT));
    expect(await mirror.query('select key, state from change order by key')).toEqual([
      { key: 'n2', state: 'discarded' },
    ]);
    await mirror.stopEngine();
  });

  it('is refused while the feed is pulled, for a failed or unknown pull, and for an old one', {
    tags: 'slow',
  }, async () => {
    await startOver();
    const { pull: wrong } = await pull(WRONG);
    const before = await titles();
    const { db } = await mirror.app();
    const release = await holdPullLock(db, feedName('acme'));
    expect((await undo(wrong, '--yes')).errors).toContain('is being pulled right now');
    await release();
    expect((await undo(999_999, '--yes')).errors).toContain('no pull 999999 is recorded');
    const addPull = async (feed: string, status: string) => {
      const added = `insert into pull (feed, site, status, undoable) values ($1, 'board', $2, true) returning id`;
      return (await db.query<{ id: number }>(added, [feed, status]))[0]?.id;
    };
    const failed = await addPull('acme', 'failed');
    expect((await undo(failed, '--yes')).errors).toContain('has changed nothing, so there is nothing to undo');
    const others = await addPull('other', 'mirrored');
    expect((await undo(others, '--yes')).errors).toContain('of feed other, which is not in the configuration');
    await db.query(`update pull set started_at = now() - interval '20 days' where id = $1`, [wrong]);
    const days = { requests: 30, failures: 30, audit: 30, pulls: 90, undo: 14 };
    await forgetOldRows(db, days, new AbortController().signal);
    expect((await undo(wrong, '--yes')).errors).toContain('is too old');
    await mirror.stopEngine();
    expect(await titles()).toEqual(before);
  });

  it('undoes what is in flight or in doubt once its outcome is known', { tags: 'slow' }, async () => {
    await startOver();
    await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create', 'update'] }]);
    const { pull: wrong } = await pull(WRONG);
    await mirror.sandbox.setFaults([]);
    const { status, errors } = await undo(wrong, '--yes');
    expect({ status, errors }).toMatchObject({ status: expect.toBeOneOf([0, 1, 2]) });
    const app = await mirror.app();
    await app.db.transaction(async (tx) =>
      retryChanges(tx, await selectedIds(tx, { feed: feedName('acme') }), 'a person'),
    );
    for (let round = 0; round < 5; round++) await mirror.sync();
    expect(await app.db.query('select key, state, desired from change')).toEqual([]);
    await mirror.stopEngine();
    expect(await titles()).toEqual(titlesOf(RIGHT));
  });
});
