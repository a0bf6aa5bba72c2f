// Compares jobs that a site shows with all of its creates that are open: the one judgement of whose job it is, whether a list is read for
// all doubts or a person asks about one.
import type { Circumstances, JobComparison, Likeness } from '../../plan/match/compare-job.ts';
import type { AdoptRules } from '../../plan/match/job-features.ts';
import {
  type ComparedJob,
  isTimely,
  type ListedJob,
  type OpenContent,
  OpenContents,
  type OpenCreate,
  type Window,
} from '../../plan/match/open-contents.ts';
import { fieldOf } from '../../plan/same-meaning.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { learntRewrites } from '../site/kept-values.ts';
import { idOf } from './attempt.ts';
import {
  type OpenReference,
  openCreates,
  openReferences,
  sentValuesOf,
  sharedKeys,
  sharedNames,
} from './candidate-owners.ts';
import type { Doubt } from './doubt.ts';

/** What is known of a doubt beside the jobs. */
export interface MatchedDoubtFacts extends Pick<Circumstances, 'isReferenceShared' | 'shared'> {
  /** When its create may have arrived; `undefined`: nothing was sent. */
  readonly window: Window | undefined;
}

export class CreateMatching {
  readonly rules: AdoptRules;
  readonly #db: Queryable;
  readonly #site: SiteName;
  readonly contents: OpenContents;

  private constructor(db: Queryable, site: SiteName, rules: AdoptRules, contents: OpenContents) {
    this.#db = db;
    this.#site = site;
    this.rules = rules;
    this.contents = contents;
  }

  /** @param doubts those that are asked about: they may have been resolved, and others sent, since they were read */
  static async open(
    db: Queryable,
    site: SiteName,
    rules: Omit<AdoptRules, 'learnt'>,
    doubts: readonly Doubt[],
  ): Promise<CreateMatching> {
    const all = { ...rules, learnt: await learntRewrites(db, site) };
    const { creates, areCut } = await openCreates(db, site);
    const known = new Set(creates.map(idOf));
    const others = doubts.map(createOf).filter((create) => !known.has(idOf(create)));
    return new CreateMatching(db, site, all, new OpenContents([...creates, ...others], all, { areCut }));
  }

  contentOf({ attempt }: Doubt): OpenContent {
    return this.contents.of(attempt);
  }

  /** Compares the job with what the doubt sent, whether or not it may be its own. */
  compareWith(doubt: Doubt, job: ListedJob): JobComparison {
    return this.contents.compareWith(this.contentOf(doubt), job);
  }

  /** Whose job it is: the doubt's, perhaps, or certainly not. */
  likeness(
    doubt: Doubt,
    { createdAt }: Pick<ListedJob, 'createdAt'>,
    compared: ComparedJob,
    { window, ...facts }: MatchedDoubtFacts,
  ): Likeness {
    return compared.likeness(this.contentOf(doubt), { ...facts, timely: isTimely(window, createdAt) });
  }

  /** The names of the values of each doubt that other postings of the site have, too. */
  async sharedOf(asked: ReadonlyMap<Doubt, Iterable<string>>): Promise<ReadonlyMap<Doubt, ReadonlySet<string>>> {
    const doubts = [...asked.keys()];
    const lists = [...asked].map(([{ attempt }, names]) => sentValuesOf(attempt.accepted.fields, new Set(names)));
    const shared = await sharedNames(this.#db, this.#site)(lists);
    return new Map(doubts.map((doubt, at) => [doubt, shared[at] ?? new Set()]));
  }

  /** The doubts whose reference another posting of the site may have. @param sent what open attempts sent */
  async sharingReference(doubts: readonly Doubt[], sent?: readonly OpenReference[]): Promise<ReadonlySet<Doubt>> {
    const { referenceField: field } = this.rules;
    const open = sent ?? (field === undefined ? [] : await openReferences(this.#db, this.#site, field));
    const holders = new Map<string, number>();
    for (const { reference } of open) holders.set(reference.trim(), (holders.get(reference.trim()) ?? 0) + 1);
    const attempts = doubts.map(({ attempt }) => attempt);
    const alike = await sharedKeys(this.#db, this.#site, attempts);
    const isSharing = ({ attempt }: Doubt): boolean => {
      const own = field === undefined ? undefined : fieldOf(attempt.accepted.fields, field)?.trim();
      return alike.has(idOf(attempt)) || (own !== undefined && (holders.get(own) ?? 0) > 1);
    };
    return new Set(doubts.filter(isSharing));
  }
}

const createOf = ({ attempt, startedAt, found }: Doubt): OpenCreate => ({
  feed: attempt.feed,
  key: attempt.key,
  entry: 0,
  fields: attempt.accepted.fields,
  contentHash: attempt.accepted.contentHash.toString('hex'),
  startedAt: found ? undefined : startedAt,
  isInDoubt: true,
});
