// Builds the feed that the program uses from its written settings, its format and its site.

import { comparableAddress } from '../../feed/source/sources.ts';
import type { ConditionGroups } from '../../posting/conditions.ts';
import { hasDateTest } from '../../posting/conditions.ts';
import type { FieldMapping, FieldRule, FieldRules, KeyRule, ValueSource } from '../../posting/field-mapping.ts';
import { type FeedName, siteName } from '../../posting/identifiers.ts';
import type { PlacesRule } from '../../posting/places.ts';
import { DEFAULT_ELEMENTS } from '../../posting/steps/sanitize.ts';
import type { FieldStep, SettingsStep } from '../../posting/steps/step.ts';
import type { FeedConfig, VerifySettings } from '../config.ts';
import { foreignCities, stateTable, usCities } from '../load-us-states.ts';
import type { WrittenFeed } from '../schema/feed-schema.ts';
import type { WrittenFields, WrittenFormat, WrittenRule, WrittenRules } from '../schema/format-schema.ts';
import type { WrittenSite } from '../schema/site-schema.ts';
import { dateOrderOf, type WrittenStep, type WrittenSteps } from '../schema/step-schema.ts';
import type { MapFiles } from './map-files.ts';
import { makeSource, pagesOf, type SourceParts } from './source-config.ts';

interface FeedParts extends SourceParts {
  readonly name: FeedName;
  readonly site: WrittenSite;
  readonly mapFiles: MapFiles;
  /** The format is written in the configuration, or in a preset of the user's own. */
  readonly isOwnFormat: boolean;
}

export function makeFeedConfig(parts: FeedParts): FeedConfig {
  const { name, feed } = parts;
  return {
    name,
    siteName: siteName(feed.site),
    source: makeSource(parts),
    mapping: makeMapping(parts),
    hasOwnPlaces: feed.places !== undefined || (parts.isOwnFormat && parts.format.places !== undefined),
    ownFields: new Set(Object.keys(parts.isOwnFormat ? { ...parts.format.fields, ...feed.fields } : feed.fields)),
    guard: {
      percent: feed.delete_guard.percent,
      count: feed.delete_guard.count,
      // A list of several pages may move while it is read, in ways that no page shows.
      missingPulls:
        feed.delete_guard.missing_pulls ?? (pagesOf(feed, parts.format) === undefined && !arePages(feed) ? 1 : 2),
    },
    rekeyGuard: feed.rekey_guard,
    ...(feed.policy === 'mirror' ? {} : { policy: feed.policy }),
    ...(feed.expire_after_days === undefined ? {} : { expireAfterDays: feed.expire_after_days }),
    schedule: feed.schedule,
    timeZone: feed.time_zone ?? 'UTC',
    ...(feed.verify === undefined ? {} : { verify: makeVerify(feed.verify) }),
    ...(feed.stale_after_minutes === undefined ? {} : { staleAfterMs: feed.stale_after_minutes * 60_000 }),
    minRecords: feed.expect.min_records,
  };
}

/** Whether two of the sources are pages of one list. */
function arePages({ sources = [] }: WrittenFeed): boolean {
  const lists = [...new Set(sources)].map((source) => comparableAddress(source, 'list'));
  return new Set(lists).size < lists.length;
}

function makeVerify(written: NonNullable<WrittenFeed['verify']>): VerifySettings {
  if (typeof written !== 'string') return written;
  return { schedule: written, each: false, changed: 'review', gone: 'review', fields: {} };
}

function makeMapping({ feed, format, site, mapFiles }: FeedParts): FieldMapping {
  const skip = inZone([...(format.skip ?? []), ...(feed.skip ?? [])], feed.time_zone);
  const written = Object.entries(mergeFields(format.fields, feed.fields, constantsOf(feed, site)));
  const places = feed.places ?? format.places;
  const createOnly = [...feed.create_only_fields, ...constantFields(feed, format, site)];
  return {
    key: keyRuleOf(feed, format),
    ...(skip.length === 0 ? {} : { skip }),
    ...(places === undefined ? {} : { places: placesOf(places) }),
    ...(feed.unordered === undefined ? {} : { unordered: feed.unordered }),
    fields: Object.fromEntries(
      written.map(([field, rule]) => [field, makeRules(rule, { mapFiles, zone: feed.time_zone })]),
    ),
    ...(createOnly.length === 0 ? {} : { createOnly: [...new Set(createOnly)].sort() }),
    stateField: site.state_field,
    requiredFields: site.required,
    maxLengths: site.max_lengths,
    // Reading the table takes a tenth of the time of a short command, and few commands need it.
    get states() {
      return stateTable();
    },
    get foreignCities() {
      return written.some(([, rule]) => usesPlaces(rule)) ? foreignCities() : undefined;
    },
    get usCities() {
      return written.some(([, rule]) => usesPlaces(rule)) ? usCities() : undefined;
    },
  };
}

/** The format's `key_as` is about its own key. */
function keyRuleOf(feed: WrittenFeed, format: WrittenFormat): KeyRule {
  const as = feed.key_as ?? (feed.key === undefined ? format.key_as : undefined);
  return {
    paths: feed.key ?? format.key,
    ...(as === undefined ? {} : { as }),
    ...((feed.places ?? format.places)?.use === 'each' ? { ofPlaces: true } : {}),
  };
}

/** Without the settings that do not apply: they must not change how records count as read. */
const placesOf = ({ fields, ...places }: NonNullable<WrittenFeed['places']>): PlacesRule =>
  places.use === 'each' ? { ...places, fields } : places;

type Constants = Readonly<Record<string, string>>;

/** The constants of a feed: its own take precedence over those of its site. */
export const constantsOf = (feed: { constants: Constants }, site: { constants: Constants }): Constants => ({
  ...site.constants,
  ...feed.constants,
});

/** The fields that are constants, and that neither the feed nor its format fills or removes. */
const constantFields = (feed: WrittenFeed, format: WrittenFormat, site: WrittenSite): readonly string[] =>
  Object.keys(constantsOf(feed, site)).filter(
    (name) => !Object.hasOwn(feed.fields, name) && (format.fields[name] ?? null) === null,
  );

/** The constants and the format's fields, overridden by the feed's; `null` removes a field. */
export function mergeFields(
  format: WrittenFields,
  feed: WrittenFields,
  constants: Constants = {},
): Readonly<Record<string, WrittenRules>> {
  const constant = Object.entries(constants).map(([field, value]) => [field, { value, as: [] as [] }] as const);
  const kept = Object.entries({ ...Object.fromEntries(constant), ...format, ...feed }).flatMap(([field, rule]) =>
    rule === null ? [] : [[field, rule] as const],
  );
  return Object.fromEntries(kept);
}

const usesPlaces = (rules: WrittenRules): boolean => JSON.stringify(rules).includes('"us_place":');

/** What rules need of their feed. */
interface RuleContext {
  readonly mapFiles: MapFiles;
  /** Of dates in conditions. */
  readonly zone: string | undefined;
}

const inZone = (groups: ConditionGroups, zone: string | undefined): ConditionGroups =>
  zone === undefined
    ? groups
    : groups.map((group) => group.map((condition) => (hasDateTest(condition) ? { zone, ...condition } : condition)));

const makeRules = (rules: WrittenRules, context: RuleContext): FieldRules =>
  Array.isArray(rules) ? rules.map((rule) => makeRule(rule, context)) : makeRule(rules, context);

function makeRule(rule: string | WrittenRule, { mapFiles, zone }: RuleContext): FieldRule {
  if (typeof rule === 'string') return { source: { kind: 'paths', paths: [rule] }, as: [] };
  const stepsOf = (step: WrittenStep): readonly FieldStep[] =>
    typeof step === 'string' ? [step] : [...makeSteps(step, rule.default, mapFiles), ...makeLastSteps(step)];
  return {
    ...(rule.when === undefined ? {} : { when: inZone(rule.when, zone) }),
    source: makeValueSource(rule),
    as: [...makeSteps(rule, rule.default, mapFiles), ...rule.as.flatMap(stepsOf), ...makeLastSteps(rule)],
    default: rule.default,
  };
}

function makeLastSteps({ sanitize, max_length: most }: WrittenSteps): SettingsStep[] {
  const steps: SettingsStep[] = [];
  if (sanitize !== undefined)
    steps.push({ kind: 'sanitize', elements: sanitize === true ? DEFAULT_ELEMENTS : sanitize });
  if (most !== undefined) steps.push({ kind: 'max_length', most });
  return steps;
}

/** The steps with settings that come first, in their fixed order. */
function makeSteps(written: WrittenSteps, standard: string | undefined, mapFiles: MapFiles): SettingsStep[] {
  const { match, take, map, us_place: part, date } = written;
  const otherwise = written.otherwise ?? (standard === undefined ? 'reject' : 'default');
  const steps: SettingsStep[] = [];
  if (match !== undefined) {
    const unmatched = written.otherwise ?? 'default';
    steps.push({ kind: 'match', pattern: match, ...(take === undefined ? {} : { take }), otherwise: unmatched });
  }
  if (map !== undefined) {
    const table = typeof map === 'string' ? (mapFiles.get(written) ?? []) : Object.entries(map);
    steps.push({ kind: 'map', table, otherwise });
  }
  if (part !== undefined) steps.push({ kind: 'us_place', part, otherwise });
  if (date !== undefined) {
    const { order, ...settings } = date;
    steps.push({ kind: 'date', ...settings, ...dateOrderOf(order) });
  }
  return steps;
}

/** The schema guarantees that exactly one of the five is set. */
function makeValueSource({ from, join, template, sections, value, jsonata }: WrittenRule): ValueSource {
  if (from !== undefined) return { kind: 'paths', paths: from, join };
  if (sections !== undefined) {
    const parts = sections.map(({ template: templates, ...section }) => ({ ...section, templates }));
    return { kind: 'sections', sections: parts, join: join ?? '\n' };
  }
  if (template !== undefined) return { kind: 'template', template };
  if (jsonata !== undefined) return { kind: 'jsonata', expression: jsonata };
  return { kind: 'constant', value: value ?? '' };
}
