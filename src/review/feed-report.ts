// Gathers what became of a feed's postings, for whoever produces the feed: counts, trend, missing fields and reasons. The single
// postings are streamed by the store, as there may be a million.
import type { Config } from '../config/config.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import { countOpen, type OpenCounts } from '../store/backlog/open-counts.ts';
import { readFeedState } from '../store/feed/feed-state.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type CountedPull, countedPulls } from '../store/pull/pull-history.ts';
import { findPull, type PullRow } from '../store/pull/pull-row.ts';
import { type PullSummary, summariseWithin } from '../store/status/pull-summary.ts';
import {
  commonReasons,
  countFields,
  countLines,
  type LineCounts,
  type ReasonCount,
} from '../store/status/report-lines.ts';

/** A pull with what it left open: as of the next committed pull, or as of now if there is none. */
export interface TrendPull extends CountedPull {
  /** `undefined`: nothing of it was committed, so it has no counts. */
  readonly open: OpenCounts | undefined;
}

/** In how many postings a field has no value. */
export interface MissingField {
  readonly field: string;
  /** The site refuses postings without it. */
  readonly required: boolean;
  readonly filled: number;
  readonly missing: number;
}

/** The last committed pull, whose counts add up (law 2). */
export interface LastPull {
  readonly row: PullRow;
  readonly summary: PullSummary;
}

export interface PostingReport {
  readonly feed: FeedName;
  /** `undefined`: nothing was pulled yet, and the configuration does not say. */
  readonly site: SiteName | undefined;
  readonly at: Date;
  /** `undefined`: no pull was committed. */
  readonly last: LastPull | undefined;
  /** Newest first, including failed ones. */
  readonly trend: readonly TrendPull[];
  readonly counts: LineCounts;
  /** The same for what is listed: with `since`, only what came into its state since then. */
  readonly listed: LineCounts;
  readonly since: Date | undefined;
  /** Every field that the feed is configured to have, or has. */
  readonly fields: readonly MissingField[];
  /** Postings whose fields are known. */
  readonly postingsWithFields: number;
  readonly reasons: readonly ReasonCount[];
}

export interface ReportScope {
  /** Pulls in the trend. */
  readonly pulls: number;
  readonly since: Date | undefined;
}

const MOST_REASONS = 50;

/** @param tx all statements must see the same state of the database. */
export async function readFeedReport(
  tx: Queryable,
  config: Pick<Config, 'feeds'>,
  feed: FeedName,
  { pulls, since }: ReportScope,
): Promise<PostingReport> {
  const state = await readFeedState(tx, feed);
  const current = state?.currentPull;
  const counts = await countLines(tx, feed);
  const configured = config.feeds.get(feed);
  const found = await countFields(tx, feed);
  const { mapping } = configured ?? {};
  const required = mapping === undefined ? [] : [mapping.stateField.name, ...mapping.requiredFields];
  const names = [...Object.keys(mapping?.fields ?? {}), ...required, ...found.fields.map(({ field }) => field)];
  return {
    feed,
    site: state?.site ?? configured?.siteName,
    at: new Date(),
    last: current === undefined ? undefined : await lastOf(tx, current),
    trend: await trendOf(tx, feed, current, pulls),
    counts,
    listed: since === undefined ? counts : await countLines(tx, feed, since),
    since,
    fields: [...new Set(names)].sort().map((field) => {
      const filled = found.fields.find((each) => each.field === field)?.filled ?? 0;
      return { field, required: required.includes(field), filled, missing: found.postings - filled };
    }),
    postingsWithFields: found.postings,
    reasons: await commonReasons(tx, feed, MOST_REASONS),
  };
}

async function lastOf(tx: Queryable, pull: number): Promise<LastPull | undefined> {
  const row = await findPull(tx, pull);
  return row === undefined ? undefined : { row, summary: (await summariseWithin(tx, pull)).summary };
}

async function trendOf(
  tx: Queryable,
  feed: FeedName,
  current: number | undefined,
  limit: number,
): Promise<readonly TrendPull[]> {
  const now = await countOpen(tx, feed);
  const pulls = await countedPulls(tx, feed, limit);
  return pulls.map((pull) => ({ ...pull, open: pull.id === current ? now : pull.takenOver?.leftOpen }));
}
