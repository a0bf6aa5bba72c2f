// `jobmirror work`: runs workers only, to add machines to a `start` or `sync` elsewhere.
import { Command } from 'commander';
import { expectSecrets, openAppFor, readConfig } from '../../runtime/app.ts';
import { startBulkRunner } from '../../runtime/bulk-runner.ts';
import { startEngine } from '../../runtime/engine.ts';
import { startRetention } from '../../runtime/retention.ts';
import { STOP_WITHIN_MS, stopSignal, unlessStopped } from '../../runtime/stop-signal.ts';
import { commandWriter } from '../adapter/command-line.ts';
import { actionWriter } from '../adapter/write-action.ts';

export function workCommand(): Command {
  return new Command('work')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .action(async (options: { config?: string }) => {
      const config = await readConfig(options);
      expectSecrets(config, ['sites', 'queue']);
      const stopping = stopSignal();
      const writer = actionWriter(commandWriter(options.config));
      const opening = openAppFor(config, { waitSignal: stopping.signal, json: true, writeAction: writer });
      const app = await unlessStopped(stopping, opening);
      if (app === undefined) return stopping.release();
      try {
        if (stopping.signal.aborted) return;
        const engine = await startEngine(app, undefined, 'work');
        app.log.info({ sites: [...engine.siteContexts.keys()] }, 'working');
        const bulk = startBulkRunner(
          app,
          () => engine.wake(),
          (site) => engine.siteContexts.get(site),
        );
        const retention = startRetention(app);
        await stopping.stopped;
        await Promise.all([engine.stop(STOP_WITHIN_MS), bulk.stop(STOP_WITHIN_MS), retention.stop()]);
      } finally {
        await app.close();
        stopping.release();
      }
    });
}
