// Finds source files and their imports by text search, because TypeScript 7 is native and has no API for tools.
import { readdirSync, readFileSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';

/** One source file: its path from the package root with `/`, its text, and what it imports. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** A path from the package root for own files (`src/plan/plan.ts`), or a package's or Node module's name. */
  readonly imports: readonly string[];
}

/** Reads all `.ts` and `.tsx` files below the folders (paths from the package root), sorted by path. */
export function readSources(packageRoot: string, folders: readonly string[], skip = /^$/): SourceFile[] {
  return folders
    .flatMap((folder) => readdirSync(`${packageRoot}/${folder}`, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(packageRoot, `${entry.parentPath}/${entry.name}`).split(sep).join('/'))
    .filter((path) => !skip.test(path))
    .sort()
    .map((path) => sourceFile(path, readFileSync(`${packageRoot}/${path}`, 'utf8')));
}

/** @throws for an import whose module is computed at run time. */
export function sourceFile(path: string, text: string): SourceFile {
  return { path, text, imports: importedNames(path, text).map((name) => resolve(path, name)) };
}

// Static imports start at the beginning of a line (the formatter ensures it). Type imports count too.
const STATIC = /^(?:import|export)\b[^'"`;]*?\bfrom\s*(['"])(?<name>[^'"]+)\1/gm;
const FOR_EFFECT = /^import\s*(['"])(?<name>[^'"]+)\1/gm;
const DYNAMIC = /\b(?:import|require)\s*\(\s*(?:(['"])(?<name>[^'"]+)\1\s*[,)])?/g;

function importedNames(path: string, text: string): string[] {
  return [STATIC, FOR_EFFECT, DYNAMIC].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => {
      const name = match.groups?.name;
      if (name === undefined) throw new Error(`${path}: "${match[0]}" imports what can't be told from the text`);
      return name;
    }),
  );
}

function resolve(path: string, name: string): string {
  if (name.startsWith('.')) return posix.join(posix.dirname(path), name);
  const parts = name.split('/');
  return name.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? name);
}
