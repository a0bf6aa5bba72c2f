// What a run of the program compiled is used by the next one, and only if it is whole and of the same text.
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

/** A folder like that of the bundled program. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-bundled-'));
  copyFileSync(join(packageRoot, 'dist/src/cli/load-bundled.js'), join(folder, 'load-bundled.mjs'));
  writeFileSync(
    join(folder, 'entry.mjs'),
    `import { keepCompiled, loadBundled } from './load-bundled.mjs';
console.log(loadBundled('program').greet());
keepCompiled();`,
  );
  writeFileSync(join(folder, 'words.cjs'), `exports.word = 'hello';`);
  writeProgram('1');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const writeProgram = (end: string) =>
  writeFileSync(join(folder, 'program.cjs'), `exports.greet = () => require('./words.cjs').word + ' ${end}';`);

const run = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [join(folder, 'entry.mjs'), ...args], { encoding: 'utf8' }).trim();

const kept = (): string[] => readdirSync(join(folder, 'compiled')).sort();
const onlyKept = (): string => join(folder, 'compiled', kept()[0] ?? '');

it('keeps it once for each command', () => {
  expect(run('sync')).toBe('hello 1');
  const { ino } = statSync(onlyKept());
  expect(run('sync')).toBe('hello 1');
  expect(statSync(onlyKept()).ino).toBe(ino);
  expect(run('status')).toBe('hello 1');
  expect(run('--config', 'sync')).toBe('hello 1');
  expect(kept()).toEqual(['any', 'status', 'sync'].map((name) => `${name}-${process.version}-${process.arch}`));
});

it('compiles a text of the same length again', () => {
  run('sync');
  writeProgram('2');
  expect(run('sync')).toBe('hello 2');
  expect(run('sync')).toBe('hello 2');
});

it.each([
  ['changed', (bytes: Buffer) => bytes.fill(0, bytes.length - 64)],
  ['cut', (bytes: Buffer) => bytes.subarray(0, bytes.length - 64)],
  ['empty', () => Buffer.alloc(0)],
  ['without its head', (bytes: Buffer) => bytes.subarray(64)],
])('compiles again if the file is %s', (_how, damage) => {
  run('sync');
  writeFileSync(onlyKept(), damage(readFileSync(onlyKept())));
  expect(run('sync')).toBe('hello 1');
  const { ino } = statSync(onlyKept());
  expect(run('sync')).toBe('hello 1');
  expect(statSync(onlyKept()).ino).toBe(ino);
});

it('keeps what other runs of the command have used', () => {
  writeFileSync(
    join(folder, 'program.cjs'),
    `exports.greet = () => process.argv[3] === 'more' ? require('./words.cjs').word : 'nothing';`,
  );
  expect(run('feeds', 'more')).toBe('hello');
  const { ino } = statSync(onlyKept());
  expect(run('feeds')).toBe('nothing');
  expect(run('feeds', 'more')).toBe('hello');
  expect(statSync(onlyKept()).ino).toBe(ino);
});

it('keeps it for a run that has found something to review, too', () => {
  writeFileSync(join(folder, 'program.cjs'), `exports.greet = () => { process.exitCode = 2; return 'review'; };`);
  expect(() => run('sync')).toThrow();
  expect(kept()).toHaveLength(1);
});

it('removes what other releases and killed runs left more than a day ago, and no code of a release that is used by turns', () => {
  mkdirSync(join(folder, 'compiled'));
  const isRecent = {
    'sync-v20.0.0-x64': false,
    [`sync-${process.version}-${process.arch}.4711`]: false,
    'sync-v20.0.1-x64': true,
  };
  for (const [name, recent] of Object.entries(isRecent)) {
    const path = join(folder, 'compiled', name);
    writeFileSync(path, '');
    const written = Date.now() / 1_000 - 24 * 60 * 60 + (recent ? 600 : -600);
    utimesSync(path, written, written);
  }
  run('sync');
  expect(kept()).toEqual([`sync-${process.version}-${process.arch}`, 'sync-v20.0.1-x64'].sort());
});

it('leaves no name of a file that is gone', () => {
  run('sync');
  writeFileSync(join(folder, 'program.cjs'), `exports.greet = () => 'alone';`);
  rmSync(join(folder, 'words.cjs'));
  run('sync');
  expect(readFileSync(onlyKept(), 'latin1')).not.toContain('words.cjs');
});

it.skipIf(process.geteuid?.() !== 0)('keeps nothing in the installation of another user', () => {
  chownSync(folder, 1, 1);
  expect(run('sync')).toBe('hello 1');
  expect(readdirSync(folder)).not.toContain('compiled');
});

it('keeps nothing of a run that failed', () => {
  writeFileSync(join(folder, 'program.cjs'), `exports.greet = () => { process.exitCode = 1; return 'failed'; };`);
  expect(() => run('sync')).toThrow();
  expect(readdirSync(folder)).not.toContain('compiled');
});
