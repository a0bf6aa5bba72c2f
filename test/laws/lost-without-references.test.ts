// A lost database, and a site that shows no references: what `mappings adopt` calls sure or unsure is not created a second time.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { type ForgetfulSite, loseMappings, openForgetfulSite } from '../support/forgetful-site.ts';
import { makeJob } from '../support/hand-made-jobs.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let site: ForgetfulSite;
afterEach(async () => {
  await mirror?.close();
  await site?.proxy.close();
});

const TITLES = ['Driver (CDL-A)', 'Data-entry clerk', 'RN - ICU (nights)', 'Registered Nurse', 'Fork_lift operator'];
const CITIES = ['Boston', 'Worcester', 'Lowell'];

/** Each with a text of its own; titles and places are shared by some. */
const list = (count: number): TestPosting[] =>
  Array.from({ length: count }, (_, at) =>
    posting(`k-${at + 1}`, {
      title: TITLES[at % TITLES.length] as string,
      city: CITIES[at % CITIES.length] as string,
      description: `<p>You work in <b>team ${at + 1}</b> with ${3 + at} others, on floor ${at + 2}.</p>`,
    }),
  );

async function open(options: MirrorOptions['site'] = {}): Promise<void> {
  site = await openForgetfulSite();
  mirror = await openMirror({ searched: true, site: { base_url: site.proxy.url, ...options } });
  site.proxy.target = mirror.sandbox.url;
}

const TEXT =
  'We are looking for a nurse with five years of experience who will work in the emergency room of our hospital and ' +
  'support patients and doctors during the night shift every week.';

const run = (...args: readonly string[]) => runProgram(mirror, ...args);
const count = () => mirror.sandbox.inspect.count();
const waiting = async () =>
  mirror.query<{ id: number; key: string; found: string; text: string; candidates: string[] }>(
    `select id, key, found_job_id as found, reason->>'message' as text, reason->'candidates' as candidates from change
     where state = 'in_doubt' order by id`,
  );
/** Job of each posting, by what the site stored for it. */
const ownJobs = async () =>
  new Map((await mirror.sandbox.inspect.jobs()).map(({ id, fields }) => [fields['contact-web-address'] ?? '', id]));
const addressOf = (key: string) => `https://jobs.example.com/${key}`;

const SITES: readonly (readonly [string, MirrorOptions['site']])[] = [
  ['without reference_field', { reference_field: undefined }],
  ['that drops the reference', {}],
];

describe.each(SITES)('a site %s', (_name, settings) => {
  it('gets no second job of any posting, and people can decide about each', async () => {
    await open(settings);
    expect(await mirror.syncOf(list(20))).toMatchObject({ created: 20, in_doubt: 0 });
    const jobs = await ownJobs();
    await loseMappings(mirror);
    await mirror.writeFeed(
      feedXml([
        ...list(20),
        posting('new', { title: 'Baker', city: 'Salem', state: 'OR', description: '<p>Bread, rolls and cakes.</p>' }),
      ]),
    );
    const report = await mirror.sync();
    expect(report).toMatchObject({ created: 1, in_doubt: 20 });
    expect(report.message).toContain('jobmirror mappings adopt acme');
    expect(report.message).not.toContain('jobmirror recover');
    expect(await count()).toBe(21);
    for (const { key, text, candidates } of await waiting()) {
      expect(candidates, key).toContain(jobs.get(addressOf(key)));
      expect(text, key).toMatch(/ same (title|text)/);
    }
    await mirror.stopEngine();
    await run('mappings', 'adopt', 'acme', '--sure');
    for (const { id, key } of await waiting()) {
      await mirror.stopEngine();
      const settled = await run('review', 'settle', String(id), '--exists', String(jobs.get(addressOf(key))));
      expect(settled.status, settled.out).toBe(0);
    }
    await mirror.stopEngine();
    await writeFile(
      join(mirror.folder, 'feed.xml'),
      feedXml([
        ...list(20),
        posting('new', { title: 'Baker', city: 'Salem', state: 'OR', description: '<p>Bread, rolls and cakes.</p>' }),
      ]),
    );
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 0, in_doubt: 0 });
    expect(await count()).toBe(21);
    expect((await ownJobs()).size).toBe(21);
  });

  it('has its certain jobs adopted by settle --found', async () => {
    await open(settings);
    await mirror.syncOf(list(6));
    await loseMappings(mirror);
    expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 6 });
    await mirror.stopEngine();
    const settled = await run('review', 'settle', 'acme', '--found', '--yes');
    expect(settled.out + settled.out).toContain('adopted');
    expect((await waiting()).length).toBeLessThan(6);
    const mapped = await mirror.query<{ key: string; id: string }>('select key, site_job_id as id from mapping');
    const jobs = await ownJobs();
    for (const { key, id } of mapped) expect(id, key).toBe(jobs.get(addressOf(key)));
    expect(await count()).toBe(6);
  });
});

it('compares later postings too, and creates those that only resemble jobs that are certainly others’', async () => {
  await open({ reference_field: undefined });
  await mirror.syncOf(list(8));
  await loseMappings(mirror);
  // The first pull sees half of them.
  expect(await mirror.syncOf(list(4))).toMatchObject({ created: 0, in_doubt: 4 });
  expect(await mirror.syncOf(list(8))).toMatchObject({ created: 0, in_doubt: 8 });
  expect(await count()).toBe(8);
});

it('lets other users’ jobs with the same titles wait for nobody', async () => {
  await open({ reference_field: undefined });
  for (let at = 0; at < 5; at++)
    await makeJob(mirror, {
      title: TITLES[at] as string,
      'category-name': 'Other',
      description: `<p>Another employer, number ${at}, with quite another text about the place and its people.</p>`,
      'location-city': CITIES[at % 3] as string,
      'location-state': 'Massachusetts',
      'contact-web-address': `https://other-employer.example.net/jobs/${at}`,
    });
  expect(await mirror.syncOf(list(5))).toMatchObject({ status: 'mirrored', created: 5, in_doubt: 0 });
});

it('keeps the jobs of two feeds of one site apart', async () => {
  await open({ reference_field: undefined });
  const text = await readFile(mirror.configPath, 'utf8');
  await writeFile(mirror.configPath, `${text}  bravo:\n    site: board\n    source: bravo.xml\n    format: indeed\n`);
  const bravo = list(10).slice(5);
  await mirror.writeFeed(feedXml(list(5)));
  await writeFile(join(mirror.folder, 'bravo.xml'), feedXml(bravo));
  expect(await mirror.sync('acme')).toMatchObject({ created: 5 });
  expect(await mirror.sync('bravo')).toMatchObject({ created: 5 });
  const jobs = await ownJobs();
  await loseMappings(mirror);
  expect(await mirror.sync('acme')).toMatchObject({ created: 0, in_doubt: 5 });
  expect(await mirror.sync('bravo')).toMatchObject({ created: 0, in_doubt: 5 });
  expect(await count()).toBe(10);
  for (const { key, candidates } of await waiting()) expect(candidates, key).toContain(jobs.get(addressOf(key)));
});

it('compares with jobs whose reference the site began to drop', async () => {
  await open();
  const dropped = new Set<string>();
  site.drops = (id) => dropped.has(id);
  await mirror.syncOf(list(4));
  for (const id of (await ownJobs()).values()) dropped.add(id);
  expect(await mirror.syncOf(list(10))).toMatchObject({ created: 6 });
  await loseMappings(mirror);
  expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 10 });
  expect(await count()).toBe(10);
});

it('lets a person say that the site has none of the feed’s jobs', async () => {
  await open({ reference_field: undefined });
  for (const number of [1, 2]) {
    const place = { 'location-city': 'Boston', 'location-state': 'Massachusetts' };
    await makeJob(mirror, {
      title: 'Nurse',
      ...place,
      description: `<p>Another text about nurses, number ${number}.</p>`,
    });
  }
  const feed = ['a', 'b', 'c'].map((key) => posting(key, { title: 'Nurse' }));
  expect(await mirror.syncOf(feed)).toMatchObject({ created: 0, in_doubt: 3 });
  await mirror.stopEngine();
  expect((await run('feeds', 'new', 'acme')).out).toContain('3 creates that only resembled jobs');
  await mirror.writeFeed(feedXml([...feed, posting('d', { title: 'Nurse' })]));
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', in_doubt: 0 });
  expect(await count()).toBe(6);
});

it('creates what resembled a job that another posting got', async () => {
  await open({ reference_field: undefined });
  const twins = ['a', 'b'].map((key) => posting(key, { title: 'Nurse', description: `<p>Work on ward ${key}</p>` }));
  await mirror.syncOf(twins.slice(0, 1));
  const [made] = (await ownJobs()).values();
  site.proxy.edit = (_path, _method, answer) => ({
    ...answer,
    body: answer.body.replace(/<(description|contact-web-address)[^>]*>[\s\S]*?<\/\1>/g, ''),
  });
  await loseMappings(mirror);
  expect(await mirror.syncOf(twins)).toMatchObject({ created: 0, in_doubt: 2 });
  const entry = (await waiting()).find(({ key }) => key === 'a');
  await mirror.stopEngine();
  const settled = await run('review', 'settle', String(entry?.id), '--exists', String(made));
  expect(settled.status, settled.out).toBe(0);
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', in_doubt: 0 });
  expect(await count()).toBe(2);
});

it('asks no more once a person has said that the found jobs are others', async () => {
  await open({ reference_field: undefined });
  await mirror.syncOf(list(2));
  await loseMappings(mirror);
  expect(await mirror.sync()).toMatchObject({ in_doubt: 2 });
  for (const { id } of await waiting()) {
    await mirror.stopEngine();
    expect((await run('review', 'settle', String(id), '--missing')).status).toBe(0);
  }
  expect(await mirror.sync()).toMatchObject({ in_doubt: 0 });
  expect(await count()).toBe(4);
});

it.each([
  ['an edited text', { description: TEXT.replace('week', 'day') }],
  ['a text edited at its beginning', { description: `Join us. ${TEXT}` }],
  ['nothing but the place', {}],
] as const)('creates no second job where the site has rewritten the title and shows %s', async (_name, shown) => {
  await open({ reference_field: undefined });
  await makeJob(mirror, {
    title: 'Offer 4711',
    'location-city': 'Boston',
    'location-state': 'Massachusetts',
    ...shown,
  });
  expect(await mirror.syncOf([posting('a', { description: TEXT })])).toMatchObject({ created: 0, in_doubt: 1 });
  expect(await count()).toBe(1);
});

it('compares by the types that the site states', async () => {
  await open({ reference_field: undefined });
  site.proxy.edit = (_path, _method, answer) => ({
    ...answer,
    body: answer.body
      .replace(/<remote[^>]*>yes</g, '<remote type="boolean">true<')
      .replace(/<pay[^>]*>1,500</g, '<pay type="decimal">1500.0<'),
  });
  await writeFile(
    mirror.configPath,
    (await readFile(mirror.configPath, 'utf8')).replace(
      'format: indeed',
      'format: indeed\n    fields: { remote: { value: "yes" }, pay: { value: "1,500" } }',
    ),
  );
  expect(await mirror.syncOf(list(3))).toMatchObject({ created: 3 });
  await loseMappings(mirror);
  await mirror.stopEngine();
  const adopted = await run('mappings', 'adopt', 'acme', '--sure');
  expect(adopted.status, adopted.out).toBe(0);
  expect(await mirror.query('select from mapping')).toHaveLength(3);
  expect(await count()).toBe(3);
});
