// Verifies feeds on schedule beside everything else: with any number of processes, each run is done once, and is continued after a stop.

import { readUntilPaused } from '../../apply/maintain-backlog.ts';
import { askForJob } from '../../apply/show-job.ts';
import type { SiteContext } from '../../apply/site-context.ts';
import type { FeedConfig, SiteConfig, VerifySettings } from '../../config/config.ts';
import { endsWithin, startRounds } from '../../flow/pause.ts';
import type { RateLimiter } from '../../flow/rate-limiter.ts';
import { createOnlyOf } from '../../plan/desired-change.ts';
import { tell } from '../../plan/message.ts';
import { updatesJobs } from '../../plan/policy.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { verifyFeed } from '../../review/jobs/verify-feed.ts';
import type { VerifySubject } from '../../review/jobs/verify-site.ts';
import type { SiteClient } from '../../site/exchange.ts';
import {
  endVerify,
  giveBackVerify,
  noteVerified,
  setVerifySchedules,
  takeVerifyRuns,
  type VerifyRun,
} from '../../store/feed/feed-verify.ts';
import { readPausesOf } from '../../store/locks/pauses.ts';
import type { Database } from '../../store/postgres/database.ts';
import { readSiteState, stateAt } from '../../store/site/site-state.ts';
import type { App } from '../app.ts';
import type { Engine } from '../engine.ts';
import { nextRun } from './next-run.ts';

export interface VerifyRuns {
  /** Stops running ones; they are continued by another process, or the next time. */
  stop(graceMs: number): Promise<void>;
}

/** Feeds that one process verifies at a time: each holds a database connection. */
const MOST_AT_ONCE = 2;
/** Delay before a run is tried again whose site is paused, or that failed by itself. */
const AGAIN_AFTER_MS = 60_000;
/** Who acts, for the audit. */
const ACTOR = 'verify schedule';

/** @param everyMs how often to look for due runs */
export function startScheduledVerify(app: App, engine: Engine, everyMs = 5_000): VerifyRuns {
  const { config, db, log } = app;
  const { worker } = engine.self;
  const stopping = new AbortController();
  const running = new Map<FeedName, Promise<void>>();
  const notBefore = new Map<FeedName, number>();
  const feeds = [...config.feeds.values()].filter(
    (feed): feed is ScheduledFeed => feed.verify !== undefined && engine.siteContexts.has(feed.siteName),
  );
  if (feeds.length === 0) return { stop: async () => undefined };
  const schedules = feeds.map(({ name, verify, timeZone }) => ({ feed: name, pattern: verify.schedule, timeZone }));

  async function look(): Promise<void> {
    try {
      await setVerifySchedules(db, schedules, nextRun);
      const able = feeds.filter(({ name }) => !running.has(name) && (notBefore.get(name) ?? 0) <= performance.now());
      const names = able.map(({ name }) => name);
      for (const run of await takeVerifyRuns(db, worker, names, MOST_AT_ONCE - running.size)) begin(run);
    } catch (error) {
      log.warn({ err: error }, 'schedules of verify not checked, will retry');
    }
  }

  function begin(run: VerifyRun): void {
    const feed = feeds.find(({ name }) => name === run.feed) as ScheduledFeed;
    const work = verifyOne(feed, run)
      .catch(async (error: unknown) => {
        notBefore.set(run.feed, performance.now() + AGAIN_AFTER_MS);
        if (!stopping.signal.aborted) log.error({ err: error, feed: run.feed }, 'verify failed, will be continued');
        await giveBackVerify(db, worker, run.feed);
      })
      .catch((error: unknown) => log.warn({ err: error, feed: run.feed }, 'run of verify not given back yet'))
      .finally(() => running.delete(run.feed));
    running.set(run.feed, work);
  }

  async function verifyOne(feed: ScheduledFeed, run: VerifyRun): Promise<void> {
    const siteContext = engine.siteContexts.get(feed.siteName) as SiteContext;
    const { pausedSince, address } = stateAt(
      siteContext.address,
      await readSiteState(db, siteContext.site, siteContext.tokenDigest),
    );
    // At a former address of the site it would compare outdated copies of the jobs.
    const isElsewhere = address !== undefined && address !== siteContext.address;
    const isPaused = (await readPausesOf(db, { site: siteContext.site })).length > 0;
    if (pausedSince !== undefined || isElsewhere || isPaused) {
      notBefore.set(feed.name, performance.now() + AGAIN_AFTER_MS);
      return giveBackVerify(db, worker, feed.name);
    }
    const site = app.config.sites.get(feed.siteName) as SiteConfig;
    const verified = await readUntilPaused(siteContext, stopping.signal, (signal) =>
      verifyFeed({
        run,
        settings: updatesJobs(feed.policy) ? feed.verify : { ...feed.verify, ...NOT_SET_AGAIN },
        hasList: siteContext.policy.canList,
        actor: ACTOR,
        // Requests are within the rate of everything that this process sends to the site.
        subject: verifySubjectOf(db, site, [{ feed: feed.name, mapping: feed.mapping }], { ...siteContext, signal }),
        onPortion: (after, soFar) => noteVerified(db, worker, feed.name, after, soFar),
        say: (message) => tell(message, app.writeAction),
      }),
    );
    if (verified.kind === 'paused') {
      notBefore.set(feed.name, performance.now() + AGAIN_AFTER_MS);
      return giveBackVerify(db, worker, feed.name);
    }
    const { result } = verified;
    if (result === undefined) return;
    stopping.signal.throwIfAborted();
    const schedule = { feed: feed.name, pattern: feed.verify.schedule, timeZone: feed.timeZone };
    await endVerify(db, worker, schedule, result, nextRun);
    const level = result.left > 0 || result.message !== undefined ? 'warn' : 'info';
    log[level]({ feed: feed.name, ...result }, 'jobs verified');
  }

  const rounds = startRounds(look, { everyMs });
  return {
    async stop(graceMs) {
      stopping.abort();
      await rounds.stop();
      await endsWithin(Promise.all(running.values()), graceMs);
    },
  };
}

/** For a feed whose policy changes no job. */
const NOT_SET_AGAIN = { changed: 'review', gone: 'review', fields: {} } as const;

type ScheduledFeed = FeedConfig & { readonly verify: VerifySettings };

// What verifying feeds of a site works with, for commands and for schedules.

interface VerifiedFeed extends Pick<FeedSetup, 'mapping'> {
  readonly feed: FeedName;
}

type Connection = {
  readonly client: SiteClient;
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
};

/** @param feeds of the site, at least one */
export function verifySubjectOf(
  db: Database,
  site: SiteConfig,
  feeds: readonly VerifiedFeed[],
  { client, rateLimiter, signal }: Connection,
): Omit<VerifySubject, 'selection' | 'keepsDrift' | 'onFinding'> & { readonly client: SiteClient } {
  const [{ mapping }] = feeds as readonly [VerifiedFeed];
  return {
    db,
    site: site.name,
    feeds: feeds.map(({ feed }) => feed),
    referenceField: site.options.referenceField,
    stateField: mapping.stateField.name,
    states: mapping.states,
    only: undefined,
    createOnly: new Map(feeds.map((each) => [each.feed, createOnlyOf(each.mapping)])),
    client,
    ask: (id) => askForJob({ site, client, rateLimiter, signal }, id),
    rateLimiter,
    signal,
  };
}
