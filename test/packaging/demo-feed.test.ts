// The demo's bundled feeds contain what the demo claims, according to a parser that the program does not use.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SaxesParser } from 'saxes';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

interface DemoPosting {
  /** The record's text in the file. */
  readonly raw: string;
  /** Element name → its text. */
  readonly fields: Readonly<Record<string, string>>;
}

const KEY = 'referencenumber';

/** The employer's states, in every notation that the feeds use. */
const STATE =
  /^(Massachusetts|Mass\.|MA|US-MA|New Hampshire|N\.H\.|NH|Vermont|Vt\.|VT|vt|Connecticut|Conn\.|CT|Rhode Island|R\.I\.|RI|New York|N\.Y\.|NY|US-NY|Maine|Me\.|ME)$/;

/** @throws if the file is not well-formed */
function readDemoFeed(name: string): DemoPosting[] {
  const text = readFileSync(join(packageRoot, 'config/demo', name), 'utf8');
  const postings: DemoPosting[] = [];
  const parser = new SaxesParser();
  let fields: Record<string, string> = {};
  let content = '';
  let start = 0;
  parser.on('opentag', ({ name: element }) => {
    content = '';
    if (element !== 'job') return;
    fields = {};
    start = parser.position;
  });
  parser.on('text', (piece) => {
    content += piece;
  });
  parser.on('cdata', (piece) => {
    content += piece;
  });
  parser.on('closetag', ({ name: element }) => {
    if (element === 'job') postings.push({ raw: text.slice(start, parser.position), fields });
    else fields[element] = content;
  });
  parser.write(text).close();
  return postings;
}

const first = readDemoFeed('feed-1.xml');
const second = readDemoFeed('feed-2.xml');

const keyOf = (posting: DemoPosting): string => posting.fields[KEY] ?? '';
const firstByKey = new Map(first.map((posting) => [keyOf(posting), posting]));
const secondKeys = new Set(second.map(keyOf));

const problemOf = ({ fields }: DemoPosting): string | undefined => {
  if (!fields.title) return 'no title';
  if (!fields.state) return 'no state';
  return STATE.test(fields.state) ? undefined : `state ${fields.state}`;
};

it('the first version has 60 valid postings, no two with the same key', () => {
  expect(first).toHaveLength(60);
  expect(firstByKey.size).toBe(60);
  expect(first.filter((posting) => problemOf(posting) !== undefined)).toEqual([]);
  for (const { fields } of first) {
    for (const name of ['url', 'company', 'city', 'description', 'category']) expect(fields[name]).toBeTruthy();
  }
});

it('the first version writes its states in many ways, and no two postings are alike', () => {
  expect(new Set(first.map(({ fields }) => fields.state)).size).toBeGreaterThanOrEqual(20);
  expect(new Set(first.map(({ fields }) => fields.description)).size).toBe(60);
});

it('the second version has 66 postings under 65 keys, one key with two different contents', () => {
  expect(second).toHaveLength(66);
  const repeated = second.filter((posting, at) => second.findIndex((other) => keyOf(other) === keyOf(posting)) !== at);
  expect(repeated.map(keyOf)).toEqual(['SL-0881']);
  expect(repeated[0]?.fields.title).not.toBe(firstByKey.get('SL-0881')?.fields.title);
});

it('the second version has five invalid postings: three for one reason, two for others, one of them valid before', () => {
  const invalid = second.flatMap((posting) => {
    const problem = problemOf(posting);
    return problem === undefined
      ? []
      : [`${keyOf(posting)}: ${problem}${firstByKey.has(keyOf(posting)) ? ', live' : ''}`];
  });
  expect(invalid.sort()).toEqual([
    'CH-20553: no state, live',
    'CH-20679: no title',
    'SL-0904: state Jalisco',
    'SL-0906: state Sonora',
    'SL-0907: state Jalisco',
  ]);
});

it('between the two, 6 valid postings are new, 8 changed, 5 gone, and the others are unchanged byte for byte', () => {
  const valid = second
    .filter((posting) => problemOf(posting) === undefined)
    // The first posting of a duplicate key counts.
    .filter((posting, at, all) => all.findIndex((other) => keyOf(other) === keyOf(posting)) === at);
  const known = valid.filter((posting) => firstByKey.has(keyOf(posting)));
  const changed = known.filter((posting) => firstByKey.get(keyOf(posting))?.raw !== posting.raw);

  expect(valid.length - known.length).toBe(6);
  expect(changed).toHaveLength(8);
  expect(known.length - changed.length).toBe(46);
  expect(first.filter((posting) => !secondKeys.has(keyOf(posting)))).toHaveLength(5);
});

it('each change is visible on the site: title, description, category, city or state', () => {
  const shown = ['title', 'description', 'category', 'city', 'state'] as const;
  const seen = new Set<string>();
  for (const posting of second) {
    const before = firstByKey.get(keyOf(posting));
    if (before === undefined || before.raw === posting.raw) continue;
    const names = shown.filter((name) => before.fields[name] !== posting.fields[name]);
    expect(names, keyOf(posting)).not.toEqual([]);
    for (const name of names) seen.add(name);
  }
  expect([...seen].sort()).toEqual([...shown].sort());
});
