// Creates in doubt that share a reference: of two feeds of one site, or of the places of one record. Each finds its own job, and nobody
// is offered, given or made to delete another one's (laws 1, 3 and 4).
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { feedName, postingKey, type SiteJobId, type SiteName } from '../../src/posting/identifiers.ts';
import { compareDoubt, readDoubt } from '../../src/review/compare-doubt.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { findChangeOf } from '../../src/store/change/open-change.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

const RESOLVING = {
  limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 2 }',
  doubts: '{ resolve_after_seconds: 2.5 }',
};
const MADE = { name: '500', made: true, on: ['create'] } as const;
const FEEDS = ['acme', 'beta'] as const;
/** The same references in both feeds, for jobs in other places. */
const CITIES = { acme: 'Boston', beta: 'Salem' } as const;

let mirror: Mirror;
afterEach(() => mirror.close());

async function openTwoFeeds(options: MirrorOptions): Promise<void> {
  mirror = await openMirror(options);
  const beta = ['  beta:', '    site: board', '    source: beta.xml', '    format: indeed', ''].join('\n');
  await appendFile(mirror.configPath, beta);
  await mirror.query(`insert into feed_state (feed, site, site_checked_at) values ('beta', 'board', now())`);
}

const write = (feed: 'acme' | 'beta', keys: readonly string[]) =>
  writeFile(
    join(mirror.folder, feed === 'acme' ? 'feed.xml' : 'beta.xml'),
    feedXml(keys.map((key) => posting(key, { city: CITIES[feed] }))),
  );

const entryOf = async (feed: string, key: string) =>
  (await findChangeOf((await mirror.app()).db, feedName(feed), postingKey(key)))?.id ?? 0;

const jobIn = async (city: string, key: string): Promise<SiteJobId> => {
  const jobs = await mirror.sandbox.inspect.jobs();
  const found = jobs.find(({ fields }) => fields.number === key && fields['location-city'] === city);
  return found?.id as SiteJobId;
};

describe('two feeds with the same references on one site', () => {
  it('whose answers are all lost get each their own jobs', { timeout: 300_000 }, async () => {
    await openTwoFeeds({ site: RESOLVING });
    const keys = ['1', '2', '3', '4'];
    await mirror.sandbox.setFaults([MADE]);
    for (const feed of FEEDS) {
      await write(feed, keys);
      await mirror.sync(feed);
    }
    await mirror.sandbox.setFaults([]);
    for (const feed of FEEDS) {
      expect(await mirror.sync(feed)).toMatchObject({ in_doubt: 0, pending: 0 });
    }
    expect(await mirror.sandbox.inspect.jobs()).toHaveLength(2 * keys.length);
    for (const feed of FEEDS) {
      for (const key of keys) {
        const [row] = await mirror.query<{ id: string }>(
          'select site_job_id as id from mapping where feed = $1 and key = $2',
          [feed, key],
        );
        expect(row?.id).toBe(await jobIn(CITIES[feed], key));
      }
    }
  });

  it('are not offered the other one’s job, nor given it, nor made to delete it', { timeout: 300_000 }, async () => {
    await openTwoFeeds({
      site: { ...RESOLVING, list_path: undefined },
      feed: { delete_guard: '{ percent: 100, count: 100 }' },
    });
    await mirror.sandbox.setFaults([{ ...MADE, count: 2 }]);
    for (const feed of FEEDS) {
      await write(feed, ['1']);
      expect(await mirror.sync(feed)).toMatchObject({ in_doubt: 1 });
    }
    const [own, others] = [await jobIn('Boston', '1'), await jobIn('Salem', '1')];
    const { db, config } = await mirror.app();
    const entry = await entryOf('acme', '1');
    // As a former reading of the list named them.
    await db.query(`update change set reason = reason || $2::jsonb where id = $1`, [
      entry,
      JSON.stringify({ candidates: [others, own] }),
    ]);
    const context = (await mirror.engine()).siteContexts.get('board' as SiteName);
    if (context === undefined) throw new Error('no site');
    const site = { ...context, referenceField: 'number', resolveAfterMs: 0 };
    const doubt = await readDoubt(db, config, entry);
    if (doubt === undefined) throw new Error('no doubt');
    const offered = await compareDoubt(db, doubt, [], site);
    expect(offered).toMatchObject([{ siteJobId: own, likeness: 'match', differing: new Set() }]);
    const [named] = await compareDoubt(db, doubt, [others], site);
    expect(named).toMatchObject({ likeness: 'other', differing: new Set(['location-city']) });

    // The posting leaves its feed, and a person answers for it.
    await write('acme', []);
    await mirror.sync('acme');
    const settle = (siteJobId: SiteJobId, anyway = false) =>
      resolveEntry(db, entry, { kind: 'exists', siteJobId, anyway }, { actor: 'a person', site });
    for (const anyway of [false, true]) {
      expect(await settle(others, anyway)).toMatchObject({
        kind: 'refused',
        message:
          `job ${others} shows exactly what was sent for posting 1 of feed beta, and differs from this one in location-city: ` +
          `settle entry ${await entryOf('beta', '1')} first`,
      });
    }
    expect(await settle(own)).toMatchObject({ kind: 'recorded' });
    await db.query(`update change set state = 'ready' where state = 'held'`);
    await mirror.sync('acme');
    expect((await mirror.sandbox.inspect.jobs()).map(({ id }) => id)).toContain(others);
  });
});

it('places of one record whose answers are all lost get each their own job', { timeout: 300_000 }, async () => {
  const format = [
    '{ type: json, records: jobs, key: id, fields: {',
    'number: id, title: title, description: text, category-name: { value: Health }, contact-web-address: url,',
    'location-city: places/city, location-state: { from: places/state, as: us_state } } }',
  ].join(' ');
  mirror = await openMirror({
    site: RESOLVING,
    feed: { source: 'feed.json', format, places: '{ path: places, use: each }' },
  });
  const cities = Array.from({ length: 12 }, (_, at) => `City ${'abcdefghijkl'[at]}`);
  const record = {
    id: '1',
    title: 'Nurse',
    text: 'You care for twelve patients.',
    url: 'https://jobs.example.com/1',
    places: cities.map((city) => ({ city, state: 'MA' })),
  };
  await writeFile(join(mirror.folder, 'feed.json'), JSON.stringify({ jobs: [record] }));
  await mirror.sandbox.setFaults([MADE]);
  await mirror.sync();
  await mirror.sandbox.setFaults([]);
  expect(await mirror.sync()).toMatchObject({ in_doubt: 0, pending: 0 });
  const jobs = await mirror.sandbox.inspect.jobs();
  expect(jobs.map(({ fields }) => fields['location-city']).sort()).toEqual(cities);
  const mapped = await mirror.query<{ id: string; city: string }>(
    `select m.site_job_id as id, d.fields->>'location-city' as city from mapping m join document d on d.feed = m.feed and d.key = m.key`,
  );
  expect(new Map(mapped.map(({ id, city }) => [id, city]))).toEqual(
    new Map(jobs.map(({ id, fields }) => [id, fields['location-city']])),
  );
});
