// Wrong feeds through the whole chain: nothing is deleted without proof, and not too much with proof (law 3).
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { type Framing, respond, serveRaw } from '../feed/raw-server.ts';
import { firstOf } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

const deletes = ({ sandbox }: Installation): number =>
  sandbox.requests.recent().filter(({ method }) => method === 'DELETE').length;

describe('a feed over HTTP', { concurrent: true }, () => {
  const FRAMINGS: readonly Framing[] = ['Content-Length', 'chunked', 'close-delimited'];
  const CASES = FRAMINGS.flatMap((framing) => [false, true].map((zipped) => ({ framing, zipped })));

  it.for(CASES)(
    'cut anywhere deletes nothing: $framing, gzip $zipped',
    { timeout: 900_000, tags: 'slow' },
    async (each, { open, onTestFinished }) => {
      const { framing, zipped } = each;
      const pack = (xml: string) => (zipped ? gzipSync(xml) : Buffer.from(xml));
      let body = pack(feedXml(postings(12)));
      let cut = body.length;
      const server = await serveRaw((socket) =>
        respond(socket, framing, body, cut, zipped ? ['Content-Encoding: gzip'] : []),
      );
      onTestFinished(() => server.close());
      const limits = '{ max_wait_seconds: 0.01 }';
      const installation = await open({ feed: { source: `${server.origin}/feed.xml`, limits } });
      expect(await installation.sync()).toMatchObject({ status: 'mirrored', created: 12 });
      // Fewer postings than are live: postings that are cut off must not count as gone.
      body = pack(feedXml(postings(11)));
      for (const share of [0, 0.2, 0.5, 0.8, 0.95, 1]) {
        cut = Math.min(body.length - 3, Math.floor(body.length * share));
        expect(await installation.sync()).toMatchObject({ complete: false, deleted: 0, held: 0, gone: 0 });
      }
      expect(deletes(installation)).toBe(0);
      cut = body.length;
      expect(await installation.sync()).toMatchObject({ status: 'mirrored', deleted: 1 });
      await checkLaws(installation, postings(11));
    },
  );
});

/** Blanks the record that contains the text; the file keeps its length and stays well-formed. */
function blank(path: string, text: string): void {
  const xml = readFileSync(path, 'utf8');
  const start = xml.lastIndexOf('<job>', xml.indexOf(text));
  const end = xml.indexOf('</job>', start) + '</job>'.length;
  writeFileSync(path, `${xml.slice(0, start)}${' '.repeat(end - start)}${xml.slice(end)}`);
}

describe('a feed that is rewritten while it is read', { concurrent: true }, () => {
  /** Too many bytes to be read at once, most of them in an element that no posting is made of. */
  const long = (count: number) =>
    feedXml(postings(count)).replaceAll('</city>', `</city><notes>${'long '.repeat(12_800)}</notes>`);

  const WAYS: readonly (readonly [string, (path: string, xml: string) => void])[] = [
    [
      'in place, well-formed together with the part already read',
      (path) => blank(path, '<referencenumber><![CDATA[p29]]'),
    ],
    ['in place, with fewer postings', (path, xml) => writeFileSync(path, xml)],
    ['cut off', (path) => truncateSync(path, 600_000)],
  ];
  it.for(firstOf(WAYS, 1))('%s, deletes nothing', { timeout: 900_000 }, async ([, rewrite], { open }) => {
    const installation = await open();
    await installation.writeFeed(long(30));
    await installation.sync();
    const { db, log, config } = await installation.app();
    const [setup] = feedSetups(config, ['acme']);
    if (setup === undefined) throw new Error('no feed');
    let rewritten = false;
    const onProgress = () => {
      if (!rewritten) rewrite(join(installation.folder, 'feed.xml'), long(26));
      rewritten = true;
    };
    const end = await pullFeed(setup, { db, log, signal: new AbortController().signal, onProgress });
    expect(end).toMatchObject({ kind: 'committed', complete: false });
    expect(await db.query(`select key from change where desired = 'absent'`)).toEqual([]);

    await installation.writeFeed(long(26));
    expect(await installation.sync()).toMatchObject({ status: 'mirrored', deleted: 4 });
  });
});

describe('a feed that', { concurrent: true }, () => {
  const BROKEN = [
    ['an HTML page', '<!DOCTYPE html><html><head><title>Log in</title></head><body></body></html>'],
    ['no bytes', ''],
    ['white space', ' \n\n '],
    ['JSON', '{"jobs":[]}'],
    ['another root that is not closed', '<rss><channel>'],
  ] as const;

  it('is no feed deletes nothing', { timeout: 900_000 }, async ({ open }) => {
    const installation = await open();
    await installation.syncOf(postings(12));
    for (const [what, content] of firstOf(BROKEN, 1)) {
      await installation.writeFeed(content);
      expect(await installation.sync(), what).toMatchObject({ complete: false, deleted: 0, held: 0 });
    }
    await installation.writeFeed(feedXml(postings(12)));
    await heal(installation);
    expect(deletes(installation)).toBe(0);
    await checkLaws(installation, postings(12));
  });

  it('flaps is held, and nothing is deleted and created again', { timeout: 900_000, tags: 'slow' }, async ({
    open,
  }) => {
    const installation = await open();
    for (let time = 0; time < 3; time++) {
      await installation.syncOf(postings(20));
      expect(await installation.syncOf(postings(4))).toMatchObject({ held: 16, deleted: 0 });
    }
    await checkLaws(installation, postings(4), { held: postings(20).slice(4) });
    expect(deletes(installation)).toBe(0);
  });

  it('erodes by 15 % a pull is held at the second', { timeout: 900_000, tags: 'slow' }, async ({ open }) => {
    const installation = await open({ site: patientSite(20) });
    let size = 40;
    await installation.syncOf(postings(size));
    const ends = [];
    for (let pull = 0; pull < 4; pull++) {
      size = Math.floor(size * 0.85);
      const { deleted, held } = await installation.syncOf(postings(size));
      ends.push({ deleted, held });
    }
    expect(ends).toEqual([
      { deleted: 6, held: 0 },
      { deleted: 0, held: 6 },
      { deleted: 0, held: 11 },
      { deleted: 0, held: 15 },
    ]);
    expect(deletes(installation)).toBe(6);
  });

  it('grows tenfold and shrinks again is mirrored, then held', { timeout: 900_000, tags: 'slow' }, async ({ open }) => {
    const installation = await open();
    await installation.syncOf(postings(6));
    expect(await installation.syncOf(postings(60))).toMatchObject({ status: 'mirrored', created: 54 });
    expect(await installation.syncOf(postings(6))).toMatchObject({ held: 54, deleted: 0 });
    await checkLaws(installation, postings(6), { held: postings(60).slice(6) });
  });

  it('repeats keys, or has keys that differ only in case and zeros, gets one job per key', {
    timeout: 900_000,
  }, async ({ open }) => {
    const installation = await open();
    const list = [posting('a'), posting('A'), posting('7'), posting('007'), posting('a')];
    expect(await installation.syncOf(list)).toMatchObject({ created: 4, duplicates: 1 });
    await checkLaws(installation, list.slice(0, 4));
  });
});
