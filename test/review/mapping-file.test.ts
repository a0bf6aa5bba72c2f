// Mappings as lines: they are read back exactly as written, and a problem is reported with its line number.
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { feedName, postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { headerLine, mappingLine, readMappingLines } from '../../src/review/jobs/mapping-file.ts';
import type { ImportLine } from '../../src/store/mapping/mapping-import.ts';

const feed = { name: feedName('acme'), siteName: siteName('board') };
const config = { feeds: new Map([[feed.name, feed]]) } as unknown as Config;

async function read(lines: readonly string[]): Promise<ImportLine[]> {
  async function* stream() {
    yield* lines;
  }
  const read: ImportLine[] = [];
  for await (const line of readMappingLines(stream(), config)) read.push(line);
  return read;
}

const row = (key: string, url?: string) => ({
  feed: feed.name,
  site: feed.siteName,
  key: postingKey(key),
  siteJobId: siteJobId('77'),
  url,
  since: new Date('2026-03-20T10:00:00Z'),
});

describe.each(['csv', 'jsonl'] as const)('as %s', (format) => {
  it.each(['plain', 'a,b', 'with "quotes"', '"', 'ümläut 🙂', "it's", '007', '=1+1', "'=1", "''+1", '-5', "'plain"])(
    'the key %s is read back unchanged',
    async (key) => {
      const header = headerLine(format);
      const lines = [
        ...(header === undefined ? [] : [header]),
        mappingLine(row(key, 'https://jobs.example.com/77?a=1,2'), format),
      ];
      expect(await read(lines)).toEqual([
        {
          kind: 'mapping',
          line: lines.length,
          feed: 'acme',
          site: 'board',
          key,
          siteJobId: '77',
          url: 'https://jobs.example.com/77?a=1,2',
          since: new Date('2026-03-20T10:00:00Z'),
        },
      ]);
    },
  );
});

it.each(['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)'])('no spreadsheet takes %s for a formula', (key) => {
  expect(mappingLine(row(key), 'csv')).toMatch(/^acme,"?'/);
});

it('accepts columns in any order, without the optional ones, and skips empty lines', async () => {
  const lines = ['\uFEFFsite_job_id,key,feed', '1,a,acme', '', '2,b,acme'];
  expect((await read(lines)).map((line) => [line.line, line.kind === 'mapping' && line.key])).toEqual([
    [2, 'a'],
    [4, 'b'],
  ]);
});

const HEADER = 'feed,key,site_job_id,site_job_url,site';
it.each([
  { name: 'an empty file', lines: [], line: 1, message: 'empty' },
  { name: 'a missing column', lines: ['feed,key'], line: 1, message: 'site_job_id is missing' },
  { name: 'an unknown column', lines: ['feed,key,site_job_id,colour'], line: 1, message: 'unknown: colour' },
  { name: 'too few cells', lines: [HEADER, 'acme,a'], line: 2, message: '2 cells' },
  { name: 'an open quote', lines: [HEADER, 'acme,"a,1,,'], line: 2, message: 'CSV quoting' },
  { name: 'a quote inside a cell', lines: [HEADER, 'acme,a"b",1,,'], line: 2, message: 'CSV quoting' },
  { name: 'text after a quote', lines: [HEADER, 'acme,"a"b,1,,'], line: 2, message: 'CSV quoting' },
  { name: 'an open quote in the header', lines: ['feed,"key', 'acme",a'], line: 1, message: 'CSV quoting' },
  {
    name: 'an unknown feed',
    lines: [HEADER, 'globex,a,1,,'],
    line: 2,
    message: 'there is no feed globex; feeds: acme',
  },
  { name: 'another site', lines: [HEADER, 'acme,a,1,,other'], line: 2, message: 'into site board, not into other' },
  { name: 'no key', lines: [HEADER, 'acme,,1,,'], line: 2, message: 'key must not be empty' },
  { name: 'a key too long', lines: [HEADER, `acme,${'k'.repeat(501)},1,,`], line: 2, message: 'longer than 500' },
  { name: 'a job ID too long', lines: [HEADER, `acme,a,${'1'.repeat(300)},,`], line: 2, message: "can't be the ID" },
  { name: 'a URL of another scheme', lines: [HEADER, 'acme,a,1,javascript:x,'], line: 2, message: 'http://' },
  ...['2026-03-20', '2026-03-20T10:00:00', '2026-02-30T10:00:00Z', '2026-03-20T25:00:00Z', 'yesterday'].map((time) => ({
    name: `the time ${time}`,
    lines: ['feed,key,site_job_id,mapped_at', `acme,a,1,${time}`],
    line: 2,
    message: 'mapped_at must be a time like',
  })),
  {
    name: 'an unknown name without a value',
    lines: ['{"feed":"acme","key":"a","site_job_id":1,"colour":null}'],
    line: 1,
    message: 'unknown: colour',
  },
  {
    name: 'a column twice',
    lines: ['feed,key,site_job_id,key', 'acme,a,1,b'],
    line: 1,
    message: 'the column key twice',
  },
  { name: 'no JSON', lines: ['{"feed"'], line: 1, message: 'not a JSON object' },
  {
    name: 'an object as key',
    lines: ['{"feed":"acme","key":{},"site_job_id":1}'],
    line: 1,
    message: 'key must be text',
  },
])('reports the problem with $name', async ({ lines, line, message }) => {
  expect(await read(lines)).toEqual([{ kind: 'problem', line, message: expect.stringContaining(message) }]);
});

it('continues after an invalid line', async () => {
  expect((await read([HEADER, 'acme,a', 'acme,b,2,,', 'acme,c'])).map((line) => line.kind)).toEqual([
    'problem',
    'mapping',
    'problem',
  ]);
});

it('reads every other line of a long file in which quotes open and close over lines', async () => {
  const mappings = Array.from({ length: 1_000 }, (_, at) => `acme,"k,${at}",${at + 1},,`);
  const lines = await read([HEADER, ...mappings.slice(0, 500), 'acme,"a,1,,', 'acme,b",1,,', ...mappings.slice(500)]);
  expect(lines.filter(({ kind }) => kind === 'problem').map(({ line }) => line)).toEqual([502, 503]);
  const keys = lines.map((line) => line.kind === 'mapping' && [line.line, line.key]).filter(Boolean);
  expect(keys).toEqual(mappings.map((_, at) => [at < 500 ? at + 2 : at + 4, `k,${at}`]));
});

it('takes a file of empty lines for one without mappings', async () => {
  expect(await read(['', '  '])).toEqual([]);
});
