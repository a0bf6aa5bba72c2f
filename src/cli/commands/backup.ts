// `jobmirror backup`: writes the whole database into a file, while jobmirror runs.
import { Command } from 'commander';
import { withApp } from '../adapter/with-app.ts';
import type { BackupCommandOptions } from '../back-up.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .argument('<file>', 'the file to write; only its owner can read it')
    .option('--force', 'replace the file if it exists, once the new one is whole')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nThe file has all tables as of one moment, and is read back before it gets its name. The configuration, its tokens and passwords\n' +
        'are not in it: keep a copy of them elsewhere.',
    )
    .action((file: string, options: BackupCommandOptions) =>
      withApp(options, async (app, signal) => {
        const { backUp } = await import('../back-up.ts');
        await backUp(app, file, options, signal);
      }),
    );
}
