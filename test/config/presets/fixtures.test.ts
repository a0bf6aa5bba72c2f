// The presets on made-up feeds, written from the public documentation of the systems.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse as parsePath } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../../src/config/package-root.ts';
import { feedWith, summarize } from './read-preset.ts';

const HERE = join(packageRoot, 'test', 'config', 'presets');
const EXPECTED = join(HERE, 'fixtures.yaml');
const expected = existsSync(EXPECTED) ? (parse(readFileSync(EXPECTED, 'utf8')) as Record<string, unknown>) : {};
const found: Record<string, unknown> = {};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-presets-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  if (process.env.UPDATE === '1') writeFileSync(EXPECTED, stringify(found, { lineWidth: 130 }));
});

/** Each file has the name of its preset. */
test.each(readdirSync(join(HERE, 'fixtures')).sort())('%s', async (file) => {
  const settings = { source: join(HERE, 'fixtures', file), format: parsePath(file).name };
  const summary = await summarize(await feedWith(folder, settings));
  expect(summary.failed).toBeUndefined();
  found[file] = summary;
  if (process.env.UPDATE !== '1') expect(summary).toEqual(expected[file]);
});
