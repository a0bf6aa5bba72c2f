// The pages of which pictures are taken. A new page needs a line here.
import { pageAddress } from '../../src/web/pages/parts/addresses.ts';

/** What there is to show in the stage. */
export interface Shown {
  readonly feed: string;
  readonly site: string;
  /** A pull that created, updated and deleted. */
  readonly pull: number;
  /** A pull of another feed that goes on. */
  readonly running: number;
  readonly group: string;
  readonly rejected: { readonly id: number; readonly key: string };
  /** The key of a posting whose job is on the site. */
  readonly live: string;
  readonly doubt: number;
  readonly bulk: number;
}

/** The name of each picture, and the address of its page. */
export const shownPages = (shown: Shown): Readonly<Record<string, string>> => ({
  overview: pageAddress.overview(),
  feed: pageAddress.feed(shown.feed),
  review: pageAddress.review(),
  'review-group': pageAddress.entries({ group: shown.group }),
  'review-entry': pageAddress.entry(shown.rejected.id),
  'review-confirm': pageAddress.confirmAction('discard', { group: shown.group }),
  'review-actions': pageAddress.bulkActions(),
  'review-action': pageAddress.bulkAction(shown.bulk),
  'review-rules': pageAddress.rules(),
  posting: pageAddress.posting(shown.feed, shown.rejected.key),
  'posting-on-site': pageAddress.posting(shown.feed, shown.live),
  pulls: pageAddress.pulls(),
  pull: pageAddress.pull(shown.pull, { show: 'updated' }),
  'pull-running': pageAddress.pull(shown.running),
  pause: pageAddress.pause({}),
  held: pageAddress.held(),
  'held-feed': pageAddress.held(shown.feed),
  rekey: pageAddress.rekey(shown.feed),
  'rekey-unsure': pageAddress.rekey(shown.feed, { show: 'unsure' }),
  adopt: pageAddress.adopt(shown.feed),
  'adopt-unsure': pageAddress.adopt(shown.feed, { show: 'unsure' }),
  doubts: pageAddress.doubts(),
  'doubts-found': pageAddress.found(shown.feed),
  doubt: pageAddress.doubt(shown.doubt),
  'doubt-compared': pageAddress.doubtCandidates(shown.doubt),
  jobs: pageAddress.jobs(),
  sites: pageAddress.sites(),
  site: pageAddress.site(shown.site),
  queues: pageAddress.queues(),
  changes: pageAddress.changes(),
  activity: pageAddress.activity(),
});

/** The same of pages for those who may change feeds. */
export const shownToAdmins = (shown: Shown): Readonly<Record<string, string>> => ({
  configuration: pageAddress.configuration(),
  'feed-file': pageAddress.feedFile(shown.feed),
  uploads: pageAddress.uploads('paper'),
  'setup-source': pageAddress.newFeed(),
  'setup-change': pageAddress.changeFeed(shown.feed),
});

/** The same of pages that ask who it is. */
export const shownToStrangers = { 'sign-in': pageAddress.overview() } as const;
