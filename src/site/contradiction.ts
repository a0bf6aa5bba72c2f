// Finds what in an answer of success speaks against its being the answer to this request: another job, or another posting's.
import { isRewriting, type LearntRewrites } from '../plan/observe-values.ts';
import { compareReferences, compareValues, fieldOf, referenceForm } from '../plan/same-value.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';

/** What a request was about, to compare its answer with. */
export interface Expectation {
  /** All that the site should have for the posting, once the request is done; absent for a delete. */
  readonly fields?: Fields;
  /** What it had before, as far as that is known: a site may keep a reference that was to change. */
  readonly before?: Fields;
  readonly referenceField?: string;
  /** How the site is known to rewrite values. */
  readonly learnt?: LearntRewrites;
}

const MOST_COMPARED = 4_000;

const NOTHING_LEARNT: LearntRewrites = new Map();

/** The job of an answer, as far as it shows one. */
interface ShownJob {
  readonly fields: Fields;
}

/** Numbers, long hexadecimal IDs and names are different ways to name one job, so only two of one kind contradict. */
function kindOfId(id: string): 'number' | 'hex' | 'name' {
  if (/^\d+$/.test(id)) return 'number';
  return /^[0-9a-f-]{16,}$/i.test(id) ? 'hex' : 'name';
}

/** Whether two IDs can't be of one job. `12-nurse` and `12` can: sites put the title into the URL. */
export function areOfTwoJobs(one: SiteJobId, other: SiteJobId): boolean {
  if (one === other || kindOfId(one) !== kindOfId(other)) return false;
  if (kindOfId(one) === 'name') {
    const [short, long] = [one, other].map((id) => id.toLowerCase()).sort((a, b) => a.length - b.length);
    return !new RegExp(`(^|[^a-z0-9])${escapePattern(short ?? '')}($|[^a-z0-9])`).test(long ?? '');
  }
  return kindOfId(one) === 'number' ? referenceForm(one) !== referenceForm(other) : true;
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Says that the job of a create's answer is another one than was sent; `undefined`: it can be the one. */
export function tellOtherContent(job: ShownJob, expected: Expectation): string | undefined {
  const { fields = {}, referenceField, learnt = NOTHING_LEARNT } = expected;
  const other = tellOtherReference(job, { fields, referenceField, learnt });
  if (other !== undefined) return other;
  const [sent, shown] = [fieldOf(fields, 'title'), fieldOf(job.fields, 'title')].map(beginningOf);
  if (!sent || !shown || isReworded(sent, shown) || isRewriting(learnt, 'title', sent, shown)) return undefined;
  return `the job in the answer has the title ${quote(shown)}, and ${quote(sent)} was sent`;
}

/** Says that the job shows the reference of another posting; `undefined`: its own, in whatever form, or none. */
export function tellOtherReference(job: ShownJob, expected: Expectation): string | undefined {
  const { fields, before, referenceField, learnt = NOTHING_LEARNT } = expected;
  if (referenceField === undefined) return undefined;
  const shown = beginningOf(fieldOf(job.fields, referenceField));
  const own = [fields, before].flatMap((known) => beginningOf(fieldOf(known ?? {}, referenceField)) || []);
  if (!shown || own.length === 0) return undefined;
  const isOwn = (reference: string): boolean =>
    compareReferences(reference, shown) !== 'other' || isRewriting(learnt, referenceField, reference, shown);
  if (own.some(isOwn)) return undefined;
  return `the job in the answer has ${referenceField} ${quote(shown)}, and the posting has ${quote(own[0] ?? '')}`;
}

/** As much of a value as is compared: a title or a reference is hardly longer, and what is compared takes its time. */
const beginningOf = (value: string | undefined): string | undefined => value?.trim().slice(0, MOST_COMPARED);

/** A title with something added or left out at one end is none of another job. */
function isReworded(sent: string, shown: string): boolean {
  if (compareValues(sent, shown) !== undefined) return true;
  const [one, other] = [referenceForm(sent), referenceForm(shown)];
  return one.includes(other) || other.includes(one);
}

const quote = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
