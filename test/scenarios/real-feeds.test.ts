// Mirrors an employer's real feed and its earlier version, if they are available beside the repository.
// @module-tag slow
import { readFile } from 'node:fs/promises';
import { SaxesParser } from 'saxes';
import { afterEach, describe, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';

const SENTENCE = /^[^<]*/;
let mirror: Mirror;
afterEach(() => mirror?.close());

/** The records of an Indeed feed, read with another parser: child element → text. */
function recordsOf(xml: string): Record<string, string>[] {
  const records: Record<string, string>[] = [];
  const path: string[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    path.push(name);
    if (path.length === 2 && name === 'job') records.push({});
  });
  const text = (value: string) => {
    const record = records.at(-1);
    const [, , name] = path;
    if (record !== undefined && path[1] === 'job' && name !== undefined) record[name] = (record[name] ?? '') + value;
  };
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', () => path.pop());
  parser.write(xml).close();
  return records;
}

/** The fields that the site should have for a record, except the state, whose spelling the mapping decides. */
function expectedFields(record: Record<string, string>): Record<string, string> {
  const fields: Record<string, string> = {};
  const sources = {
    number: 'referencenumber',
    title: 'title',
    'category-name': 'category',
    description: 'description',
    'location-city': 'city',
    'contact-web-address': 'url',
  };
  for (const [field, source] of Object.entries(sources)) {
    const value = (record[source] ?? '').replaceAll('\r\n', '\n').trim();
    if (value !== '') fields[field] = value;
  }
  return fields;
}

describe.skipIf(!hasSharedFeeds)(`a real feed${sharedFeedsNote}`, () => {
  it('is mirrored: many deletes are held, and each posting is live with exactly its fields, or in review', async () => {
    mirror = await openMirror();
    const app = await mirror.app();
    const earlier = await readFile(sharedFeed('indeed/staffing-2026-03-04.xml'), 'utf8');
    const xml = await readFile(sharedFeed('indeed/staffing-2026-03-20.xml'), 'utf8');
    await mirror.writeFeed(earlier.replace(SENTENCE, ''));
    const begun = await mirror.sync();
    expect(begun).toMatchObject({ seen: 360, complete: true, failed: 0, pending: 0 });

    // It changes a lot: its deletes are held, and sent after approval.
    await mirror.writeFeed(xml);
    const step = await mirror.sync();
    expect(step).toMatchObject({ status: 'review', seen: 344, complete: true, deleted: 0, gone: step.held });
    expect(step).toMatchObject({ duplicates: 0, unreadable: 0, failed: 0, pending: 0 });
    expect(step.held).toBeGreaterThan(140);
    expect((await mirror.siteJobs()).size).toBe(begun.created + step.created);
    const approved = await actOnEntries(app.db, app.config, 'approve', [{ feed: feedName('acme') }], { actor: 'test' });
    expect(approved).toMatchObject({ kind: 'acted', feeds: [{ done: step.held }] });
    expect(await mirror.sync()).toMatchObject({ held: 0, created: 0, pending_deletes: 0 });

    const jobs = await mirror.siteJobs();
    const rejected = await app.db.query<{ key: string; reason: { message: string } }>(
      `select key, reason from change where state = 'rejected'`,
    );
    expect(jobs.size + rejected.length).toBe(344);
    expect(rejected.every(({ reason }) => reason.message.length > 10)).toBe(true);
    const waiting = new Set(rejected.map(({ key }) => key));
    for (const record of recordsOf(xml)) {
      const expected = expectedFields(record);
      const key = expected.number as string;
      if (waiting.has(key)) {
        expect(jobs.has(key)).toBe(false);
        continue;
      }
      const { 'location-state': state, 'contact-email-address': _email, ...fields } = jobs.get(key) ?? {};
      expect(fields).toEqual(expected);
      expect(state).toMatch(/^[A-Z][A-Za-z. ]+$/);
    }

    mirror.sandbox.requests.clear();
    expect(await mirror.sync()).toMatchObject({ seen: 344, requests: 0, created: 0, rejected: rejected.length });
    expect(mirror.sandbox.requests.recent()).toEqual([]);

    // A version that is not well-formed before its root deletes nothing.
    await mirror.writeFeed(earlier);
    expect(await mirror.sync()).toMatchObject({ complete: false, deleted: 0, held: 0, gone: 0 });
    const after = await mirror.siteJobs();
    for (const key of jobs.keys()) expect(after.has(key)).toBe(true);
  });
});
