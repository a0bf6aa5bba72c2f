// What verifying feeds of a site works with, for commands and for schedules.
import { askForJob } from '../apply/show-job.ts';
import type { SiteConfig } from '../config/config.ts';
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { createOnlyOf } from '../plan/create-only-fields.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import type { VerifySubject } from '../review/verify/verify-site.ts';
import type { SiteClient } from '../site/exchange.ts';
import type { Database } from '../store/postgres/database.ts';

interface VerifiedFeed extends Pick<FeedSetup, 'mapping'> {
  readonly feed: FeedName;
}

type Connection = {
  readonly client: SiteClient;
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
};

/** @param feeds of the site, at least one */
export function verifySubjectOf(
  db: Database,
  site: SiteConfig,
  feeds: readonly VerifiedFeed[],
  { client, rateLimiter, signal }: Connection,
): Omit<VerifySubject, 'selection' | 'keepsDrift' | 'onFinding'> & { readonly client: SiteClient } {
  const [{ mapping }] = feeds as readonly [VerifiedFeed];
  return {
    db,
    site: site.name,
    feeds: feeds.map(({ feed }) => feed),
    referenceField: site.options.referenceField,
    stateField: mapping.stateField.name,
    states: mapping.states,
    only: undefined,
    createOnly: new Map(feeds.map((each) => [each.feed, createOnlyOf(each.mapping)])),
    client,
    ask: (id) => askForJob({ site, client, rateLimiter, signal }, id),
    rateLimiter,
    signal,
  };
}
