// Makes the request of one page: parameters in the query, or a JSON body with placeholders.
import type { Paging } from './pages-config.ts';

export interface PageRequest {
  readonly url: URL;
  /** JSON, sent with POST. */
  readonly body?: string;
}

/** Where a page is: what its request carries. */
export type PagePosition =
  | { readonly kind: 'first' }
  | { readonly kind: 'address'; readonly url: URL }
  | { readonly kind: 'page' | 'offset'; readonly number: number }
  | { readonly kind: 'cursor'; readonly cursor: string };

export function pageRequest(start: URL, paging: Paging, position: PagePosition): PageRequest {
  const values = placeholdersOf(paging, position);
  const body = paging.body === undefined ? undefined : JSON.stringify(filled(paging.body, values));
  if (position.kind === 'address') return { url: position.url, body };
  const { by, parameter, size } = paging;
  let url = start;
  if (size?.parameter !== undefined) url = withParameter(url, size.parameter, `${size.value}`);
  const value = values[by];
  if (value !== undefined && !isInBody(paging.body, by)) url = withParameter(url, parameter, `${value}`);
  return { url, body };
}

type Placeholders = Readonly<Partial<Record<string, string | number>>>;

function placeholdersOf({ by, first, size }: Paging, position: PagePosition): Placeholders {
  const values = { size: size?.value };
  switch (position.kind) {
    case 'first':
      return by === 'page' || by === 'offset' ? { ...values, [by]: first } : values;
    case 'address':
      return values;
    case 'page':
    case 'offset':
      return { ...values, [position.kind]: position.number };
    case 'cursor':
      return { ...values, cursor: position.cursor };
    default:
      return position satisfies never;
  }
}

const PLACEHOLDER = /\{(page|offset|cursor|size)\}/g;

/** A text that is only a placeholder becomes its value; a member without a value, such as the first cursor, is left out. */
function filled(template: unknown, values: Placeholders): unknown {
  if (typeof template === 'string') {
    const [whole, name = ''] = /^\{(page|offset|cursor|size)\}$/.exec(template) ?? [];
    if (whole !== undefined) return values[name];
    return template.replace(PLACEHOLDER, (_, inner: string) => `${values[inner] ?? ''}`);
  }
  if (Array.isArray(template)) return template.map((each) => filled(each, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, filled(each, values)]));
}

const isInBody = (body: unknown, name: string): boolean =>
  body !== undefined && JSON.stringify(body).includes(`{${name}}`);

/** `finder:offset`: the parameter `offset` inside the text of `finder`, as in `finder=findReqs;siteNumber=CX_1,offset=25`. */
const INNER = /^([^:]+):([^:]+)$/;

/** The parameter that must be in the query, because another one stands inside its text; `undefined` for any other name. */
export const outerParameter = (name: string, query: URLSearchParams): string | undefined =>
  query.has(name) ? undefined : INNER.exec(name)?.[1];

/** Sets one parameter of the query and leaves the others as they are written. */
function withParameter(url: URL, name: string, value: string): URL {
  const outer = outerParameter(name, url.searchParams);
  if (outer !== undefined) return withInner(url, outer, INNER.exec(name)?.[2] ?? '', value);
  const changed = new URL(url);
  if (url.searchParams.has(name)) {
    changed.searchParams.set(name, value);
  } else {
    changed.search += `${url.search === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return changed;
}

function withInner(url: URL, outer: string, name: string, value: string): URL {
  const changed = new URL(url);
  const parts = url.search.slice(1).split('&');
  const at = parts.findIndex((part) => decoded(part.split('=', 1)[0] ?? '') === outer);
  const written = parts[at] ?? `${encodeURIComponent(outer)}=`;
  const start = written.indexOf('=') + 1;
  const text = decoded(written.slice(start));
  const own = new RegExp(`(^|[;,])${escapedForPattern(name)}=[^;,]*`);
  const set = own.test(text)
    ? text.replace(own, (_, before: string) => `${before}${name}=${value}`)
    : `${text}${text === '' ? '' : /[;=]/.test(text) ? ',' : ';'}${name}=${value}`;
  // Servers that read such texts may expect their separators as they are.
  const escaped = encodeURIComponent(set).replace(/%(?:3B|2C|3D)/g, decodeURIComponent);
  parts.splice(at < 0 ? parts.length : at, 1, written.slice(0, start) + escaped);
  changed.search = parts.join('&');
  return changed;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};

const escapedForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
