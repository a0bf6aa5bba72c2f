// Mappings exported by one installation and imported by another: nothing is lost, and each mistake in the file is named once.
// @module-tag slow
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { type Installation, runProgram } from './run-program.ts';

const KEYS = [
  'plain',
  'a,b',
  'with "quotes"',
  'ümläut 🙂',
  '007',
  '=1+1',
  "'=1",
  '-5',
  '{',
  'Z',
  'a',
  'a b',
  'ab',
  'a-c',
];

let database: TestDatabase;
let second: Installation;
const mirror = openedForAll(() => openMirror());
beforeAll(async () => {
  await mirror.syncOf(KEYS.map((key) => posting(key)));
  // An old job, one just as old, and one whose URL the site did not tell.
  const { db } = await mirror.app();
  await db.query(`update mapping set mapped_at = '2019-02-28T23:59:59.123Z' where key in ('plain', '007')`);
  await db.query(`update mapping set site_job_url = null where key = 'Z'`);
  await mirror.stopEngine();
});

// No case changes the first installation or the site.
beforeEach(async () => {
  database = await createTestDatabase();
  second = { ...mirror, env: { ...mirror.env, DATABASE_URL: database.url } };
});
afterEach(() => database.drop());

const file = () => join(mirror.folder, 'mappings');

async function exported(from: Installation, format: string): Promise<string> {
  const { status, out, errors } = await runProgram(from, 'mappings', 'export', '--format', format);
  expect(errors).toBe('');
  expect(status).toBe(0);
  return out;
}

const imports = async (content: string | Buffer, ...args: readonly string[]) => {
  await writeFile(file(), content);
  return runProgram(second, 'mappings', 'import', file(), ...args);
};

describe.each(['csv', 'jsonl'])('as %s', (format) => {
  it('an export, imported into an empty installation, is exported again byte for byte', async () => {
    const text = await exported(mirror, format);
    expect(text.trimEnd().split('\n')).toHaveLength(KEYS.length + (format === 'csv' ? 1 : 0));
    expect(text).toContain('2019-02-28T23:59:59.123Z');
    const taken = await imports(text, '--json');
    expect(taken.json()).toEqual([{ added: KEYS.length, known: 0, checked: true }]);
    expect(await exported(second, format)).toBe(text);
    // A second import finds everything there and changes nothing.
    expect((await imports(text, '--json')).json()).toEqual([{ added: 0, known: KEYS.length, checked: true }]);
    expect(await exported(second, format)).toBe(text);
  });

  it('the second installation creates and deletes nothing, and keeps the times', async () => {
    const text = await exported(mirror, format);
    await imports(text);
    const before = await mirror.siteJobs();
    const synced = await runProgram(second, 'sync', '--json');
    expect(synced.json()).toMatchObject([{ status: 'mirrored', created: 0, deleted: 0, seen: KEYS.length }]);
    expect(await mirror.siteJobs()).toEqual(before);
    expect(await exported(second, format)).toBe(text);
  });

  it('a file that was cut anywhere in its last line is refused', async () => {
    const text = Buffer.from((await exported(mirror, format)).trimEnd());
    const start = text.lastIndexOf('\n') + 1;
    for (const share of [0.1, 0.5, 0.8, 0.95, 0.99]) {
      const cut = text.subarray(0, start + Math.ceil((text.length - start - 1) * share));
      const { status, errors } = await imports(cut, '--unchecked');
      expect([share, status]).toEqual([share, 1]);
      const line = KEYS.length + (format === 'csv' ? 1 : 0);
      expect(errors.match(/mappings:\d+:/g)).toEqual([`mappings:${line}:`]);
      expect(errors).toContain('Nothing was imported.');
    }
    expect((await exported(second, 'jsonl')).trim()).toBe('');
  });
});

it('keys are in the order of their bytes, whatever the collation of the database', async () => {
  const keys = (await exported(mirror, 'jsonl'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).key as string);
  expect(keys).toEqual([...KEYS].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
});

describe('each mistake is named once, with its line', () => {
  it.each([
    [
      'the same line again',
      (lines: string[]) => [...lines, lines[3]],
      /:16: posting .* of job \d+ already appears in line 4$/,
    ],
    [
      'a job of another line',
      (lines: string[]) => [...lines, swapKey(lines[3], 'new')],
      /:16: job \d+ already appears in line 4$/,
    ],
    [
      'an unknown column',
      ([head, ...lines]: string[]) => [`${head},colour`, ...lines.map((line) => `${line},red`)],
      /:1: unknown: colour;/,
    ],
    [
      'a column named twice',
      ([head, ...lines]: string[]) => [`${head},key`, ...lines.map((line) => `${line},x`)],
      /:1: the first line names the column key twice$/,
    ],
    [
      'a time that is none',
      (lines: string[]) => lines.map((line, at) => (at === 5 ? line.replace(/[^,]*$/, '2026-02-30T10:00:00Z') : line)),
      /:6: mapped_at must be a time like .*, not "2026-02-30T10:00:00Z"$/,
    ],
    [
      'a time in the future',
      (lines: string[]) => lines.map((line, at) => (at === 5 ? line.replace(/[^,]*$/, '2999-01-01T10:00:00Z') : line)),
      /:6: mapped_at is in the future: 2999-01-01T10:00:00.000Z$/,
    ],
    [
      'an ID that the site does not have',
      (lines: string[]) => [...lines, 'acme,other,987654,,,'],
      /:16: the site board has no job 987654$/,
    ],
  ])('%s', async (_, change, problem) => {
    const lines = (await exported(mirror, 'csv')).trimEnd().split('\n');
    const { status, errors } = await imports(change(lines).join('\n'));
    expect(status).toBe(1);
    expect(errors.trimEnd().split('\n')).toEqual([expect.stringMatching(problem), 'Nothing was imported.']);
    expect((await exported(second, 'jsonl')).trim()).toBe('');
  });

  it('a file in another encoding', async () => {
    const text = await exported(mirror, 'csv');
    const { status, errors } = await imports(Buffer.from(text.replace('🙂', ''), 'latin1'));
    expect(status).toBe(1);
    expect(errors).toMatch(/mappings is not UTF-8 after line \d+\. Nothing was imported\.$/m);
    expect(await readFile(file(), 'latin1')).toContain('ümläut');
  });
});

/** The mapping of another posting to the same job. */
const swapKey = (line: string | undefined, key: string): string => {
  const job = /,(\d+),http/.exec(line ?? '')?.[1];
  return `acme,${key},${job},,,`;
};
