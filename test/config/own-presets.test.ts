// The user's own presets: files in the folder `presets` beside the configuration.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-presets-'));
  mkdirSync(join(folder, 'presets'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const OWN = `records: jobs/job
key: id
fields: { title: name, location-state: { from: state, as: us_state } }
`;

const preset = (file: string, content = OWN) => writeFileSync(join(folder, 'presets', file), content);

async function load(format: string) {
  const text = `sites: { board: { base_url: "https://jobs.example.com", token: "\${TOKEN}" } }
feeds: { acme: { source: "-", site: board, format: ${format} } }
`;
  writeFileSync(join(folder, 'jobmirror.yaml'), text);
  return loadConfig({ env: { TOKEN: 'zq-1' }, cwd: folder });
}

const complaintOf = async (format: string) => {
  const error: unknown = await load(format).catch((thrown: unknown) => thrown);
  return error instanceof Error ? error.message.replaceAll(`${folder}/`, '') : 'accepted';
};

test('an own preset is used by its name, and listed', async () => {
  preset('acme-ats.yaml');
  const config = await load('acme-ats');
  expect(config.feeds.get(feedName('acme'))).toMatchObject({
    source: { recordPath: 'jobs/job' },
    mapping: { key: { paths: ['id'] } },
  });
  expect(config.ownPresets).toEqual([{ name: 'acme-ats', file: join(folder, 'presets', 'acme-ats.yaml') }]);
  expect(config.warnings.filter((warning) => warning.includes('preset'))).toEqual([]);
});

test('an own preset replaces one that comes with jobmirror, with a warning', async () => {
  preset('indeed.yaml');
  const config = await load('indeed');
  expect(config.feeds.get(feedName('acme'))?.source.recordPath).toBe('jobs/job');
  const file = join(folder, 'presets', 'indeed.yaml');
  expect(config.warnings).toContain(`${file} replaces the preset indeed that comes with jobmirror`);
});

test('the tables of an own preset lie beside it', async () => {
  preset('acme-ats.yaml', OWN.replace('title: name', 'title: { from: name, map: titles.csv }'));
  preset('titles.csv', 'RN,Nurse\n');
  const config = await load('acme-ats');
  expect(config.feeds.get(feedName('acme'))?.mapping.fields.title).toMatchObject({
    as: [{ kind: 'map', table: [['RN', 'Nurse']] }],
  });
});

describe('mistakes', () => {
  test('in an own preset are reported with their place', async () => {
    preset('acme-ats.yaml', OWN.replace('key: id', 'keys: id'));
    const message = await complaintOf('acme-ats');
    expect(message).toContain('feeds.acme.format: the preset is wrong: presets/acme-ats.yaml:2');
    expect(message).toContain('keys: is not a setting; did you mean key?');
  });

  test('a name without a file', async () => {
    preset('acme-ats.yaml');
    expect(await complaintOf('acme-att')).toContain(
      'there is no preset acme-att; did you mean acme-ats?; your own belong in the folder presets beside this file',
    );
  });

  test.each(['Acme ATS.yaml', 'acme.yml'])('the file name %s', async (file) => {
    preset(file);
    const warning = `${join(folder, 'presets', file)}: no feed can name this preset; rename the file to lower-case letters, digits, - and _, with the ending .yaml`;
    expect((await load('indeed')).warnings).toContain(warning);
  });

  test('a file instead of the folder', async () => {
    rmSync(join(folder, 'presets'), { recursive: true });
    writeFileSync(join(folder, 'presets'), '');
    expect(await complaintOf('indeed')).toContain("presets: can't be read: ");
  });
});
