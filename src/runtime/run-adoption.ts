// Carries out one matching in the background: reads site and feed, adopts what a person accepted as far as it is still so, and stores
// what else was found.
import { endsWithin, startRounds } from '../flow/pause.ts';
import { type Message, tell } from '../plan/message.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../posting/identifiers.ts';
import { matchJobs } from '../review/jobs/match-jobs.ts';
import {
  type AdoptOneEnd,
  adoptNamed,
  adoptSure,
  type NamedPosting,
  otherVersion,
  postingVersion,
  proposalOf,
} from '../review/jobs/proposals.ts';
import { searchFeedAgain } from '../store/change/site-search.ts';
import {
  type AdoptRunEnd,
  beginAdoptRun,
  endAdoptRun,
  findProposal,
  noteAdoptProgress,
  type Refusal,
  readAdoptRun,
  removeDecided,
  storeProposals,
  sureProposals,
} from '../store/mapping/adopt-proposals.ts';
import { JobMatching, type MatchCounts } from '../store/mapping/job-matching.ts';
import { crossStep } from '../telemetry/times.ts';
import type { App } from './app.ts';
import type { Engine } from './engine.ts';
import { type Adopting, matchNotes, withAdopting } from './open-adopting.ts';
import { UserError } from './stop-signal.ts';

interface RunningAdoption {
  readonly actor: string;
  readonly run: number;
  readonly progress: () => { readonly worker: number; readonly text: string | undefined };
  /** Called before the end is stored, and so before anybody can see it. */
  readonly onEnd: () => void;
}

const NOTED_EVERY_MS = 1_000;

/** How the run ended is stored; nothing is thrown. The caller holds the feed's pull lock. */
async function runAdoption(
  app: App,
  adopting: Adopting,
  request: AdoptionRequest,
  running: RunningAdoption,
): Promise<void> {
  const { db, log } = app;
  const { feed } = adopting;
  const { run, actor, progress } = running;
  const noting = startRounds(
    async () => {
      const { worker, text } = progress();
      await noteAdoptProgress(db, { feed, run, worker }, text).catch(() => undefined);
    },
    { firstAfterMs: NOTED_EVERY_MS, everyMs: NOTED_EVERY_MS },
  );
  const done: Done = { adopted: 0, refusals: [] };
  let end: AdoptRunEnd;
  try {
    await carryOut(app, adopting, request, running, done);
    end = { state: 'done', ...done };
  } catch (error) {
    const isStopped = adopting.subject.signal.aborted;
    if (!isStopped && !(error instanceof UserError)) log.error({ err: error, feed, run }, 'matching jobs failed');
    end = isStopped
      ? { state: 'interrupted', ...done }
      : { state: 'failed', message: (error as Error).message, ...done };
  }
  await noting.stop();
  crossStep('matching-done');
  // Also a run that did not end may have adopted some of what is still proposed.
  await removeDecided(db, feed).catch(() => undefined);
  running.onEnd();
  await endAdoptRun(db, feed, run, end).catch((error: unknown) =>
    log.warn({ err: error, feed, run }, 'the end of matching jobs could not be stored'),
  );
  const { state, adopted, refusals } = end;
  log.info(
    { feed, run, actor, asked: request.decision, state, adopted, refused: refusals.length },
    'matching jobs ended',
  );
}

interface Done {
  adopted: number;
  refusals: readonly Refusal[];
}

function carryOut(
  app: App,
  adopting: Adopting,
  request: AdoptionRequest,
  running: RunningAdoption,
  done: Done,
): Promise<void> {
  switch (request.decision) {
    case 'named':
      return carryOutNamed(app, adopting, request, running, done);
    case 'match':
      return match(app, adopting, undefined, running, done);
    case 'sure':
      return match(app, adopting, 'sure', running, done);
    default:
      return request satisfies never;
  }
}

async function carryOutNamed(
  app: App,
  adopting: Adopting,
  request: NamedRequest,
  { actor }: RunningAdoption,
  done: Done,
): Promise<void> {
  const end = await adoptAsNamed(app, adopting, request, actor);
  const { key, job_id: siteJobId } = request;
  if (end.kind === 'refused') done.refusals = [{ key, siteJobId, message: end.message }];
  else done.adopted = 1;
}

/** What a matching has found, beside its verdicts. */
interface Matched {
  /** When the reading of the list began, by the database's clock. */
  readonly since: Date;
  /** Of the feed's source; `undefined` if it has none. */
  readonly version: string | undefined;
  readonly counts: MatchCounts;
  /** What people should know of it. */
  readonly notes: readonly string[];
}

/**
 * Compares the jobs of the site with the postings of the feed, and hands over what was found.
 * @throws {UserError} if one of the two could not be read
 */
export async function withMatches(
  app: App,
  adopting: Adopting,
  use: (matching: JobMatching, matched: Matched) => Promise<void>,
): Promise<void> {
  const matching = await JobMatching.open(app.db);
  try {
    const end = await matchJobs(matching, adopting.subject);
    if (end.kind === 'failed') throw new UserError(`${tell(end.message, app.writeAction)}. Nothing was adopted`);
    const counts = await matching.count();
    await use(matching, { ...end, counts, notes: await matchNotes(app, adopting, end.shortfalls) });
  } finally {
    await matching.close();
  }
}

/** Compares anew. Of the certain matches that were shown, those that are certain again are adopted if `accepted`. */
const match = (
  app: App,
  adopting: Adopting,
  accepted: 'sure' | undefined,
  running: RunningAdoption,
  done: Done,
): Promise<void> =>
  withMatches(app, adopting, async (matching, { since, version, counts, notes }) => {
    const { feed, site, subject } = adopting;
    if (accepted === 'sure') {
      await adoptShown(matching, adopting, { actor: running.actor, since }, done);
      // A job that could not be told must not be made a second time by the next pull.
      if (counts.unsure + done.refusals.length > 0) await searchFeedAgain(app.db, feed);
    }
    subject.signal.throwIfAborted();
    adopting.checkLock();
    const proposed = { feed, site: site.name, run: running.run, version };
    await storeProposals(matching, proposed, { otherJobs: counts.jobs, notes }, (found) =>
      proposalOf(site.name, found),
    );
    crossStep('proposals-stored');
  });

const NOT_CERTAIN = 'it is no longer certain that this is its job';

async function adoptShown(
  matching: JobMatching,
  { feed, subject, checkLock }: Adopting,
  { actor, since }: { readonly actor: string; readonly since: Date },
  done: Done,
): Promise<void> {
  const shown = await sureProposals(subject.db, feed);
  const again = new Set<PostingKey>();
  const { adopted, refused } = await adoptSure(
    matching,
    {
      ...subject,
      onProgress: (progress) => {
        if (progress.what === 'adopted') done.adopted = progress.done;
        subject.onProgress?.(progress);
      },
    },
    {
      actor,
      since,
      checkLock,
      only({ key, siteJobId }) {
        const isShown = shown.get(key) === siteJobId;
        if (isShown) again.add(key);
        return isShown;
      },
    },
  );
  done.adopted = adopted;
  const messages = new Map(refused.map(({ key, message }) => [key, message]));
  done.refusals = [...shown].flatMap(([key, siteJobId]) => {
    const message = messages.get(key) ?? (again.has(key) ? undefined : NOT_CERTAIN);
    return message === undefined ? [] : [{ key, siteJobId, message }];
  });
}

// Adopts the one job that a person decided about: as it was shown, or as it is now if the person named posting and job.

type NamedRequest = Extract<AdoptionRequest, { decision: 'named' }>;

/** @throws {UserError} if the feed cannot be read */
export async function adoptAsNamed(
  app: App,
  adopting: Adopting,
  { key, job_id: siteJobId, anyway = false, version }: Omit<NamedRequest, 'decision'>,
  actor: string,
): Promise<AdoptOneEnd> {
  const { site, subject, checkLock } = adopting;
  const found = await readPosting(app, adopting, key, version);
  const now = found && postingVersion(site.name, found);
  if (version !== undefined && now !== undefined && now !== version)
    return { kind: 'refused', message: otherVersion(version, now), mayInsist: false };
  checkLock();
  return adoptNamed(subject, found, { key, siteJobId, anyway }, actor);
}

/** As it was shown, if the feed still has that record, which takes no plan of the whole feed; otherwise as the feed has it now. */
async function readPosting(
  app: App,
  { feed, subject, stillAsRead }: Adopting,
  key: PostingKey,
  version: string | undefined,
): Promise<NamedPosting | undefined> {
  const expectRead = ({ message }: { readonly kind: string; readonly message?: Message }) => {
    if (message !== undefined) throw new UserError(tell(message, app.writeAction));
  };
  const shown = version === undefined ? undefined : await findProposal(app.db, feed, key);
  if (shown?.fields !== undefined && shown.recordHash !== undefined) {
    const end = await stillAsRead({ recordHash: shown.recordHash, version: shown.feedVersion });
    expectRead(end);
    if (end.kind === 'same') return { key, fields: shown.fields };
  }
  let found: NamedPosting | undefined;
  const read = await subject.readPostings(async (postings) => {
    found ??= postings.find((posting) => posting.key === key);
  });
  expectRead(read);
  return found;
}

/** What somebody asks for. */
export type AdoptionRequest =
  /** To compare anew, and adopt nothing. */
  | { readonly decision: 'match' }
  /** To adopt the certain matches that were shown. @param mark of them */
  | { readonly decision: 'sure'; readonly mark: string }
  /** To adopt one job. */
  | {
      readonly decision: 'named';
      readonly key: PostingKey;
      readonly job_id: SiteJobId;
      /** Even if it seems to be another job, or another posting's. */
      readonly anyway?: boolean | undefined;
      /** Of the proposal that was shown; absent: the person named both. */
      readonly version?: string | undefined;
    };

export type AdoptionStart =
  | { readonly kind: 'started'; readonly run: number }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: string };

// Matches the jobs of sites with postings, and adopts what people accept, when somebody asks on a page or through the API.

export interface AdoptNow {
  /** Resolves once it runs, or is refused. */
  begin(feed: FeedName, actor: string, request: AdoptionRequest): Promise<AdoptionStart>;
  /** Stops what runs; each posting is adopted, or as it was. */
  stop(graceMs: number): Promise<void>;
}

/** Each holds several connections to the database. */
const MOST_AT_ONCE = 2;

export function adoptNow(app: App, engine: Engine): AdoptNow {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  /** Adoptions whose end is being stored, so that people see it, and which still hold the lock of their feed. */
  const ended = new Map<FeedName, Promise<void>>();
  const connectionOf = (site: SiteName) => engine.siteContexts.get(site);

  async function run(
    feed: FeedName,
    actor: string,
    request: AdoptionRequest,
    onStart: (start: AdoptionStart) => void,
    onEnd: () => void,
  ): Promise<void> {
    let latest: string | undefined;
    const options = {
      signal: stopping.signal,
      connectionOf,
      onProgress: (progress: string) => {
        latest = progress;
      },
    };
    await withAdopting(app, feed, options, async (adopting) => {
      const refused = await whyNot(app, adopting, request);
      // Answered once the lock is released, so that the next request is not refused because of this one.
      if (refused !== undefined) throw new UserError(refused);
      const { worker } = engine.self;
      const { site } = adopting;
      const detail = detailOf(request);
      const number = await beginAdoptRun(app.db, {
        feed,
        site: site.name,
        actor,
        asked: request.decision,
        worker,
        detail,
      });
      onStart({ kind: 'started', run: number });
      await runAdoption(app, adopting, request, {
        actor,
        run: number,
        progress: () => ({ worker: engine.self.worker, text: latest }),
        onEnd,
      });
    });
  }

  return {
    async begin(feed, actor, request) {
      await ended.get(feed);
      if (stopping.signal.aborted) return { kind: 'refused', message: 'the process is stopping' };
      if (running.size >= MOST_AT_ONCE)
        return { kind: 'refused', message: 'the jobs of other feeds are being matched; try again when that has ended' };
      return new Promise<AdoptionStart>((resolve, reject) => {
        const work = run(feed, actor, request, resolve, () => ended.set(feed, work))
          .catch((error: unknown) => {
            if (error instanceof UserError) return resolve({ kind: 'refused', message: error.message });
            if (!stopping.signal.aborted) app.log.error({ err: error, feed }, 'matching jobs failed');
            reject(error);
          })
          .finally(() => {
            running.delete(work);
            ended.delete(feed);
          });
        running.add(work);
      });
    },
    async stop(graceMs) {
      stopping.abort();
      await endsWithin(Promise.all(running), graceMs);
    },
  };
}

const detailOf = (request: AdoptionRequest): Readonly<Record<string, unknown>> =>
  request.decision === 'named' ? { key: request.key, siteJobId: request.job_id } : {};

const STALE = 'the matches have changed since they were shown; look at them again';

/** Why the request cannot be done, so that nothing is begun. */
async function whyNot({ db }: App, { feed, site }: Adopting, request: AdoptionRequest): Promise<string | undefined> {
  if (request.decision === 'named') {
    if (request.version === undefined) return undefined;
    const proposal = await findProposal(db, feed, request.key);
    const isShown = proposal?.candidates.some(({ siteJobId }) => siteJobId === request.job_id) === true;
    if (proposal === undefined || !isShown) return STALE;
    return proposal.version === request.version ? undefined : otherVersion(request.version, proposal.version);
  }
  if (site.options.listPath === undefined)
    return `site ${site.name} has no list_path, so its jobs cannot be read; set it, or name the job of each posting`;
  if (request.decision === 'match') return undefined;
  const shown = await readAdoptRun(db, feed);
  const isAsShown = shown?.mark === request.mark && shown.matchedSite === site.name && shown.sure > 0;
  return isAsShown ? undefined : STALE;
}
