// Finds where the records of an XML or JSON document are: elements that repeat, lists of objects.

export interface RecordList {
  /** The records path of a format; empty: the document itself is the list. */
  readonly path: string;
  readonly records: number;
}

const MAX_DEPTH = 10;
/** What one record is called, for documents that have only one. */
const RECORD_NAMES =
  /^(?:job|jobs?posting|posting|position|positionopening|vacancy|vacature|offer|opening|opportunity|requisition|item|entry|ad|listing|record|row|stelle|stellenangebot|emploi|empleo|oferta|vaga|anuncio)s?$/i;

interface XmlElement {
  count: number;
  /** Bytes of all of them together. */
  bytes: number;
  /** Names of its children, and of its attributes with `@`. */
  readonly children: Set<string>;
}

const MARKUP =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<!\w[^>]*>|<(\/?)([\p{L}_][^\s/>]*)((?:"[^"]*"|'[^']*'|[^>"'])*?)(\/?)>/gu;

/** The elements that may be records, the likeliest first. The end of the document may be missing. */
export function xmlLists(text: string): readonly RecordList[] {
  const elements = new Map<string, XmlElement>();
  const open: { readonly path: string; readonly from: number }[] = [];
  const elementAt = (path: string): XmlElement => {
    const known = elements.get(path) ?? { count: 0, bytes: 0, children: new Set<string>() };
    elements.set(path, known);
    return known;
  };
  for (const { index, 0: whole, 1: slash, 2: name = '', 3: attributes = '', 4: end } of text.matchAll(MARKUP)) {
    if (name === '') continue;
    if (slash === '/') {
      const closed = open.pop();
      if (closed !== undefined) elementAt(closed.path).bytes += index + whole.length - closed.from;
      continue;
    }
    const parent = open.at(-1)?.path;
    const local = name.slice(name.indexOf(':') + 1);
    const path = parent === undefined ? local : `${parent}/${local}`;
    if (open.length < MAX_DEPTH) {
      const element = elementAt(path);
      element.count++;
      for (const [, attribute] of attributes.matchAll(ATTRIBUTE)) element.children.add(`@${attribute}`);
      if (parent !== undefined) elementAt(parent).children.add(local);
    }
    if (end !== '/') open.push({ path, from: index });
  }
  // Elements with a single kind of child, which repeats, may be records made of `<param name="title">`, but not of records.
  const candidates = [...elements].filter(
    ([path, { count, children }]) =>
      path.includes('/') &&
      (children.size > 1 ||
        (children.size === 1 && count > 1 && isNamedAsRecord(path) && ![...children].some(isNamedAsRecord))),
  );
  return candidates
    .map(([path, element]) => ({ path, records: element.count, score: scoreOf(path, element, text.length) }))
    .sort((a, b) => b.score - a.score)
    .map(({ path, records }) => ({ path, records }));
}

const ATTRIBUTE = /([^\s=/"']+)\s*=\s*(?:"[^"]*"|'[^']*')/g;

const isNamedAsRecord = (path: string): boolean => RECORD_NAMES.test(path.split('/').at(-1) ?? '');

/** Records make up most of the document, and are not deep in it. */
function scoreOf(path: string, { count, bytes, children }: XmlElement, length: number): number {
  const names = path.split('/');
  return (
    (bytes / length) * 4 +
    (count > 1 ? 2 : 0) +
    (isNamedAsRecord(path) ? 2 : 0) +
    Math.min(children.size, 10) / 10 -
    names.length * 0.75
  );
}

/** The lists of objects in a JSON value, the likeliest first. */
export function jsonLists(value: unknown): readonly RecordList[] {
  const lists: Scored[] = [];
  collect(value, [], lists);
  return lists.sort((a, b) => b.score - a.score).map(({ path, records }) => ({ path, records }));
}

type Scored = RecordList & { readonly score: number };

function collect(value: unknown, names: readonly string[], lists: Scored[]): void {
  if (names.length > MAX_DEPTH) return;
  const list = Array.isArray(value) ? value : numberedList(value);
  if (list !== undefined) {
    const objects = list.filter(isJsonObject);
    if (objects.length === 0) return;
    const keys = new Set(objects.slice(0, 20).flatMap((object) => Object.keys(object)));
    const isNamed = RECORD_NAMES.test(names.at(-1) ?? '');
    const score = Math.min(keys.size, 12) / 3 + Math.log2(objects.length + 1) + (isNamed ? 2 : 0) - names.length * 1.5;
    lists.push({ path: names.join('/'), records: objects.length, score });
    // Lists within its records would be lists of their parts, unless it is a list of groups: `[{ "department": "…", "jobs": […] }]`.
    if (objects.length === 1) collect(objects[0], names, lists);
    else if (!isNamed)
      for (const name of keys) if (RECORD_NAMES.test(name)) collectGroups(objects, [...names, name], lists);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [name, child] of Object.entries(value)) {
    if (!/[\s./@[\]]/.test(name) && name !== '') collect(child, [...names, name], lists);
  }
}

/** A list that each group has, as one list. */
function collectGroups(
  groups: readonly Readonly<Record<string, unknown>>[],
  names: readonly string[],
  lists: Scored[],
): void {
  const name = names.at(-1) ?? '';
  if (/[\s./@[\]]/.test(name) || !groups.every((group) => Array.isArray(group[name]))) return;
  collect(
    groups.flatMap((group) => group[name] as unknown[]),
    names,
    lists,
  );
}

/** The members of an object that PHP made of a list: its names are indexes, as the splitter of JSON reads them. */
function numberedList(value: unknown): readonly unknown[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value);
  const isList = entries.length > 0 && entries.every(([name, each]) => /^\d{1,20}$/.test(name) && isJsonObject(each));
  return isList ? entries.map(([, each]) => each) : undefined;
}

export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
