// The source tree crosses no border of the design, and the rules detect every kind of crossing.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { bordersCrossed, MAY_IMPORT, STORE_ORDER } from './border-rules.ts';
import { readSources, sourceFile } from './import-scan.ts';

it('src and jobs cross no border', () => {
  const files = readSources(packageRoot, ['src', 'jobs']);
  expect(files.length).toBeGreaterThan(5);
  expect(bordersCrossed(files)).toEqual([]);
});

/** A feed's rename and deletion of old rows write tables by variable names, and change no state. */
const WRITES_CHANGES = /\b(?:update|insert into|delete from)\s+change\b/;

const crossing = (...files: readonly (readonly [path: string, text: string])[]): string[] =>
  bordersCrossed(files.map(([path, text]) => sourceFile(path, text)));

describe('detected', () => {
  it.each([
    ['a default import', 'src/plan/a.ts', "import b from '../store/b.ts';", 'src/plan may not import src/store/b.ts'],
    ['a format', 'src/pull/a.ts', "import { b } from '../feed/format/xml/b.ts';", 'a format is found by its name'],
    ['a source', 'src/config/a.ts', "import { b } from '../feed/source/http/b.ts';", 'a source is found by its kind'],
    ['a source by feed', 'src/feed/a.ts', "import { b } from './source/http/b.ts';", 'a source is found by its kind'],
    ['a type', 'src/feed/a.ts', "import type { B } from '../site/b.ts';", 'src/feed may not import src/site/b.ts'],
    ['over lines', 'src/feed/a.ts', "import {\n  b,\n  c,\n} from '../queue/b.ts';", 'may not import src/queue/b.ts'],
    ['for its effect', 'src/site/a.ts', "import '../feed/b.ts';", 'src/site may not import src/feed/b.ts'],
    ['exported on', 'src/store/a.ts', "export { b } from '../queue/b.ts';", 'src/store may not import src/queue/b.ts'],
    ['all exported on', 'src/queue/a.ts', 'export * from "../site/b.ts";', 'src/queue may not import src/site/b.ts'],
    ['while running', 'src/feed/a.ts', "const b = await import('../store/b.ts');", 'may not import src/store/b.ts'],
    ['outwards', 'src/posting/a.ts', "import { b } from '../plan/b.ts';", 'src/posting may not import src/plan/b.ts'],
    [
      'what is only fast',
      'src/plan/a.ts',
      "import { b } from '../compact/b.ts';",
      'src/plan may not import src/compact/',
    ],
    ['of jobs', 'src/review/a.ts', "import { b } from '../../jobs/b.ts';", 'src/review may not import jobs/b.ts'],
    ['by jobs', 'jobs/a.ts', "import { b } from '../src/cli/b.ts';", 'jobs may not import src/cli/b.ts'],
    ['of the sandbox', 'jobs/a.ts', "import { b } from '../src/sandbox/b.ts';", 'jobs may not import src/sandbox/b.ts'],
    ['of a test', 'src/cli/a.ts', "import { b } from '../../test/support/b.ts';", 'shipped code may not import test/'],
    ['another store file', 'src/sandbox/a.ts', "import { b } from '../store/mapping.ts';", 'may not import src/store/'],
    [
      'pg',
      'src/queue/a.ts',
      "import { Pool } from 'pg';",
      'pg is allowed only in src/store, src/embedded-postgres, src/sandbox',
    ],
    ['bullmq', 'jobs/a.ts', "import { Queue } from 'bullmq';", 'bullmq is allowed only in src/queue'],
    ['ioredis', 'src/cli/a.ts', "import { Redis } from 'ioredis';", 'ioredis is allowed only in src/queue'],
    [
      'an XML library',
      'src/posting/a.ts',
      "import { XMLParser } from 'fast-xml-parser';",
      'fast-xml-parser is allowed only',
    ],
    [
      'a part of a library',
      'src/review/a.ts',
      "import x from 'xmlbuilder2/lib/x.js';",
      'xmlbuilder2 is allowed only in',
    ],
    [
      'I/O in the centre',
      'src/plan/a.ts',
      "import { readFileSync } from 'node:fs';",
      'is pure and may not import node:fs',
    ],
    ['a clock in a table', 'src/compact/a.ts', 'const at = Date.now();', '"Date.now" is not'],
    ['a clock in the centre', 'src/posting/a.ts', 'const at = new Date();', '"new Date()" is not'],
    [
      'output that bypasses the print functions',
      'src/cli/a.ts',
      'process.stdout.write(x);',
      'goes through src/telemetry/print.ts',
    ],
    ['a log in the centre', 'src/plan/a.ts', "console.log('x');", '"console." is not'],
    ['a query', 'jobs/a.ts', "await pool.query('SELECT key FROM mapping');", 'SQL is allowed only in'],
    ['a query over lines', 'src/review/a.ts', 'query(`\n  update change set state = 1`);', 'SQL is allowed only in'],
    [
      'an untyped row',
      'src/store/a.ts',
      'db.query<A & Record<string, unknown>>(text);',
      'the rows of a query are typed',
    ],
    ['a command', 'src/apply/a.ts', "pause('run: jobmirror resume board');", 'only src/cli writes commands'],
    ['part of a command', 'src/review/a.ts', "refuse('use review settle');", 'only src/cli writes commands'],
    [
      'against the order of the store',
      'src/store/pull/a.ts',
      "import type { B } from '../change/b.ts';",
      'src/store/pull/a.ts: comes before src/store/change/b.ts in the order of the store',
    ],
    [
      'of the subfolder of a subfolder',
      'src/store/change/a.ts',
      "import { b } from './rekey/b.ts';",
      'comes before src/store/change/rekey/b.ts',
    ],
    ['beside the subfolders', 'src/store/backup/a.ts', "import { b } from '../b.ts';", 'comes before src/store/b.ts'],
    [
      'a new subfolder of the store',
      'src/store/new/a.ts',
      "import { b } from '../postgres/b.ts';",
      'src/store/new has no place in the order of the store',
    ],
    ['a new folder', 'src/helpers/a.ts', '', 'src/helpers has no place among the borders'],
  ])('%s', (_name, path, text, message) => {
    expect(crossing([path, text])).toEqual([expect.stringContaining(message)]);
  });

  it('a cycle, once and with its path', () => {
    const found = crossing(
      ['src/plan/a.ts', "import { b } from './b.ts';"],
      ['src/plan/b.ts', "import type { C } from './c.ts';"],
      ['src/plan/c.ts', "import { b } from './b.ts';"],
      ['src/plan/d.ts', "import { a } from './a.ts';\nimport { c } from './c.ts';"],
    );
    expect(found).toEqual(['a cycle: src/plan/b.ts → src/plan/c.ts → src/plan/b.ts']);
  });

  it('an import that is computed, which nobody can judge', () => {
    expect(() => sourceFile('src/cli/a.ts', 'await import(name);')).toThrow("imports what can't be told");
  });
});

describe('allowed', () => {
  it.each([
    ['its own folder', 'src/plan/a.ts', "import { b } from './b.ts';"],
    ['inwards', 'src/store/a.ts', "import { b } from '../plan/b.ts';\nimport { c } from '../posting/c.ts';"],
    ['along the order of the store', 'src/store/change/rekey/a.ts', "import { b } from '../../pull/b.ts';"],
    ['a registry', 'src/config/a.ts', "import { b } from '../feed/source/b.ts';"],
    ['hashing in the centre', 'src/posting/a.ts', "import { createHash } from 'node:crypto';"],
    ['the package root', 'src/store/a.ts', "import { packageRoot } from '../config/package-root.ts';"],
    ['the embedded server', 'src/sandbox/a.ts', "import { b } from '../embedded-postgres/server.ts';"],
    ['pg in the store', 'src/store/a.ts', "import { Pool } from 'pg';\npool.query('select 1 from mapping');"],
    ['words that look like a query', 'src/cli/a.ts', "say('Select a feed');\nsay('updated the site');"],
    ['a command', 'src/cli/a.ts', "say('jobmirror resume board');"],
    ['the name of the program', 'src/apply/a.ts', "say('so jobmirror cannot see it');"],
    ['wiring', 'src/cli/a.ts', "import { b } from '../../jobs/b.ts';\nimport { c } from '../sandbox/c.ts';"],
  ])('%s', (_name, path, text) => {
    expect(crossing([path, text])).toEqual([]);
  });
});

it('only the life cycle of a change writes the table of changes', () => {
  const writing = readSources(packageRoot, ['src', 'jobs'])
    .filter(({ path, text }) => !path.startsWith('src/store/change/') && WRITES_CHANGES.test(text))
    .map(({ path }) => path);
  expect(writing).toEqual([]);
});

it('docs/architecture.md has the same table of what each folder may import', () => {
  const page = readFileSync(`${packageRoot}/docs/architecture.md`, 'utf8');
  const named = (text = '') => [...text.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => path(name));
  const path = (name: string) => (name === 'jobs' ? name : `src/${name}`);
  const basis = named(/^"The basis".*$/m.exec(page)?.[0]);
  const table = page.slice(page.indexOf('| folder | may import |'), page.indexOf('`src/config/package-root.ts`'));
  const rows = [...table.matchAll(/^\| (`.*?) \| (.*) \|$/gm)].flatMap(([, folders, allowed = '']) =>
    named(folders).map((folder) => {
      const all = [...(allowed.includes('the basis') ? basis : []), ...named(allowed)];
      return [folder, all.filter((name) => name !== folder).sort()] as const;
    }),
  );
  const rules = Object.entries(MAY_IMPORT).map(
    ([folder, allowed]) => [folder, allowed.filter((name) => name !== folder).sort()] as const,
  );
  // The sandbox's own server is an exception to the rules.
  const expected = { ...Object.fromEntries(rules), 'src/sandbox': ['src/embedded-postgres'] };
  expect(Object.fromEntries(rows)).toEqual(expected);
});

it('docs/architecture.md has the same order of the subfolders of src/store, each with a place and no other', () => {
  const page = readFileSync(`${packageRoot}/docs/architecture.md`, 'utf8');
  const table = page.slice(page.indexOf('| subfolder of `store` |')).split('\n\n', 1)[0] ?? '';
  expect([...table.matchAll(/^\| `([\w/]+)` \|/gm)].map(([, name]) => name)).toEqual(STORE_ORDER);
  const folders = readSources(packageRoot, ['src/store']).flatMap(({ path }) => {
    const folder = path.split('/').slice(2, -1).join('/');
    return folder === '' ? [] : [folder];
  });
  expect([...new Set(folders)].sort()).toEqual([...STORE_ORDER].sort());
});
