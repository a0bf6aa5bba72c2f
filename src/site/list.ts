// Reads the site's list action page by page, each job once; never mistakes a part of the list for the whole.
import { randomUUID } from 'node:crypto';
import { ONLY_MARK, RecordIndex } from '../compact/record-index.ts';
import { recordHash } from '../posting/hash.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Listing, ReadPastCaches, SiteJob } from './exchange.ts';
import { type Deadline, deadlineIn } from './http/trouble.ts';
import {
  type Asked,
  findMixUp,
  findNext,
  type NextListPage,
  type PageAnswer,
  type PageHints,
  type TakeJob,
} from './list-page.ts';
import type { ReadJob } from './xml/decode.ts';
import { tellProblems } from './xml/problems.ts';

// A job counts as missing only from a list that is complete and did not change while it was read. The interface does
// not describe paging (site-interface.md, section 4, rule 6), so both must be proven for any kind:
//
// | what the site says about paging         | the end is                                                             |
// |-----------------------------------------|------------------------------------------------------------------------|
// | a next page, on every page but the last | the page without; an empty one only if the site promises none after it |
// | how many pages there are                | the page of that number; none before it may be empty                   |
// | how many jobs there are                 | where all of them have been read                                       |
// | nothing                                 | two empty pages, two that repeat the page before, or "no such page"    |
// | nothing, and page 2 has all of page 1   | page 1: the site does not page, and it is read once more               |
//
// A list of several pages may change while it is read. A job is missed only if jobs before it leave the list (or move
// behind it) after their page was read: it then slips onto a page already read. So the list is read a second time. If
// every job of the first reading appears again, none left, and none was missed. A job that moved behind others appears
// twice in one reading. Jobs created meanwhile, as our own creates are, do no harm: at the end of the list they are just
// further jobs; at its beginning they push jobs on, so a page begins with the last jobs of the page before. Any other
// change ends the reading, and the doubt remains until a later one. The second reading also shows what a cache withheld. Cached copies count as read when the cache fetched
// them (see `PageCopies`).

/** A list with more pages than this is taken to be endless. */
const MAX_PAGES = 10_000;
/** Limit on jobs remembered, at about 30 bytes each. */
const MAX_JOBS = 5_000_000;
const MAX_MS = 4 * 3_600_000;

type TakeSiteJob = (siteJob: SiteJob) => void | Promise<void>;

/** Requests one page; its jobs are handed over as they arrive. */
export type GetPage = (url: URL, take: TakeJob) => Promise<PageAnswer>;

/**
 * Reads the list to its proven end, twice if it may have changed. `listed`: it is complete and did not change.
 * @param maxAgeMs maximum age of cached pages when the reading begins.
 * @param whyCopy see `SiteClient.list`; absent: it is read once, and may have changed meanwhile, so a job that was not handed over may exist.
 */
export async function readList(
  start: URL,
  get: GetPage,
  take: TakeSiteJob,
  maxAgeMs: number,
  whyCopy?: (answered: ReadPastCaches) => Promise<string | undefined>,
): Promise<Listing> {
  const copies = new PageCopies(performance.now(), maxAgeMs);
  const reading: Reading = {
    start,
    get,
    take,
    copies,
    seen: new SeenJobs(),
    holders: new Set(),
    deadline: deadlineIn(MAX_MS),
  };
  try {
    const first = await readPass(reading, MAX_PAGES);
    if (whyCopy !== undefined) await confirm(reading, first, whyCopy);
    const age = copies.ageMs > 0 ? { ageMs: copies.ageMs } : {};
    return { kind: 'listed', pages: first.endedBy === 'no paging' ? 1 : first.pages, ...age };
  } catch (error) {
    if (!(error instanceof NotWhole)) throw error;
    const { origin, pathname } = error.url;
    const message = `The list at ${origin}${pathname} could not be read: ${error.message}`;
    return { kind: 'unreadable', message, changed: error instanceof Changed };
  }
}

interface Reading {
  readonly start: URL;
  readonly get: GetPage;
  readonly take: TakeSiteJob;
  readonly seen: SeenJobs;
  readonly copies: PageCopies;
  readonly deadline: Deadline;
  /** The elements in which pages had their jobs. */
  readonly holders: Set<string>;
  /** A value that was never asked for, added to the query of each page: no cache has an answer to it. */
  readonly unasked?: string;
}

/** One pass through the list. `pages` counts those with new jobs. */
interface Pass {
  readonly endedBy: 'hints' | 'nothing more' | 'no paging' | 'query refused' | 'query failed';
  readonly pages: number;
  readonly requests: number;
}

class NotWhole extends Error {
  readonly url: URL;

  constructor(url: URL, why: string) {
    super(why);
    this.url = url;
  }
}

/** Its pages do not fit together. */
class Changed extends NotWhole {}

/**
 * Reads it again, past caches: nginx states no age of its copies. A site that does not take the query is read as the first time, unless it
 * may only be in trouble. A single document is consistent in itself, so that only its age may be unknown.
 */
async function confirm(
  reading: Reading,
  first: Pass,
  whyCopy: (answered: ReadPastCaches) => Promise<string | undefined>,
): Promise<void> {
  if (first.requests === 1 && reading.copies.any) return;
  const isUnpaged = first.endedBy === 'no paging';
  const mostPages = isUnpaged ? 1 : MAX_PAGES;
  let again = await readPass({ ...reading, unasked: randomUUID() }, mostPages);
  const isRefused = again.endedBy === 'query refused';
  const isFailed = again.endedBy === 'query failed';
  const why = await whyCopy(isRefused ? 'refused' : isFailed ? 'failed' : 'read');
  if (why !== undefined) throw new NotWhole(reading.start, why);
  if (isRefused || isFailed) {
    if (first.requests === 1) return;
    again = await readPass(reading, mostPages);
  }
  const { vanished } = reading.seen;
  if (vanished > 0) {
    const gone = vanished === 1 ? 'one of its jobs was' : `${vanished} of its jobs were`;
    throw new Changed(
      reading.start,
      `${gone} missing when it was read again: it changes, so others may be missing too`,
    );
  }
  if (!isUnpaged && again.endedBy !== first.endedBy) {
    throw new Changed(reading.start, 'it ended differently when it was read again');
  }
}

/** Most sites ignore this name: jQuery adds it for the same reason. */
function pastCaches(url: URL, unasked: string): URL {
  const past = new URL(url);
  past.searchParams.set('_', unasked);
  return past;
}

/** @throws NotWhole */
async function readPass(reading: Reading, mostPages: number): Promise<Pass> {
  const { start, seen, unasked } = reading;
  const visited = new Set<string>();
  const trail = new ListTrail();
  seen.beginPass();
  let asked: Asked = { kind: 'page', url: start, promise: undefined };
  for (let number = 1; number <= mostPages; number++) {
    const { url } = asked;
    if (visited.has(url.href)) throw new NotWhole(url, 'it links back to an earlier page');
    if (reading.deadline.passed()) throw new NotWhole(url, `reading it takes longer than ${MAX_MS / 3_600_000} hours`);
    visited.add(url.href);
    const askedAt = performance.now();
    const wire = unasked === undefined ? url : pastCaches(url, unasked);
    const answer = knownAsEmpty(reading, await reading.get(wire, (job) => takeJob(reading, job, url)));
    const times = { askedAt, endedAt: performance.now() };
    // A site may also take the query for a filter that no job meets, or answer it with something else than a list.
    const isList = answer.hints !== undefined;
    const isOther = answer.status === 200 && (seen.showsOthers || !isList);
    if (unasked !== undefined && number === 1 && (isRefusal(answer.status) || isOther)) {
      const mayBeTrouble = answer.status >= 500 || (answer.status === 200 && !isList);
      return { endedBy: mayBeTrouble ? 'query failed' : 'query refused', pages: 0, requests: 1 };
    }
    if (asked.promise === undefined && number > 1 && isNoSuchPage(answer.status)) {
      checkCopy(reading, answer, times, url);
      return { endedBy: 'nothing more', pages: trail.lastPage, requests: number + (await askForPage1(reading)) };
    }
    const hints = readAnswer(answer, url);
    checkCopy(reading, answer, times, url);
    const step = trail.follow({ number, asked, hints, counts: seen.endPage() });
    switch (step.kind) {
      case 'ended': {
        const more = step.by === 'nothing more' ? await askForPage1(reading) : 0;
        return { endedBy: step.by, pages: trail.lastPage, requests: number + more };
      }
      case 'doubtful':
        throw new Changed(url, step.why);
      case 'page':
        asked = step;
        break;
      default:
        return step satisfies never;
    }
  }
  if (mostPages === MAX_PAGES) throw new NotWhole(start, `it has more than ${MAX_PAGES} pages`);
  return { endedBy: 'no paging', pages: trail.lastPage, requests: mostPages };
}

/** A page past the end may have nothing but the element in which the pages before had their jobs. */
function knownAsEmpty({ holders }: Reading, answer: PageAnswer): PageAnswer {
  const { holder = '', hints, hintsIfEmpty } = answer;
  if (hints !== undefined) holders.add(holder);
  return hintsIfEmpty !== undefined && holders.has(holder) ? { ...answer, hints: hintsIfEmpty } : answer;
}

/**
 * Where page 2 follows the list itself, page 1 is the same as the list; or else it is the one after it, as Spring counts pages from 0, and
 * was left out. Returns how many requests were made. @throws NotWhole
 */
async function askForPage1(reading: Reading): Promise<number> {
  const { start, get, seen, unasked } = reading;
  if (start.searchParams.has('page') || start.searchParams.has('offset')) return 0;
  const url = new URL(start);
  url.searchParams.set('page', '1');
  const { hints } = await get(unasked === undefined ? url : pastCaches(url, unasked), (job) =>
    takeJob(reading, job, url),
  );
  const { jobs, added } = seen.endPage();
  if (hints !== undefined && jobs > 0 && added === jobs) {
    const first = `${start.pathname}${start.search === '' ? '?' : `${start.search}&`}page=0`;
    throw new NotWhole(start, `its pages are counted from 0, so that page 1 was left out: set list_path to ${first}`);
  }
  return 1;
}

function takeJob({ seen, take }: Reading, job: ReadJob, url: URL): void | Promise<void> {
  // It might be the very job in question.
  if (job.siteJobId === undefined) throw new NotWhole(url, 'a job in it has no ID');
  const isNew = seen.see(job.siteJobId);
  if (seen.size > MAX_JOBS) throw new NotWhole(url, `it has more than ${MAX_JOBS} jobs`);
  return isNew ? take({ ...job, siteJobId: job.siteJobId }) : undefined;
}

const MAX_SAID = 120;

/** @throws NotWhole if a cached copy is too old, or in the wrong order */
function checkCopy({ copies }: Reading, answer: PageAnswer, times: PageTimes, url: URL): void {
  const against = copies.add(answer, times);
  if (against !== undefined) throw new NotWhole(url, against);
}

/** Returns the paging hints. @throws NotWhole if the answer is not a list page */
function readAnswer({ status, trouble, hints, body }: PageAnswer, url: URL): PageHints {
  if (status !== 200) throw new NotWhole(url, trouble ?? `the site answered ${status}`);
  if (trouble !== undefined) throw new NotWhole(url, trouble);
  if (hints === undefined) {
    // PHP writes its warnings in front of the document.
    const [said] = tellProblems(body, undefined);
    const begins = said === undefined ? '' : `; it says: ${said.message.slice(0, MAX_SAID)}`;
    throw new NotWhole(url, `the answer is not the XML of a collection of jobs${begins}`);
  }
  return hints;
}

/** Statuses that may mean just "no such page" or "no such parameter". */
const isNoSuchPage = (status: number): boolean => [400, 404, 406, 410, 416, 422].includes(status);

/** Statuses that may mean that the site does not take the query. */
const isRefusal = (status: number): boolean =>
  (status >= 300 && status < 500 && ![401, 408, 425, 429].includes(status)) || status === 500 || status === 501;

// Follows the paging hints of one pass through the site's list; finds its end, or a reason to distrust it.

/** One parsed page. `number` counts the pages of the pass from 1. */
export interface ReadPage {
  readonly number: number;
  readonly asked: Asked;
  readonly hints: PageHints;
  readonly counts: PageCounts;
}

/** `ended`: by what the site says, by pages without further jobs, or because the site does not page. */
export type TrailStep =
  | { readonly kind: 'ended'; readonly by: 'hints' | 'nothing more' | 'no paging' }
  | Asked
  | { readonly kind: 'doubtful'; readonly why: string };

const MOVED = 'it changed while it was read';

/** The pages of one pass, in order. */
class ListTrail {
  /** The last page that had new jobs. */
  lastPage = 1;
  #jobs = 0;
  #least: { readonly total?: number; readonly pages?: number } = {};
  #jobsOnPageBefore = 0;
  /** What the last page showed if it may be past the end; only for a list without paging hints. */
  #closing: 'empty' | 'repeated' | undefined;

  /** Decides where to go after a page. */
  follow(page: ReadPage): TrailStep {
    const { hints, counts, asked } = page;
    const before = this.#jobsOnPageBefore;
    this.#jobs += counts.added;
    this.#jobsOnPageBefore = counts.jobs;
    if (counts.added > 0) this.lastPage = page.number;
    const next = findNext(hints, asked, { number: page.number, onPage: counts.jobs, soFar: this.#jobs });
    if (next.kind === 'nowhere') return doubtful(next.why);
    const saysNothing = next.kind === 'page' && next.promise === undefined;
    if (saysNothing) return this.#followSilence(page, before) ?? next;
    const against =
      this.#checkTotals(hints) ?? this.#checkNews(page, next) ?? findMixUp(hints, asked.url) ?? findMove(page);
    if (against !== undefined) return doubtful(against);
    const isEnd = next.kind === 'end' || counts.jobs === 0;
    return isEnd ? this.#end(hints) : next;
  }

  /** The announced size may grow while jobs are created; if it shrinks, jobs left the list and others moved up. */
  #checkTotals({ total, totalPages }: PageHints): string | undefined {
    const least = { total: this.#least.total ?? total, pages: this.#least.pages ?? totalPages };
    this.#least = least;
    if (total !== undefined && least.total !== undefined && total < least.total) {
      return `it announced ${least.total} jobs and then ${total}: ${MOVED}`;
    }
    if (totalPages !== undefined && least.pages !== undefined && totalPages < least.pages) {
      return `it announced ${least.pages} pages and then ${totalPages}: ${MOVED}`;
    }
    return undefined;
  }

  /** A page that was promised, or that promises another one, must have new jobs. */
  #checkNews({ number, asked, hints, counts }: ReadPage, next: NextListPage): string | undefined {
    if (counts.added > 0 || (counts.jobs === 0 && next.kind === 'end' && asked.promise !== 'numbered'))
      return undefined;
    const mixUp = findMixUp(hints, asked.url);
    if (mixUp !== undefined) return mixUp;
    if (next.kind === 'page' && next.promise === 'counted') {
      // Jobs created meanwhile are counted, but appear on pages that were already read.
      const isEnough = counts.jobs === 0 && this.#least.total !== undefined && this.#jobs >= this.#least.total;
      return isEnough ? undefined : this.#missing(hints);
    }
    const promise = hints.totalPages === undefined ? 'it promises more' : `it announces ${hints.totalPages} pages`;
    return `${promise}, but page ${number} had nothing new`;
  }

  #missing({ total }: PageHints): string | undefined {
    return total === undefined ? undefined : `it announces ${total} jobs but returned ${this.#jobs}`;
  }

  #end(hints: PageHints): TrailStep {
    const { total } = hints;
    const least = this.#least.total;
    const isOff = (least !== undefined && this.#jobs < least) || (total !== undefined && this.#jobs > total);
    const against = isOff
      ? (this.#missing(hints) ?? `it announced ${least} jobs but returned ${this.#jobs}`)
      : undefined;
    return against === undefined ? { kind: 'ended', by: 'hints' } : doubtful(against);
  }

  /** A list without paging hints ends after two pages in a row without new jobs: that does not happen by accident. */
  #followSilence(page: ReadPage, before: number): TrailStep | undefined {
    const { number, counts } = page;
    const closing = this.#closing;
    const isRepeated = before > 0 && counts.ofPageBefore === before;
    if (isRepeated && number === 2) return { kind: 'ended', by: 'no paging' };
    if (counts.jobs > 0 && closing !== undefined && counts.added > 0) {
      return doubtful(`page ${number - 1} had nothing new, but page ${number} had more`);
    }
    this.#closing = counts.jobs === 0 ? 'empty' : isRepeated && counts.added === 0 ? 'repeated' : undefined;
    if (this.#closing !== undefined) {
      return closing === this.#closing ? { kind: 'ended', by: 'nothing more' } : undefined;
    }
    const against = findMove(page);
    return against === undefined ? undefined : doubtful(against);
  }
}

const findMove = ({ number, counts }: ReadPage): string | undefined =>
  counts.jobs > counts.added && !counts.isOverlap
    ? `jobs of page ${number} were already on an earlier page: ${MOVED}`
    : undefined;

const doubtful = (why: string): TrailStep => ({ kind: 'doubtful', why });

// Tracks the age of cached list pages, and whether together they can represent one unchanged list.

// A cache states in the `Age` header for how many seconds it has kept a copy (RFC 9111, 5.1). So each page dates from a
// span of time: an uncached one from between request and answer, a copy from a one-second span that long ago.
// readList's proof relies on the order in which pages are read, so it holds only for copies whose spans follow in the
// same order. Of two other copies the first may be the newer one: a job that moved from the second page to the first
// between them is on neither. A cache that sends no `Age` is detected only if its pages' `Date` lags behind that of
// uncached ones.

/** `Age` counts whole seconds. */
const AGE_STEP_MS = 1_000;
/** Tolerated clock difference between the servers of one site. */
const DATE_LAG_MS = 30_000;

/** When a page was requested, and when its last byte was read, by `performance.now()`. */
interface PageTimes {
  readonly askedAt: number;
  readonly endedAt: number;
}

/** The pages of one reading, across all of its passes. */
class PageCopies {
  readonly #startedAt: number;
  readonly #maxAgeMs: number;
  /** The latest moment that the previous page may date from. */
  #before = Number.NEGATIVE_INFINITY;
  #oldest: number;
  #dateLag = { least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
  /** Whether any page came from a cache. */
  any = false;

  constructor(startedAt: number, maxAgeMs: number) {
    this.#startedAt = startedAt;
    this.#oldest = startedAt;
    this.#maxAgeMs = maxAgeMs;
  }

  /** How old the oldest page was when the reading started. */
  get ageMs(): number {
    return Math.max(0, this.#startedAt - this.#oldest);
  }

  /** Adds the next page. Returns the reason to distrust it, if any. */
  add({ header, answeredAt }: Pick<PageAnswer, 'header' | 'answeredAt'>, times: PageTimes): string | undefined {
    const age = header('age').trim();
    const ageMs = readAge(age);
    const since = ageMs > 0 ? times.askedAt - ageMs - AGE_STEP_MS : times.askedAt;
    const kept = `it comes from a cache, ${age.slice(0, 20)} s old`;
    if (this.#startedAt - since > this.#maxAgeMs) return `${kept}; exclude the list from caching`;
    if (since < this.#before) {
      return `${kept}, and may be older than the page before, so the list may have changed between them; exclude it from caching`;
    }
    this.#before = times.endedAt - ageMs;
    this.#oldest = Math.min(this.#oldest, since);
    if (ageMs > 0) this.any = true;
    else if (!this.#isOfOneTime(answeredAt, header('date'))) {
      return 'the Date headers of its pages show that some come from a cache; exclude the list from caching';
    }
    return undefined;
  }

  #isOfOneTime(answeredAt: number, date: string): boolean {
    const made = Date.parse(date);
    if (Number.isNaN(made)) return true;
    const lag = answeredAt - made;
    const { least, most } = this.#dateLag;
    this.#dateLag = { least: Math.min(least, lag), most: Math.max(most, lag) };
    return this.#dateLag.most - this.#dateLag.least <= DATE_LAG_MS;
  }
}

/** The age in milliseconds. A value that is neither empty nor a number is of unknown age. */
function readAge(age: string): number {
  if (!/[1-9]/.test(age)) return 0;
  return /^\d{1,9}$/.test(age) ? Number(age) * 1000 : Number.POSITIVE_INFINITY;
}

// Remembers which jobs a reading of the list has shown, and where last, in a few bytes each.

/** What one page showed. */
interface PageCounts {
  /** Jobs on it, each counted once. */
  readonly jobs: number;
  /** Jobs that no earlier page of this pass showed. */
  readonly added: number;
  /** Jobs that the previous page showed too. */
  readonly ofPageBefore: number;
  /**
   * Whether the page begins with exactly the jobs that ended the previous page, and repeats no others: jobs created at
   * the beginning of a list while it is read push the others on.
   */
  readonly isOverlap: boolean;
}

/** All jobs of a list, across passes. A job is identified by a hash of its ID; a million take about 30 MB. */
class SeenJobs {
  /** Many small tables, because a growing table is rebuilt in one go, which blocks the process. */
  readonly #tables = Array.from({ length: 256 }, () => new RecordIndex());
  #size = 0;
  /** Sightings so far; each job keeps the number of its last one. */
  #sightings = 0;
  #passStart = 0;
  #pageBefore = { start: 0, end: 0 };
  #page = emptyPage(0);
  /** How many of the jobs known before this pass it has shown. */
  #again = 0;
  #knownBefore = 0;

  get size(): number {
    return this.#size;
  }

  beginPass(): void {
    this.#passStart = this.#sightings;
    this.#pageBefore = { start: this.#sightings, end: this.#sightings };
    this.#page = emptyPage(this.#sightings);
    this.#again = 0;
    this.#knownBefore = this.#size;
  }

  /** Whether jobs were known before this pass, and it has shown none of them. */
  get showsOthers(): boolean {
    return this.#knownBefore > 0 && this.#again === 0;
  }

  /** How many jobs known before this pass it has not shown. */
  get vanished(): number {
    return this.#knownBefore - this.#again;
  }

  /** Adds a job of the page; `true`: it was never seen before. */
  see(id: SiteJobId): boolean {
    const hash = recordHash(Buffer.from(id));
    const table = this.#tables[hash.readUInt8(hash.length - 1)] as RecordIndex;
    const slot = table.find(hash);
    const last = slot < 0 ? undefined : table.seenAt(slot);
    // The job appears twice on one page, or twice in a document read as one.
    if (last !== undefined && last >= this.#page.start) return false;
    const place = slot < 0 ? table.add(hash, ONLY_MARK) : slot;
    this.#count(last);
    table.unsee(place);
    table.see(place, this.#sightings++);
    if (last === undefined) this.#size++;
    return last === undefined;
  }

  #count(last: number | undefined): void {
    const page = this.#page;
    if (last === undefined || last < this.#passStart) {
      if (last !== undefined) this.#again++;
      page.added++;
    } else if (last >= this.#pageBefore.start) {
      page.ofPageBefore++;
      // The first repeated job tells how long the overlap must be.
      if (page.jobs === 0) page.overlap = this.#pageBefore.end - last;
      if (page.jobs >= page.overlap || last !== this.#pageBefore.end - page.overlap + page.jobs) page.isOverlap = false;
    } else page.isOverlap = false;
    page.jobs++;
  }

  endPage(): PageCounts {
    const { start, overlap, isOverlap, ...counts } = this.#page;
    this.#pageBefore = { start, end: this.#sightings };
    this.#page = emptyPage(this.#sightings);
    return { ...counts, isOverlap: isOverlap && counts.ofPageBefore === overlap };
  }
}

const emptyPage = (start: number) => ({ start, jobs: 0, added: 0, ofPageBefore: 0, overlap: 0, isOverlap: true });
