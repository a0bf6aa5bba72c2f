// Compares splitter and record parser with saxes, a conforming parser, on generated and real documents in random
// chunks.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { parseRecord } from '../../src/feed/format/xml/xml-format.ts';
import { renderMarkup } from '../../src/posting/markup.ts';
import type { RecordTree } from '../../src/posting/posting.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { countOf, generated } from '../support/extent.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';
import { split } from './collect.ts';

const name = fc.constantFrom('source', 'job', 'h:job', 'jobs', 'a', 'jo', 'größe');
const nasty = fc.constantFrom(
  '</job>',
  '<job>',
  '</source>',
  '<job/>',
  ']]',
  ']',
  '>',
  '"',
  "'",
  '--',
  '<!--',
  '-->',
  '?>',
  '<![CDATA[',
  '<?',
  ' x ',
  '\n',
  'é🚀',
  '&amp;',
);
const text = fc.array(nasty, { maxLength: 5 }).map((parts) => parts.join(''));
const escaped = text.map((raw) => raw.replace(/&/g, '&#38;').replace(/</g, '&lt;').replace(/>/g, '&#x3E;'));
const space = fc.constantFrom('', ' ', '\n\t');
// Without the start of another section: with an end tag of the record, it is refused, although it is well-formed.
const cdata = text.map((raw) => `<![CDATA[${raw.replaceAll(']]>', ']] >').replaceAll('<![CDATA[', '<!CDATA[')}]]>`);
const comment = text.map((raw) => `<!--${raw.replace(/--|-(?=>)/g, '=').replace(/-$/, '')}-->`);
// Without a question mark inside: saxes misparses `<?pi <?</job>?>`, although it is well-formed.
const instruction = text.map((raw) => `<?pi ${raw.replaceAll('?', '')}?>`);
const attributes = fc.tuple(space, text).map(([gap, raw]) => ` a${gap}=${gap}"${raw.replace(/[&<"]/g, '>')}" b='>'`);

const { element } = fc.letrec<{ element: string; content: string }>((tie) => ({
  content: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    escaped,
    cdata,
    comment,
    instruction,
    tie('element'),
  ),
  element: fc
    .tuple(name, fc.option(attributes, { nil: '' }), space, fc.option(fc.array(tie('content'), { maxLength: 6 })))
    .map(([tag, attrs, gap, inner]) =>
      inner === null ? `<${tag}${attrs}${gap}/>` : `<${tag}${attrs}${gap}>${inner.join('')}</${tag}${gap}>`,
    ),
}));
const content = fc.array(fc.oneof(element, escaped, cdata, comment, instruction), { maxLength: 8 });
const root = fc
  .tuple(fc.constantFrom('source', 'x:source', 'jobs'), content)
  .map(([tag, inner]) => `<${tag}>${inner.join('')}</${tag}>`);
const misc = fc
  .array(fc.oneof(comment, instruction, fc.constantFrom(' ', '\n')), { maxLength: 2 })
  .map((parts) => parts.join(''));
const document = fc
  .tuple(fc.constantFrom('', '<?xml version="1.0"?>'), misc, root, misc)
  .map((parts) => parts.join(''));
const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 300 })), {
  minLength: 1,
  maxLength: 5,
});
const recordPath = fc.constantFrom('source/job', '*/job', 'source/*', 'source/a/job', 'source');

const local = (qualified: string) => qualified.slice(qualified.indexOf(':') + 1);

const withoutSpace = (value: string) => value.replace(/\s+/g, '');

/**
 * The records at a path as trees, according to saxes; elements with children have all their text, without white space.
 * Throws if the document is not well-formed.
 */
function recordsBySaxes(xml: string, path: string): RecordTree[] {
  type Open = {
    name: string;
    text: string;
    allText: string;
    hasChildren?: true;
    branch?: Record<string, RecordTree | RecordTree[]>;
  };
  const pattern = path.split('/');
  const open: Open[] = [];
  const records: RecordTree[] = [];
  let recordDepth = 0;
  const parser = new SaxesParser();
  parser.on('opentag', (tag) => {
    const entries = Object.entries(tag.attributes).map(([key, value]) => [`@${key}`, value] as const);
    open.push({
      name: tag.name,
      text: '',
      allText: '',
      branch: entries.length === 0 ? undefined : Object.assign(Object.create(null), Object.fromEntries(entries)),
    });
    const matches =
      open.length === pattern.length &&
      open.every(({ name: own }, depth) => [local(own), '*'].includes(pattern[depth] ?? ''));
    if (matches && recordDepth === 0) recordDepth = open.length;
  });
  const take = (piece: string) => {
    const top = open.at(-1);
    if (top !== undefined) top.text += piece;
    for (const element of open) element.allText += piece;
  };
  parser.on('text', take);
  parser.on('cdata', take);
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed === undefined) return;
    if (closed.hasChildren) (closed.branch ?? {})['#all'] = withoutSpace(closed.allText);
    else if (closed.branch !== undefined && closed.text.trim() !== '') closed.branch['#text'] = closed.text;
    const tree = (closed.branch ?? closed.text) as RecordTree;
    if (open.length === recordDepth - 1) {
      records.push(tree);
      recordDepth = 0;
    }
    const parent = open.at(-1);
    if (parent === undefined || recordDepth === 0) return;
    parent.branch ??= Object.create(null) as Record<string, RecordTree>;
    parent.hasChildren = true;
    const before = parent.branch[closed.name];
    if (before === undefined) parent.branch[closed.name] = tree;
    else parent.branch[closed.name] = Array.isArray(before) ? [...before, tree] : [before as RecordTree, tree];
  });
  parser.write(xml).close();
  return records;
}

/** Converts a tree to the same form: the text of its markup, without white space. */
function withAllText(tree: RecordTree): RecordTree {
  if (typeof tree === 'string') return tree;
  if (Array.isArray(tree)) return tree.map(withAllText);
  const branch = Object.create(null) as Record<string, RecordTree>;
  for (const [name, value] of Object.entries(tree)) {
    if (name === '#markup') branch['#all'] = withoutSpace(renderMarkup(String(value), 'plain'));
    else branch[name] = withAllText(value);
  }
  return branch;
}

const parseAll = (records: readonly string[]) =>
  records.map((record) => {
    const parsed = parseRecord(Buffer.from(record));
    return parsed.kind === 'tree' ? withAllText(parsed.tree) : parsed.problems;
  });

/** About whole documents that are no feeds. */
const SAYS_WHERE_RECORDS_ARE_MISSING =
  /^the root element ".*" (?:where ".*" was expected|has only a text)|^the root element is|^the document has no "/s;

/** About whole documents whose records stand in another place than was expected. */
const NAMES_ANOTHER_PLACE = /^records: ".*" matches nothing; /s;

/** Whether an element below the root has this name, and elements in it. */
function hasParent(xml: string, name: string): boolean {
  const open: string[] = [];
  let isFound = false;
  const parser = new SaxesParser();
  parser.on('opentag', (tag) => {
    if (open.length > 1 && open.at(-1) === name) isFound = true;
    open.push(local(tag.name));
  });
  parser.on('closetag', () => void open.pop());
  parser.write(xml).close();
  return isFound;
}

describe('compared with saxes', () => {
  it('the splitter finds the same records in whole documents', () => {
    fc.assert(
      fc.property(document, recordPath, sizes, (xml, path, chunks) => {
        const result = split(xml, { recordPath: path }, chunks);
        expectEqual(parseAll(result.records), recordsBySaxes(xml, path));
        const others = result.shortfalls.filter((shortfall) => !SAYS_WHERE_RECORDS_ARE_MISSING.test(shortfall));
        const isElsewhere = result.records.length === 0 && hasParent(xml, path.split('/').at(-1) ?? '');
        const places = others.filter((shortfall) => NAMES_ANOTHER_PLACE.test(shortfall));
        expectEqual([others.length - places.length, places.length], [0, isElsewhere ? 1 : 0]);
      }),
      { numRuns: generated(2_000) },
    );
  });

  it('the parser reads a record, or finds it unreadable, as saxes does', () => {
    const damaged = fc.tuple(
      element,
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.constantFrom('', '<', '&', '"', '>', '/', ' ', 'a', '='),
    );
    fc.assert(
      fc.property(damaged, ([xml, at, cut, put]) => {
        const start = at % (xml.length + 1);
        const record = (xml.slice(0, start) + put + xml.slice(start + cut)).toWellFormed();
        const own = parseRecord(Buffer.from(record));
        if (own.kind === 'unreadable' && own.problems[0]?.message.includes('contains another record')) return;
        let theirs: RecordTree[] | undefined;
        try {
          theirs = recordsBySaxes(record, '*');
        } catch {
          theirs = undefined;
        }
        // "--" in comments, instructions without a name and references to control characters are tolerated.
        if (theirs === undefined && /<!--|<\?|&#x[0-9a-f];/i.test(record)) return;
        expectEqual(own.kind === 'tree' ? [withAllText(own.tree)] : undefined, theirs, record);
      }),
      { numRuns: generated(3_000) },
    );
  });

  it('a damaged document gives the same result in any chunks', () => {
    fc.assert(
      fc.property(document, fc.nat(), fc.nat({ max: 30 }), sizes, (xml, at, cut, chunks) => {
        const start = at % (xml.length + 1);
        const damaged = xml.slice(0, start) + xml.slice(start + cut);
        const { refusal, ...inOne } = split(damaged);
        const { refusal: refusalInChunks, ...inChunks } = split(damaged, {}, chunks);
        expectEqual(refusalInChunks === undefined, refusal === undefined);
        // Reading stops when a document is refused, so its progress depends on the chunks.
        if (refusal === undefined) expectEqual(inChunks, inOne);
        else expectEqual(inChunks.records, inOne.records);
      }),
      { numRuns: generated(2_000) },
    );
  });

  it('a cut document never counts as complete', () => {
    fc.assert(
      fc.property(document, fc.nat(), (xml, at) => {
        const cut = xml.slice(0, at % xml.length);
        const { shortfalls: all, refusal } = split(cut, { recordPath: '*/job' });
        const shortfalls = all.filter((shortfall) => !SAYS_WHERE_RECORDS_ARE_MISSING.test(shortfall));
        let whole = true;
        try {
          new SaxesParser().write(cut).close();
        } catch {
          whole = false;
        }
        expectEqual(refusal === undefined && shortfalls.length === 0, whole, cut);
      }),
      { numRuns: generated(2_000) },
    );
  });
});

/** Record counts from the README of the real feeds. */
const realFeeds: readonly (readonly [string, string, number])[] = [
  ['indeed/staffing-2026-03-20.xml', 'source/job', 344],
  ['indeed/no-declaration-crlf.xml', 'source/job', 31],
  ['indeed/root-jobs.xml', '*/job', 14],
  ['linkedin/sample.xml', 'source/job', 5],
  ['jobvite/jobs.xml', 'result/job', 2],
  ['jooble/jobs.xml', 'jobs/job', 7],
  ['personio/mrge.xml', 'workzag-jobs/position', 2],
  ['hr-xml/usajobs.xml', 'ShowPositionOpening/DataArea/PositionOpening', 3],
  ['rss/neogov.rss', 'rss/channel/item', 5],
  ['rss/neogov-bad-locations.rss', 'rss/channel/item', 1],
  ['atom/hmpps.xml', 'feed/entry', 193],
];

describe.skipIf(!hasSharedFeeds)(`real feeds${sharedFeedsNote}`, () => {
  it.each(realFeeds)('%s', (file, path, count) => {
    const bytes = readFileSync(sharedFeed(file));
    const expected = recordsBySaxes(bytes.toString(), path);
    expect(expected).toHaveLength(count);
    for (const chunks of [[17, 8_191, 3], [1_000], [1e9]].slice(0, countOf(undefined, 3, 1))) {
      const result = split(bytes, { recordPath: path }, chunks);
      expect(result.shortfalls).toEqual([]);
      expectEqual(parseAll(result.records), expected);
    }
  });

  it('a feed with text before its root is read, but incomplete', () => {
    const result = split(readFileSync(sharedFeed('indeed/staffing-2026-03-04.xml')), {}, [4_096]);
    expect(result.records).toHaveLength(360);
    expect(result.shortfalls).toEqual(['there is text before the root element']);
  });

  it('bare ampersands affect only the records that contain them', () => {
    const { records } = split(readFileSync(sharedFeed('rss/unescaped-ampersand.xml')), { recordPath: 'rss/jobs/job' });
    const readable = records.filter((record) => parseRecord(Buffer.from(record)).kind === 'tree');
    expect(records).toHaveLength(18);
    expect(readable).toEqual(records.filter((record) => !/&(?!\w+;|#)/.test(record)));
  });
});
