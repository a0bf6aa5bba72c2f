// Look-up tables and expressions through sync and review: what they refuse is one entry, and stays refused until it is edited.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { editEntry } from '../../src/review/edit-posting.ts';
import { checkCounts } from '../laws/laws.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

async function sync(list?: readonly TestPosting[]) {
  if (list !== undefined) await mirror.writeFeed(feedXml(list));
  return checkCounts(await mirror.sync());
}

async function edit(fields: Readonly<Record<string, string>>) {
  const { db, config } = await mirror.app();
  const [entry] = await db.query<{ id: number }>("select id from change where state = 'rejected'");
  return editEntry(db, config, entry?.id ?? -1, fields, { actor: 'a person' });
}

it('a text that is not in the table stays refused while other fields are edited', async () => {
  mirror = await openMirror({ feed: { fields: '{ location-city: { from: city, map: cities.csv } }' } });
  await writeFile(join(mirror.folder, 'cities.csv'), 'Boston,Boston (MA)\n');
  const list = [...postings(3), posting('p4', { city: 'Lynn' })];
  expect(await sync(list)).toMatchObject({ created: 3, rejected: 1, review: 1 });
  expect((await mirror.siteJobs()).get('p1')?.['location-city']).toBe('Boston (MA)');

  expect(await edit({ title: 'Cook' })).toMatchObject({
    kind: 'edited',
    remaining: expect.stringContaining('"Lynn" is not in the map of location-city'),
  });
  expect(await sync()).toMatchObject({ rejected: 1, created: 0 });
  // The record is read again, with the edit of its title.
  const renewed = [...postings(3), posting('p4', { city: 'Lynn', description: 'New' })];
  expect(await sync(renewed)).toMatchObject({ rejected: 1, created: 0 });
  expect(await edit({ 'location-city': 'Lynn (MA)' })).toMatchObject({ kind: 'edited', remaining: undefined });
  expect(await sync()).toMatchObject({ rejected: 0, review: 0 });
  expect((await mirror.siteJobs()).get('p4')).toMatchObject({ title: 'Cook', 'location-city': 'Lynn (MA)' });
  expect(await sync()).toMatchObject({ unchanged: 4, requests: 0 });

  await mirror.stopEngine();
  await writeFile(join(mirror.folder, 'cities.csv'), 'Boston,Boston\nLynn,Lynn MA\n');
  expect(await sync()).toMatchObject({ updated: 4, rejected: 0 });
});

it('an expression that fails for one record rejects that posting only, also in a large feed', async () => {
  const title = `{ jsonata: "city = 'Lynn' ? $error('no jobs there') : title & ' in ' & city" }`;
  mirror = await openMirror({ feed: { fields: `{ title: ${title} }` } });
  // In an element that no field has, so that the site gets short jobs.
  const more = `<more>${'x'.repeat(300_000)}</more></job>`;
  await mirror.writeFeed(feedXml([...postings(8), posting('p9', { city: 'Lynn' })]).replaceAll('</job>', more));
  expect(await sync()).toMatchObject({ created: 8, rejected: 1 });
  expect((await mirror.siteJobs()).get('p7')?.title).toBe('Nurse p7 in Boston');
  expect(await sync()).toMatchObject({ unchanged: 8, rejected: 1, requests: 0 });
  expect(await edit({ title: 'Nurse' })).toMatchObject({ kind: 'edited', remaining: undefined });
  // Its create may be sent before the pull, which then counts none.
  expect(await sync()).toMatchObject({ rejected: 0, review: 0 });
  expect((await mirror.siteJobs()).get('p9')?.title).toBe('Nurse');
});
