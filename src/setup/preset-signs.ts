// Tells a preset's own system from feeds that merely have the usual names, by what only this system has.
import type { WrittenFormat } from '../config/schema/format-schema.ts';
import type { RecordTree } from '../posting/posting.ts';
import { parseValuePath, textsAt } from '../posting/value-path.ts';

/** Presets of formats that belong to no system. */
const COMMON = new Set(['csv', 'rss', 'rss-link', 'atom', 'schema-org']);

/**
 * What only this format has although its preset does not read it: paths in the records, of which all of a line must be
 * there, or a text of the document.
 */
const SIGNS: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  adzuna: ['salary/min'],
  breezy: ['friendly_id'],
  careerjet: ['company_url + location/region'],
  jazzhr: ['buttons', /applytojob\.com|<publisher>[^<]{0,20}JazzHR|\bjob_\d{14}_/],
  jobrapido: ['publishdate + expirydate', 'publishdate + website'],
  jobsora: ['@id + name + region + phone'],
  jooble: ['@id + name + region', '@id + name + link'],
  jora: ['listed_date', 'closing_date + postalcode'],
  recruitee: ['careers_url', 'careers_apply_url'],
  rippling: ['uuid + workLocation/label'],
  successfactors: [/[?&;]feedId=|jobs2web|successfactors|sapsf/],
  talent: ['isremote'],
  workable: ['application_url + shortcode', 'shortlink'],
  'wp-job-manager': ['job_listing:location'],
  xing: ['job_title + job_locations/job_location/city'],
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

export interface SignEvidence {
  /** Paths of the preset that the records have. */
  readonly existing: readonly string[];
  readonly trees: readonly RecordTree[];
  readonly bytes: Buffer;
}

/** Whether a document is of the preset's own system. */
export function hasSign(preset: string, format: WrittenFormat, evidence: SignEvidence): boolean {
  // The script of a page is its sign.
  if (COMMON.has(preset) || format.type === 'html' || hasListedSign(preset, evidence)) return true;
  const around = [format.records ?? '', ...format.total].flatMap((path) => path.split(/[/.]/));
  const skipped = (format.skip ?? []).flat().flatMap(({ path }) => (isThere(path, evidence.trees) ? [path] : []));
  const names = [...around, ...[...evidence.existing, ...skipped].flatMap(namesIn)];
  return names.some(isDistinctive) || isNamed(preset, evidence.bytes);
}

export function hasListedSign(preset: string, { trees, bytes }: Pick<SignEvidence, 'trees' | 'bytes'>): boolean {
  return (SIGNS[preset] ?? []).some((sign) =>
    typeof sign === 'string' ? sign.split(' + ').every((path) => isThere(path, trees)) : sign.test(headOf(bytes)),
  );
}

function isThere(path: string, trees: readonly RecordTree[]): boolean {
  const parsed = parseValuePath(path);
  return trees.some((tree) => textsAt(parsed, tree).length > 0);
}

const headOf = (bytes: Buffer): string => bytes.toString('latin1', 0, 65_536);

/** The root, a namespace, the generator or a host has the name of the system. */
function isNamed(preset: string, bytes: Buffer): boolean {
  const brand = preset.replace(/-(?:rss|xml|json|page|api|v?\d+|pcsx)$/, '');
  const head = headOf(bytes);
  const [, root = ''] = /<([A-Za-z_][\w.:-]*)/.exec(head) ?? [];
  const [, maker = ''] = /<(?:generator|publisher)\b[^>]*>([^<]{0,100})/i.exec(head) ?? [];
  const hosts = [...head.matchAll(/https?:\\?\/\\?\/([\w.-]+)/g)].map(([, host = '']) => host);
  const isBrand = new RegExp(`(?:^|[^a-z])${brand.replaceAll('-', '[^a-z]?')}`, 'i');
  return [root, maker, ...new Set(hosts)].some((text) => isBrand.test(text));
}

const namesIn = (path: string): readonly string[] => parseValuePath(path).map(({ name }) => name);
