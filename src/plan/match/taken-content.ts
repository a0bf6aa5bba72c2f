// What a posting takes over from a job that is now its own, and the forms in which references and titles are compared.
import type { Fields } from '../../posting/posting.ts';
import { formsAfter, type ShownForms } from '../compare-shown.ts';
import { isRewriting, type LearntRewrites } from '../observe-values.ts';
import {
  bareForm,
  fieldOf,
  meansTheSame,
  referenceForm,
  type StatedTypes,
  typeOf,
  withoutOmission,
} from '../same-meaning.ts';

const NOTHING_LEARNT: LearntRewrites = new Map();

/** Cheap keys for finding candidate jobs; `undefined` if the job shows no such field. */
interface Clues {
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

/** The content of a site job that a posting adopts. */
interface TakenContent {
  readonly fields: Fields;
  /** Fields that the job shows with another value than was sent, or not at all. */
  readonly uncertain: readonly string[];
  readonly forms: ShownForms;
}

/** How a site's jobs are read. */
export interface TakingRules {
  readonly learnt?: LearntRewrites;
  readonly referenceField?: string | undefined;
  /** Names of fields that were sent for the posting before. */
  readonly formerly?: readonly string[];
}

/** A job that is shown. */
export interface TakenJob {
  /** The fields to compare. */
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
 *
 * Of a field that the posting had and has no more, "what was sent" is nothing.
 * @param shown `undefined`: the site could not be queried.
 */
export function contentOf(
  posting: Fields,
  shown: TakenJob | undefined,
  { learnt = NOTHING_LEARNT, referenceField, formerly = [] }: TakingRules = {},
): TakenContent {
  const mayShow = (name: string): boolean => shown === undefined || (fieldOf(shown.fields, name)?.trim() ?? '') !== '';
  const left = formerly.filter((name) => fieldOf(posting, name) === undefined && mayShow(name));
  const sent = { ...posting, ...Object.fromEntries(left.map((name) => [name, ''])) };
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
