// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// A feed takes parts of its preset away with `null`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

async function load(format: string, ...lines: string[]) {
  const text = [
    'sites:',
    '  board: { base_url: https://jobs.example.com, token: "${TOKEN}" }',
    'feeds:',
    '  acme:',
    '    source: https://api.example.com/jobs',
    `    format: ${format}`,
    '    site: board',
    ...lines.map((line) => `    ${line}`),
  ];
  writeFileSync(join(folder, 'jobmirror.yaml'), text.join('\n'));
  const feed = (await loadConfig({ env: { TOKEN: 'zq-0123456789' }, cwd: folder })).feeds.get(feedName('acme'));
  if (feed === undefined) throw new Error('no feed');
  return feed;
}

it('takes the pages away, and with them the second pull that a delete needs', async () => {
  const before = await load('smartrecruiters');
  expect(before.source.from.kind).toBe('pages');
  expect(before.guard.missingPulls).toBe(2);
  const after = await load('smartrecruiters', 'pages: null', 'total: null');
  expect(after.source.from.kind).toBe('http');
  expect(after.guard.missingPulls).toBe(1);
});

it('takes the total away', async () => {
  expect((await load('greenhouse')).source.totalPaths).not.toEqual([]);
  expect((await load('greenhouse', 'total: null')).source.totalPaths).toEqual([]);
});

it('takes the details away', async () => {
  expect((await load('rippling')).source.details).toBeDefined();
  expect((await load('rippling', 'details: null')).source.details).toBeUndefined();
});

it('takes the places away', async () => {
  expect((await load('ashby')).mapping.places).toBeDefined();
  expect((await load('ashby', 'places: null')).mapping.places).toBeUndefined();
});
