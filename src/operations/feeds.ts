// What people do to whole feeds: move their jobs to a new name, retire them, declare them new, resume them after an undo, and start the
// days of their postings anew.
import { z } from 'zod';
import { recoverAttempts } from '../apply/maintain-backlog.ts';
import { namedFeeds } from '../config/config.ts';
import { type Advice, type Message, messageOf, noticeOf, plural } from '../plan/message.ts';
import { type FeedName, postingKey, type SiteName } from '../posting/identifiers.ts';
import { addressOf } from '../site/http/job-address.ts';
import { auditAction, auditActions } from '../store/access/audit.ts';
import { releaseResembling } from '../store/change/doubt.ts';
import { renewPostings } from '../store/change/edit.ts';
import { declareSiteChecked } from '../store/change/site-search.ts';
import { resumeFeed, stoppedFeeds } from '../store/feed/feed-state.ts';
import { type DoubtfulFeed, doubtfulFeeds } from '../store/feed/unconfigured-feeds.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import { renameFeed, retireFeed } from '../store/mapping/rename-feed.ts';
import { namedFeed, type OperationContext, OperationRefused, operation } from './operation.ts';
import { stillOutput, whatStillStops } from './pauses.ts';
import { count, feedNameText, idNumber, keyText } from './scalars.ts';

const refused = (reason: Message): OperationRefused => new OperationRefused('conflict', reason);
const isPulled = (feed: FeedName) => refused(`feed ${feed} is being pulled right now; try again when that has ended`);

function expectUnconfigured({ config }: OperationContext['app'], feed: FeedName): void {
  if (!namedFeeds(config).has(feed)) return;
  throw refused(`feed ${feed} is in the configuration: take it out, or rename it, there first`);
}

const notWritten = (name: string, { config }: OperationContext['app']) =>
  new OperationRefused('unknown', `there is no feed ${name} in ${config.path}: write it there first`);

export const renameFeedTo = operation({
  id: 'renameFeed',
  path: '/feeds/{old}/rename',
  summary: 'After renaming a feed in the configuration: move its jobs to the new name',
  scope: 'review',
  input: z.strictObject({
    old: feedNameText.describe('Its former name.'),
    new: feedNameText.describe('Its new name in the configuration.'),
  }),
  output: z
    .strictObject({
      from: z.string(),
      to: z.string(),
      mappings: count,
      changes: count,
      edits: count.describe('Edits that were made under the new name, and stay.'),
    })
    .meta({ title: 'Renamed' }),
  async run({ old, new: name }, { app, actor }) {
    const { db, config } = app;
    const from = await namedFeed(app, old);
    expectUnconfigured(app, from);
    const to = config.feeds.get(name as FeedName);
    if (config.brokenFeeds.has(name as FeedName)) {
      throw refused(
        messageOf(`the configuration of feed ${name} is wrong: fix it first`, [
          { words: 'to see where', action: { kind: 'check_configuration' } },
        ]),
      );
    }
    if (to === undefined) throw notWritten(name, app);
    // Released here: perhaps no running process has the old name in its configuration any more.
    const site = config.sites.get(to.siteName);
    if (site !== undefined) await recoverAttempts(db, site.name, { ...site, timeoutMs: site.options.timeoutMs });
    const end = await renameFeed(db, from, { feed: to.name, site: to.siteName }, actor);
    if (end.kind === 'busy') throw isPulled(end.feed);
    if (end.kind === 'refused') throw refused(`${end.message}. Nothing was changed`);
    return { from, to: to.name, mappings: end.mappings, changes: end.changes, edits: end.edits };
  },
});

export const declareFeedNew = operation({
  id: 'declareFeedNew',
  path: '/feeds/{feed}/new',
  summary:
    'Before the first sync of a feed: declare that the site has none of its jobs, so it is not searched for them',
  scope: 'review',
  input: z.strictObject({ feed: feedNameText.describe('Name of the feed, as in the configuration.') }),
  output: z
    .strictObject({
      feed: z.string(),
      site: z.string(),
      new: z.literal(true),
      released: count.describe('Creates that only resembled jobs of the site, and are sent now.'),
    })
    .meta({ title: 'DeclaredNew' }),
  async run({ feed: name }, { app, actor }) {
    const { db, config } = app;
    const configured = config.feeds.get(name as FeedName);
    if (configured === undefined) throw notWritten(name, app);
    const { name: feed, siteName } = configured;
    const site = config.sites.get(siteName);
    const address = site === undefined ? '' : addressOf(site.options);
    const released = await db.transaction(async (tx) => {
      const doubtful = await doubtfulFeeds(tx, { site: siteName, address }, namedFeeds(config));
      if (doubtful.length > 0) throw refused(mayHaveMade(feed, siteName, doubtful));
      await declareSiteChecked(tx, feed, siteName, { declared: true });
      const left = await releaseResembling(tx, feed);
      const detail = { site: siteName, ...(left === 0 ? {} : { released: left }) };
      await auditAction(tx, { actor, action: 'new feed', feed, detail });
      return left;
    });
    return { feed, site: siteName, new: true as const, released };
  },
});

/** Why the site may have jobs of the feed after all, and what to do about each feed that may have created them. */
function mayHaveMade(feed: FeedName, site: SiteName, doubtful: readonly DoubtfulFeed[]): Message {
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

export const retireNamedFeed = operation({
  id: 'retireFeed',
  path: '/feeds/{feed}/retire',
  summary: 'After removing a feed from the configuration: leave its jobs as they are, and send nothing for it',
  scope: 'review',
  input: z.strictObject({ feed: feedNameText }),
  output: z
    .strictObject({
      feed: z.string(),
      retired: z.literal(true),
      in_doubt: count.describe('Creates for which the site may have a job.'),
      searched: z
        .array(z.string())
        .describe('Feeds whose site was declared to have none of their jobs, and is searched for them now.'),
    })
    .meta({ title: 'Retired' }),
  async run({ feed: name }, { app, actor }) {
    const feed = await namedFeed(app, name);
    expectUnconfigured(app, feed);
    const retired = await retireFeed(app.db, feed, actor);
    if (retired === undefined) throw new OperationRefused('unknown', `no feed ${feed} is recorded in the database`);
    return { feed, retired: true as const, in_doubt: retired.inDoubt, searched: [...retired.searched] };
  },
});

export const resumeStoppedFeed = operation({
  id: 'resumeFeed',
  path: '/feeds/{feed}/resume',
  summary: 'After an undo, once the source is right: pull the feed again',
  scope: 'review',
  input: z.strictObject({
    feed: feedNameText,
    undo: idNumber.optional().describe('Only if this undo has stopped it.'),
  }),
  output: z
    .strictObject({
      feed: z.string(),
      resumed: z.boolean().describe('`false`: it was not stopped.'),
      still: stillOutput,
    })
    .meta({ title: 'ResumedFeed' }),
  async run({ feed: name, undo: seen }, { app, actor }) {
    const feed = await namedFeed(app, name);
    const undo = await app.db.transaction(async (tx) => {
      const stoppedBy = await resumeFeed(tx, feed, seen);
      if (stoppedBy !== undefined) {
        await auditAction(tx, { actor, action: 'resume feed', feed, detail: { undo: stoppedBy } });
      }
      return stoppedBy;
    });
    if (undo === undefined && seen !== undefined) {
      const stopped = (await stoppedFeeds(app.db)).find((each) => each.feed === feed);
      const now = stopped === undefined ? 'no undo has stopped it' : `undo ${stopped.undo} has stopped it`;
      const message = `nothing was done: feed ${feed} is not stopped by undo ${seen}; ${now}`;
      throw new OperationRefused('conflict', message, { feed, resumed: false });
    }
    const still = await whatStillStops(app, { feed });
    return { feed, resumed: undo !== undefined, still: still.map((message) => noticeOf(app.writeAction, message)) };
  },
});

/** All of them or none. */
export const renewFeed = operation({
  id: 'renewPostings',
  path: '/feeds/{feed}/renew',
  summary: 'Start the days of postings on the site anew (expire_after_days); those that have expired get jobs again',
  scope: 'review',
  input: z.strictObject({
    feed: feedNameText,
    keys: z.array(keyText).min(1).describe('Keys of the postings, exactly as in the feed.'),
  }),
  output: z.strictObject({ feed: z.string(), renewed: count }).meta({ title: 'RenewedPostings' }),
  async run({ feed: name, keys: written }, { app, actor }) {
    const { db, config } = app;
    const feed = await namedFeed(app, name);
    const keys = written.map((key) => postingKey(key.trim()));
    if (config.feeds.get(feed)?.expireAfterDays === undefined) {
      throw refused(`postings of feed ${feed} do not expire: it has no expire_after_days in ${config.path}`);
    }
    const lock = await lockFeed(db, feed);
    if (lock === undefined) throw isPulled(feed);
    try {
      await db.transaction(async (tx) => {
        const unknown = await renewPostings(tx, feed, keys);
        if (unknown.length > 0) {
          const which = `${plural(unknown.length, 'posting')} of feed ${feed} neither have a job nor have expired`;
          throw refused(`${which}: ${unknown.slice(0, 10).join(', ')}. Nothing was changed`);
        }
        const detail = {};
        await auditActions(
          tx,
          actor,
          'renew',
          keys.map((key) => ({ feed, key, detail })),
        );
      });
    } finally {
      await lock.release();
    }
    return { feed, renewed: keys.length };
  },
});
