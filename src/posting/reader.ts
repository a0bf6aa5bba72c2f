// Compiles a mapping into a reader, which turns each record into a posting with all of its problems.
import { type ConditionGroups, compileConditions } from './conditions.ts';
import type { RecordDates } from './dates.ts';
import { type Evaluated, type PreparedExpressions, prepareExpressions } from './expressions.ts';
import { compileSource, type FieldMapping, type FieldRule, type FieldRules } from './field-mapping.ts';
import { fingerprintOf } from './fingerprint.ts';
import { contentHash } from './hash.ts';
import { type NameReader, takesNames } from './id-and-name.ts';
import type { PostingKey } from './identifiers.ts';
import type { MarkupForm } from './markup.ts';
import { compilePlain } from './paths/plain-value.ts';
import { parseValuePath, withSorted } from './paths/value-path.ts';
import {
  compilePlaces,
  compileStates,
  firstPlace,
  MOST_PLACES,
  onePlaceOrReview,
  type PlaceIdentity,
  type PlacesRule,
  postingsOfPlaces,
  type ReadPlaces,
  tooManyPlaces,
} from './places.ts';
import {
  addProblem,
  addRefusal,
  type Draft,
  hasProblem,
  newDraft,
  type Posting,
  type PostingReader,
  type Problem,
  type ReadPosting,
  type ReadResult,
  type RecordTree,
  type SkippedRecord,
  setField,
} from './posting.ts';
import { compileKey, type KeyReading } from './posting-key.ts';
import { compileSiteRules, compileStateField } from './site-rules.ts';
import { compileStep, type StepContext } from './steps/step.ts';
import type { ReadState, Transform } from './steps/transforms.ts';
import { compileUsPlaces } from './steps/us-places.ts';

/**
 * Compiles the reader for one feed's records on one site. Throws `MalformedPathError` for an invalid path or template,
 * and an `Error` for a contradictory state table; reading itself never throws.
 */
export function compileReader(spec: FieldMapping): PostingReader {
  const readKey = compileKey(spec.key);
  const readSkipped = spec.skip === undefined ? undefined : compileSkip(spec.skip, readKey);
  const readState = compileStateField(spec.stateField, spec.states);
  const expressions = prepareExpressions(spec);
  const placeOf = lazyUsPlaces(spec);
  const identity = spec.places?.use === 'each' ? identityOf(spec, spec.places) : undefined;
  const treesOf = spec.places === undefined ? undefined : rememberLast(compilePlaces(spec.places));
  const inOrder = compileOrder(spec.unordered);
  const fields = Object.entries(spec.fields).map(([name, rules]) =>
    compileField({ field: name, placeOf, expressions }, rules, readState),
  );
  const checkSiteRules = compileSiteRules(spec, readState);
  /** Fields with a step that may refuse the feed's text and does not run again on an edited posting. */
  const shaped = new Set(fields.filter(({ refusesOnce }) => refusesOnce).map(({ name }) => name));

  const finish = (key: PostingKey, draft: Draft) => {
    checkSiteRules(draft);
    const { fields: read, notes, unescaped, named } = draft;
    const posting: Posting = {
      key,
      fields: read,
      contentHash: contentHash(read),
      notes,
      ...(unescaped.length === 0 ? {} : { unescaped }),
      ...(named.length === 0 ? {} : { named }),
    };
    return draft.problems.length === 0
      ? ({ kind: 'posting', posting } as const)
      : ({ kind: 'invalid', posting, problems: draft.problems } as const);
  };

  const readFields = (key: PostingKey, record: RecordTree, dates: RecordDates | undefined): ReadPosting => {
    const draft = newDraft();
    for (const field of fields) field.read(record, draft, dates);
    return finish(key, draft);
  };

  const readPlaces = (
    key: PostingKey,
    record: RecordTree,
    { path, use }: PlacesRule,
    dates: RecordDates | undefined,
  ): ReadResult => {
    const trees = treesOf?.(record) ?? [];
    if (identity !== undefined) {
      // The postings of a record whose places are not read can't be told apart.
      if (trees.length > MOST_PLACES) return { kind: 'unreadable', problems: [{ message: tooManyPlaces(path) }], key };
      return postingsOfPlaces(key, readEach(key, trees.length === 0 ? [record] : trees, dates), identity);
    }
    if (trees.length <= 1) return readFields(key, trees[0] ?? record, dates);
    if (trees.length > MOST_PLACES) {
      const problems = [{ field: spec.stateField.name, message: tooManyPlaces(path) }];
      return { kind: 'invalid', posting: readFields(key, record, dates).posting, problems };
    }
    const readings = readEach(key, trees, dates);
    return use === 'first' ? firstPlace(readings, spec.stateField.name) : onePlaceOrReview([...readings]);
  };

  /** Lazily: most records have a valid place among the first ones. */
  function* readEach(key: PostingKey, trees: readonly RecordTree[], dates: RecordDates | undefined) {
    for (const tree of trees) yield readFields(key, tree, dates);
  }

  return {
    fingerprint: fingerprintOf(spec),
    ...(expressions === undefined ? {} : { prepare: prepareAll(expressions, inOrder, treesOf) }),
    read(record, dates): ReadResult {
      const skipped = readSkipped?.(record, dates);
      if (skipped !== undefined) return skipped;
      const key = readKey(record);
      if (key.kind === 'no key') return { kind: 'unreadable', problems: key.problems };
      return spec.places === undefined
        ? readFields(key.key, inOrder(record), dates)
        : readPlaces(key.key, inOrder(record), spec.places, dates);
    },
    withFields(posting, edits, problems = []) {
      const draft = newDraft(posting.fields, posting.notes);
      for (const [name, text] of Object.entries(edits)) setField(draft, name, text);
      // Fields that were wrong and were not edited are still wrong.
      const isEdited = (name: string) => Object.hasOwn(edits, name) && edits[name] !== posting.fields[name];
      draft.problems.push(
        ...problems.filter(
          ({ field, choose }) => field !== undefined && (choose === true || shaped.has(field)) && !isEdited(field),
        ),
      );
      for (const field of fields) field.check(draft);
      return finish(posting.key, draft);
    },
  };
}

function identityOf({ stateField, states }: FieldMapping, { fields = [] }: PlacesRule): PlaceIdentity {
  return { fields, stateField: stateField.name, findState: compileStates(states) };
}

/** What is made of the last record is kept: its expressions are evaluated before it is read, for each tree. */
function rememberLast<Made>(make: (record: RecordTree) => Made): (record: RecordTree) => Made {
  let last: { readonly record: RecordTree; readonly made: Made } | undefined;
  return (record) => {
    if (last?.record !== record) last = { record, made: make(record) };
    return last.made;
  };
}

function compileOrder(unordered: readonly string[] = []): (record: RecordTree) => RecordTree {
  const paths = unordered.map(parseValuePath);
  return paths.length === 0 ? (record) => record : rememberLast((record) => withSorted(record, paths));
}

const prepareAll =
  (
    { prepare }: PreparedExpressions,
    inOrder: (record: RecordTree) => RecordTree,
    treesOf: ReadPlaces | undefined,
  ): PreparedExpressions['prepare'] =>
  async (sent) => {
    const record = inOrder(sent);
    await prepare(record);
    const trees = treesOf?.(record) ?? [];
    if (trees.length <= MOST_PLACES) for (const tree of trees) await prepare(tree);
  };

/** Compiled with the first place: few mappings have any. */
function lazyUsPlaces({ states, foreignCities, usCities }: FieldMapping): StepContext['placeOf'] {
  let placeOf: StepContext['placeOf'] | undefined;
  return (text) => {
    placeOf ??= compileUsPlaces(states, compileStates(states), { foreignCities, usCities });
    return placeOf(text);
  };
}

/** What the rules of one field need. */
interface FieldContext extends StepContext {
  readonly expressions: PreparedExpressions | undefined;
}

/** The form in which a field's first transform or `sanitize` expects elements inside the value; other steps take any. */
const markupForms: Readonly<Record<string, MarkupForm>> = { text: 'html', html: 'escaped html', sanitize: 'html' };

interface FieldReader {
  readonly name: string;
  /** Whether a step that runs only on the feed's text may refuse it. */
  readonly refusesOnce: boolean;
  /** Sets the field from the record. If a transform refuses the text, adds a problem and keeps the text for display. */
  readonly read: (record: RecordTree, draft: Draft, dates?: RecordDates) => void;
  /** Runs the rule's checks again on the field's current value. */
  readonly check: (draft: Draft) => void;
}

function compileField(context: FieldContext, rules: FieldRules, readState: ReadState): FieldReader {
  const { field: name } = context;
  if (!isList(rules)) return compileRule(context, rules, readState);
  const readers = rules.map((rule) => compileRule(context, rule, readState));
  return {
    name,
    refusesOnce: true,
    read(record, draft, dates) {
      for (const reader of readers) {
        reader.read(record, draft, dates);
        if (draft.fields[name] !== undefined || hasProblem(draft, name)) return;
      }
    },
    check: (draft) => checkAny(name, readers, draft),
  };
}

const isList = (rules: FieldRules): rules is readonly FieldRule[] => Array.isArray(rules);

/** The record that decided between the alternatives is not known any more, so the value may be that of any of them. */
function checkAny(name: string, readers: readonly FieldReader[], draft: Draft): void {
  const value = draft.fields[name];
  const before = draft.problems.length;
  let first: readonly Problem[] | undefined;
  for (const reader of readers) {
    reader.check(draft);
    if (draft.problems.length === before) return;
    const found = draft.problems.splice(before);
    first ??= found;
    if (value !== undefined) draft.fields[name] = value;
  }
  draft.problems.push(...(first ?? []));
}

/** Compiles the rule's source. A value that can't be had is a problem of the field. */
function compileValue(
  context: FieldContext,
  { source, as }: FieldRule,
  isNothing: (text: string) => boolean,
  names: NameReader,
): (record: RecordTree, draft: Draft) => string {
  if (source.kind === 'jsonata') return compileResult(context, source.expression);
  const forms = as.map((step) => (typeof step === 'string' ? (markupForms[step] ?? 'plain') : markupForms[step.kind]));
  return compileSource(source, forms.find((form) => form !== undefined) ?? 'plain', isNothing, names);
}

function compileResult({ field, expressions }: FieldContext, expression: string) {
  return (record: RecordTree, draft: Draft): string => {
    const result = expressions?.resultOf(record, expression) ?? NOT_EVALUATED;
    if (result.kind === 'value') return result.text;
    addProblem(draft, field, `the expression of ${field} fails: ${result.message}`);
    return '';
  };
}

const NOT_EVALUATED: Evaluated = { kind: 'failed', message: 'it was not evaluated' };

function compileRule(context: FieldContext, rule: FieldRule, readState: ReadState): FieldReader {
  const { field: name } = context;
  const { isNothing, unescaped } = compilePlain(name, rule);
  let isNamed = false;
  const names = {
    takes: takesNames(name),
    taken() {
      isNamed = true;
    },
  };
  const readValue = compileValue(context, rule, isNothing, names);
  const transforms = rule.as.map((step) => compileStep(step, context));
  const checks = transforms.filter(({ kind }) => kind === 'check');
  const forDefault = transforms.filter(({ scope }) => scope !== 'feed text');
  const applies = rule.when === undefined ? undefined : compileConditions(rule.when, 'a denial holds');

  const apply = (draft: Draft, steps: readonly Transform[]) => {
    for (const step of steps) {
      const text = draft.fields[name];
      if (text === undefined || hasProblem(draft, name)) return;
      const result = step.apply(text, readState);
      if (result.kind === 'refused') addRefusal(draft, name, result.message);
      else setField(draft, name, result.value);
    }
  };

  return {
    name,
    refusesOnce:
      rule.source.kind === 'jsonata' ||
      rule.as.some((step) => typeof step !== 'string') ||
      transforms.some(({ scope }) => scope === 'feed text'),
    read(record, draft, dates) {
      if (applies !== undefined && !applies(record, dates)) return;
      isNamed = false;
      const { text, isUnescaped } = unescaped(readValue(record, draft));
      setField(draft, name, text);
      if (isUnescaped) draft.unescaped.push(name);
      if (isNamed) draft.named.push(name);
      apply(draft, transforms);
      if (draft.fields[name] !== undefined || rule.default === undefined || hasProblem(draft, name)) return;
      setField(draft, name, rule.default);
      apply(draft, forDefault);
    },
    check: (draft) => apply(draft, checks),
  };
}

// What is read of a record before its fields: whether a rule skips it, and, of a record of a list, what decides whether
// its detail is requested.

type ListReading =
  | { readonly kind: 'key'; readonly key: PostingKey }
  | SkippedRecord
  | { readonly kind: 'unreadable'; readonly problems: readonly Problem[] };

/** @param detail the name of the detail in the record. Throws as `compileReader` does. */
export function compileListReader(
  { key, skip = [] }: Pick<FieldMapping, 'key' | 'skip'>,
  detail: string,
): (record: RecordTree, dates?: RecordDates) => ListReading {
  const readKey = compileKey(key);
  const readSkipped = compileSkip(withoutDetail(skip, detail), readKey);
  return (record, dates) => {
    const skipped = readSkipped(record, dates);
    if (skipped !== undefined) return skipped;
    const read = readKey(record);
    return read.kind === 'no key' ? { kind: 'unreadable', problems: read.problems } : read;
  };
}

/** The groups of conditions that are about the record of the list alone. */
const withoutDetail = (groups: ConditionGroups, detail: string): ConditionGroups =>
  groups.filter((group) => group.every(({ path }) => !mayLeadTo(path, detail)));

function mayLeadTo(path: string, detail: string): boolean {
  const [first] = parseValuePath(path);
  return first?.name === detail || first?.name === '*';
}

/** `undefined`: the record is not skipped. */
type ReadSkipped = (record: RecordTree, dates: RecordDates | undefined) => SkippedRecord | undefined;

/** Throws as `compileConditions` does. */
function compileSkip(skip: ConditionGroups, readKey: (record: RecordTree) => KeyReading): ReadSkipped {
  const isSkipped = compileConditions(skip, 'nothing holds');
  return (record, dates) => {
    const holds = isSkipped(record, dates);
    const since = dates?.since ?? Number.NEGATIVE_INFINITY;
    const bySource = dates?.bySource();
    // A wrong clock must neither create jobs nor delete any.
    if (dates !== undefined && bySource !== undefined && isSkipped(record, bySource) !== holds) {
      dates.note({ since, until: dates.now });
      return { kind: 'skipped', isUncertain: true };
    }
    if (!holds) return undefined;
    const read = readKey(record);
    const skipped = { kind: 'skipped', key: read.kind === 'no key' ? undefined : read.key } as const;
    const isDated = dates !== undefined && (Number.isFinite(since) || Number.isFinite(dates.until));
    return isDated ? { ...skipped, byDate: { since } } : skipped;
  };
}
