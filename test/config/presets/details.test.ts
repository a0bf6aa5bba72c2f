// The presets whose lists lack descriptions: which request the record of a list leads to, and what the posting becomes with
// the detail. Fixtures are written from the documentation of the systems; real details are read in place.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FeedConfig } from '../../../src/config/config.ts';
import { compileDetailReader } from '../../../src/feed/detail-record.ts';
import { formatOf } from '../../../src/feed/format/formats.ts';
import { httpOf, openDetailFetcher } from '../../../src/feed/source/sources.ts';
import { pathsInto } from '../../../src/posting/paths/mapping-paths.ts';
import type { Fields, RecordTree } from '../../../src/posting/posting.ts';
import { compileReader } from '../../../src/posting/reader.ts';
import { serveWeb, type WebServer } from '../../feed/web-server.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../../support/shared-feeds.ts';
import { readPresets } from '../formats-page.ts';
import { feedWith } from './read-preset.ts';

let folder: string;
let server: WebServer;
let answer: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-presets-'));
  server = await serveWeb((_, response) => response.end(answer));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});

interface Case {
  readonly preset: string;
  /** Path and query of the list. */
  readonly list: string;
  readonly record: object;
  readonly detail: object | string;
  /** Path and query of the detail, and its body. */
  readonly requested: string;
  readonly body?: object;
  readonly fields: Fields;
}

const CASES: readonly Case[] = [
  {
    preset: 'smartrecruiters',
    list: '/v1/companies/acme/postings',
    record: { id: '7', name: 'Cook', location: { city: 'Austin', region: 'TX', country: 'us' } },
    detail: {
      id: '7',
      postingUrl: 'https://jobs.smartrecruiters.com/acme/7-cook',
      jobAd: { sections: { a: { title: 'You', text: '<p>Cook</p>' }, b: { title: '', text: '<p>Pay</p>' } } },
    },
    requested: '/v1/companies/acme/postings/7',
    fields: {
      description: '<h3>You</h3><p>Cook</p>\n<p>Pay</p>',
      'contact-web-address': 'https://jobs.smartrecruiters.com/acme/7-cook',
    },
  },
  {
    preset: 'workday',
    list: '/wday/cxs/acme/careers/jobs',
    record: {
      externalPath: '/job/Austin-TX/Cook_R7-1',
      title: 'Cook',
      locationsText: '2 Locations',
      postedOn: 'Today',
    },
    detail: {
      jobPostingInfo: {
        jobDescription: '<p>Cook</p>',
        jobReqId: 'R7',
        location: 'US, TX, Austin',
        externalUrl: 'https://acme.wd5.myworkdayjobs.com/careers/job/Austin-TX/Cook_R7-1',
      },
    },
    requested: '/wday/cxs/acme/careers/job/Austin-TX/Cook_R7-1',
    fields: {
      number: 'R7',
      description: '<p>Cook</p>',
      'location-state': 'Texas',
      'contact-web-address': 'https://acme.wd5.myworkdayjobs.com/careers/job/Austin-TX/Cook_R7-1',
    },
  },
  {
    preset: 'oracle',
    list: '/hcmRestApi/resources/latest/recruitingCEJobRequisitions?onlyData=true&finder=findReqs;siteNumber=CX_1,limit=25',
    record: { Id: '7', Title: 'Cook', ShortDescriptionStr: 'Short' },
    detail: {
      items: [
        {
          Id: '7',
          ExternalDescriptionStr: '',
          ExternalResponsibilitiesStr: '<p>A</p>',
          ExternalQualificationsStr: '<p>B</p>',
        },
      ],
    },
    requested:
      '/hcmRestApi/resources/latest/recruitingCEJobRequisitionDetails?expand=all&onlyData=true&finder=ById;Id=%227%22,siteNumber=CX_1',
    fields: { description: '<p>A</p>\n<p>B</p>' },
  },
  {
    preset: 'bamboohr',
    list: '/careers/list',
    record: { id: '7', jobOpeningName: 'Cook' },
    detail: { result: { jobOpening: { jobOpeningName: 'Cook', description: '<p>Cook</p>' } } },
    requested: '/careers/7/detail',
    fields: { description: '<p>Cook</p>' },
  },
  {
    preset: 'breezy',
    list: '/json',
    record: { id: '7', name: 'Cook', url: 'ORIGIN/p/7-cook' },
    detail: `<!DOCTYPE html><html><head><title>Cook</title><script type="application/ld+json">
      { "@context": "https://schema.org", "@type": "JobPosting", "title": "Cook", "description": "<p>Cook</p>" }
      </script></head><body></body></html>`,
    requested: '/p/7-cook',
    fields: { description: '<p>Cook</p>' },
  },
  {
    preset: 'rippling',
    list: '/platform/api/ats/v1/board/acme/jobs',
    record: { uuid: '7-a', name: 'Cook' },
    detail: { uuid: '7-a', description: { company: '<p>Acme</p>', role: '<p>Cook</p>' } },
    requested: '/platform/api/ats/v1/board/acme/jobs/7-a',
    fields: { description: '<p>Acme</p>\n<p>Cook</p>' },
  },
  {
    preset: 'rippling-v2',
    list: '/platform/api/ats/v2/board/acme/jobs',
    record: { id: '7-a', name: 'Cook' },
    detail: { id: '7-a', description: { role: '<p>Cook</p>' } },
    requested: '/platform/api/ats/v2/board/acme/jobs/7-a',
    fields: { description: '<p>Cook</p>' },
  },
  {
    preset: 'eightfold',
    list: '/api/apply/v2/jobs?domain=acme.com',
    record: { id: 7, name: 'Cook', job_description: '' },
    detail: { id: 7, job_description: '<p>Cook</p>' },
    requested: '/api/apply/v2/jobs/7?domain=acme.com',
    fields: { description: '<p>Cook</p>' },
  },
  {
    preset: 'eightfold-pcsx',
    list: '/api/pcsx/search?domain=acme.com',
    record: { id: 7, name: 'Cook' },
    detail: { status: 200, data: { id: 7, jobDescription: '<p>Cook</p>' } },
    requested: '/api/pcsx/position_details?position_id=7&domain=acme.com',
    fields: { description: '<p>Cook</p>' },
  },
  {
    preset: 'adp',
    list: '/events/staffing/v1/job-requisitions?cid=1-2&ccId=3_4&lang=en_US',
    record: { itemID: '7_1', requisitionTitle: 'Cook' },
    detail: { itemID: '7_1', requisitionDescription: '<p>Cook</p>' },
    requested: '/events/staffing/v1/job-requisitions/7_1?cid=1-2&ccId=3_4',
    fields: { description: '<p>Cook</p>' },
  },
  {
    preset: 'phenom',
    list: '/widgets',
    record: { jobSeqNo: 'S7', title: 'Cook', descriptionTeaser: 'Co…' },
    detail: { jobDetail: { data: { job: { jobSeqNo: 'S7', description: '<p>Cook</p>' } } } },
    requested: '/widgets',
    body: { ddoKey: 'jobDetail', jobSeqNo: 'S7' },
    fields: { description: '<p>Cook</p>' },
  },
];

const treeOf = (record: object): RecordTree => {
  const parsed = formatOf('json').parseRecord(Buffer.from(JSON.stringify(record).replaceAll('ORIGIN', server.origin)));
  if (parsed.kind !== 'tree') throw new Error('the record is not JSON');
  return parsed.tree;
};

function postingOf({ source, mapping }: FeedConfig, record: RecordTree, detail: Buffer): Fields {
  const { details } = source;
  if (details === undefined) throw new Error('the preset has no details');
  const read = compileDetailReader(details, pathsInto(details.name, mapping))(record, detail);
  if (read.kind === 'failed') throw new Error(read.message);
  const result = compileReader(mapping).read(read.tree);
  return 'posting' in result ? result.posting.fields : {};
}

test('are all presets with details', () => {
  // The list of this one is XML; `test/scenarios/sitemap.test.ts` mirrors it.
  const written = readPresets().filter(
    ({ name, settings }) => settings.details !== undefined && name !== 'schema-org-sitemap',
  );
  expect(CASES.map(({ preset }) => preset).sort()).toEqual(written.map(({ name }) => name).sort());
});

test.each(CASES)('$preset', async ({ preset, list, record, detail, requested, body, fields }) => {
  const feed = await feedWith(folder, { source: `${server.origin}${list}`, format: preset });
  const { source } = feed;
  const http = httpOf(source.from);
  if (http === undefined || source.details === undefined) throw new Error('the preset has no details');
  const fetcher = await openDetailFetcher(http, source.details, { limiter: { take: async () => {}, spend() {} } });
  answer = typeof detail === 'string' ? detail : JSON.stringify(detail);
  const fetched = await fetcher.fetch(treeOf(record), new AbortController().signal);
  if (fetched.kind !== 'fetched') throw new Error(fetched.message);
  const request = server.requests.at(-1);
  expect([request?.method, request?.path]).toEqual([body === undefined ? 'GET' : 'POST', requested]);
  if (body !== undefined) expect(JSON.parse(request?.body ?? '')).toMatchObject(body);
  expect(postingOf(feed, treeOf(record), fetched.bytes)).toMatchObject(fields);
});

describe.skipIf(!hasSharedFeeds)(`on real details ${sharedFeedsNote}`, () => {
  const real = (file: string) => JSON.parse(readFileSync(sharedFeed(`json/${file}`), 'utf8'));

  test.each<[string, string, () => object, string, Fields]>([
    [
      'smartrecruiters',
      '/v1/companies/HireVue/postings',
      () => real('smartrecruiters-page-1.json').content[0],
      'smartrecruiters-detail.json',
      {
        'contact-web-address': expect.stringMatching(/744000138728139-data-science/),
        description: expect.stringMatching(/<h3>Job Description<\/h3><p>As a/),
      },
    ],
    [
      'workday',
      '/wday/cxs/gdit/External_Career_Site/jobs',
      () => real('workday-page-1.json').jobPostings[0],
      'workday-detail.json',
      { number: 'RQ216675', description: expect.stringMatching(/^<.{9000}/s) },
    ],
    [
      'oracle',
      '/x?finder=findReqs;siteNumber=CX_1',
      () => real('oracle.json').items[0].requisitionList.find(({ Id }: { Id: string }) => Id === '10139'),
      'oracle-detail.json',
      { number: '10139', description: expect.stringMatching(/^</) },
    ],
    [
      'bamboohr',
      '/careers/list',
      () => real('bamboohr.json').result[0],
      'bamboohr-detail.json',
      { description: expect.stringMatching(/MUST RESIDE IN ILLINOIS/) },
    ],
  ])('%s', async (preset, list, record, detail, fields) => {
    const feed = await feedWith(folder, { source: `https://example.com${list}`, format: preset });
    expect(postingOf(feed, treeOf(record()), readFileSync(sharedFeed(`json/${detail}`)))).toMatchObject(fields);
  });
});
