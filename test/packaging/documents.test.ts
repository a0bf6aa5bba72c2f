// The files that the documents mention exist: tests, and other documents.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const docs = readdirSync(join(packageRoot, 'docs')).filter((name) => name.endsWith('.md'));
const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

it.each(['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)])(
  '%s names files that exist',
  (path) => {
    const named = [
      ...read(path).matchAll(/`((?:test|src|jobs|config|bench)\/[\w./-]+\.(?:ts|tsx|yaml|json|xml|sql))`/g),
    ];
    expect(named.map(([, file]) => file ?? '').filter((file) => !existsSync(join(packageRoot, file)))).toEqual([]);
  },
);

const LAYOUT = /^## Layout$(?<layout>[\s\S]*?)^## /m.exec(read('README.md'))?.groups?.layout ?? '';

it.each(['src', 'src/feed', 'src/feed/source', 'src/store'])("README's layout names each folder in %s", (folder) => {
  const folders = readdirSync(join(packageRoot, folder), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(folders.length).toBeGreaterThan(2);
  expect(folders.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}/`).test(LAYOUT))).toEqual([]);
});

it("README's layout names only folders that exist", () => {
  const named = [...LAYOUT.matchAll(/^ {2}([\w-]+)\/ /gm)].map(([, name]) => `src/${name}`);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((folder) => !existsSync(join(packageRoot, folder)))).toEqual([]);
});
