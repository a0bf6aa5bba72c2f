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

  it.each<[string, object, object]>([
    [
      'a report of Workday',
      { Job_Requisition_ID: 'R-?', Job_Posting_Title: 'Nurse', Posting_URL: 'https://a.example/R-?', State: 'TX' },
      { key: 'Job_Requisition_ID', title: 'Job_Posting_Title', address: 'Posting_URL' },
    ],
    [
      'softgarden',
      {
        jobPostingId: '7?',
        externalPostingName: 'Nurse',
        jobAdUrl: 'https://a.example/7?',
        companyLogoUrl: 'https://l.example/?',
      },
      { key: 'jobPostingId', title: 'externalPostingName', address: 'jobAdUrl' },
    ],
    [
      'BambooHR',
      {
        id: 5,
        title: { id: null, label: 'Nurse' },
        hiringLead: { jobTitle: { label: 'Boss' } },
        postingUrl: 'https://a.example/?',
      },
      { key: 'id', title: 'title/label', address: 'postingUrl' },
    ],
    ['MongoDB', { _id: { $oid: 'a?' }, jobTitle: 'Nurse' }, { key: '_id/$oid', title: 'jobTitle' }],
    [
      'a title beside its slug',
      { reqid: 'R?', title_slug: 'staff-nurse', title_exact: 'Staff Nurse' },
      { key: 'reqid', title: 'title_exact' },
    ],
    [
      'names of a table',
      { 'Recruiter ID': 'E1', Postcode: '7870?', 'Requisition #': 'R?', 'Posting Job Title': 'Nurse' },
      { key: 'Requisition #', title: 'Posting Job Title' },
    ],
    [
      'row numbers beside a key',
      { No: '?', 'Ext Job Ref': 'R-1?', Title: 'Nurse' },
      { key: 'Ext Job Ref', title: 'Title' },
    ],
    [
      'row numbers beside a position',
      { id: '?', PositionID: 'DE-?7-X', PositionTitle: 'Nurse' },
      { key: 'PositionID', title: 'PositionTitle' },
    ],
    ['names of rows beside a key', { '@id': 'Table?', JobID: '7?', Title: 'Nurse' }, { key: 'JobID', title: 'Title' }],
    [
      'a code of the kind of job beside the requisition',
      { JobCode: 'RN?', Position_ID: 'P?', 'Job Requisition ID': 'R-?', Title: 'Nurse' },
      { key: 'Job Requisition ID', title: 'Title' },
    ],
    [
      'a code beside a vacancy',
      { JobCode: 'RN?', 'Vacancy Id': '3?', Title: 'Nurse' },
      { key: 'Vacancy Id', title: 'Title' },
    ],
    [
      'announcements',
      { 'Exam Number': 'E?', 'Exam Plan Title': 'Nurse' },
      { key: 'Exam Number', title: 'Exam Plan Title' },
    ],
    [
      'an API, whose own addresses are none',
      { id: 5, title: 'Nurse', links: { self: { href: 'https://a.example/api/?' } } },
      { key: 'id', title: 'title' },
    ],
    [
      'row numbers that are no key',
      { Nr: '?', Title: 'Nurse', City: 'Town ?' },
      { key: ['Title', 'City'], title: 'Title' },
    ],
    ['places without a title, which are no key', { geo_city: 'Town ?', geo_state: 'TX' }, { key: undefined }],
  ])(
    'the names of %s',
    async (_what, record, { key, title, address }: { key?: unknown; title?: string; address?: string }) => {
      const lines = [1, 2, 3, 4].map((at) =>
        JSON.stringify(record).replaceAll('?', `${at}`).replace('"id":5', `"id":5${at}`),
      );
      const { fields, ...proposal } = await propose(`${lines.join('\n')}\n`);
      expect(proposal.key).toEqual(key);
      expect(fields.title).toBe(title);
      expect(fields['contact-web-address']).toEqual(address && { from: address, as: 'url' });
    },
  );

  it.each(['Job Code', 'positionId', 'Position Number'])(
    'a %s as the key, with what is unsure about it',
    async (name) => {
      const lines = [1, 2, 3, 4].map((at) => JSON.stringify({ [name]: `RN${at}`, Title: 'Nurse', State: 'TX' }));
      const { key, notes } = await propose(`${lines.join('\n')}\n`);
      expect([key, notes]).toEqual([name, [expect.stringMatching(/^the key .* may be that of a kind of job/)]]);
      // That it repeats is no sign of places.
      const again = JSON.stringify({ [name]: 'RN1', Title: 'Nurse', State: 'UT' });
      expect((await propose(`${lines.join('\n')}\n${again}\n`)).key).not.toBe(name);
    },
  );

  it('an address as the key, without parameters that count visits', async () => {
    const job = (at: number) => ({ title: 'Nurse', state: 'TX', url: `https://a.example/jobs/${at}?utm_source=x` });
    const { key, settings } = await propose(`${[1, 2, 3].map((at) => JSON.stringify(job(at))).join('\n')}\n`);
    expect({ key, settings }).toEqual({ key: 'url', settings: { type: 'jsonl', key_as: 'address' } });
  });

  it('the title that differs between postings, of entries with properties', async () => {
    const entry = (at: number) =>
      `<entry><id>https://a.example/Job(${at})</id><title/><link title="Job" href="x(${at})"/><content><m:properties><d:jobReqId>7${at}</d:jobReqId><d:jobTitle>Nurse ${at}</d:jobTitle></m:properties></content></entry>`;
    const { key, fields } = await propose(`<feed>${[1, 2, 3].map(entry).join('')}</feed>`);
    expect({ key, title: fields.title }).toEqual({
      key: 'content/properties/jobReqId',
      title: 'content/properties/jobTitle',
    });
  });

  it('records deep in their envelope', async () => {
    const job = (at: number) => `<Job><AutoReq>${at}BR</AutoReq><JobTitle>Nurse ${at}</JobTitle></Job>`;
    const names = ['Envelope', 'Unit', 'Packet', 'Payload', 'ResultSet', 'Jobs'];
    const text = names.reduceRight((inner, name) => `<${name}>${inner}</${name}>`, [1, 2, 3].map(job).join(''));
    expect((await propose(text)).settings.records).toBe('Envelope/Unit/Packet/Payload/ResultSet/Jobs/Job');
  });

  it('the key that tells the places of a posting apart', async () => {
    const job = (at: number, req = at) => ({ reqid: `R${req}`, guid: `G${at}`, title: `Nurse ${req}`, state: 'TX' });
    const lines = [job(1), job(2), job(3), job(4), job(5, 1)].map((each) => JSON.stringify(each));
    expect((await propose(`${lines.join('\n')}\n`)).key).toBe('guid');
  });

  it.each<[string, object, object]>([
    [
      'and not that of the employer',
      { place: 'Austin, TX', company: { address: { city: 'Chicago', state: 'IL', country: 'US' } } },
      {
        'location-city': { from: 'place', us_place: 'city', otherwise: 'default' },
        'location-state': { from: 'place', us_place: 'state' },
      },
    ],
    [
      'and not a city that is named like a state',
      { City: 'Indiana', LocationText: 'Indiana, PA' },
      { 'location-city': 'City', 'location-state': { from: 'LocationText', us_place: 'state' } },
    ],
    [
      'and not what is named as that of the employer',
      { employerCity: 'Chicago', employerState: 'IL', company_location: 'Reno, NV', worksite: 'Austin, TX' },
      {
        'location-city': { from: 'worksite', us_place: 'city', otherwise: 'default' },
        'location-state': { from: 'worksite', us_place: 'state' },
      },
    ],
    ['and no state of a city alone', { City: 'Indiana' }, { 'location-city': 'City' }],
    [
      'in attributes, with the country',
      { State: { '@Descriptor': 'Texas' }, Country: { '@Descriptor': 'United States of America' } },
      {
        'location-state': [
          { template: '{State/@Descriptor}, {Country/@Descriptor}', as: 'us_state' },
          { from: 'State/@Descriptor', as: 'us_state' },
        ],
      },
    ],
    [
      'the city of a place beside a state of its own',
      { location: 'Austin, TX', region: 'Texas' },
      {
        'location-city': { from: 'location', us_place: 'city', otherwise: 'default' },
        'location-state': { from: 'region', as: 'us_state' },
      },
    ],
  ])('the place of the posting, %s', async (_what, record, expected) => {
    const lines = [1, 2].map((id) => JSON.stringify({ id, title: `Nurse ${id}`, ...record }));
    const { fields } = await propose(`${lines.join('\n')}\n`);
    const { 'location-city': city, 'location-state': state } = fields;
    expect({ ...(city && { 'location-city': city }), ...(state && { 'location-state': state }) }).toEqual(expected);
  });

  it.each<[string, object, string | undefined]>([
    [
      'a list of places',
      {
        locations: [
          { city: 'Toronto', state: 'ON' },
          { city: 'Austin', state: 'TX' },
        ],
      },
      'locations',
    ],
    ['a list of texts', { locations: ['Toronto, Canada', 'Austin, TX'] }, 'locations'],
    [
      'elements in one',
      {
        locations: {
          location: [
            { city: 'Toronto', state: 'ON' },
            { city: 'Austin', state: 'TX' },
          ],
        },
      },
      'locations/location',
    ],
    ['one place only', { locations: [{ city: 'Austin', state: 'TX' }] }, undefined],
    [
      'lists that may not belong together',
      { cities: ['Toronto', 'Austin'], city: 'Austin', state: ['ON', 'TX'] },
      undefined,
    ],
  ])('the first U.S. place of %s', async (_what, record, path) => {
    const lines = [1, 2].map((id) => JSON.stringify({ id, title: `Nurse ${id}`, ...record }));
    const { settings, notes } = await propose(`${lines.join('\n')}\n`);
    expect(settings.places).toEqual(path && { path, use: 'first' });
    expect(notes).toHaveLength(path === undefined ? 0 : 1);
  });

  it('no addresses of those who only work on a posting', async () => {
    const job = (id: number) => ({
      id,
      title: 'Nurse',
      state: 'TX',
      contact_email: 'x@a.example',
      application_email: `${id}@a.example`,
    });
    expect(
      (await propose([1, 2].map((id) => JSON.stringify(job(id))).join('\n'))).fields['contact-email-address'],
    ).toEqual({ from: 'application_email', as: 'email' });
    const table = 'Job ID,Title,State,Hiring Manager Email\n1,Nurse,TX,a@a.example\n2,Cook,TX,b@a.example\n';
    expect((await propose(table)).fields).not.toHaveProperty('contact-email-address');
  });

  it('no addresses of the company that all postings share, unless they are named as those of postings', async () => {
    const record = { title: 'Nurse', state: 'TX', rss_link: 'https://a.example/rss', support_email: 's@a.example' };
    const table = [1, 2, 3].map((id) => JSON.stringify({ id, ...record })).join('\n');
    expect(Object.keys((await propose(table)).fields).filter((name) => name.startsWith('contact-'))).toEqual([]);
    const { fields } = await propose(table.replaceAll('rss_link', 'apply_url').replaceAll('support_email', 'email'));
    expect(fields).toMatchObject({ 'contact-web-address': { from: 'apply_url' } });
    expect(fields).toHaveProperty('contact-email-address');
    const two = table.replaceAll('rss_link', 'application_link').split('\n').slice(1).join('\n');
    expect((await propose(two)).fields).toMatchObject({ 'contact-web-address': { from: 'application_link' } });
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
      'the address of OData, beside a total that no path names',
      { '@odata.count': 37, '@odata.nextLink': 'https://api.example.com/jobs?$skiptoken=1' },
      '',
      { pages: { by: 'next', path: '@odata.nextLink' } },
    ],
    [
      'the address of Salesforce',
      { totalSize: 37, done: false, nextRecordsUrl: '/services/data/v60.0/query/01g-2' },
      '',
      { total: 'totalSize', pages: { by: 'next', path: 'nextRecordsUrl' } },
    ],
    [
      'an address beside its cursor',
      { paging: { next: { after: '2', link: 'https://api.example.com/jobs?after=2' } } },
      '',
      { pages: { by: 'next', path: 'paging/next/link' } },
    ],
    [
      'an offset that is a cursor',
      { offset: 'itrX/recY' },
      '?pageSize=2',
      { pages: { by: 'cursor', path: 'offset', parameter: 'offset' } },
    ],
    [
      'the total of Elasticsearch',
      { hits: { total: { value: 2, relation: 'eq' } } },
      '',
      { total: 'hits/total/value' },
    ],
    [
      'pages of Spring',
      { pageable: { pageNumber: 0, pageSize: 2 }, totalElements: 37, size: 2, number: 0 },
      '',
      { total: 'totalElements', pages: { by: 'page', parameter: 'page', first: 0, size: 2, size_parameter: 'size' } },
    ],
    ['a flag as a number', { has_more: 1 }, '?page=1', { pages: { by: 'page', parameter: 'page', more: 'has_more' } }],
    [
      'a link in a list of links',
      { links: [{ rel: 'next', href: '/jobs?page=2' }] },
      '',
      { pages: { by: 'next', path: 'links[rel=next]/href' } },
    ],
    [
      "the number of the page, beside a count that is the page's own",
      { meta: { count: 2, page: 1, total_pages: 3 } },
      '',
      { pages: { by: 'page', parameter: 'page' } },
    ],
    ["a count that is the only page's", { count: 2, current_page: 1, total_pages: 1 }, '', {}],
    [
      'what usually goes with the size in the address',
      { totalResults: 37 },
      '?resultsToTake=2',
      {
        total: 'totalResults',
        pages: { by: 'offset', parameter: 'resultsToSkip', size: 2, size_parameter: 'resultsToTake' },
      },
    ],
    [
      'names with underscores in the address',
      { total_items: 37, current_page: 1, items_per_page: 2 },
      '?current_page=1&items_per_page=2',
      {
        total: 'total_items',
        pages: { by: 'page', parameter: 'current_page', size: 2, size_parameter: 'items_per_page' },
      },
    ],
    [
      'pages of Strapi',
      { meta: { pagination: { page: 1, pageSize: 2, pageCount: 19, total: 37 } } },
      '',
      {
        total: 'meta/pagination/total',
        pages: { by: 'page', parameter: 'pagination[page]', size: 2, size_parameter: 'pagination[pageSize]' },
      },
    ],
    [
      'a total in German',
      { maxErgebnisse: 37, page: '1', size: '2' },
      '',
      { total: 'maxErgebnisse', pages: { by: 'page', parameter: 'page', size: 2, size_parameter: 'size' } },
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
    const following = { said: 'the response has a Link header' };
    expect(proposePages([{}, {}], 2, address('?page=1'), { following })).toEqual({ pages: { by: 'link' }, notes: [] });
    expect(proposePages(undefined, 2, address(), { following })).toEqual({ pages: { by: 'link' }, notes: [] });
  });

  it('says that there are more pages if it does not know how to get them, and is not complete without them', () => {
    expect(proposePages({ total: 37 }, 2, address())).toEqual({
      total: 'total',
      notes: [expect.stringMatching(/^the document states 37 postings \(total\), but has 2/)],
    });
    expect(proposePages({ has_more: true }, 2, address())).toEqual({
      notes: [expect.stringMatching(/^the document states that more postings follow \(has_more\)/)],
    });
    expect(proposePages({ count: 2, current_page: 1, total_pages: 3 }, 2, address())).toEqual({
      notes: [expect.stringMatching(/^the document states that it is page 1 of 3 \(total_pages\)/)],
    });
    const listTotal = { header: 'x-total-count', records: 37 };
    expect(proposePages([{}, {}], 2, address(), { listTotal })).toEqual({
      notes: [expect.stringMatching(/^the header x-total-count states 37 postings, but the document has 2/)],
    });
    expect(proposePages([{}, {}], 2, address('?page=1'), { listTotal })).toEqual({
      pages: { by: 'page', parameter: 'page' },
      notes: [],
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
