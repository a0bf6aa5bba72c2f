// Compares what a site accepted for a posting with what its job shows now: sites rewrite values, and people change them.
import { hash } from 'node:crypto';
import type { Fields } from '../posting/posting.ts';
import { isRewriting, isShownExactly, isShownUnpredictably, type LearntRewrites } from './observe-values.ts';
import {
  compareValues,
  fieldOf,
  meansTheSame,
  plainMeaning,
  type StatedTypes,
  typeOf,
  type ValueChange,
} from './same-meaning.ts';

export interface ShownRules {
  /** How the site is known to rewrite values. */
  readonly learnt: LearntRewrites;
  readonly referenceField: string | undefined;
  readonly stateField: string;
  /** The name of the state that a text means, if any. */
  readonly stateOf: (text: string) => string | undefined;
  /** Only these fields are compared; `undefined`: all. */
  readonly only: ReadonlySet<string> | undefined;
}

/** What the site last accepted. */
export interface AcceptedFields {
  readonly fields: Fields;
  /** What it showed of them then. */
  readonly forms: ShownForms;
}

/** A job as the site shows it now. */
export interface JobNow {
  /** As the site sent them. */
  readonly fields: Fields;
  readonly types?: StatedTypes | undefined;
  /** Whether it has all fields that the site shows: lists often leave some out. */
  readonly isWhole: boolean;
}

interface ShownComparison {
  /** Fields that the job shows with another value. */
  readonly changed: readonly string[];
  /** Fields that can't be compared: the job does not show them, or nobody knows how the site shows them. */
  readonly hidden: readonly string[];
  /** The hidden fields that could be compared if they were sent once more. */
  readonly unknown: readonly string[];
}

/** What a site may do to one value even if it shows most values exactly as sent: it depends on the text. */
const OF_SOME_TEXTS: ReadonlySet<ValueChange> = new Set(['space', 'unicode', 'markup']);

/**
 * | the job shows                                   | and after our last write it showed | the field is |
 * | ----------------------------------------------- | ---------------------------------- | ------------ |
 * | the value, by its meaning, or the same state    | anything                           | the same     |
 * | what it showed then                             | another value than was sent        | the same     |
 * | another value, or none although all is shown    | a value                            | changed      |
 * | nothing, and the value is not empty             | anything else                      | hidden       |
 * | anything, if the site shows no value alike      | not known                          | hidden       |
 * | a known or usual rewriting of the value [1]     | not known                          | the same     |
 * | another value                                   | not known                          | changed      |
 *
 * [1] Another case or a cut-off end counts as changed if the site is known to show the field exactly.
 */
export function compareShown({ fields, forms }: AcceptedFields, job: JobNow, rules: ShownRules): ShownComparison {
  const changed: string[] = [];
  const hidden: string[] = [];
  const unknown: string[] = [];
  const formOf = readForms(forms);
  for (const [name, value] of Object.entries(fields)) {
    if (rules.only !== undefined && !rules.only.has(name)) continue;
    const says = fieldOf(job.fields, name);
    const type = typeOf(job.types, name);
    if (isSameValue(name, value, says, { ...rules, type })) continue;
    const form = formOf(name);
    if (form.kind === 'rewritten' && says !== undefined && form.isShown(says)) continue;
    const wasShown = form.kind === 'as_sent' || form.kind === 'rewritten';
    if (says === undefined) {
      if (wasShown && (job.isWhole || type === 'nil')) changed.push(name);
      else hidden.push(name);
    } else if (wasShown) changed.push(name);
    else if (isShownUnpredictably(rules.learnt, name)) {
      hidden.push(name);
      unknown.push(name);
    } else if (!isRewritten(name, value, says, rules.learnt)) changed.push(name);
  }
  return { changed, hidden, unknown };
}

function isSameValue(
  name: string,
  value: string,
  says: string | undefined,
  { referenceField, stateField, stateOf, type }: ShownRules & { readonly type: ReturnType<typeof typeOf> },
): boolean {
  // A reference may look like a number, and is none unless the site says so.
  if (meansTheSame(value, says, type ?? (name === referenceField ? 'text' : undefined))) return true;
  return name === stateField && says !== undefined && isSameState(stateOf(value), stateOf(says));
}

function isRewritten(name: string, value: string, says: string, learnt: LearntRewrites): boolean {
  if (isRewriting(learnt, name, value, says)) return true;
  const changes = compareValues(value, says);
  if (changes === undefined) return false;
  return !isShownExactly(learnt, name) || changes.every((change) => OF_SOME_TEXTS.has(change));
}

const isSameState = (one: string | undefined, other: string | undefined): boolean => one !== undefined && one === other;

// Keeps in few bytes what a site showed of a job after our last accepted write of each field: the site's form of our values.

/**
 * As stored, with the document of a job: 2 bytes for each field whose form is not known or that was not shown, 6 for each that
 * the site rewrites, and nothing for a field that it shows as sent. `undefined`: nothing is known.
 */
export type ShownForms = Buffer | undefined;

/** What the site showed of a field after its last accepted write. */
export type ShownForm =
  | { readonly kind: 'unknown' | 'hidden' | 'as_sent' }
  | { readonly kind: 'rewritten'; readonly isShown: (value: string) => boolean };

/** A job as an answer shows it. */
export interface AnsweredJob {
  /** As the site sent them. */
  readonly fields: Fields;
  /** In the form that may be stored: of a value that differs, not even a hash is kept. */
  readonly kept: Fields;
  readonly types: StatedTypes | undefined;
  /** Whether it has all fields that the site shows. */
  readonly isWhole: boolean;
}

/** What was accepted. */
export interface AcceptedWrite {
  /** What the job has now, as it was sent. */
  readonly accepted: Fields;
  /** The fields that this write has set. */
  readonly sent: ReadonlySet<string>;
  /** What was known before. */
  readonly known: ShownForms;
  /** What the job had before, if the answer may still show that. */
  readonly former?: Fields | undefined;
}

const KINDS = ['unknown', 'hidden', 'rewritten'] as const;
const NAME_BITS = 14;
const REWRITTEN_AT = 2;

/** Names are those of configured fields: few, and each is hashed for every posting. */
const nameHashes = new Map<string, number>();
const MOST_NAMES = 1_000;

function nameHash(name: string): number {
  const known = nameHashes.get(name);
  if (known !== undefined) return known;
  const made = hash('sha1', name.replaceAll('_', '-'), 'buffer').readUInt16BE(0) & ((1 << NAME_BITS) - 1);
  if (nameHashes.size < MOST_NAMES) nameHashes.set(name, made);
  return made;
}

/** The name is part of it: fields whose names have the same hash are told apart. */
const valueHash = (name: string, value: string): number =>
  hash('sha1', `${name.replaceAll('_', '-')}\n${plainMeaning(value)}`, 'buffer').readUInt32BE(0);

/** Whether the job shows of a field what it showed after our last write: that is its own, whatever it looks like. */
export function showsOwnForm(forms: ShownForms, name: string | undefined, says: string | undefined): boolean {
  if (name === undefined || says === undefined) return false;
  const form = readForms(forms)(name);
  return form.kind === 'rewritten' && form.isShown(says);
}

/** Reads what is stored. */
export function readForms(forms: ShownForms): (name: string) => ShownForm {
  if (forms === undefined) return () => ({ kind: 'unknown' });
  const entries = new Map<number, { readonly kinds: Set<number>; readonly hashes: Set<number> }>();
  for (let at = 0; at < forms.length; ) {
    const head = forms.readUInt16BE(at);
    at += 2;
    const [kind, name] = [head >> NAME_BITS, head & ((1 << NAME_BITS) - 1)];
    const entry = entries.get(name) ?? { kinds: new Set(), hashes: new Set() };
    entries.set(name, entry);
    entry.kinds.add(kind);
    if (kind !== REWRITTEN_AT) continue;
    entry.hashes.add(forms.readUInt32BE(at));
    at += 4;
  }
  return (name) => {
    const entry = entries.get(nameHash(name));
    if (entry === undefined) return { kind: 'as_sent' };
    const { kinds, hashes } = entry;
    // Several only if another name has the same hash: what is least certain counts.
    const [least] = [...kinds].sort();
    if (least !== REWRITTEN_AT) return { kind: KINDS[least as 0 | 1] };
    return { kind: 'rewritten', isShown: (value) => hashes.has(valueHash(name, value)) };
  };
}

/**
 * What is known after a write was accepted. Of a field that was not set, what was known stays: the site may show what a person
 * has made of it since.
 *
 * | the field         | the answer shows                        | its form                                 |
 * | ----------------- | --------------------------------------- | ---------------------------------------- |
 * | any               | what was sent, by its meaning           | as sent                                  |
 * | set by this write | what the job had before                 | unknown: the answer may be an older copy |
 * | "                 | another value                           | that value                               |
 * | "                 | nothing, or `nil`, in all that it shows | hidden                                   |
 * | "                 | nothing, or there is no job in it       | unknown                                  |
 * | "                 | a value with the token                  | unknown                                  |
 * | not set           | anything else                           | what it was                              |
 */
export function formsAfter(
  { accepted, sent, known, former }: AcceptedWrite,
  answer: AnsweredJob | undefined,
): ShownForms {
  const before = readForms(known);
  const entries = new Map<string, Buffer>();
  const add = (entry: Buffer) => entries.set(entry.toString('latin1'), entry);
  let isAnyKnown = false;
  for (const [name, value] of Object.entries(accepted)) {
    const says = answer === undefined ? undefined : fieldOf(answer.fields, name);
    const type = answer === undefined ? undefined : typeOf(answer.types, name);
    const isSeen = says !== undefined || type === 'nil' || answer?.isWhole === true;
    const isSame = isSeen && meansTheSame(value, says, type);
    const wasKnown = known !== undefined && before(name).kind !== 'unknown';
    if (!sent.has(name) && (wasKnown || !isSame)) {
      // A rewritten form can only be copied.
      for (const entry of known === undefined ? [entryOf('unknown', name)] : entriesOf(known, name)) add(entry);
      isAnyKnown ||= wasKnown;
      continue;
    }
    const kind = isSame
      ? undefined
      : formOf(says, { isSeen, isSecret: says !== keptOf(answer, name), value: former && fieldOf(former, name) });
    if (kind !== 'unknown') isAnyKnown = true;
    if (kind !== undefined) add(entryOf(kind, name, says));
  }
  return isAnyKnown ? Buffer.concat([...entries.values()]) : undefined;
}

const keptOf = (answer: AnsweredJob | undefined, name: string): string | undefined =>
  answer === undefined ? undefined : fieldOf(answer.kept, name);

function formOf(
  says: string | undefined,
  {
    isSeen,
    isSecret,
    value,
  }: { readonly isSeen: boolean; readonly isSecret: boolean; readonly value: string | undefined },
): (typeof KINDS)[number] {
  if (!isSeen || isSecret) return 'unknown';
  if (says === undefined) return 'hidden';
  return value !== undefined && meansTheSame(value, says) ? 'unknown' : 'rewritten';
}

function entryOf(kind: (typeof KINDS)[number], name: string, says = ''): Buffer {
  const entry = Buffer.alloc(kind === 'rewritten' ? 6 : 2);
  entry.writeUInt16BE((KINDS.indexOf(kind) << NAME_BITS) | nameHash(name), 0);
  if (kind === 'rewritten') entry.writeUInt32BE(valueHash(name, says), 2);
  return entry;
}

/** The stored entries of a name. */
function entriesOf(forms: Buffer, name: string): Buffer[] {
  const found: Buffer[] = [];
  const own = nameHash(name);
  for (let at = 0; at < forms.length; ) {
    const head = forms.readUInt16BE(at);
    const length = head >> NAME_BITS === REWRITTEN_AT ? 6 : 2;
    if ((head & ((1 << NAME_BITS) - 1)) === own) found.push(forms.subarray(at, at + length));
    at += length;
  }
  return found;
}

// Tells from what a site shows or says after an update whether it clears the fields that the update did not send.

/** What was sent of a job, and what it had before. */
export interface PartialUpdate {
  readonly sent: Fields;
  readonly before: Fields | undefined;
  readonly forms: ShownForms;
  readonly createOnly: ReadonlySet<string> | undefined;
}

/** The fields with a value that the job showed before the update, which did not send them. */
export function omittedFields({ sent, before = {}, forms, createOnly }: PartialUpdate): readonly string[] {
  const formOf = readForms(forms);
  return Object.keys(before).filter(
    (name) =>
      before[name]?.trim() !== '' &&
      !Object.hasOwn(sent, name) &&
      createOnly?.has(name) !== true &&
      ['as_sent', 'rewritten'].includes(formOf(name).kind),
  );
}

/** The fields that a job shows with a value. */
export const shownOf = (names: readonly string[], { fields }: Pick<JobNow, 'fields'>): readonly string[] =>
  names.filter((name) => (fieldOf(fields, name)?.trim() ?? '') !== '');

/** Problems of a value that is there. */
const NOT_MISSED = /\b(?:already|duplicate|exceeds?|long|maximum|taken|unique)\b/i;

/**
 * Adds to a problem with a value that the posting has, and that the update did not send: the site may have cleared it. The words for a missing
 * value are many, such as "is not included in the list" and "is too short".
 */
export function explainMissed<Problem extends { readonly field?: string; readonly message: string }>(
  problem: Problem,
  sent: Fields,
  accepted: Fields,
): Problem {
  const { field, message } = problem;
  const isMissed = field !== undefined && !Object.hasOwn(sent, field) && (accepted[field] ?? '') !== '';
  return isMissed && !NOT_MISSED.test(message)
    ? {
        ...problem,
        message: `${message}; the update did not send it, as only what has changed is sent: if the site clears or requires what an update omits, set \`omitted_fields: clear\` of the site, and send it again`,
      }
    : problem;
}
