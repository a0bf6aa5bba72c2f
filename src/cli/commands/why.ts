// `jobmirror why`: explains why one posting is, or is not, on the site as it is.
import { Command } from 'commander';
import { postingKey } from '../../posting/identifiers.ts';
import { readHere } from '../../review/configured-policy.ts';
import { describeHistory } from '../../review/describe-history.ts';
import { postingJson } from '../../review/read-model/posting.ts';
import { readStory } from '../../store/review/posting-history.ts';
import { printJson, printLines } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { commandWriter } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { withApp } from '../with-app.ts';
import { actionLine, actionWriter, say } from '../write-action.ts';

export function whyCommand(): Command {
  return new Command('why')
    .argument('<feed>', 'name of the feed')
    .argument('<key>', "the posting's key, exactly as in the feed")
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((name: string, key: string, options: { config?: string; json?: boolean }) =>
      withApp(options, async ({ db, config }) => {
        const feed = await knownFeed(db, config, name);
        const story = await readStory(db, feed, postingKey(key.trim()));
        const write = commandWriter(options.config);
        const here = await readHere(db, config);
        if (options.json === true) return printJson(postingJson(story, actionWriter(write), config, here));
        const words = { at: formatTime, span: formatSpan };
        return printLines(
          describeHistory(story, words, here).map((line) =>
            line.kind === 'action' ? actionLine(line.action, write) : say(line.message, write),
          ),
        );
      }),
    );
}
