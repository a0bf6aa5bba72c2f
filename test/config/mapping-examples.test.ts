// Every example of docs/mapping.md does what the page says.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load-config.ts';
import { packageRoot } from '../../src/config/package-root.ts';
import { formatOf } from '../../src/feed/format/formats.ts';
import { RecordDates } from '../../src/posting/dates.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

const page = readFileSync(join(packageRoot, 'docs', 'mapping.md'), 'utf8');
const files = [...page.matchAll(/^```csv (\S+)\n([\s\S]*?)^```/gm)];

/** As the page says. */
const NOW = Date.UTC(2026, 10, 1, 18);

interface Example {
  readonly settings: string;
  /** The site's field, or `skip`. */
  readonly field: string;
  readonly record: string;
  readonly result: string;
}

/** Blocks of settings, each with the table of records and results that follows it. */
const examples = [
  ...page.matchAll(/^```yaml\n([\s\S]*?)^```\n\n\| record \| (\S+) \|\n\|[-|]+\|\n((?:\|.*\|\n)+)/gm),
].flatMap(([, settings = '', field = '', rows = '']): Example[] =>
  rows
    .trim()
    .split('\n')
    .map((row) => {
      const [, record = '', result = ''] = /^\| `(.*?)` \| (.*) \|$/.exec(row) ?? [];
      return { settings, field, record, result: result.replaceAll('\\|', '|') };
    }),
);

async function readerOf({ settings }: Example) {
  for (const [, name = '', content = ''] of files) writeFileSync(join(folder, name), content);
  // Settings of the feed itself begin with its name for them, those of a field with the field's.
  const isOfFeed = /^skip:/.test(settings);
  const indented = settings.replace(/^/gm, isOfFeed ? '    ' : '        ');
  const config = [
    'sites: { board: { base_url: "https://jobs.example.com", token: zq-1 } }',
    'feeds:',
    '  acme:',
    '    source: "-"',
    '    site: board',
    '    format:',
    '      type: json',
    '      key: key',
    '      fields:',
    '        title: name',
    ...(/^\s*location-state:/m.test(settings) ? [] : ['        location-state: { value: Texas }']),
    indented,
  ].join('\n');
  writeFileSync(join(folder, 'jobmirror.yaml'), config.replace('token: zq-1', `token: "\${TOKEN}"`));
  const { feeds } = await loadConfig({ env: { TOKEN: 'zq-1' }, cwd: folder });
  const feed = feeds.get(feedName('acme'));
  if (feed === undefined) throw new Error('the example has no feed');
  return compileReader(feed.mapping);
}

test.each(examples)('$field of $record is $result', async (example) => {
  const reader = await readerOf(example);
  const json = Buffer.from(JSON.stringify({ key: '1', name: 'Nurse', ...parse(example.record) }));
  const parsed = formatOf('json').parseRecord(json);
  if (parsed.kind !== 'tree') throw new Error('the record of the example is not valid');
  await reader.prepare?.(parsed.tree);
  expect(shown(reader.read(parsed.tree, new RecordDates({ now: NOW })), example.field)).toBe(example.result);
});

test('the page has examples', () => {
  const blocks = [...page.matchAll(/^```yaml$/gm)].length;
  expect(new Set(examples.map(({ settings }) => settings)).size).toBe(blocks);
});

/** The result as the page writes it. */
function shown(read: ReturnType<ReturnType<typeof compileReader>['read']>, field: string): string {
  if (field === 'skip') return read.kind === 'skipped' ? 'skipped' : 'kept';
  if (!('posting' in read)) return read.kind;
  if (read.kind === 'invalid') return `rejected: ${read.problems.map(({ message }) => message).join('; ')}`;
  const value = read.posting.fields[field];
  return value === undefined ? 'nothing' : `\`${value}\``;
}
