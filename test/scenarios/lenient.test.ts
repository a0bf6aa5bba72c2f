import { afterEach, expect, it } from 'vitest';
import { postingKey } from '../../src/posting/identifiers.ts';
import { readStory } from '../../src/store/review/posting-history.ts';
import { acme } from '../review/stage.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

const list = postings(8);
const withTitle = (title: string, key = 'p1') =>
  feedXml(list).replace(`<title><![CDATA[Nurse ${key}]]></title>`, `<title>${title}</title>`);

it('mirrors repaired records, and reports them', async () => {
  mirror = await openMirror({ feed: { lenient: 'true' } });
  await mirror.writeFeed(withTitle('R & D, 1 < 2'));
  const report = await mirror.sync();
  expect(report).toMatchObject({ status: 'mirrored', created: 8, unreadable: 0, repaired: 1, cleaned: 0 });
  expect(report.repaired_example).toBe('p1');
  expect((await mirror.siteJobs()).get('p1')?.title).toBe('R & D, 1 < 2');
  const { db } = await mirror.app();
  expect((await readStory(db, acme, postingKey('p1'))).notes).toEqual([
    { repaired: true, message: 'the record is not well-formed, and was repaired: 1 bare "&", 1 bare "<"' },
  ]);
  expect(await mirror.sync()).toMatchObject({ unchanged: 8, requests: 0, repaired: 1 });

  await mirror.writeFeed(withTitle('R &amp; D'));
  expect(await mirror.sync()).toMatchObject({ updated: 1, repaired: 0 });
});

it('counts removed characters and repairs separately', async () => {
  mirror = await openMirror({ feed: { lenient: 'true' } });
  await mirror.writeFeed(withTitle('R & D\u0007').replace('Nurse p2', 'BELL\u0007'));
  expect(await mirror.sync()).toMatchObject({ created: 8, cleaned: 2, repaired: 1 });
});

it('leaves records unreadable that it cannot repair', async () => {
  mirror = await openMirror({ feed: { lenient: 'true' } });
  await mirror.syncOf(list);
  await mirror.writeFeed(withTitle('R & D <b>'));
  expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1, repaired: 0, updated: 0 });
  expect((await mirror.siteJobs()).get('p1')?.title).toBe('Nurse p1');
});

it('parses every record again when it is switched on or off', async () => {
  mirror = await openMirror({ feed: { lenient: 'false' } });
  await mirror.syncOf(list);
  await mirror.writeFeed(withTitle('R & D'));
  expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1 });
  await mirror.configure('lenient: false', 'lenient: true');
  expect(await mirror.sync()).toMatchObject({ complete: true, unreadable: 0, updated: 1, repaired: 1, review: 0 });
  await mirror.configure('lenient: true', 'lenient: false');
  expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1, repaired: 0, unchanged: 7, requests: 0 });
  expect((await mirror.siteJobs()).get('p1')?.title).toBe('R & D');
});

it('stops counting repairs when none is made, even if the key cannot be recovered', async () => {
  mirror = await openMirror({ feed: { lenient: 'true' } });
  const broken = feedXml(list)
    .replace('<referencenumber><![CDATA[p1]]>', '<referencenumber>p1&')
    .replace('Nurse p2', 'BELL\u0007');
  await mirror.writeFeed(broken);
  expect(await mirror.sync()).toMatchObject({ created: 8, repaired: 1, cleaned: 1 });
  await mirror.configure('lenient: true', 'lenient: false');
  expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1, repaired: 0, cleaned: 1 });
});

it('counts a record as unreadable or repaired, never as both', async () => {
  mirror = await openMirror({ feed: { lenient: 'true' } });
  await mirror.writeFeed(withTitle('R & D'));
  expect(await mirror.sync()).toMatchObject({ created: 8, repaired: 1 });
  await mirror.writeFeed(withTitle('R & D <b>'));
  expect(await mirror.sync()).toMatchObject({ unreadable: 1, repaired: 0 });
  await mirror.writeFeed(withTitle('R & D'));
  expect(await mirror.sync()).toMatchObject({ unreadable: 0, repaired: 1 });
});

it('also repairs a large feed that is split in a thread', async () => {
  mirror = await openMirror({ feed: { lenient: 'true' } });
  // In an element that no field has, so that the site gets short jobs.
  const more = `<more>${'x'.repeat(70_000)}</more></job>`;
  await mirror.writeFeed(feedXml(postings(40)).replaceAll('<city>', '<city>R & ').replaceAll('</job>', more));
  expect(await mirror.sync()).toMatchObject({ seen: 40, created: 40, repaired: 40 });
});
