// Decides which posting owns a job when a create returns, or may have made, a job whose ID an older posting has: sites
// reuse IDs.
import type { Fields } from '../posting/posting.ts';
import { isRewriting, type LearntRewrites } from './observe-values.ts';
import {
  compareReferences,
  compareValues,
  fieldOf,
  meansTheSame,
  type StatedTypes,
  typeOf,
  type ValueType,
} from './same-meaning.ts';

/**
 * - `new`: the job shows what the create sent, so the older posting's job is gone.
 * - `older`: the job shows what the older posting has, so the site takes the two postings for one job.
 * - `unknown`: the job shows too little, or nothing that tells the two apart.
 */
export type Owner = 'new' | 'older' | 'unknown';

/** A job ID that returns to a posting after more hours was reused. Sooner, the site treats two postings as one job. */
export const SHARED_JOB_WINDOW_HOURS = 24;

const RANK = { other: 0, cut: 1, form: 2, exact: 3 } as const;

/**
 * | reference shown          | other values shown               | owner     |
 * | ------------------------ | -------------------------------- | --------- |
 * | closer to the new one    | anything                         | `new`     |
 * | closer to the older one  | anything                         | `older`   |
 * | none, or equally close   | only the new one's               | `new`     |
 * | "                        | only the older one's             | `older`   |
 * | "                        | both postings', or none          | `unknown` |
 * @param older the older posting's fields; `undefined` if never known. @param types what the site states about the values that it shows
 */
export function whoseJob(
  shown: Fields | undefined,
  sent: Fields,
  older: Fields | undefined,
  referenceField: string | undefined,
  types?: StatedTypes,
): Owner {
  if (shown === undefined) return 'unknown';
  const reference = referenceField === undefined ? undefined : fieldOf(shown, referenceField);
  if (referenceField !== undefined && reference) {
    const near = (fields: Fields | undefined): number => {
      const own = fields === undefined ? undefined : fieldOf(fields, referenceField);
      return own ? RANK[compareReferences(own, reference)] : 0;
    };
    if (near(sent) !== near(older)) return near(sent) > near(older) ? 'new' : 'older';
  }
  return byContent({ shown, types }, sent, older);
}

/** Compares only the fields in which the two postings differ. */
function byContent(
  { shown, types }: { readonly shown: Fields; readonly types: StatedTypes | undefined },
  sent: Fields,
  older: Fields | undefined,
): Owner {
  let asNew = 0;
  let asOlder = 0;
  for (const [name, value] of Object.entries(sent)) {
    const says = fieldOf(shown, name);
    const former = older === undefined ? undefined : fieldOf(older, name);
    if (!says || (former !== undefined && isAlike(value, former))) continue;
    const type = typeOf(types, name);
    if (isAlike(value, says, type)) asNew++;
    else if (older === undefined || (former !== undefined && isAlike(former, says, type))) asOlder++;
  }
  if (asNew > 0 && asOlder === 0) return 'new';
  return asOlder > 0 && asNew === 0 && older !== undefined ? 'older' : 'unknown';
}

const isAlike = (own: string, says: string, type?: ValueType): boolean =>
  compareValues(own, says) !== undefined || meansTheSame(own, says, type);

/**
 * What the reference of a mapped job says about a create in doubt, which may have made it under a reused ID:
 *
 * - `ours`: it is a form of the create's reference, and none of the older posting's.
 * - `unclear`: it is closer to the create's, or nothing is known of the older posting's. A person decides.
 * - `theirs`: anything else.
 */
export type Reuse = 'ours' | 'unclear' | 'theirs';

/** @param older the older posting's fields; `undefined` if not known for certain. */
export function reuseOf(
  { sent, shown, older }: { readonly sent: Fields; readonly shown: Fields; readonly older: Fields | undefined },
  { referenceField, learnt }: { readonly referenceField: string | undefined; readonly learnt: LearntRewrites },
): Reuse {
  if (referenceField === undefined) return 'theirs';
  const says = fieldOf(shown, referenceField)?.trim();
  if (!says) return 'theirs';
  const near = (fields: Fields): number | undefined => {
    const own = fieldOf(fields, referenceField)?.trim();
    if (!own) return undefined;
    const likeness = compareReferences(own, says);
    return likeness === 'other' && isRewriting(learnt, referenceField, own, says) ? RANK.form : RANK[likeness];
  };
  const ours = near(sent) ?? RANK.other;
  if (ours === RANK.other) return 'theirs';
  const theirs = older === undefined ? undefined : near(older);
  if (theirs === RANK.other) return 'ours';
  return theirs === undefined || ours > theirs ? 'unclear' : 'theirs';
}
