// Decides what the answer of a site says about the job of a posting.
import { type AcceptedFields, compareShown, type ShownRules, showsOwnForm } from '../../plan/compare-shown.ts';
import { type CreateOnlyFields, updatableFields } from '../../plan/desired-change.ts';
import { fieldOf } from '../../plan/same-meaning.ts';
import type { Fields } from '../../posting/posting.ts';
import { tellOtherContent, tellOtherReference } from '../../site/contradiction.ts';
import { type SiteJob, toCompare } from '../../site/exchange.ts';

/** A value as the site accepted it, and as it shows it now; `null`: not at all. */
export interface ShownChange {
  readonly from: string | null;
  readonly to: string | null;
}

export interface JobRules extends ShownRules {
  /** Fields that are left to the site: they may show anything. */
  readonly createOnly?: CreateOnlyFields;
}

export type JobJudgement =
  | { readonly kind: 'gone' }
  /** It is not the posting's job, so it must not be changed. */
  | {
      readonly kind: 'foreign';
      readonly fields: Readonly<Record<string, ShownChange>>;
      readonly message: string;
      /** Only its title says so: another value may prove that it is the posting's nevertheless. */
      readonly isByTitle: boolean;
    }
  | {
      readonly kind: 'compared';
      readonly changed: Readonly<Record<string, ShownChange>>;
      readonly hidden: readonly string[];
      /** Those of the hidden ones that could be compared if they were sent once more. */
      readonly unknown: readonly string[];
    }
  /** It exists, and nothing is known of what it should show. */
  | { readonly kind: 'unknown' };

/**
 * | the site                                                                   | judgement |
 * | -------------------------------------------------------------------------- | --------- |
 * | says that the job does not exist                                           | gone      |
 * | shows a job, but what it accepted is not known                             | unknown   |
 * | shows another reference                                                    | foreign   |
 * | shows no reference to compare, another title, and nothing that proves it   | foreign   |
 * | anything else                                                              | compared  |
 * @param known what the site last accepted; `undefined`: not known.
 * What the job showed after our last write is its own reference and title, whatever it looks like.
 * @param shown `undefined`: the job does not exist.
 * @param isWhole whether it is shown with all its fields, and not by a list.
 * @param isProven whether a value that only this posting has proves that the job is its own
 */
export function judgeJob(
  known: AcceptedFields | undefined,
  shown: SiteJob | undefined,
  isWhole: boolean,
  rules: JobRules,
  isProven = false,
): JobJudgement {
  if (shown === undefined) return { kind: 'gone' };
  if (known === undefined) return { kind: 'unknown' };
  const { referenceField, learnt, createOnly } = rules;
  const accepted = updatableFields(known.fields, createOnly);
  const compared = toCompare(shown);
  const isItsForm = (name: string): boolean => showsOwnForm(known.forms, name, fieldOf(compared.fields, name));
  const expected = { fields: accepted, referenceField, learnt };
  if (tellOtherReference(compared, expected) !== undefined && !isItsForm(referenceField ?? '')) {
    const fields = changesOf(accepted, shown, [referenceField ?? '']);
    const message = 'its job shows the reference of another posting';
    return { kind: 'foreign', fields, message, isByTitle: false };
  }
  const isTold = isProven || hasReference(accepted, compared.fields, referenceField) || isItsForm('title');
  if (!isTold && tellOtherContent(compared, expected) !== undefined) {
    const fields = changesOf(accepted, shown, ['title']);
    const message = 'its job shows another title, and neither a reference nor another value that tells whose it is';
    return { kind: 'foreign', fields, message, isByTitle: true };
  }
  const { changed, hidden, unknown } = compareShown(
    { fields: accepted, forms: known.forms },
    { ...compared, isWhole },
    rules,
  );
  return { kind: 'compared', changed: changesOf(accepted, shown, changed), hidden, unknown };
}

/** Whether the reference tells that the job is the posting's. */
function hasReference(accepted: Fields, shown: Fields, referenceField: string | undefined): boolean {
  if (referenceField === undefined) return false;
  return [accepted, shown].every((fields) => (fieldOf(fields, referenceField) ?? '').trim() !== '');
}

/** The values of these fields, in the form that may be stored and shown. */
const changesOf = (accepted: Fields, { fields }: SiteJob, names: readonly string[]): Record<string, ShownChange> =>
  Object.fromEntries(
    names.map((name) => [name, { from: fieldOf(accepted, name) ?? null, to: fieldOf(fields, name) ?? null }]),
  );
