// `jobmirror verify`: compares the jobs of feeds with what their sites show now, and marks differences to be set again.
import { Command, Option } from 'commander';
import { UserError } from '../../runtime/exit-status.ts';
import { positiveNumber } from '../option-values.ts';
import type { VerifyOptions } from '../verify-feeds.ts';
import { withApp } from '../with-app.ts';

export function verifyCommand(): Command {
  return new Command('verify')
    .argument('[feed...]', 'names of feeds; all of the configuration if none is given')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .addOption(
      new Option('--sample <n>', 'ask only for so many jobs of each feed, at random')
        .argParser(positiveNumber)
        .conflicts(['each', 'after']),
    )
    .option('--each', 'ask for each job, without reading the list of the site')
    .option('--after <key>', 'with --each and one feed: begin after this posting')
    .option('--field <name...>', 'compare only these fields')
    .option('--repair', 'mark what is gone or changed, so that the next sync sets it again')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--json', 'print one JSON object per finding, then one per feed')
    .addHelpText(
      'after',
      '\nNothing is sent but requests to show jobs. Jobs that show another posting’s reference, and other jobs with the reference\n' +
        'of a posting, are only reported, with or without --repair.',
    )
    .action((names: string[], options: VerifyOptions) => {
      if (options.after !== undefined && (options.each !== true || names.length !== 1))
        throw new UserError('--after belongs to --each and the name of one feed');
      return withApp(options, async (app, signal) => {
        // Reads feeds and sites, which help does not need.
        const { verifyFeeds } = await import('../verify-feeds.ts');
        await verifyFeeds(app, names, options, signal);
      });
    });
}
