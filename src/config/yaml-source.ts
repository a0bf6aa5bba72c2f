// Turns the text of a YAML file into plain data whose every setting can be found again by line and column.
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

/** The way to a setting: names of settings and places in lists. */
export type SettingPath = readonly PropertyKey[];

export interface YamlSource {
  readonly document: Document.Parsed<ParsedNode>;
  /** A complaint about a setting, with its place; `name` points at the setting's name instead of its value. */
  complain(path: SettingPath, message: string, at?: 'name' | 'value'): Complaint;
}

/** Aliases may repeat this many nodes in all: enough for sharing settings, too few for a "billion laughs". */
const MAX_ALIASES = 100;

/** `source: -` for standard input, as on many command lines: to YAML an entry of a list begins there. */
const STANDARD_INPUT = /^([ \t]*source:[ \t]+)-([ \t]*(?:#.*)?)$/gm;

/** Parses YAML 1.2. Throws a {@link ConfigError} with every mistake of form; names given twice are one. */
export function parseYaml(file: string, text: string): YamlSource {
  const lines = new LineCounter();
  // Without pretty errors, which quote the line: a token may stand there.
  const document = parseDocument(text.replace(STANDARD_INPUT, "$1'-'$2"), {
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
    // `{ port: ${PORT} }`: the brace of the variable begins a map to YAML.
    message: text.startsWith(`\${`, offset - 1)
      ? `not valid YAML: inside { } and [ ] a variable needs quotes: "\${NAME}"`
      : `not valid YAML: ${message}`,
  }));
  visit(document, {
    Pair(_index, { key }) {
      // Some of what handles plain objects would take it for something else than a setting.
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

/** After the first mistake of form the parser stumbles over all that follows it; names given twice stand for themselves. */
function ownMistakes(errors: readonly YAMLError[]): readonly YAMLError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  return errors.filter((error) => error === first || error.code === 'DUPLICATE_KEY');
}

/** The document as plain data. Throws a {@link ConfigError} where aliases repeat too much. */
export function toData(source: YamlSource): unknown {
  try {
    return source.document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError([source.complain([], `the aliases (*name) can't be followed: ${why}`)]);
  }
}

/** Whether settings are shared: then what is wrong with one of them is said of its first place alone. */
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

/** Calls back for every text value, with the way to it. Texts that are repeated through aliases come once. */
export function visitTexts(source: YamlSource, take: (text: TextNode) => void): void {
  visit(source.document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || typeof node.value !== 'string') return;
      const path = ancestors.flatMap((ancestor, index) => stepInto(ancestor, ancestors[index + 1] ?? node));
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

/** Where a setting stands; where it does not exist, what it would stand in. */
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
