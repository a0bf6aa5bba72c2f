// Compares a posting with a site job that may be its job: how alike they are, and why.
import { compareReferences, foldSpace, type ReferenceLikeness } from '../same-value.ts';
import { isTextField, type JobFeatures, type PostingFeatures } from './job-features.ts';
import { comparePlaces, type PlaceLikeness } from './place-likeness.ts';
import { shareOfSketch, shareOfWords } from './text-likeness.ts';

/**
 * `hidden`: the job shows no reference. `unsent`: the job shows one, but the posting has none of its own and the job's is
 * not its key.
 */
type Reference = ReferenceLikeness | 'hidden' | 'unsent';

type Part = 'same' | 'similar' | 'other' | 'unknown';

export interface JobComparison {
  /** From 0 to 1; for people, and for choosing the best of several candidates. Whether a match is certain does not follow from it. */
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
}

/** Two titles with half of their words in common may be the same after an edit. */
const SIMILAR_TITLE = 0.5;
const SIMILAR_TEXT = 0.6;
/** The weights of title, place and text. */
const WEIGHTS = [0.4, 0.3, 0.3] as const;
const WORTH: Readonly<Record<Part, number>> = { same: 1, similar: 0.6, unknown: 0.4, other: 0 };

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
export function compareJob(posting: PostingFeatures, job: JobFeatures): JobComparison {
  const reference = compareReference(posting, job);
  const title = compareTitle(posting, job);
  const place = comparePlaces(posting.place, job.place);
  const text = compareText(posting, job);
  const differing = differingFields(posting, job);
  const parts = [title, place, text] as const;
  const content = parts.reduce((sum, part, at) => sum + WORTH[part] * (WEIGHTS[at] as number), 0);
  const sharesContent =
    (reference === 'hidden' || (reference !== 'other' && reference !== 'unsent')) &&
    parts.every((part) => part === 'same') &&
    differing.length === 0;
  return {
    score: scoreOf(reference, content),
    reasons: reasonsOf({ reference, title, place, text }, posting, job, differing),
    sharesReference: reference === 'exact' || reference === 'form',
    sharesContent,
    byReference: isByReference({ reference, title, place, text }, posting),
    showsOther: reference === 'other',
  };
}

interface Parts {
  readonly reference: Reference;
  readonly title: Part;
  readonly place: PlaceLikeness;
  readonly text: Part;
}

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

function compareTitle(posting: PostingFeatures, job: JobFeatures): Part {
  if (posting.titles.length === 0 || job.title === undefined) return 'unknown';
  if (posting.titles.includes(job.title)) return 'same';
  return shareOfWords(posting.titleWords, job.titleWords) >= SIMILAR_TITLE ? 'similar' : 'other';
}

function compareText(posting: PostingFeatures, job: JobFeatures): Part {
  const name = Object.keys(posting.values).find((field) => isTextField(field) && job.values[field] !== undefined);
  if (name === undefined || posting.sketch === undefined || job.sketch === undefined) return 'unknown';
  if (posting.values[name]?.includes(job.values[name] as string)) return 'same';
  return shareOfSketch(posting.sketch, job.sketch) >= SIMILAR_TEXT ? 'similar' : 'other';
}

/** Fields, other than those compared by themselves, that both have with different values. */
const differingFields = (posting: PostingFeatures, job: JobFeatures): string[] =>
  Object.entries(posting.values).flatMap(([name, values]) => {
    const shown = job.values[name];
    return isTextField(name) || shown === undefined || values.includes(shown) ? [] : name;
  });

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
