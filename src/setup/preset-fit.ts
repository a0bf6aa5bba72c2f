// Finds the preset that fits a document best, by reading its first records with each preset.

import type { FeedConfig } from '../config/config.ts';
import { makeFeedConfig } from '../config/feed-config.ts';
import { readMapFiles } from '../config/map-files.ts';
import { folderOf, type Preset, readPreset } from '../config/presets.ts';
import { feedSchema } from '../config/schema/feed-schema.ts';
import { formatSchema, type WrittenFormat } from '../config/schema/format-schema.ts';
import { siteSchema } from '../config/schema/site-schema.ts';
import { feedName } from '../posting/identifiers.ts';
import { PathCensus } from '../posting/path-census.ts';
import { compileReader } from '../posting/reader.ts';
import { parseValuePath, textsAt } from '../posting/value-path.ts';
import type { DocumentType } from './document-type.ts';
import { type SampledRecords, sampleRecords } from './sample-records.ts';

export interface PresetFit {
  readonly preset: Preset;
  readonly format: WrittenFormat;
  /** Higher is better. */
  readonly score: number;
  /** Site fields that have a value in the sample. */
  readonly filled: readonly string[];
  readonly records: number;
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
  const samples = new Map<string, SampledRecords>();
  const fits: PresetFit[] = [];
  for (const preset of presets) {
    const format = await readPreset(preset);
    if (!isReadBy(type, format.type)) continue;
    const feed = await feedOf(format, preset);
    const { recordPath, format: name, script } = feed.source;
    // Tables are refused without the columns of the key.
    const group = JSON.stringify([name, recordPath, script, name === 'csv' ? format.key : '']);
    const sample = samples.get(group) ?? (await sampleRecords(bytes, feed.source, address));
    samples.set(group, sample);
    const fit = sample.trees.length === 0 ? undefined : fitOf(feed, sample);
    if (fit === undefined) continue;
    const bonus =
      (hasFormOf(format.example?.source, address) ? ADDRESS_BONUS : 0) +
      (hasSigns(preset.name, sample) ? SIGN_BONUS : 0) +
      (GENERAL.has(preset.name) ? GENERAL_BONUS : 0);
    fits.push({ preset, format, ...fit, score: fit.score + bonus, records: sample.records });
  }
  return fits.sort((a, b) => b.score - a.score);
}

const ADDRESS_BONUS = 5;
const SIGN_BONUS = 1.5;

/** Presets that others resemble: of two that read the same, the better known name is proposed. */
const GENERAL = new Set(['indeed', 'jooble', 'rss', 'csv']);
const GENERAL_BONUS = 0.6;

/** Paths in the records that only this format has, although its preset does not read them. */
const SIGNS: Readonly<Record<string, string>> = {
  adzuna: 'salary/min',
  jobsora: 'phone',
  talent: 'isremote',
  'wp-job-manager': 'job_listing:location',
};

function hasSigns(preset: string, { trees }: SampledRecords): boolean {
  const sign = SIGNS[preset];
  if (sign === undefined) return false;
  const path = parseValuePath(sign);
  return trees.some((tree) => textsAt(path, tree).length > 0);
}

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
  const parts = { feed, format, site, mapFiles, credentials: undefined, env: {}, folder: '.', isOwnFormat: true };
  return makeFeedConfig(feedName('any'), parts);
}

/** Parses a format that was made up here. */
export const formatFrom = (settings: object): WrittenFormat => formatSchema.parse(settings);

function fitOf(feed: FeedConfig, { trees }: SampledRecords): Pick<PresetFit, 'score' | 'filled'> | undefined {
  const reader = compileReader(feed.mapping);
  const census = new PathCensus(feed.mapping);
  const counts = new Map<string, number>();
  const keys = new Set<string>();
  let keyed = 0;
  for (const tree of trees) {
    const read = reader.read(tree);
    census.add(tree);
    if (read.kind !== 'posting' && read.kind !== 'invalid') {
      if (read.kind === 'skipped') keyed++;
      continue;
    }
    keyed++;
    keys.add(read.posting.key);
    const refused = new Set(read.kind === 'invalid' ? read.problems.map(({ field }) => field) : []);
    for (const field of Object.keys(read.posting.fields)) {
      counts.set(field, (counts.get(field) ?? 0) + (refused.has(field) ? REFUSED : 1));
    }
  }
  if (keyed < MIN_SHARE * trees.length || (counts.get('title') ?? 0) < MIN_SHARE * trees.length) return undefined;
  const share = (field: string) => (counts.get(field) ?? 0) / trees.length;
  const filled = Object.keys(feed.mapping.fields).filter((field) => counts.has(field));
  const fields = filled.reduce((sum, field) => sum + (WEIGHTS[field] ?? 0.5) * share(field), 0);
  const used = new Map(census.used().map(({ path, exists }) => [path, exists]));
  const existing = [...used.values()].filter((exists) => exists).length;
  return { score: fields + 0.2 * existing - 0.1 * (used.size - existing) + keyed / trees.length, filled };
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
