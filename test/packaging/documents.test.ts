// The documents: what they mention and link to exists, the map of the tree has every folder, and they stay short.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const markdownIn = (folder: string): string[] =>
  readdirSync(join(packageRoot, folder), { encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => normalize(join(folder, name)));
const DOCUMENTS = [...markdownIn('.'), ...markdownIn('docs'), ...markdownIn('examples')];
const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

it.each(DOCUMENTS)('%s names files that exist', (path) => {
  const named = [...read(path).matchAll(/`((?:test|src|jobs|config|bench)\/[\w./-]+\.(?:ts|tsx|yaml|json|xml|sql))`/g)];
  expect(named.map(([, file]) => file ?? '').filter((file) => !existsSync(join(packageRoot, file)))).toEqual([]);
});

it.each(['docs/architecture.md', 'docs/first-change.md'])('%s names identifiers that exist', (path) => {
  const code = ['src', 'jobs', 'test'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:tsx?|sql)$/.test(name))
      .map((name) => read(join(folder, name))),
  );
  const known = new Set(code.join('\n').match(/\w+/g));
  const named = [...read(path).matchAll(/`([A-Z][A-Z_]{3,}|[A-Z]?[a-z]+(?:[A-Z][a-z]+)+)(?:\(\))?`/g)].map(
    ([, name = '']) => name,
  );
  expect(named.length).toBeGreaterThan(1);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

/** What GitHub makes of the headings of a page, as the ends of addresses. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const [, heading = ''] of text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
    const before = counts.get(slug) ?? 0;
    counts.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
}

it('makes anchors as GitHub does', () => {
  const page = '## What `sync` prints\n```\n# no heading\n```\n### `feeds.<name>.pages`\n## A, B & C\n## A, B & C\n';
  expect([...anchorsOf(page)]).toEqual(['what-sync-prints', 'feedsnamepages', 'a-b--c', 'a-b--c-1']);
});

it.each(DOCUMENTS)('%s links to files and headings that exist', (path) => {
  const prose = read(path)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : normalize(join(dirname(path), file));
    if (!existsSync(join(packageRoot, target))) return true;
    return anchor !== undefined && !anchorsOf(read(target)).has(anchor);
  });
  expect(broken).toEqual([]);
});

/** Longer ones are not read. */
const MOST_WORDS = { 'README.md': 1_300, 'CHANGELOG.md': 1_500, 'CONTRIBUTING.md': 1_500 };

it.each(Object.entries(MOST_WORDS))('%s has at most %d words', (path, most) => {
  expect(read(path).split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(most);
});

/** The others are written by hand: a person must be able to read, and keep, all of them. */
const GENERATED = /Generated from|generated from the table/i;
const MOST_WORDS_BY_HAND = 30_000;

it(`the documents that are not generated have at most ${MOST_WORDS_BY_HAND} words`, () => {
  const written = DOCUMENTS.map(read).filter((text) => !GENERATED.test(text.slice(0, 1_000)));
  expect(DOCUMENTS.length - written.length).toBe(6);
  const words = written.map((text) => text.split(/\s+/).filter(Boolean).length);
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MOST_WORDS_BY_HAND);
});

describe('the layout in docs/architecture.md', () => {
  const LAYOUT = /^## Layout$(?<layout>[\s\S]*?)^## /m.exec(read('docs/architecture.md'))?.groups?.layout ?? '';

  it.each(['src', 'src/feed', 'src/feed/source', 'src/store'])('names each folder in %s', (folder) => {
    const folders = readdirSync(join(packageRoot, folder), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.length).toBeGreaterThan(2);
    expect(folders.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}/`).test(LAYOUT))).toEqual([]);
  });

  it('names only folders that exist', () => {
    const named = [...LAYOUT.matchAll(/^ {2}([\w-]+)\/ /gm)].map(([, name]) => `src/${name}`);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((folder) => !existsSync(join(packageRoot, folder)))).toEqual([]);
  });
});
