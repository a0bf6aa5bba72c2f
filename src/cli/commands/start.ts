// `jobmirror start`: runs the schedules and the workers, and serves /healthz and /metrics, until stopped.
import { Command } from 'commander';
import type { Hono } from 'hono';
import { tell } from '../../plan/message.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { startAlerts } from '../../runtime/alerts/run-alerts.ts';
import { type App, openAppFor, readConfig } from '../../runtime/app.ts';
import { startBulkRunner } from '../../runtime/bulk-runner.ts';
import { type Engine, startEngine } from '../../runtime/engine.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { chooseFeeds } from '../../runtime/feed-setups.ts';
import { startHttp } from '../../runtime/http/serve.ts';
import { pullNow } from '../../runtime/pull-now.ts';
import { startRetention } from '../../runtime/retention.ts';
import { runSchedules } from '../../runtime/schedules.ts';
import { STOP_WITHIN_MS, type StopSignal, stopSignal, unlessStopped } from '../../runtime/stop-signal.ts';
import { isOpen } from '../../web/access/visitor.ts';
import { lateControl } from '../../web/control.ts';
import { webRoutes } from '../../web/web-routes.ts';
import { commandWriter } from '../command-line.ts';
import { leftBehind } from '../left-behind.ts';
import { actionWriter } from '../write-action.ts';

export function startCommand(): Command {
  return new Command('start')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .action(async (options: { config?: string }) => {
      const config = await readConfig(options);
      const { setups, broken } = chooseFeeds(config, []);
      if (setups.length === 0)
        throw new UserError(broken.map(({ feed, message }) => `feed ${feed}: ${message}`).join('\n'));
      const stopping = stopSignal();
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
        await runUntilStopped(app, setups, stopping);
      } finally {
        await app.close();
        stopping.release();
      }
    });
}

/** Stops every part that was started, even if a later one fails to start: an idle process must not linger. */
async function runUntilStopped(app: App, setups: readonly FeedSetup[], stopping: StopSignal): Promise<void> {
  if (stopping.signal.aborted) return;
  const ends: (() => Promise<void>)[] = [];
  try {
    let queueCounts: Engine['queueCounts'] = async () => new Map();
    const control = lateControl();
    const { web } = app.config;
    const pages = web.served ? (webRoutes(app, control) as unknown as Hono) : undefined;
    const http = await startHttp(app, () => queueCounts(), pages);
    ends.push(() => http.close());
    const engine = await startEngine(app, undefined, 'start');
    queueCounts = engine.queueCounts;
    ends.push(() => engine.stop(STOP_WITHIN_MS));
    const pulls = pullNow(app, engine, setups, stopping.signal);
    const bulk = startBulkRunner(app, () => engine.wake());
    control.begin({
      pull: (feed) => pulls.pull(feed),
      pullSoon: (feed) => pulls.soon(feed),
      wake: () => engine.wake(),
      bulk: (id) => bulk.begin(id),
    });
    ends.push(
      () => pulls.stop(STOP_WITHIN_MS),
      () => bulk.stop(STOP_WITHIN_MS),
    );
    const schedules = await runSchedules(app, engine, setups, stopping.signal);
    ends.push(() => schedules.stop(STOP_WITHIN_MS));
    const alerts = await startAlerts(app);
    ends.push(() => alerts.stop());
    const retention = startRetention(app);
    ends.push(() => retention.stop());
    if (web.served && isOpen(web))
      app.log.info('pages and API are open to everyone on this machine; web.users and web.tokens protect them');
    for (const message of await leftBehind(app)) app.log.warn(tell(message, app.writeAction));
    app.log.info({ feeds: setups.length, sites: [...engine.siteContexts.keys()], health: http.url }, 'started');
    await stopping.stopped;
  } finally {
    // In parallel: all parts share one deadline.
    await Promise.all(ends.map((end) => end()));
  }
}
