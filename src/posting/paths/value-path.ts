// Parses field paths such as `jobDescriptions/jobDescription[name=Tasks]/value`, finds the texts at them in a record,
// and leaves out or sorts what is at one.
import { type NameReader, nameOf, TAKES_EVERY_NAME } from '../id-and-name.ts';
import { type MarkupForm, renderMarkup } from '../markup.ts';
import type { RecordTree } from '../posting.ts';

/** A parsed path: every step goes one level down. */
export type ValuePath = readonly Step[];

interface Step {
  /** An element's name, an attribute's name with its `@`, or `*` for any element. */
  readonly name: string;
  /** All must hold: one of the texts at `path`, relative to the element, equals `value`. */
  readonly conditions: readonly { readonly path: ValuePath; readonly value: string }[];
}

/** An invalid path or template. The message says what is wrong and shows a valid form. */
export class MalformedPathError extends Error {
  override readonly name = 'MalformedPathError';
}

const NAME = /(\*|@?[^/[\]@*={}'"]+)|'([^']+)'|"([^"]+)"/y;
const CONDITION = /\[\s*([^=[\]'"]+?)\s*=\s*(?:'([^']*)'|"([^"]*)"|([^'"\]]*))\s*\]/y;

/**
 * Parses `a/b` (elements), `@id` and `a/@id` (attributes, last step only), `*` (any element), names in quotes, which may
 * contain any of these characters, and conditions on a step, `a[b=text]`, `a[@type='text']`. A name without a prefix matches any prefix. Throws {@link MalformedPathError}.
 */
export function parseValuePath(source: string): ValuePath {
  const malformed = (why: string) =>
    new MalformedPathError(
      `the path "${source}" ${why}; a path looks like title, location/city, @id or item[name=Tasks]/value`,
    );
  const steps: Step[] = [];
  let at = 0;
  let isAttribute = false;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match !== null) at = pattern.lastIndex;
    return match ?? undefined;
  };
  do {
    if (isAttribute) throw malformed('continues after an attribute, which has no children');
    const [, plain, single, double] = take(NAME) ?? [];
    const name = single ?? double ?? plain?.trim();
    isAttribute = plain?.startsWith('@') === true;
    if (name === undefined || name === '' || name === '@') throw malformed(`has no name at character ${at + 1}`);
    const conditions: Step['conditions'][number][] = [];
    for (let match = take(CONDITION); match !== undefined; match = take(CONDITION)) {
      const [, path = '', inSingle, inDouble, bare = ''] = match;
      conditions.push({ path: parseValuePath(path), value: inSingle ?? inDouble ?? bare.trim() });
    }
    steps.push({ name, conditions });
  } while (source[at++] === '/');
  if (at <= source.length) throw malformed(`has a syntax error at character ${at}`);
  return steps;
}

/**
 * The texts at a path, untrimmed and in document order. Elements with child elements are rendered in the given form.
 *
 * @param names how lists of an id and a name are read; by default both are texts.
 */
export function textsAt(
  path: ValuePath,
  record: RecordTree,
  form: MarkupForm = 'plain',
  names?: NameReader,
): readonly string[] {
  return textsBelow(path, 0, record, form, names);
}

const NO_TEXTS: readonly string[] = [];

/** @param depth how many steps of the path led to `tree`. */
function textsBelow(
  path: ValuePath,
  depth: number,
  tree: RecordTree,
  form: MarkupForm,
  names: NameReader | undefined,
): readonly string[] {
  if (isTreeList(tree)) {
    const isNamed = path[depth] === undefined && names?.takes(path[depth - 1]?.name ?? '') === true;
    return flatten(tree, isNamed ? names : undefined).flatMap((part) => textsBelow(path, depth, part, form, names));
  }
  if (path[depth - 1]?.conditions.some((condition) => !holds(condition, tree))) return NO_TEXTS;
  const step = path[depth];
  if (step === undefined) {
    const text = textOf(tree, form);
    return text === undefined ? NO_TEXTS : [text];
  }
  if (typeof tree === 'string') return NO_TEXTS;
  // Fast path for nearly all fields. Own names only: `constructor` in a path must not find anything inherited.
  const child = Object.hasOwn(tree, step.name) ? tree[step.name] : undefined;
  if (child !== undefined) return textsBelow(path, depth + 1, child, form, names);
  let texts: string[] | undefined;
  for (const key of Object.keys(tree)) {
    if (!(step.name === '*' ? isElementName(key) : isPrefixed(key, step.name))) continue;
    texts ??= [];
    for (const text of textsBelow(path, depth + 1, tree[key] ?? '', form, names)) texts.push(text);
  }
  return texts ?? NO_TEXTS;
}

/** The elements at a path, in document order. Lists on the way are passed through; of an id and a name, the name counts. */
export function elementsAt(path: ValuePath, record: RecordTree): readonly RecordTree[] {
  let found: readonly RecordTree[] = elementsOf(record);
  for (const step of path) {
    found = found.flatMap((tree) => childrenOf(tree, step.name));
    if (step.conditions.length > 0) found = found.filter((tree) => holdsConditions(step, tree));
  }
  return found;
}

/** Whether everything at `inner` is certainly at `outer`, or within it. */
export const covers = (outer: ValuePath, inner: ValuePath): boolean =>
  outer.length <= inner.length &&
  outer.every(({ name, conditions }, at) => {
    const step = inner[at];
    const isName = name === step?.name || (name === '*' && step?.name.startsWith('@') === false);
    return isName && (conditions.length === 0 || JSON.stringify(conditions) === JSON.stringify(step?.conditions));
  });

const elementsOf = (tree: RecordTree): readonly RecordTree[] =>
  isTreeList(tree) ? flatten(tree, TAKES_EVERY_NAME) : [tree];

function childrenOf(tree: RecordTree, name: string): readonly RecordTree[] {
  if (typeof tree === 'string' || isTreeList(tree)) return [];
  return namesAt(tree, name).flatMap((key) => elementsOf(tree[key] ?? ''));
}

/** The names of an element's children that a step of a path with this name leads to. */
export function namesAt(tree: { readonly [name: string]: RecordTree }, name: string): readonly string[] {
  if (Object.hasOwn(tree, name)) return [name];
  return Object.keys(tree).filter((key) => (name === '*' ? isElementName(key) : isPrefixed(key, name)));
}

/** Whether all conditions of a step hold for an element that it leads to. */
export const holdsConditions = (step: Step | undefined, tree: RecordTree): boolean =>
  step === undefined || step.conditions.every((condition) => holds(condition, tree));

const holds = ({ path, value }: Step['conditions'][number], tree: RecordTree): boolean =>
  textsAt(path, tree).some((text) => text.trim() === value);

export const isTreeList = (tree: RecordTree): tree is readonly RecordTree[] => Array.isArray(tree);

/**
 * Flattens repeated elements with an explicit stack, because a JSON feed may nest lists arbitrarily deep.
 * @param names of lists of an id and a name, only the name counts.
 */
function flatten(tree: readonly RecordTree[], names: NameReader | undefined): RecordTree[] {
  const flat: RecordTree[] = [];
  const waiting: RecordTree[] = [tree];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const name = names !== undefined && isTreeList(next) ? nameOf(next) : undefined;
    if (name !== undefined) {
      flat.push(name);
      names?.taken?.();
    } else if (!isTreeList(next)) flat.push(next);
    else for (let index = next.length - 1; index >= 0; index -= 1) waiting.push(next[index] ?? '');
  }
  return flat;
}

const isElementName = (key: string): boolean => !key.startsWith('@') && !key.startsWith('#');

/** Whether `key` is `name` with a prefix: `joblisting:state` for `state`, `@xml:lang` for `@lang`. */
function isPrefixed(key: string, name: string): boolean {
  const colon = key.indexOf(':');
  if (colon < 1) return false;
  return name.startsWith('@')
    ? key.startsWith('@') && key.slice(colon + 1) === name.slice(1)
    : !key.startsWith('@') && key.slice(colon + 1) === name;
}

function textOf(tree: RecordTree, form: MarkupForm): string | undefined {
  if (typeof tree === 'string') return tree;
  if (isTreeList(tree)) return undefined;
  const markup = ownText(tree, '#markup');
  return markup === undefined ? ownText(tree, '#text') : renderMarkup(markup, form);
}

function ownText(tree: { readonly [name: string]: RecordTree }, name: string): string | undefined {
  const text = Object.hasOwn(tree, name) ? tree[name] : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** The record without what is at a path: exactly what `elementsAt` finds there. */
export function withoutPath(tree: RecordTree, path: ValuePath): RecordTree {
  const [step, ...rest] = path;
  if (step === undefined || typeof tree === 'string') return tree;
  if (isTreeList(tree)) return tree.map((each) => withoutPath(each, path));
  const names = new Set(namesAt(tree, step.name));
  /** What remains of a child: nothing or one, or fewer elements of a list. */
  const left = (child: RecordTree): readonly RecordTree[] => {
    if (isTreeList(child)) return [child.flatMap(left)];
    if (!holdsConditions(step, child)) return [child];
    return rest.length === 0 ? [] : [withoutPath(child, rest)];
  };
  const parts = Object.entries(tree).flatMap(([name, child]) => {
    if (!names.has(name)) return [[name, child] as const];
    return left(child).map((remaining) => [name, remaining] as const);
  });
  return Object.fromEntries(parts);
}

/** The record with the lists at these paths in an order that depends only on what is in them: inner lists are sorted first. */
export const withSorted = (tree: RecordTree, paths: readonly ValuePath[]): RecordTree =>
  paths.toSorted((a, b) => b.length - a.length).reduce(sortedAt, tree);

function sortedAt(tree: RecordTree, path: ValuePath): RecordTree {
  if (typeof tree === 'string') return tree;
  if (isTreeList(tree)) {
    // A list within a list may be an id and a name.
    const parts = tree.map((each) => (isTreeList(each) ? each : sortedAt(each, path)));
    if (path.length > 0) return parts;
    const named = parts.map((part) => ({ part, text: JSON.stringify(part) }));
    return named.sort((a, b) => (a.text < b.text ? -1 : 1)).map(({ part }) => part);
  }
  const [step, ...rest] = path;
  if (step === undefined) return tree;
  const names = new Set(namesAt(tree, step.name));
  return Object.fromEntries(
    Object.entries(tree).map(([name, child]) => [name, names.has(name) ? sortedAt(child, rest) : child]),
  );
}
