// Sorts configuration mistakes: those of a single feed stop only that feed, the others stop everything.
import { type FeedName, type SiteName, siteName } from '../posting/identifiers.ts';
import type { BrokenFeed } from './config.ts';
import type { Complaint } from './config-error.ts';
import { settingOf, settingsIn } from './sites-and-feeds.ts';

export interface SortedComplaints {
  /** Mistakes in the file itself, the database, the queue or a site: nothing works until they are fixed. */
  readonly general: readonly Complaint[];
  readonly broken: ReadonlyMap<FeedName, BrokenFeed>;
}

export function sortByFeed(complaints: readonly Complaint[], data: unknown): SortedComplaints {
  const feeds = settingsIn(data, 'feeds');
  const names = Object.keys(feeds);
  const general: Complaint[] = [];
  const broken = new Map<FeedName, BrokenFeed & { complaints: Complaint[] }>();
  for (const complaint of complaints) {
    const name = names.find(
      (feed) => complaint.setting === `feeds.${feed}` || complaint.setting.startsWith(`feeds.${feed}.`),
    ) as FeedName | undefined;
    if (name === undefined) {
      general.push(complaint);
      continue;
    }
    const found = broken.get(name) ?? { siteName: siteOf(feeds[name]), complaints: [] };
    found.complaints.push(complaint);
    broken.set(name, found);
  }
  return { general, broken };
}

function siteOf(feed: unknown): SiteName | undefined {
  const site = settingOf(feed, 'site');
  return typeof site === 'string' ? siteName(site) : undefined;
}

/** The same data without these feeds. */
export function withoutFeeds(data: unknown, feeds: ReadonlyMap<FeedName, unknown>): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const kept = Object.entries(settingsIn(data, 'feeds')).filter(([name]) => !feeds.has(name as FeedName));
  return { ...data, feeds: Object.fromEntries(kept) };
}
