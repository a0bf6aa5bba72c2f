// Builds the sites and feeds that the program uses. Each is handled separately, to report the mistakes of all of them.
import type { z } from 'zod';
import { formatKind } from '../../feed/format/format-kinds.ts';
import { outerParameter } from '../../feed/source/sources.ts';
import type { ProxySettings } from '../../flow/proxy.ts';
import { didYouMean } from '../../posting/id-and-name.ts';
import { type FeedName, feedName, type SiteName, siteName } from '../../posting/identifiers.ts';
import { SHORT_SECRET } from '../../posting/secret-pattern.ts';
import type { Config, FeedConfig, SiteConfig } from '../config.ts';
import { type Complaint, ConfigError, complaintLine } from '../config-error.ts';
import type { Environment } from '../environment.ts';
import { findPresets, folderOf, type Preset, type Presets, readPreset } from '../presets.ts';
import { type AbsentSecret, readSecret, type SecretSettings } from '../read-secret.ts';
import { feedSchema, type WrittenFeed, writtenSources } from '../schema/feed-schema.ts';
import type { WrittenFormat } from '../schema/format-schema.ts';
import { siteSchema, type WrittenSite } from '../schema/site-schema.ts';
import { isWebAddress } from '../scheme-sources.ts';
import { CHECKED_ONCE } from '../validate.ts';
import type { YamlSource } from '../yaml-source.ts';
import { type FeedCredentials, makeCredentials, type ProxyReader } from './credentials.ts';
import { faultOfDetailedPlaces, faultOfDetails } from './details-config.ts';
import { constantsOf, makeFeedConfig, mergeFields } from './feed-config.ts';
import { type MapFiles, readMapFiles } from './map-files.ts';
import { pagesOf } from './source-config.ts';

interface SitesAndFeeds extends Pick<Config, 'sites' | 'feeds' | 'warnings'> {
  /** Mistakes that the schema can't detect: unknown names, unreadable files, fields that nothing fills. */
  readonly complaints: readonly Complaint[];
  /** The user's own presets. */
  readonly ownPresets: readonly Preset[];
}

interface Surroundings {
  readonly env: Environment;
  /** The variables that the settings name, with their values; see `fillFromEnvironment`. */
  readonly used?: ReadonlyMap<string, string>;
  /** Folder of the configuration file. */
  readonly folder: string;
  /** By the path from the top of the file. */
  readonly absent: AbsentSecret;
  readonly proxies: ProxyReader;
}

/** Builds the parts from raw settings. Skips entries that violate the schema: the check of the whole file reports them. */
export async function makeSitesAndFeeds(
  data: unknown,
  source: YamlSource,
  around: Surroundings,
): Promise<SitesAndFeeds> {
  const complaints: Complaint[] = [];
  const warnings: string[] = [];
  const complain = (path: readonly string[], message: string) => complaints.push(source.complain(path, message));
  const rawSites = settingsIn(data, 'sites');
  const rawFeeds = settingsIn(data, 'feeds');
  const warn = (message: string) => warnings.push(message);
  const presets = await findPresets(around.folder);
  warnings.push(...presets.warnings);

  const sites = new Map<SiteName, SiteConfig>();
  const writtenSites = validEntries(rawSites, siteSchema);
  for (const [name, written] of writtenSites) {
    const proxy = around.proxies.of(['sites', name, 'proxy'], written.proxy);
    const site = await makeSiteConfig(siteName(name), written, proxy, {
      ...around,
      setting: `sites.${name}`,
      complain: (path, message) => complain(['sites', name, ...path], message),
      warn,
      absent: (path, message) => around.absent(['sites', name, ...path], message),
    });
    if (site !== undefined) sites.set(site.name, site);
  }

  for (const [name, raw] of Object.entries(rawFeeds)) {
    const siteFault = unknownName(settingOf(raw, 'site'), 'site', Object.keys(rawSites));
    if (siteFault !== undefined) complain(['feeds', name, 'site'], siteFault);
    const presetFault = unknownName(settingOf(raw, 'format'), 'preset', [...presets.byName.keys()]);
    if (presetFault !== undefined) {
      complain(['feeds', name, 'format'], `${presetFault}; your own belong in the folder presets beside this file`);
    }
  }

  const feeds = new Map<FeedName, FeedConfig>();
  for (const [name, feed] of validEntries(rawFeeds, feedSchema)) {
    const site = writtenSites.get(feed.site);
    const whole = await formatOf(feed, presets, (message) => complain(['feeds', name, 'format'], message));
    const format = whole && withoutRemoved(whole, feed);
    const credentials = await credentialsOf(feed, ['feeds', name, 'credentials'], { ...around, complain, warn });
    if (site === undefined || format === undefined) continue;
    const pagesFault = faultOfPages(feed, format);
    if (pagesFault !== undefined) complain(['feeds', name, 'pages'], pagesFault);
    const detailsFault = faultOfDetails(feed, format);
    if (detailsFault !== undefined) complain(['feeds', name, ...detailsFault.path], detailsFault.message);
    const findings = checkRequiredFields(feed, format, site);
    for (const { path, message } of findings.faults) complain(['feeds', name, ...path], message);
    warnings.push(...findings.warnings.map((warning) => `feeds.${name}: ${warning}`));
    const mapFiles = await mapFilesOf(feed, format, { folder: around.folder, presets }, (path, message) =>
      complain(['feeds', name, ...path], message),
    );
    const isOwnFormat = presets.own.some((preset) => preset.name === feed.format) || typeof feed.format !== 'string';
    const absent: AbsentSecret = (path, message) => around.absent(['feeds', name, ...path], message);
    const proxy = around.proxies.of(['feeds', name, 'proxy'], feed.proxy);
    const parts = {
      ...around,
      proxy,
      name: feedName(name),
      absent,
      feed,
      format,
      site,
      credentials,
      mapFiles,
      isOwnFormat,
    };
    const config = makeFeedConfig(parts);
    const placesFault = faultOfDetailedPlaces(config.source.details, config.mapping);
    if (placesFault !== undefined) complain(['feeds', name, ...placesFault.path], placesFault.message);
    feeds.set(config.name, config);
  }
  for (const [name, site] of sites)
    sites.set(name, { ...site, options: { ...site.options, fieldNames: fieldNamesOf(name, feeds.values()) } });
  return { sites, feeds, complaints, warnings, ownPresets: presets.own };
}

/** The fields that the feeds of a site map or have to. */
const fieldNamesOf = (site: SiteName, feeds: Iterable<FeedConfig>): readonly string[] => [
  ...new Set(
    [...feeds]
      .filter(({ siteName }) => siteName === site)
      .flatMap(({ mapping }) => [...Object.keys(mapping.fields), ...mapping.requiredFields, mapping.stateField.name]),
  ),
];

/** Absent if there are none, or after a complaint. */
async function credentialsOf(
  feed: WrittenFeed,
  path: readonly string[],
  around: Omit<SecretSettings, 'setting'>,
): Promise<FeedCredentials | undefined> {
  const { credentials } = feed;
  if (credentials === undefined) return undefined;
  const setting = path.join('.');
  const complain: SecretSettings['complain'] = (inner, message) => around.complain([...path, ...inner], message);
  const absent: AbsentSecret = (inner, message) => around.absent([...path, ...inner], message);
  for (const address of [...writtenSources(feed), credentials.oauth2?.token_url]) {
    if (address === undefined || !isOpenlySent(address)) continue;
    around.warn(`${setting}: they are sent unencrypted to ${new URL(address).host}; use https if it is available`);
  }
  return makeCredentials(credentials, { ...around, setting, complain, absent });
}

const isOpenlySent = (address: string): boolean =>
  /^http:/i.test(address) && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(address).hostname);

function faultOfPages(feed: WrittenFeed, format: WrittenFormat): string | undefined {
  const sources = writtenSources(feed);
  if (feed.pages && !sources.every(isWebAddress)) return 'work only with http and https sources';
  const pages = pagesOf(feed, format);
  const isInBody = pages?.by === 'next' || pages?.by === 'cursor' || pages?.more !== undefined;
  if (pages !== undefined && format.total.length > 0 && !sources.every(isWebAddress)) {
    return 'of the format, and its total, cannot be read from files and web addresses in one feed; make two feeds';
  }
  if (pages?.by === 'sitemap' && formatKind(format.type).around !== 'xml') {
    return 'by: sitemap need an XML format: type: xml, records: urlset/url';
  }
  if (isInBody && formatKind(format.type).around === undefined) {
    return "need a JSON or XML format: they read the next page's place in the page";
  }
  for (const name of [pages?.parameter, pages?.size_parameter]) {
    for (const source of sources.filter((each) => isWebAddress(each) && URL.canParse(each))) {
      const query = new URL(source).searchParams;
      const outer = name === undefined ? undefined : outerParameter(name, query);
      if (outer !== undefined && !query.has(outer)) {
        return `set ${name}, a parameter inside ${outer}, which the address of the source lacks`;
      }
    }
  }
  return undefined;
}

/** The format without what the feed takes away from it. */
function withoutRemoved(format: WrittenFormat, { pages, total, details, places }: WrittenFeed): WrittenFormat {
  return {
    ...format,
    ...(pages === null ? { pages: undefined } : {}),
    ...(total === null ? { total: [] } : {}),
    ...(details === null ? { details: undefined } : {}),
    ...(places === null ? { places: undefined } : {}),
  };
}

async function formatOf(
  { format }: WrittenFeed,
  presets: Presets,
  complain: (message: string) => void,
): Promise<WrittenFormat | undefined> {
  if (typeof format !== 'string') return format;
  const preset = presets.byName.get(format);
  if (preset === undefined) return undefined;
  try {
    return await readPreset(preset);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const complaint of error.complaints) complain(`the preset is wrong: ${complaintLine(complaint)}`);
    return undefined;
  }
}

/** The look-up tables in files: a preset's lie beside it, the others beside the configuration. */
async function mapFilesOf(
  feed: WrittenFeed,
  format: WrittenFormat,
  { folder, presets }: { readonly folder: string; readonly presets: Presets },
  complain: (path: readonly string[], message: string) => void,
): Promise<MapFiles> {
  const preset = typeof feed.format === 'string' ? presets.byName.get(feed.format) : undefined;
  const own = await readMapFiles(feed.fields, folder);
  const formats = await readMapFiles(format.fields, preset === undefined ? folder : folderOf(preset));
  for (const { path, message } of own.faults) complain(['fields', ...path], message);
  for (const { path, message } of formats.faults) {
    if (preset !== undefined) complain(['format'], `the preset is wrong: fields.${path.join('.')}: ${message}`);
    else complain(['format', 'fields', ...path], message);
  }
  return new Map([...formats.files, ...own.files]);
}

function unknownName(name: unknown, kind: string, known: readonly string[]): string | undefined {
  if (typeof name !== 'string' || known.includes(name)) return undefined;
  return `there is no ${kind} ${name}${didYouMean(name, known) || `; known: ${known.join(', ') || 'none'}`}`;
}

/** One setting of raw settings; `undefined` if absent. */
export const settingOf = (settings: unknown, name: string): unknown =>
  typeof settings === 'object' && settings !== null && Object.hasOwn(settings, name)
    ? (settings as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** A group of raw settings; empty if absent. */
export function settingsIn(data: unknown, name: string): Readonly<Record<string, unknown>> {
  const settings = settingOf(data, name);
  return typeof settings === 'object' && settings !== null ? (settings as Readonly<Record<string, unknown>>) : {};
}

function validEntries<Schema extends z.ZodType>(
  settings: Readonly<Record<string, unknown>>,
  schema: Schema,
): ReadonlyMap<string, z.output<Schema>> {
  const valid = new Map<string, z.output<Schema>>();
  for (const [name, raw] of Object.entries(settings)) {
    const result = schema.safeParse(raw, CHECKED_ONCE);
    if (result.success) valid.set(name, result.data);
  }
  return valid;
}

// Builds the site that the program uses from its written settings, and reads its token.

/** Returns `undefined` after a complaint. */
async function makeSiteConfig(
  name: SiteName,
  written: WrittenSite,
  proxy: ProxySettings | undefined,
  around: SecretSettings,
): Promise<SiteConfig | undefined> {
  const token = await readSecret(written, [[], 'token'], around, (text, setting) => {
    const fault = tokenFault(text);
    if (fault === undefined && text.length < SHORT_SECRET) around.warn(shortToken(name, setting, text.length));
    return fault;
  });
  if (token === undefined) return undefined;
  const timeoutMs = written.limits.timeout_seconds * 1000;
  const {
    resolve_after_seconds: resolveAfterSeconds = written.doubts.settle_after_seconds,
    list_checks: listChecks = written.doubts.looks ?? 2,
    escalate_after_minutes: escalateAfterMinutes,
  } = written.doubts;
  return {
    name,
    options: {
      baseUrl: new URL(written.base_url),
      token,
      resource: written.resource,
      referenceField: written.reference_field,
      listPath: written.list_path,
      accountPath: written.account_path,
      proxy,
      timeoutMs,
      concurrency: written.limits.concurrency,
    },
    stateField: written.state_field,
    requestsPerSecond: written.limits.requests_per_second,
    retry: {
      attempts: written.retry.attempts,
      firstDelayMs: written.retry.first_delay_seconds * 1000,
      maxDelayMs: written.retry.max_delay_seconds * 1000,
    },
    doubts: {
      resolveAfterMs: resolveAfterSeconds === undefined ? Math.max(15_000, 2 * timeoutMs) : resolveAfterSeconds * 1000,
      listChecks,
      escalateAfterMs: escalateAfterMinutes * 60_000,
    },
    canary: written.canary,
    onMissing: written.on_missing,
    omittedFields: written.omitted_fields,
  };
}

const shortToken = (name: SiteName, setting: string, length: number): string =>
  `sites.${name}.${setting}: the token has only ${length} character${length === 1 ? '' : 's'}. Such a short text also occurs in IDs and other texts by chance, so ` +
  `it is not removed everywhere from what is logged and stored; use a token of ${SHORT_SECRET} characters or more`;

function tokenFault(token: string): string | undefined {
  if (token === '') return 'the token is empty';
  if (/\s|\p{Cc}/u.test(token))
    return 'the token holds a space or a control character; it was probably not copied right';
  // The token is the user name of HTTP Basic, which ends at the first colon (RFC 7617, section 2).
  if (token.includes(':'))
    return 'the token holds a colon, which HTTP Basic cannot carry; use the token alone, without user name or password';
  return undefined;
}

// Finds fields that settings name but a feed's mapping never fills: those that a site requires would reject all of its postings.

interface Fault {
  readonly path: readonly string[];
  readonly message: string;
}

interface MappingFindings {
  /** `path` is relative to the feed's settings. */
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
}

/** Checks the combined fields of a feed and its format against what its site requires. */
function checkRequiredFields(feed: WrittenFeed, format: WrittenFormat, site: WrittenSite): MappingFindings {
  const fields = Object.keys(mergeFields(format.fields, feed.fields, constantsOf(feed, site)));
  const needed = new Set([...site.required, site.state_field.name]);
  const unfilled = [...needed].filter((field) => !fields.includes(field));
  const faults: Fault[] = unfilled.map((field) => ({
    path: ['fields'],
    message: `nothing fills ${field}, which the site ${feed.site} needs; add ${field}: and the path in the record`,
  }));
  for (const [field, rule] of Object.entries(feed.fields)) {
    if (rule !== null || Object.hasOwn(format.fields, field)) continue;
    const guess = didYouMean(field, Object.keys(format.fields));
    const message = `null takes away a field of the format, and it has no ${field}${guess}`;
    faults.push({ path: ['fields', field], message });
  }
  const places = feed.places ?? format.places;
  for (const field of places?.use === 'each' ? places.fields : []) {
    if (fields.includes(field)) continue;
    const message = `nothing fills ${field}, which should tell places apart; name the site's fields that hold the place`;
    faults.push({ path: ['places', 'fields'], message });
  }
  faults.push(...faultsOfCreateOnly(feed, fields, site));
  const reference = site.reference_field;
  const warnings =
    reference === undefined || fields.includes(reference)
      ? []
      : [
          `nothing fills ${reference}, the reference_field of the site ${feed.site}; creates in doubt are resolved by comparing all fields`,
        ];
  return { faults, warnings };
}

function faultsOfCreateOnly(
  { create_only_fields: names }: WrittenFeed,
  fields: readonly string[],
  site: WrittenSite,
): readonly Fault[] {
  const path = ['create_only_fields'];
  const faults: Fault[] = names.flatMap((name) => {
    if (name === site.reference_field)
      return [{ path, message: `${name} is the reference_field of the site, which tells whose job it is` }];
    if (fields.includes(name)) return [];
    return [{ path, message: `nothing fills ${name}${didYouMean(name, fields)}` }];
  });
  if (fields.every((name) => names.includes(name)))
    faults.push({ path, message: 'leaves no field to update; use policy: create_only' });
  return faults;
}
