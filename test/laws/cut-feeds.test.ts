// Feeds that end too early, cut at every kind of place in every kind of transfer: none proves that a posting is gone (law 3).
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it as plainIt } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { sourceOf } from '../feed/collect.ts';
import { type Framing, respond, serveRaw } from '../feed/raw-server.ts';
import { chosen, spread } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { AFTER_ROOT, type CutFeed, cutFeed, PACKINGS, placesOf } from './cut-feeds.ts';
import { heal } from './heal.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';
import { randomOf } from './random.ts';

const PLACES = PACKINGS.flatMap((packing) => placesOf(packing).map((place) => ({ packing, place })));
const WAYS: readonly (Framing | 'file')[] = ['Content-Length', 'chunked', 'close-delimited', 'file'];

/** Every way, packing and place, except a cut after the root that nobody can detect: plain data without an announced end. */
const ALL_CASES = WAYS.flatMap((way, at) =>
  spread(PLACES, at, 3).map(({ packing, place }) => ({ way, packing, place })),
).filter(
  ({ way, packing, place }) =>
    !(place === AFTER_ROOT && packing === 'plain' && (way === 'close-delimited' || way === 'file')),
);

/** `npm test` cuts at every third of them. */
const CASES = chosen(ALL_CASES, (_each, at) => at % 3 === 0);

describe('feeds cut', () => {
  it(`at ${CASES.length} kinds of places delete nothing`, { timeout: 3_600_000 }, async ({ open, onTestFinished }) => {
    const wantedCount = Number(process.env.CUT_FEEDS ?? CASES.length);
    const random = randomOf(Number(process.env.SEED ?? 1));
    let current: CutFeed = { body: Buffer.alloc(0), cut: 0 };
    let way: Framing = 'chunked';
    const server = await serveRaw((socket) => respond(socket, way, current.body, current.cut));
    onTestFinished(() => server.close());
    const installation = await open();
    expect(await installation.syncOf(postings(12))).toMatchObject({ status: 'mirrored', created: 12 });
    const { db, log, config } = await installation.app();
    const [setup] = feedSetups(config, ['acme']);
    if (setup === undefined) throw new Error('no feed');

    let cuts = 0;
    for (; cuts < wantedCount; cuts++) {
      const each = CASES[cuts % CASES.length] as (typeof CASES)[number];
      current = cutFeed(each.packing, each.place, random);
      if (each.way === 'file') await installation.writeFeed(current.body.subarray(0, current.cut));
      else way = each.way;
      const location = each.way === 'file' ? join(installation.folder, 'feed.xml') : `${server.origin}/feed.xml`;
      const source = { ...setup.source, from: sourceOf({ location }).from };
      const pulled = await pullFeed({ ...setup, source }, { db, log, signal: new AbortController().signal });
      const about = `${each.way}, ${each.packing}, in ${each.place}, after ${current.cut} of ${current.body.length} bytes`;
      expect(pulled.kind === 'failed' || (pulled.kind === 'committed' && !pulled.complete), about).toBe(true);
      expect(await db.query(`select key from change where desired = 'absent'`), about).toEqual([]);
    }
    expect(cuts).toBe(wantedCount);

    const whole = [...postings(12), posting('new')];
    await installation.writeFeed(feedXml(whole));
    await heal(installation);
    expect(installation.sandbox.requests.recent().filter(({ method }) => method === 'DELETE')).toEqual([]);
    await checkLaws(installation, whole);
  });
});

describe('the cutter', () => {
  plainIt.for(PLACES)('removes part of a whole feed: $packing, $place', ({ packing, place }) => {
    const { body, cut } = cutFeed(packing, place, randomOf(7));
    const xml = (packing === 'plain' ? body : gunzipSync(body)).toString();
    expect(xml).toMatch(/^<\?xml[\s\S]*<\/source>\n<!-- the end -->\n$/);
    expect(cut).toBeLessThan(body.length);
  });
});
