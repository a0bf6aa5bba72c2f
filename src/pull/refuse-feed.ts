// Decides from the database whether a feed must not be pulled or planned as configured, and explains why.
import type { FeedReading } from '../feed/feed-reading.ts';
import { describeClocks } from '../feed/reading-clock.ts';
import { type Advice, type Message, messageOf, plural } from '../plan/message.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { FeedState } from '../store/feed/feed-state.ts';
import { otherNames, type UnconfiguredFeed } from '../store/feed/unconfigured-feeds.ts';
import type { Queryable } from '../store/postgres/database.ts';
import type { FeedSetup } from './feed-setup.ts';
import type { PullLedger } from './pull-ledger.ts';

/**
 * Returns a message for people, or `undefined` if the feed may be pulled. Job IDs of one site mean nothing on another
 * (law 4), and a renamed feed has no mappings, so all its postings would be created again (law 1).
 */
export async function refuseFeed(
  db: Queryable,
  state: FeedState | undefined,
  { feed, site, address, sourceDigest, configured }: FeedSetup,
): Promise<Message | undefined> {
  const elsewhere = refuseSite(state, { feed, site });
  if (elsewhere !== undefined) return elsewhere;
  const { former, present } = await otherNames(db, { feed, site, address, source: sourceDigest }, configured);
  if (former.length > 0) return refuseNewName(feed, site, former);
  if (present === undefined) return undefined;
  return (
    `feed ${feed} was renamed to ${present}, which this configuration does not name: it is an older one. Nothing is sent for ${feed}, ` +
    'to avoid duplicate jobs; use the present configuration, or give a feed of other postings another name'
  );
}

/** Explains why a feed is not mirrored into another site than before. */
export function refuseSite(
  state: Pick<FeedState, 'site'> | undefined,
  { feed, site }: Pick<FeedSetup, 'feed' | 'site'>,
): Message | undefined {
  if (state === undefined || state.site === site) return undefined;
  return (
    `feed ${feed} was mirrored into site ${state.site}, and its job IDs belong to that site: if ${site} is the same site, give it the name ` +
    `${state.site} again; otherwise set "site" back to ${state.site}, or mirror into ${site} under a new feed name`
  );
}

/** Explains why a new feed is not pulled while it could be the new name of feeds that are no longer configured. */
export function refuseNewName(feed: FeedName, site: SiteName, former: readonly UnconfiguredFeed[]): Message {
  const names = former.map((left) => `${left.feed} (${jobsOf(left)} on site ${left.site})`);
  const next = former.flatMap(({ feed: left, site: its }): Advice[] => [
    ...(its === site
      ? []
      : [{ words: `Site ${site} is at the address of site ${its}; give it that name again first` }]),
    { words: `If ${feed} is the new name of ${left}`, action: { kind: 'rename_feed', feed: left, to: feed } },
    {
      words: `If it is not, and the jobs of ${left} should stay`,
      action: { kind: 'retire_feed', feed: left },
    },
  ]);
  const text = `feed ${feed} is new, and the configuration no longer names ${names.join(', ')}`;
  return messageOf(`${text}. Nothing is sent for ${feed}, to avoid duplicate jobs`, next);
}

const jobsOf = ({ live, uncertain }: UnconfiguredFeed): string =>
  [plural(live, 'live job'), ...(uncertain === 0 ? [] : [`${uncertain} more that may have been created`])].join(', ');

/** Why nothing was read, although the whole feed was requested. */
export const failedReading = (reading: Exclude<FeedReading, { kind: 'read' }>) =>
  reading.kind === 'failed'
    ? reading
    : ({ kind: 'failed', message: 'the source answered "not modified" to an unconditional request' } as const);

// Collects why a reading is not proven complete, apart from its unreadable records.

/** For people; empty: nothing but unreadable records can make the feed incomplete. */
export function shortfallsOf(
  reading: Extract<FeedReading, { kind: 'read' }>,
  { repeats, records }: Pick<PullLedger, 'repeats' | 'records'>,
  { minRecords }: Pick<FeedSetup, 'minRecords'>,
): readonly string[] {
  const repeated = repeats?.shortfall(reading.pages ?? []);
  return [
    ...reading.shortfalls,
    ...(repeated === undefined ? [] : [repeated]),
    ...tooFewShortfall(records, minRecords),
  ];
}

function tooFewShortfall(seen: number, minRecords: number | undefined): string[] {
  if (minRecords === undefined || seen >= minRecords) return [];
  return [`the feed has ${plural(seen, 'record')}, fewer than the configured minimum of ${minRecords}`];
}

/** @param count the records about whose dates the clocks of the reading do not agree */
export function uncertainShortfall(count: number, { clock }: Pick<FeedSetup, 'clock'>): string[] {
  if (count === 0 || clock === undefined) return [];
  const records = plural(count, 'record is a posting', 'records are postings');
  return [`whether ${records} by their dates is uncertain: ${describeClocks(clock.time)}`];
}
