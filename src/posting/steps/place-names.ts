// Knows the names of places: cities by the state or code that they are written with ("Austin, TX", "Munich, DE"), and
// countries other than the United States.

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

interface Cities {
  /** Whether the table has the city under this abbreviation. */
  readonly isIn: (abbreviation: string, city: string) => boolean;
  /** Whether a text names the area around a city: "Greater Toronto Area". */
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

// Recognises the names of countries other than the United States: "Canada", "United Kingdom", "UK".

const OTHER_NAMES = [
  ...['UK', 'Great Britain', 'England', 'Scotland', 'Wales', 'Northern Ireland', 'Holland', 'The Netherlands', 'UAE'],
  ...[
    'Korea',
    'Republic of Korea',
    'Czech Republic',
    'Turkey',
    'Ivory Coast',
    'Burma',
    'Russian Federation',
    'Hong Kong',
  ],
  ...[
    'Republic of Ireland',
    'Viet Nam',
    'Macedonia',
    'Deutschland',
    'Schweiz',
    'Österreich',
    'España',
    'México',
    'Brasil',
  ],
  // Codes of three letters; AUS and IND are also Austin and Indianapolis.
  ...['CAN', 'GBR', 'MEX', 'DEU', 'FRA', 'IRL', 'NLD', 'CHE', 'SGP', 'JPN', 'BRA'],
  ...['EMEA', 'APAC', 'LATAM', 'Europe', 'European Union', 'EU', 'Asia', 'Africa', 'Latin America', 'South America'],
];

let names: ReadonlySet<string> | undefined;

/** Whether a text is the English name of a country, or of a group of countries, that is neither the United States nor one of its states. */
export function isCountryName(text: string): boolean {
  names ??= namesOfCountries();
  return names.has(foldPlace(text));
}

/** Whether a text names a country in any usual way: the United States too, and two capital letters of ISO 3166-1. */
export const isCountry = (text: string, isUs: (text: string) => boolean): boolean =>
  isUs(text) || isCountryName(text) || text === GEORGIA || (/^[A-Z]{2}$/.test(text) && nameOfCode(text) !== undefined);

/** The country's name is also a state's. */
const GEORGIA = 'Georgia';

let display: Intl.DisplayNames | undefined;

function nameOfCode(code: string): string | undefined {
  // Made where it is needed: it takes as long as starting Node does.
  display ??= new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  return display.of(code);
}

/** By the Unicode CLDR, in the version of this Node (ECMA-402, `Intl.DisplayNames`). */
function namesOfCountries(): ReadonlySet<string> {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const found = codes.flatMap((code) => (code === 'US' || code === 'GE' ? [] : (nameOfCode(code) ?? [])));
  return new Set([...found, ...OTHER_NAMES].map(foldPlace));
}
