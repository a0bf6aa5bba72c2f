// Recognises U.S. states in the spellings that feeds use ("Mass.", "US-MA", "massachusetts, USA").

/** Kinds of places that may count as a state; the configuration selects among them. */
export const STATE_GROUPS = ['states', 'dc', 'territories'] as const;
export type StateGroup = (typeof STATE_GROUPS)[number];

export interface UsState {
  /** The full name: "Massachusetts". */
  readonly name: string;
  /** The postal abbreviation: "MA". */
  readonly abbreviation: string;
  readonly group: StateGroup;
  /** Other spellings: "Mass.". Dots, case and surrounding spaces are ignored. */
  readonly aliases: readonly string[];
}

/** The states as data; `config/us-states.yaml` holds it. */
export interface StateTable {
  readonly states: readonly UsState[];
  /** Spellings of the country before or after a state: "US", "USA". */
  readonly countryNames: readonly string[];
}

/** Finds the state that a text names, if any. */
export type StateFinder = (text: string) => UsState | undefined;

/** A field with more distinct spellings than this does not contain states. */
const MAX_CACHED_SPELLINGS = 1_000;

/** Compiles the lookup. Throws if two states share a spelling. */
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
  // Longest first, to strip "United States of America" as a whole.
  const countries = table.countryNames.map(fold).sort((a, b) => b.length - a.length);

  // A feed of a million postings has only a few hundred spellings of states.
  /** A state's own name may have the country, and another field may add it: "Texas (US), United States". */
  const stateWithCountry = (folded: string): UsState | undefined => {
    const once = withoutCountry(folded, countries);
    return bySpelling.get(spellingOf(once)) ?? bySpelling.get(spellingOf(withoutCountry(once, countries)));
  };
  const found = new Map<string, UsState | undefined>();
  return (text) => {
    // Longer than any spelling, perhaps a whole page: not worth folding.
    if (text.length > 200) return undefined;
    if (found.has(text)) return found.get(text);
    const state = bySpelling.get(spellingOf(text)) ?? stateWithCountry(fold(text));
    if (found.size < MAX_CACHED_SPELLINGS) found.set(text, state);
    return state;
  };
}

/** "W.Va." and "W. Va." → "wva". Spaces only matter for stripping the country: "Kansus" is not "Kans US". */
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

/** Templates may add the country to a state that has it already: "US-MA, US". */
function withoutCountry(folded: string, countries: readonly string[]): string {
  const before = countries.find((country) => folded.startsWith(`${country} `));
  const rest = before === undefined ? folded : folded.slice(before.length + 1);
  const after = countries.find((country) => rest.endsWith(` ${country}`));
  return after === undefined ? rest : rest.slice(0, -after.length - 1);
}
