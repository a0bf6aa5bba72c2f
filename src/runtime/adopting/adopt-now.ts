// Matches the jobs of sites with postings, and adopts what people accept, when somebody asks on a page or through the API.
import { endsWithin } from '../../flow/pause.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { otherVersion } from '../../review/adopt/proposals.ts';
import { beginAdoptRun, proposalsOf, readAdoptRun } from '../../store/mapping/adopt-proposals.ts';
import type { App } from '../app.ts';
import type { Engine } from '../engine.ts';
import { UserError } from '../stop-signal.ts';
import { type Adopting, withAdopting } from './open-adopting.ts';
import { type AdoptionRequest, type AdoptionStart, runAdoption } from './run-adoption.ts';

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
    const proposal = (await proposalsOf(db, feed, [request.key])).get(request.key);
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
