// One term per concept: names that the vocabulary replaced do not come back, in code, SQL, documents or tests.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const PLACES = [
  ...['src', 'jobs', 'test', 'bench', 'docs', 'examples', 'config'],
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
];
const THIS = 'test/packaging/vocabulary.test.ts';

/** Words of which no name is made, and the term for each. They are ordinary words: sentences may use them. */
const IN_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^book(?:s|ed)?$/, 'database, App, pull transaction'],
  [/^desks?$/, 'site context, record planner'],
  [/^wish(?:es|ed)?$/, 'desired'],
  [/^standings?$/, 'status, progress'],
  [/^reckonings?$/, 'outcome counts'],
  [/^(?:hindrances?|objections?|misgivings?)$/, 'blocker, failure indicator'],
  [/^patience$/, 'retry'],
  [/^heed(?:s|ed|ing)?$/, 'site worker, maintain'],
  [/^presences?$/, 'worker lease, stale lock holder'],
  [/^unmet$/, 'seen, missing'],
  [/^stretch(?:es)?$/, 'chunk, prefetch'],
];

/** Terms of several words, in names and sentences. */
const ANYWHERE: readonly (readonly [RegExp, string])[] = [
  [/\b(?:our|open|with|pull) books\b/, 'the database, App, pull transaction'],
  // The verdict of `mappings adopt` keeps its name.
  [/\bunsure (?:write|field|value|outcome)s?\b/, 'uncertain write, uncertain fields'],
  [/\bsilent holders?\b/, 'stale lock holder'],
];

/** `siteDesk`, `open_books`, `HTTPDesk` as separate words. */
const splitNames = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();

/** Names of several words, and what is declared: a sentence has neither. Numbered migrations keep their names. */
const NAMES = /\b(?!\d{4}_)[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b|\b[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*\b/g;
const DECLARED = /\b(?:const|let|function|class|interface|type|readonly)\s+(\w+)\s*[=(:<{?;]/g;

/** The words of a line that the vocabulary replaced, each with the term to write. */
function replacedIn(line: string): string[] {
  const names = [...(line.match(NAMES) ?? []), ...[...line.matchAll(DECLARED)].map(([, name = '']) => name)];
  const inNames = names.flatMap((name) =>
    splitNames(name)
      .split(' ')
      .flatMap((word) =>
        IN_NAMES.filter(([replaced]) => replaced.test(word)).map(([, term]) => `"${name}": write ${term}`),
      ),
  );
  const split = splitNames(line);
  const anywhere = ANYWHERE.filter(([replaced]) => replaced.test(split)).map(
    ([replaced, term]) => `"${split.match(replaced)?.[0]}": write ${term}`,
  );
  return [...new Set([...inNames, ...anywhere])];
}

/** Any of the words: most files have none. */
const ANY =
  /book|desk|wish|standing|reckoning|unsure|hindrance|objection|misgiving|patience|heed|presence|silent.?holder|unmet|stretch/i;

const filesIn = (place: string): string[] => {
  const path = join(packageRoot, place);
  if (statSync(path).isFile()) return [place];
  return readdirSync(path, { recursive: true }).map((entry) => join(place, String(entry)));
};

it('no replaced word is used', () => {
  const files = PLACES.flatMap(filesIn).filter((path) => /\.(?:tsx?|mjs|md|sql|yaml)$/.test(path) && path !== THIS);
  expect(files.length).toBeGreaterThan(100);
  const used = files.flatMap((path) => {
    const text = readFileSync(join(packageRoot, path), 'utf8');
    if (!ANY.test(text)) return [];
    return text.split('\n').flatMap((line, at) => replacedIn(line).map((found) => `${path}:${at + 1}: ${found}`));
  });
  expect(used).toEqual([]);
});

describe('detected', () => {
  it.each([
    'await openBooks(url);',
    'create table pull_books (feed text);',
    'const DESK_SIZE = 3;',
    'record(siteDesk, wishedFields);',
    'export interface Wish {',
    'const wish = desired(posting);',
    'function heed(site: Site): void {',
    'the unsure writes of a site',
    'update change set unsure_write = true;',
  ])('%s', (line) => {
    expect(replacedIn(line)).not.toEqual([]);
  });
});

describe('allowed', () => {
  it.each([
    'A person who wishes to see the front desk carried the books away.',
    'Titles such as "Help Desk Analyst" stretch over two lines in the presence of long words.',
    'const outstanding = facebook(bookmarks);',
    '/** The change of long standing was met with objections. */',
  ])('%s', (line) => {
    expect(replacedIn(line)).toEqual([]);
  });
});
