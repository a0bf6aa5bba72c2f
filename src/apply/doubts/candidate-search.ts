// Collects, while a site's list is read, the jobs that creates in doubt may have made.
import type { Likeness } from '../../plan/adopt/compare-job.ts';
import {
  type ComparedJob,
  isTimely,
  type LookedUp,
  type OpenContent,
  OpenContents,
  type OpenCreate,
} from '../../plan/adopt/open-contents.ts';
import { type SiteJob, toCompare } from '../../site/exchange.ts';
import {
  type OpenCreates,
  ownedJobIds,
  ownedJobs,
  type SentValue,
  sentValuesOf,
  sharedValues,
} from '../../store/change/candidate-owners.ts';
import type { SiteContext } from '../site-context.ts';
import { CandidateStore } from './doubt-candidates.ts';
import type { Matching, OpenDoubt } from './open-doubt.ts';
import { reuseOfOwned } from './unowned-candidates.ts';

const KEPT_AT_ONCE = 500;
/** So many of the creates that have sent the same take a job as their candidate: any of them may have it. */
const MOST_ALIKE = 50;
/** Each takes a kilobyte for each content that the job may have. */
const MOST_COMPARED = 500;

export class CandidateSearch {
  readonly #siteContext: Pick<SiteContext, 'db' | 'site'>;
  readonly #matching: Matching;
  readonly #contents: OpenContents;
  readonly #doubts = new Map<OpenContent, OpenDoubt[]>();
  readonly #store = new CandidateStore();
  /** How many jobs each content may have. */
  readonly #jobs = new Map<OpenContent, number>();
  readonly #compared = new Map<SiteJob, ComparedJob>();
  #waiting: { readonly siteJob: SiteJob; readonly looked: LookedUp }[] = [];

  constructor(
    siteContext: Pick<SiteContext, 'db' | 'site'>,
    doubts: readonly OpenDoubt[],
    { creates, areCut }: OpenCreates,
    matching: Matching,
  ) {
    this.#siteContext = siteContext;
    this.#matching = matching;
    this.#contents = new OpenContents(withDoubts(creates, doubts), matching, { areCut });
    for (const open of doubts) {
      const content = this.contentOf(open);
      const others = this.#doubts.get(content);
      if (others === undefined) this.#doubts.set(content, [open]);
      else others.push(open);
    }
  }

  contentOf({ doubt }: OpenDoubt): OpenContent {
    return this.#contents.of(doubt.attempt);
  }

  /** Takes a job of the list. */
  take(siteJob: SiteJob): void | Promise<void> {
    const looked = this.#contents.look(toCompare(siteJob));
    if (![...looked.found].some((content) => this.#doubts.has(content)) && !looked.isNear()) return undefined;
    this.#waiting.push({ siteJob, looked });
    return this.#waiting.length < KEPT_AT_ONCE ? undefined : this.keep();
  }

  /** Keeps the jobs taken since the last call as candidates, apart from those of postings; call it after each page. */
  async keep(): Promise<void> {
    const taken = this.#waiting;
    this.#waiting = [];
    if (taken.length === 0) return;
    const { db, site } = this.#siteContext;
    const ids = taken.map(({ siteJob }) => siteJob.siteJobId);
    const owned = await ownedJobIds(db, site, ids);
    const jobs = await ownedJobs(db, site, [...owned]);
    for (const { siteJob, looked } of taken) {
      const compared = this.#contents.compare(looked);
      const isTheirs = ({ fields }: OpenContent): boolean =>
        owned.has(siteJob.siteJobId) &&
        reuseOfOwned(fields, siteJob, jobs.get(siteJob.siteJobId), this.#matching) === 'theirs';
      const possible = compared.contents.filter(
        (content) => compared.equalTo(content) === undefined && !isTheirs(content),
      );
      this.#store.keep(
        siteJob,
        possible.flatMap((content) => this.#share(content)),
      );
    }
    for (const [content, doubts] of this.#doubts) {
      if (this.#contents.isCrowded(content)) for (const open of doubts) open.crowded = true;
    }
  }

  /** Creates that have sent the same take turns. */
  #share(content: OpenContent): readonly OpenDoubt[] {
    const doubts = this.#doubts.get(content) ?? [];
    if (doubts.length <= MOST_ALIKE) return doubts;
    const at = (this.#jobs.get(content) ?? 0) % doubts.length;
    this.#jobs.set(content, at + 1);
    return [...doubts.slice(at, at + MOST_ALIKE), ...doubts.slice(0, Math.max(0, at + MOST_ALIKE - doubts.length))];
  }

  compare(siteJob: SiteJob): ComparedJob {
    const known = this.#compared.get(siteJob);
    if (known !== undefined) return known;
    if (this.#compared.size >= MOST_COMPARED) this.#compared.clear();
    const compared = this.#contents.compare(this.#contents.look(toCompare(siteJob)));
    this.#compared.set(siteJob, compared);
    return compared;
  }

  /** Whose job it is: the doubt's, perhaps, or certainly not. */
  likeness(open: OpenDoubt, siteJob: SiteJob, compared = this.compare(siteJob)): Likeness {
    return compared.likeness(this.contentOf(open), {
      timely: isTimely(open, siteJob.createdAt),
      isReferenceShared: open.shared,
      shared: open.sharedValues,
    });
  }

  /** Notes which of the values that the candidates show other postings have too. */
  async tellShared(doubts: readonly OpenDoubt[]): Promise<void> {
    const asked = new Map<OpenDoubt, SentValue[]>();
    for (const open of doubts) {
      const content = this.contentOf(open);
      const names = new Set<string>();
      for (const candidate of open.candidates) {
        for (const name of this.compare(candidate).with(content)?.identities ?? []) names.add(name);
      }
      if (names.size > 0) asked.set(open, sentValuesOf(open.fields, names));
    }
    if (asked.size === 0) return;
    const { db, site } = this.#siteContext;
    const shared = await sharedValues(db, site, [...asked.values()].flat());
    for (const [open, values] of asked) {
      const theirs = values.filter(({ name, value }) => shared.has(`${name} ${value}`));
      open.sharedValues = new Set(theirs.map(({ name }) => name.replaceAll('_', '-')));
    }
  }
}

/** Doubts may have been resolved, and creates sent, since the doubts were read. */
function withDoubts(creates: readonly OpenCreate[], doubts: readonly OpenDoubt[]): OpenCreate[] {
  const known = new Set(creates.map(({ feed, key }) => `${feed} ${key}`));
  const others = doubts.filter(({ doubt: { attempt } }) => !known.has(`${attempt.feed} ${attempt.key}`));
  return [
    ...creates,
    ...others.map(({ doubt: { attempt, startedAt } }) => ({
      feed: attempt.feed,
      key: attempt.key,
      entry: 0,
      fields: attempt.accepted.fields,
      contentHash: attempt.accepted.contentHash.toString('hex'),
      startedAt,
      isInDoubt: true,
    })),
  ];
}
