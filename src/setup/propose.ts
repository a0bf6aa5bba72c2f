// Proposes how a feed is read, from the beginning of its document: a preset, or a format of its own.
import { isDeepStrictEqual } from 'node:util';
import type { FeedConfig } from '../config/config.ts';
import { foreignCities, stateTable, usCities } from '../config/load-us-states.ts';
import { type Preset, readPreset } from '../config/presets.ts';
import type { WrittenFormat } from '../config/schema/format-schema.ts';
import type { ListHeaders } from '../feed/source/source.ts';
import { TAKES_EVERY_NAME } from '../posting/id-and-name.ts';
import { textPathsIn } from '../posting/paths/path-census.ts';
import { parseValuePath, textsAt } from '../posting/paths/value-path.ts';
import { compileStates } from '../posting/places.ts';
import { compileCities, isCountry } from '../posting/steps/place-names.ts';
import { compileUsPlaces } from '../posting/steps/us-places.ts';
import { jsonLists, type RecordList, xmlLists } from './find-lists.ts';
import { type DocumentType, documentTypeOf } from './opening.ts';
import { feedsNamedIn, namedJson, namedOther, proposeSkip, tableLayout } from './other-shapes.ts';
import {
  feedConfigOf,
  fittingPresets,
  formatFrom,
  type MappedRecords,
  mappedRecordsOf,
  type PresetFit,
  valueOfFields,
} from './preset-fit.ts';
import {
  hasSeveral,
  isUnique,
  type KeyCandidate,
  type ProposedMapping,
  type ProposedRule,
  proposeMapping,
} from './propose-fields.ts';
import { type ProposedPages, proposePages } from './propose-pages.ts';
import { type SampledRecords, sampleLeniently, sampleRecords } from './sample-records.ts';

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
  /** The paths with some of their values, for whoever has to choose one. */
  readonly columns: readonly PathSample[];
  readonly notes: readonly string[];
  /** The second choice, and how it differs. */
  readonly runnerUp?: SecondProposal;
}

export interface PathSample {
  readonly path: string;
  readonly values: readonly string[];
}

export interface SecondProposal {
  /** A preset, or `own`. */
  readonly format: string;
  /** Postings of the sampled records that it would send. */
  readonly postings: number;
  readonly records: number;
  /** Site fields that only this one fills. */
  readonly gains: readonly string[];
  /** Site fields that only the proposed one fills. */
  readonly losses: readonly string[];
}

export type ProposalResult =
  | { readonly kind: 'proposal'; readonly proposal: Proposal }
  /** `mayNameRecords`: it may be recognised if the person names the path of its records. */
  | { readonly kind: 'refused'; readonly message: string; readonly mayNameRecords?: true };

export interface ProposalRequest {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  readonly headers?: ListHeaders;
  /** As the person wrote it. */
  readonly address: string;
  readonly presets: readonly Preset[];
  /** The path of the records, if the person knows it. */
  readonly records: string | undefined;
  /** Proposes a format of its own, whatever presets fit. */
  readonly isOwn: boolean;
  /** A person chose the preset, the only one of `presets`. */
  readonly isChosen?: boolean;
}

const refused = (message: string): ProposalResult => ({ kind: 'refused', message });

export async function proposeFormat(request: ProposalRequest): Promise<ProposalResult> {
  const { bytes, address, presets, records, isOwn, isChosen = false } = request;
  const type = documentTypeOf(bytes);
  const named = namedOther(type, bytes.toString('utf8', 0, 4_096));
  if (named !== undefined) return refused(named);
  if (type === undefined) return refused('it is empty, or neither XML, JSON, a table nor a page with postings');
  if (type === 'xml' && !isOwn && records === undefined && addressOf(address) !== undefined && isSitemap(bytes)) {
    const sitemap = await proposeSitemap(presets, bytes);
    if (sitemap !== undefined) return { kind: 'proposal', proposal: sitemap };
  }
  const fits = isOwn || records !== undefined ? [] : await fittingPresets(presets, type, bytes, address);
  const [first] = fits;
  if (isChosen && first !== undefined) return presetProposal(first, request);
  if (first === undefined && !isOwn && records === undefined && (type === 'html' || type === 'json')) {
    const keyless = await proposeKeyless(presets, bytes, address);
    if (keyless !== undefined) return { kind: 'proposal', proposal: keyless };
  }
  const best = fits.find(({ isSigned }) => isSigned);
  if (type === 'html') return best === undefined ? refusedPage(bytes, address) : presetProposal(best, request);
  const own = await proposeOwn(request, type);
  if (own.kind === 'refused') return best === undefined ? own : presetProposal(best, request);
  const { proposal, yield: ownYield } = own;
  if (best === undefined || isBetter(ownYield, best)) {
    const other = best ?? first;
    const runnerUp = other === undefined ? {} : { runnerUp: runnerUpOf(other.preset.name, other.yield, ownYield) };
    return { kind: 'proposal', proposal: { ...proposal, ...runnerUp } };
  }
  const second = fits.find((fit) => fit !== best && fit.isSigned);
  const isOwnSecond = second === undefined || isBetter(ownYield, second);
  const [name, other] = isOwnSecond ? (['own', ownYield] as const) : ([second.preset.name, second.yield] as const);
  return presetProposal(best, request, runnerUpOf(name, other, best.yield));
}

async function presetProposal(
  { preset, format, records, lenient, yield: found }: PresetFit,
  { bytes, address }: ProposalRequest,
  runnerUp?: SecondProposal,
): Promise<ProposalResult> {
  const proposal = {
    ...ofPreset(preset, format),
    lenient,
    filled: Object.keys(format.fields).filter((field) => hasField(found, field)),
    records,
    ...factsOf(await sampleRecords(bytes, feedConfigOf(format).source, address)),
    ...(runnerUp === undefined ? {} : { runnerUp }),
  };
  return { kind: 'proposal', proposal };
}

/** As the preset reads it. */
const ofPreset = ({ name }: Preset, { description }: Pick<WrittenFormat, 'description'>) => ({
  preset: { name, description },
  settings: {},
  key: undefined,
  lenient: false,
  fields: {},
  notes: [],
});

/** With values that are accepted or refused. */
const hasField = ({ filled, refused: wrong }: MappedRecords, field: string): boolean =>
  filled.has(field) || wrong.has(field);

/** A preset knows more of its system than its fields, so a format of its own must send clearly more. */
function isBetter(own: MappedRecords, { yield: preset, format }: PresetFit): boolean {
  const more = own.postings - preset.postings - preset.skipped;
  if (more > own.records * CLEARLY_MORE) return true;
  // What the list lacks comes with the details.
  const known = new Set(format.details === undefined ? PLACE_FIELDS : [...PLACE_FIELDS, 'description']);
  const worth = (one: MappedRecords) =>
    valueOfFields({ ...one, filled: new Map([...one.filled].filter(([field]) => !known.has(field))) });
  return more > -own.records * CLEARLY_MORE && worth(own) > worth(preset) + CLEARLY_WORTH;
}

/** A place that is wrong shows in the postings that can be sent. */
const PLACE_FIELDS = ['location-city', 'location-state'];
const CLEARLY_MORE = 0.05;
/** As much as the address in most postings. */
const CLEARLY_WORTH = 0.7;

function runnerUpOf(format: string, theirs: MappedRecords, chosen: MappedRecords): SecondProposal {
  const only = (one: MappedRecords, other: MappedRecords) =>
    [...one.filled.keys()].filter((field) => !other.filled.has(field));
  const { postings, records } = theirs;
  return { format, postings, records, gains: only(theirs, chosen), losses: only(chosen, theirs) };
}

/** The address is the key of postings in pages. Those in files, or without one, may have another. */
async function proposeKeyless(
  presets: readonly Preset[],
  bytes: Buffer,
  address: string,
): Promise<Proposal | undefined> {
  const preset = presets.find(({ name }) => name === 'schema-org');
  if (preset === undefined) return undefined;
  const { key_as: _, ...format } = await readPreset(preset);
  const sample = await sampleRecords(bytes, feedConfigOf(format).source, address);
  if (sample.trees.length === 0) return undefined;
  const mapping = proposeMapping(sample.trees, places());
  const isIdentified = isUnique(sample.trees, 'identifier/value');
  const key = isIdentified ? 'identifier/value' : mapping.key;
  const { filled } = mappedRecordsOf(feedConfigOf({ ...format, key: [key ?? 'title'].flat() }), sample.trees);
  return {
    ...ofPreset(preset, format),
    key,
    keyCandidates: mapping.keyCandidates,
    filled: Object.keys(format.fields).filter((field) => filled.has(field)),
    records: sample.records,
    ...factsOf(sample),
    notes: ["the postings have no address of their own, so the key is another one than the preset's"],
  };
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
    ...ofPreset(preset, format),
    filled: Object.keys(format.fields),
    records,
    ...factsOf({ trees }),
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
  /** The sampled records that are postings. */
  readonly trees: SampledRecords['trees'];
  readonly mapping: ProposedMapping;
  readonly lenient: boolean;
  readonly notes: readonly string[];
}

type OwnResult = { readonly kind: 'proposal'; readonly proposal: Proposal; readonly yield: MappedRecords } | Unusable;

/** Tries the likeliest lists, and takes the one of which most can be mapped. */
async function proposeOwn(request: ProposalRequest, type: Exclude<DocumentType, 'html'>): Promise<OwnResult> {
  const { bytes, isWhole } = request;
  const document = type === 'json' ? parsed(bytes) : undefined;
  if (type === 'json' && document === undefined && request.records === undefined) {
    return isWhole
      ? unusable('it begins like JSON, but is not valid')
      : { ...unusable('it is too large to find its records; name their path'), mayNameRecords: true };
  }
  const tried: Own[] = [];
  let refusal: string | undefined;
  const csv = type === 'csv' ? tableLayout(bytes) : undefined;
  const lists = listsOf(request, type, document);
  for (const list of lists) {
    const settings = {
      type,
      ...(type === 'xml' || (type === 'json' && list.path !== '') ? { records: list.path } : {}),
      ...(csv === undefined ? {} : { csv }),
    };
    const { sample, lenient } = await sampleLeniently(bytes, sourceOf(settings));
    refusal ??= sample.refusal;
    const { skip, trees, notes } = proposeSkip(type, sample);
    if (trees.length === 0) continue;
    const mapping = proposeMapping(trees, places());
    const several = mapping.places === undefined ? {} : { places: { path: mapping.places, use: 'first' } };
    // Addresses may count visits.
    const keyAs = typeof mapping.key === 'string' && !hasOwnKey(mapping) ? { key_as: 'address' } : {};
    const own = { ...settings, ...(skip === undefined ? {} : { skip }), ...several, ...keyAs };
    tried.push({ settings: own, sample, trees, lenient, notes, mapping });
  }
  const [best] = tried.toSorted((a, b) => worthOf(b) - worthOf(a));
  const other = request.records === undefined ? namedJson(document) : undefined;
  if (other !== undefined && (best === undefined || !('title' in best.mapping.fields) || !hasOwnKey(best.mapping)))
    return unusable(other);
  if (best === undefined) return refusal === undefined ? withoutRecords(request, type) : unusable(refusal);
  const pages = proposePages(document, best.sample.records, addressOf(request.address), request.headers);
  return { kind: 'proposal', proposal: ownProposal(best, pages), yield: ownYield(best) };
}

/** Objects that are named by their IDs have them as their keys, unless they contain them. */
const hasOwnKey = ({ key, fields }: ProposedMapping): boolean =>
  typeof key === 'string' && !isDeepStrictEqual(fields['contact-web-address'], { from: key, as: 'url' });

type Unusable = Extract<ProposalResult, { kind: 'refused' }>;

const unusable = (message: string): Unusable => ({ kind: 'refused', message });

/** A path helps where there is something that it could name. */
async function withoutRecords({ bytes, records }: ProposalRequest, type: DocumentType): Promise<Unusable> {
  if (records !== undefined) return unusable(`it has no records at ${records}`);
  if (type === 'csv' || type === 'jsonl') return unusable('none of its first records can be read');
  if (type === 'xml') {
    const { refusal } = await sampleRecords(bytes, sourceOf({ type, records: '*/job' }));
    if (refusal !== undefined) return unusable(refusal);
  }
  const text = bytes.toString('utf8', 0, 4_096);
  const isEmpty = type === 'json' ? /^\s*(?:\{\s*\}|\[)/.test(text) : !/<[^!?/][^>]*>[\s\S]*<[^!?/]/.test(text);
  return isEmpty
    ? unusable('it has no records')
    : { ...unusable('no records were found in it; name their path'), mayNameRecords: true };
}

/** What the proposed mapping makes of the records; without a key, nothing is sent. */
function ownYield({ settings, trees, mapping }: Own): MappedRecords {
  const key = mapping.key ?? 'no key';
  const feed = feedConfigOf(formatFrom({ ...settings, key, fields: mapping.fields }));
  return mappedRecordsOf({ ...feed, mapping: { ...feed.mapping, skip: undefined } }, trees);
}

const addressOf = (text: string): URL | undefined =>
  /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;

function ownProposal(own: Own, { total, pages, notes }: ProposedPages): Proposal {
  const { settings, sample, trees, mapping, lenient } = own;
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
    ...factsOf({ trees }),
    notes: [
      ...own.notes,
      ...notes,
      ...(mapping.places === undefined
        ? []
        : [`a posting in several places (${mapping.places}) gets the first one in a state that the site accepts`]),
      ...(mapping.isKeyOfKind
        ? [
            `the key ${mapping.key} may be that of a kind of job or of a position, which several postings share in the course of time: only one of them would be sent; ask the system's owner, or choose another key`,
          ]
        : []),
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

/** A record with several keys would be a group of postings, of which only the first would be read. */
const worthOf = ({ mapping: { key, fields }, trees }: Own): number =>
  Object.keys(fields).length +
  (key === undefined ? 0 : 2) +
  ('title' in fields ? 3 : 0) -
  ([key ?? []].flat().some((path) => hasSeveral(trees, path)) ? 10 : 0);

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

let known: Parameters<typeof proposeMapping>[1] | undefined;

function places(): Parameters<typeof proposeMapping>[1] {
  const table = stateTable();
  const findState = compileStates(table);
  const cities = compileCities(usCities());
  const isUs = (text: string): boolean => table.countryNames.includes(text);
  known ??= {
    isState: (text) => findState(text) !== undefined,
    placeOf: compileUsPlaces(table, findState, { foreignCities: foreignCities(), usCities: usCities() }),
    isCity: (text) => cities.count(text) > 0,
    isCountry: (text) => isCountry(text, isUs),
  };
  return known;
}

const SHOWN_VALUES = 3;

function factsOf({ trees }: Pick<SampledRecords, 'trees'>): Pick<Proposal, 'paths' | 'columns'> {
  const first = trees.slice(0, 20);
  const paths = [...new Set(first.flatMap((tree) => [...textPathsIn(tree)]))].slice(0, 60);
  const columns = paths.map((path) => {
    const parsed = parseValuePath(path);
    const texts = first
      .flatMap((tree) => textsAt(parsed, tree, 'plain', TAKES_EVERY_NAME).slice(0, 1))
      .map((text) => text.trim());
    return { path, values: [...new Set(texts.filter((text) => text !== ''))].slice(0, SHOWN_VALUES) };
  });
  return { paths, columns };
}
