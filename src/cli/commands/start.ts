// `jobmirror start`: runs the schedules and the workers, and serves /healthz and /metrics, until stopped.
import { Command } from 'commander';
import { leftBehind } from '../../operations/status.ts';
import { tell } from '../../plan/message.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';
import { startAlerts } from '../../runtime/alerts/run-alerts.ts';
import { type App, expectSecrets, leavingOutAbsent, openAppFor, readConfig } from '../../runtime/app.ts';
import { startEngine } from '../../runtime/engine.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { chooseFeeds } from '../../runtime/feed-setups.ts';
import { startRetention } from '../../runtime/retention.ts';
import { startScheduledVerify } from '../../runtime/schedule/scheduled-verify.ts';
import { runSchedules } from '../../runtime/schedule/schedules.ts';
import { STOP_WITHIN_MS, type StopSignal, stopSignal, unlessStopped } from '../../runtime/stop-signal.ts';
import { isOpen } from '../../web/access/visitor.ts';
import { commandWriter } from '../adapter/command-line.ts';
import { actionWriter } from '../adapter/write-action.ts';
import { serveWeb } from '../serve-web.ts';

export function startCommand(): Command {
  return new Command('start')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .action(async (options: { config?: string }) => {
      const config = leavingOutAbsent(await readConfig(options));
      expectSecrets(config, ['sites', 'queue', 'web', 'metrics', 'alerts']);
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
    const { web } = app.config;
    const server = await serveWeb(app);
    ends.push(() => server.stop(STOP_WITHIN_MS));
    const engine = await startEngine(app, undefined, 'start');
    ends.push(() => engine.stop(STOP_WITHIN_MS));
    server.begin(engine, setups, stopping.signal);
    const schedules = await runSchedules(app, engine, setups, stopping.signal);
    ends.push(() => schedules.stop(STOP_WITHIN_MS));
    const verifying = startScheduledVerify(app, engine);
    ends.push(() => verifying.stop(STOP_WITHIN_MS));
    const alerts = await startAlerts(app);
    ends.push(() => alerts.stop(STOP_WITHIN_MS));
    const retention = startRetention(app);
    ends.push(() => retention.stop());
    if (web.served && isOpen(web))
      app.log.info('pages and API are open to everyone on this machine; web.users and web.tokens protect them');
    for (const message of await leftBehind(app)) app.log.warn(tell(message, app.writeAction));
    app.log.info({ feeds: setups.length, sites: [...engine.siteContexts.keys()], health: server.url }, 'started');
    await stopping.stopped;
  } finally {
    // In parallel: all parts share one deadline.
    await Promise.all(ends.map((end) => end()));
  }
}
