// Proposes how a feed is read, from the beginning of its document: a preset, or a format of its own.
import type { FeedConfig } from '../config/config.ts';
import { foreignCities, stateTable, usCities } from '../config/load-us-states.ts';
import { type Preset, readPreset } from '../config/presets.ts';
import type { WrittenFormat } from '../config/schema/format-schema.ts';
import { textPathsIn } from '../posting/path-census.ts';
import { isCountry } from '../posting/steps/country-names.ts';
import { compileUsPlaces } from '../posting/steps/us-places.ts';
import { compileStates } from '../posting/us-states.ts';
import { type DocumentType, documentTypeOf } from './document-type.ts';
import { jsonLists, type RecordList, xmlLists } from './find-lists.ts';
import { feedsNamedIn } from './named-feeds.ts';
import { feedConfigOf, fittingPresets, formatFrom } from './preset-fit.ts';
import { type KeyCandidate, type ProposedMapping, type ProposedRule, proposeMapping } from './propose-fields.ts';
import { type ProposedPages, proposePages } from './propose-pages.ts';
import { type SampledRecords, sampleRecords } from './sample-records.ts';

export interface Proposal {
  /** A preset's name; `undefined`: a format of its own. */
  readonly preset: { readonly name: string; readonly description: string | undefined } | undefined;
  /** Settings of the format, without key and fields; empty for a preset. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The key, if it is not the preset's. */
  readonly key: string | readonly string[] | undefined;
  /** Paths that a person may choose the key from, the likeliest first; absent if there is a key. */
  readonly keyCandidates?: readonly KeyCandidate[];
  /** Records that are not well-formed can be repaired. */
  readonly lenient: boolean;
  /** The fields: all of a format of its own, or those that differ from the preset. */
  readonly fields: Readonly<Record<string, ProposedRule>>;
  /** Site fields that have a value with this proposal. */
  readonly filled: readonly string[];
  /** Records in the beginning of the document. */
  readonly records: number;
  /** Paths of the records that have a text, for the comments. */
  readonly paths: readonly string[];
  readonly notes: readonly string[];
}

export type ProposalResult =
  | { readonly kind: 'proposal'; readonly proposal: Proposal }
  | { readonly kind: 'refused'; readonly message: string };

export interface ProposalRequest {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  /** As the person wrote it. */
  readonly address: string;
  readonly presets: readonly Preset[];
  /** The path of the records, if the person knows it. */
  readonly records: string | undefined;
  /** Proposes a format of its own, whatever presets fit. */
  readonly isOwn: boolean;
}

const refused = (message: string): ProposalResult => ({ kind: 'refused', message });

export async function proposeFormat(request: ProposalRequest): Promise<ProposalResult> {
  const { bytes, address, presets, records, isOwn } = request;
  const type = documentTypeOf(bytes);
  if (type === undefined) return refused('it is empty, or neither XML, JSON, a table nor a page with postings');
  if (type === 'xml' && !isOwn && records === undefined && addressOf(address) !== undefined && isSitemap(bytes)) {
    const sitemap = await proposeSitemap(presets, bytes);
    if (sitemap !== undefined) return { kind: 'proposal', proposal: sitemap };
  }
  const [fit] = isOwn || records !== undefined ? [] : await fittingPresets(presets, type, bytes, address);
  if (fit !== undefined) {
    const { name } = fit.preset;
    const { paths } = factsOf(await sampleRecords(bytes, feedConfigOf(fit.format).source, address));
    return {
      kind: 'proposal',
      proposal: {
        preset: { name, description: fit.format.description },
        settings: {},
        key: undefined,
        lenient: false,
        fields: {},
        filled: fit.filled,
        records: fit.records,
        paths,
        notes: [],
      },
    };
  }
  if (type === 'html') return refusedPage(bytes, address);
  return proposeOwn(request, type);
}

const isSitemap = (bytes: Buffer): boolean =>
  /<(?:[\w-]+:)?(?:urlset|sitemapindex)[\s>]/.test(bytes.toString('utf8', 0, 2_048));

/** A sitemap has no fields by which to recognise it: those of its postings are in its pages. */
async function proposeSitemap(presets: readonly Preset[], bytes: Buffer): Promise<Proposal | undefined> {
  const preset = presets.find(({ name }) => name === 'schema-org-sitemap');
  if (preset === undefined) return undefined;
  const format = await readPreset(preset);
  const { trees, records } = await sampleRecords(bytes, feedConfigOf(format).source);
  return {
    preset: { name: preset.name, description: format.description },
    settings: {},
    key: undefined,
    lenient: false,
    fields: {},
    filled: Object.keys(format.fields),
    records,
    paths: factsOf({ trees, records, unreadable: 0 }).paths,
    notes: ['pages of the sitemap that are no postings should be skipped: skip: { loc: { not_matches: "/jobs/" } }'],
  };
}

function refusedPage(bytes: Buffer, address: string): ProposalResult {
  const feeds = feedsNamedIn(bytes.toString('utf8', 0, 1_048_576), address);
  const next =
    feeds.length === 0
      ? 'ask whoever runs it for a feed or an API'
      : `it names ${feeds.join(', ')}: try ${feeds.length === 1 ? 'that' : 'one of these'}`;
  return refused(`it is an HTML page without postings as JSON${titleOf(bytes)}; ${next}`);
}

const titleOf = (bytes: Buffer): string => {
  const title = /<title[^>]*>([^<]{1,100})/i.exec(bytes.toString('utf8', 0, 65_536))?.[1]?.trim();
  return title === undefined || title === '' ? '' : ` ("${title}")`;
};

/** What a list of records becomes. */
interface Own {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly sample: SampledRecords;
  readonly mapping: ProposedMapping;
  readonly lenient: boolean;
}

/** Repairs records if that makes more of them readable. */
async function sampleLeniently(
  bytes: Buffer,
  source: FeedConfig['source'],
): Promise<{ readonly sample: SampledRecords; readonly lenient: boolean }> {
  const sample = await sampleRecords(bytes, source);
  if (sample.unreadable === 0) return { sample, lenient: false };
  const repaired = await sampleRecords(bytes, { ...source, lenient: true });
  const helps = repaired.unreadable < sample.unreadable;
  return { sample: helps ? repaired : sample, lenient: helps };
}

/** Tries the likeliest lists, and takes the one of which most can be mapped. */
async function proposeOwn(request: ProposalRequest, type: Exclude<DocumentType, 'html'>): Promise<ProposalResult> {
  const { bytes, isWhole } = request;
  const document = type === 'json' ? parsed(bytes) : undefined;
  if (type === 'json' && document === undefined && request.records === undefined) {
    return refused(
      isWhole
        ? 'it begins like JSON, but is not valid'
        : 'it is too large to find its records; name their path with --records',
    );
  }
  const tried: Own[] = [];
  for (const list of listsOf(request, type, document)) {
    const settings = {
      type,
      ...(type === 'xml' || (type === 'json' && list.path !== '') ? { records: list.path } : {}),
      ...tableSettings(type, bytes),
    };
    const { sample, lenient } = await sampleLeniently(bytes, sourceOf(settings));
    if (sample.trees.length > 0)
      tried.push({ settings, sample, lenient, mapping: proposeMapping(sample.trees, places()) });
  }
  const [best] = tried.toSorted((a, b) => worthOf(b.mapping) - worthOf(a.mapping));
  if (best === undefined) return refused('no records were found in it; name their path with --records');
  const pages = proposePages(document, best.sample.records, addressOf(request.address));
  return { kind: 'proposal', proposal: ownProposal(best, pages) };
}

const addressOf = (text: string): URL | undefined =>
  /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;

function ownProposal({ settings, sample, mapping, lenient }: Own, { total, pages, notes }: ProposedPages): Proposal {
  const filled = Object.keys(mapping.fields);
  return {
    preset: undefined,
    settings: { ...settings, ...(total === undefined ? {} : { total }), ...(pages === undefined ? {} : { pages }) },
    key: mapping.key,
    keyCandidates: mapping.keyCandidates,
    lenient,
    fields: mapping.fields,
    filled,
    records: sample.records,
    paths: factsOf(sample).paths,
    notes: [
      ...notes,
      ...(Array.isArray(mapping.key)
        ? [
            `nothing identifies a record by itself, so the key is made of ${mapping.key.join(' and ')}: a posting in which they change becomes another job`,
          ]
        : []),
      ...(sample.unreadable === 0 ? [] : [`${sample.unreadable} of the first records cannot be read`]),
    ],
  };
}

const MOST_LISTS = 4;

function listsOf(
  { records, bytes }: ProposalRequest,
  type: Exclude<DocumentType, 'html'>,
  document: unknown,
): readonly RecordList[] {
  if (records !== undefined) return [{ path: records, records: 0 }];
  if (type === 'xml') return xmlLists(bytes.toString()).slice(0, MOST_LISTS);
  if (type === 'json') return jsonLists(document).slice(0, MOST_LISTS);
  return [{ path: '', records: 0 }];
}

const worthOf = ({ key, fields }: ProposedMapping): number =>
  Object.keys(fields).length + (key === undefined ? 0 : 2) + ('title' in fields ? 3 : 0);

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** How the format splits a document; the key comes later. */
function sourceOf(settings: object): FeedConfig['source'] {
  const format: WrittenFormat = formatFrom({ ...settings, key: 'key', fields: {} });
  const { source } = feedConfigOf(format);
  return source.table === undefined ? source : { ...source, table: { ...source.table, keyPaths: [] } };
}

/** Rows before the header: reports of programs begin with some. */
function tableSettings(type: DocumentType, bytes: Buffer): object {
  if (type !== 'csv') return {};
  const lines = bytes
    .toString('utf8', 0, 65_536)
    .replace(/^\ufeff/, '')
    .replaceAll(/"[^"]*"/g, '')
    .split(/\r\n|\n|\r/);
  const counts = lines
    .slice(0, 30)
    .map((line) => Math.max(...[',', ';', '\t', '|'].map((delimiter) => line.split(delimiter).length - 1)));
  const usual = counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0;
  const header = counts.findIndex((count) => count >= Math.max(1, usual * 0.8));
  return header > 0 && usual > 1 ? { csv: { skip_rows: header } } : {};
}

let known: Parameters<typeof proposeMapping>[1] | undefined;

function places(): Parameters<typeof proposeMapping>[1] {
  const table = stateTable();
  const findState = compileStates(table);
  const isUs = (text: string): boolean => table.countryNames.includes(text);
  known ??= {
    isState: (text) => findState(text) !== undefined,
    placeOf: compileUsPlaces(table, findState, { foreignCities: foreignCities(), usCities: usCities() }),
    isCountry: (text) => isCountry(text, isUs),
  };
  return known;
}

function factsOf({ trees }: SampledRecords): { readonly paths: readonly string[] } {
  return { paths: [...new Set(trees.slice(0, 20).flatMap((tree) => [...textPathsIn(tree)]))].slice(0, 60) };
}
