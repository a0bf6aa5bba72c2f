// `jobmirror start`: runs the schedules and the workers, and serves /healthz and /metrics, until stopped; takes changes of the
// configuration over.
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { tell } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { type App, expectSecrets, openAppFor, readConfig, withoutFeedsLackingSecrets } from '../../runtime/app.ts';
import { type Engine, startEngine } from '../../runtime/engine.ts';
import { chooseFeeds, feedSetups, unsentChangesOfRemovedFeeds } from '../../runtime/feed-setups.ts';
import { answeredWithinMs, hasNoFeedYet, reloadingRun, startReloading } from '../../runtime/reload.ts';
import { startRetention } from '../../runtime/retention.ts';
import { startAlerts } from '../../runtime/run-alerts.ts';
import type { Schedules } from '../../runtime/schedule/scheduled-runs.ts';
import { startScheduledVerify } from '../../runtime/schedule/scheduled-verify.ts';
import { runSchedules } from '../../runtime/schedule/schedules.ts';
import { STOP_WITHIN_MS, type StopSignal, stopSignal, UserError, unlessStopped } from '../../runtime/stop-signal.ts';
import { isOpen } from '../../web/visitor.ts';
import { CONFIG, commandWriter } from '../adapter/command-line.ts';
import { actionWriter } from '../adapter/write-action.ts';
import { serveWeb, type WebServer } from '../serve-web.ts';

const SECRETS = ['sites', 'queue', 'web', 'metrics', 'alerts'] as const;

export function startCommand(): Command {
  return new Command('start').option(...CONFIG).action(async (options: { config?: string }) => {
    const config = withoutFeedsLackingSecrets(await readConfig(options));
    expectSecrets(config, SECRETS);
    const isEmpty = hasNoFeedYet(config);
    const { setups, broken } = isEmpty ? { setups: [], broken: [] } : chooseFeeds(config, []);
    if (setups.length === 0 && !isEmpty)
      throw new UserError(broken.map(({ feed, message }) => `feed ${feed}: ${message}`).join('\n'));
    const stopping = stopSignal(undefined, { reloads: true });
    const opening = openAppFor(config, {
      waitSignal: stopping.signal,
      json: true,
      writeAction: actionWriter(commandWriter(options.config)),
    });
    const app = await unlessStopped(stopping, opening);
    if (app === undefined) return stopping.release();
    for (const { feed, message } of broken)
      app.log.error({ feed, reason: message }, 'feed skipped, the others continue');
    try {
      await runUntilStopped(app, setups, stopping, options.config);
    } finally {
      await app.close();
      stopping.release();
    }
  });
}

/** What runs with one configuration. */
interface Parts {
  /** Stops all of them; what runs ends within the time, or is cut off. */
  stop(graceMs: number): Promise<void>;
  /**
   * Stops all but pulls that run, which end as they began. Nothing is cut off that a site answers in time.
   * @param onEnded called when these pulls have ended
   */
  leave(onEnded: () => void): Promise<void>;
  readonly pulls: Left;
}

/** Pulls that a former configuration began. */
type Left = Pick<Schedules, 'isPulling' | 'stop'>;

/** Stops every part that was started, even if a later one fails to start: an idle process must not linger. */
async function runUntilStopped(app: App, setups: readonly FeedSetup[], stopping: StopSignal, path: string | undefined) {
  if (stopping.signal.aborted) return;
  const { web } = app.config;
  const ends: (() => Promise<void>)[] = [];
  const left = new Set<Left>();
  const isLeft = (feed: FeedName) => [...left].some(({ isPulling }) => isPulling(feed));
  let parts: Parts | undefined;
  const run = reloadingRun(stopping, app.log);
  let endReplacing = async (): Promise<void> => undefined;
  try {
    const server = await serveWeb(app);
    ends.push(() => server.stop(STOP_WITHIN_MS));
    const engine = presentEngine();
    const begin = (using: App, pulled: readonly FeedSetup[]) =>
      startParts(using, {
        engine,
        server,
        setups: pulled,
        signal: stopping.signal,
        cutOff: run.cutOff,
        isPulled: isLeft,
      });
    parts = await begin(app, setups);
    let present = { app, setups };
    const reloading = await startReloading(app, {
      command: 'start',
      path,
      secrets: SECRETS,
      hangUps: stopping.hangUps,
      fail: run.fail,
      async replace(next) {
        const following = { app: next, setups: setupsOf(next.config) };
        if (parts !== undefined) {
          const { pulls } = parts;
          left.add(pulls);
          await parts.leave(() => left.delete(pulls));
        }
        parts = undefined;
        await run.beginOr(following, present, async (using) => {
          await server.replace(using.app, STOP_WITHIN_MS);
          if (!stopping.signal.aborted) parts = await begin(using.app, using.setups);
          present = using;
        });
      },
    });
    endReplacing = () => reloading.endReplacing();
    ends.push(() => reloading.stop());
    if (web.served && isOpen(web))
      app.log.info('pages and API are open to everyone on this machine; web.users and web.tokens protect them');
    for (const message of await unsentChangesOfRemovedFeeds(app)) app.log.warn(tell(message, app.writeAction));
    app.log.info({ feeds: setups.length, sites: [...engine.siteContexts.keys()], health: server.url }, 'started');
    await run.ended();
  } finally {
    await endReplacing();
    // In parallel: all parts share one deadline.
    await Promise.all([
      ...ends.map((end) => end()),
      parts?.stop(STOP_WITHIN_MS),
      ...[...left].map((pulls) => pulls.stop(STOP_WITHIN_MS)),
    ]);
  }
}

const setupsOf = (config: Config): readonly FeedSetup[] => (hasNoFeedYet(config) ? [] : feedSetups(config, []));

/** The engine of the present configuration, also for a pull that a former one began. */
function presentEngine(): Engine & { begin(engine: Engine): void } {
  let present: Engine | undefined;
  const get = (): Engine => {
    if (present === undefined) throw new Error('nothing is sent yet');
    return present;
  };
  return {
    begin(engine) {
      present = engine;
    },
    get backend() {
      return get().backend;
    },
    get self() {
      return get().self;
    },
    get siteContexts() {
      return get().siteContexts;
    },
    queueCounts: () => get().queueCounts(),
    wake: () => get().wake(),
    stop: (graceMs) => get().stop(graceMs),
  };
}

interface Around {
  readonly engine: ReturnType<typeof presentEngine>;
  readonly server: WebServer;
  readonly setups: readonly FeedSetup[];
  /** Ends running pulls. */
  readonly signal: AbortSignal;
  /** Cuts off what `leave` waits for. */
  readonly cutOff: AbortSignal;
  /** Whether a pull of the feed runs that a former configuration began. */
  readonly isPulled: (feed: FeedName) => boolean;
}

/** If a part can't be started, those before are stopped. */
async function startParts(app: App, { engine, server, setups, signal, cutOff, isPulled }: Around): Promise<Parts> {
  const ends: ((graceMs: number, cutOff?: AbortSignal) => Promise<unknown>)[] = [];
  const stop = async (graceMs: number): Promise<void> => {
    await Promise.all(ends.map((end) => end(graceMs)));
  };
  try {
    const sending = await startEngine(app, undefined, 'start');
    ends.push(sending.stop);
    engine.begin(sending);
    server.begin(engine, setups, signal);
    const schedules = await runSchedules(app, engine, setups, signal, isPulled);
    const others = [...ends];
    ends.push(schedules.stop);
    const verifying = startScheduledVerify(app, engine);
    const alerts = await startAlerts(app);
    const retention = startRetention(app);
    for (const end of [verifying.stop, alerts.stop, retention.stop]) {
      ends.push(end);
      others.push(end);
    }
    return {
      stop,
      pulls: schedules,
      async leave(onEnded) {
        // First: what is begun now would begin with the former configuration, and adoptions need the connections to the sites until
        // they end.
        await Promise.all([schedules.leave(onEnded), server.leave(STOP_WITHIN_MS)]);
        await Promise.all(others.map((end) => end(answeredWithinMs(app.config), cutOff)));
      },
    };
  } catch (error) {
    await server.leave(STOP_WITHIN_MS);
    await stop(0);
    throw error;
  }
}
