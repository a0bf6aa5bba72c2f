// Builds the feed that the program uses from its written settings, its format and its site.
import { resolve } from 'node:path';
import type { FeedSource } from '../feed/feed-reading.ts';
import type { HttpCredentials, SourceConfig } from '../feed/source/sources.ts';
import { type FeedName, siteName } from '../posting/identifiers.ts';
import type { FieldRule, FieldRules, MappingSpec, ValueSource } from '../posting/mapping.ts';
import type { FieldStep, SettingsStep } from '../posting/steps/step.ts';
import type { FeedConfig } from './config.ts';
import { type Environment, fillText } from './environment.ts';
import { stateTable } from './load-us-states.ts';
import type { MapFiles } from './map-files.ts';
import type { WrittenFeed } from './schema/feed-schema.ts';
import type { WrittenFields, WrittenFormat, WrittenRule, WrittenRules } from './schema/format-schema.ts';
import type { WrittenSite } from './schema/site-schema.ts';
import type { WrittenStep, WrittenSteps } from './schema/step-schema.ts';
import { Secret } from './secret.ts';

export interface FeedParts {
  readonly feed: WrittenFeed;
  readonly format: WrittenFormat;
  readonly site: WrittenSite;
  readonly credentials: HttpCredentials | undefined;
  readonly env: Environment;
  /** Folder of the configuration file. */
  readonly folder: string;
  readonly mapFiles: MapFiles;
}

export function makeFeedConfig(name: FeedName, parts: FeedParts): FeedConfig {
  const { feed } = parts;
  return {
    name,
    siteName: siteName(feed.site),
    source: makeSource(parts),
    mapping: makeMapping(parts),
    guard: {
      percent: feed.delete_guard.percent,
      count: feed.delete_guard.count,
      missingPulls: feed.delete_guard.missing_pulls,
    },
    schedule: feed.schedule,
    timeZone: feed.time_zone,
    ...(feed.stale_after_minutes === undefined ? {} : { staleAfterMs: feed.stale_after_minutes * 60_000 }),
    minRecords: feed.expect.min_records,
  };
}

function makeSource(parts: FeedParts): FeedSource {
  const { feed, format } = parts;
  return {
    from: makeSourceConfig(parts),
    format: format.type,
    recordPath: format.records ?? '',
    encoding: feed.encoding ?? format.encoding,
    lenient: feed.lenient,
    totalPaths: format.total,
    limits: {
      maxBytes: feed.limits.max_bytes,
      maxRecordBytes: feed.limits.max_record_bytes,
      maxRatio: feed.limits.max_ratio,
      totalTimeoutMs: feed.limits.total_timeout_seconds * 1000,
      firstByteTimeoutMs: feed.limits.first_byte_timeout_seconds * 1000,
      minBytesPerSecond: feed.limits.min_bytes_per_second,
    },
  };
}

/** What is asked of a source that offers several formats. */
const MEDIA_TYPES = {
  xml: 'application/xml, text/xml, */*;q=0.5',
  json: 'application/json, */*;q=0.5',
} as const satisfies Record<WrittenFormat['type'], string>;

/** The written form of a source shows its kind. */
function makeSourceConfig({ feed, format, credentials, env, folder }: FeedParts): SourceConfig {
  const headers = Object.entries(feed.headers).map(([name, text]) => [name, new Secret(fillText(text, env))]);
  if (feed.source === '-') return { kind: 'stdin' };
  if (!/^https?:\/\//i.test(feed.source)) return { kind: 'file', path: resolve(folder, feed.source) };
  return {
    kind: 'http',
    url: feed.source,
    headers: Object.fromEntries(headers),
    credentials,
    accept: MEDIA_TYPES[format.type],
    maxRedirects: feed.limits.max_redirects,
    allowPrivateRedirects: feed.allow_private_redirects,
  };
}

function makeMapping({ feed, format, site, mapFiles }: FeedParts): MappingSpec {
  return {
    key: { paths: feed.key ?? format.key },
    fields: Object.fromEntries(
      Object.entries(mergeFields(format.fields, feed.fields)).map(([field, rule]) => [
        field,
        makeRules(rule, mapFiles),
      ]),
    ),
    stateField: site.state_field,
    requiredFields: site.required,
    maxLengths: site.max_lengths,
    // Reading the table takes a tenth of the time of a short command, and few commands need it.
    get states() {
      return stateTable();
    },
  };
}

/** The format's fields, overridden by the feed's; `null` removes a field. */
export function mergeFields(format: WrittenFields, feed: WrittenFields): Readonly<Record<string, WrittenRules>> {
  const kept = Object.entries({ ...format, ...feed }).flatMap(([field, rule]) =>
    rule === null ? [] : [[field, rule] as const],
  );
  return Object.fromEntries(kept);
}

const makeRules = (rules: WrittenRules, mapFiles: MapFiles): FieldRules =>
  Array.isArray(rules) ? rules.map((rule) => makeRule(rule, mapFiles)) : makeRule(rules, mapFiles);

function makeRule(rule: string | WrittenRule, mapFiles: MapFiles): FieldRule {
  if (typeof rule === 'string') return { source: { kind: 'paths', paths: [rule] }, as: [] };
  const stepsOf = (step: WrittenStep): readonly FieldStep[] =>
    typeof step === 'string' ? [step] : makeSteps(step, rule.default, mapFiles);
  return {
    ...(rule.when === undefined ? {} : { when: rule.when }),
    source: makeValueSource(rule),
    as: [...makeSteps(rule, rule.default, mapFiles), ...rule.as.flatMap(stepsOf)],
    default: rule.default,
  };
}

/** The steps with settings, in their fixed order. */
function makeSteps(written: WrittenSteps, standard: string | undefined, mapFiles: MapFiles): SettingsStep[] {
  const { map, unmapped = standard === undefined ? 'reject' : 'default' } = written;
  if (map === undefined) return [];
  const table = typeof map === 'string' ? mapFiles.get(written) : Object.entries(map);
  return [{ kind: 'map', table: table ?? [], unmapped }];
}

/** The schema guarantees that exactly one of the three is set. */
function makeValueSource({ from, join, template, value }: WrittenRule): ValueSource {
  if (from !== undefined) return { kind: 'paths', paths: from, join };
  if (template !== undefined) return { kind: 'template', template };
  return { kind: 'constant', value: value ?? '' };
}
