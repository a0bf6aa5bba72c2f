// Recognises cities outside the United States that are written with the code of a U.S. state: "Munich, DE".
import type { UsState } from '../us-states.ts';

/** By the abbreviation of the state: names without case, accents and punctuation, separated by commas. */
export type ForeignCities = Readonly<Record<string, string>>;

interface NamedState {
  /** As the place has it. */
  readonly text: string;
  readonly state: UsState;
}

/** Whether one of a place's other parts is a city elsewhere that is written with the same code as this state. */
export type IsForeign = (named: NamedState, others: readonly string[]) => boolean;

/** "Greater Toronto Area". */
const AROUND = /^greater | (?:metropolitan )?(?:area|region)$/g;

export function compileForeignCities(cities: ForeignCities): IsForeign {
  const compiled = new Map<string, ReadonlySet<string>>();
  const citiesAt = (code: string): ReadonlySet<string> => {
    const known = compiled.get(code) ?? new Set(cities[code]?.split(/,\s+/));
    compiled.set(code, known);
    return known;
  };
  return ({ text, state }, others) => {
    // The name of a state says more than its code, but Georgia is a country too.
    if (text.replaceAll('.', '') !== state.abbreviation && state.name !== 'Georgia') return false;
    const known = citiesAt(state.abbreviation);
    return others.some((other) => known.has(fold(other)) || known.has(fold(other).replace(AROUND, '')));
  };
}

const fold = (text: string): string =>
  text
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/[.'’‘`ʻʼ\p{M}]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
