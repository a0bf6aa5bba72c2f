// What `places` may say, and what it becomes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

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

const DETAILS = '    details: { url: "https://ats.example.com/{id}", format: json }';

it('`each` may have details, which other fields read', async () => {
  const fields = '    fields: { title: detail/title, text: { jsonata: "detail.text" } }';
  const mapping = await mappingOf('    places: { path: at, use: each }', `${DETAILS}\n${fields}`);
  expect(mapping?.places?.use).toBe('each');
  // The others make one posting of a record.
  const city = '    fields: { location-city: detail/city }';
  expect((await mappingOf('    places: { path: detail/at, use: first }', `${DETAILS}\n${city}`))?.key.ofPlaces).toBe(
    undefined,
  );
});

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

it.each<readonly [string, string, RegExp]>([
  ['{ path: at, use: all }', '', /places\.use/],
  ['{ use: first }', '', /places\.path/],
  ['{ path: "a//b", use: first }', '', /places\.path: .*has no name/],
  ['{ path: at, use: each, fields: [] }', '', /places\.fields/],
  ['{ path: at, use: each, fields: [suburb] }', '', /places\.fields: nothing fills suburb/],
  [
    '{ path: detail/at, use: each }',
    DETAILS,
    /places\.path: detail\/at may be in the detail, but .*use first or review/,
  ],
  ['{ path: "*/at", use: each }', DETAILS, /places\.path: \*\/at may be in the detail/],
  ...[
    ['detail/city', 'detail/city'],
    ['{ from: [at/city, detail/city] }', 'detail/city'],
    ['{ template: "{at/city} {detail/area}" }', 'detail/area'],
    ['[{ when: { detail/remote: true }, value: Remote }, { from: at/city }]', 'detail/remote'],
  ].map(
    ([rule, path]) =>
      [
        '{ path: at, use: each }',
        `${DETAILS}\n    fields: { location-city: ${rule} }`,
        new RegExp(`places\\.fields: location-city is read from ${path}, which may be in the detail`),
      ] as const,
  ),
  [
    '{ path: at, use: each }',
    `${DETAILS}\n    fields: { location-city: { jsonata: "at.city" } }`,
    /places\.fields: location-city is the result of an expression, which may read the detail/,
  ],
])('%s is refused', async (places, more, message) => {
  await expect(mappingOf(`    places: ${places}`, more)).rejects.toThrow(message);
});
