// `jobmirror why`: explains why one posting is, or is not, on the site as it is.
import { Command } from 'commander';
import { z } from 'zod';
import { namedFeed } from '../../operations/operation.ts';
import { MOST_SIMILAR_POSTINGS, postingOf, postingOutput, whyNotSent } from '../../operations/postings.ts';
import { type FeedName, postingKey } from '../../posting/identifiers.ts';
import { describeHistory, type FoundPosting, isKnown, lookUpPosting } from '../../review/describe-history.ts';
import { readConfiguredHere } from '../../review/health/configured-policy.ts';
import type { App } from '../../runtime/app.ts';
import { UserError } from '../../runtime/stop-signal.ts';
import { postingsLike } from '../../store/mapping/find-jobs.ts';
import { oneLine, printJson, printLine, printLines, printNotice } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { argumentWords, commandWriter, type WriteCommand } from '../adapter/command-line.ts';
import { printing, withCommon } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import { actionLine, say, writeAction } from '../adapter/write-action.ts';

/** Also of a posting that nothing is recorded of. */
export function whyCommand(): Command {
  const command = new Command('why')
    .argument('<feed>', 'name of the feed')
    .argument('<key>', "the posting's key, or a part of it or of its title that no other posting of the feed has");
  return printing(withCommon(command, 'print one JSON object'), postingOutput).action(
    (name: string, key: string, options: { config?: string; json?: boolean }) =>
      withApp(options, async (app) => {
        const { db, config } = app;
        const feed = await namedFeed(app, name);
        const write = commandWriter(options.config);
        const read = await lookUp(app, feed, key.trim(), write);
        const here = await readConfiguredHere(db, config);
        const waitsFor = await whyNotSent(app, read.story);
        if (options.json === true) return printJson(z.encode(postingOutput, postingOf(read, app, here, waitsFor)));
        const words = { at: formatTime, span: formatSpan };
        await printLines(
          describeHistory(read.story, words, here, waitsFor).map((line) =>
            line.kind === 'action' ? actionLine(line.action, write) : say(line.message, write),
          ),
        );
        if (!isKnown(read))
          await printLine(
            `Postings are found by key, job ID and words of a title: ${write(['mappings', 'find', ...argumentWords(key.trim())])}`,
          );
      }),
  );
}

/** The posting with this key; if there is none, the only one that has it as a part of its key or title. */
async function lookUp({ db }: App, feed: FeedName, written: string, write: WriteCommand): Promise<FoundPosting> {
  const exact = await lookUpPosting(db, feed, postingKey(written));
  if (isKnown(exact) || written === '') return exact;
  const alike = await postingsLike(db, written, feed, MOST_SIMILAR_POSTINGS + 1);
  const [only, ...others] = alike;
  if (only === undefined) return exact;
  if (others.length > 0) {
    const lines = alike
      .slice(0, MOST_SIMILAR_POSTINGS)
      .map(({ key, title }) => `  ${oneLine(key, 100)}${title === null ? '' : `  ${oneLine(title, 80)}`}`);
    const more = alike.length > MOST_SIMILAR_POSTINGS ? ['  and more'] : [];
    const which = `several postings of feed ${feed} have ${oneLine(written, 60)} as a part of their key or title`;
    throw new UserError(
      [
        `${which}:`,
        ...lines,
        ...more,
        `Name one of them: ${writeAction({ kind: 'explain_posting', feed, key: only.key }, write)}`,
      ].join('\n'),
    );
  }
  printNotice(`No posting has exactly this key; this is ${oneLine(only.key, 100)}.`);
  return lookUpPosting(db, feed, only.key);
}
