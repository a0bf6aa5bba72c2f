// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// Loading how a source sends its postings in pages, from the feed or its format.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { whyRefused } from './why-refused.ts';

const folder = temporaryFolder();

const FORMAT = 'type: json, records: jobs, total: meta/total, key: id, fields: { title: t, location-state: s }';

async function load(lines: string[], { source = 'https://ats.example.com/jobs', format = FORMAT } = {}) {
  const text = [
    'sites:',
    '  board: { base_url: https://jobs.example.com, token: "${TOKEN}" }',
    'feeds:',
    '  acme:',
    ...(source === '' ? [] : [`    source: ${source}`]),
    `    format: { ${format} }`,
    '    site: board',
    ...lines.map((line) => `    ${line}`),
  ];
  writeFileSync(join(folder, 'jobmirror.yaml'), text.join('\n'));
  const config = await loadConfig({ env: { TOKEN: 'zq-0123456789' }, cwd: folder });
  const feed = config.feeds.get(feedName('acme'));
  if (feed === undefined) throw new Error('no feed');
  return feed;
}

const complaintOf = async (...parameters: Parameters<typeof load>) => await whyRefused(load(...parameters));

describe('pages', () => {
  test('have defaults, read the total themselves, and need two pulls for a delete', async () => {
    const { source, guard } = await load(['pages: { by: offset, size: 50, size_parameter: limit }']);
    expect(source.totalPaths).toEqual([]);
    expect(guard.missingPulls).toBe(2);
    expect(source.from).toMatchObject({
      kind: 'pages',
      http: { kind: 'http', url: 'https://ats.example.com/jobs' },
      paging: {
        by: 'offset',
        parameter: 'offset',
        first: 0,
        size: { value: 50, parameter: 'limit' },
        end: 'empty_page',
      },
      content: { format: 'json', recordPath: 'jobs', totalPaths: ['meta/total'] },
      limits: { maxPages: 10_000, maxPageBytes: 2 ** 24, requestsPerSecond: 10, minBytesPerSecond: 1024 },
      retry: { attempts: 4, firstDelayMs: 1_000, maxDelayMs: 60_000 },
    });
    expect((await load(['pages: { by: page }'])).source.from).toMatchObject({
      paging: { first: 1, parameter: 'page' },
    });
  });

  test('may be sources, which need two pulls for a delete, too', async () => {
    const pulls = async (...parameters: string[]) => {
      const written = parameters.map((each) => `https://ats.example.com/jobs?${each}`).join(', ');
      return (await load([`sources: [${written}]`], { source: '' })).guard.missingPulls;
    };
    expect(await pulls('page=1', 'page=2')).toBe(2);
    expect(await pulls('dept=1', 'dept=2', 'dept=2&page=2')).toBe(2);
    expect(await pulls('dept=1', 'dept=2', 'dept=3&page=2')).toBe(1);
  });

  test('may come from the format, and then apply to web addresses only', async () => {
    const format = `${FORMAT}, pages: { by: cursor, path: next }`;
    expect((await load([], { format })).source.from).toMatchObject({ kind: 'pages', paging: { by: 'cursor' } });
    const own = await load(['pages: { by: link }', 'delete_guard: { missing_pulls: 1 }'], { format });
    expect([own.source.from, own.guard.missingPulls]).toMatchObject([{ paging: { by: 'link' } }, 1]);
    const file = await load([], { format, source: 'acme.json' });
    expect([file.source.from.kind, file.source.totalPaths, file.guard.missingPulls]).toEqual([
      'file',
      ['meta/total'],
      1,
    ]);
  });

  test.each<[string, RegExp]>([
    ['{ by: numbers }', /pages.by: must be one of link, next, page, offset, cursor/],
    ['{ by: cursor }', /pages.path: is missing; it says where the cursor is in a page/],
    ['{ by: next }', /pages.path: is missing; it says where the address of the next page is/],
    ['{ by: next, path: "a//b" }', /pages.path: must be names in a page/],
    ['{ by: next, path: a, parameter: p }', /pages.parameter: works only with/],
    ['{ by: page, path: a }', /pages.path: works only with by: next and by: cursor/],
    ['{ by: link, first: 1 }', /pages.first: works only with by: page and by: offset/],
    ['{ by: page, size_parameter: limit }', /pages.size_parameter: needs size/],
    ['{ by: page, end: short_page }', /pages.end: short_page needs size/],
    ['{ by: link, end: short_page, size: 1 }', /pages.end: works only with/],
    ['{ by: page, parameter: "a=b" }', /pages.parameter: must be the name of a parameter/],
    ['{ by: page, size: 0 }', /pages.size: must be at least 1/],
    ['{ by: page, body: [] }', /pages.body: must be a group of settings/],
  ])('%s is refused', async (pages, complaint) => {
    expect(await complaintOf([`pages: ${pages}`])).toMatch(complaint);
  });

  test('are refused where they cannot work', async () => {
    expect(await complaintOf(['pages: { by: link }'], { source: 'acme.json' })).toMatch(
      /feeds.acme.pages: work only with http and https sources/,
    );
    const table = { format: 'type: csv, key: id, fields: { title: t, location-state: s }' };
    expect(await complaintOf(['pages: { by: cursor, path: next }'], table)).toMatch(
      /feeds.acme.pages: need a JSON or XML format/,
    );
    expect(await complaintOf(['pages: { by: page, more: next }'], table)).toMatch(/pages: need a JSON or XML format/);
    const xml = { format: FORMAT.replace('type: json', 'type: xml') };
    expect((await load(['pages: { by: cursor, path: jobs/next }'], xml)).source.from.kind).toBe('pages');
    expect(await complaintOf(['pages: { by: offset, parameter: "finder:offset" }'])).toMatch(
      /pages: set finder:offset, a parameter inside finder, which the address of the source lacks/,
    );
  });
});
