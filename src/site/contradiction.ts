// Detects signs in a success answer that it belongs to another request: another job, or another posting's job.
import { isRewriting, type LearntRewrites } from '../plan/observe-values.ts';
import { compareReferences, compareValues, fieldOf, referenceForm } from '../plan/same-meaning.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';

/** What a request was about, for comparison with its answer. */
export interface Expectation {
  /** Every field that the site should have for the posting after the request; absent for a delete. */
  readonly fields?: Fields;
  /** The fields before, if known: a site may keep an old reference. */
  readonly before?: Fields;
  readonly referenceField?: string;
  /** Fields that the site is known to have, besides those above: a message may name one that was not sent. */
  readonly fieldNames?: readonly string[];
  /** How the site is known to rewrite values. */
  readonly learnt?: LearntRewrites;
}

const MOST_COMPARED = 4_000;

const NOTHING_LEARNT: LearntRewrites = new Map();

/** The job in an answer, as far as it is shown. */
interface ShownJob {
  readonly fields: Fields;
}

/**
 * Numbers, long hexadecimal IDs and names are different ways to identify one job, so only two of the same kind
 * contradict.
 */
function kindOfId(id: string): 'number' | 'hex' | 'name' {
  if (/^\d+$/.test(id)) return 'number';
  return /^[0-9a-f-]{16,}$/i.test(id) ? 'hex' : 'name';
}

/** A number or code with what it numbers, such as `req-2026-0042`. */
const NUMBERED =
  /^(?:jobs?|vac(?:anc(?:y|ies))?|pos(?:itions?)?|post(?:ing)?s?|openings?|offers?|listings?|ads?|req(?:uisition)?s?|ref|item|node)(?:[-_](?=[a-z]*\d)[0-9a-z]+)+$/;

/** Whether an ID may be made of the job's title, as `senior-nurse-2`, and so change with it. */
export const isMadeOfTitle = (id: SiteJobId): boolean =>
  kindOfId(id) === 'name' &&
  !/^\d+-/.test(id) &&
  !NUMBERED.test(id) &&
  !/[^\p{Ll}\p{Lo}\p{N}_-]/u.test(id) &&
  /(?:^|[_-])\p{L}{3,}(?:$|[_-])/u.test(id);

/** Whether an ID is this title, apart from a number or code behind it. */
export const isMadeOf = (id: SiteJobId, title: string): boolean =>
  [id, id.replace(/[-_](\d+|[0-9a-f-]{8,})$/, '')].some((one) => lettersOf(one) === lettersOf(title));

const lettersOf = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

/** Whether two IDs cannot belong to one job. `12-nurse` and `12` can: sites put the title into the URL. */
export function areOfTwoJobs(one: SiteJobId, other: SiteJobId): boolean {
  if (one === other || kindOfId(one) !== kindOfId(other)) return false;
  if (kindOfId(one) === 'name') {
    const [short, long] = [one, other].map((id) => id.toLowerCase()).sort((a, b) => a.length - b.length);
    return !new RegExp(`(^|[^a-z0-9])${escapePattern(short ?? '')}($|[^a-z0-9])`).test(long ?? '');
  }
  return kindOfId(one) === 'number' ? referenceForm(one) !== referenceForm(other) : true;
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Explains that a create's answer shows another job than was sent; `undefined`: it may be the same job. */
export function explainOtherContent(job: ShownJob, expected: Expectation): string | undefined {
  const { fields = {}, referenceField, learnt = NOTHING_LEARNT } = expected;
  const other = tellOtherReference(job, { fields, referenceField, learnt });
  if (other !== undefined) return other;
  const [sent, shown] = [fieldOf(fields, 'title'), fieldOf(job.fields, 'title')].map(beginningOf);
  if (!sent || !shown || isReworded(sent, shown) || isRewriting(learnt, 'title', sent, shown)) return undefined;
  return `the job in the answer has the title ${quote(shown)}, but ${quote(sent)} was sent`;
}

/**
 * Explains that the job shows another posting's reference; `undefined`: it shows its own, in whatever form, or none.
 */
export function tellOtherReference(job: ShownJob, expected: Expectation): string | undefined {
  const { fields, before, referenceField, learnt = NOTHING_LEARNT } = expected;
  if (referenceField === undefined) return undefined;
  const shown = beginningOf(fieldOf(job.fields, referenceField));
  const own = [fields, before].flatMap((known) => beginningOf(fieldOf(known ?? {}, referenceField)) || []);
  if (!shown || own.length === 0) return undefined;
  const isOwn = (reference: string): boolean =>
    compareReferences(reference, shown) !== 'other' || isRewriting(learnt, referenceField, reference, shown);
  if (own.some(isOwn)) return undefined;
  return `the job in the answer has ${referenceField} ${quote(shown)}, but the posting has ${quote(own[0] ?? '')}`;
}

/** The part of a value that is compared: titles and references are rarely longer, and comparing costs time. */
const beginningOf = (value: string | undefined): string | undefined => value?.trim().slice(0, MOST_COMPARED);

/** Whether the site may have made the shown value of what was sent; text added or removed at one end is such a change. */
export function isReworded(sent: string, shown: string): boolean {
  if (compareValues(sent, shown) !== undefined) return true;
  const [one, other] = [referenceForm(sent), referenceForm(shown)];
  return one !== '' && other !== '' && (one.includes(other) || other.includes(one));
}

const quote = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
