// `jobmirror why`: explains why one posting is, or is not, on the site as it is.
import { Command } from 'commander';
import { z } from 'zod';
import { postingOf, postingOutput } from '../../operations/postings.ts';
import { postingKey } from '../../posting/identifiers.ts';
import { readHere } from '../../review/configured-policy.ts';
import { describeHistory } from '../../review/describe-history.ts';
import { lookUpPosting } from '../../review/find-posting.ts';
import { printJson, printLines } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { commandWriter } from '../adapter/command-line.ts';
import { knownFeed } from '../adapter/feed-name.ts';
import { printing, withCommon } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import { actionLine, say } from '../adapter/write-action.ts';

/** Also of a posting that nothing is recorded of. */
export function whyCommand(): Command {
  const command = new Command('why')
    .argument('<feed>', 'name of the feed')
    .argument('<key>', "the posting's key, exactly as in the feed");
  return printing(withCommon(command, 'print one JSON object'), postingOutput).action(
    (name: string, key: string, options: { config?: string; json?: boolean }) =>
      withApp(options, async (app) => {
        const { db, config } = app;
        const feed = await knownFeed(db, config, name);
        const read = await lookUpPosting(db, feed, postingKey(key.trim()));
        const here = await readHere(db, config);
        if (options.json === true) return printJson(z.encode(postingOutput, postingOf(read, app, here)));
        const write = commandWriter(options.config);
        const words = { at: formatTime, span: formatSpan };
        return printLines(
          describeHistory(read.story, words, here).map((line) =>
            line.kind === 'action' ? actionLine(line.action, write) : say(line.message, write),
          ),
        );
      }),
  );
}
