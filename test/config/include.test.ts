// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests are about ${NAME} in the configuration.
// Feeds in files of their own: read with the main file, whatever is wrong with one of them.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { changedParts } from '../../src/config/config-digests.ts';
import { readNames } from '../../src/config/include.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { whyRefused } from './why-refused.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-include-'));
  write('jobmirror.yaml', MAIN);
});
afterEach(() => rmSync(folder, { recursive: true }));

const MAIN = `include: feeds/*.yaml
sites:
  board:
    base_url: https://jobs.example.com
    token: \${BOARD_TOKEN}
`;
const FEED = 'source: jobs.xml\nformat: indeed\nsite: board\n';

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

const load = (brokenFeeds: 'refuse' | 'leave_out' = 'refuse') =>
  loadConfig({ cwd: folder, env: { BOARD_TOKEN: 'zq-51f0c2d7', HOUR: '3', KEY: 'zq-key' }, brokenFeeds });

const complaints = async () => await whyRefused(load());

it('reads one feed for each file, beside those of the main file, with paths relative to the main file', async () => {
  write('jobmirror.yaml', `${MAIN}feeds:\n  main:\n    source: main.xml\n    format: indeed\n    site: board\n`);
  write('feeds/acme.yaml', `${FEED}schedule: "0 \${HOUR} * * *"\nheaders:\n  X-Api-Key: \${KEY}\n`);
  write('feeds/beta.yaml', FEED);
  write('feeds/.beta.yaml.swp', 'not: a feed');
  write('feeds/README.md', 'not a feed');
  const { feeds, feedFiles, include } = await load();
  expect([...feeds.keys()]).toEqual(['main', 'acme', 'beta']);
  expect(feeds.get(feedName('acme'))?.source.from).toMatchObject({ kind: 'file', path: join(folder, 'jobs.xml') });
  expect(feeds.get(feedName('acme'))?.schedule).toBe('0 3 * * *');
  expect([...feedFiles]).toEqual([
    ['acme', join(folder, 'feeds/acme.yaml')],
    ['beta', join(folder, 'feeds/beta.yaml')],
  ]);
  expect(include).toEqual({ pattern: 'feeds/*.yaml', folder: join(folder, 'feeds'), ending: '.yaml' });
  expect(await readNames(join(folder, 'jobmirror.yaml'), 'feeds')).toEqual(['main', 'acme', 'beta']);
});

it('needs no feeds in the main file, nor a file yet; without include, feeds are missing as before', async () => {
  expect((await load()).feeds.size).toBe(0);
  write('jobmirror.yaml', MAIN.replace('include: feeds/*.yaml\n', ''));
  expect(await complaints()).toBe('jobmirror.yaml:1:1 feeds: is missing; it must be a group of settings');
});

it('names file and line of every mistake, and leaves out only the feeds that have one', async () => {
  write('feeds/acme.yaml', FEED);
  write('feeds/beta.yaml', `# ours\n${FEED}shedule: "0 3 * * *"\n`);
  write('feeds/gone.yaml', `${FEED.replace('board', 'bord')}headers:\n  X: \${UNSET}\n`);
  write('feeds/torn.yaml', 'source: [jobs.xml\n');
  write('feeds/empty.yaml', '');
  write('feeds/Big Corp.yaml', FEED);
  const said = await complaints();
  expect(said.split('\n').sort()).toEqual([
    expect.stringMatching(/^feeds\/Big Corp.yaml feeds.Big Corp: the file's name is the feed's, which must be 1 to 64/),
    'feeds/beta.yaml:5:1 feeds.beta.shedule: is not a setting; did you mean schedule?',
    'feeds/empty.yaml feeds.empty: must be a group of settings',
    expect.stringMatching(/^feeds\/gone.yaml:3:7 feeds.gone.site: .*board/),
    expect.stringMatching(/^feeds\/gone.yaml:5:6 feeds.gone.headers.X: the environment variable UNSET is not set/),
    expect.stringMatching(/^feeds\/torn.yaml:\d:\d+ feeds.torn: not valid YAML/),
  ]);
  const { feeds, brokenFeeds } = await load('leave_out');
  expect([...feeds.keys()]).toEqual(['acme']);
  expect([...brokenFeeds.keys()].sort()).toEqual(['Big Corp', 'beta', 'empty', 'gone', 'torn']);
});

it('refuses a feed that is in two files, with both places', async () => {
  write('jobmirror.yaml', `${MAIN}feeds:\n  acme:\n    source: main.xml\n    format: indeed\n    site: board\n`);
  write('feeds/acme.yaml', FEED);
  expect(await complaints()).toBe(
    'feeds/acme.yaml feeds.acme: the feed is also in jobmirror.yaml:7:3; remove one of the two',
  );
});

it.each([
  '../feeds/*.yaml',
  '/etc/*.yaml',
  'feeds/../../*.yaml',
  'presets/*.yaml',
  'feeds/**/*.yaml',
  'feeds',
  './*.yaml',
])('refuses the pattern %s', async (pattern) => {
  write('jobmirror.yaml', MAIN.replace('feeds/*.yaml', `"${pattern}"`));
  expect(await complaints()).toContain('jobmirror.yaml:1:10 include: must name a folder below that of this file');
});

it('follows links within the folder, as Kubernetes makes them, and none out of it', async () => {
  write('feeds/..2026/acme.yaml', FEED);
  symlinkSync('..2026/acme.yaml', join(folder, 'feeds/acme.yaml'));
  write('elsewhere.yaml', FEED);
  symlinkSync('../elsewhere.yaml', join(folder, 'feeds/beta.yaml'));
  symlinkSync('/dev/zero', join(folder, 'feeds/zero.yaml'));
  const { feeds, brokenFeeds } = await load('leave_out');
  expect([...feeds.keys()]).toEqual(['acme']);
  expect(brokenFeeds.get(feedName('beta'))?.complaints[0]?.message).toMatch(/^is a link out of the folder/);
  expect(brokenFeeds.get(feedName('zero'))?.complaints[0]?.message).toMatch(/^is a link out of the folder/);
});

it('a folder of feeds that is added, a feed that moves there, and an own preset are changes', async () => {
  const feeds = `feeds:\n  acme:\n    ${FEED.trim().replaceAll('\n', '\n    ')}\n`;
  write('jobmirror.yaml', MAIN.replace(/^include.*\n/, '') + feeds);
  const none = await load();
  write('jobmirror.yaml', MAIN + feeds);
  const included = await load();
  const nothing = { added: [], changed: [], removed: [], sites: [], others: [] };
  expect(changedParts(none, included)).toEqual({ ...nothing, others: ['include'] });
  write('jobmirror.yaml', MAIN);
  write('feeds/acme.yaml', FEED);
  const moved = await load();
  expect(changedParts(included, moved)).toEqual({ ...nothing, changed: ['acme'] });
  write(
    'presets/own.yaml',
    'records: jobs/job\nkey: id\nfields: { title: name, location-state: { from: state, as: us_state } }\n',
  );
  expect(changedParts(moved, await load())).toEqual({ ...nothing, others: ['presets'] });
  expect(changedParts(moved, moved)).toEqual(nothing);
});
