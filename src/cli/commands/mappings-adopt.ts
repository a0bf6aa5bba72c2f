// `jobmirror mappings adopt`: finds the site's jobs that belong to postings of a feed, and maps those that are confirmed.
import { Command } from 'commander';
import { UserError } from '../../runtime/exit-status.ts';
import { withApp } from '../adapter/with-app.ts';
import type { AdoptOptions } from '../mappings/adopt-mappings.ts';

export function adoptCommand(): Command {
  return new Command('adopt')
    .description('match the jobs that the site already has to the postings of a feed, and map those that are confirmed')
    .argument('<feed>', 'the feed')
    .option('--sure', 'map all certain matches; without it, only show what was found')
    .option('--job <id>', 'with --posting: map this job')
    .option('--posting <key>', 'with --job: to this posting')
    .option('--anyway', 'with --job: even if it seems to be another job, or another posting’s')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--json', 'print one JSON object per posting')
    .addHelpText(
      'after',
      '\nNothing is sent: the next sync sets what differs between the mapped jobs and their postings.',
    )
    .action((name: string, options: AdoptOptions) => {
      if ((options.job === undefined) !== (options.posting === undefined))
        throw new UserError('--job and --posting belong together: the job, and the posting that it belongs to');
      if (options.job !== undefined && options.sure === true)
        throw new UserError('--sure maps all certain matches, --job only one: give one of them');
      if (options.anyway === true && options.job === undefined)
        throw new UserError('--anyway belongs to --job and --posting; certain matches need none');
      return withApp(options, async (app, signal) => {
        // Reads feeds and sites, which the other commands of this group do not need.
        const { adopt } = await import('../mappings/adopt-mappings.ts');
        return adopt(app, name, options, signal);
      });
    });
}
