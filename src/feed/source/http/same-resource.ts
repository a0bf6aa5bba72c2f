// Tells whether a redirect may lead to another posting.

/**
 * Whether a redirect certainly stayed with one posting: it may add to the query, add or remove a language before the path, add a title after
 * the number that ends it, or the name of a file, change the case, or the host.
 */
export function isSameResource(requested: URL, answered: URL): boolean {
  const from = plainPath(requested);
  const to = plainPath(answered);
  const isKept = [...requested.searchParams].every(([name, value]) =>
    answered.searchParams.getAll(name).includes(value),
  );
  return (
    isKept &&
    (to.endsWith(from) || (from.endsWith(to) && LANGUAGE.test(from.slice(0, -to.length))) || isNamed(from, to))
  );
}

const LANGUAGE = /^\/[a-z]{2}(?:-[a-z]{2})?$/;
const TITLE = /^-[a-z]/;
const FILE_NAME = /^(?:\.html?|\/index\.html?)$/;

/** Whether what follows `from` in `to` names the same page. */
function isNamed(from: string, to: string): boolean {
  if (!to.startsWith(from)) return false;
  const rest = to.slice(from.length);
  return FILE_NAME.test(rest) || (/\d$/.test(from) && TITLE.test(rest) && !rest.includes('/'));
}

function plainPath({ pathname }: URL): string {
  const path = pathname.replace(/\/+$/, '').toLowerCase();
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
