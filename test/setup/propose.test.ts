// Proposals for documents with unknown names, in each format, and for the pages of JSON APIs.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bundledPresets } from '../../src/config/presets.ts';
import { documentTypeOf } from '../../src/setup/opening.ts';
import { type Proposal, proposeFormat } from '../../src/setup/propose.ts';
import { proposePages } from '../../src/setup/propose-pages.ts';
import { proposeFeedName } from '../../src/setup/write-config.ts';

async function propose(text: string, address = 'feed'): Promise<Proposal> {
  const bytes = Buffer.from(text);
  const request = { bytes, isWhole: true, address, presets: [], records: undefined, isOwn: false };
  const result = await proposeFormat(request);
  if (result.kind === 'refused') throw new Error(result.message);
  return result.proposal;
}

it('proposes to read the pages of a sitemap on the web', async () => {
  const bytes = Buffer.from(
    '<?xml version="1.0"?><urlset xmlns="x"><url><loc>https://acme.example/jobs/1</loc></url></urlset>',
  );
  const request = { bytes, isWhole: true, presets: await bundledPresets(), records: undefined, isOwn: false };
  expect(await proposeFormat({ ...request, address: 'https://acme.example/sitemap.xml' })).toMatchObject({
    kind: 'proposal',
    proposal: {
      preset: { name: 'schema-org-sitemap' },
      records: 1,
      paths: ['loc'],
      notes: [expect.stringContaining('skip: { loc: { not_matches: "/jobs/" } }')],
    },
  });
  // The pages of a file's entries cannot be requested.
  expect(await proposeFormat({ ...request, address: 'sitemap.xml' })).not.toMatchObject({
    proposal: { preset: { name: 'schema-org-sitemap' } },
  });
});

const LONG = 'You care for patients, day and night. '.repeat(10);

describe('fields by the similarity of names', () => {
  it('XML with unknown elements, a key in an attribute, and a place', async () => {
    const vacancy = (id: number, place: string) =>
      `<Vacancy ref="A${id}"><strJobTitle>Nurse ${id}</strJobTitle><Employer><Name>Acme</Name></Employer>` +
      `<FullText><![CDATA[<p>${LONG}</p>]]></FullText><JobPlace>x</JobPlace><Location>${place}</Location>` +
      `<Apply-URL>https://acme.example/${id}</Apply-URL><Dept>Care</Dept></Vacancy>`;
    const proposal = await propose(
      `<?xml version="1.0"?><!-- made by <x> --><Export><Info><Total>2</Total></Info><Vacancies>${vacancy(1, 'Salem, OR')}${vacancy(2, 'Reno, NV')}</Vacancies></Export>`,
    );
    expect(proposal).toMatchObject({
      settings: { type: 'xml', records: 'Export/Vacancies/Vacancy' },
      key: '@ref',
      fields: {
        number: '@ref',
        title: 'strJobTitle',
        description: 'FullText',
        'location-city': { from: 'Location', us_place: 'city', otherwise: 'default' },
        'location-state': { from: 'Location', us_place: 'state' },
        'contact-web-address': { from: 'Apply-URL', as: 'url' },
      },
    });
  });

  it('nested JSON, with the total', async () => {
    const job = (id: number) => ({
      externalId: 100 + id,
      attributes: { headline: `Cook ${id}`, body: `&lt;p&gt;${LONG}&lt;/p&gt;`, team: { name: 'Kitchen' } },
      address: { town: 'Boise', region: 'Idaho', country: 'US' },
      links: { self: `https://acme.example/api/${id}`, url: `https://acme.example/jobs/${id}` },
      contact: { name: 'Ann', email: 'ann@acme.example' },
    });
    expect(
      await propose(
        JSON.stringify({ result: { hits: 2, total: 2, vacancies: [job(1), job(2)] }, facets: [{ id: 1, count: 2 }] }),
      ),
    ).toMatchObject({
      settings: { type: 'json', records: 'result/vacancies', total: 'result/total' },
      key: 'externalId',
      fields: {
        title: 'attributes/headline',
        description: { from: 'attributes/body', as: 'html' },
        'location-city': 'address/town',
        'location-state': [
          { template: '{address/region}, {address/country}', as: 'us_state' },
          { from: 'address/region', as: 'us_state' },
        ],
        'contact-email-address': { from: 'contact/email', as: 'email' },
        'contact-web-address': { from: 'links/url', as: 'url' },
      },
    });
  });

  it('JSON Lines', async () => {
    const lines = [1, 2].map((id) => JSON.stringify({ jobId: id, name: `Cook ${id}`, state: 'TX' })).join('\n');
    expect(await propose(`${lines}\n`)).toMatchObject({
      settings: { type: 'jsonl' },
      key: 'jobId',
      fields: { title: 'name', 'location-state': { from: 'state', as: 'us_state' } },
    });
  });

  it('a table of a spreadsheet, with rows before the header and names in another language', async () => {
    const table =
      'Report of today\r\n\r\nStellen-ID;Stellentitel;Stadt;Bundesland\r\n1;Koch;Austin;Texas\r\n2;Arzt;Dallas;Texas\r\n';
    expect(await propose(table)).toMatchObject({
      settings: { type: 'csv', csv: { skip_rows: 2 } },
      key: 'Stellen-ID',
      fields: {
        title: 'Stellentitel',
        'location-city': 'Stadt',
        'location-state': { from: 'Bundesland', as: 'us_state' },
      },
    });
  });

  it('a table in which only title and place together identify a row', async () => {
    const { key, notes } = await propose('Title,City,State\nCook,Austin,TX\nCook,Dallas,TX\nMaid,Austin,TX\n');
    expect(key).toEqual(['Title', 'City']);
    expect(notes).toEqual([
      expect.stringMatching(/^nothing identifies a record by itself, so the key is made of Title and City/),
    ]);
  });

  it('records that have to be repaired', async () => {
    const job = (id: number) => `<job><id>${id}</id><title>Cook & Maid</title><state>TX</state></job>`;
    expect(await propose(`<jobs>${job(1)}${job(2)}</jobs>`)).toMatchObject({ lenient: true, key: 'id' });
  });
});

describe('the pages of a JSON API', () => {
  const address = (query = '') => new URL(`https://api.example.com/jobs${query}`);
  it.each([
    [
      'an address in the page',
      { next: 'https://api.example.com/jobs?page=2', count: 50 },
      '',
      { total: 'count', pages: { by: 'next', path: 'next' } },
    ],
    [
      'a link with parts',
      { meta: { total: 9 }, links: { next: { href: '/jobs?p=2' } } },
      '',
      { total: 'meta/total', pages: { by: 'next', path: 'links/next/href' } },
    ],
    ['a cursor', { next_cursor: 'abc' }, '', { pages: { by: 'cursor', path: 'next_cursor', parameter: 'cursor' } }],
    [
      'offset and limit in the page',
      { totalFound: 37, offset: 0, limit: 2 },
      '',
      { total: 'totalFound', pages: { by: 'offset', parameter: 'offset', size: 2, size_parameter: 'limit' } },
    ],
    [
      'numbers in the address',
      { total: 37 },
      '?page=1&per_page=10',
      { total: 'total', pages: { by: 'page', parameter: 'page', size: 10, size_parameter: 'per_page' } },
    ],
    ['a total that is reached', { total: 2 }, '', { total: 'total' }],
    [
      'a total as a text, and pages from 0',
      { total: '37', page: 0 },
      '?page=0&size=2',
      { total: 'total', pages: { by: 'page', parameter: 'page', first: 0, size: 2, size_parameter: 'size' } },
    ],
    [
      'offsets from 1',
      { total: 37, start: 1 },
      '?start=1&count=2',
      { total: 'total', pages: { by: 'offset', parameter: 'start', first: 1, size: 2, size_parameter: 'count' } },
    ],
    [
      'a flag, beside the number of records on the page',
      { info: { per_page: 2, count: 2, page: 1, more_records: true } },
      '?page=1&per_page=2',
      { pages: { by: 'page', parameter: 'page', size: 2, size_parameter: 'per_page', more: 'info/more_records' } },
    ],
    [
      'as many records as the address asks for',
      {},
      '?skip=0&limit=2',
      { pages: { by: 'offset', parameter: 'skip', size: 2, size_parameter: 'limit' } },
    ],
  ])('%s', (_what, page, query, expected) => {
    expect(proposePages({ ...page, jobs: [{}, {}] }, 2, address(query))).toEqual({ ...expected, notes: [] });
  });

  it('follows a Link header, whatever the document is', () => {
    expect(proposePages([{}, {}], 2, address('?page=1'), true)).toEqual({ pages: { by: 'link' }, notes: [] });
    expect(proposePages(undefined, 2, address(), true)).toEqual({ pages: { by: 'link' }, notes: [] });
  });

  it('says that there are more pages if it does not know how to get them, and is not complete without them', () => {
    expect(proposePages({ total: 37 }, 2, address())).toEqual({
      total: 'total',
      notes: [expect.stringMatching(/^the document states 37 postings \(total\), but has 2/)],
    });
    expect(proposePages({ has_more: true }, 2, address())).toEqual({
      notes: [expect.stringMatching(/^the document states that more postings follow \(has_more\)/)],
    });
    expect(proposePages([{}, {}], 2, address('?limit=2'))).toEqual({
      notes: [expect.stringMatching(/^the document has as many postings as the address asks for \(limit=2\)/)],
    });
    // A file has no further pages, and the total would never be reached.
    expect(proposePages({ total: 37, next: 'https://x.example' }, 2, undefined)).toMatchObject({
      notes: [expect.any(String)],
    });
  });
});

it.each([
  ['xml', '\ufeff<?xml version="1.0"?><a/>'],
  ['xml', 'a sentence\n<?xml version="1.0"?><source/>'],
  ['html', '<!DOCTYPE html><html></html>'],
  ['html', '\n<html lang="en">'],
  ['json', '  [1]'],
  ['json', '{\n"a":1}'],
  ['jsonl', '{"a":1}\n{"a":2}'],
  ['csv', 'a;b\n1;2'],
  [undefined, ''],
  [undefined, 'hello'],
  [undefined, gzipSync('x').toString('latin1').slice(0, 3)],
])('recognises %s', (type, text) => {
  expect(documentTypeOf(Buffer.from(text))).toBe(type);
});

it.each([
  ['https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true', 'acme'],
  ['https://api.lever.co/v0/postings/globex?mode=json', 'globex'],
  ['https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/careers/jobs', 'acme'],
  ['https://jobs.initech.com/feed.xml', 'initech'],
  ['/data/Feeds/Acme Jobs.xml.gz', 'acme-jobs'],
  ['123.csv', 'feed'],
  ['http://127.0.0.1:8090/staffing.xml', 'staffing'],
  ['http://[::1]/acme/jobs.xml', 'acme'],
  ['http://intranet/', 'feed'],
])('names the feed of %s %s', (address, name) => {
  expect(proposeFeedName(address)).toBe(name);
});
