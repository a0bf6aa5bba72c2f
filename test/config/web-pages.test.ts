import { describe, expect, test } from 'vitest';
import { interpretationOf } from '../../src/posting/fingerprint.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { feedWith } from './presets/read-preset.ts';

const folder = temporaryFolder();

const FIELDS = { title: 't', 'location-state': 's', 'contact-web-address': 'u' };
const sourceWith = async (format: object, settings: object = {}) =>
  (
    await feedWith(folder, {
      source: 'https://careers.example.com/jobs',
      format: { key: 'id', fields: FIELDS, ...format },
      ...settings,
    })
  ).source;

test('a script is known by attributes and a variable', async () => {
  const source = await sourceWith({
    type: 'html',
    script: { type: 'text/javascript', variable: 'window.a' },
    records: 'x',
  });
  expect(source).toMatchObject({
    format: 'html',
    recordPath: 'x',
    script: { attributes: { type: 'text/javascript' }, variable: 'window.a' },
    from: { kind: 'http', accept: expect.stringMatching(/^text\/html/) },
  });
});

test('pages of a list are split in the same way', async () => {
  const { from } = await sourceWith({ type: 'html', script: { id: 'x' }, pages: { by: 'page' } });
  expect(from).toMatchObject({ kind: 'pages', content: { format: 'html', script: { attributes: { id: 'x' } } } });
});

test('another script reads other records', async () => {
  const one = { ...(await sourceWith({ type: 'html', script: { id: 'a' } })), fingerprint: 'f' };
  const other = { ...(await sourceWith({ type: 'html', script: { id: 'b' } })), fingerprint: 'f' };
  expect(interpretationOf(one)).not.toEqual(interpretationOf(other));
});

test('pages without postings can be normal', async () => {
  const settings = { expect: { empty_pages: true } };
  expect(await sourceWith({ type: 'json-ld' }, settings)).toMatchObject({ acceptsEmptyPages: true });
  expect(await sourceWith({ type: 'json-ld' })).not.toHaveProperty('acceptsEmptyPages');
});

test('a sitemap is a list whose entries are details', async () => {
  const source = await sourceWith(
    {
      type: 'xml',
      records: 'urlset/url',
      key: 'loc',
      details: { url: '{+loc}', format: 'json-ld', empty_pages: true },
      skip: { 'detail/page/empty': true },
    },
    { pages: { by: 'sitemap', only: 'jobs' } },
  );
  expect(source).toMatchObject({
    from: { kind: 'pages', paging: { by: 'sitemap', only: 'jobs' } },
    details: {
      request: { accept: expect.stringMatching(/^text\/html/) },
      document: { format: 'json-ld', acceptsEmptyPages: true },
    },
  });
});

test('a preset reads sitemaps', async () => {
  const feed = await feedWith(folder, {
    source: 'https://careers.example.com/sitemap.xml',
    format: 'schema-org-sitemap',
  });
  expect(feed.source.from).toMatchObject({ kind: 'pages', paging: { by: 'sitemap' } });
  expect(feed.guard.missingPulls).toBe(2);
});

describe('mistakes', () => {
  test.each<[string, object, RegExp]>([
    ['no script', { type: 'html' }, /script: is missing; it says which script/],
    ['an empty script', { type: 'html', script: {} }, /script: needs an attribute, such as id, or variable/],
    ['a script of another type', { type: 'json', script: { id: 'x' } }, /script: works only with type: html/],
    ['a variable that is none', { type: 'html', script: { variable: 'a = b' } }, /must be the name of a variable/],
    ['a path of elements', { type: 'html', script: { id: 'x' }, records: 'a[1]' }, /must be the names that lead/],
    ['records of JSON-LD', { type: 'json-ld', records: 'x' }, /with type: json-ld every JobPosting is a record/],
    ['a total of JSON-LD', { type: 'json-ld', total: 'x' }, /type: json-ld has nothing but records/],
    ['a sitemap of JSON', { type: 'json', pages: { by: 'sitemap' } }, /by: sitemap need an XML format/],
    [
      'a sitemap with a body',
      { type: 'xml', records: 'a/b', pages: { by: 'sitemap', body: {} } },
      /does not work with by: sitemap/,
    ],
    ['some of another list', { type: 'json', pages: { by: 'page', only: 'x' } }, /only: works only with by: sitemap/],
    ['a detail in a script', { type: 'json', details: { url: 'x', format: 'html' } }, /script: is missing/],
    [
      'a script of a JSON detail',
      { type: 'json', details: { url: 'x', script: { id: 'x' } } },
      /works only with format: html/,
    ],
    [
      'records of a JSON-LD detail',
      { type: 'json', details: { url: 'x', format: 'json-ld', records: 'x' } },
      /a JobPosting is found by its type/,
    ],
    [
      'a cursor',
      { type: 'html', script: { id: 'x' }, pages: { by: 'cursor', path: 'a' } },
      /need a JSON or XML format/,
    ],
  ])('%s', async (_, format, message) => {
    await expect(sourceWith(format)).rejects.toThrow(message);
  });
});
