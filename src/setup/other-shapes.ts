// Names documents that no format reads for what they are, with what to do about them, and finds the feeds that an HTML
// page names for programs.
import { DELIMITERS } from '../feed/format/format.ts';
import { isoDate, type NumericOrder, readDate } from '../posting/dates.ts';
import { pathStep, textPathsIn } from '../posting/paths/path-census.ts';
import { parseValuePath, textsAt } from '../posting/paths/value-path.ts';
import type { RecordTree } from '../posting/posting.ts';
import { isJsonObject, jsonLists } from './find-lists.ts';
import type { DocumentType } from './opening.ts';
import type { SampledRecords } from './sample-records.ts';

/** What a document is that no format reads; `undefined`: nothing that is known. @param text its beginning. */
export function namedOther(type: DocumentType | undefined, text: string): string | undefined {
  if (type === 'xml') return namedXml(text);
  return type === undefined || type === 'csv' ? (namedBinary(text) ?? namedScript(text)) : undefined;
}

function namedScript(text: string): string | undefined {
  const [, name] =
    /^\s*(?:\/\*.*?\*\/\s*)?(?:typeof\s+[\w$.]+[^;]{0,80}&&\s*)?([A-Za-z_$][\w$.]*)\s*\(\s*[[{]/.exec(text) ?? [];
  if (name !== undefined) {
    return `it is JSONP, JSON in a call of ${name}; ask for plain JSON, usually by leaving the parameter callback out of the address, or remove ${name}( and the last ) from the file`;
  }
  const [, variable] = /^\s*(?:(?:var|let|const)\s+)?([A-Za-z_$][\w$.]*)\s*=\s*[[{]/.exec(text) ?? [];
  if (variable === undefined) return undefined;
  return `it is a script that assigns JSON to ${variable}; ask for plain JSON, or remove ${variable} = from the file`;
}

function namedXml(text: string): string | undefined {
  const beginning = text.replace(/^(?:\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->)+/, '');
  if (/^<[^>]*>\s*(?:<!\[CDATA\[\s*)?(?:&lt;|<\?xml|[[{])/.test(beginning))
    return 'it is a document inside XML: its root has a text that holds the postings; ask for that document itself';
  return /^<(?:\w+:)?Workbook\b/.test(beginning) ? WORKBOOK : undefined;
}

const WORKBOOK = 'it is a workbook of Excel; save it as CSV, or ask for a CSV export';

function namedBinary(text: string): string | undefined {
  if (text.startsWith('%PDF-')) return 'it is a PDF; ask for a CSV, XML or JSON export';
  if (text.startsWith('PAR1')) return 'it is a Parquet file; ask for a CSV or JSON Lines export';
  // As a workbook of Excel 97, read as Windows-1252.
  return text.startsWith('\u00d0\u00cf\u0011\u00e0') ? WORKBOOK : undefined;
}

/** Why a JSON document has no list of records, and what would help. */
export function namedJson(value: unknown): string | undefined {
  return textInside(value, '') ?? keyedObject(value, []);
}

function textInside(value: unknown, path: string): string | undefined {
  if (typeof value === 'string') {
    const inner = jsonIn(value);
    if (inner === undefined || jsonLists(inner).length === 0) return undefined;
    const where = path === '' ? 'its whole text is' : `${path} is`;
    const filter = path === '' ? 'fromjson' : `.${path.split('/').map(quoted).join('.')} | fromjson`;
    return `it is JSON inside JSON: ${where} a string that holds the postings; ask for the JSON itself, or unpack it with: jq '${filter}'`;
  }
  if (!isJsonObject(value)) return undefined;
  for (const [name, child] of Object.entries(value)) {
    const found = textInside(child, path === '' ? name : `${path}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Objects of the same shape under names that are IDs: `{ "401": { "title": … }, "402": … }`. */
function keyedObject(value: unknown, names: readonly string[]): string | undefined {
  if (!isJsonObject(value) || names.length > 4) return undefined;
  const entries = Object.entries(value);
  const objects = entries.filter(([, child]) => isJsonObject(child));
  const areNumbered = objects.every(([name]) => /\d/.test(name));
  if (areIndexes(entries.map(([name]) => name))) return undefined;
  if (objects.length > 1 && objects.length === entries.length && areAlike(objects, areNumbered ? 2 : 3)) {
    const shown = objects.slice(0, 2).map(([name]) => JSON.stringify(name));
    const filter = `${names.map((name) => `.${quoted(name)}`).join('') || '.'} | to_entries | map(.value + {id: .key})`;
    return `its records are no list: they are the values of ${names.length === 0 ? 'the document' : names.join('/')}, named by their IDs (${shown.join(', ')}, …); ask for a list, or make one with: jq '${filter}'`;
  }
  for (const [name, child] of entries) {
    const found = keyedObject(child, [...names, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What is left of the indexes of a list, from which PHP has removed elements; identifiers are larger. */
const areIndexes = (names: readonly string[]): boolean =>
  names.length > 0 && names.every((name) => /^\d{1,9}$/.test(name) && Number(name) < 10 * names.length + 10);

/**
 * The first ones share most of their names. @param fewest names that they have at least: the sections of a single posting have
 * a title and a text, too.
 */
function areAlike(objects: readonly (readonly [string, unknown])[], fewest: number): boolean {
  const [first, ...others] = objects.slice(0, 20).map(([, object]) => Object.keys(object as object));
  if (first === undefined || first.length < fewest) return false;
  return others.every(
    (names) =>
      names.filter((name) => first.includes(name)).length * 2 >= Math.min(first.length, names.length) &&
      names.some((name) => first.includes(name)),
  );
}

const quoted = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

// Finds the feeds that an HTML page names for programs: `<link rel="alternate" type="application/rss+xml" href="…">`.
const MOST_NAMED = 5;

/** Whole addresses. @param address the page's, the base of relative ones. */
export function feedsNamedIn(page: string, address: string): readonly string[] {
  const links = [...page.matchAll(/<link\b[^>]*>/gi)].map(([link]) => link);
  const found = links
    .filter(
      (link) => /\brel\s*=\s*["']?alternate\b/i.test(link) && /application\/(?:rss\+xml|atom\+xml|json)\b/i.test(link),
    )
    .flatMap((link) => /\bhref\s*=\s*["']?([^"'\s>]+)/i.exec(link)?.[1] ?? []);
  const whole = found.flatMap((href) => {
    const decoded = href.replaceAll('&amp;', '&');
    const base = URL.canParse(address) ? address : undefined;
    return URL.canParse(decoded, base) ? [new URL(decoded, base).href] : [decoded];
  });
  return [...new Set(whole)].slice(0, MOST_NAMED);
}

// Finds the delimiter of a table, and the rows before its header: reports of programs begin with some.

const READ_ROWS = 60;
const SEPARATOR_LINE = /^"?sep=(.)"?\s*$/i;

/** The settings `csv` of a table; `undefined`: the header row tells everything. */
export function tableLayout(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  const all = bytes
    .toString('utf8', 0, 65_536)
    .replace(/^\ufeff/, '')
    .replaceAll(/"(?:[^"]|"")*"/g, (cell) => (cell === '""' ? '' : 'x'))
    .split(/\r\n|\n|\r/);
  const separator = SEPARATOR_LINE.exec(firstLineOf(bytes))?.[1];
  // The line with the separator is not one of the rows to skip.
  const rows = (separator === undefined ? all : all.slice(1)).slice(0, READ_ROWS);
  const delimiter = DELIMITERS.find((each) => each === separator) ?? bestDelimiter(rows);
  if (delimiter === undefined) return undefined;
  const counts = rows.map((row) => countOf(row, delimiter));
  const usual = usualOf(rows, delimiter);
  // Spreadsheets write the lines before it with as many empty cells.
  const isFilled = (row = '') => row.split(delimiter).filter((cell) => cell.trim() !== '').length > usual / 2;
  const header = counts.findIndex((count, at) => count >= Math.max(1, usual * 0.8) && isFilled(rows[at]));
  const inHeader = DELIMITERS.map((each) => countOf(rows[Math.max(0, header)] ?? '', each));
  const isTold =
    separator !== undefined || Math.max(...inHeader) === countOf(rows[Math.max(0, header)] ?? '', delimiter);
  const settings = {
    ...(isTold ? {} : { delimiter: delimiter === '\t' ? 'tab' : delimiter }),
    ...(header > 0 && usual > 1 ? { skip_rows: header } : {}),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

const firstLineOf = (bytes: Buffer): string =>
  bytes
    .toString('utf8', 0, 64)
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/, 1)[0] ?? '';

const countOf = (row: string, delimiter: string): number => row.split(delimiter).length - 1;

/** How often it occurs in most rows. Lists in cells must not count, so it is the same delimiter in all rows. */
function usualOf(rows: readonly string[], delimiter: string): number {
  const counts = rows.filter((row) => /[^\s,;|]/.test(row)).map((row) => countOf(row, delimiter));
  return counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0;
}

/** The delimiter that occurs equally often in most rows; of several, the one with the most columns. */
function bestDelimiter(rows: readonly string[]): (typeof DELIMITERS)[number] | undefined {
  const filled = rows.filter((row) => /[^\s,;|]/.test(row));
  const rated = DELIMITERS.map((delimiter) => {
    const usual = usualOf(rows, delimiter);
    const equal = filled.filter((row) => countOf(row, delimiter) === usual).length / Math.max(1, filled.length);
    return { delimiter, usual, equal: Math.round(equal * 10) };
  }).filter(({ usual }) => usual > 0);
  return rated.sort((a, b) => b.equal - a.equal || b.usual - a.usual)[0]?.delimiter;
}

// Proposes which records are no postings: lines about the stream, the row with the totals of a report, and what is closed or a draft.

type Condition = Readonly<Record<string, unknown>>;

export interface ProposedSkip {
  /** The setting `skip`; `undefined`: all are postings. */
  readonly skip: Condition | readonly Condition[] | undefined;
  /** The sampled records that stay. */
  readonly trees: readonly RecordTree[];
  /** What a person should know. */
  readonly notes: readonly string[];
}

const TOTAL =
  /^(?:grand |sub-?)?(?:(?:total|totals|sum)(?: (?:count|jobs?|postings?|records?|requisitions?|rows?))?|(?:job|record|row) count|summe|gesamt|gesamtsumme|totaal|suma|somme|totale)\b[\s:]*[\d.,]*$/i;

export function proposeSkip(type: string, sample: SampledRecords): ProposedSkip {
  const { trees } = sample;
  if (type === 'jsonl' && trees.some((tree) => isMessage(tree, 'RECORD')) && trees.every((tree) => isMessage(tree))) {
    const streams = new Set(trees.flatMap((tree) => textsAt(parseValuePath('stream'), tree)));
    return {
      skip: { type: { not: 'RECORD' } },
      trees: trees.filter((tree) => isMessage(tree, 'RECORD')),
      notes: [
        'its lines are messages of Singer or Airbyte, of which those of the type RECORD are postings',
        ...(streams.size > 1
          ? [`it has several streams (${[...streams].join(', ')}); skip those without postings: skip: { stream: … }`]
          : []),
      ],
    };
  }
  const total = type === 'csv' ? totalRow(sample) : undefined;
  const rows = total === undefined ? trees : trees.filter((tree) => !isTotal(tree));
  const closed = closedRecords(rows);
  const conditions = [
    ...(total === undefined ? [] : [{ [total.path]: { matches: `(?i)^\\s*${total.word}\\b` } }]),
    ...closed.map(({ condition }) => condition),
  ];
  return {
    skip: conditions.length > 1 ? conditions : conditions[0],
    trees: rows.filter((tree) => !closed.some(({ isClosed }) => isClosed(tree))),
    notes: [
      ...(total === undefined ? [] : ['its last row is the total of a report and is skipped']),
      ...closed.map(({ note }) => note),
      ...furtherNotes(rows.filter((tree) => !closed.some(({ isClosed }) => isClosed(tree)))),
    ],
  };
}

const LANGUAGE = /^(?:job|posting)?(?:lang|langcode|language|languagecode|locale)$/;
const END =
  /^(?:ad|application|date|job|post|posted|posting|publication|published|requisition|vacancy)*(?:(?:clos(?:e|ing)|deadline|end|expir(?:ation|e|y)|unpublish)(?:at|date|datetime|on|time)?|closes|expires|expired?(?:at|on)|validthrough|validuntil|validto)$/;

/** Translations of postings, and postings that should have ended: a person decides about both. */
function furtherNotes(trees: readonly RecordTree[]): readonly string[] {
  const paths = new Set(trees.slice(0, 20).flatMap((tree) => [...textPathsIn(tree)]));
  return [...paths].flatMap((path) => {
    const name = nameOfPath(path);
    if (!LANGUAGE.test(name) && !END.test(name)) return [];
    const parsed = parseValuePath(path);
    const texts = trees.map((tree) => textsAt(parsed, tree)[0]?.trim() ?? '');
    if (LANGUAGE.test(name)) {
      const languages = [...new Set(texts)];
      return languages.length > 1 && languages.every((text) => /^[a-z]{2}(?:[-_][a-z]{2})?$/i.test(text))
        ? [
            `the records are in several languages (${path} is ${languages.slice(0, 5).join(', ')}): skip those that would be further jobs for the same posting, such as skip: { ${JSON.stringify(path)}: { not: ${languages[0]} } }`,
          ]
        : [];
    }
    const order = texts.every((text) => readDate(text) !== undefined || !/^\d/.test(text)) ? undefined : 'month first';
    const past = texts.filter((text) => hasPassed(text, order)).length;
    if (past === 0) return [];
    const setting = order === undefined ? '' : ', order: month_first';
    return [
      `${path} of ${past} of the first ${trees.length} records has passed, and they are sent; to end such jobs, add skip: { ${JSON.stringify(path)}: { past: true${setting} } }`,
    ];
  });
}

/** Longer ago than any zone makes a difference; years before 2000 mean that there is none. */
function hasPassed(text: string, order: NumericOrder | undefined): boolean {
  const day = isoDate(text, order)?.slice(0, 10) ?? '';
  return day > '2000' && Date.parse(day) < Date.now() - 2 * 86_400_000;
}

const nameOfPath = (path: string): string =>
  path
    .toLowerCase()
    .replace(/[^a-z/]/g, '')
    .replace(AROUND, '');

const CLOSED =
  /^(?:archived|cancell?ed|closed|deleted|disabled|draft|ended|expired|filled|hidden|hired|inactive|on[ -]?hold|paused|private|removed|suspended|trash|unposted|unpublished|withdrawn)(?:\W.*)?$/i;
const STATUS =
  /^(?:ad|advert|current|external|job|listing|offer|opening|opportunity|order|position|post|posting|publication|publish|record|req|requisition|vacancy|web)*(?:state|status)$/;
/** What a consumer of the list shall do with a record. */
const ACTION =
  /^(?:job|posting|record|row)?(?:action|changetype|command|event|eventtype|method|op|operation|transactiontype|updatetype)$/;
const REMOVE = /^(?:cancel|close|deactivate|delete|expire|remove|unpost|unpublish|withdraw)(?:d|ed)?$/i;
const KEEP =
  /^(?:add|addorupdate|create|edit|insert|modify|new|post|publish|refresh|renew|replace|republish|update|upsert)(?:d|ed)?$/i;
const OPEN_FLAG = /^(?:is)?(?:active|enabled|listed|live|open|public|publish|published|visible)$/;
const CLOSED_FLAG = /^(?:is)?(?:archived|closed|deleted|draft|expired|filled|hidden|internal|trashed)$/;
const YES = /^(?:true|yes|y|1)$/i;
const NO = /^(?:false|no|n|0)$/i;
/** What has the values of a record in some systems, and the text of a value. */
const AROUND =
  /^(?:acf|attributes|customfields|fields|fielddata|meta|metadata|node|properties|record|source)\/|\/(?:label|name|value|descriptor)$/g;

const CHANGES_ONLY =
  'every file must list all postings: one with only what has changed would end the jobs of all others';

interface ClosedRecords {
  readonly condition: Condition;
  readonly isClosed: (tree: RecordTree) => boolean;
  readonly note: string;
}

/** Paths by which some of the records, but not all, are closed, drafts or internal, or may come to be, as all say that they are open. */
function closedRecords(trees: readonly RecordTree[]): readonly ClosedRecords[] {
  const paths = new Set(trees.slice(0, 20).flatMap((tree) => [...textPathsIn(tree)]));
  return [...paths].flatMap((path) => {
    const name = nameOfPath(path);
    const parsed = parseValuePath(path);
    const textOf = (tree: RecordTree) => textsAt(parsed, tree)[0]?.trim() ?? '';
    const texts = [...new Set(trees.map(textOf))].filter((text) => text !== '');
    const isFlag = texts.every((text) => YES.test(text) || NO.test(text));
    const isAction = ACTION.test(name) && texts.every((text) => REMOVE.test(text) || KEEP.test(text));
    const pattern = STATUS.test(name)
      ? CLOSED
      : isAction
        ? REMOVE
        : isFlag && OPEN_FLAG.test(name)
          ? NO
          : isFlag && CLOSED_FLAG.test(name)
            ? YES
            : undefined;
    const found = texts.filter((text) => pattern?.test(text));
    if (pattern === undefined) return [];
    const isClosed = (tree: RecordTree) => pattern.test(textOf(tree));
    const count = trees.filter(isClosed).length;
    if (count === trees.length) return [];
    if (count === 0)
      return willClose(
        path,
        pattern,
        texts,
        trees.every((tree) => textOf(tree) !== ''),
      ).map((closed) => (isAction ? { ...closed, note: `${closed.note}; ${CHANGES_ONLY}` } : closed));
    const note = `of the first ${trees.length} records, ${count} ${count === 1 ? 'is' : 'are'} skipped, because ${path} is ${found.join(' or ')}; remove skip to send them`;
    const condition = isFlag ? found : { matches: `(?i)${pattern.source}` };
    return [{ condition: { [path]: condition }, isClosed, note: isAction ? `${note}; ${CHANGES_ONLY}` : note }];
  });
}

const OPEN =
  /^(?:accepting\b.*|active|approved|available|current|in[- ]?progress|listed|live|open(?:ed)?|posted|public|publish(?:ed)?)$/i;

/** Records that state whether they are open are left in the list once they are not. */
function willClose(
  path: string,
  pattern: RegExp,
  texts: readonly string[],
  isInAll: boolean,
): readonly ClosedRecords[] {
  if (!isInAll || (pattern === CLOSED && !texts.some((text) => OPEN.test(text)))) return [];
  return [
    {
      condition: { [path]: { matches: `(?i)${pattern.source}` } },
      isClosed: () => false,
      note: `records are skipped once ${path} says that they are closed`,
    },
  ];
}

const MESSAGES = new Set(['SCHEMA', 'RECORD', 'STATE', 'ACTIVATE_VERSION', 'BATCH', 'LOG', 'TRACE', 'CATALOG', 'SPEC']);

function isMessage(tree: RecordTree, type?: string): boolean {
  const [text = ''] = textsAt(TYPE, tree);
  return type === undefined ? MESSAGES.has(text) : text === type;
}
const TYPE = parseValuePath('type');

function totalRow({ trees, last }: SampledRecords): { readonly path: string; readonly word: string } | undefined {
  if (last === undefined || trees.length < 2 || !isTotal(last)) return undefined;
  const [name, text] = cellsOf(last).find(([, cell]) => cell.trim() !== '') ?? ['', ''];
  return { path: pathStep(name), word: /^[^\d:.,]+/.exec(text.trim())?.[0].trim() ?? 'total' };
}

/** Whether the first text of the row is "Total", and most of its cells are empty. */
function isTotal(tree: RecordTree): boolean {
  const cells = cellsOf(tree);
  const filled = cells.filter(([, text]) => text.trim() !== '');
  return TOTAL.test(filled[0]?.[1].trim() ?? '') && filled.length <= Math.max(2, cells.length / 2);
}

const cellsOf = (tree: RecordTree): readonly (readonly [string, string])[] =>
  typeof tree === 'string' ? [] : Object.entries(tree).map(([name, cell]) => [name, [cell].flat().join(' ')] as const);
