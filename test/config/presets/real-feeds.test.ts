// The presets on real feeds, read in place. The numbers of postings and keys are those of an independent parser.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../../src/config/package-root.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../../support/shared-feeds.ts';
import { feedWith, summarize } from './read-preset.ts';
import { REAL_FEEDS } from './real-feed-cases.ts';

const EXPECTED = join(packageRoot, 'test', 'config', 'presets', 'real-feeds.yaml');
const expected = existsSync(EXPECTED) ? (parse(readFileSync(EXPECTED, 'utf8')) as Record<string, unknown>) : {};
const found: Record<string, unknown> = {};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-presets-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  if (process.env.UPDATE === '1' && hasSharedFeeds) writeFileSync(EXPECTED, stringify(found, { lineWidth: 130 }));
});

describe.skipIf(!hasSharedFeeds)(`real feeds${sharedFeedsNote}`, () => {
  const presets = new Set<string>();
  for (const [file, preset, postings, keys, settings] of REAL_FEEDS) {
    // `npm test` reads one feed by each preset.
    const tags = presets.has(preset) ? ['slow'] : [];
    presets.add(preset);
    test(`${file} by the preset ${preset}`, { tags }, async () => {
      const summary = await summarize(
        await feedWith(folder, { source: sharedFeed(file), format: preset, ...settings }),
      );
      expect({ postings: summary.postings, keys: summary.keys }).toEqual({ postings, keys });
      found[file] = summary;
      if (process.env.UPDATE !== '1') expect(summary).toEqual(expected[file]);
    });
  }
});
