// Shows which new postings of a feed are missing ones under another key, and binds what is certain or named.
import { plural } from '../plan/plural.ts';
import { updatesJobs } from '../plan/policy.ts';
import { type FeedName, postingKey } from '../posting/identifiers.ts';
import {
  type RekeyCounts,
  type RekeyedLine,
  type RekeySubject,
  rekeyFeed,
  rekeyOne,
} from '../review/rekey/rekey-feed.ts';
import { isUnknown, rekeyPolicy } from '../review/rekey/rekey-policy.ts';
import type { App } from '../runtime/app.ts';
import { ExitStatus, UserError } from '../runtime/exit-status.ts';
import { readRekey } from '../store/change/rekey/read-rekey.ts';
import { denyRekey } from '../store/change/rekey/rekey-postings.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import { ask, oneLine, printJson, printLine } from '../telemetry/print.ts';
import { actorName } from './actor.ts';
import { commandWriter } from './command-line.ts';
import { knownFeed } from './feed-name.ts';
import { say } from './write-action.ts';

export interface RekeyOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly sure?: boolean;
  readonly yes?: boolean;
  readonly posting?: string;
  readonly was?: string;
  readonly notRekey?: boolean;
}

/** Lines of one verdict that are printed, unless as JSON. */
const MOST_SHOWN = 50;

/** While it runs, no pull changes what is missing or new. */
export async function rekey(app: App, name: string, options: RekeyOptions, signal: AbortSignal): Promise<void> {
  const feed = await knownFeed(app.db, app.config, name);
  const bind = options.sure === true || options.yes === true;
  const policy = rekeyPolicy(app.config, feed);
  const isKnown = !isUnknown(policy);
  if (!isKnown && (bind || options.posting !== undefined))
    throw new UserError(`${policy.unknown}. Nothing was changed`);
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
    if (options.notRekey === true) return await deny(subject, options);
    if (options.posting !== undefined && options.was !== undefined)
      return await bindNamed(subject, { posting: options.posting, was: options.was }, options);
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
  if (options.notRekey === true || options.posting !== undefined)
    throw new UserError(`the keys of feed ${feed} do not seem to have changed, so nothing was done`);
  if (options.json !== true) await printLine(`The keys of feed ${feed} do not seem to have changed. Nothing waits.`);
}

/** Prints the pairs, after binding the certain ones if `bind`. */
async function show(subject: RekeySubject, bind: boolean, options: RekeyOptions): Promise<RekeyCounts> {
  const shown = { sure: 0, unsure: 0, unmatched: 0 };
  const counts = await rekeyFeed(subject, bind, async (lines) => {
    for (const line of lines) {
      if (options.json === true) await printJson(lineJson(subject.feed, line));
      else if (shown[line.verdict]++ < MOST_SHOWN) await printLine(describeLine(line));
    }
  });
  if (options.json !== true) {
    for (const [verdict, count] of Object.entries(shown))
      if (count > MOST_SHOWN) await printLine(`… and ${count - MOST_SHOWN} more ${verdict} (--json prints all)`);
  }
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

const MOST_OF_TITLE = 60;

function describeLine({ key, oldKey, siteJobId, title, verdict, reasons, bound, message }: RekeyedLine): string {
  const word = message !== undefined ? 'refused' : bound ? 'bound' : verdict;
  const named = title === undefined ? '' : ` "${oneLine(title, MOST_OF_TITLE)}"`;
  const job = siteJobId === undefined ? '' : ` (job ${siteJobId})`;
  const who =
    key === undefined ? `${oldKey}${job}, missing` : oldKey === undefined ? `${key}, new` : `${oldKey}${job} -> ${key}`;
  return `${word} ${who}${named}: ${message ?? reasons.join(', ')}`;
}

/** Asks only at a terminal. */
async function isConfirmed({ sure, second }: RekeyCounts, options: RekeyOptions): Promise<boolean> {
  if (sure === 0 || options.json === true) return false;
  const also = second === 0 ? '' : `, and delete ${plural(second, 'second job')}`;
  const pairs = sure === 1 ? 'the certain pair' : `the ${sure} certain pairs`;
  const answer = await ask(`Keep the jobs of ${pairs}${also}? [y/N] `);
  return /^\s*y(es)?\s*$/i.test(answer ?? '');
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

const nextOf = (policy: RekeySubject['policy']): string =>
  updatesJobs(policy) ? ' The next sync sends what differs.' : ` Policy ${policy} leaves what differs as it is.`;

async function bindNamed(
  subject: RekeySubject,
  { posting, was }: { readonly posting: string; readonly was: string },
  options: RekeyOptions,
): Promise<void> {
  const pair = { key: postingKey(posting), oldKey: postingKey(was) };
  const message = await rekeyOne(subject, pair);
  if (message !== undefined) throw new UserError(`${message}. Nothing was changed.`);
  if (options.json === true) return printJson({ feed: subject.feed, key: pair.key, old_key: pair.oldKey, bound: true });
  return printLine(`Posting ${pair.key} is posting ${pair.oldKey} from now on.${nextOf(subject.policy)}`);
}

async function deny({ db, feed, actor }: RekeySubject, options: RekeyOptions): Promise<void> {
  const denied = await denyRekey(db, feed, actor);
  if (denied === undefined) return tellNone(feed, options);
  const { creates, deletes, held } = denied;
  if (options.json === true) return printJson({ feed, not_rekey: true, creates, deletes, held });
  const approve = commandWriter(options.config)(['review', 'approve', feed]);
  const guarded = held === 0 ? '' : ` ${plural(held, 'delete')} ${held === 1 ? 'is' : 'are'} still held: ${approve}`;
  return printLine(
    `The new postings of feed ${feed} are no missing ones: the next sync sends ${plural(creates, 'create')} and ${plural(deletes, 'delete')}.${guarded}`,
  );
}
