// Adopts the site jobs that a search found for creates in doubt, one after the other. The site is asked about each before the
// transaction that adopts it and records the progress, so each is adopted exactly once, however often this is stopped and continued.
import { pause } from '../../flow/pause.ts';
import type { PlaceRules } from '../../plan/match/likeness.ts';
import type { FeedPolicy } from '../../plan/policy.ts';
import type { FeedName, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { NotShownError, type SiteJob } from '../../site/exchange.ts';
import type { ActedEntry } from '../../store/change/act-in-review.ts';
import { resolveDoubtWithin } from '../../store/change/resolve-doubt.ts';
import { lockOutcomesShared } from '../../store/locks/advisory-locks.ts';
import { showsOther } from '../../store/mapping/visible-jobs.ts';
import type { Database, Transaction } from '../../store/postgres/database.ts';
import { withRetry } from '../../store/postgres/transient-error.ts';
import {
  findBulk,
  isYetToDo,
  lockBulk,
  lockUnaltered,
  nextFeedOfBulk,
  nextOfBulk,
  noteBulkWait,
  recordBatch,
} from '../../store/review/bulk-actions.ts';
import type { FoundEntry } from '../../store/review/found-entries.ts';
import { noteGroupCounts } from '../../store/review/review-groups.ts';
import { crossStep } from '../../telemetry/times.ts';
import { type CheckedVerdict, checkVerdict, type VerdictRefused } from '../health/check-verdict.ts';
import { readFoundJobs } from '../jobs/proposals.ts';
import { whyUnresolved } from '../resolve-entry.ts';
import { type BulkOptions, type BulkRun, CHANGED_SINCE_SELECTED } from './run-bulk.ts';

/** The site of a feed. */
export interface FoundSite {
  readonly site: SiteName;
  readonly referenceField: string | undefined;
  readonly places?: PlaceRules;
  /** Of the feed. */
  readonly policy: FeedPolicy | undefined;
  /** Asks for a job, within the site's rate; `undefined`: the site says that it does not exist. Throws if it gave no clear answer. */
  ask(id: SiteJobId): Promise<SiteJob | undefined>;
}

export interface FoundSites {
  /** The site of the feed, or why it can't be asked now. */
  siteOf(feed: FeedName): Promise<FoundSite | string>;
}

/** After so many entries, what is certain is read again, and whether the site may be asked. */
const CHUNK = 1_000;
/** The same after this time, or ten times as long as reading what is certain took, up to the latter. */
const LEAST_CHUNK_MS = 1_000;
const MOST_CHUNK_MS = 30_000;
/** How long it waits for a site. */
const WAIT_MS = 15_000;
const NOT_FOUND_NOW = 'no job on the site is found for it any more';
/** Shown while it waits before it asks once more. */
const ASKED_AGAIN = 'the site gave no clear answer about some of the jobs, which are asked for once more';
const SHOWS_NONE = 'the site shows none of the jobs that should be there: its address may be wrong';

type ChunkEnd =
  | { readonly kind: 'continues' }
  /** Nothing is left to do, or a person stopped it. */
  | { readonly kind: 'over' }
  | { readonly kind: 'waits'; readonly waitsFor: string; readonly waitMs?: number | undefined };

const OVER: ChunkEnd = { kind: 'over' };

export interface AdoptRunOptions extends Pick<BulkOptions, 'signal' | 'onProgress'> {
  /** How long after the first time to ask once more for jobs about which the site gave no clear answer. Default: 15 s. */
  readonly askAgainMs?: number;
}

/** What one run of the action knows. */
interface Run extends AdoptRunOptions {
  readonly db: Database;
  readonly id: number;
  readonly acted: ActedEntry[];
  /** Entries about whose jobs the site gave no clear answer, although it shows others: they are asked for once more, at the end. */
  readonly unclear: Set<number>;
  askedAgain: boolean;
}

/**
 * Carries out the action until it is done, a person stops it, `signal` is aborted, or the site can't be asked: then the action says
 * what it waits for, and goes on the next time.
 */
export async function adoptFoundJobs(
  db: Database,
  id: number,
  sites: FoundSites,
  options: AdoptRunOptions,
): Promise<BulkRun | undefined> {
  const { signal } = options;
  const run: Run = { ...options, db, id, acted: [], unclear: new Set(), askedAgain: false };
  let end: ChunkEnd = { kind: 'continues' };
  while (end.kind === 'continues') {
    end = signal.aborted ? OVER : await withRetry(() => adoptChunk(run, sites), signal);
  }
  if (end.kind === 'waits') await noteBulkWait(db, id, end.waitsFor, Math.max(WAIT_MS, end.waitMs ?? 0));
  if (run.acted.length > 0) await noteGroupCounts(db);
  const bulk = await findBulk(db, id);
  return bulk && { bulk, acted: run.acted };
}

async function adoptChunk(run: Run, sites: FoundSites): Promise<ChunkEnd> {
  const { db, id, signal } = run;
  const state = (await findBulk(db, id))?.state;
  const feed = state === 'open' ? await nextFeedOfBulk(db, id, '') : undefined;
  if (feed === undefined) return OVER;
  const site = await sites.siteOf(feed);
  if (typeof site === 'string') return { kind: 'waits', waitsFor: site };
  const ids = await nextOfBulk(db, id, feed, CHUNK + run.unclear.size);
  const fresh = ids.filter((entry) => !run.unclear.has(entry));
  if (fresh.length === 0 && !run.askedAgain) return await askAgain(run);
  const from = performance.now();
  const found = await readFoundJobs(db, { ...site, feed });
  const took = performance.now() - from;
  const until = performance.now() + Math.min(MOST_CHUNK_MS, Math.max(LEAST_CHUNK_MS, 10 * took));
  const sure = new Map(found.sure.map((one) => [one.entry, one]));
  const left = new Map(found.left.map(({ entry, message }) => [entry, message]));
  const proof = proofOf(db, site);
  for (const entry of beginningAnywhere(fresh.length === 0 ? ids : fresh)) {
    if (signal.aborted) return OVER;
    const certain = sure.get(entry);
    const checked: CheckedVerdict =
      certain === undefined
        ? { kind: 'refused', message: left.get(entry) ?? NOT_FOUND_NOW }
        : await check(db, certain, site);
    if (checked.kind === 'possible') proof.shows();
    else if (certain !== undefined) {
      const waits = await whyWait(checked, certain.siteJobId, proof);
      if (signal.aborted) return OVER;
      if (waits !== undefined) return waits;
      if ('noClearAnswer' in checked && !run.askedAgain) {
        run.unclear.add(entry);
        // A stop is noticed with the next chunk.
        if (performance.now() > until) break;
        continue;
      }
    }
    crossStep('found-checked');
    const end = await db.transaction((tx) => record(tx, { id, feed, entry }, checked));
    if (end === 'over') return OVER;
    crossStep('found-adopted');
    // The feed has another name now, or another process has recorded it.
    if (end === 'not to do') break;
    if (end === 'adopted') run.acted.push({ id: entry, feed });
    const bulk = await findBulk(db, id);
    if (bulk !== undefined) run.onProgress?.(bulk, undefined);
    if (performance.now() > until) break;
  }
  return { kind: 'continues' };
}

/** A restart of the site, or an answer that is lost now and then, must not leave a job alone. */
async function askAgain(run: Run): Promise<ChunkEnd> {
  const waitMs = run.askAgainMs ?? WAIT_MS;
  await noteBulkWait(run.db, run.id, ASKED_AGAIN, waitMs);
  await pause(waitMs, run.signal);
  run.askedAgain = true;
  run.unclear.clear();
  return { kind: 'continues' };
}

/** Why the whole action waits instead of leaving one job alone; `undefined`: the reason is the job's own. */
async function whyWait(checked: VerdictRefused, job: SiteJobId, proof: Proof): Promise<ChunkEnd | undefined> {
  if (checked.absent === true) {
    return (await proof.showsOthers(job)) === false ? { kind: 'waits', waitsFor: SHOWS_NONE } : undefined;
  }
  if (!('noClearAnswer' in checked)) return undefined;
  const { noClearAnswer: error, message: waitsFor } = checked;
  const waitMs = error instanceof NotShownError ? error.retryAfterMs : undefined;
  const isOfSite = error instanceof NotShownError && (waitMs !== undefined || [401, 429, 503].includes(error.status));
  return isOfSite || (await proof.showsOthers(job)) !== true ? { kind: 'waits', waitsFor, waitMs } : undefined;
}

interface Proof {
  /** It has just shown one. */
  shows(): void;
  /** Whether the site shows one of the other jobs that should be there; `undefined`: none is known. */
  showsOthers(than: SiteJobId): Promise<boolean | undefined>;
}

/** What the site shows just now, which one answer about one job does not tell. */
function proofOf(db: Database, { site, ask }: FoundSite): Proof {
  let shownAt = Number.NEGATIVE_INFINITY;
  const shows = () => {
    shownAt = performance.now();
  };
  return {
    shows,
    async showsOthers(than) {
      if (performance.now() - shownAt < LEAST_CHUNK_MS) return true;
      const isShown = await showsOther({ db, site, ask }, than);
      if (isShown === true) shows();
      return isShown;
    },
  };
}

/** A job about which a site without any other job of ours never tells must not keep the others from being reached. */
function beginningAnywhere<One>(all: readonly One[]): One[] {
  const at = Math.floor(Math.random() * all.length);
  return [...all.slice(at), ...all.slice(0, at)];
}

const check = (
  db: Database,
  { entry, siteJobId, by }: FoundEntry,
  { ask, referenceField, places, policy }: FoundSite,
) =>
  checkVerdict(
    db,
    entry,
    { kind: 'exists', siteJobId, anyway: false, exactly: by },
    { site: { client: { show: ask }, referenceField, ...(places && { places }) }, policyOf: () => policy ?? 'mirror' },
  );

/** Adopts the job, or records why it is left alone, unless another process has done so or a person stopped the action. */
async function record(
  tx: Transaction,
  { id, feed, entry }: { readonly id: number; readonly feed: FeedName; readonly entry: number },
  checked: CheckedVerdict,
): Promise<'adopted' | 'left' | 'not to do' | 'over'> {
  const bulk = await lockBulk(tx, id);
  if (bulk?.state !== 'open') return 'over';
  await lockOutcomesShared(tx, [feed]);
  if (!(await isYetToDo(tx, id, feed, entry))) return 'not to do';
  const isUnaltered = (await lockUnaltered(tx, bulk, [entry])).has(entry);
  const by = { actor: bulk.actor, bulk: id };
  const why = isUnaltered ? await adoptWithin(tx, entry, checked, by) : CHANGED_SINCE_SELECTED;
  const [done, skipped] = why === undefined ? [[entry], []] : [[], [{ entry, why }]];
  await recordBatch(tx, id, { done, remaining: 0, skipped });
  return why === undefined ? 'adopted' : 'left';
}

/** Returns why the job was not adopted. */
async function adoptWithin(
  tx: Transaction,
  entry: number,
  checked: CheckedVerdict,
  by: { readonly actor: string; readonly bulk: number },
): Promise<string | undefined> {
  if (checked.kind === 'refused') return checked.message;
  return whyUnresolved(await resolveDoubtWithin(tx, entry, checked.doubt.attempt.token, checked.verdict, by));
}
