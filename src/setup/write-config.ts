// Writes the configuration that `init` proposes, with comments for whoever edits it next, or adds its feed to a
// configuration that exists.
import { isIP } from 'node:net';
import { basename } from 'node:path';
import { type Document, isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml';
import { quoteStandardInput } from '../config/yaml-source.ts';
import type { Proposal } from './propose.ts';
import type { ProposedRule } from './propose-fields.ts';

export interface ConfigParts {
  /** Comments at the beginning. */
  readonly heading: readonly string[];
  readonly site: {
    readonly name: string;
    readonly baseUrl: string;
    /** `undefined`: the token is in a file. */
    readonly tokenVariable: string | undefined;
    readonly tokenFile: string | undefined;
    readonly listPath: string | undefined;
  };
  readonly feed: {
    readonly name: string;
    readonly source: string;
    /** Absent for standard input, which has none. */
    readonly schedule: string | undefined;
    readonly timeZone: string;
    readonly encoding: string | undefined;
    /** Further settings, such as headers and credentials. */
    readonly access: Readonly<Record<string, unknown>>;
  };
  readonly proposal: Proposal;
}

/** Longer lists of paths would hide the settings. */
const NAMED_PATHS = 40;

export function writeConfig({ heading, site, feed, proposal }: ConfigParts): string {
  const lines = [
    ...heading.map((line) => `# ${oneLineOf(line)}`),
    '',
    'sites:',
    `  ${site.name}:`,
    `    base_url: ${inline(site.baseUrl)}`,
    ...tokenLines(site),
    `    ${fillsNumber(proposal) ? '' : '# '}reference_field: number # with list_path: finds the jobs of creates whose outcome is not known`,
    site.listPath === undefined
      ? "    # list_path: /jobs.xml # the site's list of your jobs, if it has one; prevents second jobs after lost responses"
      : `    list_path: ${inline(site.listPath)}`,
    '',
    'feeds:',
    `  ${feed.name}:`,
    ...feedLines({ site: site.name, feed, proposal }),
  ];
  return `${lines.join('\n')}\n`;
}

type FeedParts = Pick<ConfigParts, 'feed' | 'proposal'> & { readonly site: string };

/** The same feed alone, as a file that has its settings at the top level. */
export function writeFeed({ heading, ...parts }: FeedParts & Pick<ConfigParts, 'heading'>): string {
  const lines = feedLines(parts).map((line) => line.slice(INDENT.length));
  return `${[...heading.map((line) => `# ${oneLineOf(line)}`), ...lines].join('\n')}\n`;
}

const INDENT = '    ';

function feedLines({ site, feed, proposal }: FeedParts): string[] {
  const { preset } = proposal;
  const settings = {
    source: feed.source,
    ...feed.access,
    ...(feed.encoding === undefined ? {} : { encoding: feed.encoding }),
    ...(proposal.lenient ? { lenient: true } : {}),
  };
  return [
    ...entries(settings, INDENT),
    ...(preset === undefined
      ? []
      : [`    format: ${preset.name} # ${oneLineOf(preset.description ?? 'a preset')}; docs/formats.md describes it`]),
    `    site: ${site}`,
    ...scheduleLines(feed),
    ...proposal.notes.map((note) => `    # Note: ${oneLineOf(note)}`),
    ...(preset === undefined ? ownFormat(proposal) : presetFields(proposal)),
  ];
}

const scheduleLines = ({ schedule, timeZone }: ConfigParts['feed']): string[] =>
  schedule === undefined
    ? []
    : [
        `    schedule: ${JSON.stringify(schedule)} # minute hour day month weekday; for start`,
        `    time_zone: ${inline(timeZone)}`,
      ];

const fillsNumber = ({ fields, filled }: Proposal): boolean => 'number' in fields || filled.includes('number');

function tokenLines({ tokenFile, tokenVariable }: ConfigParts['site']): string[] {
  if (tokenFile !== undefined) return [`    token_file: ${inline(tokenFile)} # holds the API key of your account`];
  return [`    token: \${${tokenVariable}} # the API key of your account, from the environment`];
}

function ownFormat({ settings, key, fields, paths }: Proposal): string[] {
  return [
    '    format:',
    ...entries(settings, '      '),
    ...entries({ key: key ?? null }, '      ', { key: 'identifies a posting, and must never change' }),
    '      fields: # site field: where its value comes from',
    ...entries(fields, '        '),
    ...otherPaths(paths, usedPaths(fields)),
  ];
}

function presetFields({ key, fields, filled, paths }: Proposal): string[] {
  const own = [
    ...(key === undefined ? [] : entries({ key }, '    ')),
    ...(Object.keys(fields).length === 0 ? [] : ['    fields: # on top of the preset', ...entries(fields, '      ')]),
  ];
  return [...own, ...wrapped(`The preset fills: ${filled.join(', ')}.`), ...otherPaths(paths, new Set())];
}

/** Other values of the records, for whoever extends the fields. */
function otherPaths(paths: readonly string[], used: ReadonlySet<string>): string[] {
  const free = paths.filter((path) => !used.has(path)).slice(0, NAMED_PATHS);
  return free.length === 0 ? [] : wrapped(`Paths in the records: ${free.join(', ')}`);
}

function usedPaths(fields: Readonly<Record<string, ProposedRule>>): ReadonlySet<string> {
  const rules = Object.values(fields).flatMap((rule) => (typeof rule === 'string' ? { from: rule } : rule));
  const inTemplates = rules.flatMap(({ template = '' }) => [...String(template).matchAll(/\{([^{}]*)\}/g)]);
  return new Set([...rules.map(({ from }) => String(from)), ...inTemplates.map(([, path = '']) => path)]);
}

/** A comment of several lines. Feeds decide on the names in it. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '    #';
  for (const word of oneLineOf(text).split(' ')) {
    if (line.length + word.length > 118) {
      lines.push(line);
      line = '    #  ';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

const oneLineOf = (text: string): string => text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();

function entries(
  settings: Readonly<Record<string, unknown>>,
  indent: string,
  comments: Readonly<Record<string, string>> = {},
): string[] {
  return Object.entries(settings).map(([name, value]) => {
    const comment = comments[name] === undefined ? '' : ` # ${comments[name]}`;
    return `${indent}${inline(name)}: ${inline(value)}${comment}`;
  });
}

/** A value on one line; `${NAME}` must be in quotes inside braces. */
const inline = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0, doubleQuotedMinMultiLineLength: 1_000_000 }).trim();

// Adds a proposed feed to a configuration that exists, and keeps everything else in it, comments included.

/** A configuration file as it is. */
export interface ExistingConfig {
  readonly text: string;
  /** Name → address, of its sites. */
  readonly sites: ReadonlyMap<string, string>;
  readonly feeds: readonly string[];
}

/** `undefined`: it is no YAML with settings. */
export function readExisting(text: string): ExistingConfig | undefined {
  const document = parsed(text);
  if (document === undefined) return undefined;
  const sites = entriesOf(document, 'sites').map(
    ([name, value]) => [name, isMap(value) ? String(value.get('base_url') ?? '') : ''] as const,
  );
  return { text, sites: new Map(sites), feeds: entriesOf(document, 'feeds').map(([name]) => name) };
}

/** @param written a whole configuration with the feed and its site, of which those that the text lacks are added. */
export function addToConfig({ text }: ExistingConfig, written: string): string {
  const document = parsed(text);
  const added = parseDocument(written);
  if (document === undefined) throw new Error('a configuration that was read is not valid');
  for (const group of ['sites', 'feeds']) {
    const known = new Set(entriesOf(document, group).map(([name]) => name));
    for (const pair of pairsOf(added, group)) {
      if (known.has(nameOf(pair))) continue;
      const map = document.get(group);
      if (isMap(map)) {
        // Comments have no place in `{}`.
        if (map.items.length === 0) map.flow = false;
        map.items.push(pair as (typeof map.items)[number]);
      } else {
        document.set(group, mapOf(added, pair));
      }
    }
  }
  return document.toString({ lineWidth: 0 });
}

function mapOf(document: Document, pair: Pair): YAMLMap {
  const map = document.createNode({}) as YAMLMap;
  map.flow = false;
  map.items.push(pair);
  return map;
}

function parsed(text: string): Document.Parsed | undefined {
  const document = parseDocument(quoteStandardInput(text));
  return document.errors.length === 0 && isMap(document.contents) ? document : undefined;
}

function pairsOf(document: Document, group: string): readonly Pair[] {
  const map = document.get(group);
  return isMap(map) ? (map.items as Pair[]) : [];
}

const entriesOf = (document: Document, group: string): readonly (readonly [string, unknown])[] =>
  pairsOf(document, group).map((pair) => [nameOf(pair), pair.value] as const);

const nameOf = ({ key }: Pair): string => String(isScalar(key) ? key.value : key);

/** Parts of addresses that say nothing about whose feed it is. */
const USUAL =
  /^(?:www|api|apis|boards?|boards-api|jobs?|careers?|karriere|feeds?|ats|app|apply|public|xml|json|rss|data|v\d+|com|org|net|io|co|list|postings|positions|api-gateway|index|export|wday|cxs|en|us|en-us)$/i;

export function proposeFeedName(address: string): string {
  if (!/^https?:/i.test(address) || !URL.canParse(address))
    return named(basename(address).replace(/(?:\.\w{1,5})+$/, ''));
  const { hostname, pathname } = new URL(address);
  // The customer of a shared host is in the path, or in front of the host's own name.
  const hostParts = hostname.split('.');
  const ownHost = hostParts.length > 2 ? hostParts.slice(0, -2).filter((part) => !USUAL.test(part)) : [];
  const pathParts = pathname
    .split('/')
    .map((part) => part.replace(/\.(?:xml|json|rss|csv|tsv|html?|gz|zip)$/i, ''))
    .filter((part) => part !== '' && !USUAL.test(part) && !/^\d+$/.test(part));
  // A number, or a machine's own name, says nothing.
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || hostParts.length === 1) return named(pathParts.at(-1) ?? '');
  return named(ownHost[0] ?? (SHARED_HOSTS.test(hostname) ? pathParts[0] : undefined) ?? hostParts.at(-2) ?? hostname);
}

/** Hosts of many employers. */
const SHARED_HOSTS =
  /(?:greenhouse\.io|lever\.co|ashbyhq\.com|smartrecruiters\.com|workable\.com|recruitee\.com|rippling\.com|comeet\.co|personio\.(?:de|com))$/i;

/** A name that the configuration accepts. */
function named(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, 40);
  return name === '' ? 'feed' : name;
}
