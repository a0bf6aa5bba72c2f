// The list action, whose path and paging the interface does not describe: every job once, and never a part taken for
// the whole.
import { describe, expect, it } from 'vitest';
import { siteJobId } from '../../src/posting/identifiers.ts';
import { type GetPage, readList } from '../../src/site/list.ts';
import { openClient, openSite, type Reply } from './scripted-site.ts';

const xml = { 'content-type': 'application/xml' };
const job = (id: number) => `<job><id>${id}</id><title>t${id}</title></job>`;
const jobs = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => job(from + index)).join('');

/** Reads a list whose pages a function supplies by the query parameter `page`. */
async function read(pageOf: (page: number, url: URL) => Reply, listPath = '/mine.xml', options = {}) {
  await using site = await openSite((got) => {
    const url = new URL(got.url, 'http://site.test');
    return pageOf(Number(url.searchParams.get('page') ?? 1), url);
  });
  await using client = openClient(site.url, { listPath, ...options });
  const ids: string[] = [];
  const listing = await client.list((siteJob) => ids.push(siteJob.siteJobId));
  return { listing, ids: ids.map(Number), asked: site.got.map((got) => got.url.replace(/_=[-\w]{36}$/, '_')) };
}
const page = (body: string, headers = {}): Reply => [200, { ...xml, ...headers }, body];

describe('list (site-interface.md, section 4: 200 with the XML of a collection)', () => {
  it.each([
    ['a root jobs', `<jobs type="array">${jobs(1, 3)}</jobs>`],
    ['another root', `<result>${jobs(1, 3)}</result>`],
    ['jobs below a root', `<response><status>ok</status><jobs>${jobs(1, 3)}</jobs></response>`],
    ['only IDs', '<jobs><job id="1"/><job><id>2</id></job><job href="/jobs/3.xml"/></jobs>'],
  ])('%s; a site without paging repeats its list, and is read once more', async (_name, body) => {
    const { listing, ids, asked } = await read(() => page(body));
    expect(ids).toEqual([1, 2, 3]);
    expect(listing).toEqual({ kind: 'listed', pages: 1 });
    expect(asked).toEqual(['/mine.xml', '/mine.xml?page=2', '/mine.xml?_']);
  });

  it('hands over the fields of an entry', async () => {
    await using site = await openSite(
      page('<jobs><job><id>1</id><number>A-7</number><created-at>2024-03-01T10:00:00Z</created-at></job></jobs>'),
    );
    await using client = openClient(site.url, { listPath: '/jobs.xml' });
    const taken: object[] = [];
    await client.list((siteJob) => taken.push(siteJob));
    expect(taken).toEqual([
      {
        siteJobId: '1',
        fields: { id: '1', number: 'A-7', 'created-at': '2024-03-01T10:00:00Z' },
        createdAt: new Date('2024-03-01T10:00:00Z'),
      },
    ]);
  });

  it.each([
    '<jobs/>',
    '<jobs type="array"></jobs>',
    '<nil-classes type="array"/>',
    '<response><jobs/></response>',
    '<jobs>No jobs found.</jobs>',
    '<jobs><error>There are no jobs</error></jobs>',
    '<response><error code="0">No error</error><jobs/></response>',
  ])('empty: %s', async (body) => {
    expect(await read(() => page(body))).toMatchObject({ listing: { kind: 'listed', pages: 1 }, ids: [] });
  });

  describe('of servers that write whatever they have as XML', () => {
    const entries = (name: string, inner = '') =>
      [1, 2]
        .map((id) => `<${name}><id>${id}</id><title>T</title><Location_City>B</Location_City>${inner}</${name}>`)
        .join('');
    it.each([
      ['Django REST framework', `<root>${entries('list-item')}</root>`],
      [
        'its pages, and records in records',
        `<root><count>2</count><next></next><previous></previous><results>${entries('list-item', `<tags><list-item>a</list-item></tags><offices>${entries('list-item')}</offices>`)}</results></root>`,
      ],
      ['CakePHP', `<response>${entries('jobs')}</response>`],
      [
        'CakePHP, with its pages',
        `<response>${entries('jobs')}<pagination><page_count>1</page_count></pagination></response>`,
      ],
      ['Jackson', `<List>${entries('item')}</List>`],
      ['Jackson, with a wrapper', `<JobList><jobs>${entries('jobs')}</jobs></JobList>`],
      [
        'Spring Data',
        `<PageImpl><content>${entries('content')}</content><totalElements>2</totalElements><totalPages>1</totalPages></PageImpl>`,
      ],
      ['Symfony', `<response>${entries('item')}</response>`],
      ['PHP', `<root>${entries('item').replace(/item>/g, 'item0>')}</root>`],
      ['Rails, of hashes', `<objects type="array">${entries('object')}</objects>`],
      ['jobs in entries', `<data><item>${jobs(1, 1)}</item><item>${jobs(2, 2)}</item></data>`],
    ])('%s', async (_name, body) => {
      expect(await read(() => page(body))).toMatchObject({ listing: { kind: 'listed' }, ids: [1, 2] });
    });

    it.each([
      '<root><count>0</count><next/><previous/><results></results></root>',
      '<Page><content/><totalElements>0</totalElements></Page>',
    ])('without a job: %s', async (body) => {
      expect(await read(() => page(body))).toMatchObject({ listing: { kind: 'listed' }, ids: [] });
    });

    it.each([
      ['a job with records in it', `<root>${entries('list-item')}<id>7</id><title>T</title><number>A</number></root>`],
      ['other records', '<root><list-item><id>1</id><name>Health</name></list-item></root>'],
      ['texts', '<root><list-item>a</list-item></root>'],
      ['jobs and others', `<root>${entries('list-item')}<list-item><id>3</id></list-item></root>`],
      ['entries without an ID', '<root><list-item><title>T</title><number>A</number></list-item></root>'],
      ['jobs under two names', `<root>${jobs(1, 2)}${entries('item')}</root>`],
      ['some jobs and others in elements of the same name', `<root>${entries('jobs')}<jobs><id>3</id></jobs></root>`],
      ['records that are no jobs', '<root><jobs><id>1</id></jobs><jobs><id>2</id></jobs></root>'],
      [
        'entries without an ID, of another name',
        '<jobs><posting><uuid>a</uuid><title>T</title><location-city>B</location-city></posting></jobs>',
      ],
      ['records that are no jobs, and one', '<root><jobs><id>1</id></jobs></root>'],
      ['entries and a list in them', `<root>${entries('jobs', jobs(8, 9))}</root>`],
      ['no count of none', '<root><results></results></root>'],
      ['entries of something else', `<root><facets>${entries('list-item')}</facets></root>`],
    ])('no list of jobs: %s', async (_name, body) => {
      expect((await read(() => page(body))).listing.kind).toBe('unreadable');
    });

    it('a failure in an entry beside jobs', async () => {
      const body = `<response>${jobs(1, 1)}<item><error>Out of memory</error></item></response>`;
      expect((await read(() => page(body))).listing).toMatchObject({
        message: expect.stringContaining('Out of memory'),
      });
    });
  });

  describe('of a site that calls its jobs otherwise', () => {
    const options = { resource: { element: 'vacancy', path: '/open/vacancies' } };
    it.each([
      [
        '<vacancies total_count="2" offset="0"><vacancy id="1"/><vacancy><vacancy-id>2</vacancy-id></vacancy></vacancies>',
        [1, 2],
      ],
      ['<result><vacancies><vacancy href="/open/vacancies/3.xml"/></vacancies></result>', [3]],
      ['<vacancies type="array"/>', []],
      ['<vacancies>No vacancies found.</vacancies>', []],
      ['<vacancys/>', []],
    ])('%s', async (body, ids) => {
      expect(await read(() => page(body), undefined, options)).toMatchObject({ listing: { kind: 'listed' }, ids });
    });

    it.each([
      '<jobs><job id="1"/></jobs>',
      '<vacancy><id>1</id></vacancy>',
      '<vacancies><job><id>1</id></job></vacancies>',
      '<vacancies><error>No access</error></vacancies>',
    ])('is no list of its jobs: %s', async (body) => {
      expect((await read(() => page(body), undefined, options)).listing.kind).toBe('unreadable');
    });
  });
});

it('reads each page once if that is enough, and takes no old copy of one', async () => {
  const pages = (headers = {}) =>
    openSite((got) => {
      const number = Number(new URL(got.url, 'http://site.test').searchParams.get('page') ?? 1);
      return page(`<jobs page="${number}" total-pages="3">${jobs(number * 2 - 1, number * 2)}</jobs>`, headers);
    });
  await using site = await pages();
  await using client = openClient(site.url, { listPath: '/mine.xml' });
  const ids: string[] = [];
  const listing = await client.list((siteJob) => ids.push(siteJob.siteJobId), undefined, undefined, 0, true);
  expect(listing).toEqual({ kind: 'listed', pages: 3 });
  expect(ids).toHaveLength(6);
  expect(site.got.map(({ url }) => url)).toEqual(['/mine.xml', '/mine.xml?page=2', '/mine.xml?page=3']);
  await using cached = await pages({ age: '60' });
  await using other = openClient(cached.url, { listPath: '/mine.xml' });
  expect(await other.list(() => {}, undefined, undefined, 0, true)).toMatchObject({ kind: 'unreadable' });
});

it('waits for a page if the site asks to, as it would refuse the same one again, but not for long, and not for the first', async () => {
  const two = (n: number) => page(`<jobs page="${n}" total-pages="3">${jobs(n * 2 - 1, n * 2)}</jobs>`);
  let refused = 0;
  const busy = (after: string, status = 429) =>
    read((n) => (n === 2 && refused++ % 2 === 0 ? [status, { 'retry-after': after }] : two(n)));
  expect((await busy('0')).listing).toEqual({ kind: 'listed', pages: 3 });
  expect((await busy('0', 503)).listing).toEqual({ kind: 'listed', pages: 3 });
  expect((await busy('301')).listing).toMatchObject({ kind: 'unreadable' });
  expect((await read((n) => (n === 1 ? [429, { 'retry-after': '1' }] : two(n)))).asked).toHaveLength(1);
});

describe('pages that are counted from 0, as Spring does', () => {
  const numberIn = (url: URL) => Number(url.searchParams.get('page') ?? 0);
  const two = (n: number) => (n < 3 ? jobs(n * 2 + 1, n * 2 + 2) : '');

  it('are read if the list states them', async () => {
    const stated = (n: number) =>
      page(`<Page>${two(n)}<totalElements>6</totalElements><totalPages>3</totalPages><number>${n}</number></Page>`);
    const { listing, ids } = await read((_, url) => stated(numberIn(url)));
    expect([listing, ids]).toEqual([{ kind: 'listed', pages: 3 }, [1, 2, 3, 4, 5, 6]]);
  });

  it.for([3, 1])('make a list of %i further pages unreadable, until its address names page 0', async (last) => {
    const silent = (_: number, url: URL) => page(`<jobs>${numberIn(url) <= last ? two(numberIn(url)) : ''}</jobs>`);
    expect((await read(silent)).listing).toMatchObject({
      kind: 'unreadable',
      message: expect.stringContaining(
        'counted from 0, so that page 1 was left out: set list_path to /mine.xml?page=0',
      ),
    });
    expect(await read(silent, '/mine.xml?page=0')).toMatchObject({ listing: { kind: 'listed' } });
  });
});

describe('paging (section 4, rule 6: not shown)', () => {
  const three = (n: number) => jobs(n * 2 - 1, n * 2);
  it.each([
    ['total-pages', (n: number) => page(`<jobs page="${n}" total-pages="3">${three(n)}</jobs>`)],
    [
      'total_pages in children',
      (n: number) => page(`<jobs><current_page>${n}</current_page><total_pages>3</total_pages>${three(n)}</jobs>`),
    ],
    [
      'a child for the paging',
      (n: number) => page(`<r><pagination><page>${n}</page><pages>3</pages></pagination><jobs>${three(n)}</jobs></r>`),
    ],
    ['a total', (n: number) => page(`<jobs total="6">${three(n)}</jobs>`)],
    ['a next page number', (n: number) => page(`<jobs${n < 3 ? ` next="${n + 1}"` : ' next=""'}>${three(n)}</jobs>`)],
    [
      'a next element',
      (n: number) => page(`<jobs>${three(n)}<next>${n < 3 ? `/mine.xml?page=${n + 1}` : ''}</next></jobs>`),
    ],
    [
      'a link element',
      (n: number) =>
        page(
          `<jobs total-pages="3" page="${n}">${n < 3 ? `<link rel="next" href="?page=${n + 1}"/>` : ''}${three(n)}</jobs>`,
        ),
    ],
    [
      'the header Link',
      (n: number) =>
        page(
          `<jobs total="6">${three(n)}</jobs>`,
          n < 3 ? { link: `</x>; rel="prev", <mine.xml?page=${n + 1}>; rel="next"` } : {},
        ),
    ],
    ['no paging hints, then nothing new', (n: number) => page(`<jobs>${three(Math.min(n, 3))}</jobs>`)],
    ['no paging hints, then an empty page', (n: number) => page(n <= 3 ? `<jobs>${three(n)}</jobs>` : '<jobs/>')],
    [
      'no paging hints, then only the element that jobs were in',
      (n: number) => page(`<r><items>${n <= 3 ? three(n) : ' '}</items></r>`),
    ],
    ['no paging hints, then 404', (n: number): Reply => (n <= 3 ? page(`<jobs>${three(n)}</jobs>`) : [404])],
  ])('%s', async (_name, pageOf) => {
    const { listing, ids } = await read(pageOf);
    expect(listing.kind).toBe('listed');
    expect(ids).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it.each([
    [
      'the header Link in single quotes',
      (next: string) => page(`<jobs>${three(1)}</jobs>`, { link: `<${next}>; rel='next'` }),
    ],
    [
      'a link element with several relations',
      (next: string) => page(`<jobs><link rel="next last" href="${next}"/>${three(1)}</jobs>`),
    ],
    ['a link element in capitals', (next: string) => page(`<jobs><link rel="Next" href="${next}"/>${three(1)}</jobs>`)],
  ])('follows %s, where the site does not count pages', async (_name, first) => {
    const { ids } = await read((_page, url) =>
      url.searchParams.get('from') === '3' ? page(`<jobs>${three(2)}</jobs>`) : first('mine.xml?from=3'),
    );
    expect(ids).toEqual([1, 2, 3, 4]);
  });

  it('counts up from the page in the path, and keeps its other parameters', async () => {
    const { asked } = await read(
      (n) => page(`<jobs page="${n}" total-pages="5">${three(n)}</jobs>`),
      '/mine.xml?state=open&page=4',
    );
    const both = ['/mine.xml?state=open&page=4', '/mine.xml?state=open&page=5'];
    expect(asked).toEqual([...both, ...both.map((url) => `${url}&_`)]);
  });

  it('follows a link with the scheme behind a proxy as one of its own site', async () => {
    await using site = await openSite(({ url, headers }) => {
      const isLast = url.includes('page=2');
      const next = isLast ? '' : `https://${headers.host}/mine.xml?page=2`;
      return page(`<jobs>${isLast ? jobs(3, 4) : jobs(1, 2)}<next>${next}</next></jobs>`);
    });
    await using client = openClient(site.url, { listPath: '/mine.xml' });
    expect(await client.list(() => {})).toEqual({ kind: 'listed', pages: 2 });
  });

  it('hands over a job that moved to the next page only once', async () => {
    const { ids } = await read((n) =>
      page(`<jobs total-pages="2" page="${n}">${n === 1 ? jobs(1, 3) : jobs(3, 4)}</jobs>`),
    );
    expect(ids).toEqual([1, 2, 3, 4]);
  });
});

it.each(['<summary><invalid>3</invalid></summary>', '<result>450</result>', '<error code="0">No error</error>'])(
  'is whole with a count that has the name of a failure, or with none stated: %s',
  async (beside) => {
    expect(await read(() => page(`<list>${beside}<jobs>${jobs(1, 3)}</jobs></list>`))).toMatchObject({
      listing: { kind: 'listed' },
      ids: [1, 2, 3],
    });
  },
);

describe('a part is never taken for the whole', () => {
  it.each([
    ['401', (): Reply => [401], 'answered 401'],
    ['500', (): Reply => [500], 'answered 500'],
    ['a redirect', (): Reply => [302, { location: '/login' }], 'answered 302'],
    ['204', (): Reply => [204], 'answered 204'],
    ['an empty body', () => page(''), 'not the XML of a collection'],
    ['a page', () => page('<!DOCTYPE html><html><body>Log in</body></html>'), 'not the XML of a collection'],
    ['a page that is XML', () => page('<html><body/></html>'), 'not the XML of a collection'],
    [
      'warnings of PHP',
      () => page('<b>Warning</b>: Undefined key<?xml version="1.0"?><jobs/>'),
      'it says: Warning : Undefined key',
    ],
    ['errors', () => page('<errors/>'), 'not the XML of a collection'],
    ['one job', () => page(job(1)), 'not the XML of a collection'],
    ['something else', () => page('<result><status>ok</status></result>'), 'not the XML of a collection'],
    ['text', () => page('<result>later</result>'), 'not the XML of a collection'],
    ['an empty failure', () => page('<failure/>'), 'the site states a failure: failure'],
    ['an error in the list', () => page('<jobs><error>It is overloaded</error></jobs>'), 'It is overloaded'],
    ['an error beside the list', () => page('<r><status>error</status><jobs/></r>'), 'the site states a failure'],
    [
      'an error after jobs',
      () => page(`<jobs>${jobs(1, 3)}<error>It took too long</error></jobs>`),
      'It took too long',
    ],
    ['a status beside an empty list', () => page('<r><status>500</status><jobs/></r>'), 'the site states a failure'],
    [
      'an empty element in which no jobs were',
      (n: number) => page(n === 1 ? `<r><items>${jobs(1, 2)}</items></r>` : '<r><result/></r>'),
      'not the XML of a collection',
    ],
    ['text in the list', () => page('<jobs>Come back later</jobs>'), 'not the XML of a collection'],
    ['jobs of another name', () => page('<jobs><ad><id>1</id></ad></jobs>'), 'not the XML of a collection'],
    ['a truncated document', () => page(`<jobs>${jobs(1, 3)}`), 'not the XML of a collection'],
    ['a job without an ID', () => page('<jobs><job><title>x</title></job></jobs>'), 'a job in it has no ID'],
    [
      'a later page that fails',
      (n: number): Reply => (n === 1 ? page(`<jobs total-pages="2">${jobs(1, 2)}</jobs>`) : [500]),
      'answered 500',
    ],
    [
      'a promised page that does not exist',
      (n: number): Reply => (n === 1 ? page(`<jobs total-pages="2">${jobs(1, 2)}</jobs>`) : [404]),
      'answered 404',
    ],
    [
      'an unpromised page that fails',
      (n: number): Reply => (n === 1 ? page(`<jobs>${jobs(1, 2)}</jobs>`) : [500]),
      'answered 500',
    ],
    [
      'fewer jobs than announced',
      () => page(`<jobs total="5">${jobs(1, 3)}</jobs>`),
      'announces 5 jobs but returned 3',
    ],
    [
      'an ignored page parameter',
      () => page(`<jobs page="1" total-pages="3">${jobs(1, 3)}</jobs>`),
      'page 2 was requested but page 1 came back',
    ],
    [
      'the same again',
      () => page(`<jobs total-pages="3">${jobs(1, 3)}</jobs>`),
      'announces 3 pages, but page 2 had nothing new',
    ],
    ['a next page that is no URL', () => page(`<jobs next="http://[">${jobs(1, 3)}</jobs>`), 'is no URL: http://['],
    [
      'another host',
      () => page(`<jobs>${jobs(1, 3)}<next>http://elsewhere.test/jobs.xml?page=2</next></jobs>`),
      'its next page is on another site: http://elsewhere.test',
    ],
  ])('%s', async (_name, pageOf, message) => {
    const { listing } = await read(pageOf);
    expect(listing).toEqual({
      kind: 'unreadable',
      message: expect.stringContaining(message),
      changed: expect.any(Boolean),
    });
  });

  it('a page above the limit', async () => {
    const { listing } = await read(() => page(`<jobs>${jobs(1, 500)}</jobs>`), '/mine.xml', {
      maxListPageBytes: 10_000,
    });
    expect(listing).toEqual({
      kind: 'unreadable',
      message: expect.stringContaining('larger than 10000 bytes'),
      changed: false,
    });
  });

  it('an endless list', async () => {
    let id = 0;
    const getPage: GetPage = async (_url, take) => {
      take({ siteJobId: siteJobId(String(id++)), fields: {} });
      return { sent: true, status: 200, header: () => '', body: '', hints: {}, answeredAt: 0 };
    };
    const listing = await readList(new URL('http://site.test/jobs.xml'), getPage, () => {}, 0);
    expect(listing).toEqual({
      kind: 'unreadable',
      message: expect.stringContaining('more than 10000 pages'),
      changed: false,
    });
    expect(id).toBe(10_000);
  });

  it('no list action configured', async () => {
    await using client = openClient(new URL('http://127.0.0.1:9'));
    expect(await client.list(() => {})).toEqual({
      kind: 'unreadable',
      message: 'No list action is configured for this site (list_path)',
      changed: false,
    });
  });
});
