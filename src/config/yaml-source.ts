// Parses YAML into plain data, and finds the line and column of every setting, also where feeds have files of their own.
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  type Range,
  visit,
  type YAMLError,
} from 'yaml';
import { type Complaint, ConfigError } from './config-error.ts';

/** The path to a setting: setting names and list indexes. */
export type SettingPath = readonly PropertyKey[];

export interface YamlSource {
  readonly document: Document.Parsed<ParsedNode>;
  /** Feeds whose settings are in files of their own, by name. */
  readonly feedFiles?: ReadonlyMap<string, FeedFileSource>;
  /** A complaint about a setting, with its location; `name` points at the setting's name instead of its value. */
  complain(path: SettingPath, message: string, at?: 'name' | 'value'): Complaint;
}

/** A feed's file: its settings stand at the top level. `unreadable`: it is not YAML, or can't be read. */
export type FeedFileSource = YamlSource | { readonly unreadable: readonly Complaint[] };

/** Aliases may repeat this many nodes in total: enough to share settings, too few for a "billion laughs" attack. */
const MAX_ALIASES = 100;

/** `source: -` means standard input. Quote the dash, because YAML would start a list entry there. */
const STANDARD_INPUT = /^([ \t]*source:[ \t]+)-([ \t]*(?:#.*)?)$/gm;

export const quoteStandardInput = (text: string): string => text.replace(STANDARD_INPUT, "$1'-'$2");

/** Parses YAML 1.2. Throws a {@link ConfigError} with every syntax error; a repeated name is one too. */
export function parseYaml(file: string, text: string): YamlSource {
  const lines = new LineCounter();
  // No pretty errors: they quote the line, which may hold a token.
  const document = parseDocument(quoteStandardInput(text), {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
  });
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const mistakes = ownMistakes([...document.errors, ...document.warnings]).map(({ pos: [offset], message }) => ({
    ...place(offset),
    setting: '',
    // In `{ port: ${PORT} }`, YAML takes the variable's brace for the start of a map.
    message: text.startsWith(`\${`, offset - 1)
      ? `not valid YAML: inside { } and [ ] a variable needs quotes: "\${NAME}"`
      : `not valid YAML: ${message}`,
  }));
  visit(document, {
    Pair(_index, { key }) {
      // Code that handles plain objects might treat it as the prototype instead of a setting.
      if (!isScalar(key) || key.value !== '__proto__') return;
      mistakes.push({ ...place(key.range?.[0] ?? 0), setting: '', message: 'no setting can have the name __proto__' });
    },
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return {
    document,
    complain(path, message, at = 'value') {
      const range = findRange(document, path, at);
      const setting = path.map(String).join('.');
      return range === undefined ? { file, setting, message } : { ...place(range[0]), setting, message };
    },
  };
}

/** Keeps the first syntax error, as later ones are usually its consequences, and all repeated names. */
function ownMistakes(errors: readonly YAMLError[]): readonly YAMLError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  return errors.filter((error) => error === first || error.code === 'DUPLICATE_KEY');
}

/** The main file with feeds that have files of their own, each of which replaces a feed of that name in the main file. */
export function withFeedFiles(main: YamlSource, feedFiles: ReadonlyMap<string, FeedFileSource>): YamlSource {
  return {
    document: main.document,
    feedFiles,
    complain(path, message, at) {
      const [group, name, ...rest] = path;
      const own = group === 'feeds' ? readable(feedFiles.get(String(name))) : undefined;
      if (own === undefined) return main.complain(path, message, at);
      return { ...own.complain(rest, message, at), setting: path.map(String).join('.') };
    },
  };
}

const readable = (source: FeedFileSource | undefined): YamlSource | undefined =>
  source === undefined || 'unreadable' in source ? undefined : source;

/** The documents as plain data. Throws a {@link ConfigError} if aliases repeat too many nodes. */
export function toData(source: YamlSource): unknown {
  const main = documentData(source);
  if (source.feedFiles === undefined || !isGroup(main)) return main;
  const own = [...source.feedFiles].map(([name, file]) => {
    const written = readable(file);
    return [name, written === undefined ? null : documentData(written)] as const;
  });
  return { ...main, feeds: { ...(isGroup(main.feeds) ? main.feeds : {}), ...Object.fromEntries(own) } };
}

const isGroup = (data: unknown): data is Readonly<Record<string, unknown>> =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

function documentData(source: YamlSource): unknown {
  try {
    return source.document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError([source.complain([], `the aliases (*name) can't be followed: ${why}`)]);
  }
}

/** Whether settings of the main file are shared through aliases: a complaint about one then names its first location only. */
export function sharesSettings(source: YamlSource): boolean {
  let shares = false;
  visit(source.document, {
    Alias() {
      shares = true;
      return visit.BREAK;
    },
  });
  return shares;
}

/** Calls back for every text value with its path. Texts repeated through aliases come once. */
export function visitTexts(source: YamlSource, take: (text: TextNode) => void): void {
  const { feedFiles = new Map<string, FeedFileSource>() } = source;
  visitDocument(source.document, [], (text) => {
    const [group, name] = text.path;
    if (group !== 'feeds' || !feedFiles.has(String(name))) take(text);
  });
  for (const [name, file] of feedFiles) {
    if ('document' in file) visitDocument(file.document, ['feeds', name], take);
  }
}

function visitDocument(document: Document.Parsed, above: SettingPath, take: (text: TextNode) => void): void {
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string') return;
      const inner = ancestors.flatMap((ancestor, index) => stepInto(ancestor, ancestors[index + 1] ?? node));
      const path = [...above, ...inner];
      const isPlain = node.type === 'PLAIN';
      const replace = (value: unknown) => {
        node.value = value;
      };
      take({ path, text: node.value, isPlain, replace });
    },
  });
}

export interface TextNode {
  readonly path: SettingPath;
  readonly text: string;
  /** Written without quotes. */
  readonly isPlain: boolean;
  replace(value: unknown): void;
}

function stepInto(ancestor: unknown, child: unknown): PropertyKey[] {
  if (isSeq(ancestor)) return [ancestor.items.indexOf(child)];
  if (isMap(ancestor)) {
    const pair = ancestor.items.find((item) => item === child);
    return pair === undefined ? [] : [isScalar(pair.key) ? String(pair.key.value) : String(pair.key)];
  }
  return [];
}

/** The location of a setting; if it does not exist, of the group that would contain it. */
function findRange(document: Document.Parsed, path: SettingPath, at: 'name' | 'value'): Range | undefined {
  let node: Node | null | undefined = document.contents;
  let range = node?.range;
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) break;
      const name = pair.key as Node;
      const isLast = index === path.length - 1;
      node = pair.value as Node | null;
      range = (isLast && at === 'name' ? undefined : node?.range) ?? name.range;
    } else if (isSeq(node)) {
      node = node.items[Number(step)] as Node | undefined;
      range = node?.range ?? range;
    } else break;
  }
  return range ?? undefined;
}
