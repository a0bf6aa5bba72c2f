// Compares splitter and record parser of tables with csv-parse, on generated and real documents in random chunks.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCells } from '../../src/feed/format/csv-format.ts';
import type { TableLayout } from '../../src/feed/format/format.ts';
import { expectEqual } from '../support/expect-equal.ts';
import { countOf, generated } from '../support/extent.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';
import { splitAs } from './collect.ts';

const layout = (more: Partial<TableLayout> = {}): { table: TableLayout } => ({
  table: { skipRows: 0, allowMissingCells: false, keyPaths: [], ...more },
});

const nasty = fc.constantFrom('"', '""', ',', ';', '\t', '|', '\n', '\r\n', '\r', ' ', 'é🚀', 'a', '=1', '</p>', "'");
const cell = fc.oneof(
  fc.array(nasty, { maxLength: 5 }).map((parts) => parts.join('')),
  fc.constantFrom('', 'Nurse', 'Boston, MA', '<p class="x">Work</p>\n<p>Care</p>'),
);
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const delimiter = fc.constantFrom(',' as const, ';' as const, '\t' as const, '|' as const);
const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 300 })), {
  minLength: 1,
  maxLength: 5,
});

/** Columns besides the first, of which the cells are `k1`, `k2` and so on. */
const COLUMNS = ['title', 'city', 'text'];

interface Sample {
  readonly header: string;
  /** Each with its line end, but perhaps the last one. */
  readonly rows: readonly string[];
  readonly text: string;
  readonly delimiter: ',' | ';' | '\t' | '|';
  readonly lineEnd: string;
}

const mustQuote = /[",;\t|\r\n]/;
const written = (text: string, always: boolean): string =>
  always || mustQuote.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

const sampleWith = (cells: fc.Arbitrary<string>, last = ''): fc.Arbitrary<Sample> =>
  fc
    .tuple(delimiter, lineEnd, fc.array(fc.tuple(cells, cells, cells, fc.boolean(), fc.boolean())), fc.boolean())
    .map(([own, end, contents, isEnded]) => {
      const row = (texts: readonly string[], always: boolean): string =>
        texts.map((text) => written(text, always)).join(own) + end;
      const header = row(['id', ...COLUMNS], false);
      const rows = contents.map(([a, b, c, always, blank], at) => {
        return row([`k${at + 1}`, a, b, c + last], always) + (blank ? end : '');
      });
      const text = header + rows.join('');
      return {
        header,
        rows,
        delimiter: own,
        lineEnd: end,
        text: isEnded ? text : text.replace(/[\r\n]+$/, ''),
      };
    });
const sample = sampleWith(cell);

const cellsByParse = ({ text, delimiter: own, lineEnd: end }: Pick<Sample, 'text' | 'delimiter' | 'lineEnd'>) =>
  (parse(text, { delimiter: own, record_delimiter: end, skip_empty_lines: true }) as string[][]).slice(1);

/** The texts of the records, and `undefined` for each that can't be read. */
const cellsOf = (records: readonly string[]): (readonly string[] | undefined)[] =>
  records.map((record) => {
    const parsed = parseCells(Buffer.from(record));
    return parsed.kind === 'tree' ? (Object.values(parsed.tree) as string[]) : undefined;
  });

describe('compared with csv-parse', () => {
  it('the same rows are found in whole documents, and the delimiter and line ends are detected', () => {
    fc.assert(
      fc.property(sample, sizes, fc.boolean(), (table, chunks, isConfigured) => {
        const options = layout(isConfigured ? { delimiter: table.delimiter } : {});
        const result = splitAs('csv', table.text, options, chunks);
        expectEqual([result.refusal, result.shortfalls], [undefined, []]);
        expectEqual(cellsOf(result.records), cellsByParse(table));
      }),
      { numRuns: generated(2_000) },
    );
  });

  it('any text can be the name of a column', () => {
    const names = fc.uniqueArray(
      cell.filter((text) => /[^\s",;|]/.test(text)),
      { minLength: 2, maxLength: 5, selector: (text) => text.trim() },
    );
    fc.assert(
      fc.property(names, delimiter, sizes, (columns, own, chunks) => {
        fc.pre(!/^[<{[]/.test(columns[0]?.trim() ?? ''));
        const [header, row] = [columns, columns.map((_, at) => `x${at}`)].map((texts) =>
          texts.map((text) => written(text, false)).join(own),
        );
        const { records } = splitAs('csv', `${header}\n${row}\n`, layout({ delimiter: own }), chunks);
        const parsed = parseCells(Buffer.from(records[0] ?? ''));
        const expected = Object.fromEntries(columns.map((name, at) => [name.trim(), `x${at}`]));
        expect({ ...(parsed.kind === 'tree' ? (parsed.tree as object) : {}) }).toEqual(expected);
      }),
    );
  });
});

describe('a cut document', () => {
  it('has no records but whole ones, and is complete only if it ends with a line end', () => {
    fc.assert(
      fc.property(sample, fc.nat(), sizes, (table, at, chunks) => {
        const cut = table.text.slice(0, at % (table.text.length + 1));
        const { records, shortfalls, refusal } = splitAs('csv', cut, layout(), chunks, false);
        expectEqual(cellsByParse(table).slice(0, records.length), cellsOf(records));
        const isComplete = refusal === undefined && shortfalls.length === 0;
        const boundaries = [table.header];
        for (const row of table.rows) boundaries.push(boundaries.at(-1) + row);
        const trimmed = (text: string): string => text.replace(/[\r\n]+$/, '');
        // A carriage return alone is the end of a line, too.
        if (isComplete) expectEqual(boundaries.map(trimmed).includes(trimmed(cut)), true, JSON.stringify(cut));
        if (boundaries.includes(cut)) expectEqual(isComplete, true, JSON.stringify(cut));
      }),
      { numRuns: generated(2_000) },
    );
  });
});

describe('a damaged document', () => {
  const damage = fc.tuple(
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom('', '"', '""', ',', ';', '\n', '"\n', '\r', 'x'),
  );
  const damagedBy = (table: Sample, [at, cut, put]: readonly [number, number, string]): string => {
    const body = table.text.slice(table.header.length);
    const start = at % (body.length + 1);
    return table.header + body.slice(0, start) + put + body.slice(start + cut);
  };

  it('gives the same result in any chunks', () => {
    fc.assert(
      fc.property(sample, damage, sizes, fc.boolean(), (table, how, chunks, isProven) => {
        const text = damagedBy(table, how);
        for (const maxRecordBytes of [1e6, 40]) {
          const options = { ...layout({ delimiter: table.delimiter }), maxRecordBytes };
          const inOne = splitAs('csv', text, options, [1e9], isProven);
          // Of an oversized record, as many bytes are kept as were there when it exceeded the limit.
          const { oversized, ...inChunks } = splitAs('csv', text, options, chunks, isProven);
          expectEqual(
            { ...inChunks, oversized: oversized.map(({ length }) => length) },
            { ...inOne, oversized: inOne.oversized.map(({ length }) => length) },
          );
        }
      }),
      { numRuns: generated(3_000) },
    );
  });

  it('never loses a row silently, and invents none', () => {
    // Texts that begin or end with a delimiter or a quote can look like cells once a quote is missing.
    // The last cell is never empty: what two rows become without their line break must not look like one with empty cells.
    const plain = cell.map((text) =>
      text.replace(/^[\s",;|]+|[\s",;|]+$/g, '').replace(/",|,"|";|;"|\|"|"\||\t"|"\t/g, ''),
    );
    fc.assert(
      fc.property(sampleWith(plain, 'x'), damage, (table, how) => {
        const result = splitAs('csv', damagedBy(table, how), layout({ delimiter: table.delimiter }));
        const cells = cellsOf(result.records);
        const found = cells.flatMap((row) => (row === undefined ? [] : [row[0] ?? '']));
        const ids = table.rows.map((_, at) => `k${at + 1}`);
        const lost = ids.filter((id) => !found.includes(id));
        const invented = found.filter((id) => !ids.includes(id));
        expectEqual(invented.slice(1), []);
        const isSilent = result.refusal === undefined && result.shortfalls.length === 0 && !cells.includes(undefined);
        // A damaged key is another key.
        if (isSilent) expectEqual(lost.length, invented.length);
      }),
      { numRuns: generated(5_000) },
    );
  });
});

const suite = join(dirname(createRequire(import.meta.url).resolve('csv-spectrum')), 'csvs');

describe('the public suite csv-spectrum', () => {
  it.each(readdirSync(suite))('%s', (file) => {
    const expected = JSON.parse(readFileSync(join(suite, '../json', file.replace(/csv$/, 'json')), 'utf8'));
    const { records, refusal, shortfalls } = splitAs('csv', readFileSync(join(suite, file)), layout(), [3]);
    expect({ refusal, shortfalls }).toEqual({ refusal: undefined, shortfalls: [] });
    const trees = records.map((record) => {
      const parsed = parseCells(Buffer.from(record));
      return parsed.kind === 'tree' ? { ...(parsed.tree as object) } : parsed;
    });
    // The suite's own expectation for this file has another phone number, and is not in a list.
    const odd = file === 'location_coordinates.csv' ? { ...expected, 'Contact Phone Number': '2095257564' } : undefined;
    expect(trees).toEqual(odd === undefined ? expected : [odd]);
  });
});

const realFeeds: readonly (readonly [file: string, rows: number, unreadable: number])[] = [
  ['cgs.csv', 16, 0],
  ['oil-gas-bom.csv', 1360, 0],
  ['france-travail.csv', 118, 0],
  ['job-bank-canada.csv', 524, 0],
  ['cornell.tsv', 82, 11],
];

describe.skipIf(!hasSharedFeeds)(`real feeds${sharedFeedsNote}`, () => {
  it.each(realFeeds)('%s', (file, rows, unreadable) => {
    const bytes = readFileSync(sharedFeed(`csv/${file}`));
    const text = bytes.subarray(bytes[0] === 0xef ? 3 : 0);
    const own = file.endsWith('.tsv') ? '\t' : ',';
    const expected = (parse(text, { delimiter: own, relax_column_count: true }) as string[][]).slice(1);
    expect(expected).toHaveLength(rows);
    for (const chunks of [[17, 8_191, 3], [1_000], [1e9]].slice(0, countOf(undefined, 3, 1))) {
      const { records, refusal, shortfalls } = splitAs('csv', text, layout(), chunks);
      expect({ refusal, shortfalls }).toEqual({ refusal: undefined, shortfalls: [] });
      const cells = cellsOf(records);
      expect(cells).toHaveLength(rows);
      expect(cells.filter((row) => row === undefined)).toHaveLength(unreadable);
      for (const [at, row] of cells.entries()) if (row !== undefined) expectEqual(row.flat(), expected[at]);
    }
  });
});
