// Shipped code exports what another file imports, and no two files give different things one name.
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { readSources, type SourceFile, sourceFile } from './import-scan.ts';

/** The tests' setup, which is no source file, injects a timing in processes that tests start. */
const FROM_OUTSIDE = ['src/runtime/timing.ts: setProcessTiming'];

/** Two files each that may not import each other, and mean the same. */
const SAME_MEANING = ['WhenFree'];

/** The sandbox is independent, and formats have counterparts of each other. */
const APART = /^src\/(sandbox|feed\/format\/[^/]+)\//;

const EXPORTED =
  /^export\s+(?:abstract\s+)?(?:async\s+)?(?<kind>const|let|function\*?|class|interface|type)\s+(?<name>\w+)/gm;
const COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g;

/** The exported names of a file, and whether each is only a type. */
function exportsOf({ text }: SourceFile): { readonly name: string; readonly isType: boolean }[] {
  return [...text.matchAll(EXPORTED)].map(({ groups }) => ({
    name: groups?.name ?? '',
    isType: groups?.kind === 'type' || groups?.kind === 'interface',
  }));
}

/** Exports that no other file imports. A type may instead be mentioned in its own file: it describes another export. */
function unusedExports(shipped: readonly SourceFile[], others: readonly SourceFile[]): string[] {
  const wordsIn = new Map([...shipped, ...others].map((file) => [file.path, wordsOf(file)]));
  const usersOf = new Map<string, Set<string>>();
  for (const { path, imports } of [...shipped, ...others]) {
    for (const used of imports) if (used !== path) usersOf.set(used, (usersOf.get(used) ?? new Set()).add(path));
  }
  const isUsed = (file: SourceFile, name: string): boolean =>
    [...(usersOf.get(file.path) ?? [])].some((user) => wordsIn.get(user)?.has(name));
  return shipped.flatMap((file) => {
    return exportsOf(file)
      .filter(({ name, isType }) => !(isType && (wordsIn.get(file.path)?.get(name) ?? 0) > 1) && !isUsed(file, name))
      .map(({ name }) => `${file.path}: ${name}`);
  });
}

/** How often a file mentions each word outside of comments. */
function wordsOf({ text }: SourceFile): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.replace(COMMENTS, '').matchAll(/\w+/g)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Names that several files export. */
function sharedNames(shipped: readonly SourceFile[]): string[] {
  const declaredIn = new Map<string, Set<string>>();
  for (const file of shipped.filter(({ path }) => !APART.test(path))) {
    for (const { name } of exportsOf(file)) declaredIn.set(name, (declaredIn.get(name) ?? new Set()).add(file.path));
  }
  return [...declaredIn]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`);
}

it('src and jobs export only what another file imports', () => {
  // The tests of the architecture quote imports.
  const users = readSources(packageRoot, ['bench', 'test'], /^test\/architecture\//);
  expect(unusedExports(readSources(packageRoot, ['src', 'jobs']), users)).toEqual(FROM_OUTSIDE);
});

it('src and jobs export each name once', () => {
  const shared = sharedNames(readSources(packageRoot, ['src', 'jobs']));
  expect(shared.filter((line) => !SAME_MEANING.some((name) => line.startsWith(`${name}:`)))).toEqual([]);
});

it('detects an export that is used in its own file only, or named without being imported', () => {
  const files = [
    sourceFile(
      'src/a.ts',
      `/** See {@link lost}. */
export const used = 1;
export const own = 2;
export function lost(): Shape { return { own }; } // lost
export interface Shape { readonly own: number }
export interface Alone { readonly own: number }
export async function* late() { yield 'https://late'; }`,
    ),
    sourceFile('src/b.ts', `import { used } from './a.ts';\nlate(used);`),
    sourceFile('src/c.ts', `const lost = 1;\nconst used = 2;`),
  ];
  expect(unusedExports(files, [])).toEqual(['src/a.ts: own', 'src/a.ts: lost', 'src/a.ts: Alone']);
});

it('detects a name that two files export', () => {
  const files = [
    sourceFile('src/a.ts', 'export const Kind = 1;\nexport type Kind = 1;'),
    sourceFile('src/b.ts', 'export interface Page {}'),
    sourceFile('src/c.ts', 'export type Page = string;'),
    sourceFile('src/sandbox/d.ts', 'export type Page = string;'),
  ];
  expect(sharedNames(files)).toEqual(['Page: src/b.ts, src/c.ts']);
});
