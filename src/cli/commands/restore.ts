// `jobmirror restore`: puts a backup into the configured database, all of it or nothing.
import { Command } from 'commander';
import { UserError } from '../../runtime/stop-signal.ts';
import type { RestoreCommandOptions } from '../restore-database.ts';

export function restoreCommand(): Command {
  return new Command('restore')
    .argument('<file>', 'a file that the command `backup` has written')
    .option('--check', 'only check that the file is whole, and show what it has')
    .option('--replace', 'replace what the database has; asks before')
    .option('--yes', 'with --replace: do not ask')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nStop all processes of the installation before. The database is restored completely or left as it was. The sites may be ahead\n' +
        'of it: nothing is created until each site was searched, and deletes wait for the next complete pull.',
    )
    .action(async (file: string, options: RestoreCommandOptions) => {
      if (options.yes === true && options.replace !== true)
        throw new UserError('--yes belongs to --replace: without it, only an empty database is restored into');
      const { checkFile, restore } = await import('../restore-database.ts');
      await (options.check === true ? checkFile(file, options) : restore(file, options));
    });
}
