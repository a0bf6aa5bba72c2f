// One term per concept: words that the vocabulary replaced do not come back, in code, SQL, documents or tests.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const PLACES = [
  ...['src', 'jobs', 'test', 'bench', 'docs', 'examples', 'config'],
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
];
const THIS = 'test/packaging/vocabulary.test.ts';

/** What must not be written, and the term for it. Identifiers are matched as well as prose. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:the|our|its|these|those) books\b|\bbooked\b|\b(?:open|with|pull)Books\b/,
    'the database, App, pull transaction',
  ],
  [/(?<!review )\b[Dd]esks?\b|[a-z]Desk\b|\bDesk[A-Z]/, 'site context, record planner'],
  [/\b[Ww]ish(?:es|ed)?(?:\b|[A-Z_])/, 'desired'],
  [/\bresting\b/, 'target state'],
  [/\bstandings?\b/, 'status, progress'],
  [/\btall(?:y|ies)\b|\breckoning\b/, 'outcome counts'],
  [/\bcarried\b/, 'pending-same, superseding'],
  // The verdict of `mappings adopt` keeps its name.
  [/\bunsure (?:write|field|value|outcome)s?\b/, 'uncertain write, uncertain fields'],
  [/\bhindrances?\b|\bobjections?\b|\bmisgivings?\b/, 'blocker, failure indicator'],
  [/\bpatien(?:ce|tly)\b/, 'retry'],
  [/\bin work\b/, 'rate limiter, slots, in flight'],
  [/\bheed(?:s|ed|ing)?\b|\btends? (?:the|what|them|it)\b/, 'site worker, maintain'],
  [/\bpresence\b|\bsilent holder\b/, 'worker lease, stale lock holder'],
  [/\bunmet\b|\b(?:was|were|been) met\b/, 'seen, missing'],
  [/\bstretch(?:es)?\b|\bread ahead\b/, 'chunk, prefetch'],
];

/** Any of them: most files hold none. */
const ANY = new RegExp(REPLACED.map(([word]) => word.source).join('|'));

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
    return text
      .split('\n')
      .flatMap((line, at) =>
        REPLACED.filter(([word]) => word.test(line)).map(
          ([word, term]) => `${path}:${at + 1}: "${line.match(word)?.[0]}": write ${term}`,
        ),
      );
  });
  expect(used).toEqual([]);
});
