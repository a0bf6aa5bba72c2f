// The presets whose systems send their postings in pages, against servers that answer as those systems do.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sendJson, serveWeb, type WebRequest, type WebServer } from '../../feed/web-server.ts';
import { feedWith, summarize } from './read-preset.ts';

let folder: string;
let server: WebServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-presets-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await server?.close();
});

/** The records of a page: numbers from 1 to `total`. */
const range = <One>(from: number, count: number, total: number, make: (number: number) => One): One[] =>
  Array.from({ length: Math.max(0, Math.min(count, total - from)) }, (_, at) => make(from + at + 1));

interface System {
  readonly preset: string;
  readonly total: number;
  readonly requests: number;
  readonly answer: (request: WebRequest, origin: string) => object;
}

const bodyOf = ({ body }: WebRequest) => JSON.parse(body) as Readonly<Record<string, number>>;
const queryOf = ({ query }: WebRequest, name: string) => Number(query.get(name));

const SYSTEMS: readonly System[] = [
  {
    preset: 'workday',
    total: 45,
    requests: 3,
    answer(request) {
      const { offset = 0, limit = 0 } = bodyOf(request);
      const jobPostings = range(offset, limit, 45, (at) => ({
        externalPath: `/job/Austin/Cook_R${at}`,
        title: 'Cook',
      }));
      return { total: offset === 0 ? 45 : 0, jobPostings };
    },
  },
  {
    preset: 'smartrecruiters',
    total: 150,
    requests: 2,
    answer(request) {
      const [offset, limit] = [queryOf(request, 'offset'), queryOf(request, 'limit')];
      return {
        offset,
        limit,
        totalFound: 150,
        content: range(offset, limit, 150, (id) => ({ id: `${id}`, name: 'Cook' })),
      };
    },
  },
  {
    preset: 'usajobs',
    total: 700,
    requests: 2,
    answer(request) {
      const [page, size] = [queryOf(request, 'Page'), queryOf(request, 'ResultsPerPage')];
      const items = range((page - 1) * size, size, 700, (id) => ({ MatchedObjectId: id, MatchedObjectDescriptor: {} }));
      const SearchResult = { SearchResultCount: items.length, SearchResultCountAll: 700, SearchResultItems: items };
      return { SearchResult };
    },
  },
  {
    preset: 'workable-v3',
    total: 15,
    requests: 2,
    answer(request) {
      const from = Number(JSON.parse(request.body).token ?? 0);
      const results = range(from, 10, 15, (at) => ({ shortcode: `A${at}`, title: 'Cook', state: 'published' }));
      return { total: 15, results, ...(from === 0 ? { nextPage: '10' } : {}) };
    },
  },
  {
    preset: 'teamtailor',
    total: 4,
    requests: 2,
    answer({ query }, origin) {
      const from = Number(query.get('from') ?? 0);
      const items = range(from, 2, 4, (id) => ({ id: `${id}`, title: 'Cook' }));
      return {
        version: 'https://jsonfeed.org/version/1.1',
        items,
        ...(from === 0 ? { next_url: `${origin}/?from=2` } : {}),
      };
    },
  },
  {
    preset: 'teamtailor-api',
    total: 4,
    requests: 2,
    answer({ query }, origin) {
      const from = Number(query.get('from') ?? 0);
      const data = range(from, 2, 4, (id) => ({ id: `${id}`, attributes: { title: 'Cook', internal: false } }));
      return { data, links: from === 0 ? { next: `${origin}/?from=2` } : {}, meta: { 'record-count': 4 } };
    },
  },
  {
    preset: 'eightfold',
    total: 23,
    requests: 3,
    answer(request) {
      const [start, num] = [queryOf(request, 'start'), queryOf(request, 'num')];
      return { count: 23, positions: range(start, num, 23, (id) => ({ id, name: 'Cook' })) };
    },
  },
  {
    preset: 'eightfold-pcsx',
    total: 23,
    requests: 3,
    answer(request) {
      return {
        data: { count: 23, positions: range(queryOf(request, 'start'), 10, 23, (id) => ({ id, name: 'Cook' })) },
      };
    },
  },
  {
    preset: 'oracle',
    total: 450,
    requests: 3,
    answer({ query }) {
      const finder = new URLSearchParams((query.get('finder') ?? '').split(/[;,]/).slice(1).join('&'));
      expect([query.get('finder')?.startsWith('findReqs;siteNumber=CX_1,'), query.get('onlyData')]).toEqual([
        true,
        'true',
      ]);
      const [offset, limit] = [Number(finder.get('offset')), Number(finder.get('limit'))];
      const requisitionList = range(offset, Math.min(limit, 200), 450, (Id) => ({ Id: `${Id}`, Title: 'Cook' }));
      return { items: [{ TotalJobsCount: 450, requisitionList }], count: 1 };
    },
  },
  {
    preset: 'icims',
    total: 120,
    requests: 2,
    answer(request) {
      const [page, limit] = [queryOf(request, 'page'), queryOf(request, 'limit')];
      const jobs = range((page - 1) * limit, limit, 120, (slug) => ({ data: { slug: `${slug}`, title: 'Cook' } }));
      return { jobs, totalCount: 120, count: jobs.length };
    },
  },
  {
    preset: 'adp',
    total: 30,
    requests: 2,
    answer(request) {
      const [skip, top] = [queryOf(request, '$skip'), queryOf(request, '$top')];
      return { jobRequisitions: range(skip, top, 30, (at) => ({ itemID: `${at}_1` })), meta: { totalNumber: 30 } };
    },
  },
  {
    preset: 'ukg',
    total: 60,
    requests: 2,
    answer(request) {
      const { Top, Skip } = JSON.parse(request.body).opportunitySearch;
      return { opportunities: range(Skip, Top, 60, (Id) => ({ Id, Title: 'Cook' })), totalCount: 60 };
    },
  },
  {
    preset: 'rippling-v2',
    total: 45,
    requests: 3,
    answer(request) {
      const items = range(queryOf(request, 'page') * 20, 20, 45, (id) => ({ id: `${id}`, name: 'Cook' }));
      return queryOf(request, 'page') === 0 ? { items, totalItems: 45, totalPages: 3 } : { items };
    },
  },
  {
    preset: 'phenom',
    total: 130,
    requests: 2,
    answer(request) {
      const { from = 0, size = 0 } = bodyOf(request);
      const jobs = range(from, size, 130, (at) => ({ jobSeqNo: `S${at}`, title: 'Cook' }));
      return { refineSearch: { hits: jobs.length, totalHits: 130, data: { jobs } } };
    },
  },
];

describe('reads all pages, and knows that they are all', () => {
  test.each(SYSTEMS)('$preset', async ({ preset, total, requests, answer }) => {
    server = await serveWeb((request, response) => sendJson(response, answer(request, server?.origin ?? '')));
    const settings = {
      source: `${server.origin}/?domain=acme.com&cid=1&ccId=2&onlyData=true&finder=findReqs;siteNumber=CX_1`,
      format: preset,
      limits: { requests_per_second: 1000 },
    };
    const summary = await summarize(await feedWith(folder, settings));
    expect(summary).toMatchObject({ postings: total, keys: total });
    expect(summary.shortfalls).toBeUndefined();
    expect(server.requests).toHaveLength(requests);
  });
});

test('workday repeats its last page beyond its limit: that is not all of the list', async () => {
  server = await serveWeb((request, response) => {
    const { offset = 0, limit = 0 } = bodyOf(request);
    const from = Math.min(offset, 40);
    const jobPostings = range(from, limit, 60, (at) => ({ externalPath: `/job/Austin/Cook_R${at}`, title: 'Cook' }));
    sendJson(response, { total: offset === 0 ? 100 : 0, jobPostings });
  });
  const settings = { source: `${server.origin}/`, format: 'workday', limits: { requests_per_second: 1000 } };
  const summary = await summarize(await feedWith(folder, settings));
  expect(summary.shortfalls).not.toBeUndefined();
});
