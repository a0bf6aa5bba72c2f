// `jobmirror feeds rekey`: keeps the jobs of postings whose keys have changed.
import { Command } from 'commander';
import { UserError } from '../../runtime/exit-status.ts';
import type { RekeyOptions } from '../rekey-feed.ts';
import { withApp } from '../with-app.ts';

export function rekeyCommand(): Command {
  return new Command('rekey')
    .description(
      'when the keys of a feed seem to have changed: keep the jobs of its postings, or say that they are others',
    )
    .argument('<feed>', 'name of the feed')
    .option('--sure', 'keep the jobs of all certain pairs; without it, show them')
    .option('--yes', 'the same, without asking')
    .option('--posting <key>', 'with --was: keep a job for this new posting')
    .option('--was <key>', 'with --posting: the job of this missing posting')
    .option('--not-rekey', 'the new postings are no missing ones: create them, and delete what is gone')
    .addHelpText(
      'after',
      '\nNothing is sent: the next sync sets what differs, or with --not-rekey creates and deletes. A pair is certain if both postings\n' +
        'have the same content, apart from references and web addresses, and as many are missing with it as are new.',
    )
    .action((name: string, options: RekeyOptions) => {
      if ((options.posting === undefined) !== (options.was === undefined))
        throw new UserError('--posting and --was belong together: the new posting, and the missing one that it is');
      const ways = [
        options.sure === true || options.yes === true,
        options.posting !== undefined,
        options.notRekey === true,
      ];
      if (ways.filter(Boolean).length > 1)
        throw new UserError(
          '--sure keeps the jobs of all certain pairs, --posting that of one, --not-rekey none: give one of them',
        );
      return withApp(options, async (app, signal) => {
        const { rekey } = await import('../rekey-feed.ts');
        return rekey(app, name, options, signal);
      });
    });
}
