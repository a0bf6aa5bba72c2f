// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// `jobmirror try`: what a feed becomes, without a database and without writing anything.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sendJson, serveWeb } from '../feed/web-server.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-try-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Nothing listens at the address of the database. */
async function tryFeed(feed: string, document: string, ...args: readonly string[]): Promise<ProgramResult> {
  const configPath = join(folder, 'jobmirror.yaml');
  const source = document.startsWith('http') ? document : 'feed.xml';
  if (source === 'feed.xml') await writeFile(join(folder, 'feed.xml'), document);
  await writeFile(
    configPath,
    'database: postgres://nobody@127.0.0.1:1/none\nsites:\n  board: { base_url: http://127.0.0.1:1, token: "${BOARD_TOKEN}" }\n' +
      `feeds:\n  acme: { source: "${source}", site: board, ${feed} }\n`,
  );
  const before = await readdir(folder);
  const result = await runProgram({ folder, configPath, env: { BOARD_TOKEN: 'zq-12345678' } }, 'try', 'acme', ...args);
  expect(await readdir(folder)).toEqual(before);
  return result;
}

interface Summary {
  readonly [name: string]: unknown;
}

/** The last line of `try --json`. */
const summaryOf = (result: ProgramResult): Summary => result.json<Summary>().at(-1) as Summary;

const INDEED = 'format: indeed';
const NOBODY = '<job><title>Nobody</title></job>';

it('shows the first postings as they would be sent, and sums up the whole feed', async () => {
  const document = feedXml([
    posting('p1', { title: 'Nurse & more' }),
    posting('p2', { state: 'Jalisco' }),
    posting('p3'),
    posting('p1', { title: 'Nurse & more' }),
    posting('p3', { title: 'Another' }),
  ]).replace('</source>', `\n${NOBODY}</source>`);
  const lineOf = (nth: number) => document.split('<job>').slice(0, nth).join('').split('\n').length;

  const { out, status } = await tryFeed(INDEED, document, '--limit', '2');
  expect(out).toMatch(
    new RegExp(`^1\\. p1 \\(record 1, line ${lineOf(1)}\\)\\n {3}number +p1\\n {3}title +Nurse & more$`, 'm'),
  );
  expect(out).toMatch(/^2\. p2 [\s\S]*would be rejected: "Jalisco" is not a valid U\.S\. state/m);
  expect(out).not.toMatch(/^3\. /m);
  expect(out).toContain('acme: 6 records: 2 postings to send to site board, 1 rejected, 2 repeated keys, 1 unreadable');
  expect(out).toContain('not proven complete, so nothing would be deleted:\n  1 record could not be read');
  expect(out).toMatch(/^ {2}title +3 +100 %$/m);
  expect(out).toContain(
    `p1: again in record 4, line ${lineOf(4)}, first in record 1, line ${lineOf(1)}; the same content`,
  );
  expect(out).toContain(
    `p3: again in record 5, line ${lineOf(5)}, first in record 3, line ${lineOf(3)}; other content: only the first one would be sent`,
  );
  expect(out).toContain(
    `1 × the record has no key: no value found at referencenumber\n      record 6, line ${lineOf(6)}`,
  );
  expect(status).toBe(1);
});

it('prints the same as JSON: an object for each shown posting, and one for the feed', async () => {
  const document = feedXml([posting('p1'), posting('p2', { state: 'Jalisco' }), posting('p1')]);
  const result = await tryFeed(INDEED, document, '--json', '--limit', '2');
  const [one, two, summary, ...others] = result.json();
  expect(one).toMatchObject({ key: 'p1', fields: { number: 'p1' }, problems: [], record: 1 });
  expect(two).toMatchObject({
    key: 'p2',
    problems: [{ field: 'location-state', message: expect.stringContaining('"Jalisco"') }],
  });
  expect(summary).toMatchObject({
    feed: 'acme',
    complete: true,
    shortfalls: [],
    seen: 3,
    postings: 2,
    rejected: 1,
    repeated: 1,
    conflicting: 0,
    unreadable: 0,
    skipped: 0,
    fields: { number: 2, title: 2, 'contact-email-address': 0 },
    rejections: [{ field: 'location-state', count: 1, examples: [{ key: 'p2', value: 'Jalisco', record: 2 }] }],
    repeated_keys: [{ key: 'p1', same_content: true, record: 3, first: { record: 1 } }],
    warnings: [],
  });
  expect(others).toEqual([]);
  expect(result.status).toBe(2);
});

it('shows the XML that would be sent', async () => {
  const { out, status } = await tryFeed(INDEED, feedXml([posting('p1', { title: 'A & B' })]), '--xml');
  expect(out).toContain('<job><number>p1</number><title>A &amp; B</title>');
  expect(status).toBe(0);
});

it.each<[string, (asked: number, id: number) => object, RegExp | undefined]>([
  [
    'an address with a token',
    (asked) => ({ url: `https://ats.example.com/1?sid=${asked}` }),
    /contact-web-address differs between two requests \("[^"]*sid=1", then "[^"]*sid=2"\)/,
  ],
  ['a key of the session', (asked, id) => ({ id: `${asked}-${id}` }), /the keys differ between two requests/],
  ['only a time that is not mapped', (asked) => ({ read_at: asked }), undefined],
])('asks twice, and says what changes: %s', async (_, changing, warning) => {
  let asked = 0;
  const server = await serveWeb((_request, response) => {
    asked++;
    sendJson(
      response,
      [1, 2].map((id) => ({ id, title: `Nurse ${id}`, state: 'MA', url: 'https://a.example', ...changing(asked, id) })),
    );
  });
  const format =
    'format: { type: json, key: id, fields: { title: title, location-state: { from: state, as: us_state }, contact-web-address: { from: url, as: url } } }';
  const result = await tryFeed(format, server.origin, '--json').finally(() => server.close());
  expect(summaryOf(result).warnings).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)]);
});

const own = (records: string, fields: string, more = '') =>
  `format: { records: ${records}, key: referencenumber, ${more} fields: { title: title, location-state: { from: state, as: us_state }, ${fields} } }`;

it('names the likely mistakes: a wrong path of the records, and paths that are always empty', async () => {
  const document = feedXml(['p1', 'p2', 'p3', 'p4', 'p5'].map((key) => posting(key)));
  const none = await tryFeed(own('source/jobb', 'number: referencenumber'), document, '--json');
  expect(summaryOf(none)).toMatchObject({
    seen: 0,
    warnings: ['records: "source/jobb" matches nothing; "source/job" occurs 5 times'],
  });
  expect(none.status).toBe(2);

  const empty = await tryFeed(own('source/job', 'description: descripton'), document);
  expect(empty.out).toContain(
    'Likely mistakes:\n  fields.description: "descripton" is always empty in the 5 records that were read; did you mean "description"?',
  );
  expect(empty.status).toBe(2);
});

it('says nothing about a feed that is empty without a mistake', async () => {
  const document = '<source><publisher>x</publisher><jobs/></source>';
  const result = await tryFeed(own('source/job', 'number: referencenumber'), document, '--json');
  expect(summaryOf(result)).toMatchObject({ seen: 0, complete: true, warnings: [] });
});

it('counts records that the rule skips, and evaluates expressions', async () => {
  const document = feedXml([posting('p1'), posting('p2', { title: 'Draft' })]);
  const rules = own('source/job', 'number: { jsonata: "$uppercase(referencenumber)" }', 'skip: { title: Draft },');
  const result = await tryFeed(rules, document, '--json');
  expect(result.json()[0]).toMatchObject({ key: 'p1', fields: { number: 'P1' } });
  expect(summaryOf(result)).toMatchObject({ seen: 2, postings: 1, skipped: 1, skipped_records: [{ record: 2 }] });
});

it('says since when, and until when, dates skip records, and which texts are no dates', async () => {
  const document = feedXml([
    posting('p1', { postedAt: '2020-03-01T10:00:00Z' }),
    posting('p2', { startsAt: '2999-01-01T00:00:00Z' }),
    posting('p3', { postedAt: 'soon', startsAt: '4/8/2020' }),
    posting('p4', { postedAt: '0001-01-01' }),
  ]);
  const skip =
    'skip: [{ postedAt: { older_than: 30d } }, { date: startsAt, future: true }, { closeAt: { past: true } }],';
  const rules = own('source/job', 'number: referencenumber', skip);
  const result = await tryFeed(rules, document, '--json');
  expect(summaryOf(result)).toMatchObject({
    postings: 2,
    skipped: 2,
    skipped_records: [
      { record: 1, key: 'p1', since: '2020-03-31T10:00:00.000Z', until: null },
      { record: 2, key: 'p2', since: null, until: '2999-01-01T00:00:00.000Z' },
    ],
    warnings: [
      'skip: "postedAt" is no date in 1 of the 4 records that were read, so that conditions on dates do not hold there: "soon" is not a recognised date; dates such as 4/8/2012 need an order',
      'skip: "startsAt" is no date in 1 of the 4 records that were read, so that conditions on dates do not hold there: "4/8/2020" is not a recognised date; dates such as 4/8/2012 need an order',
    ],
  });
  expect(result.status).toBe(2);
  const { out } = await tryFeed(rules, document);
  expect(out).toMatch(
    /Skipped:\n {2}p1, record 1, line 3: by its dates, since .*\n {2}p2, record 2, line 6: by its dates, until /,
  );
});

it('says why a feed cannot be read', async () => {
  const html = '<!DOCTYPE html><html><title>Sign in</title></html>';
  const { errors, status } = await tryFeed(INDEED, html);
  expect(errors).toMatch(/acme: failed: HTML where an XML feed was expected; the page's title is "Sign in"/);
  expect(status).toBe(1);
  const json = await tryFeed(INDEED, html, '--json');
  expect(summaryOf(json)).toMatchObject({ feed: 'acme', complete: false, message: expect.stringContaining('HTML') });
});

it('requests the details of the shown postings only, and counts the others', async () => {
  const asked: string[] = [];
  const server = await serveWeb(({ path }, response) => {
    const id = /^\/jobs\/(.*)/.exec(path)?.[1];
    if (id !== undefined) asked.push(id);
    if (id === 'j2') response.writeHead(404).end();
    else if (id !== undefined) sendJson(response, { id, text: `About ${id}` });
    else
      sendJson(response, {
        jobs: ['j1', 'j2', 'j3', 'j4', 'j3'].map((each) => ({ id: each, title: 'Cook', state: 'TX' })),
      });
  });
  try {
    const format =
      'format: { type: json, records: jobs, key: id, fields: { title: title, description: detail/text, location-state: { from: state, as: us_state } } }';
    const rules = `${format}, details: { url: "jobs/{id}" }, limits: { attempts: 1 }`;
    const result = await tryFeed(rules, `${server.origin}/jobs`, '--json', '--limit', '3');
    expect(asked).toEqual(['j1', 'j2', 'j3']);
    expect(result.json().slice(0, -1)).toEqual([
      expect.objectContaining({ key: 'j1', fields: expect.objectContaining({ description: 'About j1' }) }),
      expect.objectContaining({ key: 'j3' }),
    ]);
    expect(summaryOf(result)).toMatchObject({
      seen: 5,
      postings: 3,
      without_detail: 1,
      repeated: 1,
      unreadable: 1,
      fields: { title: 2, description: 2 },
      warnings: [],
    });
    const text = await tryFeed(rules, `${server.origin}/jobs`, '--limit', '1');
    expect(text.out).toContain('Fields of the first 1 posting; the details of the others were not requested:');
  } finally {
    await server.close();
  }
});

it('says which fields got the name of a pair', async () => {
  const document = JSON.stringify([
    { id: 1, title: 'Nurse', state_id: [52, 'Texas (US)'] },
    { id: 2, title: 'Cook', state_id: [52, 'Texas (US)'] },
  ]);
  const format =
    'format: { type: json, key: id, fields: { title: title, location-state: { from: state_id, as: us_state } } }';
  const { out } = await tryFeed(format, document);
  expect(out).toContain(
    'Names taken from pairs of an id and a name (`[52, "Texas"]` to Texas):\n  location-state in 2 postings',
  );
  expect(out).toMatch(/location-state {2}Texas$/m);
  expect(summaryOf(await tryFeed(format, document, '--json'))).toMatchObject({
    fields_of_pairs: { 'location-state': 2 },
    postings: 2,
    rejected: 0,
  });
});

it('reports a field of which most values stand for nothing', async () => {
  const document = feedXml(['p1', 'p2', 'p3'].map((key) => posting(key, { city: 'TBD' })));
  const { out, status } = await tryFeed(INDEED, document);
  expect(out).toMatch(
    /Likely mistakes:\n {2}fields\.location-city: "TBD" is the value in 3 of the 3 records that were read, .*\n?$/,
  );
  expect(status).toBe(2);
});
