// Counts in how many records each path of a mapping has a text, which paths the records have at all, and what their texts have lost.
import { compileDateReader, type ReadSpan } from '../conditions.ts';
import type { FieldMapping } from '../field-mapping.ts';
import { TAKES_EVERY_NAME } from '../id-and-name.ts';
import { compilePlaces, type ReadPlaces } from '../places.ts';
import type { RecordTree } from '../posting.ts';
import { type DateCondition, dateConditionsOf, type MappingPath, pathsOf } from './mapping-paths.ts';
import { elementsAt, isTreeList, parseValuePath, textsAt, type ValuePath } from './value-path.ts';

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

  /** The paths of `unordered` at which no record has had anything. */
  readonly #unmet: Map<string, ValuePath>;
  readonly #dates: readonly { readonly path: ValuePath; readonly read: ReadSpan; readonly counted: CountedDates }[];

  constructor(spec: Pick<FieldMapping, 'key' | 'fields' | 'places' | 'skip' | 'unordered'>) {
    this.#unmet = new Map(spec.unordered?.map((path) => [path, parseValuePath(path)]));
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
    for (const [path, parsed] of this.#unmet) if (elementsAt(parsed, record).length > 0) this.#unmet.delete(path);
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

  /** The paths of lists to sort that no record has. */
  unmet(): readonly string[] {
    return [...this.#unmet.keys()];
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
    // A path cannot name a member that has an empty name, or a name with both kinds of quotes.
    else if (name === '#markup' || name.trim() === '' || /'.*"|".*'/s.test(name)) continue;
    else {
      // `{ "@attributes": { … } }`, as PHP writes it, is no attribute.
      const step = name.startsWith('@') && typeof child !== 'string' ? `"${name}"` : pathStep(name);
      collect(child, path === '' ? step : `${path}/${step}`, depth + 1, paths);
    }
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
  textsAt(path, record, 'plain', TAKES_EVERY_NAME)
    .find((text) => text.trim() !== '')
    ?.trim() ?? '';

function shortened(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line;
}

// Tells from the texts at one path what a program has made of them before the feed was made: what it lost cannot be read from the feed.

interface LostTexts {
  /** Records that show it, and one of their texts. */
  readonly count: number;
  readonly example: string;
  /** What follows "2 of the 5 records that were read have ". */
  readonly what: string;
  /** What follows the example. */
  readonly so: string;
}

const AS_TEXT = 'export the column as text';
const JOINED = `so that different references may have become one; ${AS_TEXT}`;

/** As spreadsheets, SheetJS, R and Java write long numbers: `1.23457E+11`, `1.23456789012346E+016`, `1e+05`, `1.0E7`. */
const SHORTENED = /^\d(?:\.\d+E\+?|E\+)\d+$/i;
/** As readr does. Among other texts than numbers it may be a reference. */
const PERHAPS_SHORTENED = /^\dE\d+$/i;
const DIGITS = /^\d+$/;
/** As pandas writes whole numbers of a column that has an empty cell. */
const WITH_DECIMALS = /^\d+\.0+$/;
/** As spreadsheets show 10-1 and 10/2026. */
const SHOWN_DATE = /^(?:\d{1,2}-[A-Z][a-z]{2}|[A-Z][a-z]{2}-\d{2})$/;
const DATE = /^(?:\d{4}-\d{2}-\d{2}(?:[T ]00:00(?::00(?:\.0+)?)?Z?)?|\d{1,2}\/\d{1,2}\/(?:\d{2}|\d{4}))$/;
/** Of spreadsheets; LibreOffice has numbers. */
const FORMULA_ERROR = /^(?:#(?:N\/A|REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|SPILL!|CALC!)|Err:\d{3}|#{3,})$/;
/** What JavaScript makes of an object where a text is expected. */
const NO_TEXT = /^\[object [A-Z]\w*\]$/;

/** From so many on, texts of one form are no coincidence. */
const FEWEST = 3;
/** Chances of one in 4,096. */
const EVIDENT_BITS = 12;
/** Of a number, programs show so many, or one more. */
const SHOWN_DIGITS = 15;
/** Whole numbers are exact in a double up to 2 to the power of these. */
const EXACT_BITS = 53;
const MOST_DIGITS = 40;

class Tally {
  count = 0;
  example = '';
  add(text: string): void {
    if (this.count === 0) this.example = text;
    this.count++;
  }
}

class TextForms {
  #texts = 0;
  #digits = 0;
  readonly #shortened = new Tally();
  readonly #perhapsShortened = new Tally();
  readonly #withDecimals = new Tally();
  readonly #shownDates = new Tally();
  readonly #dates = new Tally();
  readonly #errors = new Tally();
  readonly #objects = new Tally();
  readonly #long = new LongNumbers();

  add(written: string): void {
    const text = written.trim();
    if (text === '' || text.length > MOST_DIGITS) return;
    this.#texts++;
    if (DIGITS.test(text)) {
      this.#digits++;
      this.#long.add(text);
    } else if (SHORTENED.test(text)) this.#shortened.add(text);
    else if (PERHAPS_SHORTENED.test(text)) this.#perhapsShortened.add(text);
    else if (WITH_DECIMALS.test(text)) this.#withDecimals.add(text);
    else if (SHOWN_DATE.test(text)) this.#shownDates.add(text);
    else if (DATE.test(text)) this.#dates.add(text);
    else if (FORMULA_ERROR.test(text)) this.#errors.add(text);
    else if (NO_TEXT.test(text)) this.#objects.add(text);
  }

  /** What any field may show. */
  lostValues(): readonly LostTexts[] {
    return [
      ...shown(
        this.#errors,
        'the error of a formula',
        'which would be sent as it is; correct the sheet, or export its values',
      ),
      ...shown(
        this.#objects,
        'what JavaScript writes for an object',
        'so that the value is lost; name a member of the object',
      ),
    ];
  }

  /** What identifiers show. @param isWhole they are the keys, and no part of them. */
  lostKeys(isWhole: boolean): readonly LostTexts[] {
    const numbers = this.#digits + this.#shortened.count + this.#perhapsShortened.count;
    const areNumbers = numbers === this.#texts && numbers >= FEWEST;
    return [
      ...shown(this.#shortened, 'a number that a program shortened', JOINED),
      ...(areNumbers ? shown(this.#perhapsShortened, 'a number that a program shortened', JOINED) : []),
      ...shown(this.#long.rounded(), 'a number that a program seems to have rounded', JOINED),
      ...(isWhole ? this.#madeKeys() : []),
    ];
  }

  #madeKeys(): readonly LostTexts[] {
    const isAll = ({ count }: Tally) => count >= 2 && count === this.#texts;
    const dates = this.#shownDates.count > 0 ? this.#shownDates : isAll(this.#dates) ? this.#dates : new Tally();
    const decimals = isAll(this.#withDecimals) ? this.#withDecimals : new Tally();
    return [
      ...shown(dates, 'a date', `as programs make of references such as 10-1; if they are none, ${AS_TEXT}`),
      ...shown(
        decimals,
        'a number with decimals',
        `as programs write whole numbers of a column with an empty cell: leading zeros are lost, and all keys change once no cell is empty; ${AS_TEXT}`,
      ),
    ];
  }
}

function shown({ count, example }: Tally, what: string, so: string): readonly LostTexts[] {
  return count === 0 ? [] : [{ count, example, what, so }];
}

/**
 * Numbers that no double holds exactly end in zeros if a program has rounded them to the 15 or 16 digits that it shows, or are
 * all numbers that a double does hold. Identifiers that are multiples of a power of two, as those made of a time and a counter, are held
 * by doubles as well: those are multiples of twice what a double can tell apart.
 */
class LongNumbers {
  readonly #all = new Tally();
  #withZeros = 0;
  #held = 0;
  #bits = 0;
  #hasFinest = false;

  add(text: string): void {
    if (text.length <= SHOWN_DIGITS) return;
    const value = BigInt(text);
    this.#all.add(text);
    const zeros = text.length - text.replace(/0+$/, '').length;
    if (zeros >= Math.max(1, text.length - SHOWN_DIGITS - 1)) this.#withZeros++;
    if (BigInt(Number(text)) !== value) return;
    this.#held++;
    const spare = Math.max(0, value.toString(2).length - EXACT_BITS);
    this.#bits += spare;
    if ((value >> BigInt(spare)) % 2n === 1n) this.#hasFinest = true;
  }

  rounded(): Tally {
    const { count } = this.#all;
    const haveZeros = count >= FEWEST && this.#withZeros === count;
    const areHeld = count >= FEWEST && this.#held === count && this.#bits >= EVIDENT_BITS && this.#hasFinest;
    return haveZeros || areHeld ? this.#all : new Tally();
  }
}
