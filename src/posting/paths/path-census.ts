// Counts in how many records each path of a mapping has a text, and which paths the records have at all.
import { compileDateReader, type ReadSpan } from '../conditions.ts';
import type { FieldMapping } from '../field-mapping.ts';
import { EVERY_NAME } from '../id-and-name.ts';
import { compilePlaces, type ReadPlaces } from '../places.ts';
import type { RecordTree } from '../posting.ts';
import { type LostTexts, TextForms } from './lost-texts.ts';
import { type DateCondition, dateConditionsOf, type MappingPath, pathsOf } from './mapping-paths.ts';
import { isTreeList, parseValuePath, textsAt, type ValuePath } from './value-path.ts';

/** More different paths are not counted: a feed could have a name of its own in every record. */
const MAX_PATHS = 500;
const MAX_DEPTH = 8;
/** Longer paths are left out: a name in a feed may be as long as its record, and messages name paths. */
const MAX_PATH_CHARACTERS = 500;
/** Elements of one list that are followed. */
const MAX_ELEMENTS = 20;

export interface CountedPath extends MappingPath {
  /** Records with a text there. */
  readonly records: number;
  /** Whether any record has it at all, with or without a text. */
  readonly exists: boolean;
}

/** What a condition on dates found. */
export interface CountedDates extends DateCondition {
  /** Records with a text at its path. */
  filled: number;
  /** The records in which a text at the path is no date. */
  unreadable: number;
  /** One of the texts that are no date. */
  example: string | undefined;
}

/** Takes samples of the records of one feed. */
export class PathCensus {
  records = 0;
  /** The records whose dates were counted. */
  datedRecords = 0;
  /** Records with a place at the path of `places`. */
  placed = 0;
  readonly #paths: readonly MappingPath[];
  readonly #filled: number[];
  readonly #forms: readonly TextForms[];
  readonly #existing = new Set<number>();
  /** Path in the records → the number of records with a text there. */
  readonly #found = new Map<string, number>();

  readonly #placesOf: ReadPlaces | undefined;

  readonly #dates: readonly { readonly path: ValuePath; readonly read: ReadSpan; readonly counted: CountedDates }[];

  constructor(spec: Pick<FieldMapping, 'key' | 'fields' | 'places' | 'skip'>) {
    this.#dates = dateConditionsOf(spec).map((one) => ({
      path: parseValuePath(one.condition.path),
      read: compileDateReader(one.condition),
      counted: { ...one, filled: 0, unreadable: 0, example: undefined },
    }));
    this.#placesOf = spec.places && compilePlaces(spec.places);
    this.#paths = pathsOf(spec);
    this.#filled = this.#paths.map(() => 0);
    this.#forms = this.#paths.map(() => new TextForms());
  }

  add(record: RecordTree): void {
    this.records++;
    if (this.#placesOf !== undefined && this.#placesOf(record).length > 0) this.placed++;
    for (const [index, { parsed }] of this.#paths.entries()) {
      const texts = textsAt(parsed, record);
      for (const text of texts.slice(0, MAX_ELEMENTS)) this.#forms[index]?.add(text);
      if (texts.length > 0) this.#existing.add(index);
      if (texts.some((text) => text.trim() !== '')) this.#filled[index] = (this.#filled[index] ?? 0) + 1;
    }
    for (const path of textPathsIn(record)) {
      const count = this.#found.get(path);
      if (count !== undefined || this.#found.size < MAX_PATHS) this.#found.set(path, (count ?? 0) + 1);
    }
  }

  /** Counts the dates that conditions ask for, also in a record that they skip. */
  addDates(record: RecordTree): void {
    this.datedRecords++;
    for (const { path, read, counted } of this.#dates) {
      const texts = textsAt(path, record).filter((text) => text.trim() !== '');
      const unreadable = texts.find((text) => read(text) === undefined);
      if (texts.length > 0) counted.filled++;
      if (unreadable === undefined) continue;
      counted.unreadable++;
      counted.example ??= unreadable;
    }
  }

  /** The conditions on dates. */
  dates(): readonly CountedDates[] {
    return this.#dates.map(({ counted }) => counted);
  }

  /** The paths of the mapping. */
  used(): readonly CountedPath[] {
    return this.#paths.map((path, index) => ({
      ...path,
      records: this.#filled[index] ?? 0,
      exists: this.#existing.has(index),
    }));
  }

  /** What programs have lost before the feed was made, by the paths that show it. */
  lost(): readonly (LostTexts & { readonly field: string | undefined })[] {
    const isWhole = this.#paths.filter(({ field }) => field === undefined).length === 1;
    return this.#paths.flatMap(({ field }, index) => {
      const forms = this.#forms[index];
      if (forms === undefined) return [];
      const lost = [...forms.lostValues(), ...(field === undefined ? forms.lostKeys(isWhole) : [])];
      return lost.map((one) => ({ ...one, field }));
    });
  }

  /** The paths in the records that have a text, the most frequent first. */
  found(): readonly { readonly path: string; readonly records: number }[] {
    return [...this.#found].map(([path, records]) => ({ path, records })).sort((a, b) => b.records - a.records);
  }
}

/** The paths of one record that have a text, as a mapping would write them. */
export function textPathsIn(record: RecordTree): ReadonlySet<string> {
  const paths = new Set<string>();
  collect(record, '', 0, paths);
  return paths;
}

function collect(tree: RecordTree, path: string, depth: number, paths: Set<string>): void {
  if (typeof tree === 'string') {
    if (path !== '' && path.length <= MAX_PATH_CHARACTERS && tree.trim() !== '') paths.add(path);
    return;
  }
  if (isTreeList(tree)) {
    for (const element of tree.slice(0, MAX_ELEMENTS)) collect(element, path, depth, paths);
    return;
  }
  if (depth >= MAX_DEPTH || path.length > MAX_PATH_CHARACTERS) return;
  for (const [name, child] of Object.entries(tree)) {
    if (name === '#text') collect(child, path, depth, paths);
    else if (name === '#markup') continue;
    else collect(child, path === '' ? pathStep(name) : `${path}/${pathStep(name)}`, depth + 1, paths);
  }
}

/** The name without its prefix, which paths need not have; in quotes if it has characters with a meaning in paths. */
export function pathStep(name: string): string {
  const isAttribute = name.startsWith('@');
  const local = name.slice(isAttribute ? 1 : 0).replace(/^[^:\s/]+:(?=[^:\s]+$)/, '');
  if (isAttribute) return `@${local}`;
  if (!/[/[\]@*={}'"]/.test(local)) return local;
  return local.includes("'") ? `"${local}"` : `'${local}'`;
}

// Collects the paths of sampled records, with how many records have a text there and some of the texts: what a person chooses paths from.

export interface PathFill {
  readonly path: string;
  /** Records with a text there. */
  readonly records: number;
  /** Different first texts. */
  readonly distinct: number;
  /** The first different ones, each on one line and cut. */
  readonly values: readonly string[];
}

/** A feed could have a name of its own in every record. */
const MOST_PATHS = 300;
const SHOWN_VALUES = 3;
const SHOWN_CHARACTERS = 120;
/** Texts that are told apart by their beginning. */
const COMPARED_CHARACTERS = 500;

interface Collected {
  readonly parsed: ValuePath;
  records: number;
  readonly texts: Set<string>;
}

export class PathValues {
  records = 0;
  readonly #paths = new Map<string, Collected>();

  add(record: RecordTree): void {
    this.records++;
    for (const path of textPathsIn(record)) {
      const collected = this.#paths.get(path) ?? { parsed: parseValuePath(path), records: 0, texts: new Set() };
      if (collected.records === 0 && this.#paths.size >= MOST_PATHS) continue;
      this.#paths.set(path, collected);
      collected.records++;
      collected.texts.add(firstText(collected.parsed, record).slice(0, COMPARED_CHARACTERS));
    }
  }

  /** In the order in which the records have them. */
  all(): readonly PathFill[] {
    return [...this.#paths].map(([path, { records, texts }]) => ({
      path,
      records,
      distinct: texts.size,
      values: [...texts].slice(0, SHOWN_VALUES).map((text) => shortened(text, SHOWN_CHARACTERS)),
    }));
  }
}

/** What one record has at each of its paths. */
export const valuesIn = (record: RecordTree, mostCharacters: number): { path: string; value: string }[] =>
  [...textPathsIn(record)]
    .slice(0, MOST_PATHS)
    .map((path) => ({ path, value: shortened(firstText(parseValuePath(path), record), mostCharacters) }));

const firstText = (path: ValuePath, record: RecordTree): string =>
  textsAt(path, record, 'plain', EVERY_NAME)
    .find((text) => text.trim() !== '')
    ?.trim() ?? '';

function shortened(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line;
}
