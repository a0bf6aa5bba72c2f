// Collects the paths of sampled records, with how many records have a text there and some of the texts: what a person chooses paths from.
import { EVERY_NAME } from './id-and-name.ts';
import { textPathsIn } from './path-census.ts';
import type { RecordTree } from './posting.ts';
import { parseValuePath, textsAt, type ValuePath } from './value-path.ts';

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
