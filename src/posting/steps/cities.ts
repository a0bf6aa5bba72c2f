// Knows cities by the state or code that they are written with: "Austin, TX", "Munich, DE".

/** By the abbreviation of the state: names in the form of {@link foldPlace}, separated by commas. */
export type CityTable = Readonly<Record<string, string>>;

/** Words that are written in two ways. */
const SHORT_WORDS: ReadonlyMap<string, string> = new Map([
  ['saint', 'st'],
  ['sainte', 'ste'],
  ['fort', 'ft'],
  ['mount', 'mt'],
]);
/** What is added to a city for the area around it. */
const AROUND = /^greater | (?:metropolitan )?(?:area|region)$/g;

export interface Cities {
  /** Whether the table has the city under this abbreviation. */
  readonly isIn: (abbreviation: string, city: string) => boolean;
  /** The same for the area around one: "Greater Toronto Area". */
  readonly isAround: (abbreviation: string, city: string) => boolean;
  /** Under how many abbreviations it has the city. */
  readonly count: (city: string) => number;
}

/** Compiles each list when it is first needed. */
export function compileCities(table: CityTable): Cities {
  const compiled = new Map<string, ReadonlySet<string>>();
  const listAt = (abbreviation: string): readonly string[] => table[abbreviation]?.split(/,\s+/).map(shortened) ?? [];
  const citiesAt = (abbreviation: string): ReadonlySet<string> => {
    const known = compiled.get(abbreviation) ?? new Set(listAt(abbreviation));
    compiled.set(abbreviation, known);
    return known;
  };
  let counts: Map<string, number> | undefined;
  return {
    isIn: (abbreviation, city) => citiesAt(abbreviation).has(foldPlace(city)),
    isAround: (abbreviation, city) => citiesAt(abbreviation).has(foldPlace(city).replace(AROUND, '')),
    count(city) {
      counts ??= countAll(Object.keys(table).map(citiesAt));
      return counts.get(foldPlace(city)) ?? 0;
    },
  };
}

function countAll(lists: readonly ReadonlySet<string>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of lists) for (const city of list) counts.set(city, (counts.get(city) ?? 0) + 1);
  return counts;
}

const shortened = (folded: string): string => folded.replace(/\p{L}+/gu, (word) => SHORT_WORDS.get(word) ?? word);

/** A place's name without case, accents and punctuation, with usual abbreviations. */
export const foldPlace = (text: string): string =>
  shortened(
    text
      .replaceAll('ß', 'ss')
      .normalize('NFKD')
      .replace(/[.'’‘`ʻʼ\p{M}]/gu, '')
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()
      .toLowerCase(),
  );
