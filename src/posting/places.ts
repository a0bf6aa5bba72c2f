// Splits a record that lists several places into one record tree for each of them, so that the mapping's paths find only one.
import type { RecordTree } from './posting.ts';
import { elementsAt, holdsConditions, namesAt, parseValuePath, type ValuePath } from './value-path.ts';
import { withoutPath } from './without-path.ts';

/** What becomes of a record with several places. */
export interface PlacesRule {
  /** Where each place is in the record; of several paths, in their order. {@link OWN_PLACE}: the record without its other places. */
  readonly path: string | readonly string[];
  /** Separates several places in one text. */
  readonly split?: string;
  /** `first`: the first place that the site accepts. `each`: a posting for each place. `review`: a person chooses. */
  readonly use: 'first' | 'each' | 'review';
  /** For `each`: the fields that tell the places of a record apart, which become a part of the key. */
  readonly fields?: readonly string[];
}

/** In the list of paths: the record's own fields are a place too. */
export const OWN_PLACE = '.';

/** Whether a record may stand for several postings. */
export const hasPlaces = ({ places }: { readonly places?: PlacesRule }): boolean => places?.use === 'each';

/** A record with more places is refused as a whole: each place costs as much as a record. */
export const MOST_PLACES = 1_000;

/** At most {@link MOST_PLACES} + 1 trees; none if the record has no place at any of the paths. */
export type ReadPlaces = (record: RecordTree) => readonly RecordTree[];

/** Throws `MalformedPathError`. */
export function compilePlaces({ path: sources, split }: Pick<PlacesRule, 'path' | 'split'>): ReadPlaces {
  const paths = [sources].flat().map((source) => (source === OWN_PLACE ? [] : parseValuePath(source)));
  const wholeOf = (place: RecordTree) => (paths.length > 1 && isBlank(place) ? [] : [place]);
  const partsOf = split === undefined ? wholeOf : (place: RecordTree) => splitText(place, split);
  return (record) => {
    const trees: RecordTree[] = [];
    for (const path of paths) {
      // The places at the other paths are left out.
      const others = paths.filter((other) => other !== path && other.length > 0);
      const base = others.reduce<RecordTree>(withoutPath, record);
      for (const tree of treesWithOne(path, 0, base, partsOf)) {
        trees.push(tree);
        if (trees.length > MOST_PLACES) return trees;
      }
    }
    return trees;
  };
}

/** Of several paths, one often leads to an empty value: there is no place then. */
const isBlank = (place: RecordTree): boolean => typeof place === 'string' && place.trim() === '';

type PartsOf = (place: RecordTree) => readonly RecordTree[];

/**
 * Yields copies of the tree with only one place each, in document order. Everything beside the path is shared with the tree.
 * @param depth how many steps of the path led to `tree`.
 */
function* treesWithOne(path: ValuePath, depth: number, tree: RecordTree, partsOf: PartsOf): Generator<RecordTree> {
  for (const element of elementsAt([], tree)) {
    if (!holdsConditions(path[depth - 1], element)) continue;
    const step = path[depth];
    if (step === undefined) yield* partsOf(element);
    else if (!isText(element)) yield* childrenWithOne(path, depth + 1, element, step.name, partsOf);
  }
}

function* childrenWithOne(path: ValuePath, depth: number, element: Element, step: string, partsOf: PartsOf) {
  const names = namesAt(element, step);
  for (const name of names) {
    for (const child of treesWithOne(path, depth, element[name] ?? '', partsOf)) {
      const copy = newElement();
      for (const other of Object.keys(element)) if (!names.includes(other)) copy[other] = element[other] ?? '';
      copy[name] = child;
      yield copy;
    }
  }
}

type Element = { readonly [name: string]: RecordTree };

/** Without a prototype, so that no name in a feed has a special meaning. */
const newElement = (): Record<string, RecordTree> => Object.create(null);

const isText = (tree: RecordTree): tree is string | readonly RecordTree[] =>
  typeof tree === 'string' || Array.isArray(tree);

/** The parts of a text, or of the text of an element that has only attributes beside it; other elements are one place. */
function splitText(place: RecordTree, separator: string): readonly RecordTree[] {
  if (typeof place === 'string') return partsOfText(place, separator);
  if (isText(place)) return [place];
  const text = Object.hasOwn(place, '#text') ? place['#text'] : undefined;
  if (typeof text !== 'string') return [place];
  return partsOfText(text, separator).map((part) => Object.assign(newElement(), place, { '#text': part }));
}

const partsOfText = (text: string, separator: string): readonly string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
