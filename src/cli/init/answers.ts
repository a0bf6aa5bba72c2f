// Gathers what `init` cannot recognise: from its options, or by asking on the terminal.
import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { CONFIG_FILE } from '../../config/config-file.ts';
import { UserError } from '../../runtime/exit-status.ts';
import type { Proposal } from '../../setup/propose.ts';
import type { KeyCandidate, ProposedRule } from '../../setup/propose-fields.ts';
import type { ConfigParts } from '../../setup/write-config.ts';
import { ask } from '../../telemetry/print.ts';
import { quoteWord } from '../command-line.ts';
import type { RemoteOptions } from './remote-access.ts';

export interface InitOptions extends RemoteOptions {
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
  readonly config?: string;
  readonly force?: boolean;
  readonly json?: boolean;
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
export async function answer(question: Question, given: string | undefined, options: InitOptions): Promise<string> {
  const value = given ?? (await askFor(question, options, ''));
  if (value === undefined) throw missing([question]);
  return value;
}

/** `undefined`: nobody can be asked, or the answer is empty. */
async function askFor(question: Question, { json }: InitOptions, hint: string): Promise<string | undefined> {
  if (json === true) return undefined;
  const text = (await ask(`${QUESTIONS[question].question}${hint}: `))?.trim();
  return text === '' ? undefined : text;
}

const missing = (questions: readonly Question[], hints: Hints = {}): UserError =>
  new UserError(
    `init needs ${questions.map((question) => `${QUESTIONS[question].option}${hints[question] ?? ''}`).join('; and ')}`,
  );

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
export async function complete(proposal: Proposal, options: InitOptions): Promise<Answers> {
  const fields = { ...proposal.fields, ...givenFields(options) };
  const isOwn = proposal.preset === undefined;
  const isFilled = (field: string) => field in fields || (!isOwn && proposal.filled.includes(field));
  const needed: Question[] = [
    ...(options.site === undefined ? (['site'] as const) : []),
    ...(isOwn && proposal.key === undefined && options.key === undefined ? (['key'] as const) : []),
    ...(isFilled('title') ? [] : (['title'] as const)),
    ...(isFilled('location-state') ? [] : (['state'] as const)),
  ];
  const hints: Hints = { key: keyHint(proposal.keyCandidates ?? []) };
  const given: Partial<Record<Question, string>> = {};
  const open: Question[] = [];
  for (const question of needed) {
    const text = await askFor(question, options, hints[question] ?? '');
    if (text !== undefined) given[question] = text;
    // A preset has a rule for the state: without one, the configuration is valid, and postings are rejected.
    else if (question !== 'state' || isOwn) open.push(question);
  }
  if (open.length > 0) throw missing(open, hints);
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
    site: siteOf(options.site ?? given.site ?? '', options),
  };
}

function givenFields({ field = [], state }: InitOptions): Readonly<Record<string, ProposedRule>> {
  const rules = field.map((text): [string, ProposedRule] => {
    const [, name = '', path = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (name === '')
      throw new UserError(`"${text}" is not a field; write --field NAME=PATH, such as --field title=jobTitle`);
    return [name, name === 'location-state' ? { from: path, as: 'us_state' } : path];
  });
  return { ...(state === undefined ? {} : { 'location-state': { value: state } }), ...Object.fromEntries(rules) };
}

function siteOf(baseUrl: string, options: InitOptions): ConfigParts['site'] {
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
