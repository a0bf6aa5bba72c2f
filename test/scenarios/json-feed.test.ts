// JSON feeds are mirrored as XML feeds are: unchanged records are not parsed, and only a complete document deletes.
// @module-tag slow
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { checkDamages, type Damages } from '../support/damaged-document.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

const FORMAT = `{
      type: json, records: data/jobs, total: meta/total, key: id,
      fields: {
        number: id, title: text, description: { from: content, as: html }, location-city: place/city,
        location-state: { from: place/state, as: us_state }, contact-web-address: { from: links/url, as: url }
      }
    }`;

const job = (id: string | number, more: object = {}) => ({
  id,
  text: `Nurse ${id}`,
  content: '&lt;p&gt;Work &amp;amp; care &quot;here&quot;&lt;/p&gt;',
  place: { city: 'Boston', state: 'MA' },
  links: [{ rel: 'self' }, { url: `https://jobs.example.com/${id}` }],
  ...more,
});
const jobs = (count: number) => Array.from({ length: count }, (_, at) => job(`j${at + 1}`));
const feed = (list: readonly object[], space?: number) =>
  JSON.stringify({ meta: { total: list.length }, data: { jobs: list } }, null, space);

const open = async (settings: Record<string, string> = {}) => {
  mirror = await openMirror({ feed: { format: FORMAT, ...settings } });
};

it('creates, updates and deletes, and sends nothing when nothing changed', async () => {
  await open();
  await mirror.writeFeed(gzipSync(feed(jobs(8))));
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 8, created: 8, complete: true });
  expect((await mirror.siteJobs()).get('j1')).toEqual({
    number: 'j1',
    title: 'Nurse j1',
    description: '<p>Work &amp; care "here"</p>',
    'location-city': 'Boston',
    'location-state': 'Massachusetts',
    'contact-web-address': 'https://jobs.example.com/j1',
  });
  await mirror.writeFeed(feed(jobs(8), 2));
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 8, requests: 0 });
  await mirror.writeFeed(feed([...jobs(6).map((one, at) => (at === 0 ? { ...one, text: 'Cook' } : one)), job('new')]));
  expect(await mirror.sync()).toMatchObject({ created: 1, updated: 1, deleted: 2, unchanged: 5, status: 'mirrored' });
  expect((await mirror.siteJobs()).get('j1')?.title).toBe('Cook');
});

it('keeps the text of numbers as keys', async () => {
  await open();
  const ids = ['9007199254740993', '9007199254740992', '1.50'];
  const list = feed(jobs(3)).replace(/"id":"j(\d)"/g, (_, at) => `"id":${ids[Number(at) - 1]}`);
  await mirror.writeFeed(list);
  expect(await mirror.sync()).toMatchObject({ created: 3, duplicates: 0 });
  expect([...(await mirror.siteJobs()).keys()].sort()).toEqual([...ids].sort());
});

describe('deletes nothing', () => {
  const damages: Damages = {
    'a document cut in a record': (text) => text.slice(0, text.indexOf('"j5"')),
    'a document cut between records': (text) => text.slice(0, text.indexOf('{"id":"j5"')),
    'a document without its last brace': (text) => text.slice(0, -1),
    'an unescaped quote': (text) => text.replace('Nurse j5', 'Nurse "j5"'),
    'something after its end': (text) => `${text} ]`,
    'a record less than declared': (text) => text.replace('"total":8', '"total":9'),
    'one name twice in a record': (text) => text.replace('"id":"j5"', '"id":"j5","id":"j9"'),
    'null where the list was': () => '{"meta":{"total":0},"data":{"jobs":null}}',
    'another name of the list': (text) => text.replace('"jobs":[', '"items":['),
  };

  it('on damage of the document', async () => {
    await open({ delete_guard: '{ percent: 100, count: 100 }' });
    await checkDamages(mirror, feed(jobs(8)), damages);
  });

  it('on another document', async () => {
    await open();
    await mirror.writeFeed(feed(jobs(4)));
    await mirror.sync();
    for (const [content, message] of [
      ['<!doctype html><title>Sign in</title>', /HTML where a JSON feed was expected; the page's title is "Sign in"/],
      ['<source></source>', /XML where a JSON feed was expected/],
      ['', /the feed is empty/],
      ['{"message":"rate limit"}', /no "data", where the records are expected; it has "message"/],
      ['Bad Gateway', /this is not a JSON feed; it starts with "Bad Gateway"/],
    ] as const) {
      await mirror.writeFeed(content);
      const report = await mirror.sync();
      expect(report).toMatchObject({ complete: false, deleted: 0, message: expect.stringMatching(message) });
      expect((await mirror.siteJobs()).size).toBe(4);
    }
  });
});

it('a record that cannot be parsed is one review entry of its posting, and the others are mirrored', async () => {
  await open();
  await mirror.writeFeed(feed(jobs(8)));
  await mirror.sync();
  const changed = feed(jobs(8).map((one) => ({ ...one, text: `${one.text}, RN` })));
  await mirror.writeFeed(changed.replace('Nurse j5, RN', 'Nurse\\x j5'));
  expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1, updated: 7, deleted: 0 });
  expect(await mirror.query(`select key, kind from record_problem`)).toEqual([{ key: 'j5', kind: 'unreadable' }]);
});
