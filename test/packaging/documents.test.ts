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
