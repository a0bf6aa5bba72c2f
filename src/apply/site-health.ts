// Finds out how a site shows jobs: whether it keeps the reference that creates send, and whether it shows jobs right
// after it has created them.
import { setTimeout as wait } from 'node:timers/promises';
import { omittedFields, shownOf } from '../plan/compare-shown.ts';
import { type Message, messageOf, tell } from '../plan/message.ts';
import { compareReferences, fieldOf } from '../plan/same-meaning.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { type Exchange, type Outcome, type SiteJob, withRevealedFields } from '../site/exchange.ts';
import { countOutcomes } from '../store/backlog/open-counts.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { markCleared } from '../store/change/mark-drifted.ts';
import { searchUnprovenAgain } from '../store/change/site-search.ts';
import { pullToWatch } from '../store/feed/feed-state.ts';
import {
  noteHidesNew,
  noteNewJob,
  readNewJobs,
  recentlyAccepted,
  sampleOfAges,
} from '../store/mapping/visible-jobs.ts';
import {
  describeReference,
  noteReference,
  type ReferenceEvidence,
  type ReferenceState,
  referenceState,
} from '../store/site/kept-values.ts';
import { type ProbePace, refuseToken } from '../store/site/refused-token.ts';
import {
  noteMisconfigured,
  noteReachable,
  noteUnreachable,
  pauseSite,
  throttleSite,
} from '../store/site/site-state.ts';
import { noteAcceptedWrite } from './prove-token.ts';
import { showJob, warnOfUnshownJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/** So many created jobs are asked for until one shows what the site keeps. */
const MOST_ASKED = 5;

/** What one process knows. */
interface Watched {
  state: ReferenceState;
  asked: number;
  isAsking: boolean;
}

const watchedOf = new WeakMap<SiteContext, Watched>();

/**
 * Takes the answer to a create that certainly shows its job. An answer may show less than the site keeps, so that the job itself is asked
 * for before the reference counts as missing.
 * @param known the job, if the site has just shown it.
 */
export async function watchReference(
  sent: Fields,
  created: SiteJob,
  siteContext: SiteContext,
  signal: AbortSignal,
  known?: SiteJob,
): Promise<void> {
  const { referenceField } = siteContext.policy;
  if (referenceField === undefined || !fieldOf(sent, referenceField)?.trim()) return;
  const watched = await watch(siteContext, referenceField);
  const sentReference = fieldOf(sent, referenceField) ?? '';
  if (keeps(sentReference, created, referenceField)) {
    if (watched.state === 'unknown' || watched.state === 'missing') await note(siteContext, watched, { kind: 'shown' });
    return;
  }
  const isOpen = watched.state === 'unknown' || watched.state === 'shown';
  if (!isOpen || watched.isAsking || watched.asked >= MOST_ASKED) return;
  watched.isAsking = true;
  watched.asked++;
  try {
    const shown = known ?? (await showJob(siteContext, created.siteJobId, signal));
    const evidence = shown === undefined ? undefined : evidenceOf(sent, shown, referenceField);
    if (evidence !== undefined) await note(siteContext, watched, evidence);
  } finally {
    watched.isAsking = false;
  }
}

/** Whether jobs of the site are known to show references. */
export async function showsReferences({ db, site, address, policy }: SiteContext): Promise<boolean> {
  if (policy.referenceField === undefined) return false;
  const state = await referenceState(db, { site, address, field: policy.referenceField });
  return state === 'shown' || state === 'some';
}

/** The list shows a job with a reference. */
export async function noteShownReference(siteContext: SiteContext, referenceField: string): Promise<void> {
  const watched = await watch(siteContext, referenceField);
  if (watched.state === 'unknown' || watched.state === 'missing') await note(siteContext, watched, { kind: 'shown' });
}

async function watch(siteContext: SiteContext, field: string): Promise<Watched> {
  const { db, site, address } = siteContext;
  const known = watchedOf.get(siteContext);
  if (known !== undefined) return known;
  const watched = { state: await referenceState(db, { site, address, field }), asked: 0, isAsking: false };
  watchedOf.set(siteContext, watched);
  return watched;
}

async function note(siteContext: SiteContext, watched: Watched, evidence: ReferenceEvidence): Promise<void> {
  const { db, site, address, policy, log, writeAction } = siteContext;
  const field = policy.referenceField ?? '';
  const news = await noteReference(db, { site, address, field }, evidence);
  // Otherwise another process has noted it.
  watched.state = news ?? (await referenceState(db, { site, address, field }));
  const message = news === undefined ? undefined : describeReference(field, news);
  if (message !== undefined) log.warn({ site, field }, tell(message, writeAction));
}

/** Whether the job shows the reference that was sent, perhaps in another form or within another text, and not one of the site's own. */
function keeps(sent: string, siteJob: SiteJob, field: string): boolean {
  const shown = fieldOf(withRevealedFields(siteJob).fields, field)?.trim() ?? '';
  if (shown === '') return false;
  return compareReferences(sent, shown) !== 'other' || shown.toLowerCase().includes(sent.trim().toLowerCase());
}

/**
 * What a job says about the reference that was sent for it; `undefined`: it shows nothing else of what was sent, so that it proves
 * nothing.
 */
export function evidenceOf(sent: Fields, shown: SiteJob, referenceField: string): ReferenceEvidence | undefined {
  if (keeps(fieldOf(sent, referenceField) ?? '', shown, referenceField)) return { kind: 'shown' };
  const others = Object.keys(sent).filter((name) => name !== referenceField && fieldOf(shown.fields, name)?.trim());
  return others.length === 0 ? undefined : { kind: 'missing', siteJobId: shown.siteJobId };
}

/** A site that reads from a copy of its database may show a job a moment later. */
const AGAIN_MS = 1_000;

/** The pull of each feed whose first new job was asked for last. */
const watchedJobOf = new WeakMap<SiteContext, Map<FeedName, number | undefined>>();

/** Asks for the first job that a process creates in a pull. Returns the job if the site showed it. */
export async function watchNewJob(
  { feed, pull }: Attempt,
  { siteJobId: id }: SiteJob,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<SiteJob | undefined> {
  const { db, site, policy } = siteContext;
  const watched = watchedJobOf.get(siteContext) ?? new Map<FeedName, number | undefined>();
  watchedJobOf.set(siteContext, watched);
  if (watched.has(feed) && watched.get(feed) === pull) return undefined;
  watched.set(feed, pull);
  if ((await readNewJobs(db, site)).isCertain) return undefined;
  const shown = await showJob(siteContext, id, signal);
  await noteNewJob(db, site, id, shown !== undefined);
  if (shown !== undefined) return shown;
  // Noted at once, as the process may end meanwhile.
  await wait(Math.min(AGAIN_MS, policy.doubts.resolveAfterMs), undefined, { signal });
  const late = await showJob(siteContext, id, signal);
  if (late !== undefined) await noteNewJob(db, site, id, true);
  return late;
}

/**
 * Whether the site is known not to show each new job at once: it did not show one, but shows others of ours, or that one by now. A site
 * that shows none, such as one without a show action, proves nothing.
 */
export async function hidesNewJobs(siteContext: SiteContext, signal: AbortSignal): Promise<boolean> {
  const { db, site } = siteContext;
  const { hidden, isCertain } = await readNewJobs(db, site);
  if (hidden === undefined || isCertain) return isCertain;
  const others = [...(await recentlyAccepted(db, site, hidden)), ...(await sampleOfAges(db, site, hidden))];
  for (const id of new Set([hidden, ...others])) {
    // What cannot be asked for is asked for the next time.
    const shown = await showJob(siteContext, id, signal).catch(() => undefined);
    if (shown === undefined) continue;
    await noteHidesNew(db, site);
    return true;
  }
  return false;
}

// Updates a site's health after a request: a pause, a wait, or reachable again.

const UNREACHABLE_FIRST_MS = 1_000;
const UNREACHABLE_MAX_MS = 60_000;
/** Delay of the first probe of a paused site; it doubles with each probe, up to `PROBE_MAX_MS`. */
export const PROBE_FIRST_MS = 15_000;
export const PROBE_MAX_MS = 15 * 60_000;
export const TOKEN_PROBE_PACE: ProbePace = { firstMs: PROBE_FIRST_MS, maxMs: PROBE_MAX_MS };
/** The site is paused after this many misconfigured answers in a row. */
const MISCONFIGURED_LIMIT = 3;

/**
 * How long further successes are not recorded, to save a write for each. Short, because another process may have
 * recorded a problem.
 */
const WELL_MS = 1_000;

interface Well {
  /** Until when successes of the site need not be recorded. */
  until: number;
  /** A success is being recorded, which is enough for all that arrive meanwhile: they would only wait for each other's row. */
  isNoting: boolean;
}

/** Removed once it is recorded that something is wrong with the site: a success that follows is recorded at once. */
const wellOf = new WeakMap<SiteContext, Well>();

/** The parts of an exchange that affect the site's health. */
interface ExchangeDetails extends Pick<Exchange, 'durationMs' | 'response'> {
  /** When it was sent at the earliest, by `performance.now()`; absent: nothing was sent that needs the token. */
  readonly startedAt?: number;
}

/** @param attempt `undefined`: no posting was sent. */
export async function updateSiteHealth(
  outcome: Outcome,
  attempt: Attempt | undefined,
  siteContext: SiteContext,
  { durationMs, response, startedAt }: ExchangeDetails = { durationMs: 0 },
): Promise<void> {
  const { db, site } = siteContext;
  if ('denied' in outcome && outcome.denied === 'open') return;
  switch (outcome.kind) {
    case 'created':
    case 'accepted':
      if (startedAt !== undefined && !('isRead' in outcome)) await noteAcceptedWrite(siteContext, startedAt);
      return noteWell(siteContext);
    case 'gone':
      // A missing job proves nothing about the address.
      return noteReachable(db, site, undefined);
    case 'unauthorized':
      await pauseForToken(siteContext);
      if (siteContext.policy.canList) await searchUnprovenAgain(db, site, siteContext.tokenDigest);
      return;
    case 'throttled':
      await throttleSite(db, site, {
        status: response?.status === 503 ? 503 : 429,
        waitMs: outcome.retryAfterMs ?? siteContext.policy.retry.firstDelayMs,
        sentMsAgo: durationMs,
        requestsPerSecond: siteContext.policy.requestsPerSecond,
      });
      siteContext.rateLimiter.slowDown?.();
      return;
    case 'unreachable':
      await noteUnreachable(db, site, outcome.message, UNREACHABLE_FIRST_MS, UNREACHABLE_MAX_MS);
      wellOf.delete(siteContext);
      return;
    case 'misconfigured':
      if ((await noteTrouble(siteContext, outcome.message)) >= MISCONFIGURED_LIMIT) {
        await pause(siteContext, outcome.message, PROBE_FIRST_MS);
      }
      return;
    case 'set_up':
      if (outcome.pause !== undefined) await pause(siteContext, outcome.pause, undefined);
      return;
    case 'unknown':
      if (outcome.setUp !== undefined) await noteSetUp(siteContext, outcome.setUp, outcome.message);
      return attempt === undefined ? undefined : watchCanary(attempt, siteContext);
    case 'rejected':
    case 'forbidden':
    case 'foreign':
    case 'unconfirmed':
      return attempt === undefined ? undefined : watchCanary(attempt, siteContext);
    default:
      return outcome satisfies never;
  }
}

async function noteWell(siteContext: SiteContext): Promise<void> {
  const well = wellOf.get(siteContext) ?? { until: Number.NEGATIVE_INFINITY, isNoting: false };
  wellOf.set(siteContext, well);
  if (well.isNoting || well.until > performance.now()) return;
  well.isNoting = true;
  try {
    await noteReachable(siteContext.db, siteContext.site, siteContext.address);
    well.until = performance.now() + WELL_MS;
  } finally {
    well.isNoting = false;
  }
}

/** Returns how many misconfigured answers there were in a row. */
async function noteTrouble(siteContext: SiteContext, message: Message): Promise<number> {
  const streak = await noteMisconfigured(siteContext.db, siteContext.site, message);
  wellOf.delete(siteContext);
  return streak;
}

/** Answering a probe proves nothing here: only a person can tell that the cause is gone. */
async function noteSetUp(siteContext: SiteContext, looksLike: Message, message: Message): Promise<void> {
  if ((await noteTrouble(siteContext, message)) < MISCONFIGURED_LIMIT) return;
  await pause(siteContext, looksLike, undefined);
}

/** How many of the updates that were looked at told nothing; `undefined`: one has shown that the site keeps what it omitted. */
const untoldOmitted = new WeakMap<SiteContext, number | undefined>();

/** After this many, a process asks no more. */
const MOST_UNTOLD = 20;
/** One field alone a person may have emptied. */
const CLEARED_AT_LEAST = 2;

/**
 * Pauses a site that has cleared fields which an update did not send: each further update would, too. The answer makes it suspicious if it
 * lacks some of them, or is no job; what proves it is that the job itself lacks them, while another one has such fields. A site may keep
 * some, such as the reference.
 * @returns the job, if it was asked for
 */
export async function watchOmitted(
  { feed, key, request, before, forms, createOnly }: Attempt,
  answered: SiteJob | undefined,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<SiteJob | undefined> {
  const { db, site, policy } = siteContext;
  if (request.kind !== 'update' || policy.omittedFields !== undefined) return undefined;
  const untold = untoldOmitted.has(siteContext) ? untoldOmitted.get(siteContext) : 0;
  if (untold === undefined || untold >= MOST_UNTOLD) return undefined;
  const omitted = omittedFields({ sent: request.fields, before, forms, createOnly });
  if (omitted.length < CLEARED_AT_LEAST) return undefined;
  const shownIn = (siteJob: SiteJob, names = omitted) => shownOf(names, withRevealedFields(siteJob));
  const isCleared = (siteJob: SiteJob) => omitted.length - shownIn(siteJob).length >= CLEARED_AT_LEAST;
  untoldOmitted.set(siteContext, untold + 1);
  let asked: SiteJob | undefined;
  try {
    const { siteJobId: id } = request;
    const isTold = answered !== undefined && !isCleared(answered);
    if (!isTold) asked = await showJob(siteContext, id, signal);
    const own = isTold ? answered : asked;
    if (own === undefined) return undefined;
    if (!isCleared(own)) {
      untoldOmitted.set(siteContext, undefined);
      return asked;
    }
    const kept = shownIn(own);
    const cleared = omitted.filter((name) => !kept.includes(name));
    const others = [...(await recentlyAccepted(db, site, id)), ...(await sampleOfAges(db, site, id))];
    for (const other of new Set(others)) {
      const shown = await showJob(siteContext, other, signal);
      if (shown === undefined || shownIn(shown, cleared).length < CLEARED_AT_LEAST) continue;
      await markCleared(db, { feed, key, siteJobId: id }, cleared);
      const text = `the update of job ${id} has cleared ${cleared.join(', ')}, which it did not send: the site seems to clear what an update omits`;
      const words =
        'Set `omitted_fields: clear` of the site, or `keep` if something else has emptied them; the first pull after it is resumed sets again what was cleared';
      await pause(siteContext, messageOf(text, [{ words }]), undefined);
      break;
    }
  } catch (error) {
    warnOfUnshownJob(siteContext, request.siteJobId, error);
  }
  return asked;
}

/** Pauses only this token: processes with another token continue, and none of them ends this pause. */
export async function pauseForToken({
  db,
  site,
  tokenDigest,
  log,
}: Pick<SiteContext, 'db' | 'site' | 'tokenDigest' | 'log'>): Promise<void> {
  const cause = 'the site does not accept the token (401): the token or the password was changed';
  if (await refuseToken(db, site, tokenDigest, cause, TOKEN_PROBE_PACE)) {
    log.error({ site, cause }, 'site paused for this token');
  }
}

async function pause(siteContext: SiteContext, cause: Message, probeAfterMs: number | undefined): Promise<void> {
  const { db, site, log, writeAction } = siteContext;
  if (await pauseSite(db, site, cause, probeAfterMs)) {
    log.error({ site, cause: tell(cause, writeAction) }, 'site paused');
  }
}

/**
 * Pauses the site if too many of a pull's first requests failed: better 20 failures than 20,000. Answering a probe
 * proves nothing here, so only a person resumes the site; pulls up to then are not judged again.
 */
async function watchCanary(attempt: Attempt, siteContext: SiteContext): Promise<void> {
  const { requests, percent, until } = siteContext.policy.canary;
  if (requests === 0) return;
  const pull = await pullToWatch(siteContext.db, attempt.feed);
  if (pull === undefined) return;
  const outcomeCounts = await countOutcomes(siteContext.db, pull);
  // Outcomes that say nothing about the postings, such as a request to wait, do not count as successes either.
  const sent = (outcomeCounts.requests ?? 0) - (outcomeCounts.unjudged ?? 0);
  const failed = outcomeCounts.refused ?? 0;
  if (sent < requests || sent > until || (failed / sent) * 100 <= percent) return;
  const text = `${failed} of the first ${sent} requests of pull ${pull} of feed ${attempt.feed} failed, above the limit of ${percent} %`;
  const cause = messageOf(text, [{ words: 'for the reasons run', action: { kind: 'list_entries' } }]);
  await pause(siteContext, cause, undefined);
}
