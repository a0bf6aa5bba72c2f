// Adopts the site jobs that a search found for creates in doubt, one after the other. The site is asked about each before the
// transaction that adopts it and records the progress, so each is adopted exactly once, however often this is stopped and continued.
import type { FeedName, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { NotShownError, type SiteJob } from '../../site/exchange.ts';
import type { ActedEntry } from '../../store/change/act-in-review.ts';
import { resolveDoubtWithin } from '../../store/change/resolve-doubt.ts';
import { lockOutcomesShared } from '../../store/locks/advisory-locks.ts';
import { recentlyAccepted, sampleOfAges } from '../../store/mapping/mapping-sample.ts';
import type { Database, Transaction } from '../../store/postgres/database.ts';
import { withRetry } from '../../store/postgres/with-retry.ts';
import {
  findBulk,
  isToDo,
  lockBulk,
  lockUnaltered,
  nextFeedOfBulk,
  nextOfBulk,
  noteBulkWait,
  recordBatch,
} from '../../store/review/bulk-actions.ts';
import type { FoundEntry } from '../../store/review/found-entries.ts';
import { noteGroupCounts } from '../../store/review/group-history.ts';
import { crossStep } from '../../telemetry/steps.ts';
import { readFoundJobs } from '../adopt-found.ts';
import { type CheckedVerdict, checkVerdict } from '../check-verdict.ts';
import { learnFrom, whyUnresolved } from '../resolve-entry.ts';
import type { BulkOptions, BulkRun } from './run-bulk.ts';
import { ALTERED, NOT_FOUND_NOW } from './words.ts';

/** The site of a feed. */
export interface FoundSite {
  readonly site: SiteName;
  readonly referenceField: string;
  /** Asks for a job, within the site's rate; `undefined`: the site says that it does not exist. Throws if it gave no clear answer. */
  ask(id: SiteJobId): Promise<SiteJob | undefined>;
}

export interface FoundSites {
  /** The site of the feed, or why it can't be asked now. */
  siteOf(feed: FeedName): Promise<FoundSite | string>;
}

/** After so many entries, or this time, what is certain is read again, and whether the site may be asked. */
const CHUNK = 1_000;
const CHUNK_MS = 30_000;
/** How long it waits for a site. */
const WAIT_MS = 15_000;

type ChunkEnd =
  | { readonly kind: 'continues' }
  /** Nothing is left to do, or a person stopped it. */
  | { readonly kind: 'over' }
  | { readonly kind: 'waits'; readonly waitsFor: string; readonly waitMs?: number | undefined };

const OVER: ChunkEnd = { kind: 'over' };

/**
 * Carries out the action until it is done, a person stops it, `signal` is aborted, or the site can't be asked: then the action says
 * what it waits for, and goes on the next time.
 */
export async function adoptFoundJobs(
  db: Database,
  id: number,
  sites: FoundSites,
  options: Pick<BulkOptions, 'signal' | 'onProgress'>,
): Promise<BulkRun | undefined> {
  const { signal } = options;
  const acted: ActedEntry[] = [];
  let end: ChunkEnd = { kind: 'continues' };
  while (end.kind === 'continues') {
    end = signal.aborted ? OVER : await withRetry(() => adoptChunk(db, id, sites, options, acted), signal);
  }
  if (end.kind === 'waits') await noteBulkWait(db, id, end.waitsFor, Math.max(WAIT_MS, end.waitMs ?? 0));
  if (acted.length > 0) await noteGroupCounts(db);
  const bulk = await findBulk(db, id);
  return bulk && { bulk, acted };
}

async function adoptChunk(
  db: Database,
  id: number,
  sites: FoundSites,
  { signal, onProgress }: Pick<BulkOptions, 'signal' | 'onProgress'>,
  acted: ActedEntry[],
): Promise<ChunkEnd> {
  const until = performance.now() + CHUNK_MS;
  const state = (await findBulk(db, id))?.state;
  const feed = state === 'open' ? await nextFeedOfBulk(db, id, '') : undefined;
  if (feed === undefined) return OVER;
  const site = await sites.siteOf(feed);
  if (typeof site === 'string') return { kind: 'waits', waitsFor: site };
  const ids = await nextOfBulk(db, id, feed, CHUNK);
  const found = await readFoundJobs(db, feed, site.referenceField);
  const sure = new Map(found.sure.map((one) => [one.entry, one]));
  const left = new Map(found.left.map(({ entry, message }) => [entry, message]));
  for (const entry of beginningAnywhere(ids)) {
    if (signal.aborted) return OVER;
    const certain = sure.get(entry);
    const checked: CheckedVerdict =
      certain === undefined
        ? { kind: 'refused', message: left.get(entry) ?? NOT_FOUND_NOW }
        : await check(db, certain, site);
    if (checked.kind === 'refused' && checked.noClearAnswer !== undefined) {
      const { message: waitsFor, noClearAnswer } = checked;
      const isOwn = !signal.aborted && (await isOwnTrouble(db, site, certain?.siteJobId, noClearAnswer));
      if (signal.aborted) return OVER;
      const waitMs = noClearAnswer instanceof NotShownError ? noClearAnswer.retryAfterMs : undefined;
      if (!isOwn) return { kind: 'waits', waitsFor, waitMs };
    }
    crossStep('found-checked');
    const end = await db.transaction((tx) => record(tx, { id, feed, entry }, checked));
    if (end === 'over') return OVER;
    crossStep('found-adopted');
    if (end === 'adopted') {
      acted.push({ id: entry, feed });
      if (checked.kind === 'possible') await learnFrom(db, checked.doubt, checked.shown);
    }
    const bulk = await findBulk(db, id);
    if (bulk !== undefined) onProgress?.(bulk, undefined);
    if (performance.now() > until) break;
  }
  return { kind: 'continues' };
}

/** A job about which a site without any other job of ours never tells must not keep the others from being reached. */
function beginningAnywhere<One>(all: readonly One[]): One[] {
  const at = Math.floor(Math.random() * all.length);
  return [...all.slice(at), ...all.slice(0, at)];
}

const check = (db: Database, { entry, siteJobId }: FoundEntry, { ask, referenceField }: FoundSite) =>
  checkVerdict(
    db,
    entry,
    { kind: 'exists', siteJobId, anyway: false, exactly: true },
    { site: { client: { show: ask }, referenceField } },
  );

/** Whether the site tells about other jobs of ours, so that waiting for it would be in vain. */
async function isOwnTrouble(
  db: Database,
  { site, ask }: FoundSite,
  own: SiteJobId | undefined,
  error: unknown,
): Promise<boolean> {
  if (own === undefined || (error instanceof NotShownError && [401, 429].includes(error.status))) return false;
  const other = (await recentlyAccepted(db, site, own))[0] ?? (await sampleOfAges(db, site, own))[0];
  return (
    other !== undefined &&
    (await ask(other).then(
      (shown) => shown !== undefined,
      () => false,
    ))
  );
}

/** Adopts the job, or records why it is left alone, unless another process has done so or a person stopped the action. */
async function record(
  tx: Transaction,
  { id, feed, entry }: { readonly id: number; readonly feed: FeedName; readonly entry: number },
  checked: CheckedVerdict,
): Promise<'adopted' | 'left' | 'over'> {
  const bulk = await lockBulk(tx, id);
  if (bulk?.state !== 'open') return 'over';
  await lockOutcomesShared(tx, [feed]);
  if (!(await isToDo(tx, id, feed, entry))) return 'left';
  const isUnaltered = (await lockUnaltered(tx, bulk, [entry])).has(entry);
  const by = { actor: bulk.actor, bulk: id };
  const why = isUnaltered ? await adoptWithin(tx, entry, checked, by) : ALTERED;
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
