// A section of XML without its end goes on into the next record: both postings keep their jobs, also once that record is discarded.

import { afterEach, expect, it } from 'vitest';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
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

/** @param end of the section. */
type Texts = (id: string, end?: string) => string;

it.each<[string, Texts]>([
  ['a CDATA section', (id, end = ']]>') => `<title>Nurse ${id}</title><text><![CDATA[Care of ${id}${end}</text>`],
  [
    'a CDATA section, and the two records together are not well-formed',
    (id, end = ']]>') => `<title><![CDATA[Nurse ${id}]]></title><text><![CDATA[Care of ${id}${end}</text>`,
  ],
  // As word processors write it.
  [
    'a processing instruction',
    (id, end = '?>') => `<title>Nurse ${id}</title><text>Care of ${id}<?xml:namespace prefix = o ${end}</text>`,
  ],
])('%s', async (_name, texts) => {
  mirror = await openMirror({ feed: { format: FORMAT } });
  await joinRecords(texts);
  expect(await mirror.sync()).toMatchObject({ unreadable: 1, updated: 0, deleted: 0, held: 2 });
  expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(KEYS);
});

it('and both records together are above the size limit', async () => {
  mirror = await openMirror({ feed: { format: FORMAT, limits: '{ max_record_bytes: 3000 }' } });
  const long = 'Care '.repeat(500);
  await joinRecords((id, end = ']]>') => `<title>Nurse ${id}</title><text><![CDATA[${long}${id}${end}</text>`);
  expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1, updated: 0, deleted: 0 });
  expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(KEYS);
});

/** Mirrors the records, then with a section of the second one that lacks its end; a person discards what cannot be read. */
async function joinRecords(texts: Texts): Promise<void> {
  const record = (id: string, end?: string) => `<job id="${id}">${place}${link(id)}${texts(id, end)}</job>`;
  await mirror.writeFeed(`<source>${KEYS.map((id) => record(id)).join('')}</source>`);
  expect(await mirror.sync()).toMatchObject({ created: 6 });
  await mirror.writeFeed(`<source>${KEYS.map((id) => record(id, id === 'j2' ? '' : undefined)).join('')}</source>`);
  expect(await mirror.sync()).toMatchObject({ complete: false, seen: 5, unchanged: 4, unreadable: 1, requests: 0 });
  const { db } = await mirror.app();
  await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: acme }), 'a reviewer'));
}
