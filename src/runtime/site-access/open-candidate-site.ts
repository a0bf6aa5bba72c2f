// Opens a site for a person who compares its jobs: asked within the rate that all processes share.
import { learntRateLimiter } from '../../apply/learnt-rate-limiter.ts';
import type { SiteConfig } from '../../config/config.ts';
import { placesOf } from '../../config/load-us-states.ts';
import { rateLimiterFor } from '../../flow/rate-limiter.ts';
import type { CheckedSite } from '../../review/check-verdict.ts';
import type { CandidateSite } from '../../review/compare-candidates.ts';
import type { SiteClient } from '../../site/exchange.ts';
import type { Database } from '../../store/postgres/database.ts';
import { openProvenClient } from './open-site-client.ts';

/** For comparing, and for checking a decision. */
export type OpenCandidateSite = CandidateSite &
  CheckedSite &
  Required<Pick<CheckedSite, 'resolveAfterMs'>> & { readonly client: SiteClient };

/** The caller closes its client, and has made sure that the site is at the address where its jobs were made. */
export async function openCandidateSite(db: Database, site: SiteConfig): Promise<OpenCandidateSite> {
  const { name, options, requestsPerSecond, doubts, stateField } = site;
  return {
    client: await openProvenClient(db, site),
    rateLimiter: learntRateLimiter(rateLimiterFor(requestsPerSecond), db, name, requestsPerSecond, () => false),
    referenceField: options.referenceField,
    places: placesOf({ stateField }),
    resolveAfterMs: doubts.resolveAfterMs,
  };
}
