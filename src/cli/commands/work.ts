// `jobmirror work`: runs workers only, to add machines to a `start` or `sync` elsewhere; takes changes of the configuration over.
import { Command } from 'commander';
import { type App, expectSecrets, openAppFor, readConfig } from '../../runtime/app.ts';
import { startBulkRunner } from '../../runtime/bulk-runner.ts';
import { startEngine } from '../../runtime/engine.ts';
import { answeredWithinMs, reloadingRun, startReloading } from '../../runtime/reload.ts';
import { startRetention } from '../../runtime/retention.ts';
import { STOP_WITHIN_MS, type StopSignal, stopSignal, unlessStopped } from '../../runtime/stop-signal.ts';
import { CONFIG, commandWriter } from '../adapter/command-line.ts';
import { actionWriter } from '../adapter/write-action.ts';

const SECRETS = ['sites', 'queue'] as const;

export function workCommand(): Command {
  return new Command('work').option(...CONFIG).action(async (options: { config?: string }) => {
    const config = await readConfig(options);
    expectSecrets(config, SECRETS);
    const stopping = stopSignal(undefined, { reloads: true });
    const writer = actionWriter(commandWriter(options.config));
    const opening = openAppFor(config, { waitSignal: stopping.signal, json: true, writeAction: writer });
    const app = await unlessStopped(stopping, opening);
    if (app === undefined) return stopping.release();
    try {
      if (!stopping.signal.aborted) await workUntilStopped(app, stopping, options.config);
    } finally {
      await app.close();
      stopping.release();
    }
  });
}

async function workUntilStopped(app: App, stopping: StopSignal, path: string | undefined): Promise<void> {
  let present = app;
  let working: Working | undefined = await startWorking(app);
  const run = reloadingRun(stopping, app.log);
  let reloading: Awaited<ReturnType<typeof startReloading>> | undefined;
  try {
    reloading = await startReloading(app, {
      command: 'work',
      path,
      secrets: SECRETS,
      hangUps: stopping.hangUps,
      fail: run.fail,
      async replace(next) {
        await working?.stop(answeredWithinMs(present.config), run.cutOff);
        working = undefined;
        await run.beginOr(next, present, async (using) => {
          if (!stopping.signal.aborted) working = await startWorking(using);
          present = using;
        });
      },
    });
    app.log.info({ sites: [...app.config.sites.keys()] }, 'working');
    await run.ended();
  } finally {
    await reloading?.endReplacing();
    await Promise.all([reloading?.stop(), working?.stop(STOP_WITHIN_MS)]);
  }
}

/** What runs with one configuration. */
interface Working {
  stop(graceMs: number, cutOff?: AbortSignal): Promise<void>;
}

async function startWorking(app: App): Promise<Working> {
  const engine = await startEngine(app, undefined, 'work');
  const bulk = startBulkRunner(
    app,
    () => engine.wake(),
    (site) => engine.siteContexts.get(site),
  );
  const retention = startRetention(app);
  return {
    async stop(graceMs, cutOff) {
      await Promise.all([engine.stop(graceMs, cutOff), bulk.stop(graceMs), retention.stop()]);
    },
  };
}
