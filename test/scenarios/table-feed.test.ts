// Tables and JSON Lines are mirrored as XML feeds are: unchanged records are not parsed, and only a complete document deletes.
// @module-tag slow

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { afterEach, describe, expect, it } from 'vitest';
import type { FeedName } from '../../src/posting/identifiers.ts';
import { discardEntries } from '../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../src/store/review/review-totals.ts';
import { checkDamages, type Damages } from '../support/damaged-document.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

const CSV = `{
      type: csv, key: Job ID,
      fields: {
        number: Job ID, title: Title, description: "'Text/HTML'", location-city: City,
        location-state: { from: State, as: us_state }, contact-web-address: { from: Link, as: url }
      }
    }`;
const LINES = `{
      type: jsonl, key: id,
      fields: {
        number: id, title: title, description: text, location-city: city,
        location-state: { from: state, as: us_state }, contact-web-address: { from: link, as: url }
      }
    }`;

const TEXT = '<p>Work &amp; care, "here"</p>\n<p>and there</p>';
const rowOf = (id: string, title = `Nurse ${id}`): string =>
  `${id},${title},"${TEXT.replaceAll('"', '""')}",Boston,MA,https://jobs.example.com/${id}\r\n`;
const HEADER = 'Job ID ,Title,Text/HTML,City,State,Link\r\n';
const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `j${at + 1}`);
const table = (list: readonly string[]): string => HEADER + list.map((id) => rowOf(id)).join('');
const lineOf = (id: string): string =>
  `${JSON.stringify({ id, title: `Nurse ${id}`, text: TEXT, city: 'Boston', state: 'MA', link: `https://jobs.example.com/${id}` })}\n`;
const lines = (list: readonly string[]): string => list.map(lineOf).join('');

const open = async (format: string, settings: Record<string, string> = {}) => {
  mirror = await openMirror({ feed: { format, ...settings } });
};

it.each([
  ['a table', CSV, table],
  ['JSON Lines', LINES, lines],
] as const)(
  '%s: creates, updates and deletes, and sends nothing when nothing changed',
  async (_name, format, write) => {
    await open(format);
    await mirror.writeFeed(gzipSync(write(ids(8))));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 8, created: 8, complete: true });
    expect((await mirror.siteJobs()).get('j1')).toEqual({
      number: 'j1',
      title: 'Nurse j1',
      description: TEXT,
      'location-city': 'Boston',
      'location-state': 'Massachusetts',
      'contact-web-address': 'https://jobs.example.com/j1',
    });
    // The same records in another file.
    await mirror.writeFeed(`${write(ids(8))}\n`);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 8, requests: 0 });
    await mirror.writeFeed(write([...ids(6), 'new']).replace('Nurse j1', 'Cook'));
    expect(await mirror.sync()).toMatchObject({
      created: 1,
      updated: 1,
      deleted: 2,
      unchanged: 5,
      status: 'mirrored',
    });
    expect((await mirror.siteJobs()).get('j1')?.title).toBe('Cook');
  },
);

it('lenient does not take a row for the rest of one that was cut', async () => {
  await open(CSV, { lenient: 'true' });
  await mirror.writeFeed(table(ids(8)));
  await mirror.sync();
  const cut = `${rowOf('j3').slice(0, 20)}\r\n`;
  await mirror.writeFeed(table(ids(8)).replace(rowOf('j3'), cut));
  expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1, unchanged: 6, updated: 0, deleted: 0 });
  expect((await mirror.siteJobs()).get('j3')?.description).toBe(TEXT);
  expect((await mirror.siteJobs()).has('j4')).toBe(true);
});

it('a spreadsheet with other columns and another encoding sends nothing', async () => {
  await open(CSV);
  await mirror.writeFeed(table(ids(8)));
  await mirror.sync();
  const moved = table(ids(8))
    .replaceAll('\r\n', '\n')
    .replace(HEADER.trim(), 'New;Job ID;Title;Text/HTML;City;State;Link')
    .replace(/^(j\d+),(.*),"<p>/gm, 'x;$1;$2;"<p>')
    .replace(/",Boston,MA,/g, '";Boston;MA;');
  await mirror.writeFeed(iconv.encode(moved, 'utf-16le', { addBOM: true }));
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 8, unchanged: 8, requests: 0 });
});

describe('deletes nothing', () => {
  it.each<[string, string, (list: readonly string[]) => string, Damages]>([
    [
      'a table',
      CSV,
      table,
      {
        'a row cut in a cell': (text) => text.slice(0, text.indexOf('j5,Nurse j5') + 8),
        'a row cut in quotes': (text) => text.slice(0, text.indexOf('j5,Nurse j5') + 40),
        'a quote that is not doubled': (text) => text.replace('<p>Work', '<p class="x">Work'),
        'a cell in quotes that does not end': (text) => text.replace('j5,Nurse', 'j5,"Nurse'),
        'a row with a cell too few': (text) => text.replace('j5,', ''),
        'a row with a cell too many': (text) => text.replace('j5,', 'j5,j5,'),
        'a row without its line break': (text) => text.replace('/j5\r\n', '/j5'),
      },
    ],
    [
      'JSON Lines',
      LINES,
      lines,
      {
        'a line cut in a record': (text) => text.slice(0, text.indexOf('"j5"') + 20),
        'an unescaped quote': (text) => text.replace('Nurse j5', 'Nurse "j5"'),
        'two records on one line': (text) => text.replace('/j5"}\n', '/j5"}'),
      },
    ],
  ])('on damage of %s', async (_name, format, write, damages) => {
    await open(format, { delete_guard: '{ percent: 100, count: 100 }' });
    await checkDamages(mirror, write(ids(8)), damages);
  });

  it('on something else than a table', { tags: 'slow' }, async () => {
    await open(CSV);
    await mirror.writeFeed(table(ids(4)));
    await mirror.sync();
    for (const [content, message] of [
      ['<!doctype html>\n<title>Sign in</title>', /HTML where a CSV feed was expected; the page's title is "Sign in"/],
      ['Sorry, too many requests\n', /it has no column "Job ID", from which the key comes/],
      [table(ids(3)).replace('Job ID', 'ID'), /it has no column "Job ID".*its columns are "ID", "Title"/],
      ['', /the feed is empty/],
    ] as const) {
      await mirror.writeFeed(content);
      const report = await mirror.sync();
      expect(report).toMatchObject({ complete: false, deleted: 0, message: expect.stringMatching(message) });
      expect((await mirror.siteJobs()).size).toBe(4);
    }
  });

  it.each([1, 4, 8])('if row %i is above the limit, which is one unreadable record', async (nth) => {
    await open(CSV, { delete_guard: '{ percent: 100, count: 100 }', limits: '{ max_record_bytes: 2KiB }' });
    await mirror.writeFeed(table(ids(8)));
    await mirror.sync();
    const large = table(ids(8)).replace(rowOf(`j${nth}`), rowOf(`j${nth}`, 'x'.repeat(5_000)));
    await mirror.writeFeed(large);
    const counts = { complete: false, seen: 8, unreadable: 1, unchanged: 7, deleted: 0 };
    expect(await mirror.sync()).toMatchObject(counts);
    expect(await mirror.sync()).toMatchObject(counts);
    expect((await mirror.siteJobs()).size).toBe(8);
  });

  it('if a discarded row may hide others', async () => {
    await open(CSV, { delete_guard: '{ percent: 100, count: 100 }' });
    await mirror.writeFeed(table(ids(8)));
    await mirror.sync();
    // Two rows in one: its key is not certain.
    await mirror.writeFeed(table(ids(8)).replace('/j5\r\n', '/j5'));
    expect(await mirror.sync()).toMatchObject({ complete: false, unreadable: 1, deleted: 0 });
    const { db } = await mirror.app();
    await db.transaction(async (tx) =>
      discardEntries(tx, await selectedIds(tx, { feed: 'acme' as FeedName }), 'a reviewer'),
    );
    expect(await mirror.sync()).toMatchObject({ deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(8);
  });
});

describe('over HTTP, where the last row has no line break', () => {
  let server: Server;
  afterEach(() => server.close());

  it.each([
    ['a declared length proves the end', true],
    ['a closed connection does not', false],
  ])('%s', async (_name, hasLength) => {
    let text = table(ids(8));
    server = createServer((_request, response) => {
      const body = Buffer.from(text.trimEnd());
      response.useChunkedEncodingByDefault = false;
      response.shouldKeepAlive = false;
      response.writeHead(200, hasLength ? { 'content-length': body.length } : {});
      response.end(body);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    await open(CSV, { source: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jobs.csv` });
    expect(await mirror.sync()).toMatchObject({ complete: hasLength, seen: hasLength ? 8 : 7 });
    text = table(ids(7));
    expect(await mirror.sync()).toMatchObject({ deleted: hasLength ? 1 : 0, complete: hasLength });
  });
});
