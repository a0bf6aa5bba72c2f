// Compiles a mapping into a reader, which turns each record into a posting with all of its problems.

import { compileConditions } from './conditions.ts';
import { addProblem, addRefusal, type Draft, hasProblem, newDraft, setField } from './draft.ts';
import type { Evaluated } from './expressions.ts';
import { fingerprintOf } from './fingerprint.ts';
import { contentHash } from './hash.ts';
import type { PostingKey } from './identifiers.ts';
import type { FieldRule, FieldRules, MappingSpec } from './mapping.ts';
import type { MarkupForm } from './markup.ts';
import type { Posting, PostingReader, Problem, ReadResult, RecordTree } from './posting.ts';
import { compileKey } from './posting-key.ts';
import { type PreparedExpressions, prepareExpressions } from './prepared-expressions.ts';
import { compileSiteRules } from './site-rules.ts';
import { compileStateField } from './state-field.ts';
import { compileStep, type StepContext } from './steps/step.ts';
import { compilePlaces } from './steps/us-places.ts';
import type { ReadState, Transform } from './transforms.ts';
import { compileStates, type StateTable } from './us-states.ts';
import { compileSource } from './value-source.ts';

/**
 * Compiles the reader for one feed's records on one site. Throws `MalformedPathError` for an invalid path or template,
 * and an `Error` for a contradictory state table; reading itself never throws.
 */
export function compileReader(spec: MappingSpec): PostingReader {
  const isSkipped = spec.skip === undefined ? undefined : compileConditions(spec.skip, 'nothing holds');
  const readKey = compileKey(spec.key);
  const readState = compileStateField(spec.stateField, spec.states);
  const expressions = prepareExpressions(spec);
  const placeOf = lazyPlaces(spec.states);
  const fields = Object.entries(spec.fields).map(([name, rules]) =>
    compileField({ field: name, placeOf, expressions }, rules, readState),
  );
  const checkSiteRules = compileSiteRules(spec, readState);
  /** Fields with a step that may refuse the feed's text and does not run again on an edited posting. */
  const shaped = new Set(fields.filter(({ refusesOnce }) => refusesOnce).map(({ name }) => name));

  const finish = (key: PostingKey, draft: Draft) => {
    checkSiteRules(draft);
    const posting: Posting = { key, fields: draft.fields, contentHash: contentHash(draft.fields), notes: draft.notes };
    return draft.problems.length === 0
      ? ({ kind: 'posting', posting } as const)
      : ({ kind: 'invalid', posting, problems: draft.problems } as const);
  };

  return {
    fingerprint: fingerprintOf(spec),
    ...(expressions === undefined ? {} : { prepare: expressions.prepare }),
    read(record): ReadResult {
      if (isSkipped?.(record)) return { kind: 'skipped' };
      const key = readKey(record);
      if (key.kind === 'no key') return { kind: 'unreadable', problems: key.problems };
      const draft = newDraft();
      for (const field of fields) field.read(record, draft);
      return finish(key.key, draft);
    },
    withFields(posting, edits, problems = []) {
      const draft = newDraft(posting.fields, posting.notes);
      for (const [name, text] of Object.entries(edits)) setField(draft, name, text);
      // Fields that were wrong and were not edited are still wrong.
      const isEdited = (name: string) => Object.hasOwn(edits, name) && edits[name] !== posting.fields[name];
      draft.problems.push(
        ...problems.filter(({ field }) => field !== undefined && shaped.has(field) && !isEdited(field)),
      );
      for (const field of fields) field.check(draft);
      return finish(posting.key, draft);
    },
  };
}

/** Compiled with the first place: few mappings have any. */
function lazyPlaces(states: StateTable): StepContext['placeOf'] {
  let placeOf: StepContext['placeOf'] | undefined;
  return (text) => {
    placeOf ??= compilePlaces(states, compileStates(states));
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
  readonly read: (record: RecordTree, draft: Draft) => void;
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
    read(record, draft) {
      for (const reader of readers) {
        reader.read(record, draft);
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
function compileValue(context: FieldContext, { source, as }: FieldRule): (record: RecordTree, draft: Draft) => string {
  if (source.kind === 'jsonata') return compileResult(context, source.expression);
  const forms = as.map((step) => (typeof step === 'string' ? (markupForms[step] ?? 'plain') : markupForms[step.kind]));
  return compileSource(source, forms.find((form) => form !== undefined) ?? 'plain');
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
  const readValue = compileValue(context, rule);
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
    refusesOnce: rule.source.kind === 'jsonata' || rule.as.some((step) => typeof step !== 'string'),
    read(record, draft) {
      if (applies !== undefined && !applies(record)) return;
      setField(draft, name, readValue(record, draft));
      apply(draft, transforms);
      if (draft.fields[name] !== undefined || rule.default === undefined || hasProblem(draft, name)) return;
      setField(draft, name, rule.default);
      apply(draft, forDefault);
    },
    check: (draft) => apply(draft, checks),
  };
}
