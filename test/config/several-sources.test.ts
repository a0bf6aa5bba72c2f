// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// Loading feeds with several sources, or with the files of a folder.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { whyRefused } from './why-refused.ts';

const folder = temporaryFolder();
beforeAll(() => {
  mkdirSync(join(folder, 'inbox'));
  writeFileSync(join(folder, 'a.xml'), '<source/>');
});

async function load(...lines: string[]) {
  const text = [
    'sites:',
    '  board: { base_url: https://jobs.example.com, token: "${TOKEN}" }',
    'feeds:',
    '  acme:',
    '    format: indeed',
    '    site: board',
    ...lines.map((line) => `    ${line}`),
  ];
  writeFileSync(join(folder, 'jobmirror.yaml'), text.join('\n'));
  const config = await loadConfig({ env: { TOKEN: 'zq-0123456789' }, cwd: folder, thorough: true });
  return config.feeds.get(feedName('acme'))?.source.from;
}

test('several sources are each of their own kind', async () => {
  expect(await load('sources: [a.xml, https://x.example/a, https://x.example/b]', 'headers: { X-A: b }')).toMatchObject(
    {
      kind: 'several',
      members: [
        { kind: 'file', path: join(folder, 'a.xml') },
        { kind: 'http', url: 'https://x.example/a' },
        { kind: 'http', url: 'https://x.example/b' },
      ],
      limits: { firstByteTimeoutMs: 60_000, minBytesPerSecond: 1024 },
    },
  );
  expect(await load('sources: [a.xml]')).toMatchObject({ kind: 'several', members: [{ kind: 'file' }] });
  expect(await load('sources: [https://x.example/a]', 'pages: { by: link }')).toMatchObject({
    members: [{ kind: 'pages', http: { url: 'https://x.example/a' } }],
  });
});

test.each([
  ['inbox/*.xml', 'newest', '*.xml'],
  ['inbox/a?', 'all', 'a?'],
  ['inbox', 'all', '*'],
  ['inbox/', 'newest', '*'],
])('%s with files: %s names a folder and a pattern', async (source, pick, pattern) => {
  expect(await load(`source: ${source}`, `files: ${pick}`)).toEqual({
    kind: 'files',
    folder: join(folder, 'inbox'),
    pattern,
    pick,
  });
});

test.each<[string, string[], RegExp]>([
  ['no source', [], /feeds.acme.source: is missing; it must be text, or use sources, a list/],
  ['both', ['source: a.xml', 'sources: [a.xml]'], /feeds.acme.sources: cannot be combined with source/],
  ['an empty list', ['sources: []'], /feeds.acme.sources: must have at least 1 entry/],
  ['standard input', ['sources: [a.xml, "-"]'], /feeds.acme.sources: cannot hold -, standard input/],
  ['an unknown scheme', ['sources: [a.xml, "ftp://x"]'], /feeds.acme.sources.1: can't be read over ftp/],
  [
    'credentials for two origins',
    ['sources: [https://x.example/, https://y.example/]', 'credentials: { bearer: { token: "${TOKEN}" } }'],
    /feeds.acme.credentials: would be sent to https:\/\/x.example and https:\/\/y.example; make a feed of each/,
  ],
  [
    'headers for two origins',
    ['sources: [https://x.example/, https://x.example:81/]', 'headers: { X-Key: "${TOKEN}" }'],
    /feeds.acme.headers: would be sent to/,
  ],
  [
    'pages of files',
    ['sources: [https://x.example/, a.xml]', 'pages: { by: link }'],
    /feeds.acme.pages: work only with http and https sources/,
  ],
  ['a missing file', ['sources: [a.xml, b.xml]'], /feeds.acme.sources.1: .*b.xml can't be read: there is no such file/],
  ['a folder', ['source: inbox'], /inbox is a folder, not a feed; .*set files: newest or files: all/],
  ['a pattern', ['source: "inbox/*.xml"'], /to read the files that match a pattern, set files: newest or files: all/],
  ['a missing folder', ['source: "outbox/*.xml"', 'files: all'], /outbox can't be read: there is no such file/],
  ['files of a file', ['source: a.xml', 'files: all'], /a.xml is no folder; remove files to read it as one file/],
  [
    'files of a web address',
    ['source: https://x.example/', 'files: all'],
    /files: works only with folders and patterns/,
  ],
  ['a wildcard in a folder', ['source: "in*/a.xml"', 'files: all'], /source: has a wildcard in the name of a folder/],
])('%s is refused', async (_, lines, complaint) => {
  expect(await whyRefused(load(...lines))).toMatch(complaint);
});
