// `jobmirror feeds`: moves the jobs of a renamed feed to its new name, keeps jobs under new keys, retires a feed, declares one new,
// resumes one after an undo, renews postings that expire, or shows and saves the files of feeds.
import { Command } from 'commander';
import {
  declareFeedNew,
  renameFeedTo,
  renewOfFeed,
  resumeStoppedFeed,
  retireNamedFeed,
} from '../../operations/feeds.ts';
import { plural } from '../../plan/plural.ts';
import { ACTOR, singleCommand, withCommon } from '../adapter/operation-command.ts';
import { feedFileCommands } from './feeds-file.ts';
import { rekeyCommand } from './feeds-rekey.ts';

const FEED = { feed: 'name of the feed' };

export function feedsCommand(): Command {
  const feeds = new Command('feeds');
  feeds.addCommand(
    singleCommand(renameFeedTo, {
      name: 'rename',
      arguments: ['old', 'new'],
      view({ from, to, mappings, changes }) {
        const open = changes === 0 ? '' : ` and ${plural(changes, 'open change')}`;
        return `Feed ${from} is ${to} now, with ${plural(mappings, 'job')}${open}.`;
      },
    }),
  );
  feeds.addCommand(
    singleCommand(retireNamedFeed, {
      name: 'retire',
      arguments: ['feed'],
      help: FEED,
      view({ feed, in_doubt, searched }, write) {
        const list = write(['review', 'list', feed]);
        const doubts =
          in_doubt === 0 ? '' : ` The site may have a job for each of ${plural(in_doubt, 'create')} in doubt: ${list}.`;
        const search =
          searched.length === 0
            ? ''
            : ` The site was declared to have no jobs of ${searched.join(', ')}, but is searched for them before anything is created.`;
        return `Feed ${feed} is retired; its jobs stay.${doubts}${search} If it returns to the configuration, mirroring goes on as before.`;
      },
    }),
  );
  feeds.addCommand(
    singleCommand(declareFeedNew, {
      name: 'new',
      arguments: ['feed'],
      view({ feed, site, released }) {
        const also =
          released === 0
            ? ''
            : ` ${plural(released, 'create')} that only resembled jobs of the site ${released === 1 ? 'is' : 'are'} sent.`;
        return `Feed ${feed} is declared new: site ${site} is not searched for its jobs.${also}`;
      },
    }),
  );
  feeds.addCommand(
    singleCommand(resumeStoppedFeed, {
      name: 'resume',
      arguments: ['feed'],
      help: FEED,
      view: ({ feed, resumed }, write) =>
        resumed
          ? `Feed ${feed} is pulled again: by its schedule, or the next sync. What that will send: ${write(['plan', feed])}`
          : `Feed ${feed} was not stopped.`,
    }),
  );
  feeds.addCommand(withCommon(rekeyCommand().option(...ACTOR), 'print JSON'));
  feeds.addCommand(
    singleCommand(renewOfFeed, {
      name: 'renew',
      arguments: ['feed', 'keys'],
      help: FEED,
      view: ({ renewed }) =>
        `The days of ${plural(renewed, 'posting')} begin anew. The next pull creates the jobs that are gone, if the feed has their postings.`,
    }),
  );
  for (const command of feedFileCommands()) feeds.addCommand(command);
  return feeds;
}
