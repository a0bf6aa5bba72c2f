// Finds the preset that fits a document best, by reading its first records with each preset.
import { makeFeedConfig } from '../config/build/feed-config.ts';
import { readMapFiles } from '../config/build/map-files.ts';
import type { FeedConfig } from '../config/config.ts';
import { folderOf, isBundled, type Preset, readPreset } from '../config/presets.ts';
import { feedSchema } from '../config/schema/feed-schema.ts';
import { formatSchema, type WrittenFormat } from '../config/schema/format-schema.ts';
import { siteSchema } from '../config/schema/site-schema.ts';
import { feedName } from '../posting/identifiers.ts';
import { PathCensus } from '../posting/paths/path-census.ts';
import { parseValuePath, textsAt } from '../posting/paths/value-path.ts';
import type { RecordTree } from '../posting/posting.ts';
import { compileReader } from '../posting/reader.ts';
import type { DocumentType } from './opening.ts';
import { type SampledRecords, sampleLeniently } from './sample-records.ts';

export interface PresetFit {
  readonly preset: Preset;
  readonly format: WrittenFormat;
  /** Higher is better. */
  readonly score: number;
  readonly yield: MappedRecords;
  readonly records: number;
  /** Records that are not well-formed can be repaired. */
  readonly lenient: boolean;
  /** The address or the records have what only the preset's system has. */
  readonly isSigned: boolean;
}

/** What a mapping makes of the sampled records. */
export interface MappedRecords {
  readonly records: number;
  /** Records that would be sent. */
  readonly postings: number;
  /** Records that the mapping skips on purpose. */
  readonly skipped: number;
  /** Site fields with a value that is accepted → in how many records. */
  readonly filled: ReadonlyMap<string, number>;
  /** Site fields with a value that is refused → in how many records. */
  readonly refused: ReadonlyMap<string, number>;
}

/** Fewer records with a key, or with a title: the preset is made for other feeds. */
const MIN_SHARE = 0.6;
/** What a value counts that a rule refuses, such as a place outside the country. */
const REFUSED = -0.5;
/** Without these, a posting is of little use. */
const WEIGHTS: Readonly<Record<string, number>> = {
  title: 4,
  description: 2,
  'location-state': 2,
  'location-city': 1,
  'contact-web-address': 1,
};

/** The presets that fit, the best first. @param address the source's, whose form a preset's example may have. */
export async function fittingPresets(
  presets: readonly Preset[],
  type: DocumentType,
  bytes: Buffer,
  address: string,
): Promise<readonly PresetFit[]> {
  const samples = new Map<string, Awaited<ReturnType<typeof sampleLeniently>>>();
  const fits: PresetFit[] = [];
  for (const preset of presets) {
    const format = await readPreset(preset);
    if (!isReadBy(type, format.type)) continue;
    const feed = await feedOf(format, preset);
    const { recordPath, format: name, script } = feed.source;
    // Tables are refused without the columns of the key.
    const group = JSON.stringify([name, recordPath, script, name === 'csv' ? format.key : '']);
    const sampled = samples.get(group) ?? (await sampleLeniently(bytes, feed.source, address));
    samples.set(group, sampled);
    const { sample, lenient } = sampled;
    const fit = sample.trees.length === 0 ? undefined : fitOf(feed, sample);
    if (fit === undefined) continue;
    const isAtHome = hasFormOf(format.example?.source, address);
    const bonus =
      (isAtHome ? ADDRESS_BONUS : 0) +
      (GENERAL.has(preset.name)
        ? GENERAL_BONUS
        : hasListedSign(preset.name, { trees: sample.trees, bytes })
          ? SIGN_BONUS
          : 0);
    const isSigned =
      isAtHome || !isBundled(preset) || hasSign(preset.name, format, { ...fit, trees: sample.trees, bytes });
    fits.push({
      preset,
      format,
      lenient,
      yield: fit.yield,
      isSigned,
      score: fit.score + bonus,
      records: sample.records,
    });
  }
  return fits.sort((a, b) => b.score - a.score);
}

const ADDRESS_BONUS = 5;
const SIGN_BONUS = 1.5;

/** Presets that others resemble: of two that read the same, the better known name is proposed. */
const GENERAL = new Set(['indeed', 'jooble', 'rss', 'csv']);
const GENERAL_BONUS = 0.6;

const isReadBy = (type: DocumentType, format: WrittenFormat['type']): boolean =>
  type === format || (format === 'json-ld' && (type === 'html' || type === 'json'));

async function feedOf(format: WrittenFormat, preset: Preset): Promise<FeedConfig> {
  const { files: mapFiles } = await readMapFiles(format.fields, folderOf(preset));
  return feedConfigOf(format, mapFiles);
}

/** A feed of a format, with the usual site, that is never opened. */
export function feedConfigOf(
  format: WrittenFormat,
  mapFiles: Awaited<ReturnType<typeof readMapFiles>>['files'] = new Map(),
): FeedConfig {
  const site = siteSchema.parse({ base_url: 'https://jobs.example.com', token: `\${TOKEN}` });
  const feed = feedSchema.parse({ source: 'feed', format: 'any', site: 'any' });
  const around = { env: {}, folder: '.', absent: () => undefined };
  return makeFeedConfig({
    ...around,
    name: feedName('any'),
    feed,
    format,
    site,
    mapFiles,
    credentials: undefined,
    isOwnFormat: true,
  });
}

/** Parses a format that was made up here. */
export const formatFrom = (settings: object): WrittenFormat => formatSchema.parse(settings);

interface Fit {
  readonly score: number;
  readonly yield: MappedRecords;
  /** Paths of the mapping that the records have. */
  readonly existing: readonly string[];
}

function fitOf(feed: FeedConfig, { trees }: SampledRecords): Fit | undefined {
  const { keyed, titled, ...found } = readAll(feed, trees);
  const meant = trees.length - found.skipped;
  if (meant === 0 || keyed < MIN_SHARE * meant || titled < MIN_SHARE * meant) return undefined;
  const census = new PathCensus(feed.mapping);
  for (const tree of trees) census.add(tree);
  const used = new Map(census.used().map(({ path, exists }) => [path, exists]));
  const existing = [...used].flatMap(([path, exists]) => (exists ? [path] : []));
  const penalty = [...found.refused].reduce((sum, [field, count]) => sum + weightOf(field) * REFUSED * count, 0);
  const fields = valueOfFields(found) + penalty / trees.length;
  return {
    score: fields + 0.2 * existing.length - 0.1 * (used.size - existing.length) + keyed / meant,
    yield: found,
    existing,
  };
}

/** @param trees records of the feed. */
export const mappedRecordsOf = (feed: FeedConfig, trees: readonly RecordTree[]): MappedRecords => readAll(feed, trees);

const weightOf = (field: string): number => WEIGHTS[field] ?? 0.5;

/** What the fields of an average record are worth. */
export const valueOfFields = ({ filled, records, skipped }: MappedRecords): number =>
  [...filled].reduce((sum, [field, count]) => sum + (weightOf(field) * count) / Math.max(1, records - skipped), 0);

interface ReadRecords extends MappedRecords {
  readonly keyed: number;
  readonly titled: number;
}

function readAll(feed: FeedConfig, trees: readonly RecordTree[]): ReadRecords {
  const reader = compileReader(feed.mapping);
  const filled = new Map<string, number>();
  const refused = new Map<string, number>();
  let postings = 0;
  let keyed = 0;
  let skipped = 0;
  for (const tree of trees) {
    const read = reader.read(tree);
    if (read.kind === 'skipped') skipped++;
    if (read.kind !== 'posting' && read.kind !== 'invalid') continue;
    keyed++;
    if (read.kind === 'posting') postings++;
    const faulty = new Set(read.kind === 'invalid' ? read.problems.map(({ field }) => field) : []);
    for (const field of Object.keys(read.posting.fields)) {
      const counts = faulty.has(field) ? refused : filled;
      counts.set(field, (counts.get(field) ?? 0) + 1);
    }
  }
  const titled = (filled.get('title') ?? 0) + (refused.get('title') ?? 0);
  return { records: trees.length, postings, skipped, filled, refused, keyed, titled };
}

/** Whether an address differs from the example only where the example has the name of a customer. */
function hasFormOf(example: unknown, address: string): boolean {
  if (typeof example !== 'string' || !URL.canParse(example) || !URL.canParse(address)) return false;
  const [ours, theirs] = [new URL(address), new URL(example)];
  if (/(?:^|\.)example\.(?:com|org|net)$/.test(theirs.hostname)) return false;
  const pattern = theirs.hostname
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/acme/g, '[a-z0-9-]+')
    .replace(/\\\.wd\d+\\\./, '\\.wd\\d+\\.');
  return new RegExp(`^${pattern}$`, 'i').test(ours.hostname);
}

// Tells a preset's own system from feeds that merely have the usual names, by what only this system has.

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
function hasSign(preset: string, format: WrittenFormat, evidence: SignEvidence): boolean {
  // The script of a page is its sign.
  if (COMMON.has(preset) || format.type === 'html' || hasListedSign(preset, evidence)) return true;
  const around = [format.records ?? '', ...format.total].flatMap((path) => path.split(/[/.]/));
  const skipped = (format.skip ?? []).flat().flatMap(({ path }) => (isThere(path, evidence.trees) ? [path] : []));
  const names = [...around, ...[...evidence.existing, ...skipped].flatMap(namesIn)];
  return names.some(isDistinctive) || isNamed(preset, evidence.bytes);
}

function hasListedSign(preset: string, { trees, bytes }: Pick<SignEvidence, 'trees' | 'bytes'>): boolean {
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
