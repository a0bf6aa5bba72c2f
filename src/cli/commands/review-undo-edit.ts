// `jobmirror review undo-edit`: undoes what a person has set in one posting.
import { Command } from 'commander';
import { createOnlyOf } from '../../plan/create-only-fields.ts';
import { postingKey } from '../../posting/identifiers.ts';
import { undoEdits } from '../../review/undo-edit.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { printJson, printLine } from '../../telemetry/print.ts';
import { actorName } from '../actor.ts';
import { commandWriter } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { withApp } from '../with-app.ts';
import { say } from '../write-action.ts';

interface Options {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
}

export function reviewUndoEditCommand(): Command {
  return new Command('undo-edit')
    .description('undo edits of one posting; the next sync of its feed brings back what the source has')
    .argument('<feed>', 'name of the feed')
    .argument('<key>', "the posting's key, exactly as in the feed")
    .argument('[field...]', 'site fields (default: all that were edited)')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((name: string, text: string, names: string[], options: Options) =>
      withApp(options, async ({ db, config }) => {
        const feed = await knownFeed(db, config, name);
        const key = postingKey(text.trim());
        const fields = names.length === 0 ? undefined : names;
        const { mapping = {}, policy } = config.feeds.get(feed) ?? {};
        const createOnly = createOnlyOf(mapping);
        const report = await undoEdits(db, feed, key, { actor: actorName(options.as), fields, createOnly, policy });
        if (report.kind === 'refused') {
          throw new UserError(`posting ${key}: ${say(report.message, commandWriter(options.config))}`);
        }
        if (options.json === true) return printJson({ feed, key, undone: report.fields });
        return printLine(`${feed}: ${key}: undone: ${report.fields.join(', ')}; ${report.message}`);
      }),
    );
}
