// Tells a preset's own system from feeds that merely have the usual names, by the names that only this system has.
import type { WrittenFormat } from '../config/schema/format-schema.ts';
import type { RecordTree } from '../posting/posting.ts';
import { parseValuePath, textsAt } from '../posting/value-path.ts';

/** Presets of formats that belong to no system. */
const COMMON = new Set(['csv', 'rss', 'rss-link', 'atom', 'schema-org']);

/** Paths in the records, or names around them, that only this format has, although its preset does not read them. */
const SIGNS: Readonly<Record<string, readonly string[]>> = {
  adzuna: ['salary/min'],
  breezy: ['friendly_id'],
  jazzhr: ['buttons'],
  jobsora: ['phone'],
  talent: ['isremote'],
  workable: ['application_url', 'shortlink'],
  'wp-job-manager': ['job_listing:location'],
};

/** Words of which whoever writes a feed makes names, without knowing any system. */
const USUAL_WORDS = new Set(
  `address ad ads aggregate all apply applyurl application applications board body brief business careers categories
  category channel city code company companyname contact content countries country countrycode create created currency
  data date dates department departments description descriptions detail details display division email employer
  employment end entry experience expires external feed fields first free full function functions guid headline html http
  https id ids industry info is item items job jobid jobs jobtitle jobtype jobposting jobpostings key label lang language
  last lat latitude level link links list lng location locations logo long longitude mail main max meta min modified name
  number offer offers office offices open opening openings order page pages path phone place places plain position
  positions post postal postalcode postcode posted posting postings product products primary public publication
  published publisher ref reference region remote req requirements requisition requisitions result results role root row
  rows rss salary section sections short site slug source start state states status street summary tag tags team teams
  telecommute text time title titles total type types uid update updated url urls uuid vacancies vacancy value values
  work workplace workplacetype xml zip`
    .split(/\s+/)
    .map((word) => word.trim()),
);

/** Whether nobody would name an element so without knowing the system. */
const isDistinctive = (name: string): boolean => {
  if (name === '*' || name === '.' || name === '') return false;
  if (name.includes(':')) return true;
  const words = name
    .replace(/^@/, '')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
  return words.some((word) => !USUAL_WORDS.has(word));
};

/**
 * @param existing the paths of the preset that the records have. Texts that the feed may lack are no proof against it.
 */
export function hasSign(
  preset: string,
  format: WrittenFormat,
  { existing, trees }: { readonly existing: readonly string[]; readonly trees: readonly RecordTree[] },
): boolean {
  if (COMMON.has(preset) || hasListedSign(preset, trees)) return true;
  const around = [format.records ?? '', ...format.total].flatMap((path) => path.split(/[/.]/));
  return [...around, ...existing.flatMap(namesIn)].some(isDistinctive);
}

export function hasListedSign(preset: string, trees: readonly RecordTree[]): boolean {
  const signs = (SIGNS[preset] ?? []).map(parseValuePath);
  return signs.some((path) => trees.some((tree) => textsAt(path, tree).length > 0));
}

const namesIn = (path: string): readonly string[] => parseValuePath(path).map(({ name }) => name);
