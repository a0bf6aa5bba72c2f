// Names documents that no format reads for what they are, with what to do about them, and finds the feeds that an HTML
// page names for programs.
import { isJsonObject, jsonLists } from './find-lists.ts';

/** What a document is instead of JSON; `undefined`: nothing that is known. @param text its beginning. */
export function namedScript(text: string): string | undefined {
  const [, name] =
    /^\s*(?:\/\*.*?\*\/\s*)?(?:typeof\s+[\w$.]+[^;]{0,80}&&\s*)?([A-Za-z_$][\w$.]*)\s*\(\s*[[{]/.exec(text) ?? [];
  if (name !== undefined) {
    return `it is JSONP, JSON in a call of ${name}; ask for plain JSON, usually by leaving the parameter callback out of the address, or remove ${name}( and the last ) from the file`;
  }
  const [, variable] = /^\s*(?:(?:var|let|const)\s+)?([A-Za-z_$][\w$.]*)\s*=\s*[[{]/.exec(text) ?? [];
  if (variable === undefined) return undefined;
  return `it is a script that assigns JSON to ${variable}; ask for plain JSON, or remove ${variable} = from the file`;
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
