// `jobmirror undo`: shows the reverse of a pull, and applies it once confirmed.
import { Command } from 'commander';
import { ACTOR, CONFIG, positiveNumber } from '../adapter/command-line.ts';
import { withApp } from '../adapter/with-app.ts';
import type { UndoCommandOptions } from '../undo-and-send.ts';

export function undoCommand(): Command {
  return new Command('undo')
    .argument('<pull>', 'number of the pull, as `jobmirror pulls` lists it', positiveNumber)
    .option(...CONFIG)
    .option('--yes', 'do it without asking')
    .option(...ACTOR)
    .option('--json', 'print one JSON object per change, and one per posting that is left out; then the counts')
    .addHelpText(
      'after',
      '\nJobs that the pull deleted are created again, with new job IDs. What has changed since the pull is left out.\n' +
        'Afterwards the feed is not pulled until `jobmirror feeds resume FEED`, because its source would bring all of it back.',
    )
    .action((pull: number, options: UndoCommandOptions) =>
      withApp(options, async (app, signal) => {
        // Sends, which help does not need.
        const { undoAndSend } = await import('../undo-and-send.ts');
        await undoAndSend(app, pull, options, signal);
      }),
    );
}
