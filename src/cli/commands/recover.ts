// `jobmirror recover`: rebuilds the mappings of a feed from the references on its site.
import { Command } from 'commander';
import type { RecoverOptions } from '../recover-feed.ts';
import { withApp } from '../with-app.ts';

export function recoverCommand(): Command {
  return new Command('recover')
    .argument('<feed>', 'the feed')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--yes', 'do it without asking')
    .option('--leave-strays', 'jobs that no posting has may stay on the site, and status does not name them')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--json', 'print one JSON object per posting or job, then one with the counts')
    .addHelpText(
      'after',
      '\nReads the feed and the whole list of its site. Nothing is sent but requests to show jobs: the next sync sets what differs.\n' +
        'Jobs whose reference two jobs or two postings share, and jobs of other users and feeds, are left to a person.',
    )
    .action((name: string, options: RecoverOptions) =>
      withApp(options, async (app, signal) => {
        // Reads feeds and sites, which help does not need.
        const { recover } = await import('../recover-feed.ts');
        await recover(app, name, options, signal);
      }),
    );
}
