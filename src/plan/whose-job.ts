// Tells whose job an ID names that the site answered a create with while an older posting has it: sites use IDs again.
import type { Fields } from '../posting/posting.ts';
import { compareReferences, compareValues, fieldOf } from './same-value.ts';

/**
 * - `new`: the site shows what the create sent, so the older posting's job is gone.
 * - `older`: it shows what the older posting has, so the site holds the two for one job.
 * - `unknown`: it shows too little, or nothing that tells the two apart.
 */
export type Owner = 'new' | 'older' | 'unknown';

const RANK = { other: 0, cut: 1, form: 2, exact: 3 } as const;

/**
 * | reference shown          | what else is shown               | owner     |
 * | ------------------------ | -------------------------------- | --------- |
 * | nearer to the new one    | anything                         | `new`     |
 * | nearer to the older one  | anything                         | `older`   |
 * | none, or near to neither or both | only the new one's values | `new`    |
 * | "                        | only the older one's values      | `older`   |
 * | "                        | values of both, or none          | `unknown` |
 * @param older what the older posting has; `undefined`: that was never known.
 */
export function whoseJob(
  shown: Fields | undefined,
  sent: Fields,
  older: Fields | undefined,
  referenceField: string | undefined,
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
  return byContent(shown, sent, older);
}

/** Only fields count in which the two postings differ. */
function byContent(shown: Fields, sent: Fields, older: Fields | undefined): Owner {
  let asNew = 0;
  let asOlder = 0;
  for (const [name, value] of Object.entries(sent)) {
    const says = fieldOf(shown, name);
    const former = older === undefined ? undefined : fieldOf(older, name);
    if (!says || (former !== undefined && compareValues(value, former) !== undefined)) continue;
    if (compareValues(value, says) !== undefined) asNew++;
    else if (older === undefined || (former !== undefined && compareValues(former, says) !== undefined)) asOlder++;
  }
  if (asNew > 0 && asOlder === 0) return 'new';
  return asOlder > 0 && asNew === 0 && older !== undefined ? 'older' : 'unknown';
}
