// Shapes of feeds that people have: each is read, or named for what it is with what to do about it.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bundledPresets } from '../../src/config/presets.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { feedConfigOf, formatFrom } from '../../src/setup/preset-fit.ts';
import { type Proposal, proposeFormat } from '../../src/setup/propose.ts';
import { sampleRecords } from '../../src/setup/sample-records.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';

/** Documents are opened without their byte order mark. */
const opened = (content: string | Buffer): Buffer => Buffer.from(content.toString().replace(/^\ufeff/, ''));

async function result(content: string | Buffer, address = 'feed') {
  const bytes = opened(content);
  const presets = await bundledPresets();
  return proposeFormat({ bytes, isWhole: true, address, presets, records: undefined, isOwn: false });
}

async function proposed(content: string | Buffer, address?: string): Promise<Proposal> {
  const one = await result(content, address);
  if (one.kind === 'refused') throw new Error(one.message);
  return one.proposal;
}

async function refusal(content: string | Buffer): Promise<string> {
  const one = await result(content);
  if (one.kind === 'proposal') throw new Error(`proposed: ${JSON.stringify(one.proposal.fields)}`);
  return one.message;
}

/** The postings that the proposed format makes of the document. */
async function postings(content: string | Buffer) {
  const { settings, key, fields, lenient, preset } = await proposed(content);
  expect(preset).toBeUndefined();
  const feed = feedConfigOf(formatFrom({ ...settings, key, fields }));
  const { trees } = await sampleRecords(opened(content), { ...feed.source, lenient });
  const reader = compileReader(feed.mapping);
  return trees.flatMap((tree) => {
    const read = reader.read(tree);
    return read.kind === 'posting' ? [{ key: read.posting.key, ...read.posting.fields }] : [];
  });
}

const NURSE = { title: 'Nurse', 'location-city': 'Austin', 'location-state': 'Texas' };
const COOK = { title: 'Cook', 'location-city': 'Dallas', 'location-state': 'Texas' };

describe('tables', () => {
  const HEADER = 'id,title,city,state,skills';
  it.each([
    ['a list with ; in a cell', `${HEADER}\n1,Nurse,Austin,TX,a;b;c;d;e;f\n2,Cook,Dallas,TX,a;b;c;d;e;f;g\n`],
    ['a list with | in a cell', `${HEADER}\n1,Nurse,Austin,TX,a|b|c|d|e|f\n2,Cook,Dallas,TX,a|b|c|d|e|f|g\n`],
    ['a list with ; in quotes', `${HEADER}\n1,Nurse,Austin,TX,"a;b;c;d;e;f"\n2,Cook,Dallas,TX,"a;b;c;d;e;f;g"\n`],
    [
      'a delimiter in the header that is none',
      `id,title (a;b;c;d;e;f),city,state,skills\n1,Nurse,Austin,TX,x\n2,Cook,Dallas,TX,y\n`,
    ],
    ['sep=;', 'sep=;\nid;title;city;state\n1;Nurse;Austin;TX\n2;Cook;Dallas;TX\n'],
    ['sep=, with a byte order mark', '\ufeffsep=,\r\nid,title,city,state\r\n1,Nurse,Austin,TX\r\n2,Cook,Dallas,TX\r\n'],
    [
      'sep=; and a report before the header',
      'sep=;\nReport\n\nid;title;city;state\n1;Nurse;Austin;TX\n2;Cook;Dallas;TX\n',
    ],
    ['a total', 'id,title,city,state\n1,Nurse,Austin,TX\n2,Cook,Dallas,TX\n,,,\nTotal,2,,\n'],
    [
      'a report before the header, and a count after the rows, as wide as the table',
      'Acme;;;;;\r\n"Jobs; all";;;;;\r\n;;;;;\r\n"id";"title";"city";"state";"x";"y"\r\n1;Nurse;Austin;TX;a;b\r\n2;Cook;Dallas;TX;a;b\r\nTotal records: 2;;;;;\r\n',
    ],
    ['a total in another language', 'id;title;city;state\n1;Nurse;Austin;TX\n2;Cook;Dallas;TX\nGesamt: 2;;;\n'],
  ])('with %s', async (_what, table) => {
    const found = (await proposed(table)).preset === undefined ? await postings(table) : undefined;
    // The preset csv may read it as well.
    if (found === undefined) {
      expect((await proposed(table)).settings).toEqual({});
      expect((await proposed(table)).preset?.name).toBe('csv');
    } else {
      expect(found).toEqual([expect.objectContaining(NURSE), expect.objectContaining(COOK)]);
    }
  });

  it('whose keys are formulas', async () => {
    const table = 'Job ID;Title;City;State\n="00123";Nurse;Austin;TX\n"=""00124""";Cook;Dallas;TX\n';
    expect((await postings(table)).map(({ key }) => key)).toEqual(['00123', '00124']);
  });

  it('of which no column is a key, because it repeats in a quarter of the rows', async () => {
    const rows = Array.from({ length: 200 }, (_, at) => `${at % 150},Job ${at % 190},Austin,TX`);
    const { key, keyCandidates } = await proposed(`id,title,city,state\n${rows.join('\n')}\n`.replace('id,', 'ref,'));
    expect(key).toBeUndefined();
    expect(keyCandidates).toContainEqual({ path: 'ref', distinct: 150, records: 200 });
  });

  it('of which a posting is listed once for each place', async () => {
    const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => `${id},Job ${id},Austin,TX\n`);
    const { key } = await proposed(`ref,headline,city,state\n${rows.join('')}1,Job 1,Dallas,TX\n2,Job 2,Dallas,TX\n`);
    expect(key).toBe('ref');
  });
});

describe('XML', () => {
  it('whose values are attributes', async () => {
    const found = await postings(
      '<list><entry nr="1" title="Nurse" city="Austin" state="TX">Care</entry><entry nr="2" title="Cook" city="Dallas" state="TX">Bake</entry></list>',
    );
    expect(found).toEqual([
      { key: '1', number: '1', description: 'Care', ...NURSE },
      { key: '2', number: '2', description: 'Bake', ...COOK },
    ]);
  });

  it.each([
    ['param', 'name', (name: string, value: string) => `<param name="${name}">${value}</param>`],
    ['field', 'key', (name: string, value: string) => `<field key="${name}"><![CDATA[${value}]]></field>`],
    ['attribute', 'id', (name: string, value: string) => `<attribute id="${name}" value="${value}"/>`],
    [
      'property',
      'child',
      (name: string, value: string) => `<property><name>${name}</name><value>${value}</value></property>`,
    ],
  ])('of <%s> with a %s', async (_element, _namer, write) => {
    const job = (values: Readonly<Record<string, string>>) =>
      `<job>${Object.entries(values)
        .map(([name, value]) => write(name, value))
        .join('')}</job>`;
    const found = await postings(
      `<jobs>${job({ id: '1', title: 'Nurse', city: 'Austin', state: 'TX' })}${job({ id: '2', title: 'Cook', city: 'Dallas', state: 'TX' })}</jobs>`,
    );
    expect(found).toEqual([
      expect.objectContaining({ key: '1', ...NURSE }),
      expect.objectContaining({ key: '2', ...COOK }),
    ]);
  });

  it('of which each company has some', async () => {
    const job = (id: number, title: string, city: string) =>
      `<job><id>${id}</id><title>${title}</title><city>${city}</city><state>TX</state></job>`;
    const company = (name: string, jobs: string) => `<company><name>${name}</name><jobs>${jobs}</jobs></company>`;
    const jobs = [1, 3, 5].map((id) => job(id, 'Nurse', 'Austin') + job(id + 1, 'Cook', 'Dallas'));
    const found = await postings(`<companies>${jobs.map((each) => company('Acme', each)).join('')}</companies>`);
    expect(found.map(({ key }) => key)).toEqual(['1', '2', '3', '4', '5', '6']);
  });

  it.each([
    ['&lt;jobs&gt;&lt;job/&gt;&lt;/jobs&gt;', /a document inside XML/],
    ['[{&quot;id&quot;:1}]', /a document inside XML/],
  ])('in a text is named for that: %s', async (text, message) => {
    expect(await refusal(`<?xml version="1.0"?>\n<string xmlns="http://tempuri.org/">${text}</string>`)).toMatch(
      message,
    );
  });

  it.each([
    ['%PDF-1.7\n1 0 obj<</a,b>>', /it is a PDF/],
    ['PAR1,\u0015', /Parquet/],
    ['\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1,', /workbook of Excel/],
  ])('in the place of a text is named for that: %j', async (text, message) => {
    expect(await refusal(text)).toMatch(message);
  });

  it('of a spreadsheet is named for that', async () => {
    const cells = '<Row><Cell><Data>ID</Data></Cell><Cell><Data>Title</Data></Cell></Row>';
    const workbook = `<Workbook xmlns="x"><Worksheet Name="Jobs"><Table>${cells}${cells}</Table></Worksheet></Workbook>`;
    expect(await refusal(`<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>${workbook}`)).toMatch(
      /workbook of Excel/,
    );
  });

  it('with entities of its own is named for that', async () => {
    const dtd = '<!DOCTYPE jobs [<!ENTITY nbsp "&#160;">]>';
    expect(await refusal(`<?xml version="1.0"?>${dtd}<jobs><job><id>1</id><title>Nurse</title></job></jobs>`)).toMatch(
      /document type declaration with its own entities.*ask for the feed without it/,
    );
  });

  it('without records names no option that would not help', async () => {
    expect(await refusal('<jobs/>')).toBe('it has no records');
    expect(await refusal('<a><b><c>x</c></b></a>')).toMatch(/name their path$/);
  });
});

describe('JSON', () => {
  const JOBS = [
    { id: 1, title: 'Nurse', city: 'Austin', state: 'TX' },
    { id: 2, title: 'Cook', city: 'Dallas', state: 'TX' },
  ];
  const text = JSON.stringify({ jobs: JOBS });

  it.each([
    ['a call', `cb(${text});`, /it is JSONP, JSON in a call of cb; .*parameter callback/],
    ['a guarded call', `/**/ typeof cb === 'function' && cb(${text});`, /it is JSONP, JSON in a call of cb/],
    [
      'a call of a member',
      `window.app.jobs(${JSON.stringify(JOBS)})`,
      /it is JSONP, JSON in a call of window\.app\.jobs/,
    ],
    ['an assignment', `var jobs = ${text};`, /it is a script that assigns JSON to jobs; .*remove jobs =/],
    ['a string', JSON.stringify(text), /it is JSON inside JSON: its whole text is a string.*jq 'fromjson'/],
    [
      'a string in a member',
      JSON.stringify({ d: text }),
      /it is JSON inside JSON: d is a string.*jq '\.d \| fromjson'/,
    ],
    [
      'members of an object',
      JSON.stringify({ jobs: { a1: JOBS[0], a2: JOBS[1] } }),
      /they are the values of jobs, named by their IDs \("a1", "a2", …\);.*jq '\.jobs \| to_entries/,
    ],
    [
      'members of the document',
      JSON.stringify({ 401: { ...JOBS[0], id: undefined }, 402: { ...JOBS[1], id: undefined } }),
      /they are the values of the document/,
    ],
  ])('in %s is named for what it is', async (_what, content, message) => {
    expect(await refusal(content)).toMatch(message);
  });

  it.each([
    ['the document', (list: object) => list],
    ['an object', (list: object) => ({ total: 2, jobs: list })],
  ])('in %s that PHP made of a list without all its indexes', async (_where, within) => {
    const expected = [expect.objectContaining({ key: '1', ...NURSE }), expect.objectContaining({ key: '2', ...COOK })];
    expect(await postings(JSON.stringify(within({ 1: JOBS[0], 3: JOBS[1] })))).toEqual(expected);
  });

  it('of which each department has some', async () => {
    const groups = [JOBS, JOBS.map((job) => ({ ...job, id: job.id + 2 })), []].map((jobs, at) => ({
      id: 900 + at,
      name: `Department ${at}`,
      child_ids: [],
      jobs,
    }));
    const expected = ['1', '2', '3', '4'];
    expect((await postings(JSON.stringify({ departments: groups }))).map(({ key }) => key)).toEqual(expected);
    expect((await postings(JSON.stringify(groups))).map(({ key }) => key)).toEqual(expected);
  });

  it('as the sections of one posting are no records', async () => {
    const section = (title: string) => ({ title, text: '<p>Care</p>' });
    const sections = { jobDescription: section('Job Description'), qualifications: section('Qualifications') };
    expect(await refusal(JSON.stringify({ id: '1', jobAd: { sections } }))).not.toContain('named by their IDs');
  });

  it.each([
    ['value', (value: string) => [{ value }]],
    ['rendered', (value: string) => ({ rendered: value })],
    ['text', (value: string) => ({ text: value })],
    ['#text', (value: string) => ({ '#text': value })],
  ])('with values below %s, and names with a prefix', async (_what, wrap) => {
    const wrapped = JOBS.map(({ id, title, city, state }) => ({
      nid: wrap(String(id)),
      title: wrap(title),
      field_city: wrap(city),
      field_state: wrap(state),
    }));
    expect(await postings(JSON.stringify(wrapped))).toEqual([
      expect.objectContaining({ key: '1', ...NURSE }),
      expect.objectContaining({ key: '2', ...COOK }),
    ]);
  });

  it.each<[string, (isOpen: boolean) => object]>([
    ['a status', (isOpen) => ({ status: isOpen ? 'Open' : 'Draft' })],
    ['a status in an object', (isOpen) => ({ status: { id: 2, label: isOpen ? 'Open' : 'On Hold - budget' } })],
    ['a status of Zoho', (isOpen) => ({ Job_Opening_Status: isOpen ? 'In-progress' : 'Filled' })],
    ['what to do with them', (isOpen) => ({ jobAction: isOpen ? 'addOrUpdate' : 'delete' })],
    ['a status that only they have', (isOpen) => (isOpen ? {} : { state: 'draft' })],
    ['a flag', (isOpen) => ({ isListed: isOpen })],
    ['a flag for the opposite', (isOpen) => ({ meta: { _is_internal: isOpen ? 'No' : 'Yes' } })],
  ])('without those that are closed by %s', async (_what, mark) => {
    const jobs = [...JOBS, { id: 3, title: 'Clerk', city: 'Austin', state: 'TX' }];
    const document = JSON.stringify({ jobs: jobs.map((job) => ({ ...job, ...mark(job.id !== 3) })) });
    expect((await postings(document)).map(({ key }) => key)).toEqual(['1', '2']);
    expect((await proposed(document)).notes).toEqual([
      expect.stringMatching(/^of the first 3 records, 1 is skipped, because/),
    ]);
    // All are closed, or that of something else.
    const all = JSON.stringify({ jobs: jobs.map((job) => ({ ...job, ...mark(false), team: mark(job.id !== 3) })) });
    expect((await proposed(all)).settings).not.toHaveProperty('skip');
  });

  it.each<[string, (isOpen: boolean, id: number) => object, string]>([
    ['a status', (isOpen) => ({ status: isOpen ? 'public' : 'archived' }), 'skipped'],
    ['a flag', (isOpen) => ({ is_open: isOpen }), 'skipped'],
    ['a status without a known text', (isOpen) => ({ status: isOpen ? 'Full-time' : 'Closed' }), 'posting'],
    ['a status that some lack', (isOpen, id) => (isOpen && id === 1 ? {} : { closed: !isOpen }), 'posting'],
  ])('that may be closed later by %s', async (_what, mark, kind) => {
    const marked = (isOpen: boolean) => JSON.stringify(JOBS.map((job) => ({ ...job, ...mark(isOpen, job.id) })));
    const { settings, key, fields, notes } = await proposed(marked(true));
    expect(notes).toHaveLength(kind === 'skipped' ? 1 : 0);
    const { source, mapping } = feedConfigOf(formatFrom({ ...settings, key, fields }));
    const reader = compileReader(mapping);
    const kinds = async (isOpen: boolean) =>
      (await sampleRecords(opened(marked(isOpen)), source)).trees.map((tree) => reader.read(tree).kind);
    expect([await kinds(true), await kinds(false)]).toEqual([Array(2).fill('posting'), Array(2).fill(kind)]);
  });

  it('with a note on translations, on dates that have passed, and on files of changes', async () => {
    const jobs = JOBS.map((job) => ({
      ...job,
      action: 'add',
      lang: job.id === 1 ? 'en' : 'es',
      closing_date: '2020-02-28',
    }));
    expect((await proposed(JSON.stringify({ jobs }))).notes).toEqual([
      expect.stringMatching(/^records are skipped once action says .* every file must list all postings/),
      expect.stringMatching(
        /^the records are in several languages \(lang is en, es\): .* skip: \{ "lang": \{ not: en \} \}$/,
      ),
      expect.stringMatching(
        /^closing_date of 2 of the first 2 records has passed, .* skip: \{ "closing_date": \{ past: true \} \}$/,
      ),
    ]);
  });

  it('of distributors, with an ID beside the reference, and names of states and of cities as classifications', async () => {
    const ads = JOBS.map(
      ({ id, title, city }) =>
        `<Job jid="${id}" reference="R${id}"><Position>Internal ${title}</Position><ExternalTitle>${title}</ExternalTitle><Description>Client</Description><PublicDescription>Care</PublicDescription><Class name="Job Family">Health</Class><Class name="Location">Texas</Class><Class name="Area">${city}</Class><CategoryId>7</CategoryId><QuestionsUrl>https://a.example.com/${id}</QuestionsUrl></Job>`,
    );
    const read = { 'category-name': 'Health', description: 'Care' };
    expect(await postings(`<Jobs>${ads.join('')}</Jobs>`)).toEqual([
      { key: '1', number: '1', ...read, ...NURSE },
      { key: '2', number: '2', ...read, ...COOK },
    ]);
  });

  it('of questions and answers, with the key that a system has prefixed, and states under another name', async () => {
    const cities = ['Austin', 'New York', 'Washington'];
    const job = cities.map((city, at) => ({
      Questions: Object.entries({
        hrs_job_opening_id: `7${(at * 37) % 5}`,
        jobtitle: `Nurse ${city}`,
        location: city,
        county: ['Texas', 'New York', 'District of Columbia'][at],
      }).map(([QuestionName, Value]) => ({ QuestionName, Value })),
    }));
    expect(await postings(JSON.stringify({ Jobs: { Job: job } }))).toEqual([
      expect.objectContaining({ key: '70', 'location-city': 'Austin', 'location-state': 'Texas' }),
      expect.objectContaining({ key: '72', 'location-city': 'New York', 'location-state': 'New York' }),
      expect.objectContaining({ key: '74', 'location-city': 'Washington', 'location-state': 'District of Columbia' }),
    ]);
  });

  it('of Workday, with several identifiers in each', async () => {
    const entries = JOBS.map(
      ({ id, title, city, state }) =>
        `<w:Report_Entry><w:Job_Requisition w:Descriptor="R-${id} ${title}"><w:ID w:type="WID">a${id}</w:ID><w:ID w:type="Job_Requisition_ID">R-${id}</w:ID></w:Job_Requisition><w:Requisition_ID>R-${id}</w:Requisition_ID><w:Job_Posting_Title>${title}</w:Job_Posting_Title><w:Primary_Location w:Descriptor="${city}, ${state}"><w:ID w:type="WID">x</w:ID></w:Primary_Location></w:Report_Entry>`,
    );
    const report = `<w:Report_Data xmlns:w="urn:com.workday.report/Jobs">${entries.join('')}</w:Report_Data>`;
    expect(await postings(report)).toEqual([expect.objectContaining(NURSE), expect.objectContaining(COOK)]);
  });

  it('with an address that is no picture, and a place of Softgarden', async () => {
    const jobs = JOBS.map(({ id, title, city, state }) => ({
      id,
      title,
      geo_name: `${city}, ${state}`,
      logo: [{ url: `https://files.example.com/${id}/logo.png?token=${id}` }],
    }));
    expect(await postings(JSON.stringify({ jobs }))).toEqual([
      expect.objectContaining(NURSE),
      expect.objectContaining(COOK),
    ]);
    expect((await proposed(JSON.stringify({ jobs }))).fields).not.toHaveProperty('contact-web-address');
  });

  it('with attributes as PHP writes them, and with names that no path has', async () => {
    const jobs = JOBS.map(({ id, ...job }) => ({
      '@attributes': { id },
      '': 0,
      ' ': 1,
      'it\'s "x"': { y: 2 },
      ...job,
    }));
    expect(await postings(JSON.stringify({ jobs }))).toEqual([
      expect.objectContaining({ key: '1', ...NURSE }),
      expect.objectContaining({ key: '2', ...COOK }),
    ]);
  });

  it('of named values', async () => {
    const named = JOBS.map(({ id, ...job }) => ({
      id,
      fields: Object.entries(job).map(([name, value]) => ({ name, value })),
    }));
    expect(await postings(JSON.stringify({ items: named }))).toEqual([
      expect.objectContaining(NURSE),
      expect.objectContaining(COOK),
    ]);
  });

  it.each([
    [
      'Singer',
      (record: object): object => ({ type: 'RECORD', stream: 'jobs', record }),
      { type: 'SCHEMA', stream: 'jobs', schema: {} },
    ],
    [
      'Airbyte',
      (data: object): object => ({ type: 'RECORD', record: { stream: 'jobs', data } }),
      { type: 'STATE', state: {} },
    ],
  ])('Lines of %s', async (_what, wrap, other) => {
    const lines = [other, ...JOBS.map(wrap), { type: 'STATE', value: {} }].map((line) => `${JSON.stringify(line)}\n`);
    expect(await postings(lines.join(''))).toEqual([
      expect.objectContaining({ key: '1', ...NURSE }),
      expect.objectContaining({ key: '2', ...COOK }),
    ]);
  });
});

it('reads JSON-LD without an address by another key', async () => {
  const posting = (id: number) => ({
    '@type': 'JobPosting',
    identifier: { '@type': 'PropertyValue', value: `A${id}` },
    title: `Nurse ${id}`,
    jobLocation: { address: { addressLocality: 'Austin', addressRegion: 'TX' } },
  });
  const page = `<!doctype html><html><script type="application/ld+json">${JSON.stringify([posting(1), posting(2)])}</script></html>`;
  expect(await proposed(page)).toMatchObject({ preset: { name: 'schema-org' }, key: 'identifier/value', records: 2 });
});

describe.skipIf(!hasSharedFeeds)(`reports${sharedFeedsNote}`, () => {
  const report = (file: string) => readFileSync(sharedFeed(`reports/${file}`));
  it.each([
    ['attrs.xml', ['1', '2']],
    ['drupal-arrays.json', ['21', '22']],
    ['excel-sep.csv', ['00123', '00124']],
    ['singer.jsonl', ['31', '32', '33']],
    ['generic-jobs.json', ['101', '102', '103', '104']],
    ['generic-jobs-job-link.xml', ['101', '102', '103', '104']],
    ['lenient-two-errors.xml', ['1', '3']],
  ])('reads %s', async (file, keys) => {
    const found = await postings(report(file));
    expect(found.map(({ key }) => key)).toEqual(keys);
    const fields = ['title', 'location-city', 'location-state', 'contact-web-address'];
    for (const posting of found) expect(Object.keys(posting)).toEqual(expect.arrayContaining(fields));
  });

  it.each([
    ['jsonp.js', /JSONP/],
    ['keyed-object.json', /named by their IDs/],
    ['rss-dtd-entity.xml', /document type declaration/],
  ])('names %s', async (file, message) => {
    expect(await refusal(report(file))).toMatch(message);
  });

  it('asks for the key of a table without one', async () => {
    expect((await proposed(report('key-not-unique.csv'))).key).toBeUndefined();
  });

  it('reads the posting of a page without addresses', async () => {
    expect(await proposed(report('jsonld-escaped.html'))).toMatchObject({
      preset: { name: 'schema-org' },
      key: 'identifier/value',
    });
  });
});

it('pairs of an id and a name, and false for what is empty', async () => {
  const document = JSON.stringify({
    jsonrpc: '2.0',
    result: [
      {
        id: 11,
        name: 'Nurse',
        department_id: [4, 'Nursing'],
        city: 'Austin',
        state_id: [52, 'Texas (US)'],
        country_id: [233, 'United States'],
      },
      {
        id: 12,
        name: 'Cook',
        department_id: [5, 'Kitchen'],
        city: 'Dallas',
        state_id: [52, 'Texas (US)'],
        country_id: [233, 'United States'],
      },
      { id: 13, name: 'Clerk', department_id: false, city: false, state_id: false, country_id: false },
    ],
  });
  expect(await postings(document)).toEqual([
    { key: '11', number: '11', 'category-name': 'Nursing', ...NURSE },
    { key: '12', number: '12', 'category-name': 'Kitchen', ...COOK },
  ]);
  const { columns, fields } = await proposed(document);
  expect(fields['location-state']).toEqual([
    { template: '{state_id}, {country_id}', as: 'us_state' },
    { from: 'state_id', as: 'us_state' },
  ]);
  expect(columns).toContainEqual({ path: 'department_id', values: ['Nursing', 'Kitchen', 'false'] });
});
