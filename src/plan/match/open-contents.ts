// Compares jobs with what all open creates of a site have sent, at once: a job belongs to the create that it is closest to.
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { StatedTypes } from '../same-meaning.ts';
import { referenceForm } from '../same-meaning.ts';
import {
  type Circumstances,
  compareJob,
  compareTitle,
  isCloser,
  isEqual,
  type JobComparison,
  type Likeness,
} from './compare-job.ts';
import {
  type AdoptRules,
  bareForms,
  blockingKeysOfJob,
  blockingKeysOfPosting,
  featuresOfJob,
  featuresOfPosting,
  type JobFeatures,
  type PostingFeatures,
} from './job-features.ts';
import { SIMILAR_TEXT, shareOfSketch } from './likeness.ts';

/** A create of the site that is in flight or in doubt: a job of the list may be its own. */
export interface OpenCreate {
  readonly feed: FeedName;
  readonly key: PostingKey;
  readonly entry: number;
  /** What was sent. */
  readonly fields: Fields;
  /** The hash of what was sent, in hex. */
  readonly contentHash: string;
  /** When it was sent; `undefined`: a search has found a job for it, so nothing was sent. */
  readonly startedAt: Date | undefined;
  readonly isInDoubt: boolean;
}

/** A job as the site shows it, in the form to compare. */
export interface ListedJob {
  readonly fields: Fields;
  /** What the site states about the values. */
  readonly types?: StatedTypes | undefined;
  readonly createdAt?: Date | undefined;
}

/** How far the clocks of site and database may differ. ASSUMED: check by comparing a `created_at` with the time. */
export const CLOCK_SKEW_MS = 5 * 60_000;

/** When a create may have arrived; `undefined` without an end. */
export interface Window {
  readonly notBefore: Date;
  readonly notAfter: Date | undefined;
}

/** The window of a create that was sent at this time. It has no end: a job that was made later may be of the next try. */
export const windowFrom = (startedAt: Date): Window => ({
  notBefore: new Date(startedAt.getTime() - CLOCK_SKEW_MS),
  notAfter: undefined,
});

/** Whether a job was made in the window; `undefined`: the site, or the window, does not tell. */
export function isTimely(window: Window | undefined, createdAt: Date | undefined): boolean | undefined {
  if (window === undefined || createdAt === undefined) return undefined;
  return createdAt >= window.notBefore && (window.notAfter === undefined || createdAt <= window.notAfter);
}

/** A content that open creates have sent: several may have sent the same. */
export interface OpenContent {
  readonly features: PostingFeatures;
  /** As sent. */
  readonly fields: Fields;
  readonly creates: readonly (Pick<OpenCreate, 'feed' | 'key' | 'entry' | 'isInDoubt'> & {
    readonly window: Window | undefined;
  })[];
}

/** A job, compared with every content that it may have. */
export class ComparedJob {
  readonly #comparisons: ReadonlyMap<OpenContent, JobComparison>;
  readonly #timely: ReadonlyMap<OpenContent, boolean | undefined>;
  readonly #areCut: boolean;

  constructor(
    comparisons: ReadonlyMap<OpenContent, JobComparison>,
    timely: ReadonlyMap<OpenContent, boolean | undefined>,
    areCut: boolean,
  ) {
    this.#comparisons = comparisons;
    this.#timely = timely;
    this.#areCut = areCut;
  }

  /** The contents that the job may have, as far as each alone tells. */
  get contents(): readonly OpenContent[] {
    return [...this.#comparisons.keys()];
  }

  with(content: OpenContent): JobComparison | undefined {
    return this.#comparisons.get(content);
  }

  /** Whose job it is: of a create of this content, perhaps, or certainly not. */
  likeness(content: OpenContent, known: Omit<Circumstances, 'isClosest'>): Likeness {
    const comparison = this.#comparisons.get(content);
    if (comparison === undefined || this.equalTo(content) !== undefined) return 'other';
    return comparison.likeness({ ...known, isClosest: this.isClosest(content), mayBeOthers: this.#areCut });
  }

  /** Another content that the job shows, while it differs from this one. */
  equalTo(content: OpenContent): OpenContent | undefined {
    const own = this.#comparisons.get(content);
    for (const [other, comparison] of this.#comparisons) {
      if (other === content || this.#timely.get(other) === false || !isEqual(comparison)) continue;
      if (own === undefined || isCloser(comparison, own)) return other;
    }
    return undefined;
  }

  /** Whether the job is closer to this content than to any other. */
  isClosest(content: OpenContent): boolean {
    const own = this.#comparisons.get(content);
    if (own === undefined || this.#areCut) return false;
    return [...this.#comparisons].every(
      ([other, comparison]) => other === content || this.#timely.get(other) === false || isCloser(own, comparison),
    );
  }

  /** How many creates in doubt the job cannot tell apart from one of this content. */
  alike(content: OpenContent): number {
    const own = this.#comparisons.get(content);
    let alike = 0;
    for (const [other, comparison] of this.#comparisons) {
      const isAlike =
        other === content ||
        (own !== undefined && !isCloser(own, comparison) && !isCloser(comparison, own) && isEqual(comparison));
      if (isAlike) alike += other.creates.filter(({ isInDoubt }) => isInDoubt).length;
    }
    return alike;
  }
}

/** Titles and references are looked up by every beginning of so many letters. */
const MOST_BEGINNINGS = 100;

/** A site may show a million jobs at one place; those that share more are found without comparing all. */
const MOST_NEARBY = 50_000;

export interface OpenContentsOptions {
  /** The site has further open creates. */
  readonly areCut?: boolean;
  readonly mostNearby?: number;
}

/** The contents of a site's open creates, found by the jobs that may have them. */
export class OpenContents {
  readonly #rules: AdoptRules;
  readonly #options: OpenContentsOptions;
  readonly #byHash = new Map<string, OpenContent>();
  readonly #of = new Map<string, OpenContent>();
  readonly #index = new Map<string, Set<OpenContent>>();
  /** How many jobs were compared with a content because of their place alone. */
  readonly #nearby = new Map<OpenContent, number>();
  /** Contents without a title: any job may have them. */
  readonly #untitled: OpenContent[] = [];

  constructor(creates: readonly OpenCreate[], rules: AdoptRules, options: OpenContentsOptions = {}) {
    this.#rules = rules;
    this.#options = options;
    const grouped = new Map<string, OpenCreate[]>();
    for (const create of creates) {
      const others = grouped.get(create.contentHash);
      if (others === undefined) grouped.set(create.contentHash, [create]);
      else others.push(create);
    }
    for (const [contentHash, alike] of grouped) {
      const [{ key, fields }] = alike as [OpenCreate];
      const features = { ...featuresOfPosting(key, fields, rules), bare: bareForms(fields) };
      const content: OpenContent = {
        features,
        fields,
        creates: alike.map((create) => ({ ...create, window: create.startedAt && windowFrom(create.startedAt) })),
      };
      this.#byHash.set(contentHash, content);
      for (const { feed, key: its } of alike) this.#of.set(`${feed} ${its}`, content);
      if (features.titles.length === 0) this.#untitled.push(content);
      for (const block of indexedBy(features)) {
        const others = this.#index.get(block);
        if (others === undefined) this.#index.set(block, new Set([content]));
        else others.add(content);
      }
    }
  }

  /** The content of one of the creates. */
  of({ feed, key }: { readonly feed: FeedName; readonly key: PostingKey }): OpenContent {
    return this.#of.get(`${feed} ${key}`) as OpenContent;
  }

  /** Finds the contents that the job may have, without comparing. */
  look({ fields, types, createdAt }: ListedJob): LookedUp {
    const job = featuresOfJob(fields, this.#rules, { types, isSketched: false });
    const found = this.#sharing(job);
    const rules = this.#rules;
    let whole: JobFeatures | undefined;
    const lazily = {
      ...job,
      get sketch() {
        whole ??= featuresOfJob(fields, rules, { types });
        return whole.sketch;
      },
    };
    return { fields, types, createdAt, found, isNear: () => this.#near(lazily, createdAt).next().done !== true };
  }

  /** Compares the job with each content that it may have, and leaves out those that it certainly does not have. */
  compare({ createdAt, found, ...listed }: LookedUp): ComparedJob {
    const job = this.#featuresOf(listed);
    const comparisons = new Map<OpenContent, JobComparison>();
    const timely = new Map<OpenContent, boolean | undefined>();
    for (const content of this.#withNear(found, job, createdAt)) {
      const when = bestTime(content, createdAt);
      const comparison = compareJob(content.features, job);
      if (comparison.likeness({ timely: when }) === 'other') continue;
      comparisons.set(content, comparison);
      timely.set(content, when);
    }
    return new ComparedJob(comparisons, timely, this.#options.areCut ?? false);
  }

  /** Compares the job with one content, whether or not it may have that. */
  compareWith({ features }: OpenContent, listed: ListedJob): JobComparison {
    return compareJob(features, this.#featuresOf(listed));
  }

  /** Whether so many jobs are at the place of the content that they are no longer compared with it. */
  isCrowded(content: OpenContent): boolean {
    return (this.#nearby.get(content) ?? 0) > (this.#options.mostNearby ?? MOST_NEARBY);
  }

  #featuresOf({ fields, types }: Pick<ListedJob, 'fields' | 'types'>): JobFeatures {
    return { ...featuresOfJob(fields, this.#rules, { types }), bare: bareForms(fields) };
  }

  /** The contents that share more with the job than its place. */
  #sharing(job: JobFeatures): ReadonlySet<OpenContent> {
    if (job.reference === undefined && job.title === undefined) return new Set(this.#byHash.values());
    const found = new Set<OpenContent>(this.#untitled);
    for (const block of shownBlocks(job)) for (const content of this.#index.get(block) ?? []) found.add(content);
    return found;
  }

  #withNear(found: ReadonlySet<OpenContent>, job: JobFeatures, createdAt: Date | undefined): ReadonlySet<OpenContent> {
    const all = new Set(found);
    for (const content of this.#near(job, createdAt)) {
      if (all.has(content) || this.isCrowded(content)) continue;
      this.#nearby.set(content, (this.#nearby.get(content) ?? 0) + 1);
      all.add(content);
    }
    return all;
  }

  /** Titles may be rewritten altogether: what was made in time, or may have been, is found by its place. */
  *#near(job: JobFeatures, createdAt: Date | undefined): Generator<OpenContent> {
    const blocks = placeBlocks(job);
    const at = (block: string) => this.#index.get(block) ?? [];
    if (createdAt === undefined) {
      for (const content of at(wholePlace(job))) if (mayBeNearby(content, job)) yield content;
      return;
    }
    const nearby = blocks.length === 0 ? [this.#byHash.values()] : blocks.map(at);
    for (const contents of nearby) {
      for (const content of contents) if (bestTime(content, createdAt) !== false) yield content;
    }
  }
}

/** A job with the contents that it may have. */
export interface LookedUp extends ListedJob {
  /** The contents that share more with the job than its place. */
  readonly found: ReadonlySet<OpenContent>;
  /** Others share its place, and perhaps its time. */
  readonly isNear: () => boolean;
}

/** Whether no address and no text rules out that more than the place is the same, or the title or the text is alike. */
function mayBeNearby({ features }: OpenContent, job: JobFeatures): boolean {
  if (!features.identifying.some((name) => job.values[name] !== undefined)) return true;
  if (compareTitle(features, job) !== 'other') return true;
  const [own, shown] = [features.sketch, job.sketch];
  return own !== undefined && shown !== undefined && shareOfSketch(own, shown) >= SIMILAR_TEXT;
}

function bestTime({ creates }: OpenContent, createdAt: Date | undefined): boolean | undefined {
  let best: boolean | undefined = false;
  for (const { window } of creates) {
    const timely = isTimely(window, createdAt);
    if (timely === true) return true;
    if (timely === undefined) best = undefined;
  }
  return best;
}

const blockName = ({ kind, hash }: { readonly kind: string; readonly hash: number }): string => `${kind} ${hash}`;

function indexedBy(features: PostingFeatures): string[] {
  return [
    ...blockingKeysOfPosting(features).map(blockName),
    ...features.titles.flatMap((title) => beginningsOf(title).map((beginning) => `title ${beginning}`)),
    ...features.shownAs.flatMap((reference) =>
      beginningsOf(referenceForm(reference)).map((part) => `reference ${part}`),
    ),
    ...placeBlocks(features),
    wholePlace(features),
  ];
}

const shownBlocks = (job: JobFeatures): string[] => [
  // By its place and its text alone it is found by time as well.
  ...blockingKeysOfJob(job).flatMap((one) => (one.kind === 'place' || one.kind === 'parts' ? [] : blockName(one))),
  ...(job.title === undefined ? [] : [`title ${job.title.slice(0, MOST_BEGINNINGS)}`]),
  ...(job.reference === undefined ? [] : [`reference ${referenceForm(job.reference).slice(0, MOST_BEGINNINGS)}`]),
];

const placeBlocks = ({ place }: Pick<JobFeatures, 'place'>): string[] =>
  Object.values(place).flatMap((name) => (name === undefined ? [] : `place ${name}`));

const wholePlace = ({ place }: Pick<JobFeatures, 'place'>): string => `whole place ${place.city}, ${place.state}`;

/** Every beginning of a text, for sites that truncate values. */
const beginningsOf = (text: string): string[] =>
  Array.from({ length: Math.min(text.length, MOST_BEGINNINGS) }, (_, at) => text.slice(0, at + 1));
