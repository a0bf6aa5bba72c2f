// Names: lists of an id and a name, as Odoo writes a reference to another record (`[52, "Texas (US)"]`), and the known name that a
// mistyped one probably means.
import type { RecordTree } from './posting.ts';

/** A tree has only texts, so what was a number in the document is remembered beside it. */
const PAIRS = new WeakSet<readonly RecordTree[]>();

const ID = /^[1-9]\d{0,18}$/;
const NAME = /\p{L}/u;

/** Remembers that a list of a number and a text is an id and a name, if it is one. */
export function noteIdAndName(list: readonly RecordTree[]): void {
  const [id, name] = list;
  if (typeof id === 'string' && typeof name === 'string' && ID.test(id) && NAME.test(name)) PAIRS.add(list);
}

/** The name, if the list is an id and a name. */
export const nameOf = (list: readonly RecordTree[]): RecordTree | undefined => (PAIRS.has(list) ? list[1] : undefined);

/** The element is called a reference: `state_id`, `create_uid`; `x_studio_…` is a field that a user of Odoo has added. */
const REFERENCE = /_u?id$|^x_studio_/i;
/** Fields of words and places. In others the number may be meant: `[50000, "USD"]`. */
const WORDS =
  /(?:^|-)(?:title|name|category|city|state|country|county|region|location|place|address|office|company|employer|department|team|industry|function|type|level|schedule|description|body|text|content|details|email|contact)$|^contact-/;

/** How lists of an id and a name are read. */
export interface NameReader {
  /** Whether only the name counts, of such a list at this element. */
  readonly takes: (element: string) => boolean;
  /** Called when a name was taken. */
  readonly taken?: () => void;
}

/**
 * | value                        | field of words or places, any element | other field, `state_id` | other field, `pay` | number, key |
 * | ---------------------------- | ------------------------------------- | ----------------------- | ------------------ | ----------- |
 * | `[52, "Texas"]`              | `Texas`                               | `Texas`                 | both               | both        |
 * | `[52, 53]`, `["52", "Texas"]`| both                                  | both                    | both               | both        |
 *
 * "Both" is a list of two values, of which a field gets the first, unless it joins them.
 */
export function takesNames(field: string): NameReader['takes'] {
  const name = field.replaceAll('_', '-');
  if (name === 'number') return () => false;
  return WORDS.test(name) ? ANY : (element) => REFERENCE.test(element);
}

const ANY = (): boolean => true;

/** Takes the name wherever there is one. */
export const TAKES_EVERY_NAME: NameReader = { takes: ANY };

// Finds the name that a mistyped one probably stands for.
// Not fastest-levenshtein: a dozen lines do, as only names of similar length are compared.

/** The known name closest to a mistyped one, if close enough to be the intended one. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replaceAll('-', '_');
  const most = Math.max(1, Math.floor(plain.length / 3));
  const ranked = known
    // Names of a feed may be of any length, and comparing them takes time.
    .filter((candidate) => Math.abs(candidate.length - plain.length) <= most)
    .map((candidate) => ({ candidate, distance: editDistance(plain, candidate.toLowerCase().replaceAll('-', '_')) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= most ? best.candidate : undefined;
}

/** The end of a message about a mistyped name; empty if no known one is close. */
export function didYouMean(name: string, known: readonly string[], written = (meant: string) => meant): string {
  const meant = nearestName(name, known);
  return meant === undefined ? '' : `; did you mean ${written(meant)}?`;
}

/** The Levenshtein distance of two names. */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[to.length] ?? 0;
}
