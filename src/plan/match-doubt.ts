// Turns a create in doubt and the site's list into the jobs that it may have made.
import type { Fields } from '../posting/posting.ts';
import { isRewriting, isShownExactly, type LearntRewrites, rewritings } from './observe-values.ts';
import {
  bareForm,
  compareReferences,
  compareValues,
  fieldOf,
  type ReferenceLikeness,
  referenceForm,
  withoutOmission,
} from './same-value.ts';

/** A create whose outcome is unknown: what was sent, and when at the earliest and at the latest the site may have made it. */
export interface DoubtfulCreate {
  readonly fields: Fields;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A job as the list, or the show action, has it. */
export interface ListedJob {
  readonly fields: Fields;
  readonly createdAt?: Date;
}

/**
 * - `match`: the job is what the create would have made.
 * - `perhaps`: it may be the job, but the list does not show enough, or it was made at another time or says something
 *   else: the show action may tell, or else a person.
 * - `resembles`: it has another reference, or other fields than were sent, and the title: sites rewrite what they store,
 *   and postings share titles. It counts only where nothing matches better, and then a person has to say.
 * - `other`: it is another job.
 */
export type Likeness = 'match' | 'perhaps' | 'resembles' | 'other';

export interface MatchOptions {
  readonly referenceField: string | undefined;
  /** Another posting may have the same reference on this site, so that it proves nothing by itself. */
  readonly shared?: boolean;
  /** How the site is known to rewrite values. What it says makes a job likelier or a person asked, never "not there". */
  readonly learnt?: LearntRewrites;
}

const NOTHING_LEARNT: LearntRewrites = new Map();

/**
 * Compares by the reference where one was sent, otherwise by all fields that were sent (design, section 7). Usual changes
 * of a value make no other value. A creation time outside the window is no proof that it is another job, as clocks and
 * time zones may be wrong; but then a person has to say so, as with another title under the same reference (law 4).
 *
 * | reference shown | title       | made in the window  | other fields              | likeness    |
 * | --------------- | ----------- | ------------------- | ------------------------- | ----------- |
 * | the same        | not another | yes, or unknown     | any; if shared: the same  | `match`     |
 * | the same        | anything else                                                || `perhaps`  |
 * | another form    | the same    | yes, or unknown     | none another              | `match`     |
 * | another form    | anything else                                                || `perhaps`  |
 * | none            | not another | any                 | any                       | `perhaps`   |
 * | as learnt       | as if it were the same                                      ||| as there    |
 * | another         | the same    | yes, or unknown     | any                       | `resembles` |
 * | none sent       | not another | yes                 | all shown, all the same   | `match`     |
 * | none sent       | not another | no, or unknown      | none another              | `perhaps`   |
 * | none sent       | the same    | yes, or unknown     | one another               | `resembles` |
 * | anything else                                                                  |||| `other`    |
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
      // Shown in another form by a site that has shown each other one as it was sent.
      return isShownExactly(learnt, referenceField) ? 'perhaps' : 'match';
    default:
      return title === 'same' && timely !== false ? 'resembles' : 'other';
  }
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

/** Whether a field that was sent is shown with another value, or not shown. */
interface Rest {
  readonly other: boolean;
  readonly unknown: boolean;
}

function compareFields(sent: Fields, shown: Fields, left: string | undefined, learnt: LearntRewrites): Rest {
  const found = Object.keys(sent).map((name) => (name === left ? 'same' : compareField(sent, shown, name, learnt)));
  return { other: found.includes('other'), unknown: found.includes('unknown') };
}

/** What a job is recognised by at first glance; `undefined` where it shows none. */
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

/** References under which the site may show what was sent, as clues. */
export function referenceClues(sent: Fields, referenceField: string | undefined, learnt: LearntRewrites): string[] {
  const reference = referenceField === undefined ? undefined : fieldOf(sent, referenceField)?.trim();
  if (referenceField === undefined || !reference) return [];
  return [...new Set([reference, ...rewritings(learnt, referenceField, reference)].map(referenceForm))];
}

/** Longer clues are recognised by as much of them. */
const MOST_OF_CLUE = 100;

/** All that a site may have left of a clue after it has cut the value. */
export const beginningsOf = (clue: string): string[] =>
  Array.from({ length: Math.min(clue.length, MOST_OF_CLUE) }, (_, at) => clue.slice(0, at + 1));

/** What the site has for a posting that takes over one of its jobs. */
export interface TakenContent {
  readonly fields: Fields;
  /** Fields that the job shows with another text, or not at all. */
  readonly uncertain: readonly string[];
}

/**
 * @param shown `undefined`: the site could not be asked, so nothing is certain.
 * @param kept the same as it may be stored, where that is something else.
 */
export function contentOf(sent: Fields, shown: Fields | undefined, kept = shown): TakenContent {
  const says = (name: string): string | undefined => (shown === undefined ? undefined : fieldOf(shown, name));
  const keep = (name: string, value: string): string =>
    says(name) === value ? value : ((kept === undefined ? undefined : fieldOf(kept, name)) ?? value);
  return {
    fields: Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, keep(name, value)])),
    uncertain: Object.entries(sent).flatMap(([name, value]) => (says(name) === value ? [] : name)),
  };
}
