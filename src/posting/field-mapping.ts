// Types of a field mapping: how the configuration wants a feed's records read for a site, as plain data.
import type { ConditionGroups } from './conditions.ts';
import type { PlacesRule } from './places.ts';
import type { CityTable } from './steps/place-names.ts';
import type { FieldStep } from './steps/step.ts';
import type { StateGroup, StateTable } from './us-states.ts';

/**
 * Everything that decides how records become postings. It is plain data because its hash is the mapping's fingerprint.
 */
export interface FieldMapping {
  readonly key: KeyRule;
  /** Records of which these conditions hold are no postings. */
  readonly skip?: ConditionGroups;
  /** What becomes of records with several places; absent: the paths of the fields decide. */
  readonly places?: PlacesRule;
  /** Site field → where its value comes from. */
  readonly fields: Readonly<Record<string, FieldRules>>;
  /** Fields that are set only when a job is created; absent: none. */
  readonly createOnly?: readonly string[];
  readonly stateField: StateField;
  /** Fields that the site requires, besides the state field. */
  readonly requiredFields: readonly string[];
  /** Site field → maximum length in characters. */
  readonly maxLengths: Readonly<Record<string, number>>;
  readonly states: StateTable;
  /** For `us_place`; absent if no field uses it. */
  readonly foreignCities?: CityTable | undefined;
  readonly usCities?: CityTable | undefined;
}

/**
 * Where the posting's key comes from. Every path must have a value: a key with a part missing could be another
 * posting's.
 */
export interface KeyRule {
  readonly paths: readonly string[];
  /** What becomes of the texts at the paths; absent: they are the key. */
  readonly as?: KeyShape;
  /** Each place of a record has a key of its own, which begins with the record's. */
  readonly ofPlaces?: true;
}

/** `address`: without tracking parameters. `match`: the first group of a pattern, or the whole match. */
export type KeyShape = { readonly kind: 'address' } | { readonly kind: 'match'; readonly pattern: string };

/** One rule, or alternatives: the first one whose conditions hold and that has a value is used. */
export type FieldRules = FieldRule | readonly FieldRule[];

export interface FieldRule {
  /** The rule applies only to records of which they hold. */
  readonly when?: ConditionGroups;
  readonly source: ValueSource;
  /** Applied in order. */
  readonly as: readonly FieldStep[];
  /** Used when the source has no value, or the steps leave none; goes through all steps but those for the feed's text. */
  readonly default?: string;
}

export type ValueSource =
  /** The first path with text wins. If it has several texts: the first one, or all of them joined with `join`. */
  | { readonly kind: 'paths'; readonly paths: readonly string[]; readonly join?: string }
  /** `{city}, {state}`: paths in braces; has no value unless every path has text. */
  | { readonly kind: 'template'; readonly template: string }
  /** Sections of a text, joined; a section without text is left out. */
  | { readonly kind: 'sections'; readonly sections: readonly TextSection[]; readonly join: string }
  | { readonly kind: 'constant'; readonly value: string }
  /** A JSONata expression over the record. */
  | { readonly kind: 'jsonata'; readonly expression: string };

/** The first of the templates that has a value; with `each`, of every element at that path, relative to it. */
export interface TextSection {
  readonly each?: string;
  readonly templates: readonly string[];
}

/** The field for the U.S. state (site-interface.md, section 2), and the values that the site accepts in it. */
export interface StateField {
  readonly name: string;
  readonly values: 'name' | 'abbreviation';
  readonly allow: readonly StateGroup[];
}
