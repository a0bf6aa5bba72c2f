// A preset is proposed for the feeds of its own system, and no other feed loses fields to one that merely fits.
import { readdirSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { bundledPresets } from '../../src/config/presets.ts';
import { proposeFormat } from '../../src/setup/propose.ts';

const FIXTURES = join(packageRoot, 'test', 'config', 'presets', 'fixtures');

async function proposed(text: string | Buffer, address = 'feed', chosen?: string) {
  const all = await bundledPresets();
  const presets = chosen === undefined ? all : all.filter(({ name }) => name === chosen);
  const request = { bytes: Buffer.from(text), isWhole: true, address, presets, records: undefined, isOwn: false };
  const result = await proposeFormat({ ...request, isChosen: chosen !== undefined });
  if (result.kind === 'refused') throw new Error(result.message);
  return result.proposal;
}

const FIELDS = ['contact-web-address', 'description', 'location-city', 'location-state', 'title'];
const PLAIN = [1, 2, 3, 4].map((at) => ({
  id: 100 + at,
  title: `Nurse ${at}`,
  location: 'Austin, TX',
  description: `Text ${at}`,
  url: `https://e.example/${at}`,
}));
const xml = (jobs: readonly object[], root: string, name: string): string =>
  `<?xml version="1.0"?><${root}>${jobs
    .map(
      (job) =>
        `<${name}>${Object.entries(job)
          .map(([field, text]) => `<${field}>${text}</${field}>`)
          .join('')}</${name}>`,
    )
    .join('')}</${root}>`;
const renamed = (names: Readonly<Record<string, string>>): readonly object[] =>
  PLAIN.map((job) => Object.fromEntries(Object.entries(job).map(([name, value]) => [names[name] ?? name, value])));

it.each([
  ['jobs', JSON.stringify({ jobs: PLAIN })],
  ['data', JSON.stringify({ data: PLAIN })],
  ['items', JSON.stringify({ items: PLAIN })],
  ['offers', JSON.stringify({ offers: PLAIN })],
  ['content', JSON.stringify({ content: PLAIN })],
  ['results', JSON.stringify({ results: PLAIN, total: 4 })],
  ['jobPostings', JSON.stringify({ jobPostings: PLAIN })],
  ['a list alone', JSON.stringify(PLAIN)],
  ['uuid and name', JSON.stringify(renamed({ id: 'uuid', title: 'name' }))],
  [
    'city and state',
    JSON.stringify({ jobs: PLAIN.map(({ location: _, ...job }) => ({ ...job, city: 'Austin', state: 'TX' })) }),
  ],
  ['jobs/job with url', xml(PLAIN, 'jobs', 'job')],
  ['jobs/job with link', xml(renamed({ url: 'link' }), 'jobs', 'job')],
  [
    'jobs/job with city, state, status',
    xml(
      PLAIN.map(({ location: _, ...job }) => ({ ...job, city: 'Austin', state: 'TX', status: 'active' })),
      'jobs',
      'job',
    ),
  ],
  ['source/job', xml(PLAIN, 'source', 'job')],
  ['vacancies/vacancy', xml(PLAIN, 'vacancies', 'vacancy')],
  ['ads/ad', xml(renamed({ description: 'content' }), 'ads', 'ad')],
])('fills every field of a plain feed: %s', async (_what, text) => {
  const { preset, filled, fields } = await proposed(text);
  expect(preset).toBeUndefined();
  expect(filled).toEqual(expect.arrayContaining(FIELDS));
  expect(Object.keys(fields)).toEqual(expect.arrayContaining(FIELDS));
});

it('names the second choice and what each would lose', async () => {
  const { runnerUp } = await proposed(JSON.stringify({ jobs: PLAIN }));
  expect(runnerUp).toMatchObject({
    postings: 4,
    records: 4,
    gains: [],
    losses: expect.arrayContaining(['description', 'contact-web-address']),
  });
});

it('reads a plain feed with the preset that a person chooses', async () => {
  expect((await proposed(JSON.stringify({ jobs: PLAIN }), 'feed', 'ashby')).preset?.name).toBe('ashby');
});

it.each([
  ['the host of the address', { jobs: PLAIN }, 'https://api.ashbyhq.com/posting-api/job-board/acme', 'own'],
  [
    'distinctive names',
    {
      jobs: PLAIN.map(({ url, description, ...job }) => ({
        ...job,
        isListed: true,
        jobUrl: url,
        descriptionHtml: description,
        secondaryLocations: [],
      })),
    },
    'feed',
    'ashby',
  ],
  [
    'the host of addresses in the records',
    {
      jobs: PLAIN.map(({ url: _, description, location, ...job }) => ({
        ...job,
        location: { name: location },
        content: description,
        absolute_url: `https://boards.greenhouse.io/acme/jobs/${job.id}`,
      })),
    },
    'feed',
    'greenhouse',
  ],
])('compares a preset with %s by what each would send', async (_what, document, address, expected) => {
  expect((await proposed(JSON.stringify(document), address)).preset?.name ?? 'own').toBe(expected);
});

it.each(readdirSync(FIXTURES).sort())('recognises the system of %s', async (file) => {
  const { preset } = await proposed(readFileSync(join(FIXTURES, file)), join(FIXTURES, file));
  expect(preset?.name).toBe(parse(file).name);
});
