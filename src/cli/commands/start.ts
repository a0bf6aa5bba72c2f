// `jobmirror start`: runs the schedules and the workers, and answers /healthz, until stopped.
import { Command } from 'commander';
import { openBooksFor, readConfig } from '../books.ts';
import { startEngine } from '../engine.ts';
import { feedSetups } from '../feed-setups.ts';
import { startHealth } from '../health.ts';
import { startRetention } from '../retention.ts';
import { runSchedules } from '../schedules.ts';
import { STOP_WITHIN_MS, stopSignal } from '../stop-signal.ts';

export function startCommand(): Command {
  return new Command('start')
    .description('pull feeds on their schedules and send their changes, until stopped')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .action(async (options: { config?: string }) => {
      const config = await readConfig(options);
      const setups = feedSetups(config, []);
      const stopping = stopSignal();
      const books = await openBooksFor(config);
      try {
        const health = await startHealth(books);
        const engine = await startEngine(books, undefined);
        const schedules = await runSchedules(books, engine, setups, stopping.signal);
        const retention = startRetention(books);
        books.log.info({ feeds: setups.length, sites: [...engine.desks.keys()], health: health.url }, 'started');
        await stopping.stopped;
        await retention.stop();
        await Promise.all([schedules.stop(STOP_WITHIN_MS), engine.stop(STOP_WITHIN_MS)]);
        await health.close();
      } finally {
        await books.close();
        stopping.release();
      }
    });
}
