// One posting for each place of a record: whatever state a place is in and whatever happens to its record, no job is made twice, lost
// or wrongly deleted, and the counts add up.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { FeedName } from '../../src/posting/identifiers.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { approveChanges, discardEntries } from '../../src/store/change/act-in-review.ts';
import { runProgram } from '../cli/run-program.ts';
import { leavesOut, ONLY_IN_ALL, spread } from '../support/extent.ts';
import { FAST_TIMING } from '../support/fast-timing.ts';
import { itInAll } from '../support/in-all.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { checkCounts } from './laws.ts';
import { randomOf } from './random.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const ACME = 'acme' as FeedName;

interface Place {
  readonly city: string;
  readonly state: string;
  readonly street?: string;
}
const BOSTON: Place = { city: 'Boston', state: 'MA' };
const CHICAGO: Place = { city: 'Chicago', state: 'IL' };
const DENVER: Place = { city: 'Denver', state: 'CO' };

const FORMAT = [
  '{ type: json, records: jobs, key: id, fields: {',
  'number: id, title: title, description: text, category-name: { value: Health }, contact-web-address: url,',
  "street: { from: places/street, match: '^[0-9]', take: '0', otherwise: reject },",
  'location-city: places/city, location-state: { from: places/state, as: us_state } } }',
].join(' ');

const limits = (timeout: number) => `{ requests_per_second: 5000, concurrency: 4, timeout_seconds: ${timeout} }`;
/** On a loaded machine, no request may be in doubt but those that the tests want to be. */
const PATIENT = { list_path: undefined, limits: limits(25) };
/** Doubts are resolved later than a request may take. */
const RESOLVING = { list_path: '/jobs.xml', limits: limits(2), doubts: '{ resolve_after_seconds: 2.5 }' };

interface Options extends MirrorOptions {
  readonly guard?: string;
}

async function withMirror(work: (mirror: Mirror) => Promise<void>, { guard, ...options }: Options = {}): Promise<void> {
  const mirror = await openMirror({
    ...options,
    timing: FAST_TIMING,
    site: options.site ?? PATIENT,
    feed: {
      source: 'feed.json',
      format: FORMAT,
      places: '{ path: places, use: each }',
      delete_guard: guard ?? '{ percent: 100, count: 100 }',
      ...options.feed,
    },
  });
  try {
    await work(mirror);
  } finally {
    await mirror.close();
  }
}

const recordOf = (id: string, places: readonly Place[], title = `Nurse ${id}`) => ({
  id,
  title,
  text: `<p>Work ${id}</p>`,
  url: `https://jobs.example.com/${id}`,
  places,
});
type Rec = ReturnType<typeof recordOf>;

const textOf = (records: readonly Rec[]): string =>
  `{"jobs":[\n${records.map((one) => JSON.stringify(one)).join(',\n')}\n]}`;

async function syncText(mirror: Mirror, text: string) {
  await writeFile(join(mirror.folder, 'feed.json'), text);
  const report = await mirror.sync();
  checkCounts(report);
  return report;
}

const sync = (mirror: Mirror, ...records: readonly Rec[]) => syncText(mirror, textOf(records));

/** The site's jobs, as `number city`; no two may be for one place. */
async function jobsOf(mirror: Mirror): Promise<string[]> {
  const jobs = (await mirror.sandbox.inspect.jobs()).map(({ fields }) => `${fields.number} ${fields['location-city']}`);
  expect(new Set(jobs).size, `no job twice: ${jobs.join(', ')}`).toBe(jobs.length);
  return jobs.sort();
}

async function configure(mirror: Mirror, from: string, to: string): Promise<void> {
  const text = await readFile(mirror.configPath, 'utf8');
  expect(text).toContain(from);
  await mirror.stopEngine();
  await writeFile(mirror.configPath, text.replace(from, to));
}

/** A record that never changes, so the feed is never empty. */
const OTHER = recordOf('9', [BOSTON]);
const discard = async (mirror: Mirror) => {
  const { db } = await mirror.app();
  await db.transaction((tx) => discardEntries(tx, { ids: [], feeds: [ACME] }, 'a person'));
};

/** Brings the place Chicago of record 1 into a state, while Boston is live; returns what the site has of Chicago. */
const STATES: Readonly<
  Record<string, (mirror: Mirror) => Promise<{ made: boolean; stuck?: boolean; street?: string }>>
> = {
  live: async (mirror) => {
    await sync(mirror, recordOf('1', [BOSTON, CHICAGO]), OTHER);
    return { made: true };
  },
  rejected: async (mirror) => {
    await sync(mirror, recordOf('1', [BOSTON]), OTHER);
    expect(await sync(mirror, recordOf('1', [BOSTON, { ...CHICAGO, street: 'none' }]), OTHER)).toMatchObject({
      rejected: 1,
    });
    return { made: false, street: 'none' };
  },
  failed: (mirror) => afterFault(mirror, { name: '403', on: ['create'], count: 1 }, { failed: 1 }),
  discarded: async (mirror) => {
    const state = await afterFault(mirror, { name: '403', on: ['create'], count: 1 }, { failed: 1 });
    await discard(mirror);
    return state;
  },
  'in doubt, made': async (mirror) => ({
    ...(await afterFault(mirror, { name: '500', made: true, on: ['create'], count: 1 }, { in_doubt: 1 })),
    made: true,
    stuck: true,
  }),
  'in doubt, not made': async (mirror) => ({
    ...(await afterFault(mirror, { name: '500', made: false, on: ['create'], count: 1 }, { in_doubt: 1 })),
    stuck: true,
  }),
  edited: async (mirror) => {
    await sync(mirror, recordOf('1', [BOSTON]), OTHER);
    await sync(mirror, recordOf('1', [BOSTON, { ...CHICAGO, street: 'none' }]), OTHER);
    const { db, config } = await mirror.app();
    const [entry] = await db.query<{ id: number }>(`select id from change where state = 'rejected'`);
    const edited = await editEntry(db, config, entry?.id ?? 0, { street: '5 Elm' }, { actor: 'a person' });
    expect(edited).toMatchObject({ kind: 'edited' });
    expect(await mirror.sync()).toMatchObject({ rejected: 0 });
    return { made: true, street: 'none' };
  },
};

async function afterFault(
  mirror: Mirror,
  fault: Parameters<Mirror['sandbox']['setFaults']>[0][number],
  counts: object,
): Promise<{ made: boolean; stuck?: boolean }> {
  await sync(mirror, recordOf('1', [BOSTON]), OTHER);
  await mirror.sandbox.setFaults([fault]);
  expect(await sync(mirror, recordOf('1', [BOSTON, CHICAGO]), OTHER)).toMatchObject(counts);
  await mirror.sandbox.setFaults([]);
  return { made: false };
}

/** What happens to record 1; `chicago`: whether its place may be deleted, and which other jobs exist afterwards. */
const EVENTS: Readonly<
  Record<
    string,
    { run: (mirror: Mirror, chicago: Place) => Promise<unknown>; removed?: true; added?: readonly string[] }
  >
> = {
  'another place is added': {
    run: (mirror, chicago) => sync(mirror, recordOf('1', [DENVER, BOSTON, chicago]), OTHER),
    added: ['1 Denver'],
  },
  'the place is removed': { run: (mirror) => sync(mirror, recordOf('1', [BOSTON]), OTHER), removed: true },
  'the places are reordered': { run: (mirror, chicago) => sync(mirror, recordOf('1', [chicago, BOSTON]), OTHER) },
  'a place is repeated': {
    run: (mirror, chicago) => sync(mirror, recordOf('1', [BOSTON, chicago, BOSTON, chicago]), OTHER),
  },
  'the record can not be read': {
    run: async (mirror, chicago) => {
      const broken = textOf([recordOf('1', [BOSTON, chicago]), OTHER]).replace('Nurse 1', 'Nurse \\x 1');
      expect(await syncText(mirror, broken)).toMatchObject({ complete: false, unreadable: 1, deleted: 0, gone: 0 });
      // A person who sets the record aside does not give up its jobs.
      await discard(mirror);
      expect(await syncText(mirror, broken)).toMatchObject({ unreadable: 1, deleted: 0, gone: 0 });
    },
  },
  'its places can not be read': {
    run: async (mirror) => {
      const unclear = recordOf('1', [BOSTON, { city: 'Chicago Springfield', state: 'Nowhere' }]);
      for (let pull = 0; pull < 3; pull++)
        expect(await sync(mirror, unclear, OTHER)).toMatchObject({ deleted: 0, gone: 0 });
    },
  },
  'it has too many places': {
    run: async (mirror) => {
      const many = Array.from({ length: 1_001 }, (_, at) => ({ city: `City ${at}`, state: 'MA' }));
      for (let pull = 0; pull < 2; pull++) {
        expect(await sync(mirror, recordOf('1', many), OTHER)).toMatchObject({
          unreadable: 1,
          deleted: 0,
          gone: 0,
          seen: 2,
        });
      }
    },
  },
  'the feed is cut before the place': {
    run: async (mirror) => {
      const text = textOf([OTHER, recordOf('1', [BOSTON, DENVER])]);
      expect(await syncText(mirror, text.slice(0, text.indexOf('"places":[{"city":"Boston"', 60)))).toMatchObject({
        complete: false,
        deleted: 0,
      });
    },
  },
  'the mapping changes': {
    run: async (mirror, chicago) => {
      await configure(mirror, 'title: title', 'title: { template: "{title}!" }');
      await sync(mirror, recordOf('1', [BOSTON, chicago]), OTHER);
    },
  },
};

describe.each(Object.entries(STATES))('a place that is %s', { concurrent: true }, (name, bring) => {
  const [events, states] = [Object.keys(EVENTS), Object.keys(STATES)];
  // What is live can be lost at each event.
  const tested = name === 'live' ? Object.entries(EVENTS) : spread(Object.entries(EVENTS), states.indexOf(name), 6);
  it.for(tested)('when %s', async ([eventName, event], { skip }) => {
    skip(leavesOut(events.indexOf(eventName), states.indexOf(name), 2 * states.length), ONLY_IN_ALL);
    await withMirror(async (mirror) => {
      const { made, stuck = false, street } = await bring(mirror);
      const chicago = street === undefined ? CHICAGO : { ...CHICAGO, street };
      const before = await jobsOf(mirror);
      expect(before).toEqual(['1 Boston', ...(made ? ['1 Chicago'] : []), '9 Boston']);
      const existing = await mirror.sandbox.inspect.jobs();
      await event.run(mirror, chicago);
      const again = await mirror.sync();
      checkCounts(again);
      expect(again.requests, 'quiet when nothing changed').toBe(0);
      const after = await jobsOf(mirror);
      const gone = event.removed === true && !stuck ? ['1 Chicago'] : [];
      expect(after).toEqual(
        expect.arrayContaining([...before.filter((job) => !gone.includes(job)), ...(event.added ?? [])]),
      );
      for (const job of gone) expect(after).not.toContain(job);
      // No job was deleted and made again.
      const ids = new Set((await mirror.sandbox.inspect.jobs()).map(({ id }) => id));
      const lost = existing.filter(({ id }) => !ids.has(id)).map(({ fields }) => fields['location-city']);
      expect(lost).toEqual(gone.length > 0 && made ? ['Chicago'] : []);
      // Once the source sends both places in good order again, both are on the site, and nothing else of the record.
      const healed = await sync(mirror, recordOf('1', [BOSTON, CHICAGO], 'Nurse, healed'), OTHER);
      expect(healed).toMatchObject({ complete: true, unreadable: 0, rejected: 0, failed: 0, in_doubt: stuck ? 1 : 0 });
      const resolved = name === 'in doubt, not made' ? [] : ['1 Chicago'];
      expect(await jobsOf(mirror)).toEqual(['1 Boston', ...resolved, '9 Boston']);
    });
  });
});

describe('a record with several places', { concurrent: true }, () => {
  it('is not parsed while it stays the same, and is counted once for each place', async () => {
    await withMirror(async (mirror) => {
      const first = recordOf('1', [BOSTON, CHICAGO, DENVER]);
      expect(await sync(mirror, first, OTHER)).toMatchObject({ seen: 4, created: 4, requests: 4 });
      const { db } = await mirror.app();
      const rows = () =>
        db.query('select key, record_hash, content_hash, missing_pulls, xmin::text from mapping order by key');
      const before = await rows();
      expect(before.map(({ key }) => key)).toEqual(['1|boston, ma', '1|chicago, il', '1|denver, co', '9|boston, ma']);
      // If it were parsed, the altered content hash would cause an update.
      await db.query(`update mapping set content_hash = decode(md5('x'), 'hex') where key = '1|chicago, il'`);
      expect(await sync(mirror, first, OTHER)).toMatchObject({ seen: 4, unchanged: 4, requests: 0 });
    });
  });

  it('is parsed if one of its places is not known any more, which is created again', async () => {
    await withMirror(async (mirror) => {
      const first = recordOf('1', [BOSTON, CHICAGO, DENVER]);
      for (const key of ['1|boston, ma', '1|chicago, il', '1|denver, co']) {
        await sync(mirror, first, OTHER);
        const { db } = await mirror.app();
        const [row] = await db.query(`delete from mapping where key = $1 returning site_job_id as id`, [key]);
        await db.query('delete from document where key = $1', [key]);
        expect(row).toBeDefined();
        expect(await sync(mirror, first, OTHER)).toMatchObject({ seen: 4, unchanged: 3, created: 1, requests: 1 });
      }
    });
  });

  itInAll('keeps its keys and jobs when a place is written in another way', async () => {
    await withMirror(async (mirror) => {
      await sync(mirror, recordOf('1', [{ city: 'San José', state: 'CA' }, CHICAGO]), OTHER);
      const ids = async () => (await mirror.sandbox.inspect.jobs()).map(({ id }) => id).sort();
      const before = await ids();
      const written = recordOf('1', [CHICAGO, { city: ' san  jose', state: 'California' }]);
      expect(await sync(mirror, written, OTHER)).toMatchObject({ created: 0, deleted: 0, updated: 1 });
      expect(await ids()).toEqual(before);
    });
  });

  itInAll('never shares a key with another record', async () => {
    await withMirror(async (mirror) => {
      const keys = ['1', '1|boston, ma', '1|', '1%7C', '1|boston, ma|boston, ma', '|'];
      const records = keys.map((id) => recordOf(id, [BOSTON, CHICAGO]));
      expect(await sync(mirror, ...records)).toMatchObject({ seen: 12, created: 12, duplicates: 0 });
      // An unreadable record protects its own postings only.
      const broken = textOf([recordOf('1', [BOSTON, CHICAGO])]).replace('Nurse 1', 'Nurse \\x 1');
      await syncText(mirror, broken);
      await discard(mirror);
      const end = await syncText(mirror, broken);
      expect(end).toMatchObject({ complete: true, unreadable: 1 });
      expect((await jobsOf(mirror)).filter((job) => /^1 /.test(job))).toEqual(['1 Boston', '1 Chicago']);
      expect(end.gone).toBe(10);
    });
  });

  itInAll('and the key of another one: a repeated place is a duplicate, the others are postings', async () => {
    await withMirror(async (mirror) => {
      const rows = [recordOf('1', [BOSTON]), recordOf('1', [CHICAGO]), recordOf('1', [CHICAGO, DENVER], 'Other title')];
      expect(await sync(mirror, ...rows)).toMatchObject({ seen: 4, created: 3, duplicates: 1 });
      expect(await sync(mirror, ...rows)).toMatchObject({ seen: 4, unchanged: 3, duplicates: 1, requests: 0 });
      expect(await jobsOf(mirror)).toEqual(['1 Boston', '1 Chicago', '1 Denver']);
    });
  });

  it('deletes within the guard, and only after enough pulls', async () => {
    const many = Array.from({ length: 20 }, (_, at) => ({ city: `City ${at}`, state: 'MA' }));
    await withMirror(
      async (mirror) => {
        await sync(mirror, recordOf('1', many), OTHER);
        expect(await sync(mirror, recordOf('1', many.slice(10)), OTHER)).toMatchObject({
          gone: 10,
          held: 10,
          deleted: 0,
        });
        const { db } = await mirror.app();
        await db.transaction((tx) => approveChanges(tx, { ids: [], feeds: [ACME] }, 'a person'));
        await mirror.sync();
        expect((await jobsOf(mirror)).length).toBe(11);
      },
      { guard: '{ percent: 20, count: 5 }' },
    );
    await withMirror(
      async (mirror) => {
        await sync(mirror, recordOf('1', [BOSTON, CHICAGO]), OTHER);
        expect(await sync(mirror, recordOf('1', [BOSTON]), OTHER)).toMatchObject({ gone: 1, grace: 1, deleted: 0 });
        expect(await sync(mirror, recordOf('1', [BOSTON, CHICAGO]), OTHER)).toMatchObject({
          gone: 0,
          requests: 0,
          unchanged: 3,
        });
        await sync(mirror, recordOf('1', [BOSTON]), OTHER);
        expect(await sync(mirror, recordOf('1', [BOSTON]), OTHER)).toMatchObject({ gone: 1, deleted: 1 });
      },
      { guard: '{ percent: 100, count: 100, missing_pulls: 2 }' },
    );
    // A record that returns unchanged begins a new grace for all of its places.
    await withMirror(
      async (mirror) => {
        for (let round = 0; round < 2; round++) {
          await sync(mirror, recordOf('1', [BOSTON, CHICAGO]), OTHER);
          expect(await sync(mirror, OTHER)).toMatchObject({ gone: 2, grace: 2, deleted: 0 });
        }
      },
      { guard: '{ percent: 100, count: 100, missing_pulls: 2 }' },
    );
  });

  it('with doubts about several places, each finds its own job in the list', async () => {
    await withMirror(
      async (mirror) => {
        await sync(mirror, OTHER);
        await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 2 }]);
        await sync(mirror, recordOf('1', [BOSTON, CHICAGO, DENVER]), OTHER);
        await mirror.sandbox.setFaults([]);
        expect(await jobsOf(mirror)).toEqual(['1 Boston', '1 Chicago', '1 Denver', '9 Boston']);
        const changed = recordOf('1', [BOSTON, CHICAGO, DENVER], 'Another title');
        await sync(mirror, changed, OTHER);
        expect(await jobsOf(mirror)).toEqual(['1 Boston', '1 Chicago', '1 Denver', '9 Boston']);
      },
      { site: RESOLVING },
    );
  });

  itInAll(
    'when the setting changes, the keys change: nothing is sent until a person has bound the certain pairs',
    async () => {
      await withMirror(
        async (mirror) => {
          const records = Array.from({ length: 8 }, (_, at) => recordOf(`${at}`, [BOSTON, CHICAGO]));
          expect(await sync(mirror, ...records)).toMatchObject({ created: 8 });
          await configure(mirror, 'use: first', 'use: each');
          const before = (await mirror.sandbox.inspect.jobs()).map(({ id }) => id);
          const held = { created: 0, pending: 16, gone: 8, held: 8, deleted: 0, requests: 0 };
          expect(await sync(mirror, ...records)).toMatchObject(held);
          await mirror.stopEngine();
          const bound = (await runProgram(mirror, 'feeds', 'rekey', 'acme', '--sure', '--json')).json();
          expect(bound.filter((pair) => pair.bound)).toHaveLength(8);
          expect(await sync(mirror, ...records)).toMatchObject({ created: 8, unchanged: 8, gone: 0, deleted: 0 });
          const ids = (await mirror.sandbox.inspect.jobs()).map(({ id }) => id);
          expect(ids).toEqual(expect.arrayContaining(before));
          expect(await jobsOf(mirror)).toHaveLength(16);
          expect(await sync(mirror, ...records)).toMatchObject({ unchanged: 16, requests: 0 });
        },
        { guard: '{ percent: 20, count: 5 }', feed: { places: '{ path: places, use: first }' } },
      );
    },
  );

  it.each([
    ['first', 'use: first', 'use: each'],
    ['other fields', 'use: each', 'use: each, fields: [location-city]'],
  ])(
    'and %s before: an unreadable record may be any of the former postings, so none is deleted',
    async (_, from, to) => {
      await withMirror(
        async (mirror) => {
          const records = ['1', '2', '3'].map((id) => recordOf(id, [BOSTON, CHICAGO]));
          await sync(mirror, ...records);
          const before = await mirror.sandbox.inspect.jobs();
          await configure(mirror, from, to);
          const broken = textOf(records).replace('Nurse 1', 'Nurse \\x 1');
          await syncText(mirror, broken);
          await discard(mirror);
          const end = await syncText(mirror, broken);
          expect(end).toMatchObject({ complete: true, unreadable: 1, deleted: 0 });
          expect(end.held).toBe(end.gone);
          expect(end.gone).toBeGreaterThan(0);
          const ids = (await mirror.sandbox.inspect.jobs()).map(({ id }) => id);
          expect(ids).toEqual(expect.arrayContaining(before.map(({ id }) => id)));
        },
        { feed: { places: `{ path: places, ${from} }` } },
      );
    },
  );

  /** Random feeds: after each pull the site has exactly what the feed, and what could not be read of it, want. */
  itInAll.each(spread([1, 2, 3], 0, 3))('and random versions of a feed, seed %i', async (seed) => {
    await withMirror(async (mirror) => {
      const random = randomOf(seed);
      const cities = ['Boston', 'Salem', 'Lynn', 'Quincy'];
      let expected = new Set<string>();
      for (let pull = 0; pull < 14; pull++) {
        const next = new Set<string>();
        let isIncomplete = false;
        const lines = ['1', '2', '3'].flatMap((id): string[] => {
          const former = [...expected].filter((job) => job.startsWith(`${id} `));
          const keep = () => former.forEach((job) => void next.add(job));
          if (random.chance(15)) return [];
          const places: Place[] = cities.filter(() => random.chance(50)).map((city) => ({ city, state: 'MA' }));
          if (random.chance(50)) places.reverse();
          for (const { city } of places) next.add(`${id} ${city}`);
          if (places.length === 0 || random.chance(15)) {
            places.push({ city: 'Anywhere', state: random.pick(['Nowhere', 'Elsewhere']) });
            keep();
          }
          const text = JSON.stringify(recordOf(id, places, `Nurse ${random.pick(['a', 'b'])}`));
          if (random.chance(85)) return [text];
          isIncomplete = true;
          for (const { city } of places) if (!former.includes(`${id} ${city}`)) next.delete(`${id} ${city}`);
          keep();
          return [text.replace('Nurse', 'Nurse \\x')];
        });
        const isCut = random.chance(15);
        if (isIncomplete || isCut) for (const job of expected) next.add(job);
        const report = await syncText(
          mirror,
          `{"jobs":[${[...lines, JSON.stringify(OTHER)].join(',')}${isCut ? '' : ']}'}`,
        );
        expect(report.complete).toBe(!isIncomplete && !isCut);
        expected = next;
        expect(await jobsOf(mirror), `pull ${pull}`).toEqual([...expected, '9 Boston'].sort());
      }
    });
  });
});
