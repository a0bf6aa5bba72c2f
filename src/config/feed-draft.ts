// Changes single settings in the text of a feed as a person would: what is not changed stays as it is written, comments included.
import { type Document, isMap, isNode, isSeq, type Node, parseDocument, stringify, type YAMLMap } from 'yaml';
import { quoteStandardInput } from './yaml-source.ts';

/** What a form can say of the value of a site's field. Anything else is kept as it is written. */
export type FieldChoice =
  /** What the format says, or nothing. */
  | { readonly kind: 'format' }
  /** Nothing, although the format says something. */
  | { readonly kind: 'none' }
  | ({ readonly kind: 'path' | 'template'; readonly text: string } & FieldStepChoice)
  /** The same for every posting. */
  | { readonly kind: 'value'; readonly text: string }
  /** More than a form can say. */
  | { readonly kind: 'written' };

export interface FieldStepChoice {
  readonly step: StepName;
  /** With the step `table`: the feed's texts and the site's. */
  readonly table?: Readonly<Record<string, string>>;
  /** If the record has no value, or the table no entry. */
  readonly otherwise?: string;
}

/** Each is a transform of that name, unless it is one of the last four. */
export const DRAFT_STEPS = {
  none: 'as it is',
  text: 'HTML to plain text',
  html: 'escaped HTML to HTML',
  first_line: 'the first line',
  upper: 'to upper case',
  lower: 'to lower case',
  us_state: 'a U.S. state in any spelling',
  date: 'a date, year first',
  date_mdy: 'a date, month first: 4/8/2012 is 8 April',
  date_dmy: 'a date, day first: 4.8.2012 is 4 August',
  number: 'a number or an amount',
  number_point: 'a number with a decimal point',
  number_comma: 'a number with a decimal comma',
  url: 'a web address',
  email: 'an e-mail address',
  city: 'the city of a U.S. place',
  state: 'the state of a U.S. place',
  table: 'a look-up table',
} as const;

export type StepName = keyof typeof DRAFT_STEPS;

type Settings = Readonly<Record<string, unknown>>;

/** The text as data; empty if it is no YAML with settings. */
export function settingsOfDraft(text: string): Settings {
  return parsed(text)?.settings ?? {};
}

/** What the text says of a field; a format that is written in it counts. */
export function fieldChoiceOf(text: string, field: string): FieldChoice {
  const settings = settingsOfDraft(text);
  const own = fieldsIn(settings);
  if (Object.hasOwn(own, field)) return choiceOf(own[field]);
  const format = fieldsIn(settings.format);
  return Object.hasOwn(format, field) ? choiceOf(format[field]) : { kind: 'format' };
}

/** The names of the fields that the text itself says something of. */
export function fieldsOfDraft(text: string): readonly string[] {
  const settings = settingsOfDraft(text);
  return [...new Set([...Object.keys(fieldsIn(settings.format)), ...Object.keys(fieldsIn(settings))])];
}

const fieldsIn = (group: unknown): Settings => {
  const fields: unknown = typeof group === 'object' && group !== null ? (group as Settings).fields : undefined;
  return typeof fields === 'object' && fields !== null ? (fields as Settings) : {};
};

function choiceOf(rule: unknown): FieldChoice {
  if (rule === null) return { kind: 'none' };
  if (typeof rule === 'string') return { kind: 'path', text: rule, step: 'none' };
  if (typeof rule !== 'object' || Array.isArray(rule)) return { kind: 'written' };
  const { from, template, value, default: otherwise, ...steps } = rule as Settings;
  if (typeof value === 'string' && Object.keys(rule as object).length === 1) return { kind: 'value', text: value };
  const step = stepOf(steps);
  const source = typeof from === 'string' && template === undefined ? from : template;
  if (step === undefined || typeof source !== 'string' || (from !== undefined && template !== undefined)) {
    return { kind: 'written' };
  }
  if (otherwise !== undefined && typeof otherwise !== 'string') return { kind: 'written' };
  const kind = from === undefined ? 'template' : 'path';
  return { kind, text: source, ...step, ...(otherwise === undefined ? {} : { otherwise }) };
}

/** `undefined`: more than a form can say. */
function stepOf({ as, us_place: part, map, otherwise, ...others }: Settings): FieldStepChoice | undefined {
  if (Object.keys(others).length > 0 || [as, part, map].filter((each) => each !== undefined).length > 1)
    return undefined;
  if (part === 'city' && (otherwise === undefined || otherwise === 'default')) return { step: 'city' };
  if (otherwise !== undefined) return undefined;
  if (part === 'state') return { step: 'state' };
  if (part !== undefined) return undefined;
  if (map !== undefined) return isTable(map) ? { step: 'table', table: map } : undefined;
  const name = Array.isArray(as) && as.length === 1 ? as[0] : as;
  if (name === undefined) return { step: 'none' };
  return typeof name === 'string' && isTransform(name) ? { step: name } : undefined;
}

const NO_TRANSFORMS: readonly string[] = ['none', 'city', 'state', 'table'];
const isTransform = (name: string): name is StepName =>
  Object.hasOwn(DRAFT_STEPS, name) && !NO_TRANSFORMS.includes(name);

const isTable = (map: unknown): map is Readonly<Record<string, string>> =>
  typeof map === 'object' && map !== null && Object.values(map).every((text) => typeof text === 'string');

/** What the configuration would have for it. */
function ruleOf(choice: Extract<FieldChoice, { kind: 'path' | 'template' | 'value' }>): unknown {
  if (choice.kind === 'value') return { value: choice.text };
  const { kind, text, step, table, otherwise } = choice;
  if (kind === 'path' && step === 'none' && otherwise === undefined) return text;
  return {
    [kind === 'path' ? 'from' : 'template']: text,
    ...settingsOfStep(step, table),
    ...(otherwise === undefined ? {} : { default: otherwise }),
  };
}

function settingsOfStep(step: StepName, table: FieldStepChoice['table']): object {
  if (step === 'none') return {};
  if (step === 'city') return { us_place: 'city', otherwise: 'default' };
  if (step === 'state') return { us_place: 'state' };
  return step === 'table' ? { map: table ?? {} } : { as: step };
}

/** Settings of a feed at the top level that are set, or removed with `undefined`. */
export interface DraftEdit {
  readonly fields?: ReadonlyMap<string, FieldChoice>;
  readonly key?: readonly string[] | undefined;
  readonly settings?: Settings;
}

/** Changes only what differs from what the text says. A text that is no YAML with settings stays as it is. */
export function editDraft(text: string, { fields = new Map(), key, settings = {} }: DraftEdit): string {
  let edited = text;
  for (const [field, choice] of fields) {
    if (same(choice, fieldChoiceOf(edited, field)) || choice.kind === 'written') continue;
    edited = withField(edited, field, choice);
  }
  if (key !== undefined) {
    const now = settingsOfDraft(edited);
    const format = now.key === undefined && typeof now.format === 'object' ? (now.format as Settings) : undefined;
    const present = [(format ?? now).key ?? []].flat();
    const written = key.length === 1 ? key[0] : key;
    if (!same(key, present)) edited = withSetting(edited, format === undefined ? ['key'] : ['format', 'key'], written);
  }
  for (const [name, value] of Object.entries(settings)) {
    const former = settingsOfDraft(edited)[name];
    if (same(value, former)) continue;
    edited =
      hasOwnLines(edited, name) && isGroup(value)
        ? withMembers(edited, name, value)
        : withSetting(edited, [name], value);
  }
  return edited;
}

const isGroup = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the setting is a group whose members are on lines of their own, which may have comments. */
function hasOwnLines(text: string, name: string): boolean {
  const group: unknown = parsed(text)?.document.get(name, true);
  return isMap(group) && group.flow !== true;
}

function withMembers(text: string, name: string, members: Settings): string {
  const former = settingsOfDraft(text)[name] as Settings;
  return [...new Set([...Object.keys(former), ...Object.keys(members)])]
    .filter((member) => !same(members[member], former[member]))
    .reduce((edited, member) => withSetting(edited, [name, member], members[member]), text);
}

function withField(text: string, field: string, choice: Exclude<FieldChoice, { kind: 'written' }>): string {
  const { fields, format } = settingsOfDraft(text);
  const inFormat = typeof format === 'object' && format !== null;
  const isIn = (group: unknown) => Object.hasOwn(fieldsIn(group), field);
  if (choice.kind === 'format' || (choice.kind === 'none' && inFormat)) {
    const without = isIn({ fields }) ? withSetting(text, ['fields', field], undefined) : text;
    return isIn(format) ? withSetting(without, ['format', 'fields', field], undefined) : without;
  }
  const isOwn = inFormat && !isIn({ fields });
  return withSetting(
    text,
    [...(isOwn ? ['format'] : []), 'fields', field],
    choice.kind === 'none' ? null : ruleOf(choice),
  );
}

/** Changes nothing but the lines of the setting, where it or the one before it is on one line. `undefined` removes it. */
function withSetting(text: string, path: readonly string[], value: unknown): string {
  const { document } = parsed(text) ?? {};
  if (document === undefined) return text;
  const group: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const name = path.at(-1) ?? '';
  const former: unknown = document.getIn(path, true);
  const line = value === undefined ? '' : inLine(value);
  const range = isNode(former) ? former.range : undefined;
  if (isMap(group) && group.flow !== true && line !== undefined) {
    if (range && !text.slice(range[0], range[1]).includes('\n')) {
      if (value !== undefined) return text.slice(0, range[0]) + line + text.slice(range[1]);
      if (group.items.length > 1) return withoutLine(text, range[0]);
    }
    if (former === undefined && value !== undefined) {
      const after = endOf(group.items.at(-1), text);
      const indent = ' '.repeat(columnOf(group.items[0], text));
      if (after !== undefined)
        return `${text.slice(0, after)}\n${indent}${stringify(name).trim()}: ${line}${text.slice(after)}`;
    }
  }
  return inDocument(document, path, value);
}

/** `undefined`: it takes several lines. */
function inLine(value: unknown): string | undefined {
  const map: unknown = typeof value === 'object' && value !== null ? (value as Settings).map : undefined;
  if (isTable(map) && Object.keys(map).length > MOST_IN_A_LINE) return undefined;
  const line = stringify(value, { collectionStyle: 'flow', lineWidth: 0, doubleQuotedMinMultiLineLength: 1e6 }).trim();
  return line.includes('\n') ? undefined : line;
}

const withoutLine = (text: string, at: number): string => {
  const end = text.indexOf('\n', at);
  return text.slice(0, text.lastIndexOf('\n', at - 1) + 1) + (end === -1 ? '' : text.slice(end + 1));
};

type Item = YAMLMap['items'][number] | undefined;

/** The end of the line in which it ends. */
function endOf(item: Item, text: string): number | undefined {
  const last = isNode(item?.value) ? item.value : item?.key;
  const range = isNode(last) ? last.range : undefined;
  if (!range) return undefined;
  const at = text.indexOf('\n', Math.max(range[0], range[1] - 1));
  return at === -1 ? text.length : at;
}

function columnOf(item: Item, text: string): number {
  const start = isNode(item?.key) ? (item.key.range?.[0] ?? 0) : 0;
  return start - (text.lastIndexOf('\n', start - 1) + 1);
}

function inDocument(document: Document.Parsed, path: readonly string[], value: unknown): string {
  const groupPath = path.slice(0, -1);
  if (value === undefined) {
    document.deleteIn(path);
    const group: unknown = groupPath.length === 0 ? undefined : document.getIn(groupPath, true);
    if (isMap(group) && group.items.length === 0 && groupPath.length === 1) document.deleteIn(groupPath);
  } else {
    if (groupPath.length > 0 && !isMap(document.getIn(groupPath, true)))
      document.setIn(groupPath, document.createNode({}));
    const group: unknown = groupPath.length === 0 ? document.contents : document.getIn(groupPath, true);
    if (isMap(group)) group.flow = false;
    document.setIn(path, nodeOf(document, value));
  }
  return document.toString({ lineWidth: 0 });
}

/** Longer tables have a line for each entry. */
const MOST_IN_A_LINE = 4;

function nodeOf(document: Document.Parsed, value: unknown): Node {
  const node = document.createNode(value) as Node;
  const table = isMap(node) ? node.get('map', true) : undefined;
  const isLong = JSON.stringify(value ?? null).length > 160 || (isMap(table) && table.items.length > MOST_IN_A_LINE);
  if ((isMap(node) || isSeq(node)) && !isLong) node.flow = true;
  return node;
}

function parsed(text: string): { readonly document: Document.Parsed; readonly settings: Settings } | undefined {
  const document = parseDocument(quoteStandardInput(text), { prettyErrors: false });
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  try {
    return { document, settings: document.toJS({ maxAliasCount: 100 }) };
  } catch {
    // An alias leads nowhere, or they repeat too much: `*` begins one.
    return undefined;
  }
}

const same = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other);

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? '';
