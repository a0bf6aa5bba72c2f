// Patterns of file names: what they match, and that the time does not grow with the number of their stars.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { kindOf } from '../../src/feed/source/sources.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function namesIn(pattern: string): Promise<string[]> {
  const config = { kind: 'files', folder, pattern, pick: 'all' } as const;
  const opened = await kindOf(config).open(config, { signal: new AbortController().signal });
  if (opened.kind !== 'documents') return [];
  const names: string[] = [];
  for await (const { name, chunks } of opened.documents) {
    names.push(name);
    for await (const chunk of chunks) void chunk;
  }
  return names.sort();
}

it.each([
  ['*.xml', ['a.b.xml', 'jobs-1.xml', 'jobs-22.xml', 'ähre.xml']],
  ['jobs-?.xml', ['jobs-1.xml']],
  ['jobs-??.xml', ['jobs-22.xml']],
  ['?hre.xml', ['ähre.xml']],
  ['*', ['a.b.xml', 'a[1].txt', 'jobs-1.xml', 'jobs-22.xml', 'ähre.xml']],
  ['*-*.x*l', ['jobs-1.xml', 'jobs-22.xml']],
  ['a[1].*', ['a[1].txt']],
  ['**.xml', ['a.b.xml', 'jobs-1.xml', 'jobs-22.xml', 'ähre.xml']],
  ['jobs-1.xml*', ['jobs-1.xml']],
  ['.h*', ['.hidden.xml']],
])('%s', async (pattern, expected) => {
  for (const name of ['jobs-1.xml', 'jobs-22.xml', 'a.b.xml', 'ähre.xml', 'a[1].txt', '.hidden.xml'])
    await writeFile(join(folder, name), 'x');
  expect(await namesIn(pattern)).toEqual(expected);
});

it('takes no time for many stars that do not match', async () => {
  await writeFile(join(folder, 'a'.repeat(200)), 'x');
  expect(await namesIn(`${'*a'.repeat(60)}*b`)).toEqual([]);
  expect(await namesIn(`${'*a'.repeat(60)}*`)).toHaveLength(1);
});
