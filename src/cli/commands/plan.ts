// `jobmirror plan`: prints each change that a sync would send, field by field, and sends nothing.
import { once } from 'node:events';
import { Command } from 'commander';
import { planFeed } from '../../../jobs/plan-feed.ts';
import { plural } from '../../plan/plural.ts';
import { openBooksFor, readConfig } from '../books.ts';
import { commandWriter, completeCommands } from '../command-line.ts';
import { describeChange } from '../describe-change.ts';
import { ExitStatus, UserError, worst } from '../exit-status.ts';
import { feedSetups } from '../feed-setups.ts';
import { formatBytes, startProgress } from '../progress.ts';
import { stopSignal } from '../stop-signal.ts';

export function planCommand(): Command {
  return new Command('plan')
    .description('show what a sync would send, and send nothing')
    .argument('[feed...]', 'names of feeds; all of the configuration if none is given')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object a change')
    .action(async (names: string[], options: { config?: string; json?: boolean }) => {
      const config = await readConfig(options);
      const setups = feedSetups(config, names);
      const stopping = stopSignal();
      const books = await openBooksFor(config, { quiet: true });
      const progress = startProgress();
      const write = commandWriter(options.config);
      try {
        const statuses: ExitStatus[] = [];
        for (const setup of setups) {
          const counts = { create: 0, update: 0, delete: 0 };
          const context = {
            db: books.db,
            log: books.log,
            signal: stopping.signal,
            onProgress: ({ records, bytes }: { records: number; bytes: number }) =>
              progress.show(`${setup.feed}: reading, ${records} records, ${formatBytes(bytes)}`),
          };
          const end = await planFeed(setup, context, async (change) => {
            progress.clear();
            counts[change.operation]++;
            await print(options.json === true ? JSON.stringify(change) : describeChange(change));
          });
          progress.clear();
          if (end.kind === 'busy') throw new UserError(`feed ${setup.feed} is being pulled right now; try again later`);
          if (end.kind === 'failed') {
            process.stderr.write(`${setup.feed}: ${completeCommands(end.message, write)}\n`);
            statuses.push(ExitStatus.failed);
            continue;
          }
          process.stderr.write(
            `${setup.feed}: ${end.seen} seen: ${counts.create} to create, ${counts.update} to update, ` +
              `${counts.delete} to delete, ${end.unchanged} unchanged, ${end.rejected} rejected, ` +
              `${plural(end.duplicates, 'duplicate')}, ${end.unreadable} unreadable\n`,
          );
          if (end.holdReason !== undefined) process.stderr.write(`  deletes would be held: ${end.holdReason}\n`);
          for (const shortfall of end.shortfalls) {
            process.stderr.write(`  nothing would be deleted: ${completeCommands(shortfall, write)}\n`);
          }
          statuses.push(end.shortfalls.length > 0 ? ExitStatus.failed : ExitStatus.done);
        }
        process.exitCode = worst(statuses);
      } finally {
        progress.clear();
        await books.close();
        stopping.release();
      }
    });
}

async function print(text: string): Promise<void> {
  if (!process.stdout.write(`${text}\n`)) await once(process.stdout, 'drain');
}
