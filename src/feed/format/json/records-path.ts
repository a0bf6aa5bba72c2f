// Parses the configured path of the list that holds a JSON document's records.

/** Names from the root to the list; empty: the document itself is the list. Lists on the way are passed through. */
export type ListPath = readonly string[];

/** Parses `jobs`, `SearchResult/SearchResultItems` or `data.jobs`; `$`, `.` and nothing stand for the root. */
export function parseListPath(path: string): ListPath {
  const bare = path.trim().replace(/^\$\.?|^[./]/, '');
  if (bare === '') return [];
  const names = bare.split(/[./]/).map((name) => name.replace(/\[\*?\]$/, ''));
  if (names.some((name) => name === '')) {
    throw new Error(`"${path}" is not a valid path of a list: write the names from the root, for example data/jobs`);
  }
  return names;
}
