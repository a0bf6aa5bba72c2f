// What a site shows after our own accepted writes is its form of our values: nothing is found or sent because of it, and every edit by
// hand is found.
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { openRewritingSite, type RewritingSite } from '../support/rewriting-site.ts';

const FIELDS = [
  'number',
  'title',
  'category-name',
  'description',
  'location-city',
  'location-state',
  'contact-web-address',
  'salary',
  'starts-at',
  'remote',
  'openings',
] as const;
type Posting = Readonly<Record<(typeof FIELDS)[number], string>>;

const FORMAT = `{ type: json, records: jobs, key: number, fields: { ${FIELDS.map((name) => `${name}: ${name}`).join(', ')} } }`;
const TITLES = ['Driver (CDL-A)', 'Data-entry clerk', 'RN, night shift', 'iOS developer', 'Nurse'];

const posting = (at: number, changes: Partial<Posting> = {}): Posting => ({
  number: `p${at}`,
  title: `${TITLES[at % TITLES.length]} ${at}`,
  'category-name': 'Health and social care',
  description: `<p onclick="go()">Work  ${at} &amp; more</p>\n<p>Apply ${at}</p>`,
  'location-city': 'Boston',
  'location-state': 'Massachusetts',
  'contact-web-address': `https://jobs.example.com/p${at}`,
  salary: `${20 + at}.50`,
  'starts-at': `2027-01-${String(1 + (at % 28)).padStart(2, '0')}T12:00:00Z`,
  remote: String(at % 2),
  openings: `00${1 + (at % 3)}`,
  ...changes,
});
const postings = (count: number) => Array.from({ length: count }, (_, at) => posting(at + 1));

let mirror: Mirror;
let site: RewritingSite;
afterEach(async () => {
  await mirror?.close();
  await site?.close();
});

async function open({ feed, site: settings, ...options }: MirrorOptions = {}): Promise<void> {
  site = await openRewritingSite();
  mirror = await openMirror({
    ...options,
    site: { base_url: site.url, ...settings },
    feed: { format: FORMAT, delete_guard: '{ percent: 100, count: 100 }', ...feed },
  });
}

async function pull(list: readonly Posting[]) {
  await mirror.writeFeed(JSON.stringify({ jobs: list }));
  return mirror.sync();
}

async function mirrored(list: readonly Posting[], options?: MirrorOptions): Promise<void> {
  await open(options);
  expect(await pull(list)).toMatchObject({ created: list.length, in_doubt: 0, failed: 0 });
  site.asked.splice(0);
}

/** Runs a command on this installation, which must not be open meanwhile. */
async function run(...args: readonly string[]) {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
}

async function verify(...args: readonly string[]) {
  const { json } = await run('verify', 'acme', '--json', ...args);
  const lines = json();
  const counts = lines.find(({ finding }) => finding === undefined) as Record<string, unknown>;
  const found = lines.filter(({ finding }) => finding !== undefined);
  return { counts, found: found.map(({ key, finding }) => `${finding} ${key}`).sort() };
}

const writes = () => site.asked.splice(0).filter((line) => !line.startsWith('GET'));
const rows = async (sql: string): Promise<Record<string, unknown>[]> => mirror.query(sql);
async function idOf(key: string): Promise<string> {
  const [row] = await rows(`select site_job_id as id from mapping where key = '${key}'`);
  return String(row?.id);
}

/** One edit by hand of each kind. */
async function editByHand(): Promise<string[]> {
  const edits: Record<string, Record<string, string>> = {
    p1: { title: 'DRIVER (CDL A) 1' },
    p2: { description: '<div>Written by hand</div>' },
    p3: { salary: '11.5' },
    p4: { 'starts-at': '2027-01-05T12:00:00-10:00' },
    p5: { 'category-name': 'Health an' },
    p6: { remote: 'true' },
    p7: { openings: '7' },
    p8: { description: '' },
  };
  for (const [key, fields] of Object.entries(edits)) site.edit(await idOf(key), fields);
  return Object.keys(edits).map((key) => `changed ${key}`);
}

describe.each([10, 20])('%i jobs of a site that rewrites almost all values', (count) => {
  it('are as sent right after their creates, and every edit by hand is found and set right once', async () => {
    await mirrored(postings(count));
    expect(await verify()).toEqual({ counts: expect.objectContaining({ same: count, hidden: {} }), found: [] });
    expect(await verify('--each')).toMatchObject({ counts: { same: count, hidden: {} }, found: [] });
    const edited = await editByHand();
    expect((await verify()).found).toEqual(edited);
    expect((await verify('--each', '--repair')).found).toEqual(edited);
    expect(writes()).toEqual([]);
    await mirror.sync();
    expect(writes()).toHaveLength(edited.length);
    for (let round = 0; round < 2; round++) {
      expect(await verify('--repair')).toMatchObject({ counts: { same: count, marked: 0, hidden: {} }, found: [] });
      await mirror.sync();
      expect(writes()).toEqual([]);
    }
    site.edit(await idOf('p2'), { description: '<div>Written by hand</div>' });
    expect((await verify()).found).toEqual(['changed p2']);
  });
});

describe.each([
  ['shows the job', true],
  ['shows nothing', false],
])('a site whose answer to an update %s', (_, showsUpdates) => {
  it('is compared with what it shows after its jobs were updated', async () => {
    const list = postings(6);
    await mirrored(list);
    site.showsUpdates = showsUpdates;
    const updated = list.map((each) => ({
      ...each,
      title: each.title.replace('a', 'A-b'),
      salary: `${each.salary}0`,
      'category-name': 'Farming and fishing',
    }));
    expect(await pull(updated)).toMatchObject({ updated: 6 });
    const shows = site.asked.splice(0).filter((line) => line.startsWith('GET'));
    expect(shows).toHaveLength(showsUpdates ? 0 : 6);
    for (let round = 0; round < 2; round++) {
      expect((await verify('--repair')).found).toEqual([]);
      await mirror.sync();
      expect(writes()).toEqual([]);
    }
    // What was not sent in the update is compared with what the create showed.
    site.edit(await idOf('p1'), { description: 'By hand' });
    expect((await verify()).found).toEqual(['changed p1']);
  });
});

it('a repair that the site ignores ends', async () => {
  await mirrored(postings(3));
  site.columns.description = { store: () => 'Please call us' };
  site.edit(await idOf('p1'), { description: 'Please call us' });
  expect((await verify('--repair')).found).toEqual(['changed p1']);
  await mirror.sync();
  expect(writes()).toHaveLength(1);
  expect((await verify('--repair')).found).toEqual([]);
  await mirror.sync();
  expect(writes()).toEqual([]);
});

it('jobs of which nothing is known yet are counted, and a repair sends them once', async () => {
  await mirrored(postings(20));
  await rows('update document set shown = null');
  const { counts, found } = await verify();
  expect(counts).toMatchObject({ hidden: { description: 20 } });
  site.edit(await idOf('p2'), { description: 'By hand' });
  expect((await verify()).found).toEqual(found);
  const { found: differing, counts: marked } = await verify('--repair');
  expect(differing.length + Number(marked.to_compare)).toBe(20);
  await mirror.sync();
  expect(writes()).toHaveLength(20);
  expect(await verify('--repair')).toMatchObject({ counts: { same: 20, hidden: {} }, found: [] });
  site.edit(await idOf('p3'), { description: 'By hand' });
  expect((await verify()).found).toEqual(['changed p3']);
});

it('a create in doubt that is found on the site is not written again', async () => {
  await open();
  site.columns.title = {};
  site.columns.description = {};
  site.columns['category-name'] = {};
  site.failing = 3;
  expect(await pull(postings(3))).toMatchObject({ created: 3, in_doubt: 0 });
  expect(writes()).toEqual(['POST /jobs.xml', 'POST /jobs.xml', 'POST /jobs.xml']);
  expect(await verify()).toMatchObject({ counts: { same: 3 }, found: [] });
});

it('after a lost database all jobs are adopted, and nothing is sent', async () => {
  const list = postings(20);
  await mirrored(list);
  for (const [id, fields] of site.jobs) {
    const own = list.find(({ number }) => number === fields.number) as Posting;
    const { title, description, 'category-name': category } = own;
    site.jobs.set(id, { ...fields, title, description, 'category-name': category });
  }
  await rows('truncate mapping, document, change, value_rewrite, request');
  const { out } = await run('mappings', 'adopt', 'acme', '--sure');
  expect(out).toMatch(/20 /);
  expect(await rows('select from mapping')).toHaveLength(20);
  expect(await mirror.sync()).toMatchObject({ unchanged: 20, updated: 0 });
  expect(writes()).toEqual([]);
  site.edit(await idOf('p1'), { salary: '9.25' });
  expect((await verify()).found).toEqual(['changed p1']);
});

it('a feed that is recovered sends only what the database had lost, once', async () => {
  await mirrored(postings(10));
  const [lost] = await rows(`delete from mapping where key = 'p3' returning site_job_id as id`);
  await rows(`delete from document where key = 'p3'`);
  await run('recover', 'acme', '--yes');
  await mirror.sync();
  // Its title, text and category are not what the site makes of other values in a way that could be told.
  expect(writes()).toEqual([`PUT /jobs/${lost?.id}.xml`]);
  for (let round = 0; round < 2; round++) {
    await run('recover', 'acme', '--yes');
    await mirror.sync();
    expect(writes()).toEqual([]);
  }
  expect(await verify()).toMatchObject({ counts: { same: 10, hidden: {} }, found: [] });
});

it('a feed that is recovered from a backup sends nothing', async () => {
  await mirrored(postings(10));
  const file = join(mirror.folder, 'backup');
  expect(await run('backup', file)).toMatchObject({ status: 0 });
  expect(await run('restore', file, '--replace', '--yes')).toMatchObject({ status: 0 });
  await run('recover', 'acme', '--yes');
  await mirror.sync();
  expect(writes()).toEqual([]);
  const edited = await editByHand();
  expect((await verify()).found).toEqual(edited);
});

describe('a field that is left to a site that clears what an update omits', () => {
  const options = { feed: { create_only_fields: '[description]' }, site: { omitted_fields: 'clear' } };
  const update = (list: readonly Posting[]) =>
    pull(list.map((each) => ({ ...each, 'location-city': `${each['location-city']}!` })));

  it('stays empty after a person has emptied it', async () => {
    await mirrored(postings(2), options);
    site.clears = true;
    site.edit(await idOf('p1'), { description: '' });
    const kept = site.jobs.get(await idOf('p2'))?.description;
    expect(await update(postings(2))).toMatchObject({ updated: 2 });
    expect(site.jobs.get(await idOf('p1'))?.description).toBe('');
    expect(site.jobs.get(await idOf('p2'))?.description).toContain(kept?.slice(5, 20));
  });

  it('stays empty even if it is not known what the site showed of this job', async () => {
    await mirrored(postings(2), options);
    await rows('update document set shown = null');
    site.clears = true;
    site.edit(await idOf('p1'), { description: '' });
    expect(await update(postings(2))).toMatchObject({ updated: 2 });
    expect(site.jobs.get(await idOf('p1'))?.description).toBe('');
  });

  it('is sent again if the site never shows it', async () => {
    await open(options);
    site.clears = true;
    site.hidden.add('description');
    expect(await pull(postings(2))).toMatchObject({ created: 2 });
    const kept = site.jobs.get(await idOf('p1'))?.description;
    expect(await update(postings(2))).toMatchObject({ updated: 2 });
    expect(site.jobs.get(await idOf('p1'))?.description).toBe(kept);
  });
});

it('costs 6 bytes for each field that the site rewrites, and none for the others', async () => {
  await mirrored(postings(4));
  const sizes = await rows('select octet_length(shown) as bytes from document order by key');
  // Title (but `Nurse 4`), description and category; times, numbers and truth values mean the same.
  expect(sizes.map(({ bytes }) => bytes)).toEqual([18, 18, 18, 12]);
});
