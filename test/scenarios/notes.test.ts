// What a pull records about records: removed characters, and problems beyond the limit of review entries.
// @module-tag slow
import { afterEach, expect, it } from 'vitest';
import { describePull } from '../../src/cli/output/describe-pull.ts';
import { feedName, postingKey } from '../../src/posting/identifiers.ts';
import { PULL_LIMITS } from '../../src/pull/unusable-records.ts';
import { countNoted, notesOf } from '../../src/store/pull/posting-notes.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const acme = feedName('acme');
const { entries: usualLimit } = PULL_LIMITS;
let mirror: Mirror;
afterEach(() => {
  PULL_LIMITS.entries = usualLimit;
  return mirror?.close();
});

const readNotes = async (key: string) => notesOf((await mirror.app()).db, acme, postingKey(key));

it('characters that XML cannot carry are reported until the feed no longer has them', async () => {
  mirror = await openMirror();
  const odd = feedXml([...postings(2), posting('odd', { title: 'Nurse BELL' })]).replace('BELL', '\u0007\u0008');
  await mirror.writeFeed(odd);
  const report = await mirror.sync();
  expect(report).toMatchObject({ status: 'mirrored', created: 3, cleaned: 1, cleaned_example: 'odd' });
  expect(describePull({ ...report, notes: [] }, (words) => words.join(' '))).toContain(
    "1 posting has characters that XML can't carry; they are left out: why acme odd",
  );
  expect((await mirror.siteJobs()).get('odd')?.title).toBe('Nurse');
  const notes = [{ field: 'title', message: "removed 2 characters that XML can't carry" }];
  expect(await readNotes('odd')).toMatchObject(notes);
  expect(await readNotes('p1')).toEqual([]);

  // The record is not parsed again, and is still reported.
  await mirror.writeFeed(`${odd}\n`);
  await mirror.sync();
  expect(await readNotes('odd')).toMatchObject(notes);
  expect((await countNoted((await mirror.app()).db, acme)).cleaned).toEqual({ count: 1, example: 'odd' });

  await mirror.syncOf([...postings(2), posting('odd', { title: 'Nurse' })]);
  expect((await countNoted((await mirror.app()).db, acme)).cleaned).toEqual({ count: 0, example: undefined });
});

it('the notes of a posting that is gone are gone too', async () => {
  mirror = await openMirror({ feed: { delete_guard: '{ percent: 100, count: 100 }' } });
  await mirror.writeFeed(feedXml([...postings(2), posting('odd', { title: 'BELL' })]).replace('BELL', 'a\u0007'));
  await mirror.sync();
  expect(await mirror.syncOf(postings(2))).toMatchObject({ status: 'mirrored', deleted: 1, cleaned: 0 });
  await mirror.syncOf(postings(3));
  expect(await readNotes('odd')).toEqual([]);
});

it('problems beyond the limit are reported, and those with an entry keep it', async () => {
  PULL_LIMITS.entries = 50;
  mirror = await openMirror();
  const twice = Array.from({ length: 60 }, (_, at) => posting('p1', { title: `Another ${at}` }));
  await mirror.writeFeed(feedXml([...postings(1), ...twice]));
  expect(await mirror.sync()).toMatchObject({ status: 'review', duplicates: 60, review: 51 });
  const { db } = await mirror.app();
  const entries = () =>
    db.query<{ id: number; problems: { message: string }[] }>('select id, problems from record_problem order by id');
  const before = await entries();
  expect(before.at(-1)?.problems[0]?.message).toMatch(/more than 50 records can't be used/);

  // In another order other problems exceed the limit, and the recorded ones do not count as fixed.
  await mirror.syncOf([...postings(1), ...twice.reverse()]);
  expect((await entries()).map(({ id }) => id)).toEqual(expect.arrayContaining(before.map(({ id }) => id)));

  expect(await mirror.syncOf(postings(1))).toMatchObject({ status: 'mirrored', review: 0 });
});
