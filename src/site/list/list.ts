// Reads the site's list action page by page, each job once; never mistakes a part of the list for the whole.

import type { Listing, SiteJob } from '../exchange.ts';
import { type Deadline, deadlineIn } from '../http/deadline.ts';
import type { ReadJob } from '../xml/decode.ts';
import type { PageHints } from './list-page.ts';
import { ListTrail } from './list-trail.ts';
import { PageCopies, type PageTimes } from './page-copies.ts';
import type { Asked } from './paging.ts';
import type { PageAnswer, TakeJob } from './read-page.ts';
import { SeenJobs } from './seen-jobs.ts';

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
// change ends the reading, and the doubt remains until a later one. Cached copies count as read when the cache fetched
// them (see page-copies.ts).

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
 * @param once it is read once: it may have changed meanwhile, so a job that was not handed over may exist.
 */
export async function readList(
  start: URL,
  get: GetPage,
  take: TakeSiteJob,
  maxAgeMs: number,
  once = false,
): Promise<Listing> {
  const copies = new PageCopies(performance.now(), maxAgeMs);
  const reading: Reading = { start, get, take, copies, seen: new SeenJobs(), deadline: deadlineIn(MAX_MS) };
  try {
    const first = await readPass(reading, MAX_PAGES);
    // A single document is consistent in itself.
    if (first.requests > 1 && !once) await confirm(reading, first);
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
}

/** One pass through the list. `pages` counts those with new jobs. */
interface Pass {
  readonly endedBy: 'hints' | 'nothing more' | 'no paging';
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

async function confirm(reading: Reading, first: Pass): Promise<void> {
  const isUnpaged = first.endedBy === 'no paging';
  const again = isUnpaged ? await readPass(onlyPage(reading), 1) : await readPass(reading, MAX_PAGES);
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

/** With another URL, a cache cannot return the copy read before; a site that does not page returns the same list. */
function onlyPage(reading: Reading): Reading {
  if (!reading.copies.any) return reading;
  const start = new URL(reading.start);
  start.searchParams.set('page', '1');
  return { ...reading, start };
}

/** @throws NotWhole */
async function readPass(reading: Reading, mostPages: number): Promise<Pass> {
  const { start, seen } = reading;
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
    const answer = await reading.get(url, (job) => takeJob(reading, job, url));
    const times = { askedAt, endedAt: performance.now() };
    if (asked.promise === undefined && number > 1 && isNoSuchPage(answer.status)) {
      checkCopy(reading, answer, times, url);
      return { endedBy: 'nothing more', pages: trail.lastPage, requests: number };
    }
    const hints = readAnswer(answer, url);
    checkCopy(reading, answer, times, url);
    const step = trail.follow({ number, asked, hints, counts: seen.endPage() });
    switch (step.kind) {
      case 'ended':
        return { endedBy: step.by, pages: trail.lastPage, requests: number };
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

function takeJob({ seen, take }: Reading, job: ReadJob, url: URL): void | Promise<void> {
  // It might be the very job in question.
  if (job.siteJobId === undefined) throw new NotWhole(url, 'a job in it has no ID');
  const isNew = seen.see(job.siteJobId);
  if (seen.size > MAX_JOBS) throw new NotWhole(url, `it has more than ${MAX_JOBS} jobs`);
  return isNew ? take({ ...job, siteJobId: job.siteJobId }) : undefined;
}

/** @throws NotWhole if a cached copy is too old, or in the wrong order */
function checkCopy({ copies }: Reading, answer: PageAnswer, times: PageTimes, url: URL): void {
  const against = copies.add(answer, times);
  if (against !== undefined) throw new NotWhole(url, against);
}

/** Returns the paging hints. @throws NotWhole if the answer is not a list page */
function readAnswer({ status, trouble, hints }: PageAnswer, url: URL): PageHints {
  if (status !== 200) throw new NotWhole(url, trouble ?? `the site answered ${status}`);
  if (trouble !== undefined) throw new NotWhole(url, trouble);
  if (hints === undefined) throw new NotWhole(url, 'the answer is not the XML of a collection of jobs');
  return hints;
}

/** Statuses that may mean just "no such page" or "no such parameter". */
const isNoSuchPage = (status: number): boolean => [400, 404, 406, 410, 416, 422].includes(status);
