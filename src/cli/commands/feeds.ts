// `jobmirror feeds`: moves the jobs of a renamed feed to its new name, keeps jobs under new keys, retires a feed, declares one new,
// resumes one after an undo, or renews postings that expire. The files of feeds are in `feed-files.ts`.

import { Command } from 'commander';
import { declareFeedNew, renameFeedTo, renewFeed, resumeStoppedFeed, retireNamedFeed } from '../../operations/feeds.ts';
import { namedFeed } from '../../operations/operation.ts';
import { decideAboutRekey } from '../../operations/rekey.ts';
import { plural } from '../../plan/message.ts';
import { type FeedName, postingKey } from '../../posting/identifiers.ts';
import {
  isUnknown,
  type RekeyCounts,
  type RekeyedLine,
  type RekeySubject,
  rekeyFeed,
  rekeyPolicy,
  suspectedPairs,
} from '../../review/decide-rekey.ts';
import { adviceOnHeld, readHeldOffers } from '../../review/held-offer.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError } from '../../runtime/stop-signal.ts';
import { readRekey } from '../../store/change/rekey/read-rekey.ts';
import { lockFeed } from '../../store/locks/feed-locks.ts';
import { askWhether, printJson, printLine } from '../../telemetry/print.ts';
import { ACTOR, actorName, type CommonOptions, commandWriter } from '../adapter/command-line.ts';
import { runWithin, singleCommand, withCommon } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import { adviceLine, say } from '../adapter/write-action.ts';
import { itsTitle, nextOf, verdictPrinter } from '../output/describe-finding.ts';
import { feedFileCommands, uploadCommands } from './feed-files.ts';
import { stillLines } from './resume.ts';

const FEED = { feed: 'name of the feed' };

export function feedsCommand(): Command {
  const feeds = new Command('feeds');
  feeds.addCommand(
    singleCommand(renameFeedTo, {
      name: 'rename',
      arguments: ['old', 'new'],
      view({ from, to, mappings, changes, edits }) {
        const open = changes === 0 ? '' : ` and ${plural(changes, 'open change')}`;
        const kept = edits === 0 ? '' : ` The next pull applies ${plural(edits, 'edit')} made as ${to} before.`;
        return `Feed ${from} is ${to} now, with ${plural(mappings, 'job')}${open}.${kept}`;
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
      view: ({ feed, resumed, still }, write) => [
        resumed
          ? `Feed ${feed} is pulled again: by its schedule, or the next sync. What that will send: ${write(['plan', feed])}`
          : `No undo had stopped feed ${feed}.`,
        ...stillLines(still),
      ],
    }),
  );
  feeds.addCommand(withCommon(rekeyCommand().option(...ACTOR), 'print JSON'));
  feeds.addCommand(
    singleCommand(renewFeed, {
      name: 'renew',
      arguments: ['feed', 'keys'],
      help: FEED,
      view: ({ renewed }) =>
        `The days of ${plural(renewed, 'posting')} begin anew. The next pull creates the jobs that are gone, if the feed has their postings.`,
    }),
  );
  for (const command of [...feedFileCommands(), ...uploadCommands()]) feeds.addCommand(command);
  return feeds;
}

// `jobmirror feeds rekey`: shows which new postings of a feed are missing ones under another key, and keeps the jobs of what is certain or
// named.

function rekeyCommand(): Command {
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
          '--sure, or --yes, keeps the jobs of all certain pairs, --posting that of one, --not-rekey none: give one of them',
        );
      return withApp(options, (app, signal) => rekey(app, name, options, signal));
    });
}

interface RekeyOptions extends CommonOptions {
  readonly sure?: boolean;
  readonly yes?: boolean;
  readonly posting?: string;
  readonly was?: string;
  readonly notRekey?: boolean;
}

/** While it runs, no pull changes what is missing or new. */
async function rekey(app: App, name: string, options: RekeyOptions, signal: AbortSignal): Promise<void> {
  const feed = await namedFeed(app, name);
  const { posting, was } = options;
  if (posting !== undefined && was !== undefined) return bindNamed(app, feed, { posting, was }, options);
  if (options.notRekey === true) return deny(app, feed, options);
  const bind = options.sure === true || options.yes === true;
  const policy = rekeyPolicy(app.config, feed);
  const isKnown = !isUnknown(policy);
  if (!isKnown && bind) throw new UserError(`${policy.unknown}. Nothing was changed`);
  const lock = await lockFeed(app.db, feed);
  if (lock === undefined) throw new UserError(`feed ${feed} is being pulled right now; try again when that has ended`);
  const subject: RekeySubject = {
    db: app.db,
    feed,
    actor: actorName(options.as),
    policy: isKnown ? policy : undefined,
    signal: AbortSignal.any([signal, lock.lost]),
    checkLock: () => {
      if (!lock.held()) throw new UserError('the connection to the database was lost; run the command again');
    },
  };
  try {
    const { note } = await readRekey(app.db, feed);
    if (note === undefined) return await tellNone(feed, options);
    if (options.json !== true) await printLine(`${say(note, commandWriter(options.config)).split('; ')[0]}.`);
    const counts = await show(subject, bind, options);
    if (!bind && isKnown && (await isConfirmed(counts, options)))
      return await tellBound(subject, await show(subject, true, options), options);
    return bind ? await tellBound(subject, counts, options) : await tellFound(feed, counts, options);
  } finally {
    await lock.release();
  }
}

async function tellNone(feed: FeedName, options: RekeyOptions): Promise<void> {
  if (options.json !== true) await printLine(`The keys of feed ${feed} do not seem to have changed. Nothing waits.`);
}

/** Prints the pairs, after binding the certain ones if `bind`. */
async function show(subject: RekeySubject, bind: boolean, options: RekeyOptions): Promise<RekeyCounts> {
  const { print, end } = verdictPrinter<RekeyedLine>(options.json === true, {
    inWords: describeLine,
    asJson: (line) => lineJson(subject.feed, line),
  });
  const counts = await rekeyFeed(subject, bind, async (lines) => {
    for (const line of lines) await print(line);
  });
  await end();
  return counts;
}

const lineJson = (feed: FeedName, line: RekeyedLine): Record<string, unknown> => ({
  feed,
  key: line.key ?? null,
  old_key: line.oldKey ?? null,
  job_id: line.siteJobId ?? null,
  verdict: line.verdict,
  reasons: line.reasons,
  bound: line.bound,
  ...(line.secondJobId === undefined ? {} : { second_job_id: line.secondJobId }),
  ...(line.message === undefined ? {} : { message: line.message }),
});

function describeLine({ key, oldKey, siteJobId, title, verdict, reasons, bound, message }: RekeyedLine): string {
  const word = message !== undefined ? 'refused' : bound ? 'bound' : verdict;
  const job = siteJobId === undefined ? '' : ` (job ${siteJobId})`;
  const who =
    key === undefined ? `${oldKey}${job}, missing` : oldKey === undefined ? `${key}, new` : `${oldKey}${job} -> ${key}`;
  return `${word} ${who}${itsTitle(title)}: ${message ?? reasons.join(', ')}`;
}

/** Asks only at a terminal. */
async function isConfirmed({ sure, second }: RekeyCounts, options: RekeyOptions): Promise<boolean> {
  if (sure === 0 || options.json === true) return false;
  const also = second === 0 ? '' : `, and delete ${plural(second, 'second job')}`;
  const pairs = sure === 1 ? 'the certain pair' : `the ${sure} certain pairs`;
  return (await askWhether(`Keep the jobs of ${pairs}${also}?`)) === true;
}

async function tellFound(
  feed: FeedName,
  { sure, unsure, added, missing, second }: RekeyCounts,
  options: RekeyOptions,
): Promise<void> {
  process.exitCode = ExitStatus.review;
  if (options.json === true) return;
  await printLine(
    `${sure} sure, ${unsure} unsure; ${plural(added, 'other new posting')} and ${plural(missing, 'other missing one')}. Nothing was changed.`,
  );
  const write = commandWriter(options.config);
  const also = second === 0 ? '' : `, and delete ${plural(second, 'second job')}`;
  if (sure > 0)
    await printLine(`Keep the jobs of the certain ones${also}: ${write(['feeds', 'rekey', feed, '--sure'])}`);
  await tellWays(feed, options);
}

async function tellWays(feed: FeedName, options: RekeyOptions): Promise<void> {
  const write = commandWriter(options.config);
  await printLine(`Keep the job of one: ${write(['feeds', 'rekey', feed, '--posting', 'KEY', '--was', 'OLDKEY'])}`);
  await printLine(`All others are new, or gone: ${write(['feeds', 'rekey', feed, '--not-rekey'])}`);
}

async function tellBound(
  { db, feed, policy }: RekeySubject,
  counts: RekeyCounts,
  options: RekeyOptions,
): Promise<void> {
  const { note } = await readRekey(db, feed);
  process.exitCode = note === undefined ? ExitStatus.done : ExitStatus.review;
  if (options.json === true) return;
  await printLine(
    `${plural(counts.bound, 'job')} kept for ${counts.bound === 1 ? 'its new key' : 'their new keys'}.` +
      (counts.bound > 0 ? nextOf(policy) : '') +
      (counts.second > 0 ? ` It also deletes ${plural(counts.second, 'second job')}.` : '') +
      (counts.ended > 0 ? ` The jobs of ${plural(counts.ended, 'other posting')} have ended, and stay so.` : ''),
  );
  if (note === undefined) return;
  const { sure, unsure, added, missing } = counts;
  await printLine(
    `Left, and waiting: ${plural(sure + unsure, 'pair')}, ${plural(added, 'other new posting')}, ${plural(missing, 'other missing one')}.`,
  );
  await tellWays(feed, options);
}

async function bindNamed(
  app: App,
  feed: FeedName,
  { posting, was }: { readonly posting: string; readonly was: string },
  options: RekeyOptions,
): Promise<void> {
  const [key, oldKey] = [postingKey(posting.trim()), postingKey(was.trim())];
  await runWithin(decideAboutRekey, { feed, decision: 'pair', key, old_key: oldKey }, app, options);
  if (options.json === true) return printJson({ feed, key, old_key: oldKey, bound: true });
  return printLine(`Posting ${key} is posting ${oldKey} from now on.${nextOf(app.config.feeds.get(feed)?.policy)}`);
}

async function deny(app: App, feed: FeedName, options: RekeyOptions): Promise<void> {
  const shown = await suspectedPairs(app.db, feed, { show: undefined, after: undefined, limit: 1 });
  const mark = shown?.marks.all ?? '';
  const done = await runWithin(decideAboutRekey, { feed, decision: 'not_rekey', mark }, app, options);
  const { not_rekey, creates = 0, deletes = 0, held = 0 } = done;
  if (options.json === true) return printJson({ feed, not_rekey, creates, deletes, held });
  const offer = (await readHeldOffers(app.db, app.config)).get(feed);
  const next = offer === undefined ? '' : adviceLine(adviceOnHeld(offer), commandWriter(options.config)).trim();
  const guarded = held === 0 ? '' : ` ${plural(held, 'delete')} ${held === 1 ? 'is' : 'are'} still held; ${next}`;
  return printLine(
    `The new postings of feed ${feed} are no missing ones: the next sync sends ${plural(creates, 'create')} and ${plural(deletes, 'delete')}.${guarded}`,
  );
}
