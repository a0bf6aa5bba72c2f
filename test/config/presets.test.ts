// The bundled presets, on made-up and real feeds.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { packageRoot } from '../../src/config/package-root.ts';
import { bundledPresets, findPresets, readPreset } from '../../src/config/presets.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';

test('every preset can be read', async () => {
  const presets = await bundledPresets();
  expect(presets.map(({ name }) => name)).toContain('indeed');
  for (const preset of presets) expect(await readPreset(preset)).toMatchObject({ key: [expect.any(String)] });
});

/** The fields that a typical site expects from an Indeed feed. */
const EXPECTED_FIELDS = [
  ...['number', 'title', 'category-name', 'description', 'location-city', 'location-state'],
  ...['contact-email-address', 'contact-web-address'],
];

test('indeed fills the fields of a known site', async () => {
  const preset = (await findPresets(packageRoot)).byName.get('indeed');
  if (preset === undefined) throw new Error('there is no preset indeed');
  expect(Object.keys((await readPreset(preset)).fields)).toEqual(EXPECTED_FIELDS);
});

describe.skipIf(!hasSharedFeeds)(`indeed on real feeds${sharedFeedsNote}`, () => {
  const parser = new XMLParser({ parseTagValue: false, ignoreDeclaration: true });
  const readerOf = async () => {
    const path = join(packageRoot, 'config/jobmirror.example.yaml');
    const config = await loadConfig({ path, env: { BOARD_TOKEN: 'x' }, cwd: packageRoot });
    const feed = config.feeds.get(feedName('acme'));
    if (feed === undefined) throw new Error('the example has no feed acme');
    return compileReader(feed.mapping);
  };
  const recordsOf = (file: string, root: string): RecordTree[] => {
    const document = parser.parse(readFileSync(sharedFeed(file), 'utf8').replace(/^[^<]+/, '')) as Record<
      string,
      { job: RecordTree[] }
    >;
    return document[root]?.job ?? [];
  };

  // The results of an independent parser: which values of <state> are not U.S. states, and how many are missing.
  const mexican = {
    ...{
      'Baja California': 1,
      'Baja California Sur': 3,
      Chihuahua: 3,
      'Distrito Federal': 6,
      'Estado de México': 3,
      Guanajuato: 1,
    },
    ...{
      Hidalgo: 2,
      Jalisco: 3,
      Michoacán: 1,
      'Nuevo Leon': 3,
      Sinaloa: 1,
      Sonora: 1,
      Tamaulipas: 1,
      Veracruz: 1,
      Yucatan: 1,
    },
  };
  const cases: [file: string, root: string, postings: number, states: Record<string, number>, withoutTitle: number][] =
    [
      ['indeed/staffing-2026-03-20.xml', 'source', 344, { missing: 5 }, 3],
      ['indeed/staffing-2026-03-04.xml', 'source', 360, { missing: 5 }, 2],
      ['indeed/no-declaration-crlf.xml', 'source', 31, mexican, 0],
      ['indeed/root-jobs.xml', 'jobs', 14, { Gelderland: 9, Groningen: 5 }, 0],
    ];
  test.each(cases)('%s', async (file, root, postings, states, withoutTitle) => {
    const reader = await readerOf();
    const results = recordsOf(file, root).map((record) => reader.read(record));
    const keys = results.map((result) => ('posting' in result ? result.posting.key : 'none'));
    expect(new Set(keys).size).toBe(postings);

    const problems = results.flatMap((result) => ('problems' in result ? result.problems : []));
    const wrongStates: Record<string, number> = {};
    for (const { value = 'missing' } of problems.filter(({ field }) => field === 'location-state')) {
      // A state outside the United States is shown with its country.
      const state = value.replace(/, (?:Mexico|Nederland)$/, '');
      wrongStates[state] = (wrongStates[state] ?? 0) + 1;
    }
    expect(wrongStates).toEqual(states);
    expect(problems.filter(({ field }) => field !== 'location-state').map(({ message }) => message)).toEqual(
      Array(withoutTitle).fill('title is missing; the site requires it'),
    );
  });
});
