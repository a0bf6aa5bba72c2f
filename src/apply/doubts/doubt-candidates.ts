// Keeps the site jobs that creates in doubt may have made, within a memory limit.
import type { Fields } from '../../posting/posting.ts';
import { type SiteJob, toCompare } from '../../site/exchange.ts';

/** Characters of field values kept across all candidates; beyond them a job is kept without its long values. */
const MOST_CHARACTERS = 16_000_000;
/** Values up to this length are always kept: references, titles, places. */
const SHORT_VALUE = 200;
/** Jobs kept across all doubts; each takes a few hundred bytes besides its fields. */
const MOST_JOBS = 50_000;
/** Pairs of a doubt and a job. */
const MOST_PAIRS = 200_000;
/**
 * Jobs kept for one doubt. Many may look alike and belong to other postings, which is known only after the whole list.
 */
export const MAX_CANDIDATES = 200;

export interface Candidates {
  readonly candidates: SiteJob[];
  /** More jobs matched than were kept, so having no candidates left does not prove that no job was made. */
  crowded: boolean;
}

/** The candidates of all doubts resolved by one reading of the list. */
export class CandidateStore {
  readonly #limits: { readonly characters: number; readonly jobs: number; readonly pairs: number };
  #characters = 0;
  #jobs = 0;
  #pairs = 0;

  constructor(limits = { characters: MOST_CHARACTERS, jobs: MOST_JOBS, pairs: MOST_PAIRS }) {
    this.#limits = limits;
  }

  /** Adds the job to each doubt that has room; a doubt without room becomes crowded. */
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

  /** Dropped values are fetched later with the show action. */
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
