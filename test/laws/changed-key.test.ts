// The key of a feed changes while records under the old key still exist: discarded, imported, from an older version.

import { describe, expect } from 'vitest';
import type { FeedName } from '../../src/posting/identifiers.ts';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { feedXml, postings, type TestPosting } from '../support/indeed-feed.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';
import { checkCounts, checkLaws } from './laws.ts';
import { approve, reconfigure } from './reconfigured.ts';

const ACME = 'acme' as FeedName;
const OLD = { format: 'indeed' };
const NEW = { format: 'indeed', key: 'other' };
/** Other laws are about keys that seem to have changed (`rekey.test.ts`): here creates are not held for that. */
const KEYS_TRUSTED = { feed: { rekey_guard: '{ percent: 100, count: 100 }' } };

/** A feed whose records have a second key, except those in `without`. */
function feedOf(list: readonly TestPosting[], without: readonly string[] = []): string {
  return list.reduce((xml, { key }) => {
    const reference = `<referencenumber><![CDATA[${key}]]>`;
    return without.includes(key) ? xml : xml.replace(reference, `<other>other-${key}</other>${reference}`);
  }, feedXml(list));
}

const cut = (xml: string): string => xml.slice(0, xml.lastIndexOf('<job>'));

async function syncFeed(installation: Installation, xml: string) {
  await installation.writeFeed(xml);
  return checkCounts(await installation.sync());
}

const ownJobs = async ({ sandbox, owner }: Installation): Promise<number> =>
  (await sandbox.inspect.jobs()).filter((siteJob) => siteJob.owner === owner).length;

describe('a changed key', { concurrent: true }, () => {
  it('mistakes no old job for a new one after a record without the new key was discarded', async ({ open }) => {
    const installation = await open(KEYS_TRUSTED);
    const list = postings(12);
    const xml = feedOf(list, ['p7']);
    await syncFeed(installation, xml);
    await reconfigure(installation, OLD, NEW);
    expect(await syncFeed(installation, xml)).toMatchObject({ created: 11, unreadable: 1, complete: false });
    const { db } = await installation.app();
    await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
    expect(await syncFeed(installation, xml)).toMatchObject({ status: 'review', unchanged: 11, gone: 12, held: 12 });
    await approve(installation);
    // Approved deletes are sent at once, and may count for the previous pull.
    expect(await syncFeed(installation, xml)).toMatchObject({ held: 0, pending_deletes: 0, created: 0 });
    expect(await ownJobs(installation)).toBe(11);
  });

  it('of another element, at the same path in the records, is found to be another one', async ({ open }) => {
    const formatOf = (records: string, title: string) =>
      `{ records: ${records}, key: id, fields: { number: id, title: ${title}, description: { value: Care }, location-city: { value: Boston }, ` +
      'location-state: { value: Massachusetts }, contact-email-address: { value: jobs@example.com } } }';
    const [before, after] = [formatOf('source/job', 'ad/title'), formatOf('source/job/ad', 'title')];
    const ad = (n: number) => `<ad><id>ad-${n}</id><title>Nurse ${n}</title></ad>`;
    const xml = `<source>${[1, 2, 3, 4].map((n) => `<job><id>${n}</id>${ad(n)}</job>`).join('')}</source>`;
    const broken = xml.replace('Nurse 4', 'Nurse & 4');
    const installation = await open({ feed: { ...KEYS_TRUSTED.feed, format: before } });
    expect(await syncFeed(installation, xml)).toMatchObject({ created: 4 });
    await reconfigure(installation, { format: before }, { format: after });
    expect(await syncFeed(installation, broken)).toMatchObject({ created: 3, unreadable: 1, complete: false });
    const { db } = await installation.app();
    await db.transaction(async (tx) => discardEntries(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
    expect(await syncFeed(installation, broken)).toMatchObject({ complete: true, unchanged: 3, deleted: 0, held: 4 });
    expect(await ownJobs(installation)).toBe(7);
    expect(await syncFeed(installation, xml)).toMatchObject({ status: 'mirrored', created: 1, deleted: 4 });
  });

  it('reverted after an incomplete pull leaves the old jobs as they were', async ({ open }) => {
    const installation = await open(KEYS_TRUSTED);
    const list = postings(10);
    const xml = feedOf(list);
    await syncFeed(installation, xml);
    await reconfigure(installation, OLD, NEW);
    expect(await syncFeed(installation, cut(xml))).toMatchObject({ status: 'incomplete', created: 9, deleted: 0 });
    await reconfigure(installation, NEW, OLD);
    expect(await syncFeed(installation, xml)).toMatchObject({ status: 'review', unchanged: 10, gone: 9, held: 9 });
    await approve(installation);
    expect(await syncFeed(installation, xml)).toMatchObject({ unchanged: 10, held: 0, created: 0 });
    await checkLaws(installation, list);
  });

  it('reverted before anything was sent sends nothing', { tags: 'slow' }, async ({ open }) => {
    const installation = await open(KEYS_TRUSTED);
    const list = postings(10);
    const xml = feedOf(list);
    await syncFeed(installation, xml);
    await reconfigure(installation, OLD, NEW);
    await installation.sandbox.setFaults([{ name: '403', on: ['create'] }]);
    expect(await syncFeed(installation, cut(xml))).toMatchObject({ status: 'incomplete', failed: 9 });
    await installation.sandbox.setFaults([]);
    await reconfigure(installation, NEW, OLD);
    expect(await syncFeed(installation, xml)).toMatchObject({ status: 'mirrored', unchanged: 10, requests: 0 });
    await checkLaws(installation, list);
  });
});

describe('record hashes of an older version, made from the bytes alone', { concurrent: true }, () => {
  it('are replaced by the next pull, which sends nothing', async ({ open }) => {
    const installation = await open();
    const list = postings(10);
    await syncFeed(installation, feedXml(list));
    await installation.query(`update mapping set record_hash = decode(md5(key), 'hex')`);
    const hashes = () => installation.query('select key, record_hash from mapping order by key');
    const older = await hashes();
    expect(await syncFeed(installation, feedXml(list))).toMatchObject({
      status: 'mirrored',
      unchanged: 10,
      requests: 0,
    });
    const newer = await hashes();
    expect(newer).not.toEqual(older);
    expect(await syncFeed(installation, feedXml(list))).toMatchObject({ unchanged: 10, requests: 0 });
    expect(await hashes()).toEqual(newer);
    await checkLaws(installation, list);
  });
});
