// Compares a posting with a site job that may be its job: how alike they are, and why.
import type { Fields } from '../../posting/posting.ts';
import {
  compareReferences,
  compareValues,
  fieldOf,
  foldSpace,
  meansTheSame,
  type ReferenceLikeness,
  type StatedTypes,
  typeOf,
  withoutOmission,
} from '../same-meaning.ts';
import {
  type AdoptRules,
  featuresOfJob,
  featuresOfPosting,
  isTextField,
  type JobFeatures,
  type PostingFeatures,
} from './job-features.ts';
import {
  comparePlaces,
  type PlaceLikeness,
  type PlaceRules,
  SIMILAR_TEXT,
  shareOfSketch,
  shareOfWords,
} from './likeness.ts';

/**
 * `hidden`: the job shows no reference. `unsent`: the job shows one, but the posting has none of its own and the job's is
 * not its key.
 */
type Reference = ReferenceLikeness | 'hidden' | 'unsent';

type Part = 'same' | 'similar' | 'other' | 'unknown';

/**
 * Whether a job is the job of a posting, as far as these two alone tell:
 *
 * - `match`: certainly.
 * - `perhaps`: it may be. A person decides, unless another job certainly is.
 * - `resembles`: the same with less in common. Sites rewrite what they store and postings share titles, so it counts only if
 *   nothing matches better.
 * - `other`: certainly not, because they differ in what identifies them.
 */
export type Likeness = (typeof LIKENESSES)[number];
/** The likeliest first. */
export const LIKENESSES = ['match', 'perhaps', 'resembles', 'other'] as const;

export interface JobComparison {
  /**
   * From 0 to 1; for people, and for choosing the best of several candidates. It reaches {@link LEAST_SCORE} exactly if the likeness is not
   * `other`; whether a match is certain does not follow from it.
   */
  readonly score: number;
  /** What is the same and what is not, for people. */
  readonly reasons: readonly string[];
  /** The job shows a form of the posting's reference. */
  readonly sharesReference: boolean;
  /** Title, place, text and every other field that both have are the same, and no reference says otherwise. */
  readonly sharesContent: boolean;
  /** The job is the posting's if no other job and no other posting shares the reference. */
  readonly byReference: boolean;
  /** The job shows a reference that is no form of the posting's: whatever else is the same, it may be another posting's. */
  readonly showsOther: boolean;
  likeness(circumstances?: Circumstances): Likeness;
  /** Names of the values by which the job shows that it is the posting's, unless another posting has them too. */
  readonly identities: readonly string[];
  /** How far each value agrees, by its name: from 0, another, over 1, not shown, to 3, the same. */
  readonly grades: ReadonlyMap<string, number>;
}

/** What is known beside the posting and the job. */
export interface Circumstances {
  /** Whether the job was made when the create may have arrived; `undefined`: the site does not tell, or the posting was not sent. */
  readonly timely?: boolean | undefined;
  /** Another posting of the site has the reference, and may have the job. */
  readonly isReferenceShared?: boolean;
  /** The job was compared with all open creates of the site, and is closer to this one than to any other. */
  readonly isClosest?: boolean;
  /** Not all open creates of the site were compared: what does not prove itself may be another one's. */
  readonly mayBeOthers?: boolean;
  /** The names of {@link JobComparison.identities} whose values other postings of the site have; `undefined`: this is not known. */
  readonly shared?: ReadonlySet<string> | undefined;
}

/** Two titles with half of their words in common may be the same after an edit. */
const SIMILAR_TITLE = 0.5;
/** A shorter title may be part of any, and a shorter value the beginning of any. */
const LEAST_PART = 4;
/** Many texts begin with the same words about the employer. */
const LEAST_CUT_TEXT = 20;
/** The weights of title, place and text. */
const WEIGHTS = [0.4, 0.3, 0.3] as const;
const WORTH: Readonly<Record<Part, number>> = { same: 1, similar: 0.6, unknown: 0.4, other: 0 };

/** Below this score a job is certainly not the posting's. */
export const LEAST_SCORE = 0.5;
const MOST_OF_OTHER = 0.49;
/** A job with an address or a text of the posting is worth a person's time, whatever else it shows. */
const LEAST_OF_IDENTITY = 0.6;

/** Compares everything that the two have; who else has it is for those to judge who know all postings and jobs. */
export function compareJob(posting: PostingFeatures, job: JobFeatures): JobComparison {
  const title = compareTitle(posting, job);
  const place = comparePlaces(posting.place, job.place);
  const text = compareText(posting, job);
  const values = compareValuesOf(posting, job, text);
  const parts: Parts = {
    reference: compareReference(posting, job),
    title,
    place,
    text,
    identities: posting.identifying.filter((name) => values.get(name) === 'same'),
    proofs: posting.proving.filter((name) => values.get(name) === 'same'),
    identifying: posting.identifying,
    values,
    isPlaceWhole: isPlaceWhole(posting, job, place),
    isUntitled: posting.titles.length === 0,
  };
  const { reference } = parts;
  const differing = differingFields(values);
  const content = [title, place, text].reduce((sum, part, at) => sum + WORTH[part] * (WEIGHTS[at] as number), 0);
  const score = scoreOf(reference, content);
  const likeness = (circumstances: Circumstances = {}): Likeness => likenessOf(parts, posting, circumstances);
  const least = parts.identities.length > 0 ? LEAST_OF_IDENTITY : LEAST_SCORE;
  let graded: ReadonlyMap<string, number> | undefined;
  return {
    score: likeness() === 'other' ? Math.min(score, MOST_OF_OTHER) : Math.max(score, least),
    get reasons() {
      return reasonsOf(parts, posting, job, differing);
    },
    sharesReference: reference === 'exact' || reference === 'form',
    sharesContent:
      reference !== 'other' &&
      reference !== 'unsent' &&
      [title, place, text].every((part) => part === 'same') &&
      differing.length === 0,
    byReference: isByReference(parts, posting),
    showsOther: reference === 'other',
    likeness,
    identities: parts.identities,
    get grades() {
      graded ??= gradesOf(parts);
      return graded;
    },
  };
}

interface ShownJob {
  readonly fields: Fields;
  readonly types?: StatedTypes | undefined;
}

/** Compares a posting with what a site shows of a job. */
export const comparePosting = (
  { key, fields }: { readonly key: string; readonly fields: Fields },
  job: ShownJob,
  rules: AdoptRules,
): JobComparison => compareJob(featuresOfPosting(key, fields, rules), featuresOfJob(job.fields, rules, job));

interface Parts {
  readonly reference: Reference;
  readonly title: Part;
  readonly place: PlaceLikeness;
  readonly text: Part;
  readonly identities: readonly string[];
  /** The identities that no two postings have by chance. */
  readonly proofs: readonly string[];
  /** Names of the posting's values that identify it. */
  readonly identifying: readonly string[];
  /** The parts of every other value of the posting, by name; the text is one of them. */
  readonly values: ReadonlyMap<string, Part>;
  /** The job shows the posting's place, as far as the posting has one. */
  readonly isPlaceWhole: boolean;
  readonly isUntitled: boolean;
}

/**
 * What the values that identify a posting say:
 *
 * - `proven`: the job shows one that no other posting has by chance or in truth, and no others in the place of the rest.
 * - `same`: it shows one, and other postings may have that too, or it shows others in the place of the rest.
 * - `similar`: it shows none, but a similar text.
 * - `other`: it shows none, and others in their place.
 * - `unknown`: it shows nothing in their place, or only what many postings share.
 */
type Identity = 'proven' | 'same' | 'similar' | 'other' | 'unknown';

function identityOf(
  { identities, proofs, text, values }: Parts,
  { identifying }: PostingFeatures,
  shared: Circumstances['shared'],
): Identity {
  const left = identifying.flatMap((name) => values.get(name) ?? []);
  const isOfPosting = (name: string): boolean => shared?.has(name) !== true;
  if (identities.some(isOfPosting)) {
    const isProven = shared !== undefined && proofs.some(isOfPosting) && text !== 'other' && !left.includes('other');
    return isProven ? 'proven' : 'same';
  }
  if (left.includes('similar')) return 'similar';
  return left.includes('other') ? 'other' : 'unknown';
}

const isOwn = (identity: Identity): boolean => identity === 'proven' || identity === 'same';

/**
 * A title that differs rules no job out: sites rewrite titles. "Nothing differs" means: no value that both show, nor the place;
 * "all the same": every value of the posting is shown, and is the same.
 *
 * | reference shown      | created in the window | what else is shown                                             | likeness    |
 * | -------------------- | --------------------- | -------------------------------------------------------------- | ----------- |
 * | exact; none, and a proving value | yes       | the same place, nothing but the title differs, and no other open create is as close | `match` |
 * | exact, known rewrite | unknown               | as in the table of {@link isByReference}                       | `match`     |
 * | "                    | yes                   | the same or no title, or an identifying value, or title and place alike | `match` |
 * | "                    | yes or unknown        | another posting has the reference, and not all is the same     | `perhaps`   |
 * | "                    | anything else                                                                        || `perhaps`   |
 * | another form, cut    | yes                   | the same title, nothing differs                                | `match`     |
 * | "                    | unknown               | all the same; for a form, title and place are enough           | `match`     |
 * | "                    | anything else, or the site shows all references as sent                              || `perhaps`   |
 * | a different one      | unknown               | another text                                                   | `other`     |
 * | "                    | yes or unknown        | the same title or an identifying value; if in the window, a similar text | `resembles` |
 * | "                    | anything else                                                                        || `other`     |
 * | none                 | yes                   | all the same                                                   | `match`     |
 * | "                    | yes or unknown        | a proving value that no other posting has, no other place or identifying value | `match` |
 * | "                    | unknown               | of the identifying values only one of an employer, such as a mail address; another title and text | `other` |
 * | "                    | any                   | an identifying value                                           | `perhaps`   |
 * | "                    | any                   | the same title or none, nothing differs                        | `perhaps`   |
 * | "                    | yes                   | no identifying value, and the same title, or a place alike     | `resembles` |
 * | "                    | unknown               | no identifying value; the same title, or the same place and nothing differs | `resembles` |
 * | "                    | yes or unknown        | similar text, and the same title or place; if in the window, any | `resembles` |
 * | "                    | unknown               | another text, and another address                              | `other`     |
 * | "                    | yes                   | other identifying values, a place alike                        | `resembles` |
 * | "                    | yes or unknown        | other identifying values, a title alike, no other place        | `resembles` |
 * | "                    | anything else                                                                        || `other`     |
 *
 * If jobs of the site show references, one without is at most `perhaps`; so is one without a proving value if not all open creates were
 * compared.
 */
function likenessOf(parts: Parts, posting: PostingFeatures, circumstances: Circumstances): Likeness {
  const { timely, isReferenceShared = false, isClosest = false, mayBeOthers = false, shared } = circumstances;
  const { reference, title, place } = parts;
  const identity = timely === undefined && isOfEmployer(parts) ? 'other' : identityOf(parts, posting, shared);
  if (timely === true && isClosest && differsInTitleOnly(parts)) return 'match';
  if (reference === 'exact') {
    if (timely === false || (isReferenceShared && !isAllTheSame(parts))) return 'perhaps';
    const isByTitle = title === 'same' || title === 'unknown' || (title === 'similar' && place === 'same');
    if (timely === undefined) return isByReference(parts, posting) ? 'match' : 'perhaps';
    return isByTitle || (isOwn(identity) && place !== 'other') ? 'match' : 'perhaps';
  }
  if (reference === 'form' || reference === 'cut') {
    if (timely === false || title !== 'same' || !posting.mayTakeForm || differs(parts)) return 'perhaps';
    return timely === true || isAllTheSame(parts) || isByReference(parts, posting) ? 'match' : 'perhaps';
  }
  if (reference === 'other') {
    if (timely === false) return 'other';
    if (timely === undefined && !isOwn(identity) && showsAnotherEmployer(parts)) return 'other';
    const isAlike = isOwn(identity) || (title === 'same' && !(place === 'other' && identity === 'other'));
    return isAlike || (timely === true && identity === 'similar') ? 'resembles' : 'other';
  }
  const likeness = withoutReference(parts, identity, timely);
  const isUnsure = posting.expectsReference || (mayBeOthers && identity !== 'proven');
  return likeness === 'match' && isUnsure ? 'perhaps' : likeness;
}

function withoutReference(parts: Parts, identity: Identity, timely: boolean | undefined): Likeness {
  const { title, place } = parts;
  if (timely === true && title === 'same' && isAllTheSame(parts)) return 'match';
  if (identity === 'proven' && timely !== false && place !== 'other') return 'match';
  if (isOwn(identity)) return 'perhaps';
  if ((title === 'same' || title === 'unknown') && !differs(parts)) return 'perhaps';
  if (timely === false) return 'other';
  const isHere = place === 'same' || place === 'similar';
  const isSomewhereAlike = title === 'same' || isHere;
  switch (identity) {
    case 'similar':
      return timely === true || isSomewhereAlike ? 'resembles' : 'other';
    case 'other':
      if (timely === undefined && showsAnotherEmployer(parts)) return 'other';
      if (timely === true && isHere) return 'resembles';
      return title !== 'other' && place !== 'other' ? 'resembles' : 'other';
    default:
      if (timely === true) return isSomewhereAlike || !differs(parts) ? 'resembles' : 'other';
      return title === 'same' || (place === 'same' && !differs(parts)) ? 'resembles' : 'other';
  }
}

/** Title and text are others, and a mail address or a phrase is the same, which all postings of an employer may have. */
const isOfEmployer = ({ identities, proofs, title, text }: Parts): boolean =>
  identities.length > 0 && proofs.length === 0 && title === 'other' && text === 'other';

/**
 * The text is another, and an address or the reference is: on a board for everybody, many have the same title and place. A site that rewrites texts shows the
 * addresses, or a similar text.
 */
const showsAnotherEmployer = ({ reference, text, values, identifying }: Parts): boolean =>
  text === 'other' &&
  (reference === 'other' || identifying.some((name) => !isTextField(name) && values.get(name) === 'other'));

/** The job shows the place and the reference, or an address or a text, and nothing but the title is another. */
const differsInTitleOnly = ({ reference, isPlaceWhole: isPlace, text, proofs, values }: Parts): boolean =>
  (reference === 'exact' || ((reference === 'hidden' || reference === 'unsent') && proofs.length > 0)) &&
  isPlace &&
  text !== 'other' &&
  ![...values.values()].includes('other');

const differs = ({ place, text, values }: Parts): boolean =>
  place === 'other' || text === 'other' || [...values.values()].includes('other');

const isAllTheSame = ({ title, isUntitled, isPlaceWhole, values }: Parts): boolean =>
  (title === 'same' || isUntitled) && isPlaceWhole && [...values.values()].every((part) => part === 'same');

function isPlaceWhole({ place: sent }: PostingFeatures, { place: shown }: JobFeatures, place: PlaceLikeness): boolean {
  if (sent.city === undefined) return sent.state === undefined || sent.state === shown.state;
  return place === 'same' || (sent.state === undefined && sent.city === shown.city);
}

const REFERENCE_GRADES: Readonly<Record<Reference, number>> = {
  exact: 3,
  form: 2.5,
  cut: 2,
  hidden: 1,
  unsent: 1,
  other: 0,
};
const GRADES: Readonly<Record<Part, number>> = { same: 3, similar: 2, unknown: 1, other: 0 };

const gradesOf = ({ reference, title, place, values }: Parts): ReadonlyMap<string, number> =>
  new Map([
    [' reference', REFERENCE_GRADES[reference]],
    [' title', GRADES[title]],
    [' place', GRADES[place]],
    ...[...values].map(([name, part]): [string, number] => [name, GRADES[part]]),
  ]);

/** Whether the job agrees with the first posting in everything in which it agrees with the second, and in more. */
export function isCloser(to: JobComparison, than: JobComparison): boolean {
  const [own, other] = [to.grades, than.grades];
  let isMore = false;
  for (const name of new Set([...own.keys(), ...other.keys()])) {
    const [mine, theirs] = [own.get(name) ?? GRADES.unknown, other.get(name) ?? GRADES.unknown];
    if (mine < theirs) return false;
    if (mine > theirs) isMore = true;
  }
  return isMore;
}

/** Whether the job shows nothing but what the posting has, and its title, its reference or a value of its own. */
export function isEqual({ grades }: JobComparison): boolean {
  const all = [...grades.values()];
  return all.includes(GRADES.same) && all.every((grade) => grade === GRADES.same || grade === GRADES.unknown);
}

/** The grades under which a field is compared, if not under its own name. */
function gradeName(name: string, { stateField }: PlaceRules): string {
  if (name === 'title') return ' title';
  return name === 'location-city' || name === stateField.replaceAll('_', '-') ? ' place' : name;
}

/** Names of the posting's fields that the job shows with another value. */
export function differingValues(
  posting: Fields,
  { fields: shown, types }: ShownJob,
  { grades }: JobComparison,
  rules: PlaceRules,
): ReadonlySet<string> {
  const names = Object.entries(posting).flatMap(([name, value]) => {
    const says = fieldOf(shown, name);
    if (says === undefined || compareValues(value, says) !== undefined) return [];
    if (meansTheSame(value, says, typeOf(types, name))) return [];
    return grades.get(gradeName(name.replaceAll('_', '-'), rules)) === GRADES.same ? [] : name;
  });
  return new Set(names);
}

/**
 * Whether a job with the reference of a posting is its job, if no other has it:
 *
 * | reference shown         | title            | place                    | text               | `byReference` |
 * | ----------------------- | ---------------- | ------------------------ | ------------------ | ------------- |
 * | exact, a known rewrite  | same, unknown    | same, unknown            | any                | yes           |
 * | exact, a known rewrite  | same             | similar                  | any                | yes           |
 * | exact, a known rewrite  | similar          | same                     | any                | yes           |
 * | exact, a known rewrite  | different        | same                     | same               | yes           |
 * | another usual form      | same             | same                     | any                | yes, unless the site shows all as sent |
 * | anything else                                                                               |||| no            |
 */
function isByReference({ reference, title, place, text }: Parts, { mayTakeForm }: PostingFeatures): boolean {
  if (reference === 'form') return mayTakeForm && title === 'same' && place === 'same';
  if (reference !== 'exact') return false;
  if (title === 'same') return place !== 'other';
  if (title === 'unknown') return place === 'same' || place === 'unknown';
  return place === 'same' && (title === 'similar' || text === 'same');
}

/** A reference that contradicts leaves little. */
function scoreOf(reference: Reference, content: number): number {
  const [base, share] = {
    exact: [0.7, 0.3],
    form: [0.6, 0.3],
    cut: [0.3, 0.6],
    hidden: [0, 0.95],
    unsent: [0, 0.8],
    other: [0, 0.7],
  }[reference] as [number, number];
  return Math.round((base + share * content) * 1000) / 1000;
}

function compareReference(posting: PostingFeatures, { reference: shown }: JobFeatures): Reference {
  if (shown === undefined) return 'hidden';
  const found = posting.shownAs.includes(foldSpace(shown)) ? 'exact' : compareReferences(posting.reference, shown);
  if (posting.isReferenceSent) return found;
  // The key is not sent, so the site can show it only if somebody entered it.
  return found === 'exact' ? 'form' : 'unsent';
}

export function compareTitle(posting: PostingFeatures, job: Pick<JobFeatures, 'title' | 'titleWords'>): Part {
  const { title: shown } = job;
  if (posting.titles.length === 0 || shown === undefined) return 'unknown';
  if (posting.titles.includes(shown)) return 'same';
  const isPart = posting.titles.some((title) => {
    const [short, long] = title.length < shown.length ? [title, shown] : [shown, title];
    return short.length >= LEAST_PART && long.includes(short);
  });
  return isPart || shareOfWords(posting.titleWords, job.titleWords) >= SIMILAR_TITLE ? 'similar' : 'other';
}

function compareText(posting: PostingFeatures, job: JobFeatures): Part {
  const name = Object.keys(posting.values).find((field) => isTextField(field) && job.values[field] !== undefined);
  if (name === undefined || posting.sketch === undefined || job.sketch === undefined) return 'unknown';
  if (haveCommon(posting.values[name], job.values[name])) return 'same';
  const [own, shown] = [posting.textStart ?? '', job.textStart ?? ''];
  const beginsAlike = shown.length >= LEAST_CUT_TEXT && own.startsWith(shown);
  if (beginsAlike && isCutOf(posting, job, name)) return 'same';
  return beginsAlike || shareOfSketch(posting.sketch, job.sketch) >= SIMILAR_TEXT ? 'similar' : 'other';
}

function compareValuesOf(posting: PostingFeatures, job: JobFeatures, text: Part): Map<string, Part> {
  const textName = Object.keys(posting.values).find((field) => isTextField(field) && job.values[field] !== undefined);
  const values = new Map<string, Part>();
  for (const [name, forms] of Object.entries(posting.values)) {
    const shown = job.values[name];
    if (name === textName) values.set(name, text);
    else if (shown === undefined) values.set(name, 'unknown');
    else values.set(name, haveCommon(forms, shown) || isCutOf(posting, job, name) ? 'same' : 'other');
  }
  return values;
}

/** Whether a shown value may mean what was sent. */
const haveCommon = (sent: readonly string[] = [], shown: readonly string[] = []): boolean =>
  shown.some((one) => sent.includes(one));

/** Whether the site has cut the value off; known only while both values are in memory. */
function isCutOf({ bare: sent }: PostingFeatures, { bare: shown }: JobFeatures, name: string): boolean {
  if (sent === undefined || shown === undefined) return false;
  const [whole, part] = [sent(name), withoutOmission(shown(name))];
  return part.length >= LEAST_PART && whole.startsWith(part);
}

/** Fields, other than those compared by themselves, that both have with different values. */
const differingFields = (values: ReadonlyMap<string, Part>): string[] =>
  [...values].flatMap(([name, part]) => (part === 'other' && !isTextField(name) ? name : []));

const REFERENCE_WORDS: Readonly<Record<Reference, (shown: string) => string>> = {
  exact: () => 'same reference',
  form: (shown) => `reference in another form (${shown})`,
  cut: (shown) => `beginning of the reference (${shown})`,
  hidden: () => 'no reference shown',
  unsent: (shown) => `the job shows a reference (${shown}), the posting sends none`,
  other: (shown) => `another reference (${shown})`,
};

const PART_WORDS: Readonly<Record<Part, (name: string) => string>> = {
  same: (name) => `same ${name}`,
  similar: (name) => `similar ${name}`,
  other: (name) => `another ${name}`,
  unknown: (name) => `${name} not shown`,
};

const MOST_SHOWN = 60;
const MOST_FIELDS = 5;

function reasonsOf(
  { reference, title, place, text }: Parts,
  posting: PostingFeatures,
  job: JobFeatures,
  differing: readonly string[],
): string[] {
  const shown = [...foldSpace(job.reference ?? '')].slice(0, MOST_SHOWN).join('');
  const hasReference = reference !== 'hidden' || posting.isReferenceSent;
  const others = differing.slice(0, MOST_FIELDS).join(', ');
  return [
    ...(hasReference ? [REFERENCE_WORDS[reference](shown)] : []),
    PART_WORDS[title]('title'),
    PART_WORDS[place]('place'),
    PART_WORDS[text]('text'),
    ...(differing.length === 0 ? [] : [`different ${others}`]),
  ];
}
