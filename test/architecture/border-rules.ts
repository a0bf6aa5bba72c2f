// Lists the borders that source files cross: the layers of the design, and what only some folders may use.
import { COMMANDS } from '../../src/cli/command-list.ts';
import type { SourceFile } from './import-scan.ts';

const CENTRE = ['src/posting', 'src/plan'] as const;
/** Compact tables and encoders, only for what would otherwise be too slow. */
const FAST = 'src/compact';
/** For every folder that waits, limits, retries or reaches servers through proxies. */
const FLOW = 'src/flow';
const SIDES = [
  ...CENTRE,
  FLOW,
  'src/feed',
  'src/store',
  'src/queue',
  'src/site',
  'src/config',
  'src/telemetry',
] as const;
const STEPS = [...SIDES, 'src/pull', 'src/apply', 'jobs', 'src/review'] as const;

/** The folders that the files of a folder may import. Every folder must be listed. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/posting': [],
  'src/plan': ['src/posting'],
  [FAST]: ['src/posting'],
  [FLOW]: [],
  'src/feed': [...CENTRE, FAST, FLOW],
  'src/embedded-postgres': [FLOW],
  'src/store': [...CENTRE, FAST, FLOW],
  'src/queue': [...CENTRE, FLOW],
  'src/site': [...CENTRE, FAST, FLOW],
  'src/telemetry': ['src/posting', FLOW],
  'src/config': SIDES,
  'src/sandbox': [],
  'src/pull': [...SIDES, FAST],
  'src/apply': SIDES,
  jobs: [...SIDES, 'src/pull', 'src/apply'],
  'src/review': SIDES,
  'src/setup': SIDES,
  'src/runtime': [...STEPS, 'src/embedded-postgres'],
  'src/operations': [...SIDES, 'src/apply', 'src/review', 'src/setup', 'src/runtime'],
  'src/web': [...SIDES, 'src/apply', 'src/review', 'src/operations', 'src/runtime'],
  'src/cli': [
    ...STEPS,
    'src/operations',
    'src/runtime',
    'src/web',
    'src/setup',
    'src/sandbox',
    'src/embedded-postgres',
  ],
};

/** The subfolders of the store, each of which imports only from those before it. A file beside them may import from all, and none imports it. */
export const STORE_ORDER: readonly string[] = [
  'postgres',
  'locks',
  'access',
  'site',
  'backlog',
  'feed',
  'pull',
  'change',
  'change/merge',
  'change/rekey',
  'mapping',
  'review',
  'status',
  'backup',
];

/** Exceptions to the table: the path to the files that are not compiled, and the sandbox's own database server. */
const ALSO: readonly { readonly from: RegExp; readonly to: RegExp }[] = [
  { from: /^src\/(feed|store|queue|site|sandbox)\//, to: /^src\/config\/package-root\.ts$/ },
  { from: /^src\/sandbox\//, to: /^src\/embedded-postgres\// },
];

/** The inside of one format, and of one kind of source. */
const FORMATS = /^src\/feed\/format\/[^/]+\//;
const SOURCES = /^src\/feed\/source\/[^/]+\//;

/** Packages that only some folders may import. */
const ONLY_IN: readonly { readonly packages: readonly string[]; readonly folders: readonly string[] }[] = [
  {
    packages: ['pg', 'pg-copy-streams', 'embedded-postgres'],
    folders: ['src/store', 'src/embedded-postgres', 'src/sandbox'],
  },
  { packages: ['bullmq', 'ioredis'], folders: ['src/queue'] },
  { packages: ['fast-xml-parser', 'xmlbuilder2', 'saxes'], folders: ['src/site', 'src/feed', 'src/sandbox'] },
];

/**
 * The pure centre, and what is only fast, compute only from their arguments. Hashing counts as computing, and so does
 * loading a library that computes when it is first needed.
 */
const PURE = ['src/posting', 'src/plan', 'src/compact'];
const PURE_MODULES = new Set(['node:crypto', 'node:buffer', 'node:module']);
const IMPURE_TEXT =
  /\b(?:Date\.now|performance\.|new Date\(\)|Math\.random|process\.|console\.|set(?:Timeout|Interval|Immediate)\b|fetch\()/;

/** Text of feeds and sites reaches a terminal only through functions that escape control characters. */
const MAY_WRITE_OUT = /^src\/(?:cli\/(?:entry|run-process|output\/table)|telemetry\/(?:log|print|progress-line))\.ts$/;

const SQL_FOLDERS = ['src/store', 'src/sandbox'];
/** A literal that starts like an SQL statement. */
const SQL_TEXT =
  /[`'"]\s*(?:select\s[^`'"]*\sfrom\s|insert\s+into\s|update\s+[\w."]+\s+set\s|delete\s+from\s|truncate\s|with\s+\w+\s+as\s|create\s+(?:table|schema|(?:unique\s+)?index)\s|alter\s+table\s)/i;

/** A row whose columns nobody has stated. */
const UNTYPED_ROW = /\bRecord<string, (?:unknown|any)>/;

/** Messages carry actions as data: only the command line writes commands. The configuration's own help may name some. */
const COMMAND_FOLDERS = ['src/cli', 'src/config'];
const REVIEW_COMMANDS =
  'review list|review show|review retry|review edit|review discard|review approve|review settle|review reopen';
const COMMAND_TEXT = new RegExp(
  `\\bjobmirror (?:${COMMANDS.map(({ name }) => name).join('|')})\\b|\\b(?:${REVIEW_COMMANDS})\\b`,
);

/** Every border that the files cross, one sentence each; empty if none. */
export function bordersCrossed(files: readonly SourceFile[]): string[] {
  return [...files.flatMap((file) => [...importsAcross(file), ...textOutOfPlace(file)]), ...cycles(files)];
}

function importsAcross(file: SourceFile): string[] {
  const folder = folderOf(file.path);
  const allowed = MAY_IMPORT[folder];
  if (allowed === undefined) return [`${file.path}: the folder ${folder} has no place among the borders`];
  return file.imports.flatMap((name) => {
    if (/^(?:src|jobs)\//.test(name)) {
      const target = folderOf(name);
      const isAllowed = target === folder || allowed.includes(target);
      if (FORMATS.test(name) && !file.path.startsWith('src/feed/format/')) {
        return [`${file.path}: a format is found by its name in src/feed/format/formats.ts; ${name} is its own`];
      }
      if (SOURCES.test(name) && !file.path.startsWith('src/feed/source/')) {
        return [`${file.path}: a source is found by its kind in src/feed/source/sources.ts; ${name} is its own`];
      }
      const wrongWay = storeArrow(file.path, name);
      if (wrongWay !== undefined) return [wrongWay];
      const isException = ALSO.some(({ from, to }) => from.test(file.path) && to.test(name));
      return isAllowed || isException ? [] : [`${file.path}: ${folder} may not import ${name}`];
    }
    if (/^(?:test|bench)\//.test(name)) return [`${file.path}: shipped code may not import ${name}`];
    const place = ONLY_IN.find(({ packages }) => packages.includes(name));
    if (place !== undefined && !place.folders.includes(folder)) {
      return [`${file.path}: ${name} is allowed only in ${place.folders.join(', ')}`];
    }
    if (PURE.includes(folder) && name.startsWith('node:') && !PURE_MODULES.has(name)) {
      return [`${file.path}: ${folder} is pure and may not import ${name}`];
    }
    return [];
  });
}

/** What an import within the store says against its order; `undefined`: nothing. */
function storeArrow(path: string, name: string): string | undefined {
  const [from, to] = [path, name].map((each) => /^src\/store\/(?:(.+)\/)?[^/]+$/.exec(each)) as [Match, Match];
  if (from === null || to === null || from[1] === to[1]) return undefined;
  const at = (folder: string | undefined) => (folder === undefined ? STORE_ORDER.length : STORE_ORDER.indexOf(folder));
  const unknown = [from[1], to[1]].find((folder) => at(folder) === -1);
  if (unknown !== undefined) return `${path}: src/store/${unknown} has no place in the order of the store`;
  return at(to[1]) < at(from[1]) ? undefined : `${path}: comes before ${name} in the order of the store`;
}

type Match = RegExpExecArray | null;

function textOutOfPlace(file: SourceFile): string[] {
  const folder = folderOf(file.path);
  const impure = PURE.includes(folder) ? IMPURE_TEXT.exec(file.text)?.[0] : undefined;
  const sql = SQL_FOLDERS.includes(folder) ? undefined : SQL_TEXT.exec(file.text)?.[0];
  const command = COMMAND_FOLDERS.includes(folder) ? undefined : COMMAND_TEXT.exec(file.text)?.[0];
  const untyped = folder === 'src/store' ? UNTYPED_ROW.exec(file.text)?.[0] : undefined;
  const out = MAY_WRITE_OUT.test(file.path) ? undefined : /\bprocess\.std(?:out|err)\b/.exec(file.text)?.[0];
  return [
    ...(out === undefined ? [] : [`${file.path}: output goes through src/telemetry/print.ts, not through ${out}`]),
    ...(untyped === undefined ? [] : [`${file.path}: the rows of a query are typed, not ${untyped}`]),
    ...(impure === undefined ? [] : [`${file.path}: ${folder} is pure, "${impure}" is not`]),
    ...(command === undefined ? [] : [`${file.path}: only src/cli writes commands, not "${command}"`]),
    ...(sql === undefined ? [] : [`${file.path}: SQL is allowed only in ${SQL_FOLDERS.join(', ')}, not here: ${sql}`]),
  ];
}

/** The import cycles, each with one path; found depth first. */
function cycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) {
      found.push(`a cycle: ${[...way.slice(way.indexOf(path)), path].join(' → ')}`);
      return;
    }
    if (done.has(path)) return;
    for (const next of byPath.get(path)?.imports ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const file of files) visit(file.path, []);
  return found;
}

/** `src/plan/diff.ts` → `src/plan`, `jobs/pull-feed.ts` → `jobs`. */
const folderOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('src/') ? 2 : 1)
    .join('/');
