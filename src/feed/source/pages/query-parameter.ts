// Sets parameters in the query of an address: their own, or inside the text of another one.

/** `finder:offset`: the parameter `offset` inside the text of `finder`, as in `finder=findReqs;siteNumber=CX_1,offset=25`. */
const INNER = /^([^:]+):([^:]+)$/;

/** The parameter that must be in the query, because another one stands inside its text; `undefined` for any other name. */
export const outerParameter = (name: string, query: URLSearchParams): string | undefined =>
  query.has(name) ? undefined : INNER.exec(name)?.[1];

/** Sets one parameter of the query and leaves the others as they are written. */
export function withParameter(url: URL, name: string, value: string): URL {
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
