// Makes one posting of a record that lists several places: that of the first place which the site accepts, or one in which a
// person must choose the place.
import { contentHash } from './hash.ts';
import { MOST_PLACES } from './places.ts';
import type { Posting, Problem, ReadPosting } from './posting.ts';
import { excerpt } from './xml-characters.ts';

/** Why a record is refused. */
export const tooManyPlaces = (path: string | readonly string[]): string =>
  `the record has more than ${MOST_PLACES} places at ${[path].flat().join(' and ')}; check the path of places`;

/**
 * The posting of the first place in a valid state, with the fewest problems of all such places: a later place is taken if the
 * city of an earlier one is unclear. If no place is in a valid state, the first posting says so.
 * @param readings the record read with each of its places in turn; at least one
 */
export function firstPlace(readings: Iterable<ReadPosting>, stateField: string): ReadPosting {
  let first: ReadPosting | undefined;
  let best: ReadPosting | undefined;
  let count = 0;
  for (const reading of readings) {
    if (reading.kind === 'posting') return reading;
    count++;
    first ??= reading;
    const isPlaced = reading.problems.every(({ field }) => field !== stateField);
    if (isPlaced && (best?.kind !== 'invalid' || reading.problems.length < best.problems.length)) best = reading;
  }
  if (best !== undefined) return best;
  if (first?.kind !== 'invalid' || count === 1) return first as ReadPosting;
  const problems = first.problems.map((problem) =>
    problem.field === stateField
      ? {
          ...problem,
          message: `none of its places is in a state that the site accepts; the first one: ${problem.message}`,
        }
      : problem,
  );
  return { ...first, problems };
}

/** Only this many values are shown and kept of a field that differs. */
const SHOWN_VALUES = 20;

/**
 * The posting of a record whose places lead to the same fields; otherwise an invalid one, in which each field that differs has
 * all of its values, until a person edits it. If the values change, so does the text, which ends the edit.
 * @param readings the record read with each of its places in turn; at least one
 */
export function onePlaceOrReview(readings: readonly ReadPosting[]): ReadPosting {
  const [first] = readings as readonly [ReadPosting, ...ReadPosting[]];
  const names = [...new Set(readings.flatMap(({ posting }) => Object.keys(posting.fields)))];
  const differing = names.flatMap((name) => {
    const values = [...new Set(readings.map(({ posting }) => posting.fields[name] ?? ''))];
    return values.length === 1 ? [] : [{ name, values }];
  });
  if (differing.length === 0) return first;
  const { key, notes } = first.posting;
  const fields = { ...first.posting.fields };
  const problems: Problem[] = [];
  for (const { name, values } of differing) {
    const listed = values.map((value) => (value === '' ? 'none' : value));
    const rest = listed.length > SHOWN_VALUES ? [`and ${listed.length - SHOWN_VALUES} more`] : [];
    fields[name] = [...listed.slice(0, SHOWN_VALUES), ...rest].join('; ');
    const shown = excerpt(fields[name], 120);
    const message = `${name} differs between the ${readings.length} places of the posting (${shown}); set it to the one to be sent`;
    problems.push({ field: name, value: excerpt(fields[name]), message, choose: true });
  }
  const shared = first.kind === 'invalid' ? first.problems : [];
  const isChosen = (field: string | undefined) => differing.some(({ name }) => name === field);
  problems.push(...shared.filter(({ field }) => !isChosen(field)));
  const posting: Posting = { key, fields, contentHash: contentHash(fields), notes };
  return { kind: 'invalid', posting, problems };
}
