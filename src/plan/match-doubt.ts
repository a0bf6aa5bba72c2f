// Turns a create in doubt and the site's list into the jobs that it may have made.
import type { Fields } from '../posting/posting.ts';

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
 * - `perhaps`: it may be the job, but the list does not show enough, or it was made at another time: the show action
 *   may tell, or else a person.
 * - `other`: it is another job.
 */
export type Likeness = 'match' | 'perhaps' | 'other';

/**
 * Compares by the reference field where one was sent, otherwise by all fields that were sent (design, section 7). A
 * creation time outside the window is no proof that it is another job, as clocks and time zones may be wrong; but then a
 * person has to say so. So it is with another title under the same reference: the job may be somebody else's (law 4).
 * Without a reference, the time must be known.
 */
export function likeness(doubt: DoubtfulCreate, job: ListedJob, referenceField: string | undefined): Likeness {
  const { createdAt } = job;
  const timely = createdAt === undefined ? undefined : createdAt >= doubt.notBefore && createdAt <= doubt.notAfter;
  const reference = referenceField === undefined ? undefined : shownValue(doubt.fields, referenceField);
  if (referenceField !== undefined && reference !== undefined && reference !== '') {
    const shown = shownValue(job.fields, referenceField);
    if (shown === undefined) return 'perhaps';
    if (shown !== reference) return 'other';
    const titles = [shownValue(doubt.fields, 'title'), shownValue(job.fields, 'title')];
    const retitled = !titles.includes(undefined) && titles[0] !== titles[1];
    return timely === false || retitled ? 'perhaps' : 'match';
  }
  let known = timely === true;
  for (const [name, value] of Object.entries(doubt.fields)) {
    const shown = shownValue(job.fields, name);
    if (shown === undefined) known = false;
    else if (shown !== fold(value)) return 'other';
  }
  return known ? 'match' : 'perhaps';
}

/** What a job is told from most others by: its reference, or else its title; `undefined` where it shows none. */
export function clueOf(fields: Fields, referenceField: string | undefined): string | undefined {
  return shownValue(fields, referenceField ?? 'title') || undefined;
}

/** Names with `-` and `_` are the same name when a response is read; white space is compared folded. */
function shownValue(fields: Fields, name: string): string | undefined {
  const folded = name.replaceAll('_', '-');
  for (const [candidate, value] of Object.entries(fields)) {
    if (candidate.replaceAll('_', '-') === folded) return fold(value);
  }
  return undefined;
}

const fold = (text: string): string => text.replace(/\s+/g, ' ').trim();
