// `jobmirror why`: explains why one posting is, or is not, on the site as it is.
import { Command } from 'commander';
import { messageOfReason } from '../../plan/desired-change.ts';
import { postingKey } from '../../posting/identifiers.ts';
import { describeHistory } from '../../review/describe-history.ts';
import { type PostingStory, readStory } from '../../store/review/posting-history.ts';
import { printJson, printLines } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import { commandWriter, type WriteCommand } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { pullJson } from '../output/pull-json.ts';
import { withApp } from '../with-app.ts';
import { actionLine, say } from '../write-action.ts';

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
        if (options.json === true) return printJson(toJson(story, write));
        const words = { at: formatTime, span: formatSpan };
        return printLines(
          describeHistory(story, words).map((line) =>
            line.kind === 'action' ? actionLine(line.action, write) : say(line.message, write),
          ),
        );
      }),
    );
}

function toJson({ live, change, lastPull, ...story }: PostingStory, write: WriteCommand): object {
  return {
    feed: story.feed,
    key: story.key,
    site_job:
      live === undefined
        ? null
        : {
            site: live.site,
            site_job_id: live.siteJobId,
            site_job_url: live.url ?? null,
            mapped_at: live.since,
            missing_pulls: live.missingPulls,
            fields: live.fields ?? null,
          },
    change:
      change === undefined
        ? null
        : {
            id: change.id,
            state: change.state,
            operation: change.operation,
            desired_fields: change.fields ?? null,
            since: change.since,
            attempts: change.attempts,
            reason: change.reason === undefined ? null : say(messageOfReason(change.reason), write),
            problems: change.reason?.problems ?? [],
            note: change.reason?.note ?? null,
          },
    edits: story.edits.map(({ field, sourceValue, value }) => ({ field, source_value: sourceValue, value })),
    notes: story.notes,
    requests: story.requests.map(({ siteJobId, ...request }) => ({ ...request, site_job_id: siteJobId })),
    failures: story.failures,
    duplicates: story.duplicates.map((row) => row.id),
    unreadable: story.unreadable,
    acts: story.acts,
    last_pull: lastPull === undefined ? null : pullJson(lastPull, write),
  };
}
