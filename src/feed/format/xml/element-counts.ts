// Counts the elements of a document in which no record was found yet, to say which path may be meant.
import { nearest } from '../../../posting/nearest-name.ts';
import { coversName, type ElementPath } from './records-path.ts';

/** Bound the memory and the time of documents without any record. */
const MAX_PATHS = 200;
const MAX_DEPTH = 8;

export class ElementCounts {
  readonly #counts = new Map<string, number>();

  /** @param open the local names of the open elements, from the root. */
  add(open: readonly string[]): void {
    if (open.length > MAX_DEPTH) return;
    const path = open.join('/');
    const count = this.#counts.get(path);
    if (count !== undefined || this.#counts.size < MAX_PATHS) this.#counts.set(path, (count ?? 0) + 1);
  }

  /** Which element may be the record, for people; `undefined` if none may be one, as in an empty feed. */
  adviceFor({ elements }: ElementPath): string | undefined {
    const written = elements.join('/');
    const parents = [...this.#counts].filter(([path]) => path.includes('/') && this.#hasChildren(path));
    const last = elements.at(-1) ?? '';
    const name = nearest(
      last,
      parents.map(([path]) => lastNameOf(path)).filter((other) => !coversName(last, other)),
    );
    const found =
      parents.find(([path]) => lastNameOf(path) === last || lastNameOf(path) === name) ??
      parents.filter(([, count]) => count > 1).sort((a, b) => depthOf(a[0]) - depthOf(b[0]) || b[1] - a[1])[0];
    if (found === undefined) return undefined;
    const [path, count] = found;
    return `records: "${written}" matches nothing; "${path}" occurs ${count === 1 ? 'once' : `${count} times`}`;
  }

  #hasChildren(path: string): boolean {
    for (const other of this.#counts.keys()) if (other.startsWith(`${path}/`)) return true;
    return false;
  }
}

const lastNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const depthOf = (path: string): number => path.split('/').length;
