// Decoding the site's XML of a job, the URL of a job, and times.
import { describe, expect, it } from 'vitest';
import { siteJobId } from '../../src/posting/identifiers.ts';
import { jobPath, readJobId, readJobUrl, unusedIdLike, wordsOfAnswer } from '../../src/site/http/job-address.ts';
import { readSiteJob, readTime } from '../../src/site/xml/decode.ts';
import { readXml } from '../../src/site/xml/xml-tree.ts';

const base = new URL('https://site.test/board/jobs.xml');

function decode(xml: string) {
  const root = readXml(xml);
  return root && readSiteJob(root, base);
}

describe('readSiteJob (site-interface.md, section 2)', () => {
  it('reads the complete XML: ID, fields as text with _ folded, created_at', () => {
    const xml = `<?xml version="1.0"?><job><id type="integer">12</id><title>Cook &amp; bottle washer</title>
      <location_state>MA</location_state><number>007</number><empty/><gone nil="true"/>
      <company><name>nested</name></company><created_at type="datetime">2024-03-01T10:00:00Z</created_at></job>`;
    expect(decode(xml)).toEqual({
      siteJobId: '12',
      fields: {
        id: '12',
        title: 'Cook & bottle washer',
        'location-state': 'MA',
        number: '007',
        empty: '',
        'created-at': '2024-03-01T10:00:00Z',
      },
      types: { id: 'number', gone: 'nil', 'created-at': 'instant' },
      createdAt: new Date('2024-03-01T10:00:00Z'),
    });
  });

  it.each([
    ['type="datetime"', 'instant'],
    ['type="dateTime"', 'instant'],
    ['xsi:type="xs:dateTime"', 'instant'],
    ['type="date"', 'date'],
    ['type="decimal"', 'number'],
    ['type="integer"', 'number'],
    ['type="float"', 'float'],
    ['type="boolean"', 'boolean'],
    ['type="string"', 'text'],
    ['type="decimal" nil="true"', 'nil'],
    ['xsi:nil="1"', 'nil'],
    ['nil="false"', undefined],
    ['type="constructor"', undefined],
    ['', undefined],
  ])('<a %s> states %s', (attributes, type) => {
    expect(decode(`<job><id>7</id><a ${attributes}>1</a></job>`)?.types?.a).toBe(type);
  });

  it('a value counts, if the same name is also nil', () => {
    const job = decode('<job><id>7</id><a nil="true"/><a>x</a><b>y</b><b nil="true"/></job>');
    expect([job?.fields.a, job?.fields.b, job?.types]).toEqual(['x', 'y', undefined]);
  });

  const idCases: readonly [name: string, xml: string, id: string | undefined][] = [
    ['id', '<job><id> 7 </id></job>', '7'],
    ['job_id', '<job><job_id>7</job_id></job>', '7'],
    ['Id', '<Job><Id>7</Id></Job>', '7'],
    ['ID', '<Job><ID>7</ID></Job>', '7'],
    ['jobId, which may be a reference', '<job><jobId>7</jobId></job>', undefined],
    ['job-id', '<job><job-id>7</job-id></job>', '7'],
    ['an attribute', '<job id="7"/>', '7'],
    ['the end of its URL', '<job href="/jobs/7.xml"/>', '7'],
    ['a root around it', '<response><job><id>7</id></job></response>', '7'],
    ['letters', '<job><id>a-b_c.d</id></job>', 'a-b_c.d'],
    ['none', '<job><title>x</title></job>', undefined],
    ['an empty one', '<job><id/></job>', undefined],
    ['one without a value', '<job><id nil="true"/></job>', undefined],
    ['several jobs', '<jobs><job id="7"/><job id="8"/></jobs>', undefined],
    ['malformed', '<job><id>7</id>', undefined],
    ['two roots', '<job><id>7</id></job><job/>', undefined],
    ['no XML', '7', undefined],
    ['nothing', '', undefined],
    ['another root', '<posting><id>7</id></posting>', undefined],
    ['another root with fields of a job', '<root><id>7</id><title>x</title><number>A</number></root>', '7'],
    ['such a record in another', '<response><data id="7"><Title>x</Title><number>A</number></data></response>', '7'],
    ['a company', '<response><company><id>7</id><title>x</title><number>A</number></company></response>', undefined],
    [
      'errors of fields',
      '<root><id>7</id><title><item>blank</item></title><number><item>no</item></number></root>',
      undefined,
    ],
    ['another record', '<root><id>7</id><title>Health</title></root>', undefined],
  ];
  it.each(idCases)('ID from %s', (_name, xml, id) => expect(decode(xml)?.siteJobId).toBe(id));

  it.each(['created_at', 'createdAt', 'CreatedAt'])('the time in %s', (name) => {
    const job = decode(`<job><id>7</id><${name}>2024-03-01T10:00:00Z</${name}></job>`);
    expect(job?.createdAt).toEqual(new Date('2024-03-01T10:00:00Z'));
  });

  it('reads an empty element that names another record as its name and ID', () => {
    const xml = `<job><id>7</id><project id="3" name="Jobs"/><status id="5" name="Closed" is_closed="true"/><tracker id="2"/>
      <owner id="9" name="Ann"/><owner_id>10</owner_id><note type="string"/></job>`;
    expect(decode(xml)?.fields).toEqual({
      id: '7',
      project: 'Jobs',
      'project-id': '3',
      status: 'Closed',
      'status-id': '5',
      'tracker-id': '2',
      owner: 'Ann',
      'owner-id': '10',
      note: '',
    });
  });

  it('reads a job that the site calls otherwise, and no other element', () => {
    const resource = { element: 'job_posting', path: '/board/postings' };
    const read = (xml: string) => readSiteJob(readXml(xml) as never, base, { resource });
    expect(read('<job-posting><id>7</id></job-posting>')?.siteJobId).toBe('7');
    expect(read('<job_posting><job-posting-id>7</job-posting-id></job_posting>')?.siteJobId).toBe('7');
    expect(read('<answer><job_posting href="/board/postings/7.xml"/></answer>')?.siteJobId).toBe('7');
    expect(read('<job><id>7</id></job>')).toBeUndefined();
    expect(readJobUrl('/board/postings/7.xml', base, resource).siteJobId).toBe('7');
    expect(readJobUrl('/jobs/postings/8', base, resource).siteJobId).toBe('8');
    expect(readJobUrl('/board/postings.xml', base, resource)).not.toHaveProperty('siteJobId', 'postings');
    expect(jobPath(siteJobId('a b'), resource)).toBe('/board/postings/a%20b.xml');
  });

  it('no field name reaches a prototype', () => {
    const site = decode('<job><id>7</id><toString>y</toString></job>');
    expect(Object.getPrototypeOf(site?.fields)).toBe(Object.prototype);
    const named = decode('<job><id>7</id><constructor>x</constructor><__proto__>y</__proto__></job>');
    expect(Object.entries(named?.fields ?? {})).toEqual([
      ['id', '7'],
      ['constructor', 'x'],
      ['--proto--', 'y'],
    ]);
    expect(Object.getPrototypeOf(named?.fields)).toBe(Object.prototype);
    decode('<job __proto__="x"><id>7</id><__proto__><polluted>x</polluted></__proto__></job>');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('readTime', () => {
  const at = '2024-03-01T10:00:00.000Z';
  it.each([
    ['2024-03-01T10:00:00Z', at],
    ['2024-03-01 10:00:00 UTC', at],
    ['2024-03-01 05:00:00 -0500', at],
    ['2024-03-01T11:00:00.5+01:00', '2024-03-01T10:00:00.500Z'],
    ['Fri, 01 Mar 2024 10:00:00 GMT', at],
    [' 2024-03-01t10:00z ', at],
    ['2024-03-01T10:00:00', undefined],
    ['2024-03-01', undefined],
    ['2024-13-41T10:00:00Z', undefined],
    ['yesterday', undefined],
    ['1709287200', undefined],
    ['', undefined],
  ])('%s', (text, expected) => expect(readTime(text)?.toISOString()).toBe(expected));
});

describe('the URL of a job (site-interface.md, section 4: Location holds the URL of the new job)', () => {
  it.each([
    ['https://site.test/board/jobs/12.xml', '12'],
    ['https://site.test/board/jobs/12', '12'],
    ['/jobs/12', '12'],
    ['jobs/12.xml', '12'],
    ['/board/jobs/12/', '12'],
    ['/jobs/12.xml?locale=en#top', '12'],
    ['/jobs/12/edit', '12'],
    ['/jobs/a%2Fb.xml', 'a/b'],
    ['/jobs/12-cook', '12-cook'],
    ['/jobs/1.2.xml', '1.2'],
    ['//other.test/jobs/12', '12'],
    ['/jobs', undefined],
    ['/jobs.xml', undefined],
    ['/jobs/', undefined],
    ['/jobs/%FF', undefined],
    ['/', undefined],
    ['http://[', undefined],
    ['mailto:jobs/12', undefined],
  ])('%s', (location, id) => expect(readJobUrl(location, base).siteJobId).toBe(id));

  it('guesses from the last segment if none is jobs', () => {
    expect(readJobUrl('/postings/12.xml', base)).toEqual({ guessedId: '12', url: 'https://site.test/postings/12.xml' });
    expect(readJobUrl('12', base)).toEqual({ guessedId: '12', url: 'https://site.test/board/12' });
  });

  it('drops credentials', () => {
    expect(readJobUrl('https://user:secret@site.test/jobs/1', base).url).toBe('https://site.test/jobs/1');
  });

  it('puts an ID into a path as one segment', () => {
    expect(jobPath(siteJobId('a/../b?c#d é'))).toBe('/jobs/a%2F..%2Fb%3Fc%23d%20%C3%A9.xml');
  });

  it.each(['', ' ', 'a\nb', 'x'.repeat(256), '\uD800', undefined])('%j is not an ID', (text) =>
    expect(readJobId(text)).toBeUndefined(),
  );
});

it.each([
  ['5', '2147483629'],
  ['12-nurse', '2147483629-nurse'],
  ['81234567890', '81289012345'],
  ['3f2b8c1e-0b1d-4c5a-9e7f-a1b2c3d4e5f6', '3f2b8c1e-0b1d-4c5a-9e7f-a1b2f8a9b0c1'],
  ['Nurse-Zx', 'Qxuvb-Ig'],
])('an ID like %s that no job has', (id, unused) => {
  expect(unusedIdLike(siteJobId(id))).toBe(unused);
});

it('two answers about missing jobs have the same words', () => {
  const said = (id: string, request: string) => `<error>Couldn't find Job ${id}\n (request ${request}, 12 ms)</error>`;
  expect(wordsOfAnswer(said('12', 'a1b2c3d4-e5f6'), siteJobId('12'))).toBe(
    wordsOfAnswer(said('n-7', '99887766'), siteJobId('n-7')),
  );
  expect(wordsOfAnswer('Job is locked', siteJobId('12'))).not.toBe(wordsOfAnswer('Job is missing', siteJobId('12')));
});
