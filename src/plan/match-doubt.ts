// Compares a create in doubt with the site's jobs to find those that it may have created.
import type { Fields } from '../posting/posting.ts';
import { isRewriting, isShownExactly, type LearntRewrites, rewritings } from './observe-values.ts';
import { meansTheSame, type StatedTypes, typeOf } from './same-meaning.ts';
import {
  bareForm,
  compareReferences,
  compareValues,
  fieldOf,
  type ReferenceLikeness,
  referenceForm,
  withoutOmission,
} from './same-value.ts';
import { formsAfter, type ShownForms } from './shown-forms.ts';

/** A create whose outcome is unknown: what was sent, and the window in which the site may have created the job. */
export interface DoubtfulCreate {
  readonly fields: Fields;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A job as the list action or the show action returns it. */
export interface ListedJob {
  readonly fields: Fields;
  readonly createdAt?: Date;
}

/**
 * - `match`: the job is what the create would have created.
 * - `perhaps`: it may be the job, but the list shows too little, it was created at another time, or its content
 *   differs. The show action may clear this up; otherwise a person decides.
 * - `resembles`: it has the title that was sent, but another reference or other fields. Sites rewrite what they store
 *   and postings share titles, so it counts only if nothing matches better, and then a person decides.
 * - `other`: it is a different job.
 */
export type Likeness = 'match' | 'perhaps' | 'resembles' | 'other';

export interface MatchOptions {
  readonly referenceField: string | undefined;
  /** Another posting may have the same reference on this site, so the reference alone proves nothing. */
  readonly shared?: boolean;
  /**
   * How the site is known to rewrite values. It can only make a match more likely or ask a person, never rule a job
   * out.
   */
  readonly learnt?: LearntRewrites;
}

const NOTHING_LEARNT: LearntRewrites = new Map();

/**
 * Compares by reference if one was sent, otherwise by all fields that were sent (README, "How doubts are resolved"). Values that differ
 * only by the usual rewriting count as equal. Clocks and time zones may be wrong, so a creation time outside the window
 * does not rule a job out; a person decides then, as for another title under the same reference (law 4).
 *
 * | reference shown | title           | created in the window | other fields                | likeness    |
 * | --------------- | --------------- | --------------------- | --------------------------- | ----------- |
 * | the same        | same or unknown | yes, or unknown       | any; all the same if shared | `match`     |
 * | the same        | anything else                                                       ||| `perhaps`   |
 * | another form    | the same        | yes, or unknown       | none differs                | `match`     |
 * | another form    | anything else                                                       ||| `perhaps`   |
 * | none            | same or unknown | any                   | any                         | `perhaps`   |
 * | a known rewrite | like the same reference                                             ||| see above   |
 * | a different one | the same        | yes, or unknown       | any                         | `resembles` |
 * | none sent       | same or unknown | yes                   | all shown, all the same     | `match`     |
 * | none sent       | same or unknown | no, or unknown        | none differs                | `perhaps`   |
 * | none sent       | the same        | yes, or unknown       | one differs                 | `resembles` |
 * | anything else                                                                        |||| `other`     |
 */
export function likeness(doubt: DoubtfulCreate, job: ListedJob, options: MatchOptions): Likeness {
  const { referenceField, shared = false, learnt = NOTHING_LEARNT } = options;
  const { createdAt } = job;
  const timely = createdAt === undefined ? undefined : createdAt >= doubt.notBefore && createdAt <= doubt.notAfter;
  const title = compareField(doubt.fields, job.fields, 'title', learnt);
  const rest = compareFields(doubt.fields, job.fields, referenceField, learnt);
  const reference = referenceField === undefined ? undefined : fieldOf(doubt.fields, referenceField)?.trim();
  if (referenceField === undefined || !reference) return withoutReference(title, rest, timely);
  const shown = fieldOf(job.fields, referenceField)?.trim();
  if (!shown) return title === 'other' ? 'other' : 'perhaps';
  switch (likenessOfReferences(reference, shown, referenceField, learnt)) {
    case 'exact':
      if (timely === false || title === 'other') return 'perhaps';
      return shared && (rest.other || rest.unknown) ? 'perhaps' : 'match';
    case 'form':
    case 'cut':
      if (timely === false || title !== 'same' || rest.other) return 'perhaps';
      // This site has shown every other reference exactly as sent, so another form is suspicious.
      return isShownExactly(learnt, referenceField) ? 'perhaps' : 'match';
    default:
      return title === 'same' && timely !== false ? 'resembles' : 'other';
  }
}

/**
 * Whether the site proves that the create has made the job: it was created in the window, with what was sent. A job that a person made
 * for the posting, earlier or with other content, is not proven, although it may be the posting's job from now on.
 */
export function isProvenMade(doubt: DoubtfulCreate, job: ListedJob, options: MatchOptions): boolean {
  if (job.createdAt === undefined || likeness(doubt, job, options) !== 'match') return false;
  return !compareFields(doubt.fields, job.fields, options.referenceField, options.learnt ?? NOTHING_LEARNT).other;
}

function likenessOfReferences(sent: string, shown: string, field: string, learnt: LearntRewrites): ReferenceLikeness {
  const likeness = compareReferences(sent, shown);
  return likeness !== 'exact' && isRewriting(learnt, field, sent, shown) ? 'exact' : likeness;
}

function withoutReference(title: Comparison, rest: Rest, timely: boolean | undefined): Likeness {
  if (title === 'other') return 'other';
  if (rest.other) return title === 'same' && timely !== false ? 'resembles' : 'other';
  return timely === true && !rest.unknown && title === 'same' ? 'match' : 'perhaps';
}

type Comparison = 'same' | 'other' | 'unknown';

function compareField(sent: Fields, shown: Fields, name: string, learnt: LearntRewrites): Comparison {
  const [value, says] = [fieldOf(sent, name), fieldOf(shown, name)];
  if (value === undefined || says === undefined) return 'unknown';
  return compareValues(value, says) !== undefined || isRewriting(learnt, name, value, says) ? 'same' : 'other';
}

/** Whether any field that was sent is shown with another value, or is not shown. */
interface Rest {
  readonly other: boolean;
  readonly unknown: boolean;
}

function compareFields(sent: Fields, shown: Fields, left: string | undefined, learnt: LearntRewrites): Rest {
  const found = Object.keys(sent).map((name) => (name === left ? 'same' : compareField(sent, shown, name, learnt)));
  return { other: found.includes('other'), unknown: found.includes('unknown') };
}

/** Cheap keys for finding candidate jobs; `undefined` if the job shows no such field. */
export interface Clues {
  readonly reference: string | undefined;
  readonly title: string | undefined;
}

export function cluesOf(fields: Fields, referenceField: string | undefined): Clues {
  const reference = referenceField === undefined ? undefined : fieldOf(fields, referenceField)?.trim();
  const title = fieldOf(fields, 'title')?.trim();
  return {
    reference: reference ? referenceForm(reference) : undefined,
    title: title ? withoutOmission(bareForm(title)) : undefined,
  };
}

/** The references under which the site may show what was sent, as clues. */
export function referenceClues(sent: Fields, referenceField: string | undefined, learnt: LearntRewrites): string[] {
  const reference = referenceField === undefined ? undefined : fieldOf(sent, referenceField)?.trim();
  if (referenceField === undefined || !reference) return [];
  return [...new Set([reference, ...rewritings(learnt, referenceField, reference)].map(referenceForm))];
}

/** Longer clues are compared by this many characters only. */
const MOST_OF_CLUE = 100;

/** Every prefix of a clue, for sites that truncate values. */
export const beginningsOf = (clue: string): string[] =>
  Array.from({ length: Math.min(clue.length, MOST_OF_CLUE) }, (_, at) => clue.slice(0, at + 1));

/** The content of a site job that a posting adopts. */
export interface TakenContent {
  readonly fields: Fields;
  /** Fields that the job shows with another value than was sent, or not at all. */
  readonly uncertain: readonly string[];
  readonly forms: ShownForms;
}

/** A job that is shown. */
export interface TakenJob {
  /** To compare. */
  readonly fields: Fields;
  readonly types?: StatedTypes;
  /** The same fields in the form that may be stored. */
  readonly kept: Fields;
}

/**
 * | the job shows                             | the field has  | sent again |
 * | ----------------------------------------- | -------------- | ---------- |
 * | what was sent, by its meaning             | what was sent  | no         |
 * | what the site is known to make of it      | what was sent  | no         |
 * | another value                             | what is shown  | yes        |
 * | nothing, or the site could not be queried | what was sent  | yes        |
 * @param shown `undefined`: the site could not be queried.
 */
export function contentOf(
  sent: Fields,
  shown: TakenJob | undefined,
  {
    learnt = NOTHING_LEARNT,
    referenceField,
  }: Pick<MatchOptions, 'learnt'> & Partial<Pick<MatchOptions, 'referenceField'>> = {},
): TakenContent {
  if (shown === undefined) return { fields: sent, uncertain: Object.keys(sent), forms: undefined };
  const uncertain = Object.entries(sent).flatMap(([name, value]) => {
    const says = fieldOf(shown.fields, name);
    const type = typeOf(shown.types, name) ?? (name === referenceField ? 'text' : undefined);
    const isSame = meansTheSame(value, says, type) || (says !== undefined && isRewriting(learnt, name, value, says));
    return isSame ? [] : [name];
  });
  const differing = new Set(uncertain);
  const fields = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [
      name,
      (differing.has(name) ? fieldOf(shown.kept, name) : value) ?? value,
    ]),
  );
  return { fields, uncertain, forms: formsOfTaken(fields, shown) };
}

/** What the site is known to show of fields that were taken from a job. */
export const formsOfTaken = (fields: Fields, { types, ...shown }: TakenJob): ShownForms =>
  formsAfter(
    { accepted: fields, sent: new Set(Object.keys(fields)), known: undefined },
    { ...shown, types, isWhole: false },
  );
