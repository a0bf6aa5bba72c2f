// Pages whose postings are JSON in a script: which script is read, what counts as complete, and what is refused.
import { describe, expect, test } from 'vitest';
import type { ScriptRule } from '../../../src/feed/format/format.ts';
import { splitAs } from '../collect.ts';

const byId: ScriptRule = { attributes: { id: 'data' } };
const byVariable: ScriptRule = { attributes: {}, variable: 'window.state' };

const page = (...parts: readonly string[]): string =>
  `<!doctype html><html><head><title>Jobs &amp; more</title></head><body>${parts.join('')}</body></html>`;
const split = (
  document: string,
  script = byId,
  settings: { path?: string; totals?: string[]; proven?: boolean } = {},
) =>
  splitAs(
    'html',
    document,
    { script, recordPath: settings.path ?? 'jobs', totalPaths: settings.totals ?? [] },
    [5],
    settings.proven ?? false,
  );

const JSON_TEXT = '{"total": 2, "jobs": [{"id": 1}, {"id": 2}]}';
const RECORDS = ['{"id": 1}', '{"id": 2}'];
const found = { records: RECORDS, oversized: [], refusal: undefined, shortfalls: [], declaredTotal: undefined };

describe('a script that is JSON', () => {
  test.each([
    ['by its ID', `<script id="data" type="application/json">${JSON_TEXT}</script>`],
    [
      'with attributes in other order, case and quotes',
      `<SCRIPT TYPE='application/json'  ID=data>${JSON_TEXT}</SCRIPT>`,
    ],
    ['after others', `<script id="other">{"jobs": [{"id": 9}]}</script><script id="data">${JSON_TEXT}</script>`],
    ['in a comment for old browsers', `<script id="data"><!-- ${JSON_TEXT} --></script>`],
    ['in a CDATA section', `<script id="data">//<![CDATA[\n${JSON_TEXT}\n//]]></script>`],
    ['with a semicolon', `<script id="data">\n${JSON_TEXT};\n</script>`],
    [
      'whose like is in a comment',
      `<!-- <script id="data">{"jobs": [{}]}</script> --><script id="data">${JSON_TEXT}</script>`,
    ],
    [
      'whose like is text',
      `<textarea><script id="data">{"jobs": [{}]}</script></textarea><script id="data">${JSON_TEXT}</script>`,
    ],
    ['whose like is in another script', `<script>"<script id='data'>"</script><script id="data">${JSON_TEXT}</script>`],
  ])('is found %s', (_, body) => expect(split(page(body))).toEqual(found));

  test('is found after much white space', () => {
    const document = page(`<script id="data">${' '.repeat(5_000)}${JSON_TEXT}</script>`);
    expect(splitAs('html', document, { script: byId, recordPath: 'jobs' }).records).toEqual(found.records);
  });

  test('is found by its type, without parameters', () => {
    const body = `<script>var a = {}</script><script type="Application/JSON; charset=utf-8">${JSON_TEXT}</script>`;
    expect(split(page(body), { attributes: { type: 'application/json' } })).toEqual(found);
  });

  test('keeps its bytes', () => {
    const record = '{"title": "Pfleger (m/w/d) – Zürich 🚀", "html": "<p>a&amp;b<\\/p>"}';
    const { records } = split(page(`<script id="data">{"jobs": [${record}]}</script>`));
    expect(records).toEqual([record]);
  });

  test('states a total', () => {
    const body = `<script id="data">${JSON_TEXT.replace('2', '3')}</script>`;
    expect(split(page(body), byId, { totals: ['total'] })).toMatchObject({
      declaredTotal: 3,
      shortfalls: ['the feed declares 3 records at total, but 2 were found'],
    });
  });

  test.each([
    [
      'is missing',
      '<p>none</p>',
      ['the page has no script id="data", where the records are expected; the page\'s title is "Jobs & more"'],
    ],
    [
      'is not JSON',
      '<script id="data">var a = 1;</script>',
      ['script id="data" does not hold JSON; the page\'s title is "Jobs & more"'],
    ],
    [
      'lacks the path',
      '<script id="data">{"x": []}</script>',
      ['the document has no "jobs", where the records are expected; it has "x"'],
    ],
    [
      'is there twice',
      `<script id="data">${JSON_TEXT}</script>`.repeat(2),
      ['the page has script id="data" more than once; only the first one was read'],
    ],
    [
      'has something after its JSON',
      `<script id="data">${JSON_TEXT} {"jobs": []}</script>`,
      ['there is something after the JSON of script id="data"'],
    ],
    [
      'ends in its JSON',
      '<script id="data">{"jobs": [{"id": 1}</script>',
      ['the document ends before its outermost list or object is closed'],
    ],
  ])('makes the page incomplete if it %s', (_, body, shortfalls) => {
    expect(split(page(body))).toMatchObject({ refusal: undefined, shortfalls });
  });
});

describe('a variable', () => {
  test.each([
    ['of the window', `window.state = ${JSON_TEXT};`],
    ['without the window', `var state=${JSON_TEXT}`],
    ['in brackets', `window["state"] = ${JSON_TEXT};`],
    [
      'after others',
      `window.stateful = {}; window.state2 = 1; other.state = {}; x = "state = {"; window.state = ${JSON_TEXT}; f();`,
    ],
    ['after an empty one', `window.state = window.state || null; window.state = ${JSON_TEXT}; state = null;`],
  ])('is found %s', (_, script) => expect(split(page(`<script>${script}</script>`), byVariable)).toEqual(found));

  test('is found in a list of them, in a script with attributes', () => {
    const script = { attributes: { class: 'boot' }, variable: 'app.jobs' };
    const body = `<script>app.jobs = [{"id": 9}]</script><script class="boot">app.jobs = [{"id": 1}, {"id": 2}];app.x = {};</script>`;
    expect(split(page(body), script, { path: '' })).toEqual(found);
  });

  test.each([
    [
      'is missing',
      'window.other = {}',
      ['script that assigns JSON to window.state does not hold JSON; the page\'s title is "Jobs & more"'],
    ],
    [
      'is assigned twice',
      `window.state = ${JSON_TEXT}; window.state = ${JSON_TEXT};`,
      ['the page has script that assigns JSON to window.state more than once; only the first one was read'],
    ],
  ])('makes the page incomplete if it %s', (_, script, shortfalls) => {
    expect(split(page(`<script>${script}</script>`), byVariable)).toMatchObject({ refusal: undefined, shortfalls });
  });

  test('that is no JSON is refused', () => {
    const { refusal } = split(page('<script>window.state = {jobs: []};</script>'), byVariable);
    expect(refusal).toMatch(/a name in quotes is expected/);
  });
});

describe('the end of a page', () => {
  const body = `<script id="data">${JSON_TEXT}</script>`;
  const cut = 'the page may have been cut: it does not end with </html>, and the source declares no length';

  test.each([
    ['without </html>', `<html>${body}<p>more`, [cut]],
    ['with a script after </html>', `${page(body)}<script>1</script>`, [cut]],
    ['with comments after </html>', `${page(body)}\n<!-- made in 3 ms -->\n`, []],
  ])('%s', (_, document, shortfalls) => expect(split(document)).toMatchObject({ records: RECORDS, shortfalls }));

  test.each([
    ['without </html>', `<html>${body}<p>more`, []],
    ['in a script', `<html>${body}<script>var a`, ['the page ends inside a script']],
    ['in the script with the postings', `<html>${body.replace('</script>', '')}`, ['the page ends inside a script']],
    ['in a tag', `<html>${body}<p class="`, ['the page ends inside a tag or a comment']],
    ['in a comment', `<html>${body}<!-- `, ['the page ends inside a tag or a comment']],
  ])('%s, with a proven length', (_, document, shortfalls) => {
    expect(split(document, byId, { proven: true })).toMatchObject({ records: RECORDS, shortfalls });
  });
});

test.each([
  ['nothing', '', 'the page is empty'],
  ['JSON', JSON_TEXT, 'this is not an HTML feed; it starts with "{"total": 2, "jobs": [{"id": 1}, {"id": 2}]}"'],
])('%s is refused', (_, document, refusal) => expect(split(document).refusal).toBe(refusal));

test('a comment without end is refused, not kept in memory', () => {
  const document = Buffer.alloc(20 * 1024 * 1024, 'x');
  document.write('<html><!-- ');
  expect(splitAs('html', document, { script: byId }, [1e6]).refusal).toMatch(
    /a tag or comment of the page is longer than/,
  );
});

test('elements nested without end are refused', () => {
  expect(split('<div>'.repeat(20_000)).refusal).toMatch(/nested deeper than 10000/);
});

describe('elements without end do not take long', () => {
  // Each of them again for every other one would take minutes.
  test('in one chunk', () => {
    const document = '<b>'.repeat(500_000);
    expect(splitAs('html', document, { script: byId }).refusal).toMatch(/nested deeper than 10000/);
  });

  test('before end tags that are not theirs', () => {
    const document = `<html>${'<b>'.repeat(9_000)}${'</i>'.repeat(1_200_000)}</html>`;
    expect(splitAs('html', document, { script: byId }).refusal).toMatch(/too many elements of the page have no end/);
  });

  test('if they are not that many', () => {
    const document = `<html>${'<div>'.repeat(2_000)}${'<p>x</p>'.repeat(20_000)}</html>`;
    expect(splitAs('html', document, { script: byId }).refusal).toBeUndefined();
  });
});
