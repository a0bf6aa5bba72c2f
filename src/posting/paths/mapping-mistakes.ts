// Finds likely mistakes of a mapping in samples of records: paths at which no record has a text, with the path that may be meant.
import { explainNoDate } from '../dates.ts';
import type { FieldMapping } from '../field-mapping.ts';
import { nearestName } from '../id-and-name.ts';
import { excerpt } from '../markup.ts';
import type { CountedDates, CountedPath, PathCensus } from './path-census.ts';

/** So many paths of the records are named where none resembles the mapping's. */
const MAX_NAMED = 8;

/**
 * One sentence for each likely mistake, with the setting; empty if there is none. Says nothing about optional elements that
 * a preset provides for and the feed does not have, unless another name resembles theirs.
 *
 * @param ownFields fields that the configuration itself maps; the others are a preset's.
 * @param detail the name of a part that the samples lack: nothing is said about paths into it.
 */
export function mappingMistakes(
  spec: Pick<FieldMapping, 'fields' | 'places'>,
  census: PathCensus,
  ownFields: ReadonlySet<string>,
  detail?: string,
): readonly string[] {
  if (census.records === 0) return dateMistakes(census, [], detail);
  const used = census.used();
  const known = census.found().map(({ path }) => path);
  const taken = new Set(used.filter(({ records }) => records > 0).map(({ path }) => path));
  const free = known.filter((path) => !taken.has(path));
  const isSampled = ({ parsed }: CountedPath) => detail === undefined || parsed[0]?.name !== detail;
  const emptyOf = (field: string | undefined) =>
    used.filter((path) => path.field === field && !path.exists && isSampled(path));
  const keyMistakes = emptyOf(undefined).map((path) =>
    sentence('key', path, census, guessFor(path.path, known) ?? { names: known }),
  );
  return [
    ...keyMistakes,
    ...statedKeyMistake(used, known),
    ...lostMistakes(census),
    ...placeMistakes(spec, census, known, detail),
    ...listMistakes('unordered', census.unmet(), census, known, detail),
    ...Object.keys(spec.fields).flatMap((field) => mistakesOf(field)),
    ...dateMistakes(census, free, detail),
  ];

  function mistakesOf(field: string): readonly string[] {
    const empty = emptyOf(field);
    const isEmpty = empty.length > 0 && empty.length === used.filter((path) => path.field === field).length;
    const isOwn = ownFields.has(field);
    if (!isEmpty && !isOwn) return [];
    const guessed = empty.flatMap((path) => {
      const guess = guessFor(path.path, isOwn ? known : free);
      const isAlternative = used.some((other) => other.field === field && other.path === guess?.name);
      return guess === undefined || isAlternative ? [] : [sentence(`fields.${field}`, path, census, guess)];
    });
    const [first] = empty;
    if (guessed.length > 0 || !isEmpty || !isOwn || first === undefined) return guessed;
    return [sentence(`fields.${field}`, first, census, { names: known })];
  }
}

/** A key that changes once the site gives its pages another address, or none. */
function statedKeyMistake(used: readonly CountedPath[], known: readonly string[]): readonly string[] {
  const isKey = used.some(({ field, path }) => field === undefined && path === 'page/address');
  if (!isKey || !known.includes('page/stated')) return [];
  return [
    'key: "page/address" is what pages state about themselves (rel=canonical, og:url), as they are read from files and their postings have no url; if the site changes that, every job is created again; take a text of the posting, such as identifier/value',
  ];
}

/** What was lost cannot be told from the feed; several fields may be read from one path. */
const lostMistakes = (census: PathCensus): readonly string[] => [
  ...new Set(
    census.lost().map(({ field, count, example, what, so }) => {
      const setting = field === undefined ? 'key' : `fields.${field}`;
      const all = recordsRead(census.records);
      const who = count >= census.records ? all : `${count} of ${all}`;
      return `${setting}: ${who} ${count === 1 ? 'has' : 'have'} ${what}, such as "${excerpt(example, 60)}", ${so}`;
    }),
  ),
];

/** A wrong path of `places` would be read as if each record had one place. */
function placeMistakes(
  { places }: Pick<FieldMapping, 'places'>,
  census: PathCensus,
  known: readonly string[],
  detail: string | undefined,
): readonly string[] {
  if (places === undefined || census.placed > 0) return [];
  const paths = [places.path].flat();
  if (detail !== undefined && paths.some((path) => path.split('/')[0] === detail)) return [];
  return listMistakes('places.path', paths.slice(0, 1), census, known, detail);
}

/** At these paths no record has an element, with or without a text of its own. */
function listMistakes(
  setting: string,
  paths: readonly string[],
  census: PathCensus,
  known: readonly string[],
  detail: string | undefined,
): readonly string[] {
  const names = [
    ...new Set(known.flatMap((path) => path.split('/').map((_, at, all) => all.slice(0, at + 1).join('/')))),
  ];
  return paths
    .filter((path) => detail === undefined || path.split('/')[0] !== detail)
    .map((path) => sentence(setting, { path }, census, guessFor(path, names) ?? { names: known }));
}

/** Several conditions may be on one path. */
const dateMistakes = (census: PathCensus, free: readonly string[], detail: string | undefined): readonly string[] => [
  ...new Set(census.dates().flatMap((dates) => dateMistake(dates, census, free, detail))),
];

/** Where a condition on dates finds none, it silently does not hold. */
function dateMistake(
  { setting, condition: { path, order }, filled, unreadable, example = '' }: CountedDates,
  { datedRecords: records }: PathCensus,
  free: readonly string[],
  detail: string | undefined,
): readonly string[] {
  if (filled === 0) {
    // Many records have no such date, and that is no mistake.
    const guess = path.split('/')[0] === detail ? undefined : guessFor(path, free);
    return guess === undefined ? [] : [sentence(setting, { path }, { records }, guess)];
  }
  if (unreadable === 0) return [];
  const hint = order === undefined ? 'dates such as 4/8/2012 need an order' : 'check its order of day and month';
  const all = recordsRead(records);
  const where = unreadable === records ? all : `${unreadable} of ${all}`;
  return [
    `${setting}: "${path}" is no date in ${where}, so that conditions on dates do not hold there: "${excerpt(example.trim(), 60)}" ${explainNoDate(example.trim(), hint)}`,
  ];
}

/** What is meant instead: one name, or one of several. */
type Guess =
  | { readonly name: string; readonly names?: undefined }
  | { readonly name?: undefined; readonly names: readonly string[] };

/** A path of the records whose whole or last name resembles the empty one's. */
function guessFor(path: string, known: readonly string[]): { readonly name: string } | undefined {
  const name = nearestName(path, known) ?? sameLastName(path, known) ?? nearestName(lastNameOf(path), known);
  return name === undefined ? undefined : { name };
}

function sameLastName(path: string, known: readonly string[]): string | undefined {
  const last = lastNameOf(path).toLowerCase();
  const others = known.filter((other) => lastNameOf(other).toLowerCase() === last);
  return others.length === 1 ? others[0] : undefined;
}

/** Without conditions, and without the mark of an attribute. */
const lastNameOf = (path: string): string =>
  path
    .replace(/\[[^\]]*\]/g, '')
    .split('/')
    .at(-1)
    ?.replace(/^@/, '') ?? path;

function sentence(
  setting: string,
  { path }: Pick<CountedPath, 'path'>,
  { records }: Pick<PathCensus, 'records'>,
  guess: Guess,
): string {
  return `${setting}: "${path}" is always empty in ${recordsRead(records)}; ${askFor(guess, records)}`;
}

const recordsRead = (records: number): string =>
  records === 1 ? 'the only record that was read' : `the ${records} records that were read`;

function askFor({ name, names = [] }: Guess, records: number): string {
  if (name !== undefined) return `did you mean "${name}"?`;
  if (names.length === 0) return records === 1 ? 'it has no text at all' : 'they have no text at all';
  const more = names.length > MAX_NAMED ? ', …' : '';
  return `${records === 1 ? 'it has' : 'they have'} ${names
    .slice(0, MAX_NAMED)
    .map((one) => `"${one}"`)
    .join(', ')}${more}`;
}
