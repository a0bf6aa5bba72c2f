import { expect, test } from 'vitest';
import type { RecordTree } from '../../../src/posting/posting.ts';
import { compileReader } from '../../../src/posting/reader.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { feedWith } from './read-preset.ts';

const folder = temporaryFolder();

const inBrazil = { city: 'Florianópolis', state: 'SC', country: 'BR' };
const region = (addressRegion: string, addressCountry: string) => ({ address: { addressRegion, addressCountry } });

const PLACES: readonly (readonly [preset: string, record: RecordTree])[] = [
  [
    'adp',
    {
      itemID: '1',
      requisitionLocations: { address: { countrySubdivisionLevel1: { codeValue: 'SC' }, countryCode: 'BR' } },
    },
  ],
  ['adzuna', { referencenumber: '1', ...inBrazil }],
  ['ashby', { id: '1', location: 'Munich, DE', address: { postalAddress: { addressCountry: 'Germany' } } }],
  ['ashby', { id: '1', location: 'Freilassing, DE', address: { postalAddress: { addressCountry: 'Germany' } } }],
  ['ashby', { id: '1', location: 'SF / NY' }],
  ['bamboohr', { id: '1', atsLocation: { state: 'SC', country: 'Brazil' } }],
  ['breezy', { id: '1', location: { state: { id: 'SC', name: 'Santa Catarina' }, country: { id: 'BR' } } }],
  ['careerjet', { id: '1', location: { region: 'SC', country: 'BR' } }],
  ['comeet', { uid: '1', location: inBrazil }],
  ['csv', { id: '1', ...inBrazil }],
  ['dayforce', { jobPostingId: '1', postingLocations: { formattedAddress: 'Toronto, ON, CAN' } }],
  ['eightfold', { id: '1', location: 'Bengaluru, KA, IN' }],
  ['eightfold-pcsx', { id: '1', locations: ['Munich, BY, DE', 'Freilassing, DE'] }],
  ['icims', { data: { slug: '1', state: 'SC', country_code: 'BR' } }],
  ['indeed', { referencenumber: '1', ...inBrazil }],
  ['jazzhr', { id: '1', ...inBrazil }],
  ['jobijoba', { link: 'https://example.com/1', region1: 'SC', country_name: 'Brazil' }],
  ['jobrapido', { reference_id: '1', ...inBrazil }],
  ['jobsora', { '@id': '1', region: 'Bengaluru', country: 'IN' }],
  ['jooble', { '@id': '1', region: 'Munich', country: 'DE' }],
  ['jora', { id: '1', ...inBrazil }],
  ['lever', { id: '1', country: 'IL', categories: { location: 'Tel Aviv, IL' } }],
  ['linkedin', { partnerJobId: '1', location: 'Munich, DE', country: 'DE' }],
  ['oracle', { Id: '1', PrimaryLocation: 'Bengaluru, IN', PrimaryLocationCountry: 'IN' }],
  ['comeet-page', { uid: '1', location: inBrazil }],
  ['paylocity-page', { JobId: '1', JobLocation: { State: 'SC', Country: 'BR' } }],
  ['phenom-page', { jobSeqNo: '1', location: 'Munich, DE', country: 'Germany' }],
  ['paylocity', { jobId: '1', jobLocation: inBrazil }],
  ['phenom', { jobSeqNo: '1', location: 'Munich, DE', country: 'Germany' }],
  ['recruitee', { id: '1', location: 'Munich, DE', country_code: 'DE' }],
  [
    'recruitee',
    {
      id: '1',
      location: 'Berlin',
      country_code: 'DE',
      locations: [{ city: 'Freilassing', state_code: 'DE', country_code: 'DE' }],
    },
  ],
  ['recruitee-xml', { reference: '1', ...inBrazil }],
  ['rippling-v2', { id: '1', locations: [{ name: 'Bengaluru, IN', country: 'India' }] }],
  ['schema-org', { page: { address: 'https://example.com/1' }, jobLocation: region('SC', 'BR') }],
  ['smartrecruiters', { id: '1', location: { region: 'SC', country: 'br' } }],
  ['successfactors', { link: 'https://example.com/job/analyst/1/', title: 'Analyst (Munich, DE, 80331)' }],
  ['talent', { referencenumber: '1', ...inBrazil }],
  ['teamtailor', { id: '1', _jobposting: { jobLocation: [region('SC', 'BR')] } }],
  ['teamtailor-rss', { guid: '1', locations: { location: { name: 'Munich, DE', country: 'Germany' } } }],
  ['trovit', { id: '1', region: 'SC', country: 'BR' }],
  ['ukg', { Id: '1', Locations: { Address: { State: { Code: 'SC' }, Country: { Code: 'BRA' } } } }],
  ['workable', { shortcode: '1', state: 'SC', country: 'Brazil' }],
  ['workable-v3', { shortcode: '1', state: 'published', location: { region: 'SC', country: 'Brazil' } }],
  ['xing', { id: '1', job_locations: { job_location: { region: 'SC', country: 'BR' } } }],
  ['ziprecruiter', { referencenumber: '1', ...inBrazil }],
];

test.each(PLACES)('%s refuses %j', async (preset, record) => {
  const { mapping } = await feedWith(folder, { source: '-', format: preset });
  const read = compileReader(mapping).read(record);
  const problems = read.kind === 'invalid' ? read.problems : [];
  expect(problems.filter(({ field }) => field === 'location-state')).toHaveLength(1);
});

const berlin = { city: 'Berlin', state: 'Berlin', state_code: 'BE', country_code: 'DE' };
const austin = { city: 'Austin', state: 'Texas', state_code: 'TX', country_code: 'US' };

test.each([
  ['the first place', { ...austin, state_name: 'Texas', locations: [austin, berlin] }],
  ['a further place', { ...berlin, state_name: 'Berlin', locations: [berlin, austin] }],
  ['the only place', { ...austin, location: 'Austin, Texas, United States' }],
])('recruitee takes %s in the U.S.', async (_which, record) => {
  const { mapping } = await feedWith(folder, { source: '-', format: 'recruitee' });
  expect(compileReader(mapping).read({ id: '1', title: 'Nurse', ...record })).toMatchObject({
    kind: 'posting',
    posting: { fields: { 'location-city': 'Austin', 'location-state': 'Texas' } },
  });
});
