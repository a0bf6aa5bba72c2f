// Makes a posting of each place that a record lists. Its key ends with the place as the site will show it, not with its position or
// its bytes: so it survives other places, another order, and another way of writing the same place.
import { hash } from 'node:crypto';
import { PLACE_KEY_LENGTH, type PostingKey, postingKey } from './identifiers.ts';
import type { PostingsOfPlaces, ReadPosting } from './posting.ts';
import type { StateFinder } from './us-states.ts';

/** What tells the places of a record apart. */
export interface PlaceIdentity {
  readonly fields: readonly string[];
  readonly stateField: string;
  readonly findState: StateFinder;
}

/**
 * Repeated places collapse; the first one counts.
 * @param key the record's own key. @param readings the record read with each of its places in turn; at least one
 */
export function postingsOfPlaces(
  key: PostingKey,
  readings: Iterable<ReadPosting>,
  identity: PlaceIdentity,
): PostingsOfPlaces {
  const byPlace = new Map<string, ReadPosting>();
  let isUnclear = false;
  for (const reading of readings) {
    isUnclear ||=
      reading.kind === 'invalid' && reading.problems.some(({ field = '' }) => identity.fields.includes(field));
    const place = placeOf(reading, identity);
    if (byPlace.has(place)) continue;
    byPlace.set(place, { ...reading, posting: { ...reading.posting, key: postingKey(key + place) } });
  }
  return { kind: 'places', key, postings: [...byPlace.values()], isUnclear };
}

const DIGEST_CHARACTERS = 16;

function placeOf(
  { posting: { fields } }: ReadPosting,
  { fields: names, stateField, findState }: PlaceIdentity,
): string {
  const parts = names.map((name) => {
    const value = fields[name] ?? '';
    // The site's spelling of a state is a setting, which must not change keys.
    return fold(name === stateField ? (findState(value)?.abbreviation ?? value) : value);
  });
  const place = parts.join(', ').trim();
  if (place.length <= PLACE_KEY_LENGTH) return place;
  const digest = hash('sha256', place, 'hex').slice(0, DIGEST_CHARACTERS);
  // A character outside the basic plane is not cut in two.
  const beginning = [...place.slice(0, PLACE_KEY_LENGTH - DIGEST_CHARACTERS - 1)].filter((each) => each.isWellFormed());
  return `${beginning.join('')}~${digest}`;
}

/** Letters and digits only: neither separators of keys nor those between the parts are left. */
const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
