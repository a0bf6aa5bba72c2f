// The presets on real feeds, read in place. The numbers of postings and keys are those of an independent parser.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../../src/config/package-root.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../../support/shared-feeds.ts';
import { feedWith, summarize } from './read-preset.ts';

type Settings = Readonly<Record<string, unknown>>;
type Case = readonly [file: string, preset: string, postings: number, keys: number, settings?: Settings];

const CASES: readonly Case[] = [
  ['indeed/staffing-2026-03-20.xml', 'indeed', 344, 344],
  ['indeed/staffing-2026-03-04.xml', 'indeed', 360, 360],
  ['indeed/no-declaration-crlf.xml', 'indeed', 31, 31],
  ['indeed/root-jobs.xml', 'indeed', 14, 14],
  ['indeed/smartrecruitments.xml', 'indeed', 122, 122],
  ['indeed/remotetalents.xml', 'indeed', 2, 2],
  ['indeed/zonos.xml', 'indeed', 4, 2],
  ['linkedin/sample.xml', 'linkedin', 5, 5],
  ['jobvite/jobs.xml', 'jobvite', 2, 2],
  ['jooble/jobs.xml', 'jooble', 7, 7],
  ['jooble/recruityard.xml', 'jooble', 100, 100],
  ['jobsora/recruityard.xml', 'jobsora', 100, 100],
  ['careerjet/recruityard.xml', 'careerjet', 100, 100],
  ['jobrapido/recruityard.xml', 'jobrapido', 100, 100],
  ['jobatus/recruityard.xml', 'jobatus', 93, 93],
  ['jora/recruityard.xml', 'jora', 100, 100],
  ['talent/recruityard.xml', 'talent', 100, 100],
  ['adzuna/t-star.xml', 'adzuna', 2, 2],
  ['ziprecruiter/organic-sample.xml', 'ziprecruiter', 1, 1],
  ['personio/mrge.xml', 'personio', 2, 2],
  ['hr-xml/usajobs.xml', 'hr-xml', 3, 3],
  ['rss/neogov.rss', 'neogov', 5, 5],
  ['rss/neogov-bad-locations.rss', 'neogov', 1, 1],
  ['rss/neogov-sunline.xml', 'rss-link', 6, 6],
  ['rss/recruityard.xml', 'rss-link', 100, 100],
  ['rss/indeed-scraped-markdown.xml', 'rss-link', 55, 55],
  ['rss/teamtailor-ferd.rss', 'teamtailor-rss', 2, 2],
  ['rss/jobicy-invented.xml', 'wp-job-manager', 2, 2],
  ['rss/weworkremotely-2014.rss', 'rss', 25, 25],
  ['rss/zonos.rss', 'rss', 4, 2],
  ['rss/oil-gas.xml', 'rss', 100, 100],
  ['atom/hmpps.xml', 'atom', 193, 193],
  ['successfactors/qorvo.rss', 'successfactors', 2, 2],
  ['json/successfactors.xml', 'successfactors', 2, 2],
  ['json/greenhouse.json', 'greenhouse', 2, 2],
  ['json/greenhouse-2.json', 'greenhouse', 4, 4],
  ['json/greenhouse-3.json', 'greenhouse', 20, 20],
  ['json/lever.json', 'lever', 2, 2],
  ['json/lever-2.json', 'lever', 6, 6],
  ['json/ashby.json', 'ashby', 2, 2],
  ['json/ashby-2.json', 'ashby', 9, 9],
  ['json/ashby-3.json', 'ashby', 6, 6],
  ['json/ashby-4.json', 'ashby', 4, 4],
  ['json/recruitee.json', 'recruitee', 2, 2],
  ['json/recruitee-2.json', 'recruitee', 3, 3],
  ['json/smartrecruiters.json', 'smartrecruiters', 1, 1],
  ['json/smartrecruiters-page-1.json', 'smartrecruiters', 3, 3],
  ['json/smartrecruiters-2.json', 'smartrecruiters', 3, 3],
  ['json/workable.json', 'workable', 2, 1],
  ['json/workable-2.json', 'workable', 4, 4],
  ['json/workable-3.json', 'workable', 3, 3],
  ['json/workable-v3.json', 'workable-v3', 2, 2],
  ['json/teamtailor.json', 'teamtailor', 2, 2],
  ['json/teamtailor-api.json', 'teamtailor-api', 5, 5],
  ['json/bamboohr.json', 'bamboohr', 2, 2],
  ['json/workday.json', 'workday', 2, 2],
  ['json/workday-page-1.json', 'workday', 4, 4],
  ['json/workday-2.json', 'workday', 20, 20],
  // This sample lacks the key that the API documents.
  ['json/usajobs.json', 'usajobs', 2, 2, { key: 'MatchedObjectDescriptor/PositionURI' }],
  ['json/breezy.json', 'breezy', 4, 4],
  ['json/pinpoint.json', 'pinpoint', 3, 3],
  ['json/oracle.json', 'oracle', 4, 4],
  ['json/oracle-2.json', 'oracle', 2, 2],
  ['json/rippling.json', 'rippling', 3, 3],
  ['json/rippling-2.json', 'rippling', 2, 1],
  ['json/eightfold.json', 'eightfold', 2, 2],
  ['json/eightfold-pcsx.json', 'eightfold-pcsx', 3, 3],
  ['json/icims-jibe.json', 'icims', 3, 3],
  ['json/ukg.json', 'ukg', 2, 2],
  ['json/adp.json', 'adp', 2, 2],
  ['json/dayforce.json', 'dayforce', 3, 3],
  ['json/jobvite.json', 'jobvite-json', 30, 30],
  ['json/jsonld.json', 'schema-org', 4, 2],
  ['csv/job-bank-canada.csv', 'csv', 524, 524],
  ['csv/oil-gas-bom.csv', 'csv', 1360, 1356, { key: 'url' }],
  ['csv/france-travail.csv', 'csv', 118, 118, { fields: { title: 'intitule', 'category-name': 'romeLibelle' } }],
  [
    'csv/cgs.csv',
    'csv',
    16,
    16,
    {
      key: ['Title', 'City'],
      fields: {
        number: null,
        title: 'Title',
        description: 'Job Description',
        'location-city': { from: 'City', us_place: 'city' },
        'location-state': { from: 'City', us_place: 'state' },
      },
    },
  ],
];

const EXPECTED = join(packageRoot, 'test', 'config', 'presets', 'real-feeds.yaml');
const expected = existsSync(EXPECTED) ? (parse(readFileSync(EXPECTED, 'utf8')) as Record<string, unknown>) : {};
const found: Record<string, unknown> = {};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-presets-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  if (process.env.UPDATE === '1' && hasSharedFeeds) writeFileSync(EXPECTED, stringify(found, { lineWidth: 130 }));
});

describe.skipIf(!hasSharedFeeds)(`real feeds${sharedFeedsNote}`, () => {
  for (const [file, preset, postings, keys, settings] of CASES) {
    test(`${file} by the preset ${preset}`, async () => {
      const summary = await summarize(
        await feedWith(folder, { source: sharedFeed(file), format: preset, ...settings }),
      );
      expect({ postings: summary.postings, keys: summary.keys }).toEqual({ postings, keys });
      found[file] = summary;
      if (process.env.UPDATE !== '1') expect(summary).toEqual(expected[file]);
    });
  }
});
