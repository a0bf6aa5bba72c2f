// One posting for each place of a record: whatever state a place is in and whatever happens to its record, no job is made twice, lost
// or wrongly deleted, and the counts add up.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FeedName } from '../../src/posting/identifiers.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { approveChanges, discardEntries } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { runProgram } from '../cli/run-program.ts';
import { firstOf, leavesOut } from '../support/extent.ts';
import { FAST_TIMING } from '../support/fast-timing.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { checkCounts } from './laws.ts';
import { randomOf } from './random.ts';

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
  return checkCounts(await mirror.sync());
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
const discard = async (mirror: Mirror, ids: readonly number[] = []) => {
  const { db } = await mirror.app();
  await db.transaction(async (tx) =>
    discardEntries(tx, ids.length === 0 ? await selectedIds(tx, { feed: ACME }) : ids, 'a person'),
  );
};

/** A state that the place Chicago of a record is in, while Boston is live. */
interface State {
  /** Whether the site has its job. */
  readonly made?: true;
  /** Whether a person has to say what became of its create. */
  readonly stuck?: true;
  readonly street?: string;
}
const STATES = {
  live: { made: true },
  rejected: { street: 'none' },
  failed: {},
  discarded: {},
  'in doubt, made': { made: true, stuck: true },
  'in doubt, not made': { stuck: true },
  edited: { made: true, street: 'none' },
} as const satisfies Readonly<Record<string, State>>;
type StateName = keyof typeof STATES;

/** What happens to a record, or to the whole feed. */
interface Event {
  readonly name: string;
  /** The record afterwards. */
  readonly record?: (id: string, chicago: Place) => Rec;
  /** Whether its job may be deleted, and which other job there is afterwards. */
  readonly removed?: true;
  readonly added?: string;
}

/** One record: the state of its place, and what happens to it. */
interface Case extends State {
  readonly id: string;
  readonly state: StateName;
  readonly event: Event;
  readonly chicago: Place;
}

const UNCLEAR = { city: 'Chicago Springfield', state: 'Nowhere' };
const MANY = Array.from({ length: 1_001 }, (_, at) => ({ city: `City ${at}`, state: 'MA' }));
const both = ({ id, chicago }: Case) => recordOf(id, [BOSTON, chicago]);
const after = (each: Case) => each.event.record?.(each.id, each.chicago) ?? both(each);

/** Events that can happen to records of one feed at the same time, and what is expected meanwhile. */
interface Group {
  readonly events: readonly Event[];
  readonly run: (mirror: Mirror, cases: readonly Case[]) => Promise<void>;
}
const GROUPS: readonly Group[] = [
  {
    events: [
      {
        name: 'another place is added',
        record: (id, chicago) => recordOf(id, [DENVER, BOSTON, chicago]),
        added: 'Denver',
      },
      { name: 'the place is removed', record: (id) => recordOf(id, [BOSTON]), removed: true },
      { name: 'the places are reordered', record: (id, chicago) => recordOf(id, [chicago, BOSTON]) },
      { name: 'a place is repeated', record: (id, chicago) => recordOf(id, [BOSTON, chicago, BOSTON, chicago]) },
      { name: 'its places can not be read', record: (id) => recordOf(id, [BOSTON, UNCLEAR]) },
    ],
    async run(mirror, cases) {
      const { db } = await mirror.app();
      const kept = cases.filter(({ event }) => event.removed === undefined).map(({ id }) => id);
      for (let pull = 0; pull < 3; pull++) {
        expect(await sync(mirror, ...cases.map(after), OTHER)).toMatchObject({ complete: true });
        const missing = await db.query(
          `select key from mapping where missing_pulls > 0 and split_part(key, '|', 1) = any($1::text[])
           union all select key from change where gone and split_part(key, '|', 1) = any($1::text[])`,
          [kept],
        );
        expect(missing).toEqual([]);
      }
    },
  },
  {
    events: [
      { name: 'the record can not be read' },
      { name: 'it has too many places', record: (id) => recordOf(id, MANY) },
    ],
    async run(mirror, cases) {
      const broken = cases
        .filter(({ event }) => event.record === undefined)
        .reduce(
          (text, { id }) => text.replace(`"Nurse ${id}"`, `"Nurse \\x ${id}"`),
          textOf([...cases.map(after), OTHER]),
        );
      const expected = { unreadable: cases.length, seen: cases.length + 1, deleted: 0, gone: 0 };
      for (let pull = 0; pull < 2; pull++)
        expect(await syncText(mirror, broken)).toMatchObject({ complete: false, ...expected });
      // A person who sets the record aside does not give up its jobs.
      await discard(mirror);
      expect(await syncText(mirror, broken)).toMatchObject({ complete: true, ...expected });
    },
  },
  {
    events: [{ name: 'the feed is cut before the place, and then the mapping changes' }],
    async run(mirror, cases) {
      for (const last of cases) {
        const others = cases.filter((each) => each !== last);
        const text = textOf([OTHER, ...others.map(both), recordOf(last.id, [BOSTON, DENVER])]);
        const cut = text.slice(0, text.lastIndexOf('"places":'));
        expect(await syncText(mirror, cut)).toMatchObject({ complete: false, deleted: 0, requests: 0 });
      }
      await configure(mirror, 'title: title', 'title: { template: "{title}!" }');
      await sync(mirror, ...cases.map(both), OTHER);
    },
  },
];

/** Brings each place into its state, with one pull for all places of the same state. */
async function bring(mirror: Mirror, cases: readonly Case[]): Promise<void> {
  const reached = new Set<StateName>(['live', 'rejected', 'edited']);
  const pull = () =>
    sync(mirror, ...cases.map((each) => (reached.has(each.state) ? both(each) : recordOf(each.id, [BOSTON]))), OTHER);
  const of = (...states: StateName[]) => cases.filter(({ state }) => states.includes(state));
  const { db, config } = await mirror.app();
  const entriesOf = async (state: StateName): Promise<number[]> => {
    const ids = of(state).map(({ id }) => id);
    const rows = await db.query<{ id: number }>(
      `select id from change where split_part(key, '|', 1) = any($1::text[])`,
      [ids],
    );
    expect(rows).toHaveLength(ids.length);
    return rows.map(({ id }) => id);
  };
  expect(await pull()).toMatchObject({ rejected: of('rejected', 'edited').length });
  for (const id of await entriesOf('edited'))
    expect(await editEntry(db, config, id, { street: '5 Elm' }, { actor: 'a person' })).toMatchObject({
      kind: 'edited',
    });
  if (of('edited').length > 0) expect(await pull()).toMatchObject({ rejected: of('rejected').length });
  const failing = [
    { states: ['failed', 'discarded'], fault: { name: '403' }, counted: 'failed' },
    { states: ['in doubt, made'], fault: { name: '500', made: true }, counted: 'in_doubt' },
    { states: ['in doubt, not made'], fault: { name: '500', made: false }, counted: 'in_doubt' },
  ] as const;
  let doubts = 0;
  for (const { states, fault, counted } of failing) {
    const count = of(...states).length;
    if (count === 0) continue;
    for (const state of states) reached.add(state);
    await mirror.sandbox.setFaults([{ ...fault, on: ['create'], count }]);
    if (counted === 'in_doubt') doubts += count;
    expect(await pull()).toMatchObject({ [counted]: counted === 'in_doubt' ? doubts : count });
    if (states[0] === 'failed' && of('discarded').length > 0) await discard(mirror, await entriesOf('discarded'));
  }
  await mirror.sandbox.setFaults([]);
}

/** Each state with each event. What is live can be lost at each event; `npm test` and CI run a third of the other states with each. */
const casesOf = ({ events }: Group): Case[] =>
  events.flatMap((event, number) =>
    (Object.keys(STATES) as StateName[]).flatMap((state, at) => {
      if (state !== 'live' && leavesOut(at + number, 0, 3)) return [];
      const about: State = STATES[state];
      const chicago = about.street === undefined ? CHICAGO : { ...CHICAGO, street: about.street };
      return [{ ...about, id: `${100 + 10 * number + at}`, state, event, chicago }];
    }),
  );

/** Many requests fail here, and keys come and go, without being what other laws are about. */
const FAILING = { ...PATIENT, canary: '{ requests: 0 }' };
const ALWAYS = { rekey_guard: '{ percent: 100, count: 100 }' };

describe('places in each state', () => {
  it.for(GROUPS.map((group) => [group.events.map(({ name }) => name).join('; '), group] as const))(
    'keep their jobs when %s',
    async ([, group]) => {
      const cases = casesOf(group);
      await withMirror(
        async (mirror) => {
          await bring(mirror, cases);
          const before = await jobsOf(mirror);
          const made = cases.flatMap(({ id, made }) => (made ? [`${id} Chicago`] : []));
          expect(before).toEqual([...cases.map(({ id }) => `${id} Boston`), ...made, '9 Boston'].sort());
          const existing = await mirror.sandbox.inspect.jobs();
          await group.run(mirror, cases);
          const again = await mirror.sync();
          checkCounts(again);
          expect(again.requests, 'quiet when nothing changed').toBe(0);
          const gone = cases.filter(({ event, stuck }) => event.removed && !stuck).map(({ id }) => `${id} Chicago`);
          const added = cases.flatMap(({ id, event }) => (event.added === undefined ? [] : [`${id} ${event.added}`]));
          const now = await jobsOf(mirror);
          expect(now).toEqual(expect.arrayContaining([...before.filter((job) => !gone.includes(job)), ...added]));
          for (const job of gone) expect(now).not.toContain(job);
          // No job was deleted and made again.
          const ids = new Set((await mirror.sandbox.inspect.jobs()).map(({ id }) => id));
          const lost = existing.filter(({ id }) => !ids.has(id));
          const lostPlaces = lost.map(({ fields }) => `${fields.number} ${fields['location-city']}`);
          expect(lostPlaces.sort()).toEqual(gone.filter((job) => made.includes(job)).sort());
          // Once the source sends both places in good order again, both are on the site, and nothing else of the record.
          const healed = cases.map(({ id }) => recordOf(id, [BOSTON, CHICAGO], 'Nurse, healed'));
          expect(await sync(mirror, ...healed, OTHER)).toMatchObject({
            complete: true,
            unreadable: 0,
            rejected: 0,
            failed: 0,
            in_doubt: cases.filter(({ stuck }) => stuck).length,
          });
          const resolved = cases.filter(({ state }) => state !== 'in doubt, not made').map(({ id }) => `${id} Chicago`);
          expect(await jobsOf(mirror)).toEqual(
            [...cases.map(({ id }) => `${id} Boston`), ...resolved, '9 Boston'].sort(),
          );
        },
        { site: FAILING, feed: ALWAYS },
      );
    },
  );
});

describe('a record with several places', { concurrent: true }, () => {
  it('is not parsed while it stays the same, and is counted once for each place', async () => {
    await withMirror(async (mirror) => {
      const first = recordOf('1', [BOSTON, CHICAGO, DENVER]);
      expect(await sync(mirror, first, OTHER)).toMatchObject({ seen: 4, created: 4, requests: 4 });
      const { db } = await mirror.app();
      const rows = () =>
        db.query<{ key: string }>(
          'select key, record_hash, content_hash, missing_pulls, xmin::text from mapping order by key',
        );
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
      for (const key of firstOf(['1|boston, ma', '1|chicago, il', '1|denver, co'], 1)) {
        await sync(mirror, first, OTHER);
        const [row] = await mirror.query(`delete from mapping where key = $1 returning site_job_id as id`, [key]);
        await mirror.query('delete from document where key = $1', [key]);
        expect(row).toBeDefined();
        expect(await sync(mirror, first, OTHER)).toMatchObject({ seen: 4, unchanged: 3, created: 1, requests: 1 });
      }
    });
  });

  it('keeps its keys and jobs when a place is written in another way', { tags: 'slow' }, async () => {
    await withMirror(async (mirror) => {
      await sync(mirror, recordOf('1', [{ city: 'San José', state: 'CA' }, CHICAGO]), OTHER);
      const ids = async () => (await mirror.sandbox.inspect.jobs()).map(({ id }) => id).sort();
      const before = await ids();
      const written = recordOf('1', [CHICAGO, { city: ' san  jose', state: 'California' }]);
      expect(await sync(mirror, written, OTHER)).toMatchObject({ created: 0, deleted: 0, updated: 1 });
      expect(await ids()).toEqual(before);
    });
  });

  it('never shares a key with another record', { tags: 'slow' }, async () => {
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

  it('and the key of another one: a repeated place is a duplicate, the others are postings', {
    tags: 'slow',
  }, async () => {
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
        await db.transaction(async (tx) => approveChanges(tx, await selectedIds(tx, { feed: ACME }), 'a person'));
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

  it('when the setting changes, the keys change: nothing is sent until a person has bound the certain pairs', {
    tags: 'slow',
  }, async () => {
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
  });

  const before = [
    ['first', 'use: first', 'use: each'],
    ['other fields', 'use: each', 'use: each, fields: [location-city]'],
  ] as const;
  it.each(firstOf(before, 1))(
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
  it.each([1, 2, 3])('and random versions of a feed, seed %i', { tags: 'slow' }, async (seed) => {
    await withMirror(
      async (mirror) => {
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
      },
      { feed: ALWAYS },
    );
  });
});
