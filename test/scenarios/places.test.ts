// A posting in several places, as each setting of `places` mirrors it.
// @module-tag slow
import { writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { checkCounts } from '../laws/laws.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

type Place = readonly [city: string, state: string];
const BOSTON: Place = ['Boston', 'MA'];
const CHICAGO: Place = ['Chicago', 'IL'];
const DENVER: Place = ['Denver', 'CO'];
const TORONTO: Place = ['Toronto', 'Ontario'];

const FORMAT = [
  '{ type: json, records: jobs, key: id, fields: {',
  'number: id, title: title, description: text, category-name: { value: Health }, contact-web-address: url,',
  'location-city: places/city, location-state: { from: places/state, as: us_state } } }',
].join(' ');

const record = (id: string, ...places: readonly Place[]) => ({
  id,
  title: `Nurse ${id}`,
  text: `<p>Work ${id}</p>`,
  url: `https://jobs.example.com/${id}`,
  places: places.map(([city, state]) => ({ city, state })),
});

const open = async (places: string): Promise<void> => {
  mirror = await openMirror({ feed: { source: 'feed.json', format: FORMAT, places } });
};

async function sync(...records: readonly ReturnType<typeof record>[]) {
  await writeFile(`${mirror.folder}/feed.json`, JSON.stringify({ jobs: records }));
  return checkCounts(await mirror.sync());
}

const citiesOnSite = async () =>
  (await mirror.sandbox.inspect.jobs()).map(({ fields }) => `${fields.number} ${fields['location-city']}`).sort();

describe('first', () => {
  it('says that a list changes its order, and takes the same place if it is named unordered', async () => {
    await open('{ path: places, use: first }');
    const orders = [
      [BOSTON, CHICAGO],
      [CHICAGO, BOSTON],
      [BOSTON, CHICAGO],
      [CHICAGO, BOSTON],
    ] as const;
    for (const places of orders)
      expect(await sync(record('1', ...places), record('2', DENVER))).not.toHaveProperty('message');
    const { updated, message } = await sync(record('1', BOSTON, CHICAGO), record('2', DENVER));
    expect([updated, message]).toEqual([
      1,
      '1 of 1 update set location-city, location-state to what it was at least twice before, such as that of posting 1: the source seems to send a list in changing order, or older copies of the feed in turn; if the field is read from a list, name its path in the setting unordered of the feed; if a cache keeps old copies, have it send none, and until then set delete_guard: { missing_pulls: 2 }',
    ]);
    await mirror.configure('places: {', 'unordered: places\n    places: {');
    for (const places of orders) {
      expect(await sync(record('1', ...places), record('2', DENVER))).toMatchObject({ updated: 0, unchanged: 2 });
    }
    expect(await citiesOnSite()).toEqual(['1 Boston', '2 Denver']);
  });

  it('says that a key has several records, which no setting sorts', async () => {
    await open('{ path: places, use: first }');
    for (const place of [BOSTON, CHICAGO, BOSTON, CHICAGO]) await sync(record('1', place), record('1', DENVER));
    expect((await sync(record('1', BOSTON), record('1', DENVER))).message).toMatch(
      /such as that of posting 1: the feed has several different records with its key/,
    );
  });

  it('mirrors the first place that the site accepts, and follows it', async () => {
    await open('{ path: places, use: first }');
    expect(await sync(record('1', TORONTO, BOSTON, CHICAGO), record('2', TORONTO))).toMatchObject({
      created: 1,
      rejected: 1,
    });
    expect(await citiesOnSite()).toEqual(['1 Boston']);
    expect(await sync(record('1', TORONTO, CHICAGO, DENVER), record('2', TORONTO))).toMatchObject({ updated: 1 });
    expect(await citiesOnSite()).toEqual(['1 Chicago']);
    // The places behind the first one do not matter.
    expect(await sync(record('1', TORONTO, CHICAGO), record('2', TORONTO))).toMatchObject({
      unchanged: 1,
      requests: 0,
    });
  });
});

describe('review', () => {
  it('asks once; the choice holds until the places change', async () => {
    await open('{ path: places, use: review }');
    expect(await sync(record('1', BOSTON, CHICAGO), record('2', DENVER))).toMatchObject({ created: 1, rejected: 1 });
    const [entry] = (await runProgram(mirror, 'review', 'list', '--json')).json<{ id: number; reason: string }>();
    expect(entry?.reason).toContain('(Boston; Chicago)');
    const edit = ['review', 'edit', String(entry?.id), '--set', 'location-city=Chicago', '--set', 'location-state=IL'];
    expect((await runProgram(mirror, ...edit)).status).toBe(0);
    expect(await citiesOnSite()).toEqual(['1 Chicago', '2 Denver']);
    const same = record('1', BOSTON, CHICAGO);
    expect(await sync({ ...same, title: 'Another title' }, record('2', DENVER))).toMatchObject({
      updated: 1,
      rejected: 0,
    });
    expect(await citiesOnSite()).toEqual(['1 Chicago', '2 Denver']);
    // Other places: the job stays as it is, and a person is asked again.
    expect(await sync(record('1', BOSTON, DENVER), record('2', DENVER))).toMatchObject({ rejected: 1, requests: 0 });
    expect(await citiesOnSite()).toEqual(['1 Chicago', '2 Denver']);
    expect(await sync(record('1', BOSTON), record('2', DENVER))).toMatchObject({ updated: 1, rejected: 0 });
    expect(await citiesOnSite()).toEqual(['1 Boston', '2 Denver']);
  });

  it('changed to first, sends what waited', async () => {
    await open('{ path: places, use: review }');
    expect(await sync(record('1', BOSTON, CHICAGO))).toMatchObject({ rejected: 1 });
    await mirror.configure('use: review', 'use: first');
    expect(await sync(record('1', BOSTON, CHICAGO))).toMatchObject({ created: 1, rejected: 0 });
    expect(await citiesOnSite()).toEqual(['1 Boston']);
  });
});
