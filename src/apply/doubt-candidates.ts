// Keeps the site jobs that creates in doubt may have made, within a bound on the memory that they take together.
import type { Fields } from '../posting/posting.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';

/** Characters of fields that are kept over all candidates; beyond them a job is kept without its long values. */
const MOST_CHARACTERS = 16_000_000;
/** A value that is kept in any case: references, titles, places. */
const SHORT_VALUE = 200;
/** Jobs that are kept over all doubts, each some hundred bytes beside its fields. */
const MOST_JOBS = 50_000;
/** Pairs of doubt and job. */
const MOST_PAIRS = 200_000;
/** Jobs kept for one doubt. Many may look alike and belong to other postings, which is known only after the list. */
export const MAX_CANDIDATES = 200;

export interface Candidates {
  readonly candidates: SiteJob[];
  /** There were more than are kept, so that none left does not mean none made. */
  crowded: boolean;
}

/** The candidates of all doubts that one reading of the list serves. */
export class CandidateStore {
  readonly #limits: { readonly characters: number; readonly jobs: number; readonly pairs: number };
  #characters = 0;
  #jobs = 0;
  #pairs = 0;

  constructor(limits = { characters: MOST_CHARACTERS, jobs: MOST_JOBS, pairs: MOST_PAIRS }) {
    this.#limits = limits;
  }

  /** Notes the job for each of the doubts; one that has no room for it is crowded. */
  keep(siteJob: SiteJob, doubts: readonly Candidates[]): void {
    const roomy = doubts.filter((open) => {
      if (open.candidates.length >= MAX_CANDIDATES) open.crowded = true;
      return !open.crowded;
    });
    if (roomy.length === 0) return;
    if (this.#jobs >= this.#limits.jobs || this.#pairs + roomy.length > this.#limits.pairs) {
      for (const open of roomy) open.crowded = true;
      return;
    }
    const kept = this.#fitted(siteJob);
    this.#jobs++;
    this.#pairs += roomy.length;
    for (const open of roomy) open.candidates.push(kept);
  }

  /** What is left out is asked for with the show action. */
  #fitted(siteJob: SiteJob): SiteJob {
    const size = sizeOf(siteJob);
    if (this.#characters + size <= this.#limits.characters) {
      this.#characters += size;
      return siteJob;
    }
    const fields = shortOf(siteJob.fields);
    const revealed = siteJob.revealFields && shortOf(toCompare(siteJob).fields);
    return { ...siteJob, fields, revealFields: revealed && (() => revealed) };
  }
}

function shortOf(fields: Fields): Fields {
  const short = Object.entries(fields).filter(([, value]) => value.length <= SHORT_VALUE);
  return Object.fromEntries(short.slice(0, 50));
}

const sizeOf = ({ fields }: SiteJob): number =>
  Object.entries(fields).reduce((size, [name, value]) => size + name.length + value.length, 0);
