// Short commands start fast: what they import, directly or through others, holds no library that only running processes need.
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

/** What is imported before a file runs; types and `import()` are not. */
const LOADED = /^(?:import|export)\s(?!type\b)(?:[^'"`;]*?\bfrom\s*)?['"](?<name>[^'"]+)['"]/gm;

/** The libraries that a file loads, each with the chain of files that leads to it. */
function librariesOf(path: string): ReadonlyMap<string, string> {
  const libraries = new Map<string, string>();
  const seen = new Set<string>();
  const visit = (file: string, chain: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { groups } of readFileSync(join(packageRoot, file), 'utf8').matchAll(LOADED)) {
      const name = groups?.name ?? '';
      if (name.startsWith('.')) visit(posix.join(posix.dirname(file), name), `${chain} → ${name}`);
      else if (!name.startsWith('node:')) libraries.set(name, libraries.get(name) ?? chain);
    }
  };
  visit(path, path);
  return libraries;
}

it('help loads only the parser of the command line', () => {
  expect([...librariesOf('src/cli/program.ts').keys()]).toEqual(['commander']);
});

const FOR_RUNNING = [
  'bullmq',
  'ioredis',
  'undici',
  'hono',
  '@hono/node-server',
  'saxes',
  'fast-xml-parser',
  'xmlbuilder2',
  'iconv-lite',
];

it.each(['status', 'pulls', 'why', 'report'])('%s loads no queue, HTTP or XML library', (command) => {
  const libraries = librariesOf(`src/cli/commands/${command}.ts`);
  expect([...libraries.keys()]).toContain('pg');
  const needless = FOR_RUNNING.flatMap((name) => libraries.get(name) ?? []);
  expect(needless).toEqual([]);
});

it.each([
  ['review', ['bullmq', 'ioredis', 'undici', 'xmlbuilder2']],
  ['check', ['bullmq', 'undici', 'xmlbuilder2', 'cron-parser', 'csv-parse/sync']],
  ['mappings', ['undici', 'xmlbuilder2', 'cron-parser']],
  ['resume', ['undici', 'xmlbuilder2', 'cron-parser', 'csv-parse/sync']],
  ['status', ['cron-parser', 'csv-parse/sync']],
  ['sync', ['bullmq', 'ioredis', 'undici', 'xmlbuilder2', 'cron-parser', 'csv-parse/sync']],
])('%s loads what only some of its runs need when they do', (command, needless) => {
  const libraries = librariesOf(`src/cli/commands/${command}.ts`);
  expect(needless.flatMap((name) => libraries.get(name) ?? [])).toEqual([]);
});
