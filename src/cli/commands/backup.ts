// `jobmirror backup` and `jobmirror restore`. `backup` writes the whole database into a file, while jobmirror runs.
import { Command } from 'commander';
import { UserError } from '../../runtime/stop-signal.ts';
import { ACTOR, CONFIG } from '../adapter/command-line.ts';
import { withApp } from '../adapter/with-app.ts';
import type { BackupCommandOptions, RestoreCommandOptions } from '../backups.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .argument('<file>', 'the file to write; only its owner can read it')
    .option('--force', 'replace the file if it exists, once the new one is whole')
    .option(...CONFIG)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nThe file has all tables as of one moment, and is read back before it gets its name. The configuration, its tokens and passwords\n' +
        'are not in it: keep a copy of them elsewhere.',
    )
    .action((file: string, options: BackupCommandOptions) =>
      withApp(options, async (app, signal) => {
        const { backUp } = await import('../backups.ts');
        await backUp(app, file, options, signal);
      }),
    );
}

// `jobmirror restore`: puts a backup into the configured database, all of it or nothing.

export function restoreCommand(): Command {
  return new Command('restore')
    .argument('<file>', 'a file that the command `backup` has written')
    .option('--check', 'only check that the file is whole, and show what it has')
    .option('--replace', 'replace what the database has; asks before')
    .option('--yes', 'with --replace: do not ask')
    .option(...ACTOR)
    .option(...CONFIG)
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nStop all processes of the installation before. The database is restored completely or left as it was. The sites may be ahead\n' +
        'of it: nothing is created until each site was searched, and deletes wait for the next complete pull.',
    )
    .action(async (file: string, options: RestoreCommandOptions) => {
      if (options.yes === true && options.replace !== true)
        throw new UserError('--yes belongs to --replace: without it, only an empty database is restored into');
      const { checkFile, restore } = await import('../backups.ts');
      await (options.check === true ? checkFile(file, options) : restore(file, options));
    });
}
