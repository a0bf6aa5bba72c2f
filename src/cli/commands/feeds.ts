// `jobmirror feeds`: moves the jobs of a renamed feed to its new name, keeps jobs under new keys, retires a feed, declares one new,
// resumes one after an undo, or renews postings that expire.
import { Command } from 'commander';
import { recoverAttempts } from '../../apply/maintain-backlog.ts';
import { namedFeeds } from '../../config/config.ts';
import { type Advice, type Message, messageOf } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { resumeStoppedFeed } from '../../review/resume-stopped-feed.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { addressOf } from '../../site/base-address.ts';
import { auditAction } from '../../store/access/audit.ts';
import { releaseResembling } from '../../store/change/put-in-doubt.ts';
import { declareChecked } from '../../store/change/site-search.ts';
import { stoppedFeeds } from '../../store/feed/feed-state.ts';
import { renameFeed, retireFeed } from '../../store/feed/rename-feed.ts';
import { type DoubtfulFeed, doubtfulFeeds } from '../../store/feed/unconfigured-feeds.ts';
import type { Queryable } from '../../store/postgres/database.ts';
import { printJson, printLine } from '../../telemetry/print.ts';
import { actorName } from '../actor.ts';
import { commandWriter } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { positiveNumber } from '../option-values.ts';
import { withApp } from '../with-app.ts';
import { say } from '../write-action.ts';
import { rekeyCommand } from './feeds-rekey.ts';
import { renewCommand } from './feeds-renew.ts';

interface FeedsOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
}

export function feedsCommand(): Command {
  const feeds = new Command('feeds');
  for (const part of [
    renameCommand(),
    retireCommand(),
    newCommand(),
    resumeCommand(),
    rekeyCommand(),
    renewCommand(),
  ]) {
    feeds.addCommand(
      part
        .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
        .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
        .option('--json', 'print JSON')
        .exitOverride()
        .showHelpAfterError('(see --help)'),
    );
  }
  return feeds;
}

function renameCommand(): Command {
  return new Command('rename')
    .description('after renaming a feed in the configuration: move its jobs to the new name')
    .argument('<old>', 'its former name')
    .argument('<new>', 'its new name in the configuration')
    .action((old: string, name: string, options: FeedsOptions) =>
      withApp(options, async ({ db, config }) => {
        const from = await knownFeed(db, config, old);
        refuseConfigured(namedFeeds(config).has(from), from);
        const to = config.feeds.get(name as FeedName);
        if (config.brokenFeeds.has(name as FeedName)) {
          throw new UserError(`the configuration of feed ${name} is wrong: fix it first; jobmirror check says where`);
        }
        if (to === undefined) throw new UserError(`there is no feed ${name} in ${config.path}: write it there first`);
        // Release them here: perhaps no running process has the old name in its configuration any more.
        const site = config.sites.get(to.siteName);
        if (site !== undefined) await recoverAttempts(db, site.name, { ...site, timeoutMs: site.options.timeoutMs });
        const end = await renameFeed(db, from, { feed: to.name, site: to.siteName }, actorName(options.as));
        if (end.kind === 'busy') {
          throw new UserError(`feed ${end.feed} is being pulled right now; try again when that has ended`);
        }
        if (end.kind === 'refused') throw new UserError(`${end.message}. Nothing was changed`);
        const { mappings, changes } = end;
        if (options.json === true) return printJson({ from, to: to.name, mappings, changes });
        const open = changes === 0 ? '' : ` and ${plural(changes, 'open change')}`;
        return printLine(`Feed ${from} is ${to.name} now, with ${plural(mappings, 'job')}${open}.`);
      }),
    );
}

function newCommand(): Command {
  return new Command('new')
    .description(
      'before the first sync of a feed: declare that the site has none of its jobs, so it is not searched for them',
    )
    .argument('<feed>', 'name of the feed, as in the configuration')
    .action((name: string, options: FeedsOptions) =>
      withApp(options, async ({ db, config }) => {
        const configured = config.feeds.get(name as FeedName);
        if (configured === undefined)
          throw new UserError(`there is no feed ${name} in ${config.path}: write it there first`);
        const { name: feed, siteName } = configured;
        const site = config.sites.get(siteName);
        const address = site === undefined ? '' : addressOf(site.options);
        const released = await db.transaction(async (tx) => {
          const doubtful = await doubtfulFeeds(tx, { site: siteName, address }, namedFeeds(config));
          if (doubtful.length > 0) {
            throw new UserError(say(refuseNew(feed, siteName, doubtful), commandWriter(options.config)));
          }
          await declareChecked(tx, feed, siteName, { declared: true });
          const left = await releaseResembling(tx, feed);
          const detail = { site: siteName, ...(left === 0 ? {} : { released: left }) };
          await auditAction(tx, { actor: actorName(options.as), action: 'new feed', feed, detail });
          return left;
        });
        if (options.json === true) return printJson({ feed, site: siteName, new: true, released });
        const also =
          released === 0
            ? ''
            : ` ${plural(released, 'create')} that only resembled jobs of the site ${released === 1 ? 'is' : 'are'} sent.`;
        return printLine(`Feed ${feed} is declared new: site ${siteName} is not searched for its jobs.${also}`);
      }),
    );
}

/** Why the site may have jobs of the feed after all, and what to do about each feed that may have created them. */
function refuseNew(feed: FeedName, site: SiteName, doubtful: readonly DoubtfulFeed[]): Message {
  const text = [
    ...doubtful.map(({ feed: left, creates, orphans }) => {
      const parts = [
        ...(creates === 0
          ? []
          : [plural(creates, 'create whose outcome is unknown', 'creates whose outcome is unknown')]),
        ...(orphans === 0 ? [] : [plural(orphans, 'orphan site job')]),
      ];
      return `feed ${left} is not in the configuration, and has ${parts.join(' and ')} on site ${site}`;
    }),
    `${feed} would make such jobs a second time, so nothing was changed`,
  ].join('. ');
  const next = doubtful.flatMap(({ feed: left, creates }): Advice[] => [
    { words: `If ${feed} is the new name of ${left}`, action: { kind: 'rename_feed', feed: left, to: feed } },
    creates === 0
      ? { words: `If not, wait until a sync has deleted the orphan site jobs of ${left}` }
      : { words: 'If not, resolve its doubts first', action: { kind: 'list_entries', feed: left } },
  ]);
  return messageOf(text, next);
}

function retireCommand(): Command {
  return new Command('retire')
    .description('after removing a feed from the configuration: leave its jobs as they are, and send nothing for it')
    .argument('<feed>', 'name of the feed')
    .action((name: string, options: FeedsOptions) =>
      withApp(options, async ({ db, config }) => {
        const feed = await knownFeed(db, config, name);
        refuseConfigured(namedFeeds(config).has(feed), feed);
        const retired = await retireFeed(db, feed, actorName(options.as));
        if (retired === undefined) throw new UserError(`no feed ${feed} is recorded in the database`);
        const { inDoubt, searched } = retired;
        if (options.json === true) return printJson({ feed, retired: true, in_doubt: inDoubt, searched });
        const doubts =
          inDoubt === 0
            ? ''
            : ` The site may have a job for each of ${plural(inDoubt, 'create')} in doubt: ${commandWriter(options.config)(['review', 'list', feed])}.`;
        const search =
          searched.length === 0
            ? ''
            : ` The site was declared to have no jobs of ${searched.join(', ')}, but is searched for them before anything is created.`;
        return printLine(
          `Feed ${feed} is retired; its jobs stay.${doubts}${search} If it returns to the configuration, mirroring goes on as before.`,
        );
      }),
    );
}

function resumeCommand(): Command {
  return new Command('resume')
    .description('after an undo, once the source is right: pull the feed again')
    .argument('<feed>', 'name of the feed')
    .option('--undo <pull>', 'only if this undo has stopped it', positiveNumber)
    .action((name: string, options: FeedsOptions & { readonly undo?: number }) =>
      withApp(options, async ({ db, config }) => {
        const feed = await knownFeed(db, config, name);
        const undo = await resumeStoppedFeed(db, feed, actorName(options.as), options.undo);
        if (options.json === true) await printJson({ feed, resumed: undo !== undefined });
        if (undo === undefined && options.undo !== undefined)
          throw new UserError(
            `nothing was done: feed ${feed} is not stopped by undo ${options.undo}; ${await stopOf(db, feed)}`,
          );
        if (options.json === true) return;
        if (undo === undefined) return printLine(`Feed ${feed} was not stopped.`);
        const plan = commandWriter(options.config)(['plan', feed]);
        return printLine(
          `Feed ${feed} is pulled again: by its schedule, or the next sync. What that will send: ${plan}`,
        );
      }),
    );
}

async function stopOf(db: Queryable, feed: FeedName): Promise<string> {
  const stopped = (await stoppedFeeds(db)).find((each) => each.feed === feed);
  return stopped === undefined ? 'no undo has stopped it' : `undo ${stopped.undo} has stopped it`;
}

function refuseConfigured(configured: boolean, feed: FeedName): void {
  if (configured) throw new UserError(`feed ${feed} is in the configuration: take it out, or rename it, there first`);
}
