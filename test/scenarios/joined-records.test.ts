// A CDATA section without its end goes on into the next record: both postings keep their jobs, also once that record is discarded.
import { afterEach, expect, it } from 'vitest';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { acme } from '../review/stage.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

const FORMAT = `{
      records: "source/job", key: "@id",
      fields: {
        number: "@id", title: title, description: text, location-city: city,
        location-state: { from: state, as: us_state }, contact-web-address: { from: link, as: url }
      }
    }`;
const place = '<city>Boston</city><state>MA</state>';
const link = (id: string) => `<link>https://jobs.example.com/${id}</link>`;
const KEYS = ['j1', 'j2', 'j3', 'j4', 'j5', 'j6'];

it.each([
  ['well-formed', (id: string) => `<title>Nurse ${id}</title><text><![CDATA[Care of ${id}]]></text>`],
  ['not well-formed', (id: string) => `<title><![CDATA[Nurse ${id}]]></title><text><![CDATA[Care of ${id}]]></text>`],
])('if the two records together are %s', async (_name, texts) => {
  mirror = await openMirror({ feed: { format: FORMAT } });
  const feed = `<source>${KEYS.map((id) => `<job id="${id}">${place}${link(id)}${texts(id)}</job>`).join('')}</source>`;
  await mirror.writeFeed(feed);
  expect(await mirror.sync()).toMatchObject({ created: 6 });
  await mirror.writeFeed(feed.replace('Care of j2]]>', 'Care of'));
  expect(await mirror.sync()).toMatchObject({ complete: false, seen: 5, unchanged: 4, unreadable: 1, requests: 0 });

  const { db } = await mirror.app();
  await db.transaction((tx) => discardEntries(tx, { ids: [], feeds: [acme] }, 'a reviewer'));
  expect(await mirror.sync()).toMatchObject({ unreadable: 1, updated: 0, deleted: 0, held: 2 });
  expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(KEYS);
});
