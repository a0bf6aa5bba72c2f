// Tables as spreadsheets and people write them: headers, blank rows, ragged rows, broken quotes, and the end.
import { describe, expect, it } from 'vitest';
import { csvFormat } from '../../src/feed/format/csv-format.ts';
import type { TableLayout } from '../../src/feed/format/format.ts';
import { splitAs } from './collect.ts';

interface Options extends Partial<TableLayout> {
  readonly lenient?: boolean;
  readonly isEndProven?: boolean;
  readonly maxRecordBytes?: number;
}

/** The trees of the records, or why one can't be read, with whatever else is said about the document. */
function read(text: string | Buffer, { lenient, isEndProven, maxRecordBytes = 1e6, ...layout }: Options = {}) {
  const table = { skipRows: 0, allowMissingCells: false, keyPaths: [], ...layout };
  const { records, ...rest } = splitAs('csv', text, { table, lenient, maxRecordBytes }, [7], isEndProven);
  const rows = records.map((record) => {
    const parsed = csvFormat.parseRecord(Buffer.from(record), { lenient, table });
    if (parsed.kind === 'unreadable') return parsed.problems[0]?.message;
    return parsed.repairs === undefined
      ? { ...(parsed.tree as object) }
      : [{ ...(parsed.tree as object) }, ...parsed.repairs];
  });
  return { rows, ...rest };
}
const whole = { refusal: undefined, shortfalls: [] };

describe('the header', () => {
  it('is trimmed; a name of several columns stands for all of them, and a column without a name has its number', () => {
    expect(read(' id ,Field: ,Field:,,"two\nlines"\n1,a,b,c,d\n')).toMatchObject({
      ...whole,
      rows: [{ id: '1', 'Field:': ['a', 'b'], '4': 'c', 'two\nlines': 'd' }],
    });
  });

  it('may name very many columns the same, which takes little time', () => {
    const record = Buffer.from(`"id"${',"a"'.repeat(4_000)}\n1${',x'.repeat(4_000)}`);
    // Each cell again for every other one would take a minute.
    const parsed = Array.from({ length: 300 }, () => csvFormat.parseRecord(record));
    expect(parsed.at(-1)).toMatchObject({ kind: 'tree', tree: { id: '1', a: Array(4_000).fill('x') } });
  });

  it.each([
    [',', 'id,a;b,c\n'],
    [';', 'id;a,b;c\n'],
    ['tab', 'id\ta,b\tc\n'],
    ['|', 'id|"a,b,c,d"|c\n'],
  ])('shows that the delimiter is %s', (name, header) => {
    const delimiter = name === 'tab' ? '\t' : name;
    const { rows } = read(`${header}1${delimiter}2${delimiter}3\n`);
    expect(rows[0]).toMatchObject({ id: '1' });
  });

  it.each([
    ['quoted otherwise', '"id","title",city\n'],
    ['in another case', 'ID, Title ,CITY\n'],
    ['by another line end', 'id,title,city\r\n'],
  ])('may be repeated, %s', (_, again) => {
    expect(read(`id,title,city\n1,a,b\n${again}2,c,d\n`, { keyPaths: ['id'] })).toMatchObject({
      ...whole,
      rows: [
        { id: '1', title: 'a', city: 'b' },
        { id: '2', title: 'c', city: 'd' },
      ],
    });
  });

  it('may be followed by another one with the columns of the key, as Miller writes it', () => {
    const text = 'id,title,city\n1,a,b\n\ntitle,id\nc,2\nid,title,city,pay\n3,d,e,5\n"4",f,g,6\n';
    expect(read(text, { keyPaths: ['id'] })).toMatchObject({
      ...whole,
      rows: [
        { id: '1', title: 'a', city: 'b' },
        { title: 'c', id: '2' },
        { id: '3', title: 'd', city: 'e', pay: '5' },
        { id: '4', title: 'f', city: 'g', pay: '6' },
      ],
    });
  });

  it('keeps the spelling of its names in another one, so that no field is lost', () => {
    const text = 'id,title,city\n1,a,b\nID,Title,CITY,pay\n2,c,d,5\n';
    expect(read(text, { keyPaths: ['id'] })).toMatchObject({
      ...whole,
      rows: [
        { id: '1', title: 'a', city: 'b' },
        { id: '2', title: 'c', city: 'd', pay: '5' },
      ],
    });
  });

  it.each([
    ['the first', '1', ',title,city,,,,\n1,a,b,,,,\n2,c,d,,,,\n'],
    ['another', undefined, 'id,title,city,,,,\n5,a,b,,,,\n6,c,d,,,,\n'],
  ])('is not repeated by a row that has the number of a column without a name: %s', (_, key, text) => {
    const { rows } = read(text, { keyPaths: key === undefined ? [] : [key] });
    expect(rows).toMatchObject([
      { title: 'a', city: 'b' },
      { title: 'c', city: 'd' },
    ]);
  });

  it.each([
    ['its first cell is a name', 'id,a,b\n'],
    ['half of its cells are names', 'title,id,a,b\n'],
    ['it lacks a column of the key', 'city,title,pay\n'],
  ])('is not repeated by a row of which only %s', (_, row) => {
    const text = `id,title,city\n1,a,b\n${row}`;
    const { rows } = read(text, { keyPaths: ['id'], allowMissingCells: true });
    expect(rows).toHaveLength(2);
  });

  it('may come after a line that names the delimiter for Excel, and after rows to skip', () => {
    expect(read('sep=;\nid;a,b\n1;2\n')).toMatchObject({ ...whole, rows: [{ id: '1', 'a,b': '2' }] });
    expect(read('Report;;\n"of ""today""";;\n;;\nid;a;b\n1;2;3\n', { skipRows: 3 })).toMatchObject({
      ...whole,
      rows: [{ id: '1', a: '2', b: '3' }],
    });
  });

  it('is repeated in tables that were put together; that is no record', () => {
    expect(read('id,a\n1,2\nid,a\n3,4\n').rows).toEqual([
      { id: '1', a: '2' },
      { id: '3', a: '4' },
    ]);
  });

  it('can be configured for a table without one', () => {
    const columns = ['id', 'a'];
    expect(read('1;2\n3;4\n', { columns }).rows).toEqual([
      { id: '1', a: '2' },
      { id: '3', a: '4' },
    ]);
    expect(read('1;2;3\n', { columns }).refusal).toMatch(/csv.columns has 2 names, and no usual delimiter divides/);
  });

  it.each([
    ['one column', 'id\n1\n', {}, /its header row has only one column, "id"; configure csv.delimiter/],
    ['no column of the key', 'id,a\n1,2\n', { keyPaths: ['nr'] }, /it has no column "nr", from which the key comes/],
    ['an error page with a comma', 'Sorry, too busy\n', { keyPaths: ['id'] }, /it has no column "id"/],
    ['HTML', '<!doctype html><title>Hi, you</title>\n', {}, /HTML where a CSV feed was expected/],
    ['JSON', '{"id":1,"a":2}\n', {}, /this is not a CSV feed; it starts with/],
    ['nothing', '\n\n', {}, /the feed is empty: it has no header row/],
    ['an unclosed quote', 'id,"a\n1,2\n', {}, /inside quotes in its header row/],
    ['a quote too many', 'id,"a"b"\n1,2\n', {}, /its first rows can't be read/],
  ] as const)('is refused: %s', (_name, text, layout, message) => {
    const { refusal, rows } = read(text, layout);
    expect(refusal).toMatch(message);
    expect(rows).toEqual([]);
  });

  it('is refused if it cannot be decoded', () => {
    expect(read(Buffer.from('id,caf\xe9\n1,2\n', 'latin1')).refusal).toMatch(/configure encoding: windows-1252/);
  });
});

describe('rows', () => {
  it('are ended by LF, CR LF or CR; cells keep theirs', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      expect(read(['id,a', '1,"x\ny"', '2,"x\r\ny"', ''].join(end))).toMatchObject({
        ...whole,
        rows: [
          { id: '1', a: 'x\ny' },
          { id: '2', a: 'x\r\ny' },
        ],
      });
    }
  });

  it('that are blank are no records', () => {
    expect(read('id,a\n\n,\n" ",\n1,2\n \n').rows).toEqual([{ id: '1', a: '2' }]);
  });

  it('with empty cells behind the last column are read; with other cells there they are unreadable', () => {
    expect(read('id,a\n1,2,,\n1,2,3\n1,2",,\n').rows).toEqual([
      { id: '1', a: '2' },
      expect.stringMatching(/it has 3 cells, and the header has 2 columns/),
      expect.stringMatching(/it has 4 cells, and the header has 2 columns/),
    ]);
  });

  it('with too few cells are unreadable, unless they are allowed', () => {
    expect(read('id,a,b\n1,2\n').rows).toEqual([
      expect.stringMatching(/only 2 cells, and the header has 3 columns; .* csv.allow_missing_cells/),
    ]);
    expect(read('id,a,b\n1,2\n', { allowMissingCells: true }).rows).toEqual([{ id: '1', a: '2', b: '' }]);
  });

  it('keep cells that look like formulas, and quotes inside cells that have none around', () => {
    expect(read('id,a,b\n=1+1,@x,5" pipe\n').rows).toEqual([{ id: '=1+1', a: '@x', b: '5" pipe' }]);
  });

  it('above the size limit are oversized', () => {
    const long = `2,"${'x'.repeat(5_000)}"`;
    for (const end of ['\n', '']) {
      const { rows, oversized, shortfalls } = read(`id,a\n1,2\n${long}${end}`, { maxRecordBytes: 100 });
      expect({ rows, shortfalls }).toEqual({ rows: [{ id: '1', a: '2' }], shortfalls: [] });
      expect(oversized).toMatchObject([{ length: long.length }]);
      expect(long.startsWith(oversized[0]?.head ?? '-')).toBe(true);
    }
  });
});

const NEXT = ['7,a,b,c', '8,"a\nb",b,c', '9,a,b,c', ''].join('\n');
const next = [
  { id: '7', x: 'a', y: 'b', z: 'c' },
  { id: '8', x: 'a\nb', y: 'b', z: 'c' },
  { id: '9', x: 'a', y: 'b', z: 'c' },
];

describe('a broken row', () => {
  const unreadable = expect.stringMatching(/the record can't be read/);

  it.each([
    ['a quote that is not doubled', '1,"a "b" c",y,z\n'],
    ['a quote that is not doubled, in a cell with several lines', '1,"a\nb "c"\nd",y,z\n'],
    ['a cell that does not end', '1,"a,y,z\n'],
  ])('is one unreadable record, and the next rows are read: %s', (_name, row) => {
    const { rows, shortfalls, refusal } = read(`id,x,y,z\n${row}${NEXT}`);
    expect(rows).toEqual([unreadable, ...next]);
    expect(refusal).toBeUndefined();
    expect(shortfalls).toEqual([expect.stringMatching(/^record 1 is broken: a (quote|cell)/)]);
  });

  it('ends the reading if no rows follow that fit the header', () => {
    const { rows, refusal } = read(`id,x,y,z\n${NEXT}1,"a "b" c",y,z\n1,2\n3,4\n5,6\n`);
    expect(rows).toEqual([...next, unreadable]);
    expect(refusal).toMatch(
      /^record 4 is broken: a quote inside quotes is not doubled near byte 42 of the document; what follows/,
    );
  });

  it('is read by lenient, which reports what it repaired', () => {
    const { rows, shortfalls, refusal } = read(`id,x,y,z\n1,"a "b" c",y,z\n${NEXT}`, { lenient: true });
    expect(rows).toEqual([[{ id: '1', x: 'a "b" c', y: 'y', z: 'z' }, '2 quotes inside quotes not doubled'], ...next]);
    expect({ refusal, shortfalls }).toEqual(whole);
  });

  it.each([
    ['a row', '1,"a,y,z\n2,"b",y,z\n', {}],
    ['the last of several rows', '1,"a,y,z\n2,b,y,z\n3,"c, ""d""",y,z\n', {}],
    ['a row whose cell begins with a quote', '1,"a\n2,"""b"" c",y,z\n', {}],
    ['a row that is to be repaired, too', '1,"a,y,z\n2,"b "c" d",y,"z "d" e"\n', {}],
    ['a row with empty cells in quotes', '1,"","a\n2,"","b",z\n', {}],
    ['a row that begins with a quote', '"1,a,y,z\n"2","b",y,z\n', {}],
    ['a row of a wider table', '1,"a,y,z\n2,"b",y,z,,\n', {}],
    ['a row with too few cells', '1,"a,y\n2,"b",y\n', { allowMissingCells: true }],
  ])('is not repaired by lenient if its cell may contain %s', (_name, row, layout) => {
    const { rows } = read(`id,x,y,z\n${row}${NEXT}`, { lenient: true, ...layout });
    expect(rows).toEqual([expect.stringMatching(/another row may begin in that cell/), ...next]);
  });

  it('is repaired by lenient if its cell has several lines', () => {
    const x = '<p>\n<a href="b">c</a>\n"d" e\nf, "g" h\n';
    const { rows } = read(`id,x,y,z\n1,"${x}",y,z\n${NEXT}`, { lenient: true });
    expect(rows).toEqual([[{ id: '1', x, y: 'y', z: 'z' }, '6 quotes inside quotes not doubled'], ...next]);
  });

  it('has no key, unless only bytes cannot be decoded', () => {
    const recover = csvFormat.compileKeyRecovery({ paths: ['id'] });
    const record = (row: string) => Buffer.from(`"id","x"\n${row}`, 'latin1');
    expect(recover(record('1,caf\xe9'))).toBe('1');
    expect(recover(record('1\xe9,a'))).toBeUndefined();
    expect(recover(record('1,"a"b"'))).toBeUndefined();
    expect(recover(record('1'))).toBeUndefined();
    // The first bytes of an oversized row come without the header.
    expect(recover(Buffer.from('1,a'))).toBeUndefined();
  });
});

describe('the end', () => {
  const one = { id: '1', a: '2' };
  it.each([
    ['a line break', 'id,a\n1,2\n', { isEndProven: false }, [one], []],
    ['a proven length', 'id,a\n1,2', {}, [one], []],
    ['neither', 'id,a\n1,2', { isEndProven: false }, [], [/inside record 1: the last line has no line break/]],
    ['neither, in the header', 'id,a', { isEndProven: false }, [], [/inside its header row/]],
    [
      'too few cells and no line break',
      'id,a\n1,2\n3',
      {},
      [one],
      [/inside record 2: its last line has too few cells/],
    ],
    ['an open quote', 'id,a\n1,2\n3,"4', {}, [one], [/the document ends inside quotes in record 2/]],
    ['a closed quote', 'id,a\n1,"2"', {}, [one], []],
    ['a carriage return of CR LF', 'id,a\r\n1,2\r', {}, [one], []],
    ['blank rows', 'id,a\n1,2\n\n ', {}, [one], []],
  ] as const)('by %s', (_name, text, options, rows, shortfalls) => {
    expect(read(text, options)).toMatchObject({
      rows,
      shortfalls: shortfalls.map((shortfall) => expect.stringMatching(shortfall)),
    });
  });
});
