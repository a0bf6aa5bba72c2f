// Types of a field mapping: how the configuration wants a feed's records read for a site, as plain data.
import type { ConditionGroups } from './conditions.ts';
import type { NameReader } from './id-and-name.ts';
import type { MarkupForm } from './markup.ts';
import { elementsAt, MalformedPathError, parseValuePath, textsAt } from './paths/value-path.ts';
import type { PlacesRule, StateGroup, StateTable } from './places.ts';
import type { RecordTree } from './posting.ts';
import type { CityTable } from './steps/place-names.ts';
import type { FieldStep } from './steps/step.ts';

/**
 * Everything that decides how records become postings. It is plain data because its hash is the mapping's fingerprint.
 */
export interface FieldMapping {
  readonly key: KeyRule;
  /** Records of which these conditions hold are no postings. */
  readonly skip?: ConditionGroups;
  /** What becomes of records with several places; absent: the paths of the fields decide. */
  readonly places?: PlacesRule;
  /** Paths whose lists have no order that means anything; absent: none. The key is read in the source's order. */
  readonly unordered?: readonly string[];
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
interface TextSection {
  readonly each?: string;
  readonly templates: readonly string[];
}

/** The field for the U.S. state (site-interface.md, section 2), and the values that the site accepts in it. */
export interface StateField {
  readonly name: string;
  readonly values: 'name' | 'abbreviation';
  readonly allow: readonly StateGroup[];
}

// Compiles the configured source of a value into a function from record to text.

/** Reads one value of a record; empty text means no value. */
export type ReadValue = (record: RecordTree) => string;

/**
 * Compiles a value source. Throws {@link MalformedPathError}. @param form how elements inside the value are rendered.
 * @param isNothing whether a text stands for no value; by default, only an empty text does.
 * @param names how lists of an id and a name are read; by default both are texts.
 */
export function compileSource(
  source: ValueSource,
  form: MarkupForm = 'plain',
  isNothing = NEVER,
  names?: NameReader,
): ReadValue {
  switch (source.kind) {
    case 'constant':
      return () => source.value;
    case 'template':
      return compileTemplate(source.template, form, isNothing, names);
    case 'jsonata':
      throw new Error('expressions are evaluated by PreparedExpressions');
    case 'sections':
      return compileSections(source.sections, source.join, form, names);
    case 'paths':
      return compilePaths(source.paths, source.join, form, isNothing, names);
  }
}

type IsNothing = (text: string) => boolean;

const NEVER: IsNothing = () => false;

function compilePaths(
  sources: readonly string[],
  join: string | undefined,
  form: MarkupForm,
  isNothing: IsNothing,
  names: NameReader | undefined,
): ReadValue {
  const paths = sources.map(parseValuePath);
  return (record) => {
    for (const path of paths) {
      // Plain loops: this runs for every field of every record that is read.
      let joined = '';
      for (const text of textsAt(path, record, form, names)) {
        const trimmed = text.trim();
        if (trimmed === '' || isNothing(trimmed)) continue;
        if (join === undefined) return trimmed;
        joined = joined === '' ? trimmed : `${joined}${join}${trimmed}`;
      }
      if (joined !== '') return joined;
    }
    return '';
  };
}

/** Splits a template into literal text at even positions and paths at odd ones. */
function compileTemplate(
  template: string,
  form: MarkupForm,
  isNothing: IsNothing,
  names: NameReader | undefined,
): ReadValue {
  const pieces = template.split(/\{([^{}]*)\}/);
  if (pieces.some((piece, index) => index % 2 === 0 && /[{}]/.test(piece))) {
    throw new MalformedPathError(`the template "${template}" has an unmatched brace; write {path} for a value`);
  }
  const reads = pieces.map(
    (piece, index): ReadValue =>
      index % 2 === 0 ? () => piece : compilePaths([piece], undefined, form, isNothing, names),
  );
  return (record) => {
    const texts = reads.map((read) => read(record));
    const isComplete = texts.every((text, index) => index % 2 === 0 || text !== '');
    return isComplete ? texts.join('') : '';
  };
}

function compileSections(
  sections: readonly TextSection[],
  join: string,
  form: MarkupForm,
  names: NameReader | undefined,
): ReadValue {
  const readers = sections.map((section) => compileSection(section, form, names));
  return (record) => readers.flatMap((readTexts) => readTexts(record)).join(join);
}

/** Reads the texts of a section that have a value. */
function compileSection(
  { each, templates }: TextSection,
  form: MarkupForm,
  names: NameReader | undefined,
): (record: RecordTree) => readonly string[] {
  const reads = templates.map((template) => compileTemplate(template, form, NEVER, names));
  const path = each === undefined ? [] : parseValuePath(each);
  return (record) => {
    const elements = each === undefined ? [record] : elementsAt(path, record);
    return elements.flatMap((element) => firstText(reads, element));
  };
}

function firstText(reads: readonly ReadValue[], element: RecordTree): readonly string[] {
  for (const read of reads) {
    const text = read(element);
    if (text !== '') return [text];
  }
  return [];
}
