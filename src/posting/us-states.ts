// Turns what feeds write for a U.S. state ("Mass.", "US-MA", "massachusetts, USA") into the one name or abbreviation a site takes.

/** Which kinds of place count as a state; the configuration chooses among them. */
export const STATE_GROUPS = ['states', 'dc', 'territories'] as const;
export type StateGroup = (typeof STATE_GROUPS)[number];

export interface UsState {
  /** As a site wants it in full: "Massachusetts". */
  readonly name: string;
  /** The postal abbreviation: "MA". */
  readonly abbreviation: string;
  readonly group: StateGroup;
  /** Other ways to write it: "Mass.". Dots, case and spaces around do not matter. */
  readonly aliases: readonly string[];
}

/** The states as data; `config/us-states.yaml` holds it. */
export interface StateTable {
  readonly states: readonly UsState[];
  /** Ways to write the country before or after a state: "US", "USA". */
  readonly countryNames: readonly string[];
}

/** Finds the state that a text means; `undefined`: none. */
export type StateFinder = (text: string) => UsState | undefined;

/** A feed that writes more than these writes something else than states there. */
const MOST_REMEMBERED = 1_000;

/** Prepares the look-up. Throws if two states share a spelling. */
export function compileStates(table: StateTable): StateFinder {
  const bySpelling = new Map<string, UsState>();
  for (const state of table.states) {
    for (const spelling of [state.name, state.abbreviation, ...state.aliases].map(spellingOf)) {
      const other = bySpelling.get(spelling);
      if (other !== undefined && other !== state) {
        throw new Error(`"${spelling}" is a spelling of both ${other.name} and ${state.name}`);
      }
      bySpelling.set(spelling, state);
    }
  }
  // Longest first, so that "United States of America" is taken off whole.
  const countries = table.countryNames.map(fold).sort((a, b) => b.length - a.length);

  // A feed of a million postings writes its states in a few hundred ways.
  const found = new Map<string, UsState | undefined>();
  return (text) => {
    // Longer than any spelling: not worth folding, it may be a whole page.
    if (text.length > 200) return undefined;
    if (found.has(text)) return found.get(text);
    const state = bySpelling.get(spellingOf(text)) ?? bySpelling.get(spellingOf(withoutCountry(fold(text), countries)));
    if (found.size < MOST_REMEMBERED) found.set(text, state);
    return state;
  };
}

/** "W.Va." and "W. Va." → "wva". Spaces part words only where a country is taken off: "Kansus" is not "Kans US". */
const spellingOf = (text: string): string => fold(text).replaceAll(' ', '');

/** "US-MA" → "us ma", "N.Y." → "ny", " West  Virginia" → "west virginia". */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[.'’ʻʼ\p{M}]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

function withoutCountry(folded: string, countries: readonly string[]): string {
  for (const country of countries) {
    if (folded.startsWith(`${country} `)) return folded.slice(country.length + 1);
    if (folded.endsWith(` ${country}`)) return folded.slice(0, -country.length - 1);
  }
  return folded;
}
