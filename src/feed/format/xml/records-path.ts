// Parses configured paths such as `source/job` or `source/@jobs` and compares them with the open elements.

/**
 * A path from the root: names of nested elements without prefixes (`*`: any), optionally with an attribute at the end.
 */
export interface ElementPath {
  readonly elements: readonly string[];
  readonly attribute?: string;
}

/** Parses a path. Throws an `Error` with the path if it has an empty part or an attribute before its end. */
export function parseElementPath(path: string): ElementPath {
  const parts = path.replace(/^\//, '').split('/');
  const last = parts.at(-1) ?? '';
  const attribute = last.startsWith('@') ? localName(last.slice(1)) : undefined;
  const elements = (attribute === undefined ? parts : parts.slice(0, -1)).map(localName);
  if (elements.length === 0 || attribute === '' || elements.some((name) => name === '' || name.startsWith('@'))) {
    throw new Error(
      `"${path}" is not a valid element path: write it from the root, for example source/job or source/@jobs`,
    );
  }
  return { elements, attribute };
}

/** The name without its prefix: `job` for `hr:job`. */
export const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Whether one name of a path matches an element's local name. */
export const coversName = (pattern: string | undefined, local: string): boolean => pattern === '*' || pattern === local;

/** Whether the path matches exactly these open elements, given by their local names from the root. */
export const coversElements = (path: ElementPath, open: readonly string[]): boolean =>
  path.elements.length === open.length && open.every((local, depth) => coversName(path.elements[depth], local));
