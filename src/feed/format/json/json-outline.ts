// Follows a JSON document outside its records: the open containers on the path to the records, the declared totals, and
// the reasons why the document is incomplete or not a feed at all.
import { nearestName } from '../../../posting/id-and-name.ts';
import { isErrorName, maySayError, StatedErrors } from '../unexpected-document.ts';

const MAX_SHORTFALLS = 20;
const MAX_NAMED = 10;
/** No feed nests its list deeper. */
const MAX_OPEN = 64;
/** An error is not looked for deeper. */
const MAX_ERROR_DEPTH = 8;

/** An open object or list outside the records. */
interface Container {
  readonly isObject: boolean;
  /** Its members are the records, whatever their names. */
  readonly isNumbered: boolean;
  /** How many names of the records path lead here; -1: the path leads elsewhere. */
  readonly level: number;
  /** Names from the root, joined with `/`. */
  readonly path: string;
  /** Names that were found in it, for messages. */
  readonly names: string[];
  found: boolean;
}

/** What a value at the current position is. */
type Place =
  /** A record, whatever its kind. */
  | 'record'
  /** An object or list that contains records or a declared total: it has been entered. */
  | 'entered'
  /** A value that matters to nobody. */
  | 'skipped'
  /** A declared total. */
  | 'total'
  /** A value that may state an error. */
  | 'stated';

export class JsonOutline {
  /** The first reason to stop reading. */
  refusal: string | undefined;
  readonly #recordPath: ListPath;
  readonly #totalPaths: readonly string[];
  readonly #totals: { readonly path: string; readonly text: string }[] = [];
  readonly #shortfalls = new Set<string>();
  readonly #open: Container[] = [];
  /** The name whose value comes next, in an object. */
  #name = '';
  readonly #errors = new StatedErrors();

  constructor(recordPath: ListPath, totalPaths: readonly string[]) {
    this.#recordPath = recordPath;
    this.#totalPaths = totalPaths.map((path) => path.replace(/^\$?[./]/, '').replaceAll('.', '/'));
  }

  get depth(): number {
    return this.#open.length;
  }

  get inObject(): boolean {
    return this.#open.at(-1)?.isObject === true;
  }

  note(shortfall: string): void {
    if (this.#shortfalls.size < MAX_SHORTFALLS) this.#shortfalls.add(shortfall);
  }

  refuse(message: string): void {
    this.refusal ??= message;
  }

  /** Takes the name of the next value. */
  takeName(name: string): void {
    this.#name = name;
    const inner = this.#open.at(-1);
    if (inner === undefined || inner.isNumbered) return;
    if (inner.names.length < MAX_NAMED) inner.names.push(name);
    if (inner.level < 0 || name !== this.#recordPath[inner.level]) return;
    if (inner.found)
      this.note(`the name "${name}" appears twice in one object, so one of its lists may be meant for another`);
    inner.found = true;
  }

  /** Whether an object that begins here is where the list of records is expected. */
  get isAtList(): boolean {
    const outer = this.#open.at(-1);
    return (outer === undefined || outer.isObject) && this.#placeIn(outer).level === this.#recordPath.length;
  }

  /** Enters an object whose members are the records. */
  beginNumbered(): void {
    this.#open.push({ ...this.#placeIn(this.#open.at(-1)), isObject: true, isNumbered: true, names: [], found: true });
  }

  /** Decides what the value that begins with this byte is, and enters it if it contains records or a total. */
  beginValue(first: '{' | '[' | 'scalar'): Place {
    const outer = this.#open.at(-1);
    if (outer?.isNumbered === true) return 'record';
    const { level, path } = this.#placeIn(outer);
    const last = this.#recordPath.length;
    // An element of the list, or the only posting where a list has just one.
    if (level === last && first !== '[' && (outer?.isObject === false || last > 0)) {
      if (outer?.isObject !== true || first === '{') return 'record';
    }
    if (first === 'scalar') return this.#takeScalar(level, path);
    if (outer === undefined && last === 0 && first === '{') {
      this.refuse(
        'the document is an object, not a list; configure records: and the path of its list, or type: json-lines if each line is a posting',
      );
      return 'skipped';
    }
    const holdsTotal =
      first === '{' && this.#totalPaths.some((total) => total.startsWith(path === '' ? '' : `${path}/`));
    const holdsError = this.#open.length < MAX_ERROR_DEPTH && path.split('/').some(isErrorName);
    if (level < 0 && !holdsTotal && !holdsError) return 'skipped';
    if (this.#open.length >= MAX_OPEN)
      this.refuse(`lists and objects are nested deeper than ${MAX_OPEN} outside the records`);
    this.#open.push({ isObject: first === '{', isNumbered: false, level, path, names: [], found: false });
    return 'entered';
  }

  /** Takes the text of a declared total. */
  takeTotal(text: string): void {
    const { path } = this.#placeIn(this.#open.at(-1));
    this.#totals.push({ path, text });
  }

  /** Takes the text of a value that may state an error, or its beginning. */
  takeStated(text: string): void {
    this.#errors.take(this.#placeIn(this.#open.at(-1)).path.split('/'), text);
  }

  /** Leaves the innermost container. */
  end(): void {
    const ended = this.#open.pop();
    if (ended === undefined || !ended.isObject || ended.found || ended.level < 0) return;
    const name = this.#recordPath[ended.level];
    const where = ended.path === '' ? 'the document' : `"${ended.path}"`;
    const others =
      ended.names.length === 0 ? 'it is empty' : `it has ${ended.names.map((other) => `"${other}"`).join(', ')}`;
    const meant = name === undefined ? undefined : nearestName(name, ended.names);
    const guess = meant === undefined ? '' : `; did you mean "${meant}"?`;
    this.note(`${where} has no "${name}", where the records are expected; ${others}${guess}`);
  }

  /** Ends the document. Returns every reason why it is incomplete, given the number of records found. */
  finish(records: number): { shortfalls: string[]; declaredTotal?: number } {
    const stated = this.#errors.found(records);
    if (stated !== undefined) this.note(stated);
    const declaredTotals = this.#totals.map(({ path, text }) => this.#readTotal(path, text, records));
    return { shortfalls: [...this.#shortfalls], declaredTotal: declaredTotals.find((total) => total !== undefined) };
  }

  #placeIn(outer: Container | undefined): { level: number; path: string } {
    if (outer === undefined) return { level: 0, path: '' };
    if (!outer.isObject) return outer;
    const path = outer.path === '' ? this.#name : `${outer.path}/${this.#name}`;
    const leads =
      outer.level >= 0 && outer.level < this.#recordPath.length && this.#name === this.#recordPath[outer.level];
    return { level: leads ? outer.level + 1 : -1, path };
  }

  #takeScalar(level: number, path: string): Place {
    if (this.#open.length === 0) this.refuse('the document is a single value, not a list of postings');
    else if (level >= 0) this.note(`"${path}", where the records are expected, is not a list`);
    if (this.#totalPaths.includes(path)) return 'total';
    const names = path.split('/');
    const isTold = (this.#open.at(-1)?.level ?? -1) >= 0 && maySayError(names.at(-1) ?? '');
    return isTold || names.some(isErrorName) ? 'stated' : 'skipped';
  }

  #readTotal(path: string, text: string, records: number): number | undefined {
    if (!/^\d{1,15}$/.test(text)) {
      this.note(`the declared total at ${path} is not a number: ${text}`);
      return undefined;
    }
    if (Number(text) !== records) this.note(`the feed declares ${text} records at ${path}, but ${records} were found`);
    return Number(text);
  }
}

/** Names from the root to the list; empty: the document itself is the list. Lists on the way are passed through. */
type ListPath = readonly string[];

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
