// Gathers what `init` cannot recognise: from its options, or by asking on the terminal.
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CONFIG_FILE } from '../config/include.ts';
import { UserError } from '../runtime/stop-signal.ts';
import type { PathSample, Proposal } from '../setup/propose.ts';
import type { KeyCandidate, ProposedRule } from '../setup/propose-fields.ts';
import type { ConfigParts, ExistingConfig } from '../setup/write-config.ts';
import { ask, oneLine, printNotice } from '../telemetry/print.ts';
import { type CommonOptions, quoteWord } from './adapter/command-line.ts';

export interface InitOptions extends CommonOptions {
  readonly site?: string;
  readonly siteName?: string;
  readonly tokenEnv?: string;
  readonly tokenFile?: string;
  readonly listPath?: string;
  readonly name?: string;
  readonly format?: string;
  readonly records?: string;
  readonly key?: string;
  readonly field?: readonly string[];
  readonly state?: string;
  readonly header?: readonly string[];
  readonly schedule?: string;
  readonly timeZone?: string;
  readonly force?: boolean;
}

export interface Answers {
  readonly proposal: Proposal;
  readonly site: ConfigParts['site'];
}

/** What a person may have to say, and how. */
const QUESTIONS = {
  source: {
    question: 'Address or file of the feed',
    option: 'the address or file of the feed, as jobmirror init ADDRESS',
  },
  site: {
    question: 'Address of the job site, such as https://jobs.example.com',
    option: '--site URL, the address of the job site',
  },
  key: { question: 'No path identifies the records. Path of the key', option: '--key PATH, what identifies a posting' },
  title: { question: 'Path of the title', option: '--field title=PATH, where the title comes from' },
  state: {
    question: 'The records have no U.S. state. State of all jobs, such as Texas',
    option: '--state STATE for all jobs, or --field location-state=PATH',
  },
} as const;

type Question = keyof typeof QUESTIONS;

/** The given value, or the answer on the terminal. Throws if there is none. */
export async function givenOrAsked(
  question: Question,
  given: string | undefined,
  options: InitOptions,
): Promise<string> {
  const value = given ?? (await askFor(question, options, ''));
  if (value === undefined) throw missing([question]);
  return value;
}

/** `undefined`: nobody can be asked, or the answer is empty. */
async function askFor(
  question: Question,
  { json }: InitOptions,
  hint: string,
  columns: readonly PathSample[] = [],
): Promise<string | undefined> {
  if (json === true) return undefined;
  if (columns.length > 0 && process.stdin.isTTY) printNotice(columnLines(columns).join('\n'));
  const text = (await ask(`${QUESTIONS[question].question}${hint}: `))?.trim();
  return text === '' ? undefined : text;
}

const missing = (questions: readonly Question[], hints: Hints = {}, columns: readonly PathSample[] = []): UserError =>
  new UserError(
    [
      `init needs ${questions.map((question) => `${QUESTIONS[question].option}${hints[question] ?? ''}`).join('; and ')}`,
      ...columnLines(questions.some(isAboutPaths) ? columns : []),
    ].join('\n'),
  );

/** The answer may be a path in the records. */
const isAboutPaths = (question: Question): boolean => question !== 'site' && question !== 'source';

const SHOWN_COLUMNS = 30;

/** Paths of the records with some of their values. */
export function columnLines(columns: readonly PathSample[]): string[] {
  if (columns.length === 0) return [];
  const shown = columns.slice(0, SHOWN_COLUMNS);
  const width = Math.min(30, Math.max(...shown.map(({ path }) => path.length)));
  const more = columns.length - shown.length;
  return [
    'The paths of the records, with some of their values:',
    ...shown.map(({ path, values }) =>
      `  ${oneLine(path, 60).padEnd(width)}  ${values.map((value) => oneLine(value, 40)).join(' | ')}`.trimEnd(),
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** What helps to answer a question. */
type Hints = Readonly<Partial<Record<Question, string>>>;

const SHOWN_CANDIDATES = 12;
const SHOWN_LENGTH = 60;

/** Names paths for the key, the likeliest first. */
function keyHint(candidates: readonly KeyCandidate[]): string {
  // What is longer is hardly the name of a column.
  const fitting = candidates.filter(({ path }) => path.length <= SHOWN_LENGTH);
  const [first] = fitting;
  if (first === undefined) return '';
  const named = fitting
    .slice(0, SHOWN_CANDIDATES)
    .map(({ path, distinct }) => `${JSON.stringify(path)} (${distinct} different)`);
  const more = candidates.length - named.length;
  const isUnique = first.distinct === first.records;
  return [
    ` (in the first ${first.records} records: ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
    `choose what differs in every record and never changes, such as --key ${quoteWord(first.path)}`,
    ...(isUnique
      ? []
      : ['records with the same key are one posting; the key in the configuration may be a list of several paths']),
  ]
    .join('; ')
    .concat(')');
}

/** Asks for everything that is missing. Throws one error that names all options. */
export async function askForMissing(
  proposal: Proposal,
  options: InitOptions,
  existing: ExistingConfig | undefined,
): Promise<Answers> {
  const fields = { ...proposal.fields, ...givenFields(options) };
  const isOwn = proposal.preset === undefined;
  const isFilled = (field: string) => field in fields || (!isOwn && proposal.filled.includes(field));
  const known = knownSite(options, existing);
  const lacksKey = proposal.key === undefined && (isOwn || proposal.keyCandidates !== undefined);
  const needed: Question[] = [
    ...(options.site === undefined && known === undefined ? (['site'] as const) : []),
    ...(lacksKey && options.key === undefined ? (['key'] as const) : []),
    ...(isFilled('title') ? [] : (['title'] as const)),
    ...(isFilled('location-state') ? [] : (['state'] as const)),
  ];
  const hints: Hints = { key: keyHint(proposal.keyCandidates ?? []) };
  const given: Partial<Record<Question, string>> = {};
  const open: Question[] = [];
  const first = needed.find(isAboutPaths);
  for (const question of needed) {
    const columns = question === first ? proposal.columns : [];
    const text = await askFor(question, options, hints[question] ?? '', columns);
    if (text !== undefined) given[question] = text;
    // A preset has a rule for the state: without one, the configuration is valid, and postings are rejected.
    else if (question !== 'state' || isOwn) open.push(question);
  }
  if (open.length > 0) throw missing(open, hints, proposal.columns);
  const key = options.key ?? given.key ?? proposal.key;
  const number: Readonly<Record<string, ProposedRule>> =
    isOwn && !('number' in fields) && typeof key === 'string' ? { number: key } : {};
  return {
    proposal: {
      ...proposal,
      key,
      fields: {
        ...number,
        ...fields,
        ...(given.title === undefined ? {} : { title: given.title }),
        ...(given.state === undefined ? {} : { 'location-state': { value: given.state } }),
      },
    },
    site: siteOf(known?.baseUrl ?? options.site ?? given.site ?? '', options, known?.name),
  };
}

/** The site of the configuration that is meant; `undefined`: another one. Throws if it is not clear which. */
function knownSite(
  { site, siteName }: InitOptions,
  existing: ExistingConfig | undefined,
): { readonly name: string; readonly baseUrl: string } | undefined {
  const sites = [...(existing?.sites ?? [])].map(([name, baseUrl]) => ({ name, baseUrl }));
  if (site !== undefined) {
    const named = sites.find(({ name }) => name === siteName);
    if (named !== undefined && !isSameAddress(named.baseUrl, site)) {
      throw new UserError(
        `the configuration has a site ${named.name} already, ${named.baseUrl}; choose another --site-name`,
      );
    }
    const same = sites.filter(({ name, baseUrl }) => isSameAddress(baseUrl, site) && (siteName ?? name) === name);
    return same[0];
  }
  if (sites.length === 0) return undefined;
  const chosen = siteName === undefined && sites.length === 1 ? sites[0] : sites.find(({ name }) => name === siteName);
  if (chosen !== undefined) return chosen;
  throw new UserError(
    `init needs --site-name NAME, the site that gets the feed (${sites.map(({ name }) => name).join(', ')}), or --site URL for another one`,
  );
}

const isSameAddress = (one: string, other: string): boolean => one.replace(/\/+$/, '') === other.replace(/\/+$/, '');

function givenFields({ field = [], state }: InitOptions): Readonly<Record<string, ProposedRule>> {
  const rules = field.map((text): [string, ProposedRule] => {
    const [, name = '', path = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (name === '')
      throw new UserError(`"${text}" is not a field; write --field NAME=PATH, such as --field title=jobTitle`);
    return [name, name === 'location-state' ? { from: path, as: 'us_state' } : path];
  });
  return { ...(state === undefined ? {} : { 'location-state': { value: state } }), ...Object.fromEntries(rules) };
}

/** @param known the name of a site that the configuration has. */
function siteOf(baseUrl: string, options: InitOptions, known: string | undefined): ConfigParts['site'] {
  if (known !== undefined) {
    return { name: known, baseUrl, tokenFile: undefined, tokenVariable: undefined, listPath: undefined };
  }
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new UserError(`--site ${baseUrl} is no web address; it looks like https://jobs.example.com`);
  }
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);
  const name = options.siteName ?? (isHere ? 'sandbox' : 'board');
  const { tokenFile, tokenEnv } = options;
  if (tokenFile !== undefined && !existsSync(tokenFile)) {
    throw new UserError(
      `--token-file ${tokenFile} does not exist; it must hold the API key of your account on the site`,
    );
  }
  return {
    name,
    baseUrl,
    tokenFile: tokenFile === undefined ? undefined : fromFolder(tokenFile, options),
    tokenVariable:
      tokenFile === undefined ? (tokenEnv ?? `${name.toUpperCase().replaceAll('-', '_')}_TOKEN`) : undefined,
    // The sandbox has a list.
    listPath: options.listPath ?? (isHere ? '/jobs.xml' : undefined),
  };
}

/** Relative paths in a configuration start at its folder. */
function fromFolder(file: string, { config }: InitOptions): string {
  const short = relative(dirname(resolve(config ?? CONFIG_FILE)), resolve(file));
  return short.startsWith('..') ? resolve(file) : short;
}

// Keeps standard input in a temporary file, because `init` reads its feed several times.

export interface KeptInput {
  readonly path: string;
  /** The input, from its beginning. */
  read(): Readable;
  remove(): Promise<void>;
}

/** As much as a feed may have by default. */
const MOST_BYTES = 64 * 1024 ** 3;

/** @param most bytes. Throws a `UserError` if there is more, and the reason of the signal. */
export async function keepInput(input: Readable, signal: AbortSignal, most = MOST_BYTES): Promise<KeptInput> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-input-'));
  const path = join(folder, 'input');
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(input, bounded(most), createWriteStream(path, { mode: 0o600 }), { signal });
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    throw error;
  }
  return { path, read: () => createReadStream(path), remove };
}

const bounded = (most: number) =>
  async function* (chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer | string> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > most) throw new UserError(`standard input has more than ${most} bytes`);
      yield chunk;
    }
  };
