// Mistakes in the settings of a mapping: each is reported with its line and what to do.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { whyRefused } from './why-refused.ts';

const folder = temporaryFolder();
beforeAll(() => {
  writeFileSync(join(folder, 'twice.csv'), 'a,1\nA,2\n');
  writeFileSync(join(folder, 'short.csv'), 'a,1\n\nb\n');
  writeFileSync(join(folder, 'quote.csv'), 'a,"1\n');
  writeFileSync(join(folder, 'empty.csv'), '\n');
  writeFileSync(join(folder, 'latin.csv'), Buffer.from('a,B\xfcro\n', 'latin1'));
  writeFileSync(join(folder, 'heading.csv'), 'code,name\na,1\n');
});

/** A configuration whose feed has these lines, from line 9 on. */
async function load(...lines: readonly string[]) {
  const text = [
    'sites:',
    '  board:',
    '    base_url: https://jobs.example.com',
    '    token: "$' + '{TOKEN}"',
    'feeds:',
    '  acme:',
    '    source: "-"',
    '    site: board',
    ...lines.map((line) => `    ${line}`),
  ].join('\n');
  writeFileSync(join(folder, 'jobmirror.yaml'), text);
  return loadConfig({ env: { TOKEN: 'zq-1' }, cwd: folder });
}

const complaintOf = async (...lines: readonly string[]) =>
  (await whyRefused(load(...lines))).replaceAll(`${folder}/`, '');

const field = (settings: string) => ['format: indeed', 'fields:', `  title: { from: a, ${settings} }`];
const at = (setting: string) => new RegExp(`^jobmirror\\.yaml:11:\\d+ feeds\\.acme\\.fields\\.title\\.?${setting}: `);

describe('mistakes in map', () => {
  test.each([
    ['map: { a: 1 }', 'map\\.a', 'must be text (put a number in quotes)'],
    ['map: {}', 'map', 'has no entry'],
    [
      'map: { a: x, "A ": y }',
      'map\\.A ',
      'contradicts the entry a: upper and lower case and spaces make no difference',
    ],
    ['map: [a]', 'map', 'must be text, or a group of settings'],
    ['otherwise: keep', 'otherwise', 'works only with map, match or us_place'],
    ['map: { a: b }, match: a, otherwise: keep', 'otherwise', 'belongs to one step; write the steps one by one in as'],
    ['map: { a: b }, otherwise: drop', 'otherwise', 'must be one of reject, keep, default'],
    ['map: { a: b }, map_columns: [a, b]', 'map_columns', 'works only with a map in a CSV file'],
    ['map: none.csv', 'map', "none.csv can't be read: there is no such file"],
    ['map: twice.csv', 'map', 'twice.csv has two entries for A with different results'],
    ['map: short.csv', 'map', 'short.csv line 3 has no second column'],
    ['map: quote.csv', 'map', 'quote.csv is not a CSV file that can be read: '],
    ['map: empty.csv', 'map', 'empty.csv has no entry'],
    ['map: latin.csv', 'map', 'latin.csv is not encoded as UTF-8; save it as "CSV UTF-8"'],
    ['map: heading.csv, map_columns: [code, nam]', 'map', 'heading.csv has no column nam; its columns: code, name'],
    ['as: [text, { map: none.csv }]', 'as\\.1\\.map', "none.csv can't be read: there is no such file"],
    ['as: [text, { mapp: none.csv }]', 'as\\.1\\.mapp', 'is not a setting; did you mean map?'],
    ['as: [text, {}]', 'as\\.1', 'has no settings'],
  ])('%s', async (settings, setting, message) => {
    const complaint = await complaintOf(...field(settings));
    expect(complaint).toMatch(at(setting));
    expect(complaint).toContain(message);
  });
});

describe('mistakes in match', () => {
  test.each([
    ['match: "a("', 'match', 'is not a pattern: missing closing )'],
    ['match: "(?=a)"', 'match', 'look-ahead and look-behind are not supported'],
    ['take: "{1}"', 'take', 'works only with match'],
    ['match: "(a)", take: "{2}"', 'take', 'names the group 2, but the pattern has 1'],
    ['as: [text, { match: "a(" }]', 'as\\.1\\.match', 'is not a pattern'],
  ])('%s', async (settings, setting, message) => {
    const complaint = await complaintOf(...field(settings));
    expect(complaint).toMatch(at(setting));
    expect(complaint).toContain(message);
  });
});

describe('mistakes in jsonata', () => {
  test.each([
    ['jsonata: "a &"', 'jsonata', 'is not a JSONata expression that can be used: Unexpected end of expression'],
    ['jsonata: "$now()"', 'jsonata', 'is not a JSONata expression that can be used: $now is not available'],
  ])('%s', async (settings, setting, message) => {
    const complaint = await complaintOf('format: indeed', 'fields:', `  title: { ${settings} }`);
    expect(complaint).toMatch(at(setting));
    expect(complaint).toContain(message);
  });

  test('beside from', async () => {
    const complaint = await complaintOf(...field('jsonata: b'));
    expect(complaint).toContain('needs exactly one of from, template, sections, value and jsonata');
  });
});

describe('mistakes in other steps', () => {
  test.each([
    ['us_place: town', 'us_place', 'must be one of city, state'],
    ['sanitize: [p, script]', 'sanitize\\.1', 'must be the name of an HTML element'],
    ['sanitize: []', 'sanitize', 'must have at least 1 entry'],
    ['max_length: 0', 'max_length', 'must be at least 1'],
    ['date: { zone: New York }', 'date\\.zone', 'must be an IANA time zone, such as America/New_York or UTC'],
    ['date: { order: mdy }', 'date\\.order', 'must be one of month_first, day_first'],
    ['as: [{ date: { zones: UTC } }]', 'as\\.0\\.date\\.zones', 'is not a setting; did you mean zone?'],
  ])('%s', async (settings, setting, message) => {
    const complaint = await complaintOf(...field(settings));
    expect(complaint).toMatch(at(setting));
    expect(complaint).toContain(message);
  });
});

describe('mistakes in when', () => {
  test.each([
    ['when: {}', 'when', 'has no condition'],
    ['when: { a/: x }', 'when\\.a/', 'the path "a/" has no name at character 3'],
    ['when: { a: {} }', 'when\\.a', 'says nothing; write exists: true, for example'],
    ['when: { a: { iss: x } }', 'when\\.a\\.iss', 'is not a setting; did you mean is?'],
    ['when: { a: 1.5 }', 'when\\.a', 'must be text'],
    ['when: { a: [] }', 'when\\.a', 'must have at least 1 entry'],
    ['when: { a: { matches: "(a" } }', 'when\\.a\\.matches', 'is not a pattern: missing closing )'],
    ['when: [{ a: b }, { c: { not: [] } }]', 'when\\.1\\.c\\.not', 'must have at least 1 entry'],
  ])('%s', async (settings, setting, message) => {
    const complaint = await complaintOf(...field(settings));
    expect(complaint).toMatch(at(setting));
    expect(complaint).toContain(message);
  });

  test('in an alternative', async () => {
    const complaint = await complaintOf('format: indeed', 'fields:', '  title:', '    - a', '    - { when: { a: b } }');
    expect(complaint).toMatch(
      /^jobmirror\.yaml:13:11 feeds\.acme\.fields\.title\.1: needs exactly one of from, template/,
    );
  });
});

test('a CSV file is part of the mapping: its change reads all records again', async () => {
  const fingerprint = async () => {
    const { feeds } = await load(...field('map: codes.csv'));
    return compileReader(feeds.get(feedName('acme'))?.mapping ?? expect.fail()).fingerprint;
  };
  writeFileSync(join(folder, 'codes.csv'), 'a,1\n');
  const before = await fingerprint();
  writeFileSync(join(folder, 'codes.csv'), '\ufeffa;1\r\n');
  expect(await fingerprint()).toBe(before);
  writeFileSync(join(folder, 'codes.csv'), 'a,2\n');
  expect(await fingerprint()).not.toBe(before);
});
