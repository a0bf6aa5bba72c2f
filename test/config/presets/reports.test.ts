import { describe, expect, test } from 'vitest';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../../support/shared-feeds.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { feedWith, readResults } from './read-preset.ts';

const folder = temporaryFolder();

/** By the last characters of each key: the place that is sent, or `review` if a person has to say it. */
async function placesIn(file: string, format: string): Promise<Record<string, string>> {
  const { results } = await readResults(await feedWith(folder, { source: sharedFeed(`reports/${file}`), format }));
  return Object.fromEntries(
    results.flatMap((result) => {
      if (!('posting' in result)) return [];
      const { key, fields } = result.posting;
      const isPlaced = result.kind === 'posting';
      const { 'location-city': city = '-', 'location-state': state = '-' } = fields;
      return [[key.slice(-4), isPlaced ? `${city}, ${state}` : 'review']];
    }),
  );
}

describe.skipIf(!hasSharedFeeds)(`a place is one thing${sharedFeedsNote}`, () => {
  test.each<[file: string, preset: string, expected: Record<string, string>]>([
    [
      'ashby-secondary.json',
      'ashby',
      { '0001': 'New York, New York', '0002': 'San Francisco, California', '0004': 'Austin, Texas' },
    ],
    [
      'schema-mixed.json',
      'schema-org',
      { 'le/1': '-, Texas', 'le/2': 'Austin, Texas', 'le/3': 'Denver, Colorado', 'le/4': '-, Massachusetts' },
    ],
    ['teamtailor-remote.rss', 'teamtailor-rss', { '0001': 'review', '0002': 'review', '0003': 'Austin, Texas' }],
    [
      'greenhouse-or.json',
      'greenhouse',
      {
        9100: 'review',
        9101: 'review',
        9102: 'review',
        9103: 'review',
        9104: 'review',
        9105: 'Seattle, Washington',
      },
    ],
    [
      'greenhouse-workmodel.json',
      'greenhouse',
      {
        '0001': 'Austin, Texas',
        '0002': 'Seattle, Washington',
        '0003': 'review',
        '0004': 'New York City, New York',
        '0005': '-, Massachusetts',
        '0006': 'Denver, Colorado',
      },
    ],
    [
      'own-country.csv',
      'csv',
      {
        1: 'review',
        2: 'review',
        3: 'review',
        4: 'review',
        5: 'review',
        6: 'review',
        7: 'Gary, Indiana',
        8: 'review',
        9: 'review',
        10: 'review',
        11: 'review',
        12: 'review',
        13: 'review',
        14: 'review',
        15: 'review',
        16: 'review',
      },
    ],
  ])('%s by the preset %s', async (file, preset, expected) => {
    expect(await placesIn(file, preset)).toEqual(expected);
  });
});
