// Tells whether a redirect may lead to another posting.

/**
 * Whether a redirect certainly stayed with one posting: it may add to the query, and a language or the like before the path,
 * or change the host.
 */
export function isSameResource(requested: URL, answered: URL): boolean {
  const [from, to] = [requested, answered].map(({ pathname }) => pathname.replace(/\/+$/, ''));
  const isKept = [...requested.searchParams].every(([name, value]) =>
    answered.searchParams.getAll(name).includes(value),
  );
  return to?.endsWith(from ?? '') === true && isKept;
}
