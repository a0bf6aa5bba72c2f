// Every variant that the interface leaves open, tested over HTTP, and the settings as the command line sees them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defaultSettings, readSetting, settingDescriptions } from '../../src/sandbox/settings.ts';
import { jobOf, nurse, openTestSandbox, rootOf, type TestSandbox, textOf } from './test-sandbox.ts';

let site: TestSandbox;
let token: string;

beforeAll(async () => {
  site = await openTestSandbox();
  token = site.token;
});
afterEach(() => site.sandbox.setSettings(defaultSettings));
afterAll(() => site.end());

const create = (fields: Readonly<Record<string, string>>) =>
  site.send('POST', '/jobs.xml', { token, body: jobOf(fields) });

/** Sets settings from text, as the command line does. */
const set = (name: string, text: string): void => site.sandbox.setSettings(readSetting(name, text));

describe('validation errors', () => {
  it.each(['422', '400', '406', '409', '412', '200'])('validation-status %s', async (status) => {
    set('validation-status', status);
    const answer = await create({});
    expect(answer.status).toBe(Number(status));
    expect(rootOf(answer).name).toBe('errors');
    expect(await site.sandbox.inspect.count()).toBe(0);
  });

  const state = 'is not a valid U.S. state';
  it.each([
    ['errors', `<errors>\n<error>Title can't be blank</error>\n<error>Location state ${state}</error>\n</errors>`],
    [
      'errors-array',
      `<errors type="array">\n<error>Title can't be blank</error>\n<error>Location state ${state}</error>\n</errors>`,
    ],
    [
      'field-attribute',
      `<errors>\n<error field="title">can't be blank</error>\n<error field="location-state">${state}</error>\n</errors>`,
    ],
    [
      'nested',
      `<errors>\n<error>\n<field>title</field>\n<message>can't be blank</message>\n</error>\n<error>\n<field>location-state</field>\n<message>${state}</message>\n</error>\n</errors>`,
    ],
    [
      'error-root',
      `<error>\n<message>Title can't be blank</message>\n<message>Location state ${state}</message>\n</error>`,
    ],
    ['field-named', `<errors>\n<title>can't be blank</title>\n<location-state>${state}</location-state>\n</errors>`],
  ])('error-shape %s', async (shape, expected) => {
    set('error-shape', shape);
    const answer = await create({ title: '', 'location-state': 'Jalisco' });
    expect(answer.headers['content-type']).toMatch(/^application\/xml/);
    expect(answer.text).toBe(`<?xml version="1.0" encoding="UTF-8"?>\n${expected}\n`);
  });

  it('error-shape plain-text', async () => {
    set('error-shape', 'plain-text');
    const answer = await create({ 'location-state': 'Jalisco' });
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    expect(answer.text).toBe(`Title can't be blank\nLocation state ${state}\n`);
  });

  it('error-shape field-named stays well-formed for a field name that is not an element name', async () => {
    set('error-shape', 'field-named');
    expect(rootOf(await create({ ...nurse, _9: 'x' })).children[0]?.name).toBe('base');
  });
});

describe('stored values', () => {
  const sent = { ...nurse, number: 'ab-1', description: '&lt;p&gt;Work  here&lt;/p&gt;' };
  it.each([
    ['exact', 'ab-1', '<p>Work  here</p>'],
    ['trimmed', 'ab-1', '<p>Work here</p>'],
    ['upper-case', 'AB-1', '<p>Work  here</p>'],
    ['stripped', 'ab-1', 'Work here'],
  ])('stored-values %s', async (how, number, description) => {
    set('stored-values', how);
    const root = rootOf(await create(sent));
    expect([textOf(root, 'number'), textOf(root, 'description')]).toEqual([number, description]);
  });

  it('stored-values cut and composed', async () => {
    set('stored-values', 'cut');
    expect(textOf(rootOf(await create({ ...nurse, title: 'x'.repeat(60) })), 'title')).toBe('x'.repeat(40));
    set('stored-values', 'composed');
    expect(textOf(rootOf(await create({ ...nurse, title: 'Cafe\u0301' })), 'title')).toBe('Caf\u00e9');
  });

  it.each([
    ['titleized', { title: 'Driver (CDL-A)' }, 'Driver (Cdl A)'],
    ['titleized', { title: 'Data-entry clerk' }, 'Data Entry Clerk'],
    ['titleized', { title: "Children's nurse, ICU" }, "Children's Nurse, Icu"],
    [
      'sanitized',
      { description: '<p style="x">A <script>b</script>& c<br/>&nbsp;</p>' },
      '<p>A b&amp; c<br>\u00a0</p>',
    ],
    ['converted', { salary: '20.50' }, '20.5'],
    ['converted', { salary: '20.00' }, '20.0'],
    ['converted', { remote: 'yes' }, 'true'],
    ['converted', { starts: '2027-01-01T12:00:00Z' }, '2027-01-01T02:00:00-10:00'],
    ['converted', { number: '1.50' }, '1.50'],
    ['trimmed+titleized', { title: ' night  nurse ' }, 'Night Nurse'],
  ])('stored-values %s changes %j', async (how, fields, stored) => {
    set('stored-values', how);
    const [[name, value] = ['', '']] = Object.entries(fields);
    const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    expect(textOf(rootOf(await create({ ...nurse, [name]: escaped })), name)).toBe(stored);
  });

  it('stored-values takes only what it knows', () => {
    expect(() => readSetting('stored-values', 'trimmed+odd')).toThrow(/trimmed\+odd/);
    expect(() => readSetting('dropped', 'a b')).toThrow(/a b/);
  });

  it('dropped fields are not stored, and nothing is said', async () => {
    set('dropped', 'number,category_name');
    const answer = await create({ ...nurse, number: '7', 'category-name': 'Health' });
    expect(answer.status).toBe(201);
    expect([textOf(rootOf(answer), 'number'), textOf(rootOf(answer), 'category-name')]).toEqual([undefined, undefined]);
  });

  it('types no states none', async () => {
    set('types', 'no');
    expect((await create(nurse)).text).not.toContain('type=');
    expect((await site.send('GET', '/jobs/new.xml')).text).not.toContain('nil=');
  });

  it.each([
    ['no', 404, 404],
    ['410', 410, 410],
    ['flagged', 200, 410],
  ])('deleted-jobs %s', async (how, shown, changed) => {
    set('deleted-jobs', how);
    const id = await site.create({ ...nurse, number: `deleted ${how}` });
    const before = await site.sandbox.inspect.count();
    expect((await site.send('DELETE', `/jobs/${id}.xml`, { token })).status).toBe(200);
    expect(await site.sandbox.inspect.count()).toBe(before - 1);
    expect((await site.send('GET', '/jobs.xml')).text).not.toContain(`deleted ${how}`);
    const answer = await site.send('GET', `/jobs/${id}.xml`);
    expect(answer.status).toBe(shown);
    expect(answer.text.includes('<deleted_at type="dateTime">')).toBe(shown === 200);
    expect((await site.send('PUT', `/jobs/${id}.xml`, { token, body: jobOf(nurse) })).status).toBe(changed);
    expect((await site.send('DELETE', `/jobs/${id}.xml`, { token })).status).toBe(changed);
    expect((await site.send('GET', `/jobs/${id}`)).status).toBe(404);
  });

  it('id-reuse yes uses the lowest free number', async () => {
    set('id-reuse', 'yes');
    const [first] = [await site.create(nurse), await site.create(nurse)];
    await site.send('DELETE', `/jobs/${first}.xml`, { token });
    expect(await site.create(nurse)).toBe(first);
  });

  it('paging cached promises a next page and shows the first again', async () => {
    set('paging', 'cached');
    set('page-size', '1');
    await site.create(nurse);
    await site.create(nurse);
    const [first, second] = [
      await site.send('GET', '/jobs.xml', { token }),
      await site.send('GET', '/jobs.xml?page=2', { token }),
    ];
    expect(second.text).toBe(first.text);
    expect(second.headers.link).toMatch(/page=3>; rel="next"/);
  });
});

describe('answers', () => {
  it.each(['200', '204'])('delete-status %s', async (status) => {
    set('delete-status', status);
    const id = await site.create(nurse);
    const answer = await site.send('DELETE', `/jobs/${id}.xml`, { token });
    expect([answer.status, answer.text]).toEqual([Number(status), '']);
  });

  it.each([
    ['job', /<title>Head nurse<\/title>/],
    ['blank', /^ $/],
    ['empty', /^$/],
  ])('update-body %s', async (body, expected) => {
    set('update-body', body);
    const id = await site.create(nurse);
    const answer = await site.send('PUT', `/jobs/${id}.xml`, { token, body: jobOf({ title: 'Head nurse' }) });
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(expected);
    expect((await site.send('GET', `/jobs/${id}.xml`)).text).toContain('Head nurse');
  });

  it.each([
    ['absolute', /^http:\/\/127\.0\.0\.1:\d+\/jobs\/\d+$/],
    ['absolute-xml', /^http:\/\/127\.0\.0\.1:\d+\/jobs\/\d+\.xml$/],
    ['relative', /^\/jobs\/\d+$/],
    ['relative-xml', /^\/jobs\/\d+\.xml$/],
  ])('location %s', async (form, expected) => {
    set('location', form);
    expect((await create(nurse)).headers.location).toMatch(expected);
  });

  it.each([
    ['number', /^\d+$/],
    ['uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
    ['slug', /^nurse-at-the-caf-\d+$/],
  ])('id-form %s', async (form, expected) => {
    set('id-form', form);
    const answer = await create({ ...nurse, title: 'Nurse, at the Café!' });
    const id = textOf(rootOf(answer), 'id');
    expect(id).toMatch(expected);
    expect(answer.headers.location).toBe(`${site.sandbox.url}/jobs/${id}`);
    expect((await site.send('GET', `/jobs/${id}.xml`)).status).toBe(200);
    expect((await site.send('DELETE', `/jobs/${id}.xml`, { token })).status).toBe(200);
  });

  it.each([
    ['yes', true],
    ['no', false],
  ])('id-in-body %s', async (text, there) => {
    set('id-in-body', text);
    expect(textOf(rootOf(await create(nurse)), 'id') !== undefined).toBe(there);
  });

  it.each([
    ['mixed', 'location-state', 'created_at'],
    ['-', 'location-state', 'created-at'],
    ['_', 'location_state', 'created_at'],
  ])('separator %s', async (separator, field, timestamp) => {
    set('separator', separator);
    const names = rootOf(await create(nurse)).children.map((child) => child.name);
    expect(names).toEqual(expect.arrayContaining([field, timestamp]));
  });
});

describe('the state', () => {
  it.each([
    ['name', 'Ohio', 'OH'],
    ['abbreviation', 'OH', 'Ohio'],
  ])('state-values %s accepts %s and refuses %s', async (values, taken, refused) => {
    set('state-values', values);
    expect((await create({ ...nurse, 'location-state': taken })).status).toBe(201);
    expect((await create({ ...nurse, 'location-state': refused })).status).toBe(422);
  });

  it('state-values either accepts both', async () => {
    set('state-values', 'either');
    for (const state of ['OH', 'Ohio']) {
      expect((await create({ ...nurse, 'location-state': state })).status).toBe(201);
    }
  });

  it.each(['state', 'job_state'])('state-field %s', async (name) => {
    set('state-field', name);
    expect((await create(nurse)).status).toBe(422);
    expect((await create({ title: 'Nurse', [name]: 'Utah' })).status).toBe(201);
    expect((await site.send('GET', '/states/utah.xml')).text).toContain('Utah');
  });

  it.each([
    ['states', 422, 422],
    ['states-and-dc', 201, 422],
    ['all', 201, 201],
  ])('states %s: D.C. %d, Guam %d', async (states, capital, territory) => {
    set('states', states);
    expect((await create({ ...nurse, 'location-state': 'Wyoming' })).status).toBe(201);
    expect((await create({ ...nurse, 'location-state': 'District of Columbia' })).status).toBe(capital);
    expect((await create({ ...nurse, 'location-state': 'Guam' })).status).toBe(territory);
  });
});

describe('lists', () => {
  const seven = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
  beforeAll(async () => {
    for (const title of seven) await site.create({ title, 'location-state': 'Maine' });
  });
  const page = async (query: string) => {
    const answer = await site.send('GET', `/states/maine.xml${query}`);
    const root = rootOf(answer);
    return {
      answer,
      attributes: Object.fromEntries(root.attributes),
      titles: root.children.map((job) => textOf(job, 'title')),
    };
  };

  it('paging page', async () => {
    set('page-size', '3');
    const first = await page('');
    expect(first.titles).toEqual(['seven', 'six', 'five']);
    expect(first.attributes).toEqual({ type: 'array', total: '7', page: '1', pages: '3', 'per-page': '3' });
    expect((await page('?page=3')).titles).toEqual(['one']);
    expect((await page('?page=4')).titles).toEqual([]);
    expect((await page('?page=2&per_page=2')).titles).toEqual(['five', 'four']);
    expect((await page('?per_page=100')).titles).toHaveLength(3);
    expect((await page('?page=-1')).titles).toHaveLength(3);
  });

  it('paging offset', async () => {
    set('page-size', '3');
    set('paging', 'offset');
    const second = await page('?offset=3');
    expect(second.titles).toEqual(['four', 'three', 'two']);
    expect(second.attributes).toEqual({ type: 'array', total: '7', offset: '3', limit: '3' });
    expect((await page('?offset=2&limit=1')).titles).toEqual(['five']);
    expect((await page('?offset=7')).titles).toEqual([]);
  });

  it('paging link', async () => {
    set('page-size', '3');
    set('paging', 'link');
    const titles: unknown[] = [];
    for (let query: string | undefined = ''; query !== undefined; ) {
      const { answer, attributes, titles: found } = await page(query);
      expect(attributes).toEqual({ type: 'array' });
      titles.push(...found);
      query = /^<http[^?>]*(\?[^>]*)>; rel="next"$/.exec(String(answer.headers.link))?.[1];
    }
    expect(titles).toEqual([...seven].reverse());
    set('page-size', '7');
    expect((await page('')).answer.headers.link).toBeUndefined();
  });

  it('paging none', async () => {
    set('page-size', '3');
    set('paging', 'none');
    const all = await page('?page=2');
    expect(all.titles).toHaveLength(7);
    expect(all.attributes).toEqual({ type: 'array' });
  });
});

it('max-body-bytes', async () => {
  const body = jobOf(nurse);
  set('max-body-bytes', String(body.length));
  expect((await site.send('POST', '/jobs.xml', { token, body })).status).toBe(201);
  expect((await site.send('POST', '/jobs.xml', { token, body: `${body} ` })).status).toBe(413);
});

describe('as data', () => {
  it('describes each setting with an accepted default', () => {
    const read = settingDescriptions.map(({ name, default: initial }) => readSetting(name, initial));
    expect(Object.assign({}, ...read)).toEqual(defaultSettings);
  });

  it.each([
    ['validation-status', '500', /validation-status: '500' is not one of 422, 400/],
    ['page-size', '0', /page-size: '0' is not one of 1 to 10000/],
    ['page-size', '1.5', /page-size/],
    ['state-field', '<x>', /state-field/],
    ['nonsense', '1', /no sandbox setting 'nonsense': there are validation-status, /],
  ])('refuses %s=%s', (name, text, message) => {
    expect(() => readSetting(name, text)).toThrow(message);
  });
});
