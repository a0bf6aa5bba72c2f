import { expect, test } from 'vitest';
import { formatOf } from '../../../src/feed/format/formats.ts';
import type { RecordTree } from '../../../src/posting/posting.ts';
import { compileKey } from '../../../src/posting/posting-key.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { readPresets } from '../formats-page.ts';
import { feedWith } from './read-preset.ts';

const folder = temporaryFolder();

const example = new Map(readPresets().map(({ name, settings }) => [name, settings.example]));
const feedOf = (preset: string, more: object = {}) =>
  feedWith(folder, { ...example.get(preset), format: preset, ...more });

async function keyOf(preset: string, record: RecordTree, more?: object): Promise<string | undefined> {
  const reading = compileKey((await feedOf(preset, more)).mapping.key)(record);
  return reading.kind === 'key' ? reading.key : undefined;
}

const ADDRESS = 'https://acme.example/jobs/view?id=7&lang=en#apply';
const TRACKED = [
  'https://acme.example/jobs/view?utm_source=a&id=7&lang=en&utm_medium=rss#apply',
  'https://acme.example/jobs/view?id=7&gh_src=1&lang=en&UTM_Campaign=b&fbclid=c#apply',
];

test.each([
  ['rss', 'guid'],
  ['rss-link', 'link'],
  ['wp-job-manager', 'guid'],
  ['jobatus', 'url'],
  ['jobijoba', 'link'],
  ['schema-org', 'page/address'],
])('%s', async (preset, path) => {
  const record = (text: string): RecordTree =>
    path.split('/').reduceRight<RecordTree>((inner, name) => ({ [name]: inner }), text);
  for (const address of [ADDRESS, ...TRACKED]) expect(await keyOf(preset, record(address))).toBe(ADDRESS);
  expect(await keyOf(preset, record('https://acme.example/?utm_source=a'))).toBe('https://acme.example/');
  expect(await keyOf(preset, record('REQ-7 (utm_source)'))).toBe('REQ-7 (utm_source)');
});

test('successfactors', async () => {
  const tracking = '?feedId=null&utm_source=J2WRSS&utm_medium=rss&utm_campaign=J2W_RSS';
  for (const path of [
    'job/Austin-Nurse-TX-78701/1397790900/',
    'job/Dallas-Head-Nurse-TX/1397790900',
    'us/job/x/1397790900/',
  ]) {
    for (const query of ['', tracking, '?utm_source=other', '#apply']) {
      expect(await keyOf('successfactors', { link: `https://careers.example.com/${path}${query}` })).toBe('1397790900');
    }
  }
  const { mapping } = await feedOf('successfactors');
  expect(compileKey(mapping.key)({ link: 'https://careers.example.com/job/Nurse/' })).toMatchObject({
    kind: 'no key',
    problems: [
      { value: 'https://careers.example.com/job/Nurse/', message: expect.stringMatching(/does not match .*key_as/) },
    ],
  });
});

test('a key of the feed is taken as it is, unless the feed says otherwise', async () => {
  const record = { guid: TRACKED[0] ?? '', link: 'https://acme.example/1397790900/?x' };
  expect(await keyOf('rss', record, { key: 'guid' })).toBe(TRACKED[0]);
  expect(await keyOf('rss', record, { key: 'guid', key_as: 'address' })).toBe(ADDRESS);
  expect(await keyOf('rss', record, { key_as: { match: '[?&]id=(\\d+)' } })).toBe('7');
  expect(await keyOf('rss', record, { key: ['guid', 'link'], key_as: { match: '\\d+' } })).toBe('7|1397790900');
});

test('the key of a record that cannot be read is recovered in the same way', async () => {
  const { mapping } = await feedOf('successfactors');
  const recover = formatOf('xml').compileKeyRecovery(mapping.key);
  const record = '<item><title>a & b</title><link>https://a.example/job/x/139/?utm_source=a&amp;b=1</link></item>';
  expect(recover(Buffer.from(record))).toBe('139');
});

test('no other preset takes an address as it is for the key', () => {
  const kept = readPresets().filter(
    ({ settings: { key, ...others } }) =>
      /(?:link|url|guid|address|loc)$/i.test([key].flat().join()) && others.key_as === undefined,
  );
  // IDs, and addresses that the site makes without parameters.
  expect(kept.map(({ name }) => name)).toEqual(['schema-org-sitemap', 'teamtailor-rss']);
});
