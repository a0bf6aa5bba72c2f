// What `places` may say, and what it becomes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-places-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function mappingOf(places: string, more = '') {
  const lines = [
    `sites: { board: { base_url: "https://jobs.example.com", token: "\${TOKEN}" } }`,
    'feeds:',
    '  acme:',
    '    source: "https://ats.example.com/acme.json"',
    '    site: board',
    '    format: { type: json, key: id, fields: { title: title, location-city: at/city, location-state: at/state } }',
    places,
    more,
  ];
  writeFileSync(join(folder, 'jobmirror.yaml'), lines.join('\n'));
  return (await loadConfig({ env: { TOKEN: 'zq-1' }, cwd: folder })).feeds.get(feedName('acme'))?.mapping;
}

it('only `each` tells places apart, in the key too', async () => {
  expect(await mappingOf('')).toMatchObject({ key: { paths: ['id'] } });
  expect(Object.keys((await mappingOf('')) ?? {})).not.toContain('places');
  expect(await mappingOf('    places: { path: at, use: first }')).toMatchObject({
    places: { path: 'at', use: 'first' },
  });
  const each = await mappingOf('    places: { path: at, use: each, split: ";" }');
  expect(each?.key).toEqual({ paths: ['id'], ofPlaces: true });
  expect(each?.places).toEqual({ path: 'at', use: 'each', split: ';', fields: ['location-city', 'location-state'] });
});

it.each([
  ['{ path: at, use: all }', '', /places\.use/],
  ['{ use: first }', '', /places\.path/],
  ['{ path: "a//b", use: first }', '', /places\.path: .*has no name/],
  ['{ path: at, use: each, fields: [] }', '', /places\.fields/],
  ['{ path: at, use: each, fields: [suburb] }', '', /places\.fields: nothing fills suburb/],
  [
    '{ path: at, use: each }',
    '    details: { url: "https://ats.example.com/{id}", format: json }',
    /places\.use: cannot be each for a feed with details/,
  ],
])('%s is refused', async (places, more, message) => {
  await expect(mappingOf(`    places: ${places}`, more)).rejects.toThrow(message);
});
