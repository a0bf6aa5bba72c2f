// Real programs that write tables of jobs: each posting arrives as it was, or `init` and `try` say what was lost before it reached us.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { completePackages, runScript, unpackPackages } from './packages.ts';
import { cellKey, writeSection } from './seen.ts';

interface Row {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  readonly posted?: string;
  readonly email?: string;
}

/** What a table has that a program may change. */
const KEYS = {
  '7 digits': ['1234567', '1234568', '1234569', '1234570'],
  '12 digits': ['123456789012', '123456789013', '123456789014', '123456789024'],
  '17 digits': [
    '12345678901234567',
    '12345678901234569',
    '12345678901234571',
    '12345678901234593',
    '22345678901234571',
  ],
  'round numbers': ['100000', '2000000', '30000000', '1234567'],
  'leading zeros': ['007', '0012', '0123', '00045'],
  '10-1': ['10-1', '10-2', '3-4', '1-12'],
  '1e5': ['1e5', '2e7', '12e3', '7a1'],
  'one without': ['1234567', '', '1234568', '1234569'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const TABLES: Readonly<Record<string, readonly Row[]>> = {
  ...Object.fromEntries(Object.entries(KEYS).map(([name, ids]) => [name, ids.map((id) => ({ id }))])),
  dates: [
    { id: 'a1', posted: '2026-10-01' },
    { id: 'a2', posted: '2026-10-12' },
    { id: 'a3' },
    { id: 'a4', posted: '2026-11-30' },
  ],
  'one time': [
    { id: 'a1', posted: '2026-10-01' },
    { id: 'a2', posted: '2026-10-12 09:30:00' },
    { id: 'a3', posted: '2026-11-30' },
  ],
  texts: [
    { id: 'a1', title: 'Say "R&D", or not', description: '<p>first</p>\n<p>second, third</p>' },
    { id: 'a2', title: '=Cook' },
    { id: 'a3', title: 'Driver #2; days' },
    { id: 'a4', title: '12:30 to 16:00' },
    { id: 'a5', title: '50%' },
    { id: 'a6', title: 'Cook, "night"' },
  ],
  'empty cells': [{ id: 'a1', email: 'jobs@example.com' }, { id: 'a2' }, { id: 'a3', email: '' }],
};
const CASES = Object.keys(TABLES);
const COLUMNS = ['id', 'title', 'city', 'state', 'description', 'posted', 'email'] as const;

const cellsOf = ({ id, title = `Nurse ${id}`, description = '<p>Work</p>', posted = '', email = '' }: Row) => [
  ...[id, title, 'Boston', 'MA', description, posted, email],
];

const csvCell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csvOf = (rows: readonly Row[]): string =>
  [COLUMNS, ...rows.map(cellsOf)].map((cells) => `${cells.map(csvCell).join(',')}\n`).join('');

/** A workbook as a person would fill it: numbers are numbers, dates are dates, and anything else is text. */
const WORKBOOK = `
import datetime, json, openpyxl, re
for name, rows in json.load(open('tables.json')).items():
    book = openpyxl.Workbook()
    sheet = book.active
    for cells in rows:
        sheet.append([])
        at = sheet.max_row if sheet.max_row > 1 or sheet['A1'].value else 1
        for column, text in enumerate(cells, 1):
            cell = sheet.cell(rows.index(cells) + 1, column)
            if text == '': continue
            if re.fullmatch(r'[1-9][0-9]*', text): cell.value = int(text)
            elif re.fullmatch(r'2026-[-0-9]+', text): cell.value = datetime.date.fromisoformat(text)
            elif re.fullmatch(r'2026-[-0-9]+ .*', text): cell.value = datetime.datetime.fromisoformat(text)
            else:
                cell.value = text
                cell.data_type = 's'
    book.create_sheet('Notes').append(['id', 'note'])
    book.save(f'in/{name}.xlsx')
`;

interface Writer {
  /** The package whose version is shown. */
  readonly package: string;
  /** Reads `in/$name.xlsx` or `in/$name.csv` and writes \`out/$name.csv\`. */
  readonly each?: string;
  /** The same for all at once. */
  readonly all?: string;
}

const eachPython = (lines: string): string => `python3.11 -W ignore -c '
import pandas
${lines}'`;
const eachR = (lines: string): string => `R --vanilla -s -e 'options(warn=-1); ${lines}' 2>/dev/null`;
const office = (from: string): string => `soffice --headless --convert-to csv --outdir out ${from} >/dev/null 2>&1`;

const WRITERS = {
  'LibreOffice, .xlsx': { package: 'libreoffice-calc', all: office('in/*.xlsx') },
  'LibreOffice, .ods': {
    package: 'libreoffice-calc',
    all: `soffice --headless --convert-to ods --outdir ods in/*.xlsx >/dev/null 2>&1; ${office('ods/*.ods')}`,
  },
  'LibreOffice, .csv': { package: 'libreoffice-calc', all: office('in/*.csv') },
  'Gnumeric, .xlsx': {
    package: 'gnumeric',
    each: 'ssconvert -T Gnumeric_stf:stf_csv in/$name.xlsx out/$name.csv 2>&1',
  },
  'in2csv, .xlsx': { package: 'csvkit', each: 'in2csv in/$name.xlsx >out/$name.csv 2>in/log' },
  'csvsort, .csv': { package: 'csvkit', each: 'csvsort -c title in/$name.csv >out/$name.csv' },
  'xlsx2csv, .xlsx': { package: 'xlsx2csv', each: 'xlsx2csv in/$name.xlsx out/$name.csv' },
  'catdoc, .xls': {
    package: 'catdoc',
    all: `soffice --headless --convert-to xls --outdir xls in/*.xlsx >/dev/null 2>&1
for file in xls/*.xls; do xls2csv "$file" >"out/$(basename "$file" .xls).csv"; done`,
  },
  'SheetJS, .xlsx': {
    package: 'xlsx',
    all: `node -e '
const { readFile, utils } = require("xlsx");
for (const name of require("node:fs").readdirSync("in").filter((each) => each.endsWith(".xlsx"))) {
  const { SheetNames: [first], Sheets } = readFile("in/" + name);
  require("node:fs").writeFileSync("out/" + name.replace("xlsx", "csv"), utils.sheet_to_csv(Sheets[first]));
}'`,
  },
  'pandas, .xlsx': {
    package: 'python3-pandas',
    each: eachPython(`pandas.read_excel("in/'"$name"'.xlsx").to_csv("out/'"$name"'.csv", index=False)`),
  },
  'pandas, .csv': {
    package: 'python3-pandas',
    each: eachPython(
      `pandas.read_csv("in/'"$name"'.csv", parse_dates=["posted"]).to_csv("out/'"$name"'.csv", index=False)`,
    ),
  },
  'Miller, .csv': { package: 'miller', each: 'mlr --csv sort -f title in/$name.csv >out/$name.csv' },
  'visidata, .csv': { package: 'visidata', each: 'visidata -b in/$name.csv -o out/$name.csv >/dev/null 2>&1' },
  'R, .csv': {
    package: 'r-base-core',
    each: eachR(`write.csv(read.csv("in/'"$name"'.csv"), "out/'"$name"'.csv", row.names=FALSE, na="")`),
  },
  'readr, .csv': {
    package: 'r-cran-readr',
    each: eachR(
      `suppressMessages(library(readr)); write_csv(read_csv("in/'"$name"'.csv", show_col_types=FALSE), "out/'"$name"'.csv", na="")`,
    ),
  },
  'data.table, .csv': {
    package: 'r-cran-data.table',
    each: eachR(`library(data.table); fwrite(fread("in/'"$name"'.csv"), "out/'"$name"'.csv")`),
  },
  'sqlite3, .csv': {
    package: 'sqlite3',
    each: `sqlite3 :memory: '.import --csv "in/'"$name"'.csv" jobs' '.headers on' '.mode csv' 'select * from jobs' >out/$name.csv`,
  },
  'Postgres COPY': { package: 'postgresql-client-15', each: `psql -qX "$DATABASE" -f in/$name.sql >out/$name.csv` },
  'psql --csv': {
    package: 'postgresql-client-15',
    each: 'psql -qX --csv "$DATABASE" -f in/$name.select >out/$name.csv',
  },
} as const satisfies Readonly<Record<string, Writer>>;
type WriterName = keyof typeof WRITERS;
const NAMES = Object.keys(WRITERS) as readonly WriterName[];

/** Into a table with the types that a person would choose, and out again. */
function statements(rows: readonly Row[], out: string): string {
  const isNumber = rows.every(({ id }) => /^(?:[1-9]\d*)?$/.test(id));
  const values = rows.map((row) => {
    const [id = '', title, city, state, description, posted, email] = cellsOf(row).map((text) =>
      text === '' ? 'null' : `'${text.replaceAll("'", "''")}'`,
    );
    return `(${[isNumber && id !== 'null' ? `${id}::bigint` : id, title, city, state, description, `${posted}::timestamptz`, email].join(', ')})`;
  });
  return `create temp table jobs (id ${isNumber ? 'bigint' : 'text'}, title text, city text, state text, description text, posted timestamptz, email text);
insert into jobs values ${values.join(',\n')};
${out}\n`;
}

const ROOT = join(tmpdir(), 'jobmirror-real-parts/tables');
const cells = new Map<string, string>();
let versions: Readonly<Record<string, string>>;
let work: string;
let database: TestDatabase;
beforeAll(async () => {
  const packages = [...new Set(NAMES.map((name) => WRITERS[name].package))].filter((name) => name !== 'xlsx');
  versions = unpackPackages(ROOT, [...packages, 'python3-openpyxl']);
  completePackages(ROOT);
  work = mkdtempSync(join(tmpdir(), 'jobmirror-tables-'));
  mkdirSync(join(work, 'in'));
  writeFileSync(join(work, 'package.json'), '{ "private": true }');
  await runScript(ROOT, 'npm install --silent --ignore-scripts --no-audit --no-fund xlsx@0.18.5', { cwd: work });
  const fileOf = (name: string) => `t${CASES.indexOf(name)}`;
  const tables = Object.fromEntries(
    CASES.map((name) => [fileOf(name), [COLUMNS, ...(TABLES[name] ?? []).map(cellsOf)]]),
  );
  writeFileSync(join(work, 'tables.json'), JSON.stringify(tables));
  for (const name of CASES) {
    const rows = TABLES[name] ?? [];
    writeFileSync(join(work, 'in', `${fileOf(name)}.csv`), csvOf(rows));
    const write = (ending: string, out: string) =>
      writeFileSync(join(work, 'in', `${fileOf(name)}.${ending}`), statements(rows, out));
    write('sql', 'copy jobs to stdout (format csv, header);');
    write('select', 'select * from jobs;');
  }
  writeFileSync(join(work, 'workbook.py'), WORKBOOK);
  await runScript(ROOT, 'python3.11 workbook.py', { cwd: work });
  database = await createTestDatabase({ empty: true });
});
afterAll(async () => {
  writeSection({
    title: 'Behind programs that write tables',
    law: `A table of jobs goes through each program, as a person would use it: a workbook whose numbers and dates are such, or a CSV file. What arrives is mirrored by what \`init\` writes for it. \`right\`: each posting has the key, the texts and the date that it had; otherwise what became of it, and how \`init\` and \`try\` say so: as a likely mistake of \`key\` or of a field, or as records that are rejected, unreadable or repeated. \`not visible\`: nothing shows it, and each posting has a key of its own. The workbook has a second sheet, which no program may take for jobs. \`unreadable\` by catdoc: it leaves out empty cells at the end, so that rows are too short.`,
    versions: Object.fromEntries(
      [...new Set(NAMES.map((name) => WRITERS[name].package))].map((name) => [name, versions[name] ?? '0.18.5']),
    ),
    rows: NAMES,
    columns: [...CASES, LINE_ENDS],
    cells,
    unit: 'row',
  });
  rmSync(work, { recursive: true, force: true });
  await database.drop();
});

const FEED = {
  source: 'feed.xml',
  format: 'csv',
  fields: '{ starts-on: { from: posted, date: { order: month_first } } }',
};

const LINE_ENDS = 'line ends';

/** How the lines of a table without line ends in its texts end. */
function lineEndsOf(table: string): string {
  const ends = [...new Set(table.match(/\r\n|\n|\r/g))].map((end) => JSON.stringify(end).slice(1, -1));
  const last = /[\r\n]$/.test(table) ? '' : ', but none at the end';
  return `${ends.map((end) => `\`${end}\``).join(' and ')}${last}`;
}

/** The postings as they would be if nothing were lost. */
const wanted = (rows: readonly Row[]) =>
  rows
    .filter(({ id }) => id !== '')
    .map((row) => {
      const [number, title, , , description, posted = '', email] = cellsOf(row);
      return { number, title, description, day: posted.slice(0, 10), email };
    });

async function mirrored(mirror: Mirror) {
  const jobs = await mirror.siteJobs();
  return [...jobs.values()].map((fields) => ({
    number: fields.number,
    title: fields.title,
    description: fields.description,
    day: (fields['starts-on'] ?? '').slice(0, 10),
    email: fields['contact-email-address'] ?? '',
  }));
}

const inOrder = <T extends { readonly number?: string }>(postings: readonly T[]): readonly T[] =>
  postings.toSorted((a, b) => ((a.number ?? '') < (b.number ?? '') ? -1 : 1));

/** Each posting has a number of its own, and nothing shows that it is not the one that it had: `12` for `0012`. */
function areNumbersOfTheirOwn(
  have: readonly Awaited<ReturnType<typeof mirrored>>[number][],
  want: readonly ReturnType<typeof wanted>[number][],
): boolean {
  const titles = (postings: readonly { readonly title?: string }[]) => postings.map(({ title }) => title).sort();
  const areNumbers = have.every(
    ({ number = '' }) => /^[1-9]\d*$/.test(number) || want.some((one) => one.number === number),
  );
  return isDeepStrictEqual(titles(have), titles(want)) && areNumbers;
}

describe.each(NAMES)('%s', (writer) => {
  let folder: string;
  beforeAll(async () => {
    folder = join(work, writer.replaceAll(/\W+/g, '-'));
    mkdirSync(join(folder, 'out'), { recursive: true });
    const { each, all }: Writer = WRITERS[writer];
    const files = CASES.map((_, at) => `t${at}`).join(' ');
    const script = all ?? `for name in ${files}; do ${each}\ndone`;
    await runScript(ROOT, `ln -s ../in ../node_modules .\n${script}`, { cwd: folder, env: { DATABASE: database.url } });
    const table = readFileSync(join(folder, 'out', `t${CASES.indexOf('7 digits')}.csv`), 'utf8');
    cells.set(cellKey(writer, LINE_ENDS), lineEndsOf(table));
  });

  it.concurrent.each(CASES)('%s', async (name) => {
    const rows = TABLES[name] ?? [];
    const table = readFileSync(join(folder, 'out', `t${CASES.indexOf(name)}.csv`));
    const mirror = await openMirror({ feed: FEED });
    try {
      await mirror.writeFeed(table);
      const report = await mirror.sync();
      const [want, have] = [inOrder(wanted(rows)), inOrder(await mirrored(mirror))];
      const missing = want.filter((posting) => !have.some((other) => isDeepStrictEqual(other, posting)));
      if (missing.length === 0 && have.length === want.length) {
        cells.set(cellKey(writer, name), 'right');
        return;
      }
      const installation = { folder: mirror.folder, configPath: join(mirror.folder, 'other.yaml'), env: mirror.env };
      const begun = await runProgram(installation, 'init', 'feed.xml', '--site', mirror.sandbox.url, '--json');
      const tried = await runProgram(mirror, 'try', 'acme', '--json');
      const { warnings = [] } = tried.json().at(-1) as { readonly warnings?: readonly string[] };
      if (writer === 'data.table, .csv' && name === 'texts') {
        // What the text was cannot be told (findings/fread-doubles-quotes-on-every-pass.sh).
        const doubled = want.map((posting) => ({ ...posting, title: posting.title?.replaceAll('"', '""') }));
        expect(have).toEqual(doubled);
        cells.set(cellKey(writer, name), '`""` for `"`; not visible');
        return;
      }
      const unreadable = report.unreadable - rows.filter(({ id }) => id === '').length;
      const said = [
        ...warnings.map((warning) => warning.split(':')[0]),
        ...(report.rejected > 0 ? [`${report.rejected} rejected`] : []),
        ...(unreadable > 0 ? [`${unreadable} unreadable`] : []),
        ...(report.duplicates > 0 ? [`${report.duplicates} repeated`] : []),
      ];
      const [changed] = have.filter((posting) => !want.some((other) => isDeepStrictEqual(other, posting)));
      const [like] = missing.filter(({ title, number }) => title === changed?.title || number === changed?.number);
      const texts = Object.entries(changed ?? {}).flatMap(([field, text]) =>
        like === undefined || text === like[field as 'number'] ? [] : [`\`${text}\``],
      );
      cells.set(cellKey(writer, name), [...texts, ...(said.length > 0 ? said : ['not visible'])].join('; '));
      if (process.env.SHOW !== undefined) console.log(writer, name, changed, warnings, begun.status, `${table}`);
      if (!areNumbersOfTheirOwn(have, want)) expect(said, `${table}`).not.toEqual([]);
      // A column with an empty cell is not what it proposes as the key.
      if (warnings[0] !== undefined && name !== 'one without')
        expect(begun.out).toContain(JSON.stringify(warnings[0]).slice(1, -1));
    } finally {
      await mirror.close();
    }
  });
});
