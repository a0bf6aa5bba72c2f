// Recognises the names of countries other than the United States: "Canada", "United Kingdom", "UK".
import { foldPlace } from './cities.ts';

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

/** Its name is also a state's. */
const GEORGIA = 'Georgia';

const display = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
const nameOfCode = (code: string): string | undefined => display.of(code);

/** By the Unicode CLDR, in the version of this Node (ECMA-402, `Intl.DisplayNames`). */
function namesOfCountries(): ReadonlySet<string> {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const found = codes.flatMap((code) => (code === 'US' || code === 'GE' ? [] : (nameOfCode(code) ?? [])));
  return new Set([...found, ...OTHER_NAMES].map(foldPlace));
}
