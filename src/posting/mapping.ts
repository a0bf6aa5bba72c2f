// The words of a mapping: what the configuration says about reading a feed's records for a site, as plain data.
import type { TransformName } from './transforms.ts';
import type { StateGroup, StateTable } from './us-states.ts';

/** All that decides how records become postings. Plain data, so that its hash can be the mapping's fingerprint. */
export interface MappingSpec {
  readonly key: KeyRule;
  /** Site field → where its value comes from. */
  readonly fields: Readonly<Record<string, FieldRule>>;
  readonly stateField: StateField;
  /** Fields without which the site takes no job, besides the state field. */
  readonly requiredFields: readonly string[];
  /** Site field → characters at most. */
  readonly maxLengths: Readonly<Record<string, number>>;
  readonly states: StateTable;
}

/** Where the posting's key comes from. All paths must have a value: a key with a missing part would be another posting's. */
export interface KeyRule {
  readonly paths: readonly string[];
}

export interface FieldRule {
  readonly source: ValueSource;
  /** Applied in order. */
  readonly as: readonly TransformName[];
  /** Stands in where the source gives nothing, and goes through the same transforms. */
  readonly default?: string;
}

export type ValueSource =
  /** The first path with a text wins. Several texts at that path: the first, or all of them with `join` between. */
  | { readonly kind: 'paths'; readonly paths: readonly string[]; readonly join?: string }
  /** `{city}, {state}`: paths in braces; gives nothing unless each of them has a text. */
  | { readonly kind: 'template'; readonly template: string }
  | { readonly kind: 'constant'; readonly value: string };

/** The field that carries the U.S. state (site-interface.md, section 2), and which values the site takes in it. */
export interface StateField {
  readonly name: string;
  readonly values: 'name' | 'abbreviation';
  readonly allow: readonly StateGroup[];
}
